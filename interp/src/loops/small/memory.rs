//! The memory of a loop: one block, in which each value has a fixed place.

/// Values start at multiples of this.
pub(super) const ALIGNMENT: usize = size_of::<u128>();

/// Where the elements of an array are in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) start: usize,
    pub(super) bytes: usize,
}

impl Place {
    pub(super) fn end(self) -> usize {
        self.start + self.bytes
    }
}

/// Bytes that are copied from one place to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Copy {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) bytes: usize,
}

/// The block.
#[derive(Debug)]
pub(super) struct Memory(Vec<u128>);

impl Memory {
    /// Returns a block that begins with these bytes.
    pub(super) fn new(image: &[u8]) -> Self {
        let mut memory = Self(vec![0; image.len().div_ceil(ALIGNMENT)]);
        memory.bytes_mut()[..image.len()].copy_from_slice(image);
        memory
    }
    pub(super) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
    pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
    #[inline]
    pub(super) fn read(&self, place: Place) -> &[u8] {
        &self.bytes()[place.start..place.end()]
    }
    pub(super) fn write(&mut self, place: Place, bytes: &[u8]) {
        self.bytes_mut()[place.start..place.end()].copy_from_slice(bytes);
    }
    /// Returns what lies before a place, and the place.
    #[inline]
    pub(super) fn split(&mut self, place: Place) -> (&[u8], &mut [u8]) {
        let (before, rest) = self.bytes_mut().split_at_mut(place.start);
        (before, &mut rest[..place.bytes])
    }
    /// Copies one after another.
    pub(super) fn copy(&mut self, copies: &[Copy]) {
        let bytes = self.bytes_mut();
        for &Copy { from, to, bytes: count } in copies {
            match count {
                // The sizes of scalars, without a call.
                4 => fixed::<4>(bytes, from, to),
                8 => fixed::<8>(bytes, from, to),
                1 => bytes[to] = bytes[from],
                _ => bytes.copy_within(from..from + count, to),
            }
        }
    }
}

fn fixed<const N: usize>(bytes: &mut [u8], from: usize, to: usize) {
    let value: [u8; N] = bytes[from..from + N].try_into().expect("it has N bytes");
    bytes[to..to + N].copy_from_slice(&value);
}
