//! The encodings of bytecode: variable-width integers, lists, sections.
use crate::error::{Code, Error, Result};
use hlo::diag::quantity;
use smallvec::{Array, SmallVec};

/// The most values for which memory is taken before they are read: a damaged file may be short of
/// what it states.
const RESERVED: usize = 1 << 10;

/// A position in a section of bytecode.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The offset of the section in the file: sections are aligned in it.
    base: usize,
    section: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], base: usize, section: &'static str) -> Self {
        Self { bytes, at: 0, base, section }
    }
    /// Returns the error of malformed bytecode at this position.
    #[cold]
    pub(crate) fn error(&self, message: impl Into<String>) -> Error {
        Code::Bytecode { message: message.into(), offset: self.at, section: self.section }.into()
    }
    #[cold]
    fn truncated(&self) -> Error {
        self.error("the bytecode ends too early")
    }
    /// Returns whether everything is read.
    pub(crate) fn is_empty(&self) -> bool {
        self.at >= self.bytes.len()
    }
    /// Returns the offset in the file.
    pub(crate) fn offset(&self) -> usize {
        self.base + self.at
    }
    /// Fails unless everything is read.
    pub(crate) fn end(&self) -> Result<()> {
        if self.is_empty() {
            Ok(())
        } else {
            Err(self.error("bytes are left after the last value"))
        }
    }
    fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Reads a byte.
    #[inline]
    pub(crate) fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(|| self.truncated())?;
        self.at += 1;
        Ok(byte)
    }
    /// Reads bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        if count > self.left() {
            return Err(self.truncated());
        }
        let bytes = &self.bytes[self.at..self.at + count];
        self.at += count;
        Ok(bytes)
    }
    /// Reads an integer that takes one to nine bytes: the zeros at the end of the first byte count
    /// those that follow.
    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64> {
        let first = self.byte()?;
        if first & 1 == 1 {
            return Ok(u64::from(first >> 1));
        }
        let more = usize::try_from(first.trailing_zeros()).unwrap_or(0);
        let mut wide = [0; 8];
        if first == 0 {
            wide.copy_from_slice(self.bytes(8)?);
            return Ok(u64::from_le_bytes(wide));
        }
        wide[0] = first;
        wide[1..=more].copy_from_slice(self.bytes(more)?);
        Ok(u64::from_le_bytes(wide) >> (more + 1))
    }
    /// Reads an integer with its sign in the lowest bit.
    pub(crate) fn signed(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
    /// Reads an index or a size.
    #[inline]
    pub(crate) fn size(&mut self) -> Result<usize> {
        let value = self.varint()?;
        usize::try_from(value).map_err(|_| self.error(format!("{value} is not a size")))
    }
    /// Reads a size with a flag in the lowest bit.
    #[inline]
    pub(crate) fn size_and_flag(&mut self) -> Result<(usize, bool)> {
        let value = self.size()?;
        Ok((value >> 1, value & 1 == 1))
    }
    /// Reads the number of values that follow; each takes a byte or more, so it is bounded by the
    /// bytes that are left.
    #[inline]
    pub(crate) fn count(&mut self) -> Result<usize> {
        let count = self.size()?;
        self.check_count(count)
    }
    /// Checks the number of values that follow.
    #[inline]
    pub(crate) fn check_count(&self, count: usize) -> Result<usize> {
        if count <= self.left() {
            return Ok(count);
        }
        Err(self.error(format!(
            "{count} in the {} bytes that are left",
            self.left(),
            count = quantity(count, "value")
        )))
    }
    /// Reads a list.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.count()?;
        let mut items = Vec::with_capacity(count.min(RESERVED));
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }
    /// Reads a list that is short in most cases.
    #[inline]
    pub(crate) fn short_list<A: Array>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<A::Item>,
    ) -> Result<SmallVec<A>> {
        let count = self.count()?;
        let mut items = SmallVec::with_capacity(count.min(RESERVED));
        for _ in 0..count {
            items.push(item(self)?);
        }
        Ok(items)
    }
    /// Reads a list of integers.
    pub(crate) fn integers(&mut self) -> Result<Vec<i64>> {
        self.list(Self::signed)
    }
    /// Reads bytes after their number.
    pub(crate) fn blob(&mut self) -> Result<&'a [u8]> {
        let count = self.size()?;
        self.bytes(count)
    }
    /// Reads bytes up to a zero.
    pub(crate) fn until_zero(&mut self) -> Result<&'a [u8]> {
        let rest = &self.bytes[self.at..];
        let length = rest.iter().position(|byte| *byte == 0).ok_or_else(|| self.truncated())?;
        self.at += length + 1;
        Ok(&rest[..length])
    }
    /// Reads the bits of a number of this width.
    pub(crate) fn bits(&mut self, width: u32) -> Result<u64> {
        match width {
            0..=8 => self.byte().map(u64::from),
            9..=64 => Ok(self.signed()?.cast_unsigned()),
            _ => Err(Error::unsupported(format!("numbers of {width} bits are not supported"))),
        }
    }
    /// Reads a section: its number and a reader of its contents.
    pub(crate) fn section(&mut self) -> Result<(u8, Reader<'a>)> {
        let id = self.byte()?;
        let length = self.size()?;
        if id & 0x80 != 0 {
            let alignment = self.size()?;
            if !alignment.is_power_of_two() {
                return Err(
                    self.error(format!("a section is aligned to {}", quantity(alignment, "byte")))
                );
            }
            let padding = self.offset().wrapping_neg() & (alignment - 1);
            self.bytes(padding)?;
        }
        let base = self.offset();
        let id = id & 0x7f;
        Ok((id, Reader::new(self.bytes(length)?, base, section_name(id))))
    }
}

fn section_name(id: u8) -> &'static str {
    match id {
        0 => "string section",
        1 => "dialect section",
        2 => "attribute and type section",
        3 => "attribute and type offset section",
        4 => "IR section",
        5 => "resource section",
        6 => "resource offset section",
        7 => "dialect version section",
        8 => "properties section",
        _ => "unknown section",
    }
}
