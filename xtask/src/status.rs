//! `status`: the tables that are generated: that of docs/status.md, measured from the op table and the file tests, and that of
//! `etalon explain`.
use crate::{Result, explanations, files, read, write as write_file};
use hlo::op::Accuracy;
use hlo::{ElementType, Module, Opcode, Shape};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// The folders whose cases run in every engine.
const FOLDERS: [&str; 4] =
    ["tests/ops", "tests/programs", "tests/collectives/values", "hlo/tests/reject"];
const PAGE: &str = "docs/status.md";
const BEGIN: &str = "<!-- generated: begin -->\n";
const END: &str = "<!-- generated: end -->";

/// Rewrites the tables.
pub(crate) fn write(root: &Path) -> Result {
    tables(root)?.into_iter().try_for_each(|(file, text)| write_file(&root.join(file), &text))
}

/// Fails unless the tables are up to date.
pub(crate) fn check(root: &Path) -> Result {
    for (file, text) in tables(root)? {
        if read(&root.join(file))? != text {
            return Err(format!("{file} is out of date; run `cargo xtask status`"));
        }
    }
    Ok(())
}

/// Returns the files with tables, and their texts.
fn tables(root: &Path) -> Result<[(&'static str, String); 2]> {
    let page = with_table(&read(&root.join(PAGE))?, &table(root)?)?;
    Ok([(PAGE, page), (explanations::TABLE, explanations::table(root)?)])
}

fn with_table(page: &str, table: &str) -> Result<String> {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some(format!("{before}{BEGIN}{table}{END}{after}"))
    });
    parts.ok_or_else(|| format!("{PAGE} lacks the lines `{}` and `{END}`", BEGIN.trim_end()))
}

/// The coverage of an opcode by file tests.
#[derive(Debug, Clone, Default)]
struct Tested {
    /// Passing cases that have the opcode.
    cases: usize,
    /// Cases with an expected error at an instruction of the opcode.
    errors: usize,
    /// Indices in [`ElementType::ALL`] of its operand and result types in passing cases.
    types: BTreeSet<usize>,
}

fn table(root: &Path) -> Result<String> {
    let mut tested = vec![Tested::default(); Opcode::ALL.len()];
    for path in FOLDERS.iter().flat_map(|folder| files(&root.join(folder), "hlo")) {
        for case in read(&path)?.split("// -----\n") {
            count(case, &mut tested).map_err(|e| format!("{}: {e}", path.display()))?;
        }
    }
    let mut out = line("opcode", &["types", "accuracy", "cases", "errors", "types in its cases"]);
    out.push_str("|---|---|---|---|---|---|\n");
    for (opcode, Tested { cases, errors, types }) in Opcode::ALL.iter().zip(tested) {
        let operands = opcode.types().map_or_else(String::new, |types| types.to_string());
        let types: Vec<&str> = types.into_iter().map(|i| ElementType::ALL[i].name()).collect();
        let cells =
            [operands, accuracy(*opcode), cases.to_string(), errors.to_string(), types.join(" ")];
        out.push_str(&line(&format!("`{}`", opcode.name()), &cells));
    }
    Ok(out)
}

fn accuracy(opcode: Opcode) -> String {
    match opcode.accuracy() {
        Accuracy::Exact => "exact".to_owned(),
        Accuracy::Ulp(n) => format!("{n} ulp"),
        Accuracy::Order => "order".to_owned(),
        Accuracy::Random => "random".to_owned(),
    }
}

/// Adds the opcodes of a case.
fn count(case: &str, tested: &mut [Tested]) -> Result {
    let index = |opcode: Opcode| Opcode::ALL.iter().position(|&other| other == opcode);
    if case.contains("// error ") {
        for line in case.lines().filter(|line| line.contains("// error ")) {
            let has = |opcode: &&Opcode| is_used(line, opcode.name());
            for i in Opcode::ALL.iter().filter(has).filter_map(|&opcode| index(opcode)) {
                tested[i].errors += 1;
            }
        }
        return Ok(());
    }
    if !case.contains("HloModule") {
        return Ok(());
    }
    let module = Module::parse(case).map_err(|e| e.to_string())?;
    let mut used = BTreeSet::new();
    for (_, computation) in module.computations.iter() {
        for (_, instruction) in computation.instructions.iter() {
            let Some(i) = index(instruction.opcode()) else { continue };
            used.insert(i);
            let operands =
                instruction.operands.iter().map(|&id| &computation.instructions[id].shape);
            let leaves = operands.chain([&instruction.shape]).flat_map(Shape::leaves);
            let types = leaves.filter_map(Shape::element_type);
            let numbers = types.filter_map(|ty| ElementType::ALL.iter().position(|&t| t == ty));
            tested[i].types.extend(numbers);
        }
    }
    for i in used {
        tested[i].cases += 1;
    }
    Ok(())
}

fn line<T: std::fmt::Display>(first: &str, cells: &[T]) -> String {
    let mut out = format!("| {first} |");
    for cell in cells {
        let cell = cell.to_string();
        let blank = if cell.is_empty() { "" } else { " " };
        let written = write!(out, "{blank}{cell} |");
        debug_assert!(written.is_ok(), "writing to a string does not fail");
    }
    out.push('\n');
    out
}

/// Returns whether the line has an instruction of this opcode: its name as a whole word, followed by operands.
fn is_used(line: &str, name: &str) -> bool {
    let call = format!("{name}(");
    line.match_indices(&call).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        before.is_none_or(char::is_whitespace)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_table_is_replaced() {
        let page = format!("a\n{BEGIN}old\n{END}\nb\n");
        assert_eq!(with_table(&page, "new\n").unwrap(), format!("a\n{BEGIN}new\n{END}\nb\n"));
        assert!(with_table("a\n", "new\n").is_err());
    }

    #[test]
    fn an_opcode_is_a_whole_word() {
        assert!(is_used("r = f32[] add(x, y)", "add"));
        assert!(!is_used("r = f32[] batch-add(x)", "add"));
        assert!(!is_used("add = f32[] negate(x)", "add"));
    }
}
