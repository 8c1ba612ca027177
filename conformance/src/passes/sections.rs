//! One text of many states: what XLA writes to standard output, what MLIR prints after each pass,
//! and modules one after the other.
use super::name::{self, ModuleName, Natural, Position, Stage};
use std::path::Path;

/// The line before a module that XLA prints, and the one after it.
const BEGIN: &str = "*** Begin ";
const END: &str = "*** End ";
/// What a line has that MLIR prints before a program.
const AFTER_PASS: &str = "IR Dump After ";
const BEFORE_PASS: &str = "IR Dump Before ";

/// Returns whether a text has an HLO module.
pub(super) fn has_hlo(text: &[u8]) -> bool {
    let mut lines = text.split(|byte| *byte == b'\n');
    lines.any(|line| line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).starts_with(b"HloModule"))
}

/// A state: its module, its place, and what made it.
type Part = (ModuleName, Position, Stage, Vec<u8>);

/// Returns the states of a file. A file without any marks is a single state.
pub(super) fn split(file: &str, bytes: &[u8]) -> Vec<Part> {
    let stem = Path::new(file).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let own = ModuleName::new(&stem.unwrap_or_default(), None);
    let Ok(text) = std::str::from_utf8(bytes) else {
        return vec![(own, Position::Before, Stage::new("", "module"), bytes.to_vec())];
    };
    if text.lines().any(|line| line.starts_with(BEGIN)) {
        return of_xla(text);
    }
    if text.lines().any(|line| mark(line).is_some()) {
        return of_mlir(text, &own);
    }
    in_order(text, &own)
}

/// Splits at `*** Begin NAME ***` and `*** End NAME ***`.
fn of_xla(text: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in text.split_inclusive('\n') {
        let name = |line: &'_ str, mark: &str| -> Option<usize> {
            line.trim_end().strip_prefix(mark)?.strip_suffix(" ***").map(str::len)
        };
        if let Some(length) = name(line, BEGIN) {
            open = Some((&line[BEGIN.len()..BEGIN.len() + length], String::new()));
        } else if name(line, END).is_some() {
            let Some((name, module)) = open.take() else { continue };
            let stem = name::stem(name).unwrap_or(name);
            if let Some((of, position, stage)) = name::parse(stem) {
                parts.push((of, position, stage, module.into_bytes()));
            }
        } else if let Some((_, module)) = &mut open {
            module.push_str(line);
        }
    }
    parts
}

/// Returns the pass of a line such as `// -----// IR Dump After Canonicalizer (canonicalize) //----- //`.
fn mark(line: &str) -> Option<&str> {
    let line = line.strip_prefix("//")?;
    let rest = line.split_once(AFTER_PASS).or_else(|| line.split_once(BEFORE_PASS))?.1;
    Some(rest.split("//").next().unwrap_or(rest).trim())
}

/// Splits before each line with the name of a pass.
fn of_mlir(text: &str, own: &ModuleName) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut number = 0;
    for line in text.split_inclusive('\n') {
        if let Some(pass) = mark(line.trim_end()) {
            let pass = match pass.split_once('(') {
                Some((_, argument)) => argument.split(')').next().unwrap_or(argument),
                None => pass,
            };
            let stage = Stage::new("", pass.trim());
            parts.push((
                own.clone(),
                Position::Mlir(vec![number], Natural::default()),
                stage,
                vec![],
            ));
            number += 1;
        }
        if let Some((.., text)) = parts.last_mut() {
            text.extend_from_slice(line.as_bytes());
        }
    }
    parts
}

/// Splits before each `HloModule`; another text is one state.
fn in_order(text: &str, own: &ModuleName) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut number = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with("HloModule") || parts.is_empty() {
            let is_open = parts.last().is_some_and(|(.., text)| !has_hlo(text));
            if !is_open {
                let stage = Stage::new("", &format!("module {}", number + 1));
                let position = Position::Mlir(vec![number], Natural::default());
                parts.push((own.clone(), position, stage, Vec::new()));
                number += 1;
            }
        }
        if let Some((.., text)) = parts.last_mut() {
            text.extend_from_slice(line.as_bytes());
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        let parts = split("d/all.txt", text.as_bytes()).into_iter();
        let show = |(module, _, stage, text): Part| {
            format!("{} {stage}: {}", module.name, String::from_utf8(text).unwrap().trim())
        };
        parts.map(show).collect()
    }

    #[test]
    fn what_xla_prints() {
        let text = "I0000 log\n*** Begin module_0000.m.before_optimizations.txt ***\nHloModule m\n*** End module_0000.m.before_optimizations.txt ***\n*** Begin module_0000.m.cpu_after_optimizations-buffer-assignment.txt ***\nBufferAssignment:\n*** End x ***\n";
        assert_eq!(shown(text), ["m before_optimizations: HloModule m"]);
    }

    #[test]
    fn what_mlir_prints() {
        let text = "// -----// IR Dump After Canonicalizer (canonicalize) //----- //\nmodule {\n}\n\n// -----// IR Dump After CSE (cse) //----- //\nmodule @b {\n}\n";
        let found = shown(text);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("all canonicalize: // -----// IR Dump"), "{found:?}");
        assert!(found[1].ends_with("module @b {\n}"), "{found:?}");
    }

    #[test]
    fn modules_one_after_the_other() {
        let text = "// c\nHloModule a\nA\n\nHloModule b\nB\n";
        assert_eq!(
            shown(text),
            ["all module 1: // c\nHloModule a\nA", "all module 2: HloModule b\nB"]
        );
    }
}
