//! The loops over tiles of packed words: blocks of columns that are packed once, blocks of rows
//! that threads share out.
use super::accumulator::{Accumulator, Panel};
use super::error_bound::ErrorBound;
use super::job::Job;
use super::pack::{
    Order, PackSource, bound_squares, pack_columns, pack_rows, panel_width, sum_of_squares,
};
use super::tile::{Columns, ROWS, Rows, Word, rows_of_tile};
use super::{Contraction, Lists};
use num::parallel::{parts, parts_with, threads};
use smallvec::SmallVec;

/// Terms that a tile sums up before they are added to the other sums: this many stay in the
/// innermost cache, and the error of a sum grows with this number rather than with that of all
/// terms.
pub(super) const SLICE: usize = 256;
/// Words of columns that are packed at a time: they should stay in a cache that threads share.
const COLUMN_WORDS: usize = 1 << 19;
/// Words of rows that a thread packs at a time: they should stay in its own cache.
const ROW_WORDS: usize = 1 << 16;
/// Rows that a thread takes at a time, at most.
const MOST_ROWS: usize = 8 * ROWS;
/// Words between packed rows, so that they do not compete for the same lines of a cache.
pub(super) const GAP: usize = 8;
/// Panels that are packed together: their lines of a matrix are read as a whole.
const TOGETHER: usize = 8;
/// Rows for which columns are read where they are: each word is read once for eight rows, and
/// packing reads and writes it.
pub(super) const ROWS_IN_PLACE: usize = 4 * ROWS;

/// Columns that are packed at a time.
fn columns_together<W: Word>(terms: usize) -> usize {
    let side = panel_width::<W>();
    (COLUMN_WORDS / side / terms.max(1)).max(2) * side
}
/// Rows that a thread takes at a time, at most.
fn most_rows(terms: usize) -> usize {
    (ROW_WORDS / terms.max(1)).clamp(ROWS, MOST_ROWS) / ROWS * ROWS
}
/// Tasks of a batch whose rows are shared.
pub(super) fn tasks(rows: usize) -> usize {
    rows.div_ceil(ROWS / 2)
}
/// Returns the bytes of the columns that are packed at a time, and of their norms.
pub(super) fn column_bytes<W: Word>(columns: usize, terms: usize) -> usize {
    let columns = columns.next_multiple_of(W::LANES).min(columns_together::<W>(terms));
    columns.saturating_mul(terms.saturating_mul(size_of::<W>()).saturating_add(size_of::<f64>()))
}
/// Returns the bytes of the rows that a thread works on: packed, and their sums, of some words each.
pub(super) fn row_bytes<W: Word>(rows: usize, terms: usize, sum: usize) -> usize {
    let words = terms.saturating_add(GAP + sum * panel_width::<W>());
    rows.min(most_rows(terms)).saturating_mul(words).saturating_mul(size_of::<W>())
}

/// All sums of the plan, into the bytes of the result.
pub(super) fn run<K: Accumulator>(job: &Job<'_, K>, out: &mut [u8]) {
    let blocks = Blocks::new(job);
    job.batches(out, BlockedScratch::<K>::default, |scratch, batch, out, is_parallel| {
        blocks.batch(batch, out, scratch, is_parallel);
    });
}

/// The memory into which a thread packs operands.
struct BlockedScratch<K: Accumulator> {
    columns: Vec<K::Word>,
    norms: Vec<f64>,
    rows: RowScratch<K>,
}

/// The memory into which a thread packs rows, their norms, and the sums of a panel.
struct RowScratch<K: Accumulator> {
    words: Vec<K::Word>,
    norms: Vec<f64>,
    sums: Vec<K::Sum>,
}

impl<K: Accumulator> Default for BlockedScratch<K> {
    fn default() -> Self {
        Self { columns: Vec::new(), norms: Vec::new(), rows: RowScratch::default() }
    }
}
impl<K: Accumulator> Default for RowScratch<K> {
    fn default() -> Self {
        Self { words: Vec::new(), norms: Vec::new(), sums: Vec::new() }
    }
}

