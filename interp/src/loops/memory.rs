//! The memory of a program: one block, in which each value has a fixed place, at the beginning of a
//! word of 16 bytes.
use hlo::ElementType;
use smallvec::SmallVec;
use std::collections::BTreeMap;

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
pub(super) struct LoopCopy {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) bytes: usize,
}

#[cfg(feature = "jit")]
impl LoopCopy {
    /// Returns the place that it reads, and that which it writes.
    pub(super) fn places(self) -> [Place; 2] {
        [self.from, self.to].map(|start| Place { start, bytes: self.bytes })
    }
}

/// The block before a program runs: constants have their values.
#[derive(Debug, Default)]
pub(super) struct Image {
    words: Vec<u128>,
    /// The arrays, by their first byte.
    arrays: BTreeMap<usize, ArrayPlace>,
}

/// An array in the block.
#[derive(Debug, Clone, Copy)]
pub(super) struct ArrayPlace {
    pub(super) place: Place,
    pub(super) ty: ElementType,
    is_constant: bool,
}

impl Image {
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.words)
    }
    /// Returns a new place for an array.
    pub(super) fn place(&mut self, ty: ElementType, bytes: usize) -> Place {
        let start = self.bytes();
        self.words.resize(self.words.len() + bytes.div_ceil(size_of::<u128>()), 0);
        let place = Place { start, bytes };
        self.arrays.insert(start, ArrayPlace { place, ty, is_constant: false });
        place
    }
    /// Makes an array a constant; returns all bytes, of which its own are to be set.
    pub(super) fn constant_mut(&mut self, place: Place) -> &mut [u8] {
        if let Some(array) = self.arrays.get_mut(&place.start) {
            array.is_constant = true;
        }
        bytemuck::cast_slice_mut(&mut self.words)
    }
    /// Returns the array that has a byte.
    pub(super) fn array_at(&self, at: usize) -> Option<ArrayPlace> {
        let (_, &array) = self.arrays.range(..=at).next_back()?;
        (at < array.place.end()).then_some(array)
    }
    /// Returns bytes of a constant.
    pub(super) fn constant(&self, place: Place) -> Option<&[u8]> {
        let is_constant = self.array_at(place.start).is_some_and(|array| array.is_constant);
        let bytes: &[u8] = bytemuck::cast_slice(&self.words);
        is_constant.then(|| &bytes[place.start..place.end()])
    }
    /// Returns all arrays, in order.
    #[cfg(feature = "jit")]
    pub(super) fn arrays(&self) -> impl Iterator<Item = ArrayPlace> + '_ {
        self.arrays.values().copied()
    }
}

/// The block.
#[derive(Debug)]
pub(super) struct Memory(SmallVec<[u128; 8]>);

impl Memory {
    /// Returns a block like this one.
    pub(super) fn new(image: &Image) -> Self {
        Self(SmallVec::from_slice(&image.words))
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
    /// Copies one after another.
    pub(super) fn copy(&mut self, copies: impl Iterator<Item = LoopCopy>) {
        let bytes = self.bytes_mut();
        for LoopCopy { from, to, bytes: count } in copies {
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

/// Returns what lies before a place, and the place.
#[inline]
pub(super) fn split(memory: &mut [u8], place: Place) -> (&[u8], &mut [u8]) {
    let (before, rest) = memory.split_at_mut(place.start);
    (before, &mut rest[..place.bytes])
}

fn fixed<const N: usize>(bytes: &mut [u8], from: usize, to: usize) {
    let value: [u8; N] = bytes[from..from + N].try_into().expect("it has N bytes");
    bytes[to..to + N].copy_from_slice(&value);
}
