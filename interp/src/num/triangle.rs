//! Cholesky factors and triangular systems in f64, in tiles of registers.
//!
//! A matrix is stored in panels of [`WIDTH`] columns, row after row, so that a tile reads its terms one after another.
//! Products and sums are rounded one by one and in the order of the rows: the bits are the same with every instruction set.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use super::loops::instruction_set::{self, Task};
use crate::clock::Stop;
use rayon::prelude::*;

/// Columns of a panel.
const WIDTH: usize = 16;
/// Rows of a tile.
const ROWS: usize = 4;
/// Rows from which on the panels of a system are solved by several threads.
const WORTH_A_THREAD: usize = 64;

/// A matrix in panels of columns, with zeros after the last row and column.
#[derive(Debug, Clone)]
pub(crate) struct Panels {
    /// Rows of a panel, a multiple of those of a tile.
    rows: usize,
    cells: Vec<[f64; WIDTH]>,
}

impl Panels {
    /// Returns the matrix of these elements.
    pub(crate) fn new(rows: usize, columns: usize, element: impl Fn(usize, usize) -> f64) -> Self {
        let stored = rows.next_multiple_of(ROWS);
        let mut cells = vec![[0.0; WIDTH]; stored * columns.div_ceil(WIDTH)];
        for (panel, cells) in cells.chunks_exact_mut(stored.max(1)).enumerate() {
            let first = panel * WIDTH;
            let count = WIDTH.min(columns - first);
            for (i, row) in cells[..rows].iter_mut().enumerate() {
                for (j, x) in row[..count].iter_mut().enumerate() {
                    *x = element(i, first + j);
                }
            }
        }
        Self { rows: stored, cells }
    }
    /// Bytes of a matrix.
    pub(crate) fn bytes(rows: usize, columns: usize) -> usize {
        rows.saturating_add(ROWS).saturating_mul(columns.saturating_add(WIDTH)).saturating_mul(8)
    }
    /// Returns an element.
    #[inline]
    pub(crate) fn at(&self, i: usize, j: usize) -> f64 {
        self.cells[j / WIDTH * self.rows + i][j % WIDTH]
    }

    /// Replaces the upper triangle of a symmetric matrix of `n` rows by its factor U, of which `U^T U` is the matrix; the lower
    /// triangle is neither read nor defined. Returns the first row whose pivot is not accepted, and the pivot; no row from there
    /// on is defined.
    pub(crate) fn factor(
        &mut self,
        n: usize,
        accepts: impl Fn(f64) -> bool,
    ) -> Result<(), (usize, f64)> {
        let stop = Stop::current();
        let mut factors = Vec::with_capacity(n);
        for first in (0..n).step_by(ROWS).take_while(|_| !stop.is_set()) {
            factors.clear();
            let diagonal = &self.cells[first / WIDTH * self.rows..][..first];
            factors.extend(diagonal.iter().map(|row| {
                let lanes = row[first % WIDTH..].first_chunk::<ROWS>();
                *lanes.expect("a tile is within a panel")
            }));
            for panel in self.cells.chunks_exact_mut(self.rows).skip(first / WIDTH) {
                let (done, rest) = panel.split_at_mut(first);
                subtract(done, &factors, rest);
            }
            for i in first..(first + ROWS).min(n) {
                let pivot = self.at(i, i);
                if !accepts(pivot) {
                    return Err((i, pivot));
                }
                let root = pivot.sqrt();
                for panel in self.cells.chunks_exact_mut(self.rows).skip(first / WIDTH) {
                    panel[i].iter_mut().for_each(|x| *x /= root);
                }
                for later in i + 1..(first + ROWS).min(n) {
                    let factor = self.at(i, later);
                    for panel in self.cells.chunks_exact_mut(self.rows).skip(first / WIDTH) {
                        subtract_row(panel, i, factor, later);
                    }
                }
            }
        }
        Ok(())
    }

