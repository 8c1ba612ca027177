//! Physical layout: the memory offset of each element, for `bitcast`.
//!
//! - `{1,0}` lists the dimensions from the one that varies fastest. Without tiles, elements are
//!   contiguous.
//! - `T(a,b)(c,d)` are tiles. The last dimensions are split into blocks of a by b elements; each
//!   block is contiguous, and the blocks follow each other in the order of their indices. `(c,d)`
//!   splits the result again. A tile dimension `*` merges its dimension with the next before they
//!   are split. Incomplete blocks at the edges are padded.
//! - `E(n)` gives an element n bits. Without it an element has the width of its type, and at least
//!   8 bits, of which narrow types use the low ones.
//! - `L(n)` adds padding at the end, `S(n)` names a memory: neither changes the offset of an
//!   element.
//!
//! Source: XLA, `Shapes and layout` and `Tiled layout`.
use super::{index_of, position};
use hlo::layout::TileSplit;
use hlo::{ArrayShape, Dims};
use num::array::undefined_layout;
use num::index::to_usize;
use num::{Error, Result};

/// The memory of an array: a sequence of storage units that each hold an element or padding.
#[derive(Debug)]
pub(super) struct Memory<'a> {
    shape: &'a ArrayShape,
    /// Bits of an element: the low ones of its storage unit.
    pub(super) element_bits: i64,
    /// Bits of a storage unit.
    pub(super) storage_bits: i64,
    /// The splits by the tiles, in order.
    cuts: Vec<TileSplit>,
    /// The sizes of the dimensions after all splits, the slowest first.
    sizes: Dims,
}

impl<'a> Memory<'a> {
    /// # Errors
    /// `E0402` if the layout does not define the offset of an element.
    pub(super) fn of(shape: &'a ArrayShape) -> Result<Self> {
        let mut storage_bits = 0;
        if let Some(tail) = &shape.layout.tail {
            if let Some(reason) = undefined_layout(tail) {
                return Err(unsupported(shape, reason));
            }
            storage_bits = tail.element_size_in_bits;
        }
        let element_bits = i64::from(shape.ty.bits());
        if storage_bits == 0 {
            storage_bits = element_bits.max(8);
        } else if storage_bits < element_bits {
            return Err(unsupported(shape, "has less room than its elements take"));
        }
        let (cuts, sizes) = TileSplit::all(shape)
            .ok_or_else(|| unsupported(shape, "is cut into tiles that make no sense"))?;
        let bits = sizes.iter().try_fold(storage_bits, |bits, size| bits.checked_mul(*size));
        match bits {
            Some(_) => Ok(Self { shape, element_bits, storage_bits, cuts, sizes }),
            None => Err(unsupported(shape, "is too large")),
        }
    }

    /// Returns the offset of the element at `index`.
    pub(super) fn offset(&self, index: &[i64]) -> i64 {
        let index: Dims = major_to_minor(self.shape).map(|d| index[d]).collect();
        let index = self.cuts.iter().fold(index, |index, cut| cut.cut_index(&index));
        position(&self.sizes, &index)
    }
    /// Returns the index of the element at an offset; `None` for padding and beyond the array.
    pub(super) fn index(&self, offset: i64) -> Option<Dims> {
        if offset >= self.sizes.iter().product() {
            return None;
        }
        let index = index_of(&self.sizes, offset);
        let joined =
            self.cuts.iter().rev().try_fold(index, |index, cut| cut.joined_index(&index))?;
        let mut index = Dims::from_elem(0, joined.len());
        for (i, dim) in joined.into_iter().zip(major_to_minor(self.shape)) {
            index[dim] = i;
        }
        Some(index)
    }
}

fn major_to_minor(shape: &ArrayShape) -> impl Iterator<Item = usize> {
    shape.layout.minor_to_major.iter().rev().map(|&d| to_usize(d))
}

/// Indices in the blocks into which a tile splits an array.
trait SplitIndex {
    fn cut_index(&self, index: &[i64]) -> Dims;
    fn joined_index(&self, cut: &[i64]) -> Option<Dims>;
}

impl SplitIndex for TileSplit {
    /// Returns the index after the split: in unsplit dimensions, of the block, within the block.
    fn cut_index(&self, index: &[i64]) -> Dims {
        let mut cut = Dims::from_slice(&index[self.outer()]);
        let inner = self.blocks.iter().map(|(dims, length)| {
            (position(&self.sizes[dims.clone()], &index[dims.clone()]), length)
        });
        cut.extend(inner.clone().map(|(i, length)| i / length));
        cut.extend(inner.map(|(i, length)| i % length));
        cut
    }
    /// Returns the index before the split; `None` if it is out of bounds.
    fn joined_index(&self, cut: &[i64]) -> Option<Dims> {
        let (outer, inner) = cut.split_at(self.outer().len());
        let (numbers, offsets) = inner.split_at(self.blocks.len());
        let mut index = Dims::from_slice(outer);
        for ((dims, length), (number, offset)) in
            self.blocks.iter().zip(numbers.iter().zip(offsets))
        {
            let (sizes, i) = (&self.sizes[dims.clone()], number * length + offset);
            if i >= sizes.iter().product() {
                return None;
            }
            index.extend(index_of(sizes, i));
        }
        Some(index)
    }
}

pub(super) fn unsupported(shape: &ArrayShape, reason: &str) -> Error {
    Error::unsupported(format!("a bitcast cannot go through {shape}: its memory {reason}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(shape: &str) -> Vec<i64> {
        let shape: hlo::Shape = shape.parse().unwrap();
        let shape = shape.array().unwrap();
        let memory = Memory::of(shape).unwrap();
        let count = num::index::to_i64(shape.element_count().unwrap());
        let offsets: Vec<i64> =
            (0..count).map(|number| memory.offset(&index_of(&shape.dims, number))).collect();
        for (number, &offset) in (0..).zip(&offsets) {
            assert_eq!(memory.index(offset), Some(index_of(&shape.dims, number)));
        }
        let all: i64 = memory.sizes.iter().product();
        let padding = (0..=all).filter(|&offset| memory.index(offset).is_none()).count();
        assert_eq!(padding + offsets.len(), to_usize(all + 1));
        offsets
    }

    #[test]
    fn tiles_are_contiguous() {
        assert_eq!(offsets("u8[2,3]{0,1}"), [0, 2, 4, 1, 3, 5]);
        assert_eq!(offsets("u8[2,4]{1,0:T(2,2)}"), [0, 1, 4, 5, 2, 3, 6, 7]);
        assert_eq!(offsets("u8[3,3]{1,0:T(2,2)}"), [0, 1, 4, 2, 3, 6, 8, 9, 12]);
        assert_eq!(offsets("u8[4,2]{1,0:T(4,2)(2,1)}"), [0, 2, 1, 3, 4, 6, 5, 7]);
        assert_eq!(offsets("u8[2,2,2]{2,1,0:T(*,2,2)}"), offsets("u8[2,2,2]{2,1,0:T(2,2)}"));
        assert_eq!(offsets("u8[2,3]{1,0:T(*,4)}"), [0, 1, 2, 3, 4, 5]);
        assert_eq!(offsets("u8[3]{0:T(2,2)}"), [0, 1, 4]);
        assert_eq!(offsets("u8[]{:T(2)}"), [0]);
    }
}
