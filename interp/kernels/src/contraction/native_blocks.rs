//! Sums in the type of the operands whose rows lie an even distance apart, or are few enough to be
//! packed as a whole: each thread packs the columns that it multiplies, a slice of their terms at a
//! time, unless these are read where they are, and adds sums up in the result.
use super::accumulator::{OwnSums, Panel};
use super::blocked::{GAP, ROWS_IN_PLACE, SLICE};
use super::job::{Job, is_shared};
use super::pack::{Order, PackSource, pack_columns, pack_rows, panel_width};
use super::tile::{Columns, ROWS, Rows, VECTORS, Word, rows_of_tile};
use super::{Contraction, LhsOffsets, Lists};
use num::parallel::{parts, parts_with, threads};
use smallvec::SmallVec;
use std::ops::Range;

/// Panels that are packed together: their lines of a matrix are read as a whole.
const TOGETHER: usize = 4;
/// Rows of a task, at most: a slice of them, and their sums, should stay in a cache of a thread.
const MOST_ROWS: usize = 512;
/// Rows of a task, at least, if there are many: each task packs columns.
const LEAST_ROWS: usize = 64;
/// Words of rows that are packed as a whole.
const MOST_WORDS: usize = 1 << 20;
/// Words from the first to the last term of a slice that is read where it is, however often: as many
/// as stay in a cache of a thread.
const WORDS_IN_PLACE: usize = 1 << 16;
/// Returns the bytes that sums with these numbers of batches, rows, columns and terms take.
pub(super) fn bytes<W: Word>([batches, rows, columns, terms]: [usize; 4]) -> usize {
    let side = TOGETHER * panel_width::<W>();
    let width = columns.next_multiple_of(W::LANES).min(side);
    let slice = terms.min(SLICE).saturating_add(rows.min(MOST_ROWS));
    let packed = rows.saturating_mul(terms.saturating_add(GAP));
    let packed = if rows.saturating_mul(terms) <= MOST_WORDS { packed } else { 0 };
    let groups = columns.div_ceil(panel_width::<W>()).min(4 * threads());
    let lines = rows.saturating_mul(groups).saturating_mul(2 * size_of::<&mut [u8]>());
    let of_batch = packed.saturating_mul(size_of::<W>()).saturating_add(lines);
    let of_thread = slice.saturating_mul(width).saturating_mul(size_of::<W>());
    let work = rows.saturating_mul(columns).saturating_mul(terms);
    let at_once = if is_shared(batches, work) { 1 } else { batches.min(threads()) };
    let of_threads = of_thread.saturating_mul(threads());
    of_batch.saturating_mul(at_once).saturating_add(of_threads)
}

/// All sums of the plan, into the bytes of the result. Returns false if its rows are not such that
/// they can be formed here.
pub(super) fn run<K: OwnSums>(job: &Job<'_, K>, out: &mut [u8]) -> bool {
    let LhsOffsets::Sums(lists) = job.plan.lhs else { return false };
    let sums = OwnBlocks::new(job, lists);
    let is_small = job.plan.rows.saturating_mul(lists.terms.len()) <= MOST_WORDS;
    if K::HAS_BOUND || sums.rows_in_place.is_none() && !is_small {
        return false;
    }
    job.batches(out, NativeScratch::default, |scratch, batch, out, is_parallel| {
        sums.batch(batch, out, scratch, is_parallel);
    });
    true
}

/// The memory of a thread: packed rows of a batch, a slice of columns, and sums that are not
/// elements of the result.
struct NativeScratch<W> {
    rows: Vec<W>,
    columns: Vec<W>,
    sums: Vec<W>,
}

impl<W> Default for NativeScratch<W> {
    fn default() -> Self {
        Self { rows: Vec::new(), columns: Vec::new(), sums: Vec::new() }
    }
}

/// Some rows of some columns: the first ones, their numbers, and the bytes of the result.
struct Task<'a> {
    row: usize,
    column: usize,
    rows: usize,
    columns: usize,
    out: TaskRows<'a>,
}

