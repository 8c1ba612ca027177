//! Movement of elements by strides: the result's element at index i is the operand's at
//! `base + sum of i[d] * strides[d]`.
//!
//! Dimensions that are walked as one are merged first. What is left is, by its innermost dimension,
//! a copy of rows, a repetition of single elements, or a transposition, which goes through blocks
//! that stay in the cache. Large results are written in parts by several threads.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use crate::cost_model::MOVED_BYTES;
use crate::squares::{SIDE, is_fast, transpose};
use hlo::Dims;
use num::index::{count, offset_list, offsets, strides as row_major, to_i64, to_usize};
use num::loops::instruction_set::{self, Task};
use num::parallel::parts;

/// Sides of a block of a transposition, which stays in the first cache.
const BLOCK: usize = 32;
/// The squares of a block.
const SQUARES: [(usize, usize); 4] = [(0, 0), (0, SIDE), (SIDE, 0), (SIDE, SIDE)];
/// Rows and columns with fewer elements than this are not transposed through blocks.
const SHORT: usize = 8;

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

pub(super) use with_width;

/// Runs `$body` with `$name` a constant for [`copy_short`] of `$bytes` bytes.
macro_rules! with_half {
    ($bytes:expr, $name:ident => $body:expr) => {
        with_half!($bytes, $name => $body, [1..2 2..4 4..8 8..16 16..32 32..64 64..128])
    };
    ($bytes:expr, $name:ident => $body:expr, [$($least:literal..$end:literal)*]) => {
        match $bytes {
            $($least..$end => {
                const $name: usize = $least;
                $body
            })*
            _ => {
                const $name: usize = 0;
                $body
            }
        }
    };
}
pub(super) use with_half;

