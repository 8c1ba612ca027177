//! The loops: operands packed as panels of four rows or columns, tiles of four by four, blocks in
//! parallel.
use super::accumulator::{Accumulator, LANES, Norms, SingleSums, norms_of};
use super::error_bound::ErrorBound;
use super::{Contraction, PADDING, Rounding, TermRun, TermRuns};
use num::clock::Stop;
use num::parallel::parts;

/// Rows a thread takes at a time.
const ROWS: usize = 8 * LANES;
/// Words of the right operand that are packed at a time: they should stay in a cache that threads
/// share.
const PACKED_WORDS: usize = 1 << 19;
/// Panels of columns that are packed together: each line of a cache is then read once.
const TOGETHER: usize = 16;
/// Multiplications that are worth waking another thread for.
pub(super) const WORTH_A_THREAD: usize = 1 << 15;

/// Multiplications of a batch for which threads share its rows. Smaller batches are shared out
/// whole.
const WORTH_SHARING: usize = 1 << 19;
/// Elements of which it is found at once whether they are finite.
const FINITE: usize = 1024;
/// Columns of a single row that a thread takes at a time.
pub(super) const COLUMNS: usize = 256;

/// Returns the bytes of the panels of columns that are packed at a time, and of their norms.
pub(super) fn packed_bytes(columns: usize, terms: usize, planes: usize) -> usize {
    let panel = terms.saturating_mul(planes * LANES).max(1);
    let panels = (PACKED_WORDS / panel).max(8).min(columns.div_ceil(LANES));
    panels.saturating_mul(panel.saturating_mul(size_of::<f64>()).saturating_add(size_of::<Norms>()))
}
/// Returns the bytes of the rows that a thread works on: packed, their offsets, and those of a sum
/// formed exactly; or the offsets of one row and its running sums.
pub(super) fn row_bytes(columns: usize, terms: usize, planes: usize, packs: bool) -> usize {
    let offsets = terms.saturating_mul(size_of::<usize>());
    if packs {
        let words = terms.saturating_mul(planes * LANES * size_of::<f64>());
        return words.saturating_add(offsets.saturating_mul(2));
    }
    offsets.saturating_add(columns.saturating_mul((planes + 1) * size_of::<f64>()))
}
/// Returns whether threads share the rows of a batch.
pub(super) fn is_shared(batch_work: usize) -> bool {
    batch_work >= WORTH_SHARING
}
/// Returns the parts into which the sums of a batch are divided, at most.
pub(super) fn tasks(rows: usize, columns: usize, packs: bool) -> usize {
    match rows {
        _ if packs => rows.div_ceil(ROWS),
        1 => columns.div_ceil(COLUMNS),
        rows => rows,
    }
}

/// All sums of the plan, into the bytes of the result: in tiles, or one by one in the exact sum
/// where nothing can be packed.
pub(super) fn run<K: Accumulator<PLANES>, const PLANES: usize>(
    job: &Job<'_, K, PLANES>,
    out: &mut [u8],
) {
    let packs = job.plan.rows.max(job.plan.rhs_columns.len()) > 1 && job.can_be_packed();
    job.run(out, |batch, out, parallel| {
        if packs { job.packed(batch, out, parallel) } else { job.exact(batch, out, parallel) }
    });
}

/// Writes sums that are also fast one by one, which suits few rows.
pub(super) fn run_single_or_tiled<K: SingleSums<PLANES>, const PLANES: usize>(
    job: &Job<'_, K, PLANES>,
    out: &mut [u8],
) {
    let packs = job.plan.rows.min(job.plan.rhs_columns.len()) > 1 && job.can_be_packed();
    job.run(out, |batch, out, parallel| {
        if packs { job.packed(batch, out, parallel) } else { job.direct(batch, out, parallel) }
    });
}

/// A contraction of operands of one kind.
pub(super) struct Job<'a, K: Accumulator<PLANES>, const PLANES: usize> {
    pub(super) plan: &'a Contraction<'a>,
    pub(super) lhs: &'a [K::Stored],
    pub(super) rhs: &'a [K::Stored],
    pub(super) rounding: Rounding,
    pub(super) error: ErrorBound,
    pub(super) stop: Stop,
}

