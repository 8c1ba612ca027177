//! Texts of several modules.
use crate::Format;
use crate::error::{Code, LoadError};
use hlo::diag::quantity;
use std::ops::Range;

/// Returns where each module of a text begins and ends, and its name.
fn modules(text: &[u8], format: Format) -> Vec<(Range<usize>, String)> {
    match format {
        Format::StableHlo => programs(text),
        Format::HloText | Format::Message => hlo_modules(text),
    }
}

/// Returns the programs of MLIR text, which lines `// -----` separate, with their first symbols;
/// bytecode is one program.
fn programs(text: &[u8]) -> Vec<(Range<usize>, String)> {
    if std::str::from_utf8(text).is_err() {
        return vec![(0..text.len(), "the program".to_owned())];
    }
    let mut found = vec![(0..0, String::new())];
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let at = found.last().map_or(0, |(range, _)| range.end);
        if line.trim_ascii_end() == b"// -----" {
            found.push((at..at, String::new()));
        }
        if let Some((range, name)) = found.last_mut() {
            range.end += line.len();
            let code = line.trim_ascii_start();
            let symbol = code.iter().position(|byte| *byte == b'@');
            if let Some(symbol) = symbol.filter(|_| name.is_empty() && !code.starts_with(b"//")) {
                let word = code[symbol + 1..].iter().copied();
                let word = word.take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
                *name = format!("@{}", String::from_utf8_lossy(&word.collect::<Vec<u8>>()));
            }
        }
    }
    found.retain(|(_, name)| !name.is_empty());
    found
}

fn hlo_modules(text: &[u8]) -> Vec<(Range<usize>, String)> {
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let line_text = match at {
            0 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line),
            _ => line,
        };
        if let Some(rest) = line_text.strip_prefix(b"HloModule") {
            let rest = String::from_utf8_lossy(rest);
            let name = rest.trim_start().split([',', ' ', '\n', '\r']).next().unwrap_or_default();
            if let Some((last, _)) = found.last_mut() {
                last.end = at;
            }
            found.push((at..text.len(), name.to_owned()));
        }
        at += line.len();
    }
    found
}

/// Returns the error of a file without the module of a number, or of one of several modules without
/// a number.
fn wrong_number(
    name: &str,
    format: Format,
    found: &[(Range<usize>, String)],
    number: Option<u32>,
) -> LoadError {
    const SHOWN: usize = 8;
    let listed = found.iter().zip(1..).take(SHOWN);
    let mut listed: Vec<String> = listed.map(|((_, name), i)| format!("{i} is `{name}`")).collect();
    listed.extend((found.len() > SHOWN).then(|| "...".to_owned()));
    let all = match format {
        Format::HloText => format!("; `etalon test {name}` runs all of a file of tests"),
        Format::Message | Format::StableHlo => String::new(),
    };
    let path = name.to_owned();
    let (count, help) = match found.len() {
        0 => ("no modules".to_owned(), "name a file with modules".to_owned()),
        1 => ("1 module".to_owned(), "leave out --module".to_owned()),
        n => (
            match number {
                Some(number) => format!("{}, none of number {number}", quantity(n, "module")),
                None => format!("{n} modules"),
            },
            format!("choose one with --module N, where {}{all}", listed.join(", ")),
        ),
    };
    LoadError::file(Code::SeveralModules { path, count }, Some(help))
}

/// Returns the text of a module of several, the first of which has number 1. The others are blank,
/// so that lines and offsets stay.
pub(crate) fn only(
    name: &str,
    mut text: Vec<u8>,
    format: Format,
    number: u32,
) -> Result<Vec<u8>, LoadError> {
    let found = modules(&text, format);
    let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
    let Some((kept, _)) = index.and_then(|index| found.get(index)) else {
        return Err(wrong_number(name, format, &found, Some(number)));
    };
    for (at, byte) in text.iter_mut().enumerate() {
        if !kept.contains(&at) && *byte != b'\n' {
            *byte = b' ';
        }
    }
    Ok(text)
}

/// Returns the error of a file that cannot be parsed because it has several modules.
pub(crate) fn error(name: &str, text: &[u8], format: Format) -> Option<LoadError> {
    let found = modules(text, format);
    (found.len() > 1).then(|| wrong_number(name, format, &found, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_keeps_its_place() {
        let text = b"// a\nHloModule a, x=1\nE\n// -----\nHloModule b\nF\n".to_vec();
        let names: Vec<String> =
            modules(&text, Format::HloText).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["a", "b"]);
        let second =
            String::from_utf8(only("f", text.clone(), Format::HloText, 2).unwrap()).unwrap();
        assert_eq!(second.len(), text.len());
        assert_eq!(second.trim_start(), "HloModule b\nF\n");
        assert_eq!(second.lines().position(|line| line == "F"), Some(5));
        assert!(only("f", text, Format::HloText, 3).is_err());
    }

    #[test]
    fn programs_are_between_lines() {
        let text = b"// RUN: @x\n// -----\nfunc.func @a() {\n}\n// -----\nmodule @b {\nfunc.func @c()\n}\n";
        let found = modules(text, Format::StableHlo);
        let names: Vec<&str> = found.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!(names, ["@a", "@b"]);
        let second = only("f", text.to_vec(), Format::StableHlo, 2).unwrap();
        assert_eq!(second.len(), text.len());
        assert!(second.trim_ascii_start().starts_with(b"// -----\nmodule @b {"));
    }
}
