//! `new-op`: files of a new op, and what is to be done next.
use crate::{Result, write};
use std::path::Path;

/// Writes the skeletons for the opcode `name` (`dynamic-slice`) and prints the list of what is left.
pub(crate) fn run(root: &Path, name: &str) -> Result {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.chars().all(fits) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err(format!("`{name}` is no opcode's name: small letters, digits and `-`"));
    }
    let module = name.replace('-', "_");
    let op = root.join(format!("hlo/src/op/{module}.rs"));
    let test = root.join(format!("tests/ops/{name}.hlo"));
    for path in [&op, &test] {
        if path.exists() {
            return Err(format!("{} exists", path.display()));
        }
    }
    let ty: String = name.split('-').map(capital).collect();
    write(&op, &rule(name, &ty))?;
    write(&test, &cases(name, &module))?;
    println!("{}", checklist(name, &module, &ty));
    Ok(())
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

fn rule(name: &str, ty: &str) -> String {
    format!(
        r#"//! `{name}`: what it does, in one line.
use super::{{Infer, ShapeRule}};
use crate::{{Result, Shape}};

attrs! {{
    /// What it does, for users.
    pub struct {ty} {{
        /// What the attribute says.
        pub dimensions: Vec<i64> = "dimensions";
    }}
}}

impl ShapeRule for {ty} {{
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {{
        let operand = cx.array(0)?;
        Ok(operand.clone().into())
    }}
}}
"#
    )
}

fn cases(name: &str, module: &str) -> String {
    format!(
        "HloModule {module}_of_two\n\
         ENTRY main {{ x = f32[2] parameter(0)  ROOT r = f32[2] {name}(x), dimensions={{0}} }}\n\
         // in:  f32[2] {{1, 2}}\n\
         // out: f32[2] {{1, 2}}\n"
    )
}

fn checklist(name: &str, module: &str, ty: &str) -> String {
    format!(
        "Next, in this order:
  1. hlo/src/op/table.rs      a row: {ty} \"{name}\" 1 inferred exact;
  2. hlo/src/op/mod.rs        a line in modules!: {module}: {ty};
  3. hlo/src/op/{module}.rs   attributes, and the shape rule with a label for every check
  4. interp/src/reference/    what it means, and an arm in mod.rs (the compiler says where)
  5. tests/ops/{name}.hlo     one case a branch, edges, one rejection a label
  6. cargo xtask status && cargo xtask ci
CONTRIBUTING.md walks through it on `reverse`."
    )
}
