//! The loops over tiles of packed words: blocks of columns that are packed once, blocks of rows
//! that threads share out.
use super::pack::{
    Order, PackSource, copy_run, pack_columns, pack_offsets, pack_rows, panel_width, sum_of_squares,
};
use super::panels::Job;
use super::rounding::{Blocked, is_exact};
use super::tile::{Columns, ROWS, Rows, Word, add_products, rows_of_tile};
use super::{Contraction, PADDING, TermRun};
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
const ROWS_IN_PLACE: usize = 4 * ROWS;
/// Multiplications that are worth waking another thread for.
const WORTH_A_THREAD: usize = 1 << 15;
/// Multiplications of a batch for which threads may share its rows.
const WORTH_SHARING: usize = 1 << 19;

/// Columns that are packed at a time.
fn columns_together<W: Word>(terms: usize) -> usize {
    let side = panel_width::<W>();
    (COLUMN_WORDS / side / terms.max(1)).max(2) * side
}
/// Rows that a thread takes at a time, at most.
fn most_rows(terms: usize) -> usize {
    (ROW_WORDS / terms.max(1)).clamp(ROWS, MOST_ROWS) / ROWS * ROWS
}
/// Returns whether threads share the rows of a batch, and not the batches.
pub(super) fn is_shared(batches: usize, batch_work: usize) -> bool {
    batch_work >= WORTH_SHARING && batches < 2 * threads()
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
/// Returns the bytes of the rows that a thread works on: packed, their sums, and the offsets of a
/// row, twice.
pub(super) fn row_bytes<W: Word>(rows: usize, terms: usize) -> usize {
    let rows = rows.min(most_rows(terms));
    let row = terms.saturating_add(GAP + panel_width::<W>()).saturating_mul(size_of::<W>());
    rows.saturating_mul(row).saturating_add(terms.saturating_mul(2 * size_of::<usize>()))
}

/// Returns the distance of neighbors in a list of two or more offsets, if it is the same for all.
pub(super) fn even_step(list: &[usize]) -> Option<usize> {
    let &[first, second, ..] = list else { return None };
    let step = second.checked_sub(first)?;
    list.windows(2).all(|pair| pair[0].checked_add(step) == Some(pair[1])).then_some(step)
}

/// All sums of the plan, into the bytes of the result.
pub(super) fn run<K: Blocked>(job: &Job<'_, K, 1>, out: &mut [u8]) {
    let plan = job.plan;
    let (batches, work) = (plan.rhs_batches.len(), plan.batch_work());
    let size = plan.rows * plan.rhs_columns.len() * job.rounding.to.storage_bytes();
    let blocks = Blocks::new(job);
    if plan.work() < 2 * WORTH_A_THREAD || is_shared(batches, work) {
        let is_parallel = work >= 2 * WORTH_A_THREAD;
        let mut scratch = BlockedScratch::default();
        for (batch, out) in out.chunks_mut(size).enumerate() {
            blocks.batch(batch, out, &mut scratch, is_parallel);
        }
        return;
    }
    let least = (WORTH_A_THREAD / work.max(1)).max(1);
    parts_with(out, (size, least), BlockedScratch::default, |scratch, batch, out| {
        blocks.batch(batch, out, scratch, false);
    });
}

/// The memory into which a thread packs operands.
struct BlockedScratch<W> {
    columns: Vec<W>,
    norms: Vec<f64>,
    rows: RowScratch<W>,
}

/// The memory into which a thread packs rows, their norms, and the sums of a panel.
struct RowScratch<W> {
    words: Vec<W>,
    norms: Vec<f64>,
    sums: Vec<W>,
    offsets: Vec<usize>,
    runs: Vec<TermRun>,
}

impl<W> Default for BlockedScratch<W> {
    fn default() -> Self {
        Self { columns: Vec::new(), norms: Vec::new(), rows: RowScratch::default() }
    }
}
impl<W> Default for RowScratch<W> {
    fn default() -> Self {
        Self {
            words: Vec::new(),
            norms: Vec::new(),
            sums: Vec::new(),
            offsets: Vec::new(),
            runs: Vec::new(),
        }
    }
}

/// Columns from the number `first` on.
struct ColumnBlock<'a, W> {
    first: usize,
    count: usize,
    terms: usize,
    words: &'a [W],
    /// The distance of terms, if the columns are not packed.
    stride: Option<usize>,
    norms: &'a [f64],
}

impl<W: Word> ColumnBlock<'_, W> {
    fn panels(&self) -> usize {
        self.count.div_ceil(panel_width::<W>())
    }
    /// Panel `p`, and its columns without those that fill the last vector.
    fn panel(&self, p: usize) -> (Columns<'_, W>, usize) {
        let side = panel_width::<W>();
        let used = side.min(self.count - p * side);
        let width = used.next_multiple_of(W::LANES);
        let (words, stride) = match self.stride {
            Some(stride) => (&self.words[p * side..], stride),
            None => (&self.words[p * side * self.terms..][..width * self.terms], width),
        };
        (Columns { words, stride, terms: self.terms, width }, used)
    }
}

