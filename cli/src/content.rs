//! The contents of the file of a module: compressed, of another format, or several modules.
use crate::error::{Code, Failure, Result};
use crate::limits;
use conformance::module_file::{self, ReadError};
use std::ops::Range;
use std::path::Path;

/// Reads a file, or standard input for `-`; what is compressed by gzip is decompressed. The file may have `most` bytes, if that is
/// stated.
pub(crate) fn read(path: &Path, most: Option<usize>) -> Result<Vec<u8>> {
    let bytes = most.and_then(|most| u64::try_from(most).ok()).unwrap_or(u64::MAX);
    let read = match path.as_os_str() == "-" {
        true => module_file::read_within(std::io::stdin().lock(), bytes),
        false => std::fs::File::open(path)
            .map_err(ReadError::from)
            .and_then(|file| module_file::read_within(file, bytes)),
    };
    read.map_err(|error| {
        if let (ReadError::TooLong { most: found }, true) = (&error, most.is_some()) {
            let message = format!("{}: the module has more than {found} bytes", path.display());
            return limits::failure(&interp::over_memory_limit(message));
        }
        let mut failure = Failure::file(path, &error);
        if let ReadError::Unpacked { .. } = error {
            let help = format!("unpack it, if you trust it: `gzip -d {}`", path.display());
            failure.diagnostics[0].help = Some(help);
        }
        failure
    })
}

/// A format that is not that of a module: its first bytes, what it is, and how to get a module from it.
type Format = (&'static [u8], &'static str, &'static str);

const FORMATS: [Format; 10] = [
    (
        b"\x7fELF",
        "an ELF file, a compiled program or library",
        "write modules as text with `XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\"`; a plugin is the value of --backend",
    ),
    (b"\xff\xfe", "text in UTF-16", "convert it: `iconv -f UTF-16 -t UTF-8 {} > OUT.hlo`"),
    (b"\xfe\xff", "text in UTF-16", "convert it: `iconv -f UTF-16 -t UTF-8 {} > OUT.hlo`"),
    (
        b"PK\x03\x04",
        "a ZIP archive",
        "pass the arrays of an .npz file with --input; extract others with `unzip {}`",
    ),
    (b"\x93NUMPY", "an array of NumPy", "pass it with --input"),
    (b"\x28\xb5\x2f\xfd", "compressed by zstd", "decompress it: `zstd -d {}`"),
    (b"\xfd7zXZ", "compressed by xz", "decompress it: `xz -dk {}`"),
    (b"BZh", "compressed by bzip2", "decompress it: `bzip2 -dk {}`"),
    (
        b"BC\xc0\xde",
        "LLVM bitcode",
        "write modules as text with `XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\"`",
    ),
    (b"\x89PNG", "a picture", "pass a module"),
];

/// Returns the error of a file that is not a module, if its first bytes tell.
pub(crate) fn foreign(name: &str, bytes: &[u8]) -> Option<Failure> {
    let known = FORMATS.iter().find(|(start, ..)| bytes.starts_with(start));
    let (found, help) = match known {
        Some((_, found, help)) => (*found, *help),
        None => match utf16_without_mark(bytes) {
            Some(found) => (found, FORMATS[1].2),
            None if is_binary(bytes) => ("of no format that Etalon knows", BINARY),
            None => return None,
        },
    };
    let help = match (found, bytes.first()) {
        // Without its mark the order of the bytes must be stated.
        ("text in UTF-16", Some(0)) => help.replace("UTF-16 ", "UTF-16BE "),
        ("text in UTF-16", Some(b' '..=b'~')) => help.replace("UTF-16 ", "UTF-16LE "),
        _ => help.to_owned(),
    };
    let help = help.replace("{}", name);
    let code = Code::NotAModule { path: name.to_owned(), found: found.to_owned() };
    Some(Failure::new(&code, Some(help)))
}

/// The help for binary data.
const BINARY: &str = "modules are HLO text, messages of XLA such as an `HloModuleProto`, and StableHLO programs; write text with `XLA_FLAGS=\"--xla_dump_to=DIR --xla_dump_hlo_as_text\"`";

/// Returns whether the first bytes have more control characters than a text with a mistake.
fn is_binary(bytes: &[u8]) -> bool {
    const FEWEST: usize = 4;
    let start = &bytes[..bytes.len().min(256)];
    let is_control = |byte: &&u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let controls = start.iter().filter(is_control).count();
    controls >= FEWEST && controls * 32 >= start.len()
}

/// Recognizes letters that alternate with zeros.
fn utf16_without_mark(bytes: &[u8]) -> Option<&'static str> {
    let start = bytes.get(..8)?;
    let zeros = |at: usize| start.iter().skip(at).step_by(2).all(|byte| *byte == 0);
    let letters = |at: usize| {
        start
            .iter()
            .skip(at)
            .step_by(2)
            .all(|byte| (b' '..=b'~').contains(byte) || byte.is_ascii_whitespace())
    };
    ((zeros(0) && letters(1)) || (zeros(1) && letters(0))).then_some("text in UTF-16")
}

