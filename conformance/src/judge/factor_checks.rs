//! Whether factors are those of a matrix: the identities that define them, each within a backward
//! error bound.
//!
//! The factors are exact ones of a matrix near the operand. Elimination has a proven bound for each
//! element, `n u |L| |U|` (Higham, *Accuracy and Stability of Numerical Algorithms*, theorem 9.3);
//! the bound of the others is an estimate, [`CONSTANT`] times `n u` times the Frobenius norm.
use std::ops::{Index, IndexMut};

/// How many times `n u` times its norm a matrix may be from the one of which factors are exact.
pub(super) const CONSTANT: f64 = 16.0;

/// A complex number.
pub(super) type Number = [f64; 2];

pub(super) fn times(x: Number, y: Number) -> Number {
    [x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]]
}
pub(super) fn plus(x: Number, y: Number) -> Number {
    [x[0] + y[0], x[1] + y[1]]
}
pub(super) fn minus(x: Number, y: Number) -> Number {
    [x[0] - y[0], x[1] - y[1]]
}
/// Returns a quotient. The divisor is scaled by a power of two: its square might overflow.
pub(super) fn over(x: Number, y: Number) -> Number {
    let scale = power_of_two(y[0].abs().max(y[1].abs()));
    let [x, y] = [x, y].map(|z| z.map(|part| part / scale));
    let square = y[0] * y[0] + y[1] * y[1];
    times(x, [y[0] / square, -y[1] / square])
}
/// Returns the power of two below a number; 1 for what is no positive normal number.
pub(super) fn power_of_two(x: f64) -> f64 {
    if x.is_normal() { f64::from_bits(x.abs().to_bits() & f64::INFINITY.to_bits()) } else { 1.0 }
}
pub(super) fn size(x: Number) -> f64 {
    x[0].hypot(x[1])
}

/// Returns the length of a vector, whose squares may overflow.
pub(super) fn length(of: impl Iterator<Item = Number>) -> f64 {
    of.fold(0.0, |length: f64, x| length.hypot(size(x)))
}

/// A matrix, row by row.
#[derive(Debug, Clone)]
pub(super) struct Matrix {
    pub(super) rows: usize,
    pub(super) columns: usize,
    pub(super) data: Vec<Number>,
}

impl Index<(usize, usize)> for Matrix {
    type Output = Number;
    fn index(&self, (row, column): (usize, usize)) -> &Number {
        &self.data[row * self.columns + column]
    }
}
impl IndexMut<(usize, usize)> for Matrix {
    fn index_mut(&mut self, (row, column): (usize, usize)) -> &mut Number {
        &mut self.data[row * self.columns + column]
    }
}

