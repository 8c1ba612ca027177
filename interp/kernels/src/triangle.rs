//! Cholesky factors and triangular systems in f32 or f64, real or complex, in tiles of registers.
//!
//! A matrix is stored in panels of `WIDTH` columns, row after row, so that a tile reads its terms
//! one after another; of complex numbers, the real parts of a row lie before the imaginary ones. Products and sums are rounded one by one and in the order of the rows: the
//! bits are the same with every instruction set.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use crate::cost_model;
use hlo::literal::Native;
use hlo::op::Binary;
use hlo::{ElementType, Scalar};
use num::clock::Stop;
use num::exact::pow2;
use num::loops::instruction_set::{self, Task};
use num::parallel::parts;
use num::single::to_f32;

/// Columns of a panel.
pub(crate) const WIDTH: usize = 16;
/// Rows of a tile.
const ROWS: usize = 4;

/// A type in which factors and solutions are computed.
pub trait FactorType: Native + PartialEq + Send + Sync {
    /// The numbers of a row of a panel.
    type Row: Copy + Send + Sync;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// Not a number.
    const NAN: Self;
    /// A row of zeros.
    const ZEROS: Self::Row;
    /// Returns a number of a row.
    fn at(row: &Self::Row, j: usize) -> Self;
    /// Replaces a number of a row.
    fn set(row: &mut Self::Row, j: usize, x: Self);
    /// Returns `sums - factor * row`.
    fn minus(sums: Self::Row, factor: Self, row: &Self::Row) -> Self::Row;
    /// Returns the row divided by a number.
    fn over(row: Self::Row, divisor: Self) -> Self::Row;
    /// Returns `sums - factors * row`, number by number.
    fn minus_each(sums: Self::Row, factors: &Self::Row, row: &Self::Row) -> Self::Row;
    /// Returns the row divided by another, number by number.
    fn over_each(row: Self::Row, divisors: &Self::Row) -> Self::Row;
    /// Returns the complex conjugates.
    fn conj_each(row: &Self::Row) -> Self::Row;
    /// Returns the square roots of the real parts.
    fn root_each(row: &Self::Row) -> Self::Row;
    /// Returns `|re| + |im|` of each number.
    fn size_each(row: &Self::Row) -> [f64; WIDTH];
    /// Returns the complex conjugate.
    #[must_use]
    fn conj(self) -> Self;
    /// Returns the real part.
    fn re(self) -> f64;
    /// Returns the number without its imaginary part.
    #[must_use]
    fn real_part(self) -> Self;
    /// Returns the square root of the real part.
    #[must_use]
    fn root(self) -> Self;
}
macro_rules! numbers {
    ($($ty:ident $narrow:expr;)*) => {$(
        impl FactorType for $ty {
            type Row = [$ty; WIDTH];
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            const NAN: Self = $ty::NAN;
            const ZEROS: Self::Row = [0.0; WIDTH];
            #[inline(always)]
            fn at(row: &Self::Row, j: usize) -> Self {
                row[j]
            }
            #[inline(always)]
            fn set(row: &mut Self::Row, j: usize, x: Self) {
                row[j] = x;
            }
            #[inline(always)]
            fn minus(mut sums: Self::Row, factor: Self, row: &Self::Row) -> Self::Row {
                for i in 0..WIDTH {
                    sums[i] -= factor * row[i];
                }
                sums
            }
            #[inline(always)]
            fn over(mut row: Self::Row, divisor: Self) -> Self::Row {
                for x in &mut row {
                    *x /= divisor;
                }
                row
            }
            #[inline(always)]
            fn minus_each(mut sums: Self::Row, factors: &Self::Row, row: &Self::Row) -> Self::Row {
                for i in 0..WIDTH {
                    sums[i] -= factors[i] * row[i];
                }
                sums
            }
            #[inline(always)]
            fn over_each(mut row: Self::Row, divisors: &Self::Row) -> Self::Row {
                for i in 0..WIDTH {
                    row[i] /= divisors[i];
                }
                row
            }
            #[inline(always)]
            fn conj_each(row: &Self::Row) -> Self::Row {
                *row
            }
            #[inline(always)]
            fn root_each(row: &Self::Row) -> Self::Row {
                row.map($ty::sqrt)
            }
            #[inline(always)]
            fn size_each(row: &Self::Row) -> [f64; WIDTH] {
                row.map(|x| x.abs().into())
            }
            #[inline]
            fn conj(self) -> Self {
                self
            }
            #[inline]
            fn re(self) -> f64 {
                self.into()
            }
            #[inline]
            fn real_part(self) -> Self {
                self
            }
            #[inline]
            fn root(self) -> Self {
                self.sqrt()
            }
        }
        impl FactorType for [$ty; 2] {
            /// The real parts, and the imaginary ones.
            type Row = [[$ty; WIDTH]; 2];
            const ZERO: Self = [0.0; 2];
            const ONE: Self = [1.0, 0.0];
            const NAN: Self = [$ty::NAN, 0.0];
            const ZEROS: Self::Row = [[0.0; WIDTH]; 2];
            #[inline(always)]
            fn at(row: &Self::Row, j: usize) -> Self {
                [row[0][j], row[1][j]]
            }
            #[inline(always)]
            fn set(row: &mut Self::Row, j: usize, [re, im]: Self) {
                row[0][j] = re;
                row[1][j] = im;
            }
            #[inline(always)]
            fn minus(mut sums: Self::Row, factor: Self, row: &Self::Row) -> Self::Row {
                let ([re, im], [a, b]) = (row, factor);
                for i in 0..WIDTH {
                    sums[0][i] = sums[0][i] - a * re[i] + b * im[i];
                    sums[1][i] = sums[1][i] - a * im[i] - b * re[i];
                }
                sums
            }
            #[inline(always)]
            fn over(mut row: Self::Row, divisor: Self) -> Self::Row {
                if divisor[1] == 0.0 {
                    return row.map(|parts| $ty::over(parts, divisor[0]));
                }
                let [c, d]: [f64; 2] = divisor.map(f64::from);
                let norm = c * c + d * d;
                // The parts of the quotients, and of the reciprocal, are far from the ends of the range.
                if !(pow2(-120)..pow2(120)).contains(&norm) {
                    let [re, im] = &mut row;
                    for (re, im) in re.iter_mut().zip(im) {
                        let z = Scalar::Complex((*re).into(), (*im).into());
                        let divisor = Scalar::Complex(c, d);
                        let quotient = num::binary(Binary::Divide, ElementType::C128, z, divisor);
                        if let Scalar::Complex(a, b) = quotient {
                            (*re, *im) = ($narrow(a), $narrow(b));
                        }
                    }
                    return row;
                }
                let (a, b) = ($narrow(c / norm), $narrow(-d / norm));
                let [re, im] = row;
                for i in 0..WIDTH {
                    row[0][i] = re[i] * a - im[i] * b;
                    row[1][i] = re[i] * b + im[i] * a;
                }
                row
            }
            #[inline(always)]
            fn minus_each(mut sums: Self::Row, factors: &Self::Row, row: &Self::Row) -> Self::Row {
                let ([re, im], [a, b]) = (row, factors);
                for i in 0..WIDTH {
                    sums[0][i] = sums[0][i] - a[i] * re[i] + b[i] * im[i];
                    sums[1][i] = sums[1][i] - a[i] * im[i] - b[i] * re[i];
                }
                sums
            }
            #[inline(always)]
            fn over_each(row: Self::Row, divisors: &Self::Row) -> Self::Row {
                if divisors[1].iter().all(|&d| d == 0.0) {
                    return row.map(|parts| $ty::over_each(parts, &divisors[0]));
                }
                let mut quotients = row;
                let [a, b] = &row;
                let mut is_usual = true;
                for i in 0..WIDTH {
                    let (c, d) = (f64::from(divisors[0][i]), f64::from(divisors[1][i]));
                    let norm = c * c + d * d;
                    is_usual &= (pow2(-120)..pow2(120)).contains(&norm) && d != 0.0;
                    let (x, y) = ($narrow(c / norm), $narrow(-d / norm));
                    quotients[0][i] = a[i] * x - b[i] * y;
                    quotients[1][i] = a[i] * y + b[i] * x;
                }
                if !is_usual {
                    for i in 0..WIDTH {
                        let mut own = Self::ZEROS;
                        Self::set(&mut own, 0, [a[i], b[i]]);
                        let own = Self::over(own, [divisors[0][i], divisors[1][i]]);
                        Self::set(&mut quotients, i, Self::at(&own, 0));
                    }
                }
                quotients
            }
            #[inline(always)]
            fn conj_each(row: &Self::Row) -> Self::Row {
                [row[0], row[1].map(|x| -x)]
            }
            #[inline(always)]
            fn root_each(row: &Self::Row) -> Self::Row {
                [row[0].map($ty::sqrt), [0.0; WIDTH]]
            }
            #[inline(always)]
            fn size_each(row: &Self::Row) -> [f64; WIDTH] {
                std::array::from_fn(|i| f64::from(row[0][i].abs()) + f64::from(row[1][i].abs()))
            }
            #[inline]
            fn conj(self) -> Self {
                [self[0], -self[1]]
            }
            #[inline]
            fn re(self) -> f64 {
                self[0].into()
            }
            #[inline]
            fn real_part(self) -> Self {
                [self[0], 0.0]
            }
            #[inline]
            fn root(self) -> Self {
                [self[0].sqrt(), 0.0]
            }
        }
    )*};
}
numbers! {
    f32 to_f32;
    f64 std::convert::identity;
}

