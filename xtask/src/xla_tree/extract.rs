//! The HLO texts in a checkout of XLA: raw strings of `.cc` and `.h` files, and the parts of `.hlo` files.
use crate::{Result, files};
use std::collections::HashSet;
use std::path::Path;

/// The longest delimiter of a raw string of C++.
const LONGEST: usize = 16;

/// A text and where it begins.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// `path:line`, which no other text has.
    pub(super) at: String,
    pub(super) text: String,
}

/// Returns each different text under the folder once, in the order of paths and lines.
pub(super) fn texts(folder: &Path) -> Result<Vec<Text>> {
    let (mut found, mut seen) = (Vec::new(), HashSet::new());
    let mut paths: Vec<_> = ["cc", "h", "hlo"].iter().flat_map(|ext| files(folder, ext)).collect();
    paths.sort();
    for path in paths {
        let bytes = std::fs::read(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        let file = String::from_utf8_lossy(&bytes);
        let name = path.strip_prefix(folder).unwrap_or(&path).display().to_string();
        let is_hlo = path.extension().is_some_and(|ext| ext == "hlo");
        for (offset, text) in if is_hlo { parts(&file) } else { raw_strings(&file) } {
            let is_module = text.contains("ENTRY") || text.contains("HloModule");
            if is_module && seen.insert(text.to_owned()) {
                let line = file[..offset].matches('\n').count() + 1;
                found.push(Text { at: format!("{name}:{line}"), text: text.to_owned() });
            }
        }
    }
    match found.is_empty() {
        true => Err(format!("{} has no HLO texts: expected XLA's sources", folder.display())),
        false => Ok(found),
    }
}

/// Returns the raw strings of C++, with their offsets: `R"delimiter(text)delimiter"`.
fn raw_strings(source: &str) -> Vec<(usize, &str)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(start) = source[at..].find("R\"").map(|i| at + i + 2) {
        at = start;
        let Some(open) = source[start..].find('(').map(|i| start + i) else { break };
        let delimiter = &source[start..open];
        let is_blank = |c: char| c.is_whitespace() || matches!(c, '\\' | ')' | '"');
        if delimiter.len() > LONGEST || delimiter.contains(is_blank) {
            continue;
        }
        let close = format!("){delimiter}\"");
        let Some(end) = source[open..].find(&close).map(|i| open + i) else { break };
        found.push((open + 1, &source[open + 1..end]));
        at = end + close.len();
    }
    found
}

/// Returns the modules of a file, which lines `// -----` separate, with their offsets.
fn parts(file: &str) -> Vec<(usize, &str)> {
    let (mut found, mut start, mut at) = (Vec::new(), 0, 0);
    for line in file.split_inclusive('\n') {
        if line.trim_end() == "// -----" {
            found.push((start, &file[start..at]));
            start = at + line.len();
        }
        at += line.len();
    }
    found.push((start, &file[start..]));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn raw_strings_end_at_their_own_delimiter() {
        let source = "f(R\"(a)\"); g(R\"x(b)\" c)x\", \"R\"); R\"not one\"";
        let texts: Vec<&str> = raw_strings(source).into_iter().map(|(_, text)| text).collect();
        assert_eq!(texts, ["a", "b)\" c"]);
    }

    #[test]
    fn files_have_parts() {
        assert_eq!(parts("a\n// -----\nb\n"), [(0, "a\n"), (11, "b\n")]);
        assert_eq!(parts("a"), [(0, "a")]);
    }
}