    /// Replaces the columns by the solutions of `n` equations each, of the lower triangle of these elements. Its diagonal is
    /// taken to be ones if `is_unit`.
    pub(crate) fn solve(
        &mut self,
        n: usize,
        is_unit: bool,
        triangle: impl Fn(usize, usize) -> f64 + Sync,
    ) {
        if self.cells.is_empty() {
            return;
        }
        // The factors of each row of tiles, and those within it.
        let mut factors = Vec::with_capacity(n * (n + ROWS) / (2 * ROWS));
        for first in (0..n).step_by(ROWS) {
            let row = |k: usize, r: usize| if first + r < n { triangle(first + r, k) } else { 0.0 };
            factors.extend((0..first).map(|k| std::array::from_fn(|r| row(k, r))));
        }
        let stop = Stop::current();
        let panels = self.cells.par_chunks_exact_mut(self.rows);
        let at_once = if n < WORTH_A_THREAD { usize::MAX } else { 1 };
        panels.with_min_len(at_once).for_each(|panel| {
            let mut rest: &[[f64; ROWS]] = &factors;
            for first in (0..n).step_by(ROWS).take_while(|_| !stop.is_set()) {
                let (factors, others) = rest.split_at(first);
                rest = others;
                let (done, rows) = panel.split_at_mut(first);
                subtract(done, factors, rows);
                let end = (first + ROWS).min(n);
                for i in first..end {
                    if !is_unit {
                        let divisor = triangle(i, i);
                        panel[i].iter_mut().for_each(|x| *x /= divisor);
                    }
                    for later in i + 1..end {
                        subtract_row(panel, i, triangle(later, i), later);
                    }
                }
            }
        });
    }
    /// Bytes that solving takes beside the panels.
    pub(crate) fn solve_bytes(n: usize) -> usize {
        n.saturating_add(ROWS).saturating_mul(n.saturating_add(ROWS)).saturating_mul(4)
    }
}

/// Subtracts a multiple of row `from` from row `to`.
fn subtract_row(panel: &mut [[f64; WIDTH]], from: usize, factor: f64, to: usize) {
    let row = panel[from];
    panel[to].iter_mut().zip(row).for_each(|(x, y)| *x -= factor * y);
}

/// Subtracts from the first rows of `rest` the sums of multiples of the rows in `done`.
fn subtract(done: &[[f64; WIDTH]], factors: &[[f64; ROWS]], rest: &mut [[f64; WIDTH]]) {
    let rows = rest.first_chunk_mut().expect("a tile is within a panel");
    instruction_set::run(Subtract { done, factors, rows });
}

struct Subtract<'a> {
    done: &'a [[f64; WIDTH]],
    factors: &'a [[f64; ROWS]],
    rows: &'a mut [[f64; WIDTH]; ROWS],
}

impl Task for Subtract<'_> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        // Four variables stay in registers; an array does not.
        let [mut a, mut b, mut c, mut d] = *self.rows;
        for (row, factors) in self.done.iter().zip(self.factors) {
            a = minus(a, factors[0], row);
            b = minus(b, factors[1], row);
            c = minus(c, factors[2], row);
            d = minus(d, factors[3], row);
        }
        *self.rows = [a, b, c, d];
    }
}

#[inline(always)]
fn minus(mut sums: [f64; WIDTH], factor: f64, row: &[f64; WIDTH]) -> [f64; WIDTH] {
    for i in 0..WIDTH {
        sums[i] -= factor * row[i];
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers of moderate size.
    fn number(i: usize, j: usize) -> f64 {
        let x = u32::try_from((i * 131 + j * 37) % 1009).unwrap();
        f64::from(x) / 1009.0 - 0.5
    }

    #[test]
    fn factors_multiply_back() {
        for n in [0, 1, 3, 4, 5, 16, 17, 33, 70] {
            let matrix = |i: usize, j: usize| {
                let sum: f64 = (0..n).map(|k| number(k, i) * number(k, j)).sum();
                if i == j { sum + 1.0 } else { sum }
            };
            let mut factor = Panels::new(n, n, |i, j| if i <= j { matrix(i, j) } else { f64::NAN });
            factor.factor(n, |pivot| pivot > 0.0).unwrap();
            for j in 0..n {
                for i in 0..=j {
                    let found: f64 = (0..=i).map(|k| factor.at(k, i) * factor.at(k, j)).sum();
                    assert!((found - matrix(i, j)).abs() < 1e-12, "{n}: {i} {j}");
                }
            }
        }
        let mut flat = Panels::new(6, 6, |_, _| 1.0);
        assert_eq!(flat.factor(6, |pivot| pivot > 0.0), Err((1, 0.0)));
    }

    #[test]
    fn solutions_fit_their_systems() {
        for (n, systems) in [(0, 2), (1, 1), (5, 0), (7, 3), (16, 16), (70, 40)] {
            for is_unit in [false, true] {
                let triangle = |i: usize, j: usize| {
                    let x = number(i, j) / 8.0;
                    if i == j { if is_unit { 1.0 } else { x + 2.0 } } else { x }
                };
                let read = |i: usize, j: usize| match i == j && is_unit || i < j {
                    true => f64::NAN,
                    false => triangle(i, j),
                };
                let mut x = Panels::new(n, systems, number);
                x.solve(n, is_unit, read);
                for s in 0..systems {
                    for i in 0..n {
                        let found: f64 = (0..=i).map(|k| triangle(i, k) * x.at(k, s)).sum();
                        assert!((found - number(i, s)).abs() < 1e-12, "{n}: {i} {s}");
                    }
                }
            }
        }
    }
}
