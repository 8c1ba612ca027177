//! The encodings of bytecode: variable-width integers, lists, sections.

/// Bytes as they are written; the inverse of `Reader`.
#[derive(Debug, Clone, Default)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    /// Writes an integer in one to nine bytes: the zeros at the end of the first byte count those
    /// that follow.
    pub(super) fn varint(&mut self, value: u64) {
        let bytes = (u64::BITS - (value | 1).leading_zeros()).div_ceil(7);
        if bytes > 8 {
            self.0.push(0);
            return self.0.extend(value.to_le_bytes());
        }
        let encoded = (value << 1 | 1) << (bytes - 1);
        self.0.extend(encoded.to_le_bytes().into_iter().zip(0..bytes).map(|(byte, _)| byte));
    }
    /// Writes a number of things, or the index of one.
    pub(super) fn size(&mut self, value: usize) {
        self.varint(u64::try_from(value).expect("usize has at most 64 bits"));
    }
    /// Writes a size and a flag.
    pub(super) fn size_and_flag(&mut self, value: usize, flag: bool) {
        self.size(value << 1 | usize::from(flag));
    }
    /// Writes an integer with its sign in the lowest bit.
    pub(super) fn signed(&mut self, value: i64) {
        self.varint((value << 1 ^ value >> 63).cast_unsigned());
    }
    /// Writes a list of indices after their number.
    pub(super) fn sizes(&mut self, values: &[usize]) {
        self.size(values.len());
        for value in values {
            self.size(*value);
        }
    }
    /// Writes a list of integers after their number.
    pub(super) fn integers(&mut self, values: &[i64]) {
        self.size(values.len());
        for value in values {
            self.signed(*value);
        }
    }
    /// Writes bytes after their number.
    pub(super) fn blob(&mut self, bytes: &[u8]) {
        self.size(bytes.len());
        self.0.extend_from_slice(bytes);
    }
    /// Writes the bits of a number of this width, 64 at most.
    pub(super) fn bits(&mut self, bits: u64, width: u32) {
        match u8::try_from(bits) {
            Ok(byte) if width <= 8 => self.0.push(byte),
            _ => self.signed(bits.cast_signed()),
        }
    }
    /// Writes a section.
    pub(super) fn section(&mut self, id: u8, contents: &[u8]) {
        self.0.push(id);
        self.blob(contents);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::reader::Reader;
    use super::Bytes;

    #[test]
    fn integers_are_read_as_written() {
        let mut bytes = Bytes::default();
        let values = (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit, !0 << bit]);
        for value in values.clone() {
            bytes.varint(value);
            bytes.signed(value.cast_signed());
        }
        let mut reader = Reader::new(&bytes.0, 0, "test");
        for value in values {
            assert_eq!(reader.varint().ok(), Some(value));
            assert_eq!(reader.signed().ok(), Some(value.cast_signed()));
        }
        assert!(reader.is_empty());
    }
}