/// Returns where each module of a text begins and ends, and its name.
fn modules(text: &[u8]) -> Vec<(Range<usize>, String)> {
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

/// Returns the error of a file without the module of a number, or of one of several modules without a number.
fn wrong_number(name: &str, found: &[(Range<usize>, String)], number: Option<u32>) -> Failure {
    const SHOWN: usize = 8;
    let listed = found.iter().zip(1..).take(SHOWN);
    let mut listed: Vec<String> = listed.map(|((_, name), i)| format!("{i} is `{name}`")).collect();
    listed.extend((found.len() > SHOWN).then(|| "...".to_owned()));
    let path = name.to_owned();
    let (count, help) = match found.len() {
        0 => ("no line that starts with `HloModule`".to_owned(), "leave out --module".to_owned()),
        1 => ("1 module".to_owned(), "leave out --module".to_owned()),
        n => (
            match number {
                Some(number) => format!("{n} modules, none of number {number}"),
                None => format!("{n} modules"),
            },
            format!(
                "choose one with --module N, where {}; `etalon test {name}` runs all of a file of tests",
                listed.join(", ")
            ),
        ),
    };
    Failure::new(&Code::SeveralModules { path, count }, Some(help))
}

/// Returns the text of a module of several, the first of which has number 1. The others are blank, so that lines and offsets stay.
pub(crate) fn module(name: &str, mut text: Vec<u8>, number: u32) -> Result<Vec<u8>> {
    let found = modules(&text);
    let index = usize::try_from(number).unwrap_or(usize::MAX) - 1;
    let Some((kept, _)) = found.get(index) else {
        return Err(wrong_number(name, &found, Some(number)));
    };
    for (at, byte) in text.iter_mut().enumerate() {
        if !kept.contains(&at) && *byte != b'\n' {
            *byte = b' ';
        }
    }
    Ok(text)
}

/// Returns the error of a file that cannot be parsed because it has several modules.
pub(crate) fn several(name: &str, text: &str) -> Option<Failure> {
    let found = modules(text.as_bytes());
    (found.len() > 1).then(|| wrong_number(name, &found, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_keeps_its_place() {
        let text = b"// a\nHloModule a, x=1\nE\n// -----\nHloModule b\nF\n".to_vec();
        let names: Vec<String> = modules(&text).into_iter().map(|(_, name)| name).collect();
        assert_eq!(names, ["a", "b"]);
        let second = String::from_utf8(module("f", text.clone(), 2).unwrap()).unwrap();
        assert_eq!(second.len(), text.len());
        assert_eq!(second.trim_start(), "HloModule b\nF\n");
        assert_eq!(second.lines().position(|line| line == "F"), Some(5));
        assert!(module("f", text, 3).is_err());
    }

    #[test]
    fn formats_are_recognized_by_their_first_bytes() {
        let found = |bytes: &[u8]| {
            let failure = foreign("f", bytes)?;
            let [diagnostic] = failure.diagnostics.as_slice() else { return None };
            Some(diagnostic.message.clone() + diagnostic.help.as_deref().unwrap_or_default())
        };
        assert!(found(b"H\0l\0o\0M\0").unwrap().contains("iconv -f UTF-16LE -t UTF-8 f"));
        assert!(found(b"\0H\0l\0o\0M").unwrap().contains("UTF-16BE"));
        assert!(found(b"\xff\xfeH\0").unwrap().contains("-f UTF-16 "));
        assert!(found(&[b'x', 1, 2, 200, 3, 4]).unwrap().contains("no format"));
        assert_eq!(found(b"HloModule m"), None);
        assert_eq!(found(b"HloModule m \x01 \x02"), None);
        assert_eq!(found(b""), None);
    }
}
