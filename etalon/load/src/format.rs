//! The formats of a module's file, and others that are told from them.
use crate::error::{Code, LoadError};

/// The format of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// HLO text.
    HloText,
    /// An `HloModuleProto`, or another message of XLA that contains one.
    Message,
    /// A StableHLO program, as text or as bytecode.
    StableHlo,
}

impl Format {
    /// Recognizes the format of a file by its contents; what is of no other format is HLO text.
    pub(crate) fn of(bytes: &[u8]) -> Result<Self, Foreign> {
        if hlo::proto::is_message(bytes) {
            return Ok(Self::Message);
        }
        if stablehlo::is_mlir(bytes) {
            return Ok(Self::StableHlo);
        }
        Foreign::of(bytes).map_or(Ok(Self::HloText), Err)
    }
}

/// Other formats: the first bytes, what it is, and how to get a module from it.
const FOREIGN: [(&[u8], &str, &str); 10] = [
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

/// What the first bytes of a file tell that is not a module.
#[derive(Debug, PartialEq)]
pub(crate) struct Foreign {
    found: &'static str,
    help: String,
}

impl Foreign {
    fn of(bytes: &[u8]) -> Option<Self> {
        let known = FOREIGN.iter().find(|(start, ..)| bytes.starts_with(start));
        let (found, help) = match known {
            Some((_, found, help)) => (*found, *help),
            None => match utf16_without_mark(bytes) {
                Some(found) => (found, FOREIGN[1].2),
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
        Some(Self { found, help })
    }
    /// Returns the error of a file of this name.
    pub(crate) fn error(self, name: &str) -> LoadError {
        let code = Code::NotAModule { path: name.to_owned(), found: self.found.to_owned() };
        LoadError::file(code, Some(self.help.replace("{}", name)))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognized_by_their_first_bytes() {
        let found = |bytes: &[u8]| {
            let error = Format::of(bytes).err()?.error("f");
            let [diagnostic] = error.diagnostics.as_slice() else { return None };
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
