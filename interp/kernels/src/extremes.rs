//! Reductions to the extreme of each row or column, and its index.
use super::pad;
use super::reduce_lines::ReducedLines;
use crate::Kernel;
use crate::cost_model::FOLDED;
use hlo::ElementType;
use num::index::Grid;
use num::loops::ExtremeLoops;
use num::parallel::{parts, threads};
use smallvec::{SmallVec, smallvec};

/// Results that are computed together, at most.
const TOGETHER: usize = 256;
/// Elements of the longest rows.
const LONGEST_ROW: usize = 1024;
/// Elements of the largest array that one thread folds, and results of which there are enough for
/// all threads.
const ALONE: usize = 1 << 18;
const MANY: usize = 1024;
/// Elements of the fewest columns beside which a call is brief, and those of arrays for which that
/// is of no importance.
const FEW: usize = 32;
const SMALL: usize = 1024;
/// The memory of the extremes of rows: few have no allocation.
type Words = SmallVec<[u128; 16]>;

/// The extremes of rows or columns of numbers with their indices, from initial values on.
pub(super) struct Extremes {
    loops: ExtremeLoops,
    /// Bytes of a number and of an index.
    widths: [usize; 2],
    is_row: bool,
    /// The distances of the results' first elements, and of the elements of each.
    results: Grid,
    elements: Grid,
    /// Results of lines that are neighbors.
    run: usize,
}

impl Extremes {
    /// Returns the kernel for these lines; `None` if they are no rows or columns, or if parts of them
    /// are better folded by themselves.
    pub(super) fn new(
        lines: ReducedLines,
        loops: ExtremeLoops,
        types: [ElementType; 2],
    ) -> Option<Self> {
        let row = lines.runs();
        let (results, elements, run) = lines.grids();
        let widths = types.map(ElementType::storage_bytes);
        if let Some(inner) = row {
            let run = results.count();
            let fits = (2..=LONGEST_ROW).contains(&inner);
            return fits.then_some(Self { loops, widths, is_row: true, results, elements, run });
        }
        let count = results.count().saturating_mul(elements.count());
        let is_alone = count <= ALONE || results.count() >= MANY;
        let is_long = count <= SMALL || run.saturating_mul(elements.count()) >= FEW;
        let fits = run > 1 && elements.rank() == 1 && is_alone && is_long;
        fits.then_some(Self { loops, widths, is_row: false, results, elements, run })
    }

    /// Computes a number of neighbors of the results, from the number `first` on.
    fn part(&self, first: usize, inputs: &[&[u8]], [numbers, indices]: [&mut [u8]; 2]) {
        let Self { loops, widths: [a, b], results, elements, .. } = self;
        let (count, length) = (numbers.len() / a, elements.count());
        pad::repeat(&inputs[2][..*a], numbers);
        pad::repeat(&inputs[3][..*b], indices);
        if self.is_row {
            let (start, end) = (first * length, (first + count) * length);
            let rows = [&inputs[0][start * a..end * a], &inputs[1][start * b..end * b]];
            let words = |width: &usize| (count * width).div_ceil(size_of::<u128>());
            let [mut number, mut index]: [Words; 2] =
                [a, b].map(|width| smallvec![0; words(width)]);
            let number = &mut bytemuck::cast_slice_mut(&mut number)[..count * a];
            let index = &mut bytemuck::cast_slice_mut(&mut index)[..count * b];
            (loops.rows)(rows, length, [&mut *number, &mut *index]);
            return (loops.columns)([number, index], count, [numbers, indices]);
        }
        let (start, step) = (results.offset(first), elements.offset(1));
        let end = start + (length - 1) * step + count;
        let columns = [&inputs[0][start * a..end * a], &inputs[1][start * b..end * b]];
        (loops.columns)(columns, step, [numbers, indices]);
    }
}

impl Kernel for Extremes {
    fn computes(&self) -> Option<u64> {
        let count = self.results.count().saturating_mul(self.elements.count());
        Some(u64::try_from(count).unwrap_or(u64::MAX))
    }
    fn compute(&self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> u64 {
        let (run, [a, b]) = (self.run, self.widths);
        let strip = run.min(TOGETHER);
        let [numbers, indices] = outputs else { return 0 };
        let cut = numbers.chunks_mut(run * a).zip(indices.chunks_mut(run * b)).enumerate();
        let cut = cut.flat_map(|(line, (numbers, indices))| {
            let strips = numbers.chunks_mut(strip * a).zip(indices.chunks_mut(strip * b));
            let first = move |(i, (x, y))| (line * run + i * strip, [x, y]);
            strips.enumerate().map(first)
        });
        if self.results.count() * self.elements.count() <= FOLDED {
            cut.for_each(|(first, outputs)| self.part(first, inputs, outputs));
            return 0;
        }
        let mut all: Vec<(usize, [&mut [u8]; 2])> = cut.collect();
        let least = FOLDED / (strip * self.elements.count());
        parts(&mut all, (1, least), |_, part| {
            let (first, [numbers, indices]) = &mut part[0];
            self.part(*first, inputs, [numbers, indices]);
        });
        0
    }
    fn scratch(&self) -> usize {
        let results = self.results.count();
        let parts = results.div_ceil(self.run.min(TOGETHER));
        let rows =
            if self.is_row { threads() * TOGETHER * (self.widths[0] + self.widths[1]) } else { 0 };
        parts * size_of::<(usize, [&mut [u8]; 2])>() + rows
    }
}
