//! `tidy`: sizes of files and functions, lists of ops, first lines, blanks.
use crate::{Result, files, lists, read, source};
use std::collections::BTreeSet;
use std::path::Path;

/// The limits of code lines of a file: above the first it is printed, above the second the check fails.
const THINK: usize = 400;
const MOST: usize = 600;
/// The limit of code lines of a function.
const FUNCTION: usize = 80;

/// Checks every file; `xtask/tidy.txt` lists the exceptions.
pub(crate) fn run(root: &Path) -> Result {
    let list = read(&root.join("xtask/tidy.txt"))?;
    let mut exceptions = exceptions(&list)?;
    let mut bad = Vec::new();
    let mut sizes = Vec::new();
    for path in files(root, "rs") {
        let text = read(&path)?;
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let code = source::code(&text);
        let lines = source::code_lines(&code);
        sizes.push(lines);
        if lines > THINK {
            println!("{name}: {lines} code lines");
        }
        if lines > MOST && !exceptions.remove(&name) {
            bad.push(format!("{name}: {lines} code lines, at most {MOST}"));
        }
        for function in source::functions(&code).iter().filter(|f| f.lines > FUNCTION) {
            let key = format!("{name} {}", function.name);
            if !exceptions.remove(&key) {
                let source::Function { name: function, line, lines } = function;
                bad.push(format!(
                    "{name}:{line}: `{function}` has {lines} code lines, at most {FUNCTION}"
                ));
            }
        }
        // Lists belong in the table, and a test may have a default.
        let may_list = name.starts_with("hlo/src/op/") || name.contains("tests/");
        let found = if may_list { Vec::new() } else { lists::find(&code) };
        if !found.is_empty() && !exceptions.remove(&format!("{name} lists")) {
            bad.extend(found.iter().map(|line| {
                format!(
                    "{name}:{line}: a list of ops or element types with a default: use the op table"
                )
            }));
        }
        if !text.starts_with("//! ") {
            bad.push(format!("{name}:1: the first line must describe the file: `//! ...`"));
        }
        bad.extend(blanks(&name, &text));
    }
    let tested = read(&root.join("etalon/src/lib.rs"))?;
    for path in files(&root.join("docs"), "md") {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let is_tested = tested.contains(&format!("include_str!(\"../../{name}\")"));
        // A decision keeps the code of its day.
        if !is_tested && !name.starts_with("docs/adr/") && read(&path)?.contains("\n```rust\n") {
            bad.push(format!(
                "{name}: its programs run in no test: include it in etalon/src/lib.rs"
            ));
        }
    }
    for path in ["md", "toml"].iter().flat_map(|ext| files(root, ext)) {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        bad.extend(blanks(&name, &read(&path)?));
    }
    bad.extend(exceptions.iter().map(|key| format!("xtask/tidy.txt: `{key}` needs no exception")));
    println!("{} files, median {} code lines", sizes.len(), median(&mut sizes));
    if bad.is_empty() { Ok(()) } else { Err(bad.join("\n")) }
}

/// `path: reason` for a file, `path function: reason` for a function.
fn exceptions(list: &str) -> Result<BTreeSet<String>> {
    let lines = list.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| match line.split_once(": ") {
            Some((key, reason)) if !reason.trim().is_empty() => Ok(key.to_owned()),
            _ => Err(format!("xtask/tidy.txt: `{line}` has no reason")),
        })
        .collect()
}

/// Returns the tabs, and the blanks at the end of lines.
fn blanks(name: &str, text: &str) -> Vec<String> {
    let mut bad = Vec::new();
    for (i, line) in text.lines().enumerate() {
        if line.contains('\t') {
            bad.push(format!("{name}:{}: a tab", i + 1));
        }
        if line.ends_with(char::is_whitespace) {
            bad.push(format!("{name}:{}: blanks at the end of the line", i + 1));
        }
    }
    bad
}

fn median(sizes: &mut [usize]) -> usize {
    sizes.sort_unstable();
    sizes.get(sizes.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_needs_a_reason() {
        let list = exceptions("# list\na.rs: a table\na.rs f: one arm an op\n").unwrap();
        assert_eq!(list.iter().collect::<Vec<_>>(), ["a.rs", "a.rs f"]);
        assert!(exceptions("a.rs\n").is_err());
    }

    #[test]
    fn blanks_are_found() {
        assert_eq!(blanks("a", "x\ty\n"), ["a:1: a tab"]);
        assert_eq!(blanks("a", "x\n y \n"), ["a:2: blanks at the end of the line"]);
    }
}
