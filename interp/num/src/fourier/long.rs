//! The transform of a line that is longer than the caches, or has no others beside it in the lanes
//! of vectors, by lines of about the square root of its length.
//!
//! With `n = rows * columns`, number `j1 * columns + j2` of the line is element `(j1, j2)` of a
//! matrix. Its columns are transformed, element `(k1, j2)` is multiplied by
//! `e^(-2 pi i k1 j2 / n)`, the rows are transformed, and element `(k1, k2)` is number
//! `k1 + rows * k2` of the result (Bailey). Each step reads and writes memory in blocks of
//! [`TOGETHER`] lines, which are the lanes of vectors, and threads share the blocks.
use super::super::complex_of::ComplexOf;
use super::super::loops::instruction_set::{self, Task};
use super::super::twiddle::Series;
use super::{FftPlan, LaneNumber, Lanes, work};
use crate::clock::Stop;
use crate::each_lane;
use crate::parallel::{parts, parts_with};
use std::ops::Range;

/// Lines that are transformed together.
pub(super) const TOGETHER: usize = 8;

/// The lengths of lines that become matrices: shorter ones stay in a cache, and no memory holds
/// longer ones.
const LENGTHS: Range<usize> = 1 << 16..1 << 40;
/// The shortest of few lines that become matrices, whose lines fill vectors.
const SHORTEST: usize = 1 << 7;
/// Numbers that a thread transforms at a time, at least.
const AT_ONCE: usize = 1 << 12;

/// The sizes of the matrix of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Matrix {
    /// Returns the matrix of a line of `n` numbers, if that is long, or one of `few`, and has a
    /// divisor near its root.
    pub(super) fn of(n: usize, few: bool) -> Option<Self> {
        let least = if few { SHORTEST } else { LENGTHS.start };
        if !(least..LENGTHS.end).contains(&n) {
            return None;
        }
        let root = n.isqrt();
        let rows = (root / 8..=root).rev().find(|&rows| n.is_multiple_of(rows))?;
        Some(Self { rows, columns: n / rows })
    }
    /// Lengths of all blocks of columns and of all blocks of rows.
    fn blocks(self) -> [usize; 2] {
        let Self { rows, columns } = self;
        let blocks = |lines: usize, n: usize| lines.div_ceil(TOGETHER).saturating_mul(n);
        [blocks(columns, rows), blocks(rows, columns)]
    }
    /// Numbers that the transform of one line works in: these blocks, and one for each thread.
    pub(super) fn work(self, threads: usize) -> usize {
        let own = self.rows.max(self.columns).saturating_mul(threads);
        let blocks = self.blocks().into_iter().fold(own, usize::saturating_add);
        blocks.saturating_mul(TOGETHER)
    }
}

/// The precomputed data of a line that becomes a matrix.
pub struct Long<R: LaneNumber> {
    matrix: Matrix,
    /// Of `rows` numbers.
    for_columns: FftPlan<R>,
    /// Of `columns` numbers.
    for_rows: FftPlan<R>,
    turns: Turns<R>,
}

type LaneBlock<R> = Lanes<R, N>;
/// As the lanes of a block are called in [`each_lane`].
const N: usize = TOGETHER;

impl<R: LaneNumber> Long<R> {
    pub(super) fn new(matrix: Matrix, stop: &Stop) -> Self {
        let Matrix { rows, columns } = matrix;
        let turns = Turns::new(rows * columns);
        let [for_columns, for_rows] = [rows, columns].map(|n| FftPlan::new(n, false, stop));
        Self { matrix, for_columns, for_rows, turns }
    }

    /// Transforms the line in each lane. What a transform that was stopped has written means
    /// nothing.
    pub(super) fn transform<const N: usize>(
        &self,
        line: &[Lanes<R, N>],
        result: &mut [Lanes<R, N>],
        stop: &Stop,
    ) {
        let Matrix { rows, columns } = self.matrix;
        let [column_numbers, row_numbers] = self.matrix.blocks();
        // One block of memory, which the system may make of large pages.
        let mut memory = vec![Lanes::zero(); column_numbers + row_numbers];
        let (column_blocks, row_blocks) = memory.split_at_mut(column_numbers);
        for lane in 0..N {
            each_block(column_blocks, rows, columns, |before, work, lines, block| {
                self.columns(line, lane, before, lines.clone());
                self.for_columns.transform(before, block, work, stop);
                instruction_set::run(Turn { turns: &self.turns, columns: lines, block });
            });
            each_block(row_blocks, columns, rows, |before, work, lines, block| {
                self.rows(column_blocks, before, lines);
                self.for_rows.transform(before, block, work, stop);
            });
            self.store(row_blocks, lane, result);
        }
    }