/// Copies bytes: from `N` to `2 N` of them, or any number if `N` is 0. A call of a function that
/// copies takes longer than to copy few.
#[inline]
pub(super) fn copy_short<const N: usize>(from: &[u8], to: &mut [u8]) {
    match (from.first_chunk::<N>(), from.last_chunk::<N>(), N) {
        (Some(first), Some(last), 1..) => {
            let end = to.len() - N;
            to[..N].copy_from_slice(first);
            to[end..].copy_from_slice(last);
        }
        _ => to.copy_from_slice(from),
    }
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

    /// Returns the number of its elements.
    pub fn count(&self) -> usize {
        count(&self.dims)
    }

    /// Returns whether all its elements are the first one of the operand.
    pub fn is_scalar(&self) -> bool {
        self.base == 0 && self.strides.iter().all(|&stride| stride == 0)
    }

    /// Returns the number of neighbors that are a run of the operand (true) or one element of it
    /// (false), if they are either.
    pub fn line(&self) -> Option<(usize, bool)> {
        let (&size, &stride) = self.dims.last().zip(self.strides.last())?;
        matches!(stride, 0 | 1).then(|| (to_usize(size), stride == 1))
    }

    /// Returns the number of elements after which it visits the same ones again, if it does.
    pub(super) fn period(&self) -> Option<usize> {
        let is_repeated = self.dims.len() > 1 && self.strides.first() == Some(&0);
        is_repeated.then(|| count(&self.dims[1..]))
    }

    /// Returns the number of neighbors that follow one another in the operand.
    pub(super) fn neighbors(&self) -> usize {
        self.line().filter(|&(_, is_run)| is_run).map_or(1, |(run, _)| run)
    }
    /// Returns the indices in the operand of the first elements of runs.
    pub(super) fn run_offsets(&self) -> Vec<usize> {
        let outer = self.dims.len() - usize::from(self.strides.last() == Some(&1));
        offset_list(&self.dims[..outer], &self.strides[..outer])
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
    pub fn write(&self, from: &[u8], width: usize, to: &mut [u8]) {
        with_width!(width, W => self.run::<W>(from, to));
    }
    fn range<const W: usize>(&self, from: &[[u8; W]], first: usize, to: &mut [[u8; W]]) {
        let last = self.dims.len() - 1;
        let (inner, stride) = (to_usize(self.dims[last]), self.strides[last]);
        let part = |first: usize, to: &mut [[u8; W]]| {
            if !to.is_empty() {
                strided(from, self.index(first), stride, to);
            }
        };
        let before = (first.next_multiple_of(inner) - first).min(to.len());
        let (row, to) = to.split_at_mut(before);
        part(first, row);
        let (rows, rest) = to.split_at_mut(to.len() / inner * inner);
        part(first + before + rows.len(), rest);
        if !rows.is_empty() {
            self.rows(from, (first + before) / inner, rows);
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
        match self.near() {
            // Short rows of neighboring columns are read as so many streams.
            Some(near) if to_usize(self.dims[last]) >= SHORT || near + 1 != last => {
                self.transpose(near, from, to);
            }
            _ => self.rows(from, 0, to),
        }
    }

    /// Writes rows of the innermost dimension, from row `first` on.
    fn rows<const W: usize>(&self, from: &[[u8; W]], first: usize, to: &mut [[u8; W]]) {
        let last = self.dims.len() - 1;
        let (inner, stride) = (to_usize(self.dims[last]), self.strides[last]);
        match (stride, inner) {
            (1, _) => with_half!(inner * W, N => self.each_row(last, first, to, |at, row| {
                let row = row.as_flattened_mut();
                copy_short::<N>(&from.as_flattened()[at * W..][..row.len()], row);
            })),
            _ => instruction_set::run(Rows { walk: self, from, first, to }),
        }
    }

    /// Calls `write` for rows of the result, from row `first` on, with the index in the operand of
    /// the first element. A row has all elements of the dimensions from `last` on.
    #[inline(always)]
    fn each_row<const W: usize>(
        &self,
        last: usize,
        first: usize,
        to: &mut [[u8; W]],
        write: impl Fn(usize, &mut [[u8; W]]),
    ) {
        let mut rows = to.chunks_exact_mut(count(&self.dims[last..]));
        let mut index = Dims::from_elem(0, last);
        let (mut rest, mut at) = (to_i64(first), self.base);
        for d in (0..last).rev() {
            (index[d], rest) = (rest % self.dims[d], rest / self.dims[d]);
            at += index[d] * self.strides[d];
        }
        let Some(inner) = last.checked_sub(1) else {
            return rows.for_each(|row| write(to_usize(at), row));
        };
        loop {
            let count = self.dims[inner] - index[inner];
            for row in rows.by_ref().take(to_usize(count)) {
                write(to_usize(at), row);
                at += self.strides[inner];
            }
            if rows.len() == 0 {
                return;
            }
            index[inner] = self.dims[inner];
            for d in (1..last).rev() {
                if index[d] < self.dims[d] {
                    break;
                }
                at += self.strides[d - 1] - self.dims[d] * self.strides[d];
                (index[d - 1], index[d]) = (index[d - 1] + 1, 0);
            }
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
        let has_squares = self.strides[near] == 1 && is_fast::<[u8; W]>();
        offsets(&dims, self.base, &of(&self.strides), |base| {
            let start = starts.next().expect("two walks over the same indices");
            if size < SHORT {
                for k in 0..size {
                    let at = to_usize(base + steps(k, self.strides[near]));
                    let row = &mut to[start + k * row..][..inner];
                    instruction_set::run(Line { from, at, stride: self.strides[last], row });
                }
                return;
            }
            for i in (0..size).step_by(BLOCK) {
                for j in (0..inner).step_by(BLOCK) {
                    let (rows, columns) = ((size - i).min(BLOCK), (inner - j).min(BLOCK));
                    if has_squares && [rows, columns] == [BLOCK; 2] {
                        for (p, q) in SQUARES {
                            let at = base + to_i64(i + p) + steps(j + q, self.strides[last]);
                            let line = |r: usize| to_usize(at + steps(r, self.strides[last]));
                            let to = &mut to[start + (i + p) * row + j + q..];
                            square(from, std::array::from_fn(line), to, row);
                        }
                        continue;
                    }
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

/// Transposes a square of elements of four or eight bytes.
fn square<const W: usize>(
    from: &[[u8; W]],
    starts: [usize; SIDE],
    to: &mut [[u8; W]],
    step: usize,
) {
    let (from, to) = (from.as_flattened(), to.as_flattened_mut());
    if W == size_of::<u32>() {
        transpose::<[u8; 4]>(from.as_chunks().0, starts, to.as_chunks_mut().0, step);
    } else {
        transpose::<[u8; 8]>(from.as_chunks().0, starts, to.as_chunks_mut().0, step);
    }
}

/// The rows of a walk whose innermost elements are no neighbors, from one on.
struct Rows<'a, const W: usize> {
    walk: &'a Walk,
    from: &'a [[u8; W]],
    first: usize,
    to: &'a mut [[u8; W]],
}

impl<const W: usize> Task for Rows<'_, W> {
    #[inline(always)]
    fn run(self) {
        let Self { walk, from, first, .. } = self;
        let last = walk.dims.len() - 1;
        match (to_usize(walk.dims[last]), walk.strides[last]) {
            (2, _) => self.few::<2>(),
            (3, _) => self.few::<3>(),
            (4, _) => self.few::<4>(),
            (5, 0) => self.few::<5>(),
            (6, 0) => self.few::<6>(),
            (7, 0) => self.few::<7>(),
            (8, 0) => self.few::<8>(),
            (_, 0) => walk.each_row(last, first, self.to, |at, row| row.fill(from[at])),
            (_, stride) => {
                walk.each_row(last, first, self.to, |at, row| strided(from, at, stride, row));
            }
        }
    }
}

impl<const W: usize> Rows<'_, W> {
    /// Writes rows of `K` elements, those at even distances at once.
    #[inline(always)]
    fn few<const K: usize>(self) {
        let Self { walk, from, first, to } = self;
        let last = walk.dims.len() - 1;
        let stride = walk.strides[last];
        let (rows, step) =
            last.checked_sub(1).map_or((1, 0), |d| (to_usize(walk.dims[d]), walk.strides[d]));
        if last < 2 {
            let at = to_usize(walk.base + to_i64(first) * step);
            few::<W, K>(from, at, [step, stride], to);
        } else if first.is_multiple_of(rows) && to.len().is_multiple_of(rows * K) {
            walk.each_row(last - 1, first / rows, to, |at, rows| {
                few::<W, K>(from, at, [step, stride], rows);
            });
        } else {
            walk.each_row(last, first, to, |at, row| few::<W, K>(from, at, [0, stride], row));
        }
    }
}

/// Elements at even distances.
struct Line<'a, const W: usize> {
    from: &'a [[u8; W]],
    at: usize,
    stride: i64,
    row: &'a mut [[u8; W]],
}

impl<const W: usize> Task for Line<'_, W> {
    #[inline(always)]
    fn run(self) {
        strided(self.from, self.at, self.stride, self.row);
    }
}

/// Copies rows of `K` elements: of groups of neighbors, in either order, or repeated ones in a loop
/// that the compiler makes vectors of.
#[inline(always)]
fn few<const W: usize, const K: usize>(
    from: &[[u8; W]],
    at: usize,
    [step, stride]: [i64; 2],
    to: &mut [[u8; W]],
) {
    let (rows, _) = to.as_chunks_mut::<K>();
    if (step, stride) == (1, 0) {
        rows.iter_mut().zip(&from[at..]).for_each(|(row, x)| *row = [*x; K]);
        return;
    }
    if (step, stride) == (to_i64(K), -1) {
        let groups = from[at + 1 - K..].as_chunks::<K>().0;
        for (row, group) in rows.iter_mut().zip(groups) {
            for k in 0..K {
                row[k] = group[K - 1 - k];
            }
        }
        return;
    }
    let [step, stride] =
        [step, stride].map(|step| isize::try_from(step).expect("a stride within memory"));
    let mut first = at;
    for row in rows {
        let mut at = first;
        *row = std::array::from_fn(|_| {
            let element = from[at];
            at = at.wrapping_add_signed(stride);
            element
        });
        first = first.wrapping_add_signed(step);
    }
}

/// Returns the distance of `count` steps.
fn steps(count: usize, stride: i64) -> i64 {
    to_i64(count) * stride
}

/// Copies every `stride`th element from `at` on.
#[inline(always)]
fn strided<const W: usize>(from: &[[u8; W]], at: usize, stride: i64, row: &mut [[u8; W]]) {
    match stride {
        -1 => {
            let line = &from[at + 1 - row.len()..=at];
            return row.iter_mut().zip(line.iter().rev()).for_each(|(slot, x)| *slot = *x);
        }
        1 => return row.copy_from_slice(&from[at..at + row.len()]),
        2 => return every::<W, 2>(&from[at..], row),
        3 => return every::<W, 3>(&from[at..], row),
        4 => return every::<W, 4>(&from[at..], row),
        _ => {}
    }
    let step = isize::try_from(stride).expect("a stride within memory");
    let mut at = at;
    for slot in row {
        *slot = from[at];
        at = at.wrapping_add_signed(step);
    }
}

/// Copies every `S`th element, in a loop that the compiler makes vectors of.
#[inline(always)]
fn every<const W: usize, const S: usize>(from: &[[u8; W]], row: &mut [[u8; W]]) {
    let Some((last, row)) = row.split_last_mut() else { return };
    *last = from[row.len() * S];
    for (slot, group) in row.iter_mut().zip(from.as_chunks::<S>().0) {
        *slot = group[0];
    }
}

/// Writes elements at every `step`th place, and another element to the places between.
pub(super) fn spread<const W: usize>(
    from: &[[u8; W]],
    between: [u8; W],
    step: usize,
    to: &mut [[u8; W]],
) {
    if step == 2 {
        let (pairs, last) = to.as_chunks_mut::<2>();
        pairs.iter_mut().zip(from).for_each(|(pair, &x)| *pair = [x, between]);
        if let ([last], [.., x]) = (last, from) {
            *last = *x;
        }
        return;
    }
    for (places, &x) in to.chunks_mut(step).zip(from) {
        places.fill(between);
        places[0] = x;
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
            sizes in prop::collection::vec(prop_oneof![0i64..6, 0i64..70], 0..4),
            order in Just([0usize, 1, 2, 3]).prop_shuffle(),
            kinds in prop::collection::vec(0u8..4, 4),
            width in prop::sample::select(vec![1usize, 2, 4, 8, 16]),
            part in (0usize..100, 0usize..100),
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
            let expected = expected(&bytes, width, &sizes, base, &strides);
            prop_assert!(to == expected);
            // A part of them, as a fused kernel reads it.
            let [first, end] = [part.0.min(part.1), part.0.max(part.1)].map(|at| count(&sizes) * at / 100);
            let mut to = vec![0; (end - first) * width];
            if first < end {
                Walk::merged(&sizes, base, &strides).read(&bytes, width, first, &mut to);
            }
            prop_assert!(to == expected[first * width..end * width]);
        }
    }
}