/// Some columns: their offsets, where they are packed, and their norms.
type PanelColumns<'a, W> = ((&'a [usize], &'a mut [W]), &'a mut [f64]);

/// A contraction in tiles.
struct Blocks<'a, K: Blocked> {
    job: &'a Job<'a, K, 1>,
    /// The error of a sum, in units of its magnitude.
    error: f64,
    columns: Order,
    rows: Order,
    /// The distance of terms of columns that are read where they are.
    in_place: Option<usize>,
}

impl<'a, K: Blocked> Blocks<'a, K> {
    fn new(job: &'a Job<'a, K, 1>) -> Self {
        let plan = job.plan;
        let depth = plan.rhs_terms.len().min(SLICE) + plan.rhs_terms.len() / SLICE;
        Self {
            job,
            error: job.error.of_depth(depth),
            columns: Order::of(plan.rhs_columns, plan.rhs_terms),
            rows: plan.lists.map_or(Order::Any, |lists| Order::of(lists.rows, lists.terms)),
            in_place: Self::in_place(plan),
        }
    }
    /// Returns the distance of terms, if columns are neighbors and are read so few times that
    /// packing takes longer.
    fn in_place(plan: &Contraction<'_>) -> Option<usize> {
        let (columns, terms) = (plan.rhs_columns, plan.rhs_terms);
        let stride = even_step(terms)?;
        let fits = plan.rows <= ROWS_IN_PLACE
            && columns.len().is_multiple_of(K::Word::LANES)
            && stride >= columns.len();
        (fits && Order::of(columns, terms) == Order::Indices).then_some(stride)
    }
    fn terms(&self) -> usize {
        self.job.plan.rhs_terms.len()
    }

    /// One batch.
    fn batch(
        &self,
        batch: usize,
        out: &mut [u8],
        scratch: &mut BlockedScratch<K::Word>,
        is_parallel: bool,
    ) {
        let Contraction { rows, rhs_columns: columns, .. } = *self.job.plan;
        let words = K::words(self.job.rhs).zip(self.in_place);
        let together = match words {
            Some(_) => columns.len(),
            None => columns_together::<K::Word>(self.terms()),
        };
        let line = columns.len() * self.job.rounding.to.storage_bytes();
        let task_rows = self.task_rows(rows, is_parallel);
        for (i, indices) in columns.chunks(together).enumerate() {
            if self.job.stop.is_set() {
                return;
            }
            let (count, terms) = (indices.len(), self.terms());
            let width = count.next_multiple_of(K::Word::LANES);
            scratch.norms.resize(width, 0.0);
            let (words, stride) = if let Some((words, stride)) = words {
                let start = self.job.plan.rhs_batches[batch] + self.job.plan.rhs_terms[0];
                (&words[start + indices[0]..], Some(stride))
            } else {
                scratch.columns.resize(width * terms, K::Word::default());
                self.pack(batch, indices, &mut scratch.columns, &mut scratch.norms, is_parallel);
                (&*scratch.columns, None)
            };
            let first = i * together;
            let packed = ColumnBlock { first, count, terms, words, stride, norms: &scratch.norms };
            let task = |scratch: &mut RowScratch<K::Word>, i: usize, out: &mut [u8]| {
                self.rows(batch, i * task_rows, &packed, scratch, out);
            };
            let size = task_rows * line;
            if is_parallel {
                parts_with(out, (size, 1), RowScratch::default, task);
            } else {
                let parts = out.chunks_mut(size).enumerate();
                parts.for_each(|(i, out)| task(&mut scratch.rows, i, out));
            }
        }
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
        let plan = self.job.plan;
        let start = plan.rhs_batches[batch];
        let side = TOGETHER * panel_width::<K::Word>();
        let words = words.chunks_mut(side * self.terms());
        let panels = indices.chunks(side).zip(words).zip(norms.chunks_mut(side));
        let mut panels: Vec<PanelColumns<'_, K::Word>> = panels.collect();
        let least = if is_parallel { 1 } else { usize::MAX };
        parts(&mut panels, (1, least), |_, part| {
            let [((indices, words), norms)] = part else { return };
            let source = PackSource {
                elements: self.job.rhs,
                start,
                indices,
                terms: plan.rhs_terms,
                order: self.columns,
            };
            pack_columns::<K>(source, words, norms);
            norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
        });
    }