impl Matrix {
    pub(super) fn of(
        rows: usize,
        columns: usize,
        element: impl Fn(usize, usize) -> Number,
    ) -> Self {
        let all = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        Self { rows, columns, data: all.map(|(row, column)| element(row, column)).collect() }
    }
    /// Returns the matrix divided by a power of two.
    pub(super) fn scaled(&self, scale: f64) -> Self {
        Self::of(self.rows, self.columns, |i, j| self[(i, j)].map(|x| x / scale))
    }
    pub(super) fn adjoint(&self) -> Self {
        Self::of(self.columns, self.rows, |i, j| [self[(j, i)][0], -self[(j, i)][1]])
    }
    pub(super) fn transposed(&self) -> Self {
        Self::of(self.columns, self.rows, |i, j| self[(j, i)])
    }
    pub(super) fn trace(&self) -> Number {
        (0..self.rows.min(self.columns)).fold([0.0; 2], |sum, i| plus(sum, self[(i, i)]))
    }
    /// Returns the norm of a column.
    pub(super) fn length(&self, j: usize) -> f64 {
        length((0..self.rows).map(|i| self[(i, j)]))
    }
    /// Returns the product of the adjoint of a column and a column of another matrix.
    pub(super) fn inner(&self, j: usize, other: &Self, k: usize) -> Number {
        (0..self.rows).fold([0.0; 2], |sum, i| {
            let x = self[(i, j)];
            plus(sum, times([x[0], -x[1]], other[(i, k)]))
        })
    }
    /// Returns the size of each element.
    pub(super) fn sizes(&self) -> Self {
        Self::of(self.rows, self.columns, |i, j| [size(self[(i, j)]), 0.0])
    }
    /// Returns the inverse of the lower triangle.
    pub(super) fn lower_inverse(&self) -> Self {
        let mut inverse = Self::of(self.rows, self.rows, |_, _| [0.0; 2]);
        for j in 0..self.rows {
            for i in j..self.rows {
                let one = [if i == j { 1.0 } else { 0.0 }, 0.0];
                let rest =
                    (j..i).fold(one, |rest, k| minus(rest, times(self[(i, k)], inverse[(k, j)])));
                inverse[(i, j)] = over(rest, self[(i, i)]);
            }
        }
        inverse
    }
    /// Returns the largest sum of the sizes of a row.
    pub(super) fn row_norm(&self) -> f64 {
        let rows = self.data.chunks(self.columns.max(1));
        rows.map(|row| row.iter().map(|&x| size(x)).sum()).fold(0.0, f64::max)
    }
    pub(super) fn times(&self, other: &Self) -> Self {
        let mut product = Self::of(self.rows, other.columns, |_, _| [0.0; 2]);
        for i in 0..self.rows {
            for k in 0..self.columns.min(other.rows) {
                for j in 0..other.columns {
                    let [re, im] = times(self[(i, k)], other[(k, j)]);
                    let to = &mut product[(i, j)];
                    *to = [to[0] + re, to[1] + im];
                }
            }
        }
        product
    }
    pub(super) fn less(&self, other: &Self) -> Self {
        Self::of(self.rows, self.columns, |i, j| minus(self[(i, j)], other[(i, j)]))
    }
    fn first_columns(&self, count: usize) -> Self {
        Self::of(self.rows, count.min(self.columns), |i, j| self[(i, j)])
    }
    fn first_rows(&self, count: usize) -> Self {
        Self::of(count.min(self.rows), self.columns, |i, j| self[(i, j)])
    }
    pub(super) fn upper(&self) -> Self {
        let count = self.rows.min(self.columns);
        Self::of(count, self.columns, |i, j| if i <= j { self[(i, j)] } else { [0.0; 2] })
    }
    /// Returns the triangle below the diagonal, with ones on it.
    pub(super) fn unit_lower(&self) -> Self {
        let count = self.rows.min(self.columns);
        Self::of(self.rows, count, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => [0.0; 2],
            std::cmp::Ordering::Equal => [1.0, 0.0],
            std::cmp::Ordering::Greater => self[(i, j)],
        })
    }
    /// Returns the Frobenius norm.
    pub(super) fn norm(&self) -> f64 {
        let largest = self.data.iter().flatten().fold(0.0, |most: f64, x| most.max(x.abs()));
        if largest == 0.0 || !largest.is_finite() {
            return largest;
        }
        self.data.iter().flatten().map(|x| (x / largest).powi(2)).sum::<f64>().sqrt() * largest
    }
}

/// The matrix that was factored, and how far the one is from it of which factors are exact.
pub(super) struct Factored<'a> {
    pub(super) a: &'a Matrix,
    /// The largest relative error of the factors.
    pub(super) relative: f64,
    /// The largest difference, in the Frobenius norm.
    pub(super) error: f64,
    /// The same of an element, but for the part that elimination adds: what is not known of it.
    pub(super) unknown: f64,
    /// The unit roundoff.
    pub(super) unit: f64,
    /// What flushed denormals may change. They are in no order.
    pub(super) least: f64,
}

/// A broken identity.
pub(super) type Broken = Result<(), String>;

pub(super) fn within(what: &str, error: f64, bound: f64) -> Broken {
    match error <= bound {
        true => Ok(()),
        false => Err(format!("{what} is off by {error:.1e}, which is more than {bound:.1e}")),
    }
}

