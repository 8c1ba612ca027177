//! The transform of a line that is longer than the caches, by lines of about the square root of its length.
//!
//! With `n = rows * columns`, number `j1 * columns + j2` of the line is element `(j1, j2)` of a matrix. Its columns are transformed,
//! element `(k1, j2)` is multiplied by `e^(-2 pi i k1 j2 / n)`, the rows are transformed, and element `(k1, k2)` is number
//! `k1 + rows * k2` of the result (Bailey). Each step reads and writes memory in blocks of [`TOGETHER`] lines, which are the lanes
//! of vectors, and threads share the blocks.
use super::super::complex_of::{ComplexOf, Field};
use super::super::double_double::Real;
use super::super::loops::instruction_set::{self, Task};
use super::super::twiddle::turn;
use super::{Lanes, Plan};
use crate::clock::Stop;
use rayon::prelude::*;

/// Lines that are transformed together.
pub(super) const TOGETHER: usize = 8;

/// Shorter lines stay in a cache.
const LEAST: usize = 1 << 16;

/// The sizes of the matrix of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
}

impl Matrix {
    /// Returns the matrix of a line of `n` numbers, if that is long and has a divisor near its root.
    pub(super) fn of(n: usize) -> Option<Self> {
        let root = n.isqrt();
        let rows = (root / 8..=root).rev().find(|&rows| rows > 0 && n.is_multiple_of(rows));
        rows.filter(|_| n >= LEAST).map(|rows| Self { rows, columns: n / rows })
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
pub(crate) struct Long<R> {
    matrix: Matrix,
    /// Of `rows` numbers.
    for_columns: Plan<R>,
    /// Of `columns` numbers.
    for_rows: Plan<R>,
    turns: Turns<R>,
}

type Block<R> = Lanes<R, TOGETHER>;

impl<R: Real + Field> Long<R> {
    pub(super) fn new(matrix: Matrix) -> Self {
        let Matrix { rows, columns } = matrix;
        let turns = Turns::new(rows * columns);
        Self { matrix, for_columns: Plan::new(rows), for_rows: Plan::new(columns), turns }
    }

    /// Transforms the line in each lane. What a transform that was stopped has written means nothing.
    pub(super) fn transform<const N: usize>(
        &self,
        line: &[Lanes<R, N>],
        result: &mut [Lanes<R, N>],
        stop: &Stop,
    ) {
        let Matrix { rows, columns } = self.matrix;
        let [of_columns, of_rows] = self.matrix.blocks();
        // One block of memory, which the system may make of large pages.
        let mut memory = vec![Lanes::ZERO; of_columns + of_rows];
        let (columns_of, rows_of) = memory.split_at_mut(of_columns);
        for lane in 0..N {
            let blocks = columns_of.par_chunks_mut(rows).enumerate();
            blocks.for_each_init(
                || vec![Lanes::ZERO; rows],
                |before, (number, block)| self.columns(line, lane, before, number, block, stop),
            );
            let blocks = rows_of.par_chunks_mut(columns).enumerate();
            blocks.for_each_init(
                || vec![Lanes::ZERO; columns],
                |before, (number, block)| self.rows(columns_of, before, number, block, stop),
            );
            self.store(rows_of, lane, result);
        }
    }

    /// Transforms and turns a block of columns: its rows one after another.
    fn columns<const N: usize>(
        &self,
        line: &[Lanes<R, N>],
        lane: usize,
        before: &mut [Block<R>],
        number: usize,
        block: &mut [Block<R>],
        stop: &Stop,
    ) {
        if stop.is_set() {
            return;
        }
        let columns = self.matrix.columns;
        let first = number * TOGETHER;
        let end = (first + TOGETHER).min(columns);
        for (slot, row) in before.iter_mut().zip(line.chunks_exact(columns)) {
            for (k, x) in row[first..end].iter().enumerate() {
                (slot.re[k], slot.im[k]) = (x.re[lane], x.im[lane]);
            }
        }
        self.for_columns.transform(before, block, stop);
        instruction_set::run(Turn { turns: &self.turns, first, end, block });
    }

    /// Transforms a block of rows: its columns one after another.
    fn rows(
        &self,
        from: &[Block<R>],
        before: &mut [Block<R>],
        number: usize,
        block: &mut [Block<R>],
        stop: &Stop,
    ) {
        if stop.is_set() {
            return;
        }
        let rows = self.matrix.rows;
        let first = number * TOGETHER;
        let end = (first + TOGETHER).min(rows);
        for (before, from) in before.chunks_mut(TOGETHER).zip(from.chunks_exact(rows)) {
            for (lane, x) in from[first..end].iter().enumerate() {
                for (k, slot) in before.iter_mut().enumerate() {
                    (slot.re[lane], slot.im[lane]) = (x.re[k], x.im[k]);
                }
            }
        }
        self.for_rows.transform(before, block, stop);
    }

    /// Stores the numbers of the result: number `k1 + rows * k2` is element `(k1, k2)`.
    fn store<const N: usize>(&self, from: &[Block<R>], lane: usize, result: &mut [Lanes<R, N>]) {
        let Matrix { rows, columns } = self.matrix;
        let some = TOGETHER * rows;
        result.par_chunks_mut(some).enumerate().for_each(|(number, result)| {
            for (block, from) in from.chunks_exact(columns).enumerate() {
                let from = from[number * TOGETHER..].iter();
                for (result, from) in result.chunks_exact_mut(rows).zip(from) {
                    let first = block * TOGETHER;
                    let end = (first + TOGETHER).min(rows);
                    for (k, slot) in result[first..end].iter_mut().enumerate() {
                        (slot.re[lane], slot.im[lane]) = (from.re[k], from.im[k]);
                    }
                }
            }
        });
    }
}

/// Multiplies element `(k1, j2)` of the columns from `first` to `end` by `e^(-2 pi i k1 j2 / n)`.
struct Turn<'a, R> {
    turns: &'a Turns<R>,
    first: usize,
    end: usize,
    block: &'a mut [Block<R>],
}

impl<R: Real + Field> Task for Turn<'_, R> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { turns, first, end, block } = self;
        for (k, x) in block.iter_mut().enumerate() {
            for (lane, column) in (first..end).enumerate() {
                let number = ComplexOf { re: x.re[lane], im: x.im[lane] } * turns.at(k * column);
                (x.re[lane], x.im[lane]) = (number.re, number.im);
            }
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

impl<R: Real> Turns<R> {
    fn new(n: usize) -> Self {
        let bits = n.max(1).ilog2() / 2;
        let fine = (0..1 << bits).map(|k| turn(k, n)).collect();
        let coarse = (0..n.div_ceil(1 << bits)).map(|k| turn(k << bits, n)).collect();
        Self { coarse, fine, bits }
    }
    #[inline(always)]
    fn at(&self, k: usize) -> ComplexOf<R> {
        self.coarse[k >> self.bits] * self.fine[k & ((1 << self.bits) - 1)]
    }
}

/// The number of factors that are kept for a line of `n` numbers.
pub(super) fn turns(n: usize) -> usize {
    let bits = n.max(1).ilog2() / 2;
    n.div_ceil(1 << bits).saturating_add(1 << bits)
}
