//! Movement of elements by strides: the result's element at index i is the operand's at
//! `base + sum of i[d] * strides[d]`.
//!
//! Dimensions that are walked as one are merged first. What is left is, by its innermost dimension,
//! a copy of rows, a repetition of single elements, or a transposition, which goes through blocks
//! that stay in the cache. Large results are written in parts by several threads.
use crate::cost_model::MOVED_BYTES;
use hlo::Dims;
use num::index::{count, offsets, strides as row_major, to_usize};
use num::parallel::parts;

/// Sides of a block of a transposition, which stays in the first cache.
const BLOCK: usize = 32;

/// Runs `$body` with `$name` bound to the bytes of an element as a constant: the compiler makes
/// moves of registers of it.
macro_rules! with_width {
    ($width:expr, $name:ident => $body:expr) => {
        with_width!($width, $name => $body, [1 2 4 8 16])
    };
    ($width:expr, $name:ident => $body:expr, [$($bytes:literal)*]) => {
        match $width {
            $($bytes => {
                const $name: usize = $bytes;
                $body
            })*
            _ => unreachable!("elements take 1, 2, 4, 8 or 16 bytes"),
        }
    };
}

/// Moves elements of `width` bytes into `to`, in row-major order of `dims`.
pub(super) fn move_elements(
    from: &[u8],
    to: &mut [u8],
    width: usize,
    dims: &[i64],
    base: i64,
    strides: &[i64],
) {
    if count(dims) == 0 {
        return;
    }
    Walk::merged(dims, base, strides).write(from, width, to);
}

/// A walk over elements of an operand, in the order of the result.
#[derive(Debug, Clone, PartialEq)]
pub struct Walk {
    dims: Dims,
    base: i64,
    strides: Dims,
}

impl Walk {
    /// Returns the walk with as few dimensions as possible, at least one.
    pub(super) fn merged(dims: &[i64], base: i64, strides: &[i64]) -> Self {
        let mut walk = Self { dims: Dims::new(), base, strides: Dims::new() };
        for (&size, &stride) in dims.iter().zip(strides).filter(|&(&size, _)| size != 1) {
            match (walk.dims.last_mut(), walk.strides.last_mut()) {
                (Some(outer_size), Some(outer)) if Some(*outer) == stride.checked_mul(size) => {
                    *outer_size *= size;
                    *outer = stride;
                }
                _ => {
                    walk.dims.push(size);
                    walk.strides.push(stride);
                }
            }
        }
        if walk.dims.is_empty() {
            walk.dims.push(1);
            walk.strides.push(1);
        }
        walk
    }

    /// Returns whether it visits neighbors in their order, from the first one on.
    pub(super) fn keeps_order(&self) -> bool {
        self.base == 0 && *self.strides == [1]
    }

    /// Returns whether all its elements are the first one of the operand.
    pub(super) fn is_scalar(&self) -> bool {
        self.base == 0 && self.strides.iter().all(|&stride| stride == 0)
    }

    /// Returns the number of neighbors that are a run of the operand (true) or one element of it
    /// (false), if they are either.
    pub(super) fn line(&self) -> Option<(usize, bool)> {
        let (&size, &stride) = self.dims.last().zip(self.strides.last())?;
        matches!(stride, 0 | 1).then(|| (to_usize(size), stride == 1))
    }

    /// Returns the index in the operand of an element.
    pub(super) fn index(&self, element: usize) -> usize {
        let (mut rest, mut at) = (element, self.base);
        for (&size, &stride) in self.dims.iter().zip(&self.strides).rev() {
            at += steps(rest % to_usize(size), stride);
            rest /= to_usize(size);
        }
        to_usize(at)
    }

    /// Reads the elements from `first` on, as many as `to` has.
    pub(super) fn read(&self, from: &[u8], width: usize, first: usize, to: &mut [u8]) {
        with_width!(width, W => self.range::<W>(from.as_chunks().0, first, to.as_chunks_mut().0));
    }
    /// Writes all elements, of `width` bytes, to `to`.
    pub(super) fn write(&self, from: &[u8], width: usize, to: &mut [u8]) {
        with_width!(width, W => self.run::<W>(from, to));
    }
    fn range<const W: usize>(&self, from: &[[u8; W]], first: usize, to: &mut [[u8; W]]) {
        let last = self.dims.len() - 1;
        let (inner, stride) = (to_usize(self.dims[last]), self.strides[last]);
        let (mut row, mut column, mut done) = (first / inner, first % inner, 0);
        while done < to.len() {
            let at = self.index(row * inner + column);
            let length = (inner - column).min(to.len() - done);
            let part = &mut to[done..done + length];
            match stride {
                1 => part.copy_from_slice(&from[at..at + length]),
                0 => part.fill(from[at]),
                stride => strided(from, at, stride, part),
            }
            (row, column, done) = (row + 1, 0, done + length);
        }
    }

    fn run<const W: usize>(&self, from: &[u8], to: &mut [u8]) {
        let (from, to) = (from.as_chunks::<W>().0, to.as_chunks_mut::<W>().0);
        let size = to_usize(self.dims[0]);
        if to.len() * W < 2 * MOVED_BYTES || size < 2 {
            return self.part(from, to);
        }
        // Indices of the outermost dimension, cut so that each part is large and a transposition
        // has whole blocks.
        let each = to.len() / size;
        let least = if self.near() == Some(0) { BLOCK.min(size.div_ceil(4)) } else { 1 };
        let indices = (MOVED_BYTES / (each * W)).next_multiple_of(least).max(least);
        parts(to, (indices * each, 1), |number, to| {
            let mut part = self.clone();
            let first = i64::try_from(number * indices).expect("an index of the walk");
            part.base += first * self.strides[0];
            part.dims[0] = i64::try_from(to.len() / each).expect("a size of the walk");
            part.part(from, to);
        });
    }

