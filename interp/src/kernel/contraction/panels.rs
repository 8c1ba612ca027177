//! The loops: operands packed as panels of four rows or columns, tiles of four by four, blocks in parallel.
use super::kernel::{Kernel, LANES};
use super::{PADDING, Plan, Rounding};
use rayon::prelude::*;

/// Rows a thread takes at a time.
const ROWS: usize = 8 * LANES;
/// Words of the right operand that are packed at a time: they should stay in a cache that threads share.
const PACKED_WORDS: usize = 1 << 19;
/// Panels of columns that are packed together: with so many a line of a cache is read once.
const TOGETHER: usize = 16;
/// Multiplications that are worth waking another thread for.
const WORTH_A_THREAD: usize = 1 << 15;

/// All sums of the plan, into the bytes of the result.
pub(super) fn run<K: Kernel<PLANES>, const PLANES: usize>(
    plan: &Plan<'_>,
    lhs: &[K::Stored],
    rhs: &[K::Stored],
    rounding: Rounding,
    out: &mut [u8],
) {
    if out.is_empty() {
        return;
    }
    let job = Job::<K, PLANES> { plan, lhs, rhs, rounding };
    // A tile has four rows; a sum with its errors costs more outside of one than three rows that are not there.
    let few = if PLANES > 1 { 1 } else { 2 };
    let single = plan.rows.min(plan.rhs_columns.len()) < few
        || plan.rows == 1 && plan.rhs_columns.len() == 1;
    let packs = !single && !plan.rhs_terms.is_empty() && job.can_be_packed();
    let parallel = plan.work() >= 2 * WORTH_A_THREAD;
    let one_by_one = plan.batch_work() >= WORTH_A_THREAD;
    let size = plan.rows * plan.rhs_columns.len() * rounding.to.storage_bytes();
    let batch = |(batch, out): (usize, &mut [u8])| {
        let parallel = parallel && one_by_one;
        if packs { job.packed(batch, out, parallel) } else { job.direct(batch, out, parallel) }
    };
    if parallel {
        let least = (WORTH_A_THREAD / plan.batch_work().max(1)).max(1);
        out.par_chunks_mut(size).enumerate().with_min_len(least).for_each(batch);
    } else {
        out.chunks_mut(size).enumerate().for_each(batch);
    }
}

struct Job<'a, K: Kernel<PLANES>, const PLANES: usize> {
    plan: &'a Plan<'a>,
    lhs: &'a [K::Stored],
    rhs: &'a [K::Stored],
    rounding: Rounding,
}