/// Columns from the number `first` on, and their norms.
struct ColumnBlock<'a, K: Accumulator> {
    first: usize,
    count: usize,
    terms: usize,
    words: ColumnWords<'a, K>,
    norms: &'a [f64],
}

enum ColumnWords<'a, K: Accumulator> {
    Packed(&'a [K::Word]),
    /// Elements where the operand has them, and the distance of terms.
    InPlace(&'a [K::Stored], usize),
}

impl<K: Accumulator> ColumnBlock<'_, K> {
    fn panels(&self) -> usize {
        self.count.div_ceil(panel_width::<K::Word>())
    }
    /// Panel `p`, and its columns without and with those that fill the last vector.
    fn panel(&self, p: usize) -> (Panel<'_, K>, usize, usize) {
        let (side, terms) = (panel_width::<K::Word>(), self.terms);
        let used = side.min(self.count - p * side);
        let width = used.next_multiple_of(K::Word::LANES);
        let panel = match self.words {
            ColumnWords::Packed(words) => {
                let words = &words[p * side * terms..][..width * terms];
                Panel::Packed(Columns { words, stride: width, terms, width })
            }
            ColumnWords::InPlace(words, stride) => {
                Panel::InPlace(Columns { words: &words[p * side..], stride, terms, width })
            }
        };
        (panel, used, width)
    }
}

/// Some columns: their offsets, where they are packed, and their norms.
type PanelColumns<'a, W> = ((&'a [usize], &'a mut [W]), &'a mut [f64]);

/// A contraction in tiles.
struct Blocks<'a, K: Accumulator> {
    job: &'a Job<'a, K>,
    error: ErrorBound,
    columns: Order,
    rows: Order,
    /// The distance of terms of columns that are read where they are.
    in_place: Option<usize>,
    /// The distance of rows that are read where they are.
    rows_in_place: Option<usize>,
}

impl<'a, K: Accumulator> Blocks<'a, K> {
    fn new(job: &'a Job<'a, K>) -> Self {
        let plan = job.plan;
        let depth = plan.rhs.terms.len().min(SLICE) + plan.rhs.terms.len() / SLICE;
        Self {
            job,
            error: job.error.of_depth(depth),
            columns: Order::of(plan.rhs),
            rows: plan.lhs.order(),
            in_place: Self::in_place(plan),
            rows_in_place: plan.lhs.row_step(),
        }
    }
    /// Returns the distance of terms, if columns are neighbors and are read so few times that
    /// packing takes longer.
    fn in_place(plan: &Contraction<'_>) -> Option<usize> {
        let stride = plan.rhs.terms.step()?;
        let fits = plan.rows <= ROWS_IN_PLACE && stride >= plan.rhs.indices.len();
        (fits && Order::of(plan.rhs) == Order::Indices).then_some(stride)
    }
    fn terms(&self) -> usize {
        self.job.plan.rhs.terms.len()
    }