    fn part<const W: usize>(&self, from: &[[u8; W]], to: &mut [[u8; W]]) {
        let last = self.dims.len() - 1;
        let (inner, stride) = (to_usize(self.dims[last]), self.strides[last]);
        let mut rows = to.chunks_exact_mut(inner);
        let mut each_row = |copy: &mut dyn FnMut(usize, &mut [[u8; W]])| {
            offsets(&self.dims[..last], self.base, &self.strides[..last], |at| {
                copy(to_usize(at), rows.next().expect("as many rows as the outer dimensions have"));
            });
        };
        match (stride, self.near()) {
            (1, _) => each_row(&mut |at, row| row.copy_from_slice(&from[at..at + inner])),
            (0, _) => each_row(&mut |at, row| row.fill(from[at])),
            (_, Some(near)) => self.transpose(near, from, to),
            (_, None) => each_row(&mut |at, row| strided(from, at, stride, row)),
        }
    }

    /// Returns the dimension whose neighbors lie nearer in the operand than those of the innermost
    /// one.
    fn near(&self) -> Option<usize> {
        let (inner, outer) = self.strides.split_last()?;
        let distance = |&d: &usize| self.strides[d].unsigned_abs();
        let near = (0..outer.len()).filter(|d| self.strides[*d] != 0).min_by_key(distance)?;
        (distance(&near) < inner.unsigned_abs()).then_some(near)
    }

    /// Walks blocks of dimension `near` and of the innermost one. A block is read along `near` and
    /// written along the innermost dimension, so that each line of memory is read and written once:
    /// lines of the operand that are a power of two apart would not stay in the cache.
    fn transpose<const W: usize>(&self, near: usize, from: &[[u8; W]], to: &mut [[u8; W]]) {
        let last = self.dims.len() - 1;
        let (size, inner) = (to_usize(self.dims[near]), to_usize(self.dims[last]));
        let written = row_major(&self.dims);
        let row = to_usize(written[near]);
        let outer: Vec<usize> = (0..last).filter(|&d| d != near).collect();
        let of = |list: &[i64]| outer.iter().map(|&d| list[d]).collect::<Dims>();
        let dims = of(&self.dims);
        let mut starts = Vec::with_capacity(count(&dims));
        offsets(&dims, 0, &of(&written), |at| starts.push(to_usize(at)));
        let mut starts = starts.into_iter();
        let mut block = [[[0; W]; BLOCK]; BLOCK];
        offsets(&dims, self.base, &of(&self.strides), |base| {
            let start = starts.next().expect("two walks over the same indices");
            for i in (0..size).step_by(BLOCK) {
                for j in (0..inner).step_by(BLOCK) {
                    let (rows, columns) = ((size - i).min(BLOCK), (inner - j).min(BLOCK));
                    for (j, line) in (j..j + columns).zip(&mut block) {
                        let at = base + steps(i, self.strides[near]) + steps(j, self.strides[last]);
                        strided(from, to_usize(at), self.strides[near], &mut line[..rows]);
                    }
                    for k in 0..rows {
                        let row = &mut to[start + (i + k) * row + j..][..columns];
                        for (slot, line) in row.iter_mut().zip(&block) {
                            *slot = line[k];
                        }
                    }
                }
            }
        });
    }
}

/// Returns the distance of `count` steps.
fn steps(count: usize, stride: i64) -> i64 {
    i64::try_from(count).expect("an index of the walk") * stride
}

/// Copies every `stride`th element from `at` on.
#[inline]
fn strided<const W: usize>(from: &[[u8; W]], at: usize, stride: i64, row: &mut [[u8; W]]) {
    if stride == 1 {
        return row.copy_from_slice(&from[at..at + row.len()]);
    }
    let step = isize::try_from(stride).expect("a stride within memory");
    let mut at = at;
    for slot in row {
        *slot = from[at];
        at = at.wrapping_add_signed(step);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the definition.
    fn expected(from: &[u8], width: usize, dims: &[i64], base: i64, strides: &[i64]) -> Vec<u8> {
        let mut to = Vec::new();
        offsets(dims, base, strides, |at| {
            to.extend_from_slice(&from[to_usize(at) * width..][..width]);
        });
        to
    }

    proptest! {
        #[test]
        fn moves_as_defined(
            sizes in prop::collection::vec(0i64..70, 0..4),
            order in Just([0usize, 1, 2, 3]).prop_shuffle(),
            kinds in prop::collection::vec(0u8..4, 4),
            width in prop::sample::select(vec![1usize, 2, 4, 8, 16]),
        ) {
            // An operand with the dimensions in another order, of which some are reversed,
            // broadcast or strided.
            let rank = sizes.len();
            let order: Vec<usize> = order.into_iter().filter(|&d| d < rank).collect();
            let (mut strides, mut base, mut size) = (vec![0i64; rank], 0, 1);
            for &d in &order {
                let step = if kinds[d] == 2 { 2 } else { 1 };
                strides[d] = match kinds[d] { 0 => 0, 1 => -size, _ => step * size };
                base += if kinds[d] == 1 { size * (sizes[d] - 1).max(0) } else { 0 };
                size *= if kinds[d] == 0 { 1 } else { step * sizes[d].max(1) };
            }
            let bytes: Vec<u8> = (0..to_usize(size) * width).map(|i| (i % 251).to_le_bytes()[0]).collect();
            let mut to = vec![0; count(&sizes) * width];
            move_elements(&bytes, &mut to, width, &sizes, base, &strides);
            prop_assert!(to == expected(&bytes, width, &sizes, base, &strides));
        }
    }
}