/// The bytes of rows of the result.
enum TaskRows<'a> {
    /// So many bytes of each, one row after the other.
    Whole(&'a mut [u8], usize),
    /// A part of each.
    Parts(Vec<&'a mut [u8]>),
}

impl Task<'_> {
    /// Returns bytes of a row.
    fn line(&mut self, row: usize, at: Range<usize>) -> &mut [u8] {
        match &mut self.out {
            TaskRows::Whole(out, line) => &mut out[row * *line..][at],
            TaskRows::Parts(parts) => &mut parts[row][at],
        }
    }
    /// Returns the same bytes of each of some rows, at most as many as a tile has.
    fn lines(&mut self, rows: Range<usize>, at: &Range<usize>) -> RowSlices<'_, u8> {
        let mut lines = RowSlices::default();
        match &mut self.out {
            TaskRows::Whole(out, line) => {
                let rows = out[rows.start * *line..].chunks_exact_mut(*line).take(rows.len());
                lines.iter_mut().zip(rows).for_each(|(to, row)| *to = &mut row[at.clone()]);
            }
            TaskRows::Parts(parts) => {
                let rows = parts[rows].iter_mut();
                lines.iter_mut().zip(rows).for_each(|(to, row)| *to = &mut row[at.clone()]);
            }
        }
        lines
    }
}

/// A part of each row of a tile, and nothing of the rows that it does not have.
type RowSlices<'a, T> = [&'a mut [T]; ROWS];

/// Every row of a batch; they begin `stride` words apart, and their terms are `step` apart.
#[derive(Clone, Copy)]
struct AllRows<'a, W> {
    words: &'a [W],
    stride: usize,
    step: usize,
}

/// A contraction.
struct OwnBlocks<'a, K: OwnSums> {
    job: &'a Job<'a, K>,
    lists: Lists<'a>,
    row_order: Order,
    column_order: Order,
    /// The distances of rows and of their terms that are read where they are.
    rows_in_place: Option<[usize; 2]>,
    /// The distance of terms of columns that are read where they are.
    columns_in_place: Option<usize>,
}

impl<'a, K: OwnSums> OwnBlocks<'a, K> {
    fn new(job: &'a Job<'a, K>, lists: Lists<'a>) -> Self {
        let Contraction { rows, rhs: columns, .. } = *job.plan;
        let (row_order, column_order) = (Order::of(lists), Order::of(columns));
        let slice = columns.terms.len().min(SLICE);
        let is_compact = |step: usize| step.saturating_mul(slice) <= WORDS_IN_PLACE;
        let columns_in_place = columns.terms.step().filter(|&step| {
            let is_word = K::words(job.rhs).is_some();
            (rows <= ROWS_IN_PLACE || is_word && is_compact(step))
                && step >= columns.indices.len()
                && column_order == Order::Indices
        });
        let step = lists.terms.even_step();
        let rows_in_place = lists
            .indices
            .step()
            .zip(step.filter(|&step| step == 1 || is_compact(step)))
            .filter(|_| K::words(job.lhs).is_some())
            .map(|(stride, step)| [stride, step]);
        Self { job, lists, row_order, column_order, rows_in_place, columns_in_place }
    }

    /// One batch.
    fn batch(
        &self,
        batch: usize,
        out: &mut [u8],
        scratch: &mut NativeScratch<K::Word>,
        is_parallel: bool,
    ) {
        let mut packed = std::mem::take(&mut scratch.rows);
        let rows = match K::words(self.job.lhs).zip(self.rows_in_place) {
            Some((words, [stride, step])) => {
                let Lists { batches, indices, terms } = self.lists;
                AllRows { words: &words[batches[batch] + indices[0] + terms[0]..], stride, step }
            }
            None => self.pack_rows(batch, &mut packed, is_parallel),
        };
        let mut tasks = self.tasks(out, is_parallel);
        if is_parallel {
            parts_with(&mut tasks, (1, 1), NativeScratch::default, |scratch, _, tasks| {
                for task in tasks {
                    self.task(batch, task, rows, scratch);
                }
            });
        } else {
            for task in &mut tasks {
                self.task(batch, task, rows, scratch);
            }
        }
        scratch.rows = packed;
    }

