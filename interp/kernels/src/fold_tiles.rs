//! Accumulators beside one another.
use super::pad;
use hlo::{ElementType, Scalar};
use num::loops::VectorLoop;
use smallvec::{SmallVec, smallvec};

/// Fills an array with an element.
pub(super) fn repeat(element: Scalar, ty: ElementType, to: &mut [u8]) {
    let mut bytes = [0; 16];
    let bytes = &mut bytes[..ty.storage_bytes()];
    element.write(ty, bytes);
    pad::repeat(bytes, to);
}

/// The memory of accumulators: few have no allocation.
type Words = SmallVec<[u128; 16]>;

/// Accumulators beside one another, and memory for the next ones.
pub(super) struct Tiles {
    width: usize,
    first: u128,
    words: [Words; 2],
    /// Which of both the accumulators are in.
    now: usize,
}

impl Tiles {
    /// Returns `count` accumulators of type `ty` with the value `first`.
    pub(super) fn new(count: usize, ty: ElementType, first: Scalar) -> Self {
        let width = ty.storage_bytes();
        let words = (count * width).div_ceil(size_of::<u128>());
        let both = [smallvec![0; words], smallvec![0; words]];
        let mut tiles = Self { width, first: 0, words: both, now: 0 };
        first.write(ty, &mut bytemuck::bytes_of_mut(&mut tiles.first)[..width]);
        tiles
    }
    /// Sets all accumulators to the first value.
    pub(super) fn restart(&mut self) {
        let Self { width, first, words, now } = self;
        let now: &mut [u8] = bytemuck::cast_slice_mut(&mut words[*now]);
        let first = &bytemuck::bytes_of(first)[..*width];
        now.chunks_exact_mut(*width).for_each(|to| to.copy_from_slice(first));
    }
    /// Returns the first value.
    pub(super) fn first(&self) -> &[u8] {
        &bytemuck::bytes_of(&self.first)[..self.width]
    }
    pub(super) fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.words[self.now])
    }
    /// Returns the accumulators and the memory for the next ones, which take their place.
    fn turn(&mut self) -> (&[u8], &mut [u8]) {
        let [a, b] = &mut self.words;
        let (now, next) = if self.now == 0 { (a, b) } else { (b, a) };
        self.now = 1 - self.now;
        (bytemuck::cast_slice(now), bytemuck::cast_slice_mut(next))
    }
    /// Folds the first elements, as many as there are, into the accumulators at their indices.
    pub(super) fn fold(&mut self, function: &VectorLoop, elements: &[u8]) {
        let (now, next) = self.turn();
        function(&[&now[..elements.len()], elements], &mut next[..elements.len()]);
        next[elements.len()..].copy_from_slice(&now[elements.len()..]);
    }
    /// Folds parts that are lines of neighbors, an element of each result in `to` in each line, in
    /// any order.
    pub(super) fn fold_lines<'e>(
        &mut self,
        function: &VectorLoop,
        parts: impl Iterator<Item = &'e [u8]>,
        to: &mut [u8],
    ) {
        // The first elements take the places of accumulators.
        let mut used = 0;
        for part in parts {
            let common = used.min(part.len());
            if common > 0 {
                self.fold(function, &part[..common]);
            }
            let now: &mut [u8] = bytemuck::cast_slice_mut(&mut self.words[self.now]);
            now[common..part.len()].copy_from_slice(&part[common..]);
            used = used.max(part.len());
        }
        let (first, line) = (self.first, to.len());
        let first = bytemuck::bytes_of(&first)[..self.width].repeat(line / self.width);
        if used == 0 {
            return to.copy_from_slice(&first);
        }
        // The upper half is folded into the lower one until one line of accumulators is left.
        while used > line {
            let half = used / line / 2 * line;
            let (now, next) = self.turn();
            function(&[&now[..half], &now[used - half..used]], &mut next[..half]);
            next[half..used - half].copy_from_slice(&now[half..used - half]);
            used -= half;
        }
        function(&[&first, &self.bytes()[..line]], to);
    }
}