/// A matrix in panels of columns, with zeros after the last row and column.
pub struct Panels<R: FactorType> {
    /// Rows of a panel, a multiple of those of a tile.
    rows: usize,
    cells: Vec<R::Row>,
}

/// The equations within a row of tiles: each row is divided, and multiples of it are subtracted
/// from the later ones.
#[derive(Clone, Copy)]
struct Corner<R> {
    divisors: [R; ROWS],
    factors: [[R; ROWS]; ROWS],
}

impl<R: FactorType> Corner<R> {
    /// Equations that change nothing.
    const NONE: Self = Self { divisors: [R::ONE; ROWS], factors: [[R::ZERO; ROWS]; ROWS] };
}

impl<R: FactorType> Panels<R> {
    /// Returns the matrix of these elements.
    #[inline]
    pub fn new(rows: usize, columns: usize, element: impl Fn(usize, usize) -> R) -> Self {
        Self::of_rows(rows, columns, |_| rows, element)
    }
    /// Returns the upper triangle of a Hermitian matrix; other elements are not asked for.
    #[inline]
    pub fn upper(n: usize, element: impl Fn(usize, usize) -> R) -> Self {
        // A panel ends with the diagonal.
        let element = |i, j| if i <= j { element(i, j) } else { R::ZERO };
        Self::of_rows(n, n, |first| n.min(first + WIDTH), element)
    }
    /// Returns the matrix whose panels have as many rows as a function of their first column says.
    fn of_rows(
        rows: usize,
        columns: usize,
        used: impl Fn(usize) -> usize,
        element: impl Fn(usize, usize) -> R,
    ) -> Self {
        let stored = rows.next_multiple_of(ROWS);
        let mut cells = vec![R::ZEROS; stored * columns.div_ceil(WIDTH)];
        for (panel, cells) in cells.chunks_exact_mut(stored.max(1)).enumerate() {
            let first = panel * WIDTH;
            let count = WIDTH.min(columns - first);
            for (i, row) in cells[..used(first)].iter_mut().enumerate() {
                (0..count).for_each(|j| R::set(row, j, element(i, first + j)));
            }
        }
        Self { rows: stored, cells }
    }
    /// Returns the bytes of a matrix.
    #[inline]
    pub fn bytes(rows: usize, columns: usize) -> usize {
        let cells = rows.saturating_add(ROWS).saturating_mul(columns.saturating_add(WIDTH));
        cells.saturating_mul(size_of::<R>())
    }
    /// Returns an element.
    #[inline]
    pub fn at(&self, i: usize, j: usize) -> R {
        R::at(&self.cells[j / WIDTH * self.rows + i], j % WIDTH)
    }
    /// Calls `each` with the elements of the first `rows` rows of the upper triangle of a matrix of
    /// `n` columns.
    pub fn for_upper(&self, rows: usize, n: usize, mut each: impl FnMut(usize, usize, R)) {
        for (panel, cells) in self.cells.chunks_exact(self.rows.max(1)).enumerate() {
            let columns = panel * WIDTH..(panel * WIDTH + WIDTH).min(n);
            for (i, row) in cells[..rows.min(columns.end)].iter().enumerate() {
                for j in columns.start.max(i)..columns.end {
                    each(i, j, R::at(row, j % WIDTH));
                }
            }
        }
    }