impl<K: Accumulator<PLANES>, const PLANES: usize> Job<'_, K, PLANES> {
    /// Calls `batch` with each batch's number, its part of the result, and whether it should use
    /// several threads.
    pub(super) fn run(&self, out: &mut [u8], batch: impl Fn(usize, &mut [u8], bool) + Sync) {
        assert!(self.plan.lines.is_none(), "lines have another order");
        if out.is_empty() {
            return;
        }
        let plan = self.plan;
        let size = plan.rows * plan.rhs_columns.len() * self.rounding.to.storage_bytes();
        if plan.work() < 2 * WORTH_A_THREAD {
            out.chunks_mut(size).enumerate().for_each(|(i, out)| batch(i, out, false));
            return;
        }
        // Either the rows of a batch are shared or the batches: a thread that waits for others to
        // finish a batch would begin another, and pack its columns too.
        if is_shared(plan.batch_work()) {
            out.chunks_mut(size).enumerate().for_each(|(i, out)| batch(i, out, true));
            return;
        }
        let least = (WORTH_A_THREAD / plan.batch_work().max(1)).max(1);
        parts(out, (size, least), |i, out| batch(i, out, false));
    }

    /// Returns whether tiles can hold the operands: there are terms, and no element is too large
    /// or, where padding is zeros, not finite.
    pub(super) fn can_be_packed(&self) -> bool {
        if self.plan.rhs_terms.is_empty() {
            return false;
        }
        // Without an end inside of a chunk the compiler makes vectors of it.
        let are_finite =
            |chunk: &[K::Stored]| chunk.iter().fold(true, |all, &x| all & K::finite(x));
        let mut operands = self.lhs.iter().chain(self.rhs);
        operands.all(|&x| K::packable(x))
            && (!self.plan.has_padding || self.rhs.chunks(FINITE).all(are_finite))
    }

    /// Calls `part` with row, columns and their part of the result. A single row is divided by
    /// columns, so that threads have something to share out.
    fn for_rows(
        &self,
        out: &mut [u8],
        parallel: bool,
        part: impl Fn(usize, &[usize], &mut [u8]) + Sync,
    ) {
        let Contraction { rows, rhs_columns, .. } = *self.plan;
        let columns = if rows == 1 { COLUMNS.min(rhs_columns.len()) } else { rhs_columns.len() };
        let size = columns * self.rounding.to.storage_bytes();
        let least = if parallel { 1 } else { usize::MAX };
        parts(out, (size, least), |i, out| {
            if rows == 1 {
                part(0, rhs_columns.chunks(columns).nth(i).unwrap_or(&[]), out);
            } else {
                part(i, rhs_columns, out);
            }
        });
    }

    /// Returns the left offsets of a row, one for each term.
    pub(super) fn row_offsets(&self, batch: usize, row: usize) -> Vec<usize> {
        let mut offsets = vec![PADDING; self.plan.rhs_terms.len()];
        (self.plan.lhs)(batch, row, &mut offsets);
        offsets
    }

    /// Returns the left elements of a row, each with the right offset to which a column's is added.
    pub(super) fn terms(
        &self,
        batch: usize,
        offsets: &[usize],
    ) -> impl Iterator<Item = (K::Stored, usize)> {
        let start = self.plan.rhs_batches[batch];
        let terms = offsets.iter().zip(self.plan.rhs_terms);
        let terms = terms.filter(|&(&offset, _)| offset != PADDING);
        terms.map(move |(&offset, &term)| (self.lhs[offset], start + term))
    }

    /// Writes the element that a sum rounds to and returns true, if its error leaves only one.
    #[inline]
    pub(super) fn decide(&self, sum: K::Sum, magnitude: f64, slot: &mut [u8]) -> bool {
        K::interval(sum, magnitude, self.error)
            .is_some_and(|ends| self.rounding.write_if_same(ends, slot))
    }

    /// Writes the element that the exact sum rounds to.
    #[cold]
    pub(super) fn write_exact(
        &self,
        batch: usize,
        offsets: &[usize],
        column: usize,
        slot: &mut [u8],
    ) {
        let terms = self.terms(batch, offsets);
        let terms = terms.map(|(element, at)| (element, self.rhs[at + column]));
        self.rounding.write(K::exact(terms, self.rounding.sum_type()), slot);
    }

    /// One batch in exact sums.
    fn exact(&self, batch: usize, out: &mut [u8], parallel: bool) {
        self.for_rows(out, parallel, |row, columns, out| {
            let offsets = self.row_offsets(batch, row);
            let slots = out.chunks_exact_mut(self.rounding.to.storage_bytes());
            for (slot, &column) in slots.zip(columns).take_while(|_| !self.stop.is_set()) {
                self.write_exact(batch, &offsets, column, slot);
            }
        });
    }

    /// One batch, in blocks of columns that are packed once and rows that threads share out.
    fn packed(&self, batch: usize, out: &mut [u8], parallel: bool) {
        let Contraction { rhs_batches, rhs_columns: columns, .. } = *self.plan;
        let panel = self.panel_words();
        let block = (PACKED_WORDS / panel).max(8) * LANES;
        let size = ROWS * columns.len() * self.rounding.to.storage_bytes();
        let mut packed = Vec::new();
        for (first, block) in columns.chunks(block).enumerate().map(|(i, b)| (i * block, b)) {
            if self.stop.is_set() {
                return;
            }
            packed.clear();
            packed.resize(block.len().div_ceil(LANES) * panel, K::Word::default());
            let at_once = |least: usize| if parallel { least.max(1) } else { usize::MAX };
            let least = at_once(WORTH_A_THREAD / (TOGETHER * panel));
            parts(&mut packed, (TOGETHER * panel, least), |i, panels| {
                self.pack_columns(rhs_batches[batch], &block[i * TOGETHER * LANES..], panels);
            });
            let mut norms = vec![[0.0; LANES]; packed.len() / panel];
            parts(&mut norms, (TOGETHER, least), |i, some| {
                let panels = packed[i * TOGETHER * panel..].chunks_exact(panel);
                for (norms, panel) in some.iter_mut().zip(panels) {
                    *norms = norms_of::<K, PLANES>(panel);
                }
            });
            parts(out, (size, at_once(1)), |at, out| {
                self.rows(batch, at * ROWS, (first, &packed, &norms), out);
            });
        }
    }

    /// Words of a packed panel: every term of four rows or columns.
    fn panel_words(&self) -> usize {
        self.plan.rhs_terms.len() * PLANES * LANES
    }

    /// Every term of some columns. Neighbours in memory are often columns, so each term visits all
    /// of them.
    fn pack_columns(&self, start: usize, columns: &[usize], panels: &mut [K::Word]) {
        let panel = self.panel_words();
        for (i, &term) in self.plan.rhs_terms.iter().enumerate() {
            let at = start + term;
            let panels = panels.chunks_exact_mut(panel).zip(columns.chunks(LANES));
            for (panel, columns) in panels {
                let words = &mut panel[i * PLANES * LANES..(i + 1) * PLANES * LANES];
                for (lane, &column) in columns.iter().enumerate() {
                    let packed = K::pack(self.rhs[at + column]);
                    for (plane, word) in packed.into_iter().enumerate() {
                        words[plane * LANES + lane] = word;
                    }
                }
            }
        }
    }

    /// Every term of up to four rows from `row`; padding becomes zeros. Returns the norms of the
    /// rows.
    fn pack_rows(
        &self,
        batch: usize,
        row: usize,
        offsets: &mut [usize],
        panel: &mut [K::Word],
    ) -> Norms {
        let lanes = LANES.min(self.plan.rows - row);
        if lanes < LANES {
            panel.fill(K::Word::default());
        }
        for lane in 0..lanes {
            (self.plan.lhs)(batch, row + lane, offsets);
            for (words, &offset) in panel.chunks_exact_mut(PLANES * LANES).zip(&*offsets) {
                let packed = if offset == PADDING {
                    [K::Word::default(); PLANES]
                } else {
                    K::pack(self.lhs[offset])
                };
                for (plane, word) in packed.into_iter().enumerate() {
                    words[plane * LANES + lane] = word;
                }
            }
        }
        norms_of::<K, PLANES>(panel)
    }

    /// The rows from `row` on that `out` has room for, in the columns that are packed from `first`
    /// on.
    fn rows(
        &self,
        batch: usize,
        row: usize,
        (first, packed, norms): (usize, &[K::Word], &[Norms]),
        out: &mut [u8],
    ) {
        let width = self.rounding.to.storage_bytes();
        let line = self.plan.rhs_columns.len() * width;
        let panel = self.panel_words();
        let mut offsets = vec![PADDING; self.plan.rhs_terms.len()];
        let mut rows = vec![K::Word::default(); panel];
        for (tile_row, out) in out.chunks_mut(LANES * line).enumerate() {
            if self.stop.is_set() {
                return;
            }
            let row = row + tile_row * LANES;
            let row_norms = self.pack_rows(batch, row, &mut offsets, &mut rows);
            for (i, (columns, norms)) in packed.chunks_exact(panel).zip(norms).enumerate() {
                let tile = K::tile(&rows, columns);
                let column = first + i * LANES;
                let lines = tile.into_iter().zip(row_norms).zip(out.chunks_exact_mut(line));
                for (lane, ((sums, row_norm), line)) in lines.enumerate() {
                    let slots = line[column * width..].chunks_exact_mut(width);
                    for (j, ((sum, norm), slot)) in
                        sums.into_iter().zip(norms).zip(slots).enumerate()
                    {
                        if !self.decide(sum, row_norm * norm, slot) {
                            let offsets = self.row_offsets(batch, row + lane);
                            let column = self.plan.rhs_columns[column + j];
                            self.write_exact(batch, &offsets, column, slot);
                        }
                    }
                }
            }
        }
    }
}

