//! `new-op`: the row and the files of a new op, and a list of the remaining work.
use crate::{Result, read, write};
use std::path::Path;

const TABLE: &str = "hlo/src/op/table.rs";
const MODULES: &str = "hlo/src/op/mod.rs";

/// The section of the op table that a new op goes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// Elementwise, one operand.
    Unary,
    /// Elementwise, two operands.
    Binary,
    /// With attributes and a shape rule.
    Structured,
}

impl Section {
    fn name(self) -> &'static str {
        match self {
            Self::Unary => "unary",
            Self::Binary => "binary",
            Self::Structured => "structured",
        }
    }
}

/// Writes the row and the skeletons for the opcode `name` (`dynamic-slice`) and prints the remaining work.
pub(crate) fn run(root: &Path, name: &str, section: Section) -> Result {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if !name.chars().all(fits) || !name.starts_with(|c: char| c.is_ascii_lowercase()) {
        return Err(format!("`{name}` is not an opcode: lowercase letters, digits and `-`"));
    }
    let module = name.replace('-', "_");
    let ty: String = name.split('-').map(capital).collect();
    let table = read(&root.join(TABLE))?;
    if table.contains(&format!("\"{name}\"")) {
        return Err(format!("{TABLE} has a row of `{name}`"));
    }
    let row = match section {
        Section::Unary | Section::Binary => format!("{ty} \"{name}\" {module} [F] exact [];"),
        Section::Structured => format!("{ty} \"{name}\" 1 inferred exact array refuse [];"),
    };
    write(&root.join(TABLE), &with_row(&table, section.name(), &row)?)?;
    let test = format!("tests/ops/{name}.hlo");
    write(&root.join(&test), &cases(name, &module, section))?;
    if section != Section::Structured {
        println!("{}", next_elementwise(&module, &test));
        return Ok(());
    }
    write(&root.join(format!("hlo/src/op/{module}.rs")), &rule(name, &ty))?;
    let modules = read(&root.join(MODULES))?;
    let modules = with_line(&modules, "mod ", &format!("mod {module};"))?;
    let modules = with_line(&modules, "pub use ", &format!("pub use {module}::{ty};"))?;
    write(&root.join(MODULES), &modules)?;
    println!("{}", next_structured(&module, &test));
    Ok(())
}

fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|c| c.to_ascii_uppercase()).into_iter().chain(chars).collect()
}

/// Returns the table with an additional row in a section, sorted and aligned.
fn with_row(table: &str, section: &str, row: &str) -> Result<String> {
    let begin = format!("            {section} {{\n");
    let parts = table.split_once(&begin).and_then(|(before, rest)| {
        let (rows, after) = rest.split_once("            }\n")?;
        Some((before, rows, after))
    });
    let (before, rows, after) = parts.ok_or_else(|| format!("{TABLE} has no `{section}`"))?;
    let mut rows: Vec<Vec<String>> = rows.lines().chain([row]).map(columns).collect();
    rows.sort();
    let widest = |i: usize| rows.iter().filter_map(|row| row.get(i)).map(String::len).max();
    let count = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..count).map(|i| widest(i).unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        let cells: Vec<String> = cells.collect();
        format!("                {}\n", cells.join(" ").trim_end())
    };
    let rows: String = rows.iter().map(line).collect();
    Ok(format!("{before}{begin}{rows}            }}\n{after}"))
}

/// Returns the words of a row; a list in brackets is one.
fn columns(row: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for word in row.split_whitespace() {
        match found.last_mut().filter(|last| last.matches('[').count() > last.matches(']').count())
        {
            Some(list) => *list = format!("{list} {word}"),
            None => found.push(word.to_owned()),
        }
    }
    found
}

/// Returns the text with an additional line before the last one with the same beginning; `cargo fmt` sorts them.
fn with_line(text: &str, begin: &str, line: &str) -> Result<String> {
    let last = text.rfind(&format!("\n{begin}"));
    let at = last.ok_or_else(|| format!("{MODULES} has no line `{begin}`"))? + 1;
    Ok(format!("{}{line}\n{}", &text[..at], &text[at..]))
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

fn cases(name: &str, module: &str, section: Section) -> String {
    let (parameters, operands, attributes) = match section {
        Section::Unary => ("", "x", ""),
        Section::Binary => ("  y = f32[2] parameter(1)", "x, y", ""),
        Section::Structured => ("", "x", ", dimensions={0}"),
    };
    let input = "// in:  f32[2] {1, 2}\n";
    let second = if section == Section::Binary { input } else { "" };
    format!(
        "// What it does, in one line.\n\
         HloModule {module}_of_two\n\
         ENTRY main {{ x = f32[2] parameter(0){parameters}  ROOT r = f32[2] {name}({operands}){attributes} }}\n\
         {input}{second}// out: f32[2] {{1, 2}}\n"
    )
}

fn next_elementwise(function: &str, test: &str) -> String {
    format!(
        "{TABLE} has a row. Next, where the compiler says that something is missing:
  1. {TABLE}                       classes of element types, accuracy, flags
  2. interp/num/src                         `{function}` for each class: float_functions.rs, signed.rs, ...
  3. builder/src/grad                       the derivative
  4. conformance/src/judge/functions.rs     the values over an interval
and then
  5. {test}                   special values of each class
  6. cargo xtask status && cargo xtask ci
docs/adding-an-op.md shows a commit that does it."
    )
}

fn next_structured(module: &str, test: &str) -> String {
    format!(
        "{TABLE} has a row, {MODULES} the module. Next:
  1. {TABLE}          operands, kind, dynamic rule, flags
  2. hlo/src/op/{module}.rs       attributes, and the shape rule with a label for every check
  3. interp/spec/src            what it means, and the arm that the compiler asks for
  4. {test}     one case a branch, edges, one rejection a label
  5. builder/src/grad, conformance/src/generate, and the places that CONTRIBUTING.md lists
  6. cargo fmt --all && cargo xtask status && cargo xtask ci
CONTRIBUTING.md walks through it on `reverse`."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_goes_to_its_place_in_columns() {
        let table = "a\n            unary {\n                Abs  \"abs\"  abs  [S F] exact [];\n                Tanh \"tanh\" tanh [F C] 5     [x];\n            }\nb\n";
        let expected = "a\n            unary {\n                Abs   \"abs\"   abs   [S F] exact [];\n                Round \"round\" round [F]   exact [];\n                Tanh  \"tanh\"  tanh  [F C] 5     [x];\n            }\nb\n";
        let row = "Round \"round\" round [F] exact [];";
        assert_eq!(with_row(table, "unary", row).unwrap(), expected);
        assert!(with_row(table, "binary", row).is_err());
    }

    #[test]
    fn a_line_goes_before_the_last_of_its_kind() {
        let text = "mod attrs;\nmod table;\n\nmod all;\nmod copy;\n\npub use all::All;\n";
        let text = with_line(text, "mod ", "mod dot;").unwrap();
        assert!(text.contains("mod all;\nmod dot;\nmod copy;\n"));
        assert!(with_line(&text, "use ", "use a;").is_err());
    }
}