    /// Packs every row.
    fn pack_rows<'b>(
        &self,
        batch: usize,
        words: &'b mut Vec<K::Word>,
        is_parallel: bool,
    ) -> AllRows<'b, K::Word> {
        let (plan, rows) = (self.job.plan, (self.job.plan.lhs, self.row_order));
        let stride = plan.rhs.terms.len() + GAP;
        words.resize(plan.rows * stride, K::Word::default());
        let size = (LEAST_ROWS * stride, if is_parallel { 1 } else { usize::MAX });
        parts(words, size, |i, words| {
            pack_rows::<K>(rows, self.job.lhs, (batch, i * LEAST_ROWS), words, stride);
        });
        AllRows { words, stride, step: 1 }
    }

    /// Returns the tasks of a batch, in which threads have about as much to do.
    fn tasks<'b>(&self, out: &'b mut [u8], is_parallel: bool) -> SmallVec<[Task<'b>; 1]> {
        let (rows, columns) = (self.job.plan.rows, self.job.plan.rhs.indices.len());
        let bytes = self.job.rounding.to.storage_bytes();
        let side = panel_width::<K::Word>();
        let panels = columns.div_ceil(side);
        let wanted = if is_parallel { 4 * threads() } else { 1 };
        let row_groups = rows.div_ceil(MOST_ROWS);
        // Tasks that pack nothing may have few rows.
        let first = match self.columns_in_place {
            Some(_) => wanted.min(rows.div_ceil(2 * ROWS)).max(row_groups),
            None => row_groups,
        };
        let column_groups = wanted.div_ceil(first).min(panels);
        let more = wanted.div_ceil(column_groups).min(rows.div_ceil(LEAST_ROWS)).max(first);
        let together = rows.div_ceil(row_groups.max(more)).next_multiple_of(ROWS);
        let group = panels.div_ceil(column_groups) * side;
        let column_groups = columns.div_ceil(group);
        let line = columns * bytes;
        let mut tasks = SmallVec::new();
        for (i, out) in out.chunks_mut(together * line).enumerate() {
            let (row, rows) = (i * together, out.len() / line);
            let task = |column, out| {
                let columns = group.min(columns - column);
                Task { row, column, rows, columns, out }
            };
            if column_groups == 1 {
                tasks.push(task(0, TaskRows::Whole(out, line)));
                continue;
            }
            let mut parts: Vec<_> = (0..column_groups).map(|_| Vec::with_capacity(rows)).collect();
            for line in out.chunks_mut(line) {
                let of_line = line.chunks_mut(group * bytes);
                parts.iter_mut().zip(of_line).for_each(|(parts, part)| parts.push(part));
            }
            let parts = parts.into_iter().enumerate();
            tasks.extend(parts.map(|(i, parts)| task(i * group, TaskRows::Parts(parts))));
        }
        tasks
    }

    fn task(
        &self,
        batch: usize,
        task: &mut Task<'_>,
        rows: AllRows<'_, K::Word>,
        scratch: &mut NativeScratch<K::Word>,
    ) {
        let (job, plan) = (self.job, self.job.plan);
        let bytes = job.rounding.to.storage_bytes();
        let side = TOGETHER * panel_width::<K::Word>();
        let (count, together) = (task.rows, rows_of_tile(task.rows));
        let rows = AllRows { words: &rows.words[task.row * rows.stride..], ..rows };
        let columns = &plan.rhs.indices.list()[task.column..task.column + task.columns];
        for (i, indices) in columns.chunks(side).enumerate() {
            let at = i * side * bytes..(i * side + indices.len()) * bytes;
            let is_whole = indices.len().is_multiple_of(K::Word::LANES);
            let is_element = K::sums_in(task.line(0, at.clone()), job.rounding).is_some();
            let is_direct = is_whole && is_element;
            let width = indices.len().next_multiple_of(K::Word::LANES);
            let NativeScratch { columns, sums, .. } = &mut *scratch;
            if !is_direct {
                sums.resize(count * width, K::Word::default());
            }
            for first in (0..plan.rhs.terms.len()).step_by(SLICE) {
                if job.stop.is_set() {
                    return;
                }
                let panels = self.slice(batch, indices, first, columns);
                for row in (0..count).step_by(together) {
                    let tile = row..count.min(row + together);
                    let AllRows { words, stride, step } = rows;
                    let words = &words[row * stride + first * step..];
                    let rows = Rows { words, stride, step, count: tile.len() };
                    let mut lines: RowSlices<'_, K::Word> = RowSlices::default();
                    if is_direct {
                        for (to, line) in lines.iter_mut().zip(task.lines(tile, &at)) {
                            *to = K::sums_in(line, job.rounding).unwrap_or_default();
                        }
                    } else {
                        let sums = sums[tile.start * width..tile.end * width].chunks_mut(width);
                        lines.iter_mut().zip(sums).for_each(|(to, sums)| *to = sums);
                    }
                    for (panel, start) in panels.clone() {
                        let mut parts: RowSlices<'_, K::Word> = RowSlices::default();
                        let lines = lines.iter_mut().take(rows.count);
                        parts.iter_mut().zip(lines).for_each(|(to, line)| *to = &mut line[start..]);
                        panel.add_products(rows, &mut parts[..rows.count], first == 0);
                    }
                }
            }
            if !is_direct {
                for (row, sums) in sums.chunks(width).take(count).enumerate() {
                    let (sums, slots) = (&sums[..indices.len()], task.line(row, at.clone()));
                    K::round(sums, job.error, (0.0, &[]), job.rounding, slots);
                }
            }
        }
    }

    /// Returns the panels of a slice of some columns, each with the number of its first column.
    fn slice<'b>(
        &'b self,
        batch: usize,
        indices: &[usize],
        first: usize,
        packed: &'b mut Vec<K::Word>,
    ) -> impl Iterator<Item = (Panel<'b, K>, usize)> + Clone {
        let columns = self.job.plan.rhs;
        let start = columns.batches[batch];
        let terms = &columns.terms.list()[first..];
        let terms = &terms[..terms.len().min(SLICE)];
        let count = terms.len();
        let (side, width) =
            (panel_width::<K::Word>(), indices.len().next_multiple_of(K::Word::LANES));
        let in_place = self.columns_in_place;
        // A vector has elements of columns that are there.
        let whole = in_place.map_or(0, |_| indices.len() / K::Word::LANES * K::Word::LANES);
        let (packed_indices, own_width) = (&indices[whole..], width - whole);
        if own_width > 0 {
            packed.resize(own_width * count, K::Word::default());
            let (elements, indices, order) = (self.job.rhs, packed_indices, self.column_order);
            let source = PackSource { elements, start, indices, terms, order };
            let squares = &mut [0.0; TOGETHER * VECTORS * MOST_LANES][..own_width];
            pack_columns::<K>(source, &mut packed[..own_width * count], squares);
        }
        let packed = &*packed;
        let panels = move |from: usize, to: usize| {
            (from..to).step_by(side).map(move |at| (at, side.min(to - at)))
        };
        let elements = self.job.rhs;
        let in_place = in_place.into_iter().flat_map(move |stride| {
            let words = &elements[start + indices[0] + terms[0]..];
            panels(0, whole).map(move |(at, width)| {
                (Panel::InPlace(Columns { words: &words[at..], stride, terms: count, width }), at)
            })
        });
        in_place.chain(panels(whole, width).map(move |(at, own)| {
            let words = &packed[(at - whole) * count..][..own * count];
            (Panel::Packed(Columns { words, stride: own, terms: count, width: own }), at)
        }))
    }
}

/// Words of a vector, at most.
const MOST_LANES: usize = <f32 as Word>::LANES;
