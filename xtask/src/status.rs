//! `status`: the table of docs/status.md that says what works for which op.
use crate::{Result, files, read, write as write_file};
use hlo::{ElementType, Opcode};
use std::fmt::Write;
use std::path::Path;

const PAGE: &str = "docs/status.md";
const BEGIN: &str = "<!-- generated: begin -->\n";
const END: &str = "<!-- generated: end -->";

/// Rewrites the table.
pub(crate) fn write(root: &Path) -> Result {
    let page = read(&root.join(PAGE))?;
    write_file(&root.join(PAGE), &with_table(&page, &table(root)?)?)
}

/// Fails unless the table is as it would be written.
pub(crate) fn check(root: &Path) -> Result {
    let page = read(&root.join(PAGE))?;
    if with_table(&page, &table(root)?)? == page {
        return Ok(());
    }
    Err(format!("{PAGE} is out of date; run `cargo xtask status`"))
}

fn with_table(page: &str, table: &str) -> Result<String> {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| {
        let (_, after) = rest.split_once(END)?;
        Some(format!("{before}{BEGIN}{table}{END}{after}"))
    });
    parts.ok_or_else(|| format!("{PAGE} lacks the lines `{}` and `{END}`", BEGIN.trim_end()))
}

fn table(root: &Path) -> Result<String> {
    let mut tests = String::new();
    for path in ["tests/ops", "tests/programs"].iter().flat_map(|f| files(&root.join(f), "hlo")) {
        tests.push_str(&read(&path)?);
    }
    let (mut rows, mut counts) = (String::new(), [0usize; 4]);
    for opcode in Opcode::ALL.iter().copied() {
        let name = opcode.name();
        // The engine's match over the ops is exhaustive: there is none it leaves out.
        let facts = [true, opcode.is_verified(), true, is_used(&tests, name)];
        for (count, holds) in counts.iter_mut().zip(facts) {
            *count += usize::from(holds);
        }
        let accepted =
            opcode.types().map_or_else(|| "as its rule says".to_owned(), |t| t.to_string());
        let own = read(&root.join(format!("tests/ops/{name}.hlo"))).unwrap_or_default();
        let (pieces, types) = (own.matches("HloModule").count(), tested_types(&own));
        let yes = |holds: bool| if holds { "yes".to_owned() } else { String::new() };
        let cells =
            [accepted, yes(facts[0]), yes(facts[1]), yes(facts[2]), pieces.to_string(), types];
        rows.push_str(&line(&format!("`{name}`"), &cells));
    }
    let heads = ["types", "parsed", "verified", "reference", "tests", "types in its tests"];
    let [parsed, verified, reference, tested] = counts.map(|n| n.to_string());
    let mut out = line("opcode", &heads);
    out.push_str("|---|---|---|---|---|---|---|\n");
    out.push_str(&line(
        "all",
        &[String::new(), parsed, verified, reference, tested, String::new()],
    ));
    out.push_str(&rows);
    Ok(out)
}

/// The element types that stand in a file of tests, in the order of the table of types.
fn tested_types(text: &str) -> String {
    let stands = |name: &str| {
        let shape = format!("{name}[");
        text.match_indices(&shape).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            before.is_none_or(|c| !c.is_ascii_alphanumeric())
        })
    };
    let types = ElementType::ALL.iter().map(|ty| ty.name()).filter(|name| stands(name));
    types.collect::<Vec<_>>().join(" ")
}

fn line<T: std::fmt::Display>(first: &str, cells: &[T]) -> String {
    let mut out = format!("| {first} |");
    for cell in cells {
        let cell = cell.to_string();
        let blank = if cell.is_empty() { "" } else { " " };
        let written = write!(out, "{blank}{cell} |");
        debug_assert!(written.is_ok(), "a string takes everything");
    }
    out.push('\n');
    out
}

/// Whether the opcode stands in the tests: its name as a whole word, followed by its operands.
fn is_used(tests: &str, name: &str) -> bool {
    let call = format!("{name}(");
    tests.match_indices(&call).any(|(at, _)| {
        let before = tests[..at].chars().next_back();
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