    /// One batch.
    fn batch(
        &self,
        batch: usize,
        out: &mut [u8],
        scratch: &mut BlockedScratch<K>,
        is_parallel: bool,
    ) {
        let Lists { batches, indices, terms: offsets } = self.job.plan.rhs;
        let (lanes, terms) = (K::Word::LANES, self.terms());
        let BlockedScratch { columns, norms, rows } = scratch;
        // A vector has elements of columns that are there.
        let whole = self.in_place.map_or(0, |_| indices.len() / lanes * lanes);
        if let Some(stride) = self.in_place
            && whole > 0
        {
            let elements = &self.job.rhs[batches[batch] + indices[0] + offsets[0]..];
            norms.resize(whole, 0.0);
            self.norms_in_place((elements, stride), norms, is_parallel);
            let words = ColumnWords::InPlace(elements, stride);
            let block = ColumnBlock { first: 0, count: whole, terms, words, norms };
            self.block(batch, &block, rows, out, is_parallel);
        }
        let together = columns_together::<K::Word>(terms);
        for (i, indices) in indices[whole..].chunks(together).enumerate() {
            if self.job.stop.is_set() {
                return;
            }
            let (count, width) = (indices.len(), indices.len().next_multiple_of(lanes));
            norms.resize(width, 0.0);
            columns.resize(width * terms, K::Word::default());
            self.pack(batch, indices, columns, norms, is_parallel);
            let (first, words) = (whole + i * together, ColumnWords::Packed(columns));
            let block = ColumnBlock { first, count, terms, words, norms };
            self.block(batch, &block, rows, out, is_parallel);
        }
    }

    /// The sums of all rows in a block of columns.
    fn block(
        &self,
        batch: usize,
        block: &ColumnBlock<'_, K>,
        scratch: &mut RowScratch<K>,
        out: &mut [u8],
        is_parallel: bool,
    ) {
        let plan = self.job.plan;
        let rows = self.task_rows(plan.rows, is_parallel);
        let size = rows * plan.rhs.indices.len() * self.job.rounding.to.storage_bytes();
        let task = |scratch: &mut RowScratch<K>, i: usize, out: &mut [u8]| {
            self.rows(batch, i * rows, block, scratch, out);
        };
        if is_parallel {
            parts_with(out, (size, 1), RowScratch::default, task);
        } else {
            let parts = out.chunks_mut(size).enumerate();
            parts.for_each(|(i, out)| task(scratch, i, out));
        }
    }

    /// Computes bounds on the norms of columns that are not packed.
    fn norms_in_place(
        &self,
        (elements, stride): (&[K::Stored], usize),
        norms: &mut [f64],
        is_parallel: bool,
    ) {
        if !K::HAS_BOUND {
            return;
        }
        let side = TOGETHER * panel_width::<K::Word>();
        let least = if is_parallel { 1 } else { usize::MAX };
        parts(norms, (side, least), |i, norms| {
            bound_squares::<K>(&elements[i * side..], stride, self.terms(), norms);
            for norm in norms {
                *norm = norm.sqrt();
            }
        });
    }

    /// Rows of a task: about as many for each thread.
    fn task_rows(&self, rows: usize, is_parallel: bool) -> usize {
        let most = most_rows(self.terms());
        if !is_parallel {
            return most.min(rows);
        }
        let tasks = rows.div_ceil(most).next_multiple_of(threads());
        let unit = if rows < ROWS * threads() { ROWS / 2 } else { ROWS };
        rows.div_ceil(tasks).next_multiple_of(unit).min(most)
    }

    /// Packs columns, and computes their norms.
    fn pack(
        &self,
        batch: usize,
        indices: &[usize],
        words: &mut [K::Word],
        norms: &mut [f64],
        is_parallel: bool,
    ) {
        let Lists { batches, terms, .. } = self.job.plan.rhs;
        let (start, order) = (batches[batch], self.columns);
        let side = TOGETHER * panel_width::<K::Word>();
        let words = words.chunks_mut(side * self.terms());
        let panels = indices.chunks(side).zip(words).zip(norms.chunks_mut(side));
        let mut panels: Vec<PanelColumns<'_, K::Word>> = panels.collect();
        let least = if is_parallel { 1 } else { usize::MAX };
        parts(&mut panels, (1, least), |_, part| {
            let [((indices, words), norms)] = part else { return };
            let source =
                PackSource { elements: self.job.rhs, start, indices, terms: &terms, order };
            pack_columns::<K>(source, words, norms);
            norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
        });
    }

