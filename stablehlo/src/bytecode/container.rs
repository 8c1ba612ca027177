//! The sections of a file: strings, names of dialects and ops, where attributes, types and
//! properties are.
use super::reader::Reader;
use crate::error::{Code, Error, Result};
use smol_str::SmolStr;

/// The newest version of the format that is read.
const NEWEST: u64 = 6;

/// An attribute or a type, not yet decoded.
#[derive(Debug, Clone)]
pub(super) struct EncodedValue<'a> {
    pub(super) dialect: usize,
    /// In the encoding of the dialect; otherwise as text.
    pub(super) encoded: bool,
    pub(super) reader: Reader<'a>,
}

/// The name of an op.
#[derive(Debug)]
pub(super) struct OpName {
    pub(super) dialect: usize,
    /// Without the dialect.
    pub(super) name: SmolStr,
    /// Whether the writer knew the op; the properties of others are one attribute.
    pub(super) known: bool,
}

/// The tables of a file.
#[derive(Debug)]
pub(super) struct Container<'a> {
    pub(super) version: u64,
    pub(super) strings: Vec<&'a [u8]>,
    pub(super) dialects: Vec<SmolStr>,
    pub(super) op_names: Vec<OpName>,
    pub(super) attributes: Vec<EncodedValue<'a>>,
    pub(super) types: Vec<EncodedValue<'a>>,
    pub(super) properties: Vec<Reader<'a>>,
    pub(super) ir: Reader<'a>,
}

impl<'a> Container<'a> {
    pub(super) fn read(bytes: &'a [u8]) -> Result<Self> {
        let mut file = Reader::new(bytes, 0, "header");
        file.bytes(crate::MAGIC.len())?;
        let version = file.varint()?;
        if version > NEWEST {
            let message =
                format!("MLIR bytecode of version {version}; versions 0 to {NEWEST} can be read");
            return Err(Code::Version { message }.into());
        }
        file.until_zero()?;
        let mut sections: [Option<Reader<'a>>; 9] = Default::default();
        while !file.is_empty() {
            let (id, section) = file.section()?;
            let slot = sections.get_mut(usize::from(id));
            let slot = slot.ok_or_else(|| file.error(format!("section {id} is unknown")))?;
            if slot.replace(section).is_some() {
                return Err(file.error(format!("section {id} occurs twice")));
            }
        }
        let mut take = |id: usize, name: &str| {
            sections[id].take().ok_or_else(|| file.error(format!("the {name} section is missing")))
        };
        let strings = strings(take(0, "string")?)?;
        let (dialects, op_names) = names(take(1, "dialect")?, &strings, version)?;
        let (attributes, types) =
            entries(take(3, "offset")?, take(2, "attribute and type")?, dialects.len())?;
        let ir = take(4, "IR")?;
        let properties = match sections[8].take() {
            Some(section) => properties(section)?,
            None => Vec::new(),
        };
        Ok(Self { version, strings, dialects, op_names, attributes, types, properties, ir })
    }
    /// Returns a string.
    pub(super) fn string(&self, index: usize, reader: &Reader<'_>) -> Result<&'a [u8]> {
        string(&self.strings, index, reader)
    }
}

fn string<'a>(strings: &[&'a [u8]], index: usize, reader: &Reader<'_>) -> Result<&'a [u8]> {
    strings.get(index).copied().ok_or_else(|| reader.error(format!("there is no string {index}")))
}
/// Reads the strings: the lengths are stored from the last string to the first; each string ends in
/// a zero.
fn strings(mut section: Reader<'_>) -> Result<Vec<&[u8]>> {
    let lengths = section.list(Reader::size)?;
    let read = |length: &usize| {
        let text = section.bytes(*length)?;
        text.strip_suffix(&[0]).ok_or_else(|| section.error("a string does not end in a zero"))
    };
    lengths.iter().rev().map(read).collect()
}
fn names(
    mut section: Reader<'_>,
    strings: &[&[u8]],
    version: u64,
) -> Result<(Vec<SmolStr>, Vec<OpName>)> {
    let text = |index: usize, reader: &Reader<'_>| {
        let bytes = string(strings, index, reader)?;
        Ok::<_, Error>(SmolStr::new(String::from_utf8_lossy(bytes)))
    };
    let dialects = section.list(|section| {
        let (index, versioned) =
            if version >= 1 { section.size_and_flag()? } else { (section.size()?, false) };
        if versioned {
            section.section()?;
        }
        text(index, section)
    })?;
    if version >= 4 {
        section.size()?;
    }
    let mut names = Vec::new();
    while !section.is_empty() {
        let dialect = section.size()?;
        if dialect >= dialects.len() {
            return Err(section.error(format!("there is no dialect {dialect}")));
        }
        names.extend(section.list(|section| {
            let (index, known) =
                if version >= 5 { section.size_and_flag()? } else { (section.size()?, true) };
            Ok(OpName { dialect, name: text(index, section)?, known })
        })?);
    }
    Ok((dialects, names))
}
/// Reads the sizes of attributes and types, which are stored one after another.
fn entries<'a>(
    mut offsets: Reader<'a>,
    mut data: Reader<'a>,
    dialects: usize,
) -> Result<(Vec<EncodedValue<'a>>, Vec<EncodedValue<'a>>)> {
    let counts = [offsets.count()?, offsets.count()?];
    let mut group = |count: usize| {
        let mut entries = Vec::new();
        while entries.len() < count {
            let dialect = offsets.size()?;
            if dialect >= dialects {
                return Err(offsets.error(format!("there is no dialect {dialect}")));
            }
            for _ in 0..offsets.count()? {
                let (size, encoded) = offsets.size_and_flag()?;
                let base = data.offset();
                let reader = Reader::new(data.bytes(size)?, base, "attribute and type section");
                entries.push(EncodedValue { dialect, encoded, reader });
            }
        }
        if entries.len() == count {
            Ok(entries)
        } else {
            Err(offsets.error("a group has too many entries"))
        }
    };
    let attributes = group(counts[0])?;
    Ok((attributes, group(counts[1])?))
}
fn properties(mut section: Reader<'_>) -> Result<Vec<Reader<'_>>> {
    section.list(|section| {
        let size = section.size()?;
        let base = section.offset();
        Ok(Reader::new(section.bytes(size)?, base, "properties section"))
    })
}