    /// Packs the rows `first..first + count`.
    fn pack_rows(
        &self,
        batch: usize,
        first: usize,
        count: usize,
        scratch: &mut RowScratch<K::Word>,
    ) {
        let (plan, terms) = (self.job.plan, self.terms());
        let stride = terms + GAP;
        scratch.words.resize(count * stride, K::Word::default());
        let RowScratch { words, norms, offsets, runs, .. } = scratch;
        if let Some(lists) = plan.lists {
            let source = PackSource {
                elements: self.job.lhs,
                start: lists.batches[batch],
                indices: &lists.rows[first..first + count],
                terms: lists.terms,
                order: self.rows,
            };
            pack_rows::<K>(source, words, stride);
        } else {
            for (i, words) in words.chunks_mut(stride).enumerate() {
                let words = &mut words[..terms];
                if let Some(all) = plan.runs {
                    runs.clear();
                    (all.of)(batch, first + i, runs);
                    words.fill(K::Word::default());
                    for &TermRun { term, lhs, count } in &*runs {
                        let words = &mut words[term..term + count];
                        if all.step == 1 {
                            copy_run::<K>(&self.job.lhs[lhs..lhs + count], words);
                        } else {
                            let elements = self.job.lhs[lhs..].iter().step_by(all.step);
                            words
                                .iter_mut()
                                .zip(elements)
                                .for_each(|(word, &x)| [*word] = K::pack(x));
                        }
                    }
                } else {
                    offsets.resize(terms, PADDING);
                    (plan.lhs)(batch, first + i, offsets);
                    pack_offsets::<K>(self.job.lhs, offsets, words);
                }
            }
        }
        norms.clear();
        norms.extend(words.chunks(stride).map(|row| sum_of_squares::<K>(&row[..terms]).sqrt()));
    }

    /// The rows from `first` on that `out` has room for, in packed columns.
    fn rows(
        &self,
        batch: usize,
        first: usize,
        packed: &ColumnBlock<'_, K::Word>,
        scratch: &mut RowScratch<K::Word>,
        out: &mut [u8],
    ) {
        let (plan, rounding) = (self.job.plan, self.job.rounding);
        let bytes = rounding.to.storage_bytes();
        let line = plan.rhs_columns.len() * bytes;
        let (count, terms, side) = (out.len() / line, self.terms(), panel_width::<K::Word>());
        let together = rows_of_tile(count);
        self.pack_rows(batch, first, count, scratch);
        for p in 0..packed.panels() {
            if self.job.stop.is_set() {
                return;
            }
            let (panel, used) = packed.panel(p);
            let width = panel.width;
            scratch.sums.resize(count * width, K::Word::default());
            for first in (0..terms).step_by(SLICE) {
                let (words, columns) = (&scratch.words[first..], panel.slice(first, SLICE));
                let tiles = words
                    .chunks(together * (terms + GAP))
                    .zip(scratch.sums.chunks_mut(together * width));
                for (words, sums) in tiles {
                    let rows = Rows { words, stride: terms + GAP, count: sums.len() / width };
                    let mut lines: SmallVec<[_; ROWS]> = sums.chunks_mut(width).collect();
                    add_products(rows, columns, &mut lines, first == 0);
                }
            }
            let norms = &packed.norms[p * side..][..width];
            let at = (packed.first + p * side) * bytes;
            let lines = scratch.sums.chunks(width).zip(out.chunks_mut(line)).enumerate();
            for (r, (sums, line)) in lines {
                let slots = &mut line[at..at + used * bytes];
                if !K::round(&sums[..used], self.error * scratch.norms[r], norms, rounding, slots) {
                    let place =
                        TilePosition { batch, row: first + r, column: packed.first + p * side };
                    let row = &scratch.words[r * (terms + GAP)..][..terms];
                    self.open(place, (row, scratch.norms[r]), (panel, norms), sums, slots);
                }
            }
        }
    }

    /// Elements of a row of a tile that the bound leaves open.
    #[cold]
    fn open(
        &self,
        place: TilePosition,
        (row, row_norm): (&[K::Word], f64),
        (panel, norms): (Columns<'_, K::Word>, &[f64]),
        sums: &[K::Word],
        slots: &mut [u8],
    ) {
        let job = self.job;
        let bytes = job.rounding.to.storage_bytes();
        let mut row_unit = None;
        for (j, slot) in slots.chunks_exact_mut(bytes).enumerate() {
            let (sum, norm) = (&sums[j..=j], &norms[j..=j]);
            let magnitude = row_norm * norms[j];
            // Most elements are decided, and need no loop over vectors for that.
            if job.decide(sums[j], magnitude, slot)
                || K::round(sum, self.error * row_norm, norm, job.rounding, slot)
            {
                continue;
            }
            let column =
                || panel.words[j..].iter().step_by(panel.stride).take(panel.terms).copied();
            let unit = *row_unit.get_or_insert_with(|| K::unit(row.iter().copied()));
            let is_decided = if is_exact([unit, K::unit(column())], magnitude) {
                job.decide(sums[j], 0.0, slot)
            } else {
                K::refined(row, column(), magnitude, job.error)
                    .is_some_and(|ends| job.rounding.write_if_same(ends, slot))
            };
            if !is_decided {
                let offsets = job.row_offsets(place.batch, place.row);
                let column = job.plan.rhs_columns[place.column + j];
                job.write_exact(place.batch, &offsets, column, slot);
            }
        }
    }
}

/// The number of a row, and of the first column of a panel.
#[derive(Clone, Copy)]
struct TilePosition {
    batch: usize,
    row: usize,
    column: usize,
}