    /// The rows from `first` on that `out` has room for, in packed columns.
    fn rows(
        &self,
        batch: usize,
        first: usize,
        block: &ColumnBlock<'_, K>,
        scratch: &mut RowScratch<K>,
        out: &mut [u8],
    ) {
        let Job { plan, rounding, .. } = *self.job;
        let bytes = rounding.to.storage_bytes();
        let line = plan.rhs.indices.len() * bytes;
        let (count, terms, side) = (out.len() / line, self.terms(), panel_width::<K::Word>());
        let together = rows_of_tile(count);
        let RowScratch { words, norms: row_norms, sums } = scratch;
        let (words, stride) = match K::words(self.job.lhs).zip(self.rows_in_place) {
            Some((words, stride)) => (&words[plan.lhs.start(batch, first)..], stride),
            None => {
                let stride = terms + GAP;
                words.resize(count * stride, K::Word::default());
                pack_rows::<K>((plan.lhs, self.rows), self.job.lhs, (batch, first), words, stride);
                (&**words, stride)
            }
        };
        row_norms.clear();
        if K::HAS_BOUND {
            let rows = words.chunks(stride);
            row_norms.extend(rows.map(|row| sum_of_squares::<K>(&row[..terms]).sqrt()));
        }
        for p in 0..block.panels() {
            if self.job.stop.is_set() {
                return;
            }
            let (panel, used, width) = block.panel(p);
            let at = (block.first + p * side) * bytes;
            let at = at..at + used * bytes;
            // Sums that are elements are formed in the result.
            let is_direct = used == width && K::sums_in(&mut out[at.clone()], rounding).is_some();
            sums.resize(if is_direct { 0 } else { count * width }, K::Sum::default());
            for first in (0..terms).step_by(SLICE) {
                let columns = panel.slice(first, SLICE);
                for tile in (0..count).step_by(together) {
                    let rows = tile..count.min(tile + together);
                    let mut lines: SmallVec<[_; ROWS]> = if is_direct {
                        let lines = out[rows.start * line..rows.end * line].chunks_mut(line);
                        lines.filter_map(|x| K::sums_in(&mut x[at.clone()], rounding)).collect()
                    } else {
                        sums[rows.start * width..rows.end * width].chunks_mut(width).collect()
                    };
                    let words = &words[rows.start * stride + first..];
                    let rows = Rows { words, stride, step: 1, count: rows.len() };
                    columns.add_products(rows, &mut lines, first == 0);
                }
            }
            if is_direct {
                continue;
            }
            let norms = &block.norms[p * side..][..width];
            let lines = sums.chunks(width).zip(out.chunks_mut(line)).enumerate();
            for (r, (sums, line)) in lines {
                let slots = &mut line[at.clone()];
                let norm = row_norms.get(r).map_or(0.0, |&norm| norm);
                let row = &words[r * stride..][..terms];
                let sums = &sums[..used];
                if !K::round(sums, self.error, (norm, norms), rounding, slots) {
                    self.open((row, norm), (panel, norms), sums, slots);
                }
            }
        }
    }

    /// Elements of a row of a tile that the bound leaves open.
    #[cold]
    fn open(
        &self,
        (row, norm): (&[K::Word], f64),
        (panel, norms): (Panel<'_, K>, &[f64]),
        sums: &[K::Sum],
        slots: &mut [u8],
    ) {
        let job = self.job;
        let slots = slots.chunks_exact_mut(job.rounding.to.storage_bytes());
        let mut row_unit = None;
        for (j, (slot, &sum)) in slots.zip(sums).enumerate() {
            let magnitude = norm * norms[j];
            // Most elements are decided, and need no loop over vectors for that.
            if job.decide(sum, magnitude, slot)
                || K::round(&[sum], self.error, (norm, &norms[j..=j]), job.rounding, slot)
            {
                continue;
            }
            let column = panel.column(j);
            let factors = (row.iter().copied(), column.iter().copied());
            job.settle(&mut row_unit, factors, (sum, magnitude), slot);
        }
    }
}