    /// Replaces the upper triangle of a Hermitian matrix of `n` rows by its factor U, of which
    /// `U^H U` is the matrix; the lower triangle is neither read nor defined. Returns the first row
    /// whose pivot is not accepted, and the pivot; no row from there on is defined.
    pub fn factor(&mut self, n: usize, accepts: impl Fn(R) -> bool) -> Result<(), (usize, R)> {
        let stop = Stop::current();
        let mut factors = Vec::with_capacity(n);
        for first in (0..n).step_by(ROWS).take_while(|_| !stop.is_set()) {
            let panel = first / WIDTH;
            let (diagonal, others) = self.cells.split_at_mut((panel + 1) * self.rows);
            let diagonal = &mut diagonal[panel * self.rows..];
            factors.clear();
            let lanes =
                |row: &R::Row| std::array::from_fn(|i| R::at(row, first % WIDTH + i).conj());
            factors.extend(diagonal[..first].iter().map(lanes));
            solve_tile(diagonal, first, &factors, None);
            let (corner, failure) = corner(&mut diagonal[first..], first, n, &accepts);
            let solve_tile =
                |panel: &mut [R::Row]| solve_tile(panel, first, &factors, Some(&corner));
            let is_shared = first * others.len() / self.rows >= cost_model::PANEL_ROWS;
            let size = (self.rows, if is_shared { 1 } else { usize::MAX });
            parts(others, size, |_, panel| solve_tile(panel));
            if let Some(failure) = failure {
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Replaces the columns by the solutions of `n` equations each, of the lower triangle of these
    /// elements. Its diagonal is taken to be ones if `is_unit`.
    pub fn solve(&mut self, n: usize, is_unit: bool, triangle: impl Fn(usize, usize) -> R + Sync) {
        if self.cells.is_empty() {
            return;
        }
        // The factors of each row of tiles, and those within it.
        let mut factors = Vec::with_capacity(n * (n + ROWS) / (2 * ROWS));
        let mut corners = Vec::with_capacity(n.div_ceil(ROWS));
        for first in (0..n).step_by(ROWS) {
            let row = |k: usize, r: usize| match first + r < n {
                true => triangle(first + r, k),
                false => R::ZERO,
            };
            factors.extend((0..first).map(|k| std::array::from_fn(|r| row(k, r))));
            let mut corner = Corner::NONE;
            for i in 0..ROWS.min(n - first) {
                if !is_unit {
                    corner.divisors[i] = triangle(first + i, first + i);
                }
                for later in i + 1..ROWS.min(n - first) {
                    corner.factors[i][later] = triangle(first + later, first + i);
                }
            }
            corners.push(corner);
        }
        let stop = Stop::current();
        let at_once = if n < cost_model::SOLVED_ROWS { usize::MAX } else { 1 };
        parts(&mut self.cells, (self.rows, at_once), |_, panel| {
            let mut rest: &[[R; ROWS]] = &factors;
            let rows = (0..n).step_by(ROWS).zip(&corners);
            for (first, corner) in rows.take_while(|_| !stop.is_set()) {
                let (factors, others) = rest.split_at(first);
                rest = others;
                solve_tile(panel, first, factors, Some(corner));
            }
        });
    }
    /// Returns the bytes that solving takes beside the panels.
    #[inline]
    pub fn solve_bytes(n: usize) -> usize {
        let factors = n.saturating_add(ROWS).saturating_mul(n.saturating_add(ROWS)) / 2;
        let corners = n.saturating_add(ROWS).saturating_mul(1 + ROWS);
        factors.saturating_add(corners).saturating_mul(size_of::<R>())
    }
}

/// Divides the first rows by the roots of their pivots, and subtracts multiples of them from one
/// another. Returns these equations; they are those of rows before one whose pivot is not accepted.
fn corner<R: FactorType>(
    rows: &mut [R::Row],
    first: usize,
    n: usize,
    accepts: impl Fn(R) -> bool,
) -> (Corner<R>, Option<(usize, R)>) {
    let mut corner = Corner::NONE;
    let column = |i: usize| (first + i) % WIDTH;
    for i in 0..ROWS.min(n - first) {
        let pivot = R::at(&rows[i], column(i));
        if !accepts(pivot) {
            return (corner, Some((first + i, pivot)));
        }
        corner.divisors[i] = pivot.root();
        rows[i] = R::over(rows[i], corner.divisors[i]);
        let row = rows[i];
        for (later, other) in rows.iter_mut().enumerate().take(ROWS.min(n - first)).skip(i + 1) {
            let factor = R::at(&row, column(later)).conj();
            corner.factors[i][later] = factor;
            *other = R::minus(*other, factor, &row);
        }
    }
    (corner, None)
}

/// Subtracts from a row of tiles, from row `first` of a panel on, the sums of multiples of the rows
/// before, and solves the equations within it, if they are known.
fn solve_tile<R: FactorType>(
    panel: &mut [R::Row],
    first: usize,
    factors: &[[R; ROWS]],
    corner: Option<&Corner<R>>,
) {
    let (done, rest) = panel.split_at_mut(first);
    let rows = rest.first_chunk_mut().expect("a tile is within a panel");
    instruction_set::run(SolveTile { done, factors, rows, corner });
}

struct SolveTile<'a, R: FactorType> {
    done: &'a [R::Row],
    factors: &'a [[R; ROWS]],
    rows: &'a mut [R::Row; ROWS],
    corner: Option<&'a Corner<R>>,
}

impl<R: FactorType> Task for SolveTile<'_, R> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        // Four variables stay in registers; an array does not.
        let [mut a, mut b, mut c, mut d] = *self.rows;
        for (row, factors) in self.done.iter().zip(self.factors) {
            a = R::minus(a, factors[0], row);
            b = R::minus(b, factors[1], row);
            c = R::minus(c, factors[2], row);
            d = R::minus(d, factors[3], row);
        }
        if let Some(Corner { divisors, factors }) = self.corner {
            a = R::over(a, divisors[0]);
            b = R::over(R::minus(b, factors[0][1], &a), divisors[1]);
            c = R::over(R::minus(R::minus(c, factors[0][2], &a), factors[1][2], &b), divisors[2]);
            d = R::minus(R::minus(d, factors[0][3], &a), factors[1][3], &b);
            d = R::over(R::minus(d, factors[2][3], &c), divisors[3]);
        }
        *self.rows = [a, b, c, d];
    }
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
            let mut factor = Panels::upper(n, matrix);
            factor.factor(n, |pivot| pivot > 0.0).unwrap();
            let mut count = 0;
            factor.for_upper(n, n, |i, j, x| {
                count += 1;
                assert!(i <= j && x.to_bits() == factor.at(i, j).to_bits(), "{n}: {i} {j}");
            });
            assert_eq!(count, n * (n + 1) / 2);
            for j in 0..n {
                for i in 0..=j {
                    let found: f64 = (0..=i).map(|k| factor.at(k, i) * factor.at(k, j)).sum();
                    assert!((found - matrix(i, j)).abs() < 1e-12, "{n}: {i} {j}");
                }
            }
        }
        let mut flat = Panels::upper(6, |_, _| 1.0);
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