impl<K: SingleSums<PLANES>, const PLANES: usize> Job<'_, K, PLANES> {
    /// One batch, a sum a column: for few rows, and for numbers that cannot be packed.
    pub(super) fn direct(&self, batch: usize, out: &mut [u8], parallel: bool) {
        if let (&[column], Some(runs)) = (self.plan.rhs_columns, self.plan.runs) {
            return self.one_column(batch, (column, runs), out, parallel);
        }
        self.for_rows(out, parallel, |row, columns, out| {
            self.direct_row(batch, row, columns, out);
        });
    }

    /// One batch of one column, whose elements are put in the order of the terms once for all rows.
    fn one_column(
        &self,
        batch: usize,
        (column, runs): (usize, TermRuns<'_>),
        out: &mut [u8],
        parallel: bool,
    ) {
        let start = self.plan.rhs_batches[batch] + column;
        let elements: Vec<K::Stored> =
            self.plan.rhs_terms.iter().map(|&term| self.rhs[start + term]).collect();
        self.for_rows(out, parallel, |row, _, slot| {
            let mut list = Vec::new();
            (runs.of)(batch, row, &mut list);
            let (mut sum, mut magnitude) = (K::zero(), 0.0);
            for TermRun { term, lhs, count } in list {
                let rhs = &elements[term..term + count];
                if runs.step == 1 {
                    for (&a, &b) in self.lhs[lhs..lhs + count].iter().zip(rhs) {
                        magnitude += K::add(&mut sum, a, b);
                    }
                } else {
                    for (&a, &b) in self.lhs[lhs..].iter().step_by(runs.step).zip(rhs) {
                        magnitude += K::add(&mut sum, a, b);
                    }
                }
            }
            if !self.decide(sum, magnitude, slot) {
                self.write_exact(batch, &self.row_offsets(batch, row), column, slot);
            }
        });
    }

    /// Some columns of a row. Every sum adds its terms in order, whichever loop is outside.
    fn direct_row(&self, batch: usize, row: usize, columns: &[usize], out: &mut [u8]) {
        let offsets = self.row_offsets(batch, row);
        let mut sums = vec![K::zero(); columns.len()];
        let mut magnitudes = vec![0.0; columns.len()];
        // The loop inside runs along the operand's memory.
        let step =
            |list: &[usize]| list.get(1).map_or(usize::MAX, |second| second.abs_diff(list[0]));
        if step(columns) < step(self.plan.rhs_terms) {
            for (element, at) in self.terms(batch, &offsets).take_while(|_| !self.stop.is_set()) {
                for ((sum, magnitude), &column) in sums.iter_mut().zip(&mut magnitudes).zip(columns)
                {
                    *magnitude += K::add(sum, element, self.rhs[at + column]);
                }
            }
        } else {
            for ((sum, magnitude), &column) in sums.iter_mut().zip(&mut magnitudes).zip(columns) {
                if self.stop.is_set() {
                    return;
                }
                for (element, at) in self.terms(batch, &offsets) {
                    *magnitude += K::add(sum, element, self.rhs[at + column]);
                }
            }
        }
        let slots = out.chunks_exact_mut(self.rounding.to.storage_bytes());
        let sums = sums.into_iter().zip(magnitudes);
        for (((sum, magnitude), slot), &column) in sums.zip(slots).zip(columns) {
            if !self.decide(sum, magnitude, slot) {
                self.write_exact(batch, &offsets, column, slot);
            }
        }
    }
}