    /// Copies some columns of a line, each into a lane.
    fn columns<const N: usize>(
        &self,
        line: &[Lanes<R, N>],
        lane: usize,
        to: &mut [LaneBlock<R>],
        columns: Range<usize>,
    ) {
        for (slot, row) in to.iter_mut().zip(line.chunks_exact(self.matrix.columns)) {
            for (k, x) in row[columns.clone()].iter().enumerate() {
                slot.put(k, x.at(lane));
            }
        }
    }

    /// Copies some rows of the blocks of columns, each into a lane.
    fn rows(&self, from: &[LaneBlock<R>], to: &mut [LaneBlock<R>], rows: Range<usize>) {
        for (to, from) in to.chunks_mut(TOGETHER).zip(from.chunks_exact(self.matrix.rows)) {
            for (lane, x) in from[rows.clone()].iter().enumerate() {
                for (k, slot) in to.iter_mut().enumerate() {
                    slot.put(lane, x.at(k));
                }
            }
        }
    }

    /// Stores the numbers of the result: number `k1 + rows * k2` is element `(k1, k2)`.
    fn store<const N: usize>(
        &self,
        from: &[LaneBlock<R>],
        lane: usize,
        result: &mut [Lanes<R, N>],
    ) {
        let Matrix { rows, columns } = self.matrix;
        let some = TOGETHER * rows;
        parts(result, (some, AT_ONCE.div_ceil(some)), |number, result| {
            for (block, from) in from.chunks_exact(columns).enumerate() {
                let from = from[number * TOGETHER..].iter();
                for (result, from) in result.chunks_exact_mut(rows).zip(from) {
                    let first = block * TOGETHER;
                    let end = (first + TOGETHER).min(rows);
                    for (k, slot) in result[first..end].iter_mut().enumerate() {
                        slot.put(lane, from.at(k));
                    }
                }
            }
        });
    }
}

/// Calls `each` for blocks of at most [`TOGETHER`] of `lines` lines of `length` numbers, in
/// parallel: with memory for a block and for its transform that a thread keeps, the numbers of the
/// lines, and the block.
fn each_block<R: LaneNumber>(
    blocks: &mut [LaneBlock<R>],
    length: usize,
    lines: usize,
    each: impl Fn(&mut [LaneBlock<R>], &mut [LaneBlock<R>], Range<usize>, &mut [LaneBlock<R>])
    + Sync
    + Send,
) {
    let memory = || vec![Lanes::zero(); length + work(length, false)];
    let least = AT_ONCE.div_ceil(length * TOGETHER);
    parts_with(blocks, (length, least), memory, |memory, number, block| {
        let first = number * TOGETHER;
        let (before, work) = memory.split_at_mut(length);
        each(before, work, first..(first + TOGETHER).min(lines), block);
    });
}

/// Multiplies element `(k1, j2)` of some columns by `e^(-2 pi i k1 j2 / n)`.
struct Turn<'a, R: LaneNumber> {
    turns: &'a Turns<R>,
    columns: Range<usize>,
    block: &'a mut [LaneBlock<R>],
}

impl<R: LaneNumber> Task for Turn<'_, R> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { turns, columns, block } = self;
        let (mut coarse, mut fine) = (LaneBlock::zero(), LaneBlock::zero());
        for (k, x) in block.iter_mut().enumerate() {
            for (lane, column) in columns.clone().enumerate() {
                let [a, b] = turns.at(k * column);
                coarse.put(lane, a);
                fine.put(lane, b);
            }
            [*x] = each_lane!(x = *x, a = coarse, b = fine => [x.turned(a.turned(b))]);
        }
    }
}

/// Factors `e^(-2 pi i k/n)` for each k below n, as products of a coarse and a fine one.
struct Turns<R> {
    coarse: Vec<ComplexOf<R>>,
    fine: Vec<ComplexOf<R>>,
    /// Bits of an index that are the fine part's.
    bits: u32,
}

impl<R: LaneNumber> Turns<R> {
    fn new(n: usize) -> Self {
        let (series, bits) = (Series::new(), fine_bits(n));
        let turn = |k| series.turn(k, n).nearest();
        let fine = (0..1 << bits).map(turn).collect();
        let coarse = (0..n.div_ceil(1 << bits)).map(|k| turn(k << bits)).collect();
        Self { coarse, fine, bits }
    }
    /// Returns the factors of a factor.
    #[inline(always)]
    fn at(&self, k: usize) -> [ComplexOf<R>; 2] {
        [self.coarse[k >> self.bits], self.fine[k & ((1 << self.bits) - 1)]]
    }
}

/// Half of the bits of an index below `n`.
fn fine_bits(n: usize) -> u32 {
    n.ilog2() / 2
}

/// Returns the number of factors that are kept for a line of `n` numbers.
pub(super) fn factor_count(n: usize) -> usize {
    let fine = 1 << fine_bits(n);
    n.div_ceil(fine) + fine
}