impl Factored<'_> {
    /// Checks that columns are orthonormal.
    pub(super) fn orthonormal(&self, what: &str, q: &Matrix) -> Broken {
        let one = |i: usize, j: usize| [if i == j { 1.0 } else { 0.0 }, 0.0];
        let square = q.adjoint().times(q);
        let error = square.less(&Matrix::of(q.columns, q.columns, one)).norm();
        let columns = f64::from(u32::try_from(q.columns).unwrap_or(u32::MAX));
        within(what, error, self.relative * columns.sqrt())
    }

    /// Checks `A = Q R`: what is seen of Q, of R, and of the reflections that make Q.
    pub(super) fn orthogonal(
        &self,
        q: Option<&Matrix>,
        r: Option<&Matrix>,
        packed: Option<(&Matrix, &Matrix)>,
    ) -> Broken {
        let rank = self.a.rows.min(self.a.columns);
        if let Some((packed, factors)) = packed {
            let product = self.reflected(packed, factors)?;
            within("A = Q R of the reflections", self.a.less(&product).norm(), self.error)?;
        }
        if let Some(q) = q {
            self.orthonormal("the product of Q and its transpose", q)?;
            if q.columns < rank {
                return Ok(());
            }
            let q = q.first_columns(rank);
            let computed = q.adjoint().times(self.a);
            let r = r.map_or_else(|| computed.upper(), Clone::clone);
            return within("A = Q R", self.a.less(&q.times(&r)).norm(), self.error);
        }
        let Some(r) = r.filter(|_| packed.is_none()) else { return Ok(()) };
        // Squares might overflow.
        let scale = power_of_two(self.a.norm());
        let (r, a, error) = (r.scaled(scale), self.a.scaled(scale), self.error / scale);
        let squares = r.adjoint().times(&r).less(&a.adjoint().times(&a));
        within("the square of A = Q R", squares.norm(), error * (2.0 * a.norm() + error))
    }

    /// Returns the product of reflections and R.
    fn reflected(&self, packed: &Matrix, factors: &Matrix) -> Result<Matrix, String> {
        let mut product = Matrix::of(packed.rows, packed.columns, |i, j| match i <= j {
            true => packed[(i, j)],
            false => [0.0; 2],
        });
        for k in (0..factors.columns).rev() {
            let tau = factors[(0, k)];
            let v = |i: usize| match i.cmp(&k) {
                std::cmp::Ordering::Less => [0.0; 2],
                std::cmp::Ordering::Equal => [1.0, 0.0],
                std::cmp::Ordering::Greater => packed[(i, k)],
            };
            let square: f64 = (k..packed.rows).map(|i| size(v(i)).powi(2)).sum();
            let defect = (2.0 * tau[0] - size(tau).powi(2) * square) * square;
            within("the length of a reflection", defect.abs(), self.relative)?;
            for j in 0..packed.columns {
                let mut sum = [0.0; 2];
                for i in k..packed.rows {
                    let [re, im] = times([v(i)[0], -v(i)[1]], product[(i, j)]);
                    sum = [sum[0] + re, sum[1] + im];
                }
                let step = times(tau, sum);
                for i in k..packed.rows {
                    let [re, im] = times(v(i), step);
                    let to = &mut product[(i, j)];
                    *to = [to[0] - re, to[1] - im];
                }
            }
        }
        Ok(product)
    }

    /// Checks `A V = V w`: w ascends, and the columns of V are orthonormal. Eigenvalues that are not
    /// seen are the quotients `v^H A v`.
    pub(super) fn eigenvectors(&self, v: Option<&Matrix>, w: Option<&Matrix>) -> Broken {
        let quotients = v.map(|v| {
            let square = v.adjoint().times(&self.a.times(v));
            Matrix::of(1, v.columns, |_, j| [square[(j, j)][0], 0.0])
        });
        let slack = if w.is_some() { self.least } else { 2.0 * self.error };
        let Some(w) = w.or(quotients.as_ref()) else { return Ok(()) };
        if let Some(i) = (1..w.columns).find(|&i| w[(0, i)][0] < w[(0, i - 1)][0] - slack) {
            return Err(format!("eigenvalue {i} is smaller than the one before"));
        }
        let Some(v) = v else { return Ok(()) };
        self.orthonormal("the product of the eigenvectors and their transpose", v)?;
        let scaled = Matrix::of(v.rows, v.columns, |i, j| times(v[(i, j)], w[(0, j)]));
        within("A v = w v", self.a.times(v).less(&scaled).norm(), self.error)
    }

    /// Checks `A = U S V^H`, or what is seen of it: singular values that are not are the lengths of
    /// `A^H u` or `A v`.
    pub(super) fn singular(
        &self,
        s: Option<&Matrix>,
        u: Option<&Matrix>,
        v: Option<&Matrix>,
    ) -> Broken {
        let rank = self.a.rows.min(self.a.columns);
        let products = match (u, v) {
            (Some(u), _) => Some(self.a.adjoint().times(u)),
            (None, Some(v)) => Some(self.a.times(&v.adjoint())),
            (None, None) => None,
        };
        let lengths = products.map(|all| Matrix::of(1, rank, |_, j| [all.length(j), 0.0]));
        let slack = if s.is_some() { self.least } else { 2.0 * self.error };
        let Some(s) = s.or(lengths.as_ref()) else { return Ok(()) };
        if let Some(i) = (0..rank)
            .find(|&i| s[(0, i)][0] < 0.0 || i > 0 && s[(0, i)][0] > s[(0, i - 1)][0] + slack)
        {
            return Err(format!("singular value {i} is negative, or larger than the one before"));
        }
        let adjoint = v.map(Matrix::adjoint);
        if let Some(u) = u {
            self.orthonormal("the product of U and its transpose", u)?;
        }
        if let Some(v) = &adjoint {
            self.orthonormal("the product of V and its transpose", v)?;
        }
        match (u, v) {
            (Some(u), Some(v)) => {
                let scaled = Matrix::of(u.rows, rank, |i, j| times(u[(i, j)], s[(0, j)]));
                let product = scaled.times(&v.first_rows(rank));
                within("A = U S V", self.a.less(&product).norm(), self.error)
            }
            (Some(u), None) => self.lengths("A^H u", &self.a.adjoint().times(u), s),
            (None, Some(_)) => {
                self.lengths("A v", &self.a.times(&adjoint.unwrap_or_else(|| self.a.clone())), s)
            }
            (None, None) => Ok(()),
        }
    }
    /// Checks a single eigenvector.
    pub(super) fn eigenvector(&self, v: &Matrix, w: Number) -> Broken {
        within("the length of a vector", (v.length(0) - 1.0).abs(), self.relative)?;
        self.residual("A v = w v", v, w)
    }
    /// Checks that a vector fits to an eigenvalue: in these coordinates, or in balanced ones.
    pub(super) fn residual(&self, what: &str, v: &Matrix, w: Number) -> Broken {
        let scaled = Matrix::of(v.rows, 1, |i, _| times(v[(i, 0)], w));
        let rest = self.a.times(v).less(&scaled);
        within(what, rest.norm(), self.error).or_else(|broken| {
            if self.balanced_error(&rest, v) <= self.error { Ok(()) } else { Err(broken) }
        })
    }

    /// Checks a single left singular vector, `A A^H u = s^2 u`, or a right one.
    fn squared(&self, a: &Matrix, x: &Matrix, s: f64) -> Broken {
        within("the length of a vector", (x.length(0) - 1.0).abs(), self.relative)?;
        let product = a.adjoint().times(x);
        let error = (product.length(0) - s).abs();
        within("the length of A^H u", error, 2.0 * self.error)?;
        // Squares might overflow.
        let scale = power_of_two(self.a.norm());
        let (a, product, error, s) =
            (a.scaled(scale), product.scaled(scale), self.error / scale, s / scale);
        let scaled = Matrix::of(x.rows, 1, |i, _| x[(i, 0)].map(|part| part * s * s));
        let error_of_square = a.times(&product).less(&scaled).norm();
        within("A A^H u = s^2 u", error_of_square, error * (2.0 * a.norm() + error))
    }
    pub(super) fn singular_vector(&self, x: &Matrix, s: f64, is_right: bool) -> Broken {
        match is_right {
            true => self.squared(&self.a.adjoint(), x, s),
            false => self.squared(self.a, x, s),
        }
    }

    /// Checks that the lengths of columns are singular values.
    fn lengths(&self, what: &str, columns: &Matrix, s: &Matrix) -> Broken {
        for j in 0..columns.columns {
            let value = if j < s.columns { s[(0, j)][0] } else { 0.0 };
            let error = (columns.length(j) - value).abs();
            within(&format!("the length of {what}"), error, 2.0 * self.error)?;
        }
        Ok(())
    }

    /// Returns how far an element of `L U` may be from that of A, of these sizes: that of the terms
    /// and that of the element.
    pub(super) fn lost(&self, rank: usize, complex: bool, terms: f64, element: f64) -> f64 {
        let count = f64::from(u32::try_from(rank).unwrap_or(u32::MAX)) + 2.0;
        let each = 2.0 * count * self.unit * if complex { 2.0 } else { 1.0 };
        each.mul_add(terms + element, self.unknown)
    }

    /// Checks `P A = L U` with partial pivots; returns the rows of A in the order of those of `L U`,
    /// if only one order fits.
    pub(super) fn eliminated(
        &self,
        lu: &Matrix,
        order: Option<&[usize]>,
    ) -> Result<Option<Vec<usize>>, String> {
        let rank = lu.rows.min(lu.columns);
        let lower = lu.unit_lower();
        // Complex numbers may be compared by the sum of their parts.
        let complex = lu.data.iter().any(|x| x[1] != 0.0);
        let most = (if complex { 2f64.sqrt() } else { 1.0 }) * (1.0 + 8.0 * self.unit);
        if let Some(at) = (0..lu.rows).find(|&i| {
            (0..i.min(rank)).any(|j| size(lu[(i, j)]).is_nan() || size(lu[(i, j)]) > most)
        }) {
            return Err(format!(
                "row {at} of L has an element above 1: its pivot is not the largest"
            ));
        }
        let upper = lu.upper();
        let product = lower.times(&upper);
        let terms = lower.sizes().times(&upper.sizes());
        let fits = |i: usize, row: usize| {
            (0..lu.columns).all(|j| {
                let (x, y) = (product[(i, j)], self.a[(row, j)]);
                size(minus(x, y)) <= self.lost(rank, complex, terms[(i, j)][0], size(y))
            })
        };
        if let Some(order) = order {
            return match (0..lu.rows).find(|&i| !fits(i, order[i])) {
                Some(i) => Err(format!("row {i} of L U is not row {} of A", order[i])),
                None => Ok(Some(order.to_vec())),
            };
        }
        let rows: Vec<Vec<usize>> =
            (0..lu.rows).map(|i| (0..lu.rows).filter(|&row| fits(i, row)).collect()).collect();
        if let Some(i) = rows.iter().position(Vec::is_empty) {
            return Err(format!("row {i} of L U is no row of A"));
        }
        let mut taken = vec![None; lu.rows];
        let matched = (0..lu.rows)
            .all(|i| super::open_order::found(i, &rows, &mut taken, &mut vec![false; lu.rows]));
        if !matched {
            return Err("two rows of L U are the same row of A".to_owned());
        }
        let unique = rows.iter().all(|rows| rows.len() == 1);
        Ok(unique.then(|| rows.iter().map(|rows| rows[0]).collect()))
    }
}

/// Returns the order of rows after these exchanges, one after the other; none if a pivot is before
/// its row or beyond the matrix.
pub(super) fn exchanged(rows: usize, pivots: &[i64]) -> Option<Vec<usize>> {
    let mut order: Vec<usize> = (0..rows).collect();
    for (i, &pivot) in pivots.iter().enumerate() {
        let pivot = usize::try_from(pivot).ok().filter(|pivot| (i..rows).contains(pivot))?;
        order.swap(i, pivot);
    }
    Some(order)
}

/// Returns the exchanges that lead to an order of rows.
pub(super) fn exchanges(order: &[usize], count: usize) -> Vec<i64> {
    let mut now: Vec<usize> = (0..order.len()).collect();
    let pivot = |i: usize| {
        let at = now.iter().position(|&row| row == order[i]).unwrap_or(i);
        now.swap(i, at);
        i64::try_from(at).unwrap_or(0)
    };
    (0..count.min(order.len())).map(pivot).collect()
}
