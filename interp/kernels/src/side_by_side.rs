//! Small matrices side by side: each lane of a vector has a matrix of its own, so that one
//! operation serves as many matrices.
//!
//! The operations of a matrix are those of [`crate::triangle`] and their order is the same, so that
//! the bits are, too.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use crate::triangle::{FactorType, WIDTH};
use num::loops::instruction_set::{self, Task};

/// Matrices that are side by side.
pub const MATRICES: usize = WIDTH;
/// Rows and columns up to which matrices are faster side by side.
pub const LARGEST: usize = 32;

/// As many matrices of the same size as a vector has lanes.
pub struct SideBySide<R: FactorType> {
    columns: usize,
    cells: Vec<R::Row>,
}

impl<R: FactorType> SideBySide<R> {
    /// Returns the first `count` matrices, whose elements `element` has by matrix, row and column; the
    /// other lanes have the last one.
    pub fn new(
        count: usize,
        [rows, columns]: [usize; 2],
        element: impl Fn(usize, usize, usize) -> R,
    ) -> Self {
        let mut cells = vec![R::ZEROS; rows * columns];
        for lane in 0..MATRICES {
            let matrix = lane.min(count - 1);
            for i in 0..rows {
                for j in 0..columns {
                    R::set(&mut cells[i * columns + j], lane, element(matrix, i, j));
                }
            }
        }
        Self { columns, cells }
    }
    /// Returns the bytes of matrices of this size.
    pub fn bytes(rows: usize, columns: usize) -> usize {
        rows.saturating_mul(columns).saturating_mul(size_of::<R::Row>())
    }
    /// Returns an element of a matrix.
    #[inline]
    pub fn at(&self, matrix: usize, (i, j): (usize, usize)) -> R {
        R::at(&self.cells[i * self.columns + j], matrix)
    }

    /// Replaces upper triangles of Hermitian matrices by their factors U, of which `U^H U` is the
    /// matrix, and returns the pivots of each row. Lower triangles are neither read nor changed.
    /// Rows of a matrix after a pivot that is not positive are not defined.
    pub fn factor(&mut self) -> Pivots<R> {
        let n = self.columns;
        let mut pivots = vec![R::ZEROS; n];
        instruction_set::run(Factor::<R> { n, cells: &mut self.cells, pivots: &mut pivots });
        Pivots(pivots)
    }
    /// Replaces columns by the solutions of the equations of lower triangles, whose diagonals are
    /// taken to be ones if `is_unit`.
    pub fn solve(&mut self, triangles: &Self, is_unit: bool) {
        let (n, systems) = (triangles.columns, self.columns);
        let (triangles, cells) = (&triangles.cells, &mut self.cells);
        instruction_set::run(Solve::<R> { n, systems, is_unit, triangles, cells });
    }
    /// Eliminates with exchanged rows: each pivot is the first of the largest elements of its column,
    /// `|re| + |im|` being the size of a complex number. The triangles below the diagonal are those
    /// of L, whose diagonal of ones is not stored. Returns the pivots, and the row that each step of
    /// a matrix exchanged with. A matrix with a pivot of 0 is not defined.
    pub fn eliminate(&mut self) -> (Pivots<R>, Vec<[usize; MATRICES]>) {
        let columns = self.columns;
        let rows = self.cells.len().checked_div(columns).unwrap_or(0);
        let mut exchanged = Vec::with_capacity(rows.min(columns));
        let cells = &mut self.cells;
        instruction_set::run(Eliminate::<R> { rows, columns, cells, exchanged: &mut exchanged });
        let pivots = (0..exchanged.len()).map(|i| self.cells[i * columns + i]).collect();
        (Pivots(pivots), exchanged)
    }
}

/// The pivots of matrices, row by row.
pub struct Pivots<R: FactorType>(Vec<R::Row>);

impl<R: FactorType> Pivots<R> {
    /// Returns whether all pivots of a matrix are accepted.
    pub fn all(&self, matrix: usize, accepts: impl Fn(R) -> bool) -> bool {
        self.0.iter().all(|row| accepts(R::at(row, matrix)))
    }
}

struct Factor<'a, R: FactorType> {
    n: usize,
    cells: &'a mut [R::Row],
    pivots: &'a mut [R::Row],
}

impl<R: FactorType> Task for Factor<'_, R> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { n, cells, pivots } = self;
        for i in 0..n {
            let (done, rest) = cells.split_at_mut(i * n);
            let row = &mut rest[..n];
            for k in 0..i {
                let above = &done[k * n..][..n];
                let factor = R::conj_each(&above[i]);
                for j in i..n {
                    row[j] = R::minus_each(row[j], &factor, &above[j]);
                }
            }
            pivots[i] = row[i];
            let root = R::root_each(&row[i]);
            for x in &mut row[i..] {
                *x = R::over_each(*x, &root);
            }
        }
    }
}

struct Solve<'a, R: FactorType> {
    n: usize,
    systems: usize,
    is_unit: bool,
    triangles: &'a [R::Row],
    cells: &'a mut [R::Row],
}

impl<R: FactorType> Task for Solve<'_, R> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { n, systems, is_unit, triangles, cells } = self;
        for i in 0..n {
            let (done, rest) = cells.split_at_mut(i * systems);
            let row = &mut rest[..systems];
            let factors = &triangles[i * n..][..=i];
            for k in 0..i {
                let before = &done[k * systems..][..systems];
                for s in 0..systems {
                    row[s] = R::minus_each(row[s], &factors[k], &before[s]);
                }
            }
            if !is_unit {
                for x in row {
                    *x = R::over_each(*x, &factors[i]);
                }
            }
        }
    }
}

struct Eliminate<'a, R: FactorType> {
    rows: usize,
    columns: usize,
    cells: &'a mut [R::Row],
    exchanged: &'a mut Vec<[usize; MATRICES]>,
}

impl<R: FactorType> Task for Eliminate<'_, R> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { rows, columns, cells, exchanged } = self;
        for j in 0..rows.min(columns) {
            let mut best = [j; MATRICES];
            let mut largest = R::size_each(&cells[j * columns + j]);
            for i in j + 1..rows {
                let sizes = R::size_each(&cells[i * columns + j]);
                for lane in 0..MATRICES {
                    let is_larger = sizes[lane] > largest[lane];
                    best[lane] = if is_larger { i } else { best[lane] };
                    largest[lane] = if is_larger { sizes[lane] } else { largest[lane] };
                }
            }
            for (lane, &row) in best.iter().enumerate().filter(|&(_, &row)| row != j) {
                for c in 0..columns {
                    let (x, y) = (cells[j * columns + c], cells[row * columns + c]);
                    R::set(&mut cells[j * columns + c], lane, R::at(&y, lane));
                    R::set(&mut cells[row * columns + c], lane, R::at(&x, lane));
                }
            }
            exchanged.push(best);
            let (done, rest) = cells.split_at_mut((j + 1) * columns);
            let pivots = &done[j * columns..];
            for row in rest.chunks_exact_mut(columns) {
                let factor = R::over_each(row[j], &pivots[j]);
                row[j] = factor;
                for c in j + 1..columns {
                    row[c] = R::minus_each(row[c], &factor, &pivots[c]);
                }
            }
        }
    }
}
