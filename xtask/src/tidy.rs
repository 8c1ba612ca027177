//! `tidy`: sizes of files, first lines, blanks. Clippy checks the sizes of functions and lists with a default.
use crate::{Result, files, read};
use std::path::Path;

/// The limits of code lines of a file: above the first it is printed, above the second the check fails.
const THINK: usize = 400;
const MOST: usize = 600;

/// Checks every file.
pub(crate) fn run(root: &Path) -> Result {
    let mut bad = Vec::new();
    let mut sizes = Vec::new();
    for path in files(root, "rs") {
        let text = read(&path)?;
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let lines = text.lines().map(str::trim_start);
        let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("//")).count();
        sizes.push(lines);
        if lines > THINK {
            println!("{name}: {lines} code lines");
        }
        if lines > MOST {
            bad.push(format!("{name}: {lines} code lines, at most {MOST}"));
        }
        if !text.starts_with("//! ") {
            bad.push(format!("{name}:1: the first line must describe the file: `//! ...`"));
        }
        bad.extend(blanks(&name, &text));
    }
    let tested = ["etalon/src/lib.rs", "builder/compat/src/lib.rs"].map(|file| root.join(file));
    let tested = tested.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?.concat();
    for path in files(&root.join("docs"), "md") {
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let is_tested = tested.contains(&format!("../{name}\")"));
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
    println!("{} files, median {} code lines", sizes.len(), median(&mut sizes));
    if bad.is_empty() { Ok(()) } else { Err(bad.join("\n")) }
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
    fn blanks_are_found() {
        assert_eq!(blanks("a", "x\ty\n"), ["a:1: a tab"]);
        assert_eq!(blanks("a", "x\n y \n"), ["a:2: blanks at the end of the line"]);
    }
}