impl<K: Kernel<PLANES>, const PLANES: usize> Job<'_, K, PLANES> {
    /// Whether the tiles' arithmetic gives what the sums' own would.
    fn can_be_packed(&self) -> bool {
        let mut operands = self.lhs.iter().chain(self.rhs);
        operands.all(|&x| K::packable(x))
            && (!self.plan.has_padding || self.rhs.iter().all(|&x| K::finite(x)))
    }

    /// One batch, a sum a column: for few rows, and for numbers that cannot be packed.
    ///
    /// A single row is divided by columns, so that threads have something to share out.
    fn direct(&self, batch: usize, out: &mut [u8], parallel: bool) {
        const COLUMNS: usize = 256;
        let Plan { rows, rhs_columns, .. } = *self.plan;
        let columns = if rows == 1 { COLUMNS.min(rhs_columns.len()) } else { rhs_columns.len() };
        let part = |(part, out): (usize, &mut [u8])| {
            if rows == 1 {
                let columns = rhs_columns.chunks(columns).nth(part).unwrap_or(&[]);
                self.direct_row(batch, 0, columns, out);
            } else {
                self.direct_row(batch, part, rhs_columns, out);
            }
        };
        let size = columns * self.rounding.to.storage_bytes();
        if parallel {
            out.par_chunks_mut(size).enumerate().for_each(part);
        } else {
            out.chunks_mut(size).enumerate().for_each(part);
        }
    }

    /// Some columns of a row. Every sum adds its terms in order, whichever loop is outside.
    fn direct_row(&self, batch: usize, row: usize, columns: &[usize], out: &mut [u8]) {
        let Plan { rhs_batches, rhs_terms, .. } = *self.plan;
        let mut offsets = vec![PADDING; rhs_terms.len()];
        (self.plan.lhs)(batch, row, &mut offsets);
        let start = rhs_batches[batch];
        let mut sums = vec![K::zero(); columns.len()];
        let terms = || {
            let terms = offsets.iter().zip(rhs_terms).filter(|&(&offset, _)| offset != PADDING);
            terms.map(|(&offset, &term)| (self.lhs[offset], start + term))
        };
        // The loop inside runs along the operand's memory.
        let step =
            |list: &[usize]| list.get(1).map_or(usize::MAX, |second| second.abs_diff(list[0]));
        if step(columns) < step(rhs_terms) {
            for (element, at) in terms() {
                for (sum, &column) in sums.iter_mut().zip(columns) {
                    K::add(sum, element, self.rhs[at + column]);
                }
            }
        } else {
            for (sum, &column) in sums.iter_mut().zip(columns) {
                for (element, at) in terms() {
                    K::add(sum, element, self.rhs[at + column]);
                }
            }
        }
        let slots = out.chunks_exact_mut(self.rounding.to.storage_bytes());
        for (sum, slot) in sums.into_iter().zip(slots) {
            self.rounding.write(K::finish(sum), slot);
        }
    }

    /// One batch, in blocks of columns that are packed once and rows that threads share out.
    fn packed(&self, batch: usize, out: &mut [u8], parallel: bool) {
        let Plan { rhs_batches, rhs_columns: columns, .. } = *self.plan;
        let panel = self.panel_words();
        let block = (PACKED_WORDS / panel).max(8) * LANES;
        let size = ROWS * columns.len() * self.rounding.to.storage_bytes();
        let mut packed = Vec::new();
        for (first, block) in columns.chunks(block).enumerate().map(|(i, b)| (i * block, b)) {
            packed.clear();
            packed.resize(block.len().div_ceil(LANES) * panel, K::Word::default());
            let pack = |(columns, panel): (&[usize], &mut [K::Word])| {
                self.pack_columns(rhs_batches[batch], columns, panel);
            };
            if parallel {
                let panels =
                    block.par_chunks(TOGETHER * LANES).zip(packed.par_chunks_mut(TOGETHER * panel));
                panels.with_min_len((WORTH_A_THREAD / (TOGETHER * panel)).max(1)).for_each(pack);
            } else {
                block
                    .chunks(TOGETHER * LANES)
                    .zip(packed.chunks_mut(TOGETHER * panel))
                    .for_each(pack);
            }
            let rows = |(at, out): (usize, &mut [u8])| {
                self.rows(batch, at * ROWS, (first, &packed), out);
            };
            if parallel {
                out.par_chunks_mut(size).enumerate().for_each(rows);
            } else {
                out.chunks_mut(size).enumerate().for_each(rows);
            }
        }
    }

    /// Words of a packed panel: every term of four rows or columns.
    fn panel_words(&self) -> usize {
        self.plan.rhs_terms.len() * PLANES * LANES
    }

    /// Every term of some columns. Neighbours in memory are often columns, so each term visits all of them.
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

    /// Every term of up to four rows from `row`; padding becomes zeros.
    fn pack_rows(&self, batch: usize, row: usize, offsets: &mut [usize], panel: &mut [K::Word]) {
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
    }

    /// The rows from `row` on that `out` has room for, in the columns that are packed from `first` on.
    fn rows(&self, batch: usize, row: usize, (first, packed): (usize, &[K::Word]), out: &mut [u8]) {
        let width = self.rounding.to.storage_bytes();
        let line = self.plan.rhs_columns.len() * width;
        let panel = self.panel_words();
        let mut offsets = vec![PADDING; self.plan.rhs_terms.len()];
        let mut rows = vec![K::Word::default(); panel];
        for (tile_row, out) in out.chunks_mut(LANES * line).enumerate() {
            self.pack_rows(batch, row + tile_row * LANES, &mut offsets, &mut rows);
            for (tile_column, columns) in packed.chunks_exact(panel).enumerate() {
                let tile = K::tile(&rows, columns);
                let start = (first + tile_column * LANES) * width;
                for (sums, line) in tile.into_iter().zip(out.chunks_exact_mut(line)) {
                    let slots = line[start..].chunks_exact_mut(width);
                    for (sum, slot) in sums.into_iter().zip(slots) {
                        self.rounding.write(K::finish(sum), slot);
                    }
                }
            }
        }
    }
}
