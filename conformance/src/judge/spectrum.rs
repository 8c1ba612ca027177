//! Eigenvalues of any matrix (`geev`), Schur forms (`gees`), and QR with exchanged columns
//! (`geqp3`): what is legal, and the identities that define it.
//!
//! Eigenvalues have any order, and those of a defective matrix move by the root of a rounding error:
//! each is legal with its vector, if `A v = w v` within the backward error, and all together if they
//! have the sums of powers that the matrix has.
use super::custom::Attributes;
use super::evaluate::{Evaluator, Leaves};
use super::factor_checks::{
    Broken, Factored, Matrix, Number, length, minus, plus, power_of_two, size, times, within,
};
use super::factors::{Given, about, loose, rest, results};
use super::interval::Interval;
use super::seen::{Factor, Kind, float};
use super::site::Site;

/// The most powers of a matrix whose traces are compared.
const POWERS: usize = 12;

/// How many roots of u a length may be wrong: LAPACK updates lengths, and computes them again where
/// half of the digits are lost.
const LENGTHS: f64 = 4.0;

/// Returns the eigenvalues and both kinds of vectors of `geev`.
pub(super) fn general(
    ev: &mut Evaluator<'_>,
    site: Site<'_>,
    given: Given,
    attributes: &Attributes<'_>,
) -> Leaves {
    let n = given.rows;
    let sides = ["compute_left", "compute_right"].map(|side| attributes.letter(side) == Some('V'));
    let is_complex = given.ty.is_complex();
    let mut own = given.factorization(site, Kind::General, 0.0);
    let norms: Vec<f64> = (0..own.matrices.len()).map(|batch| own.reach(batch)).collect();
    let (cause, one) = (loose(site), 1.0 + own.relative);
    let values = if is_complex { 1 } else { 2 };
    let mut leaves = Leaves::new();
    for (leaf, shape) in results(site).into_iter().enumerate() {
        let factors = &mut ev.factors;
        if leaf == 1 && is_complex {
            own.factors.push(Factor::NONE);
        }
        let side = leaf.checked_sub(values).and_then(|side| sides.get(side));
        leaves.push(match (leaf, shape, side) {
            (leaf, Some(shape), _) if leaf < values => {
                own.push(factors, shape, [1, n], Some(&cause), |batch, _, _| about(norms[batch]))
            }
            (_, Some(shape), Some(true)) => {
                own.push(factors, shape, [n, n], Some(&cause), |_, _, _| about(one))
            }
            (_, shape, _) => {
                own.factors.push(Factor::NONE);
                rest(site, shape)
            }
        });
    }
    ev.factors.add(own);
    leaves
}

/// Returns the triangle, the basis and the eigenvalues of `gees`.
pub(super) fn schur(
    ev: &mut Evaluator<'_>,
    site: Site<'_>,
    given: Given,
    attributes: &Attributes<'_>,
) -> Leaves {
    let n = given.rows;
    let vectors = attributes.letter("mode") == Some('V');
    let is_complex = given.ty.is_complex();
    let mut own = given.factorization(site, Kind::Schur, 0.0);
    let norms: Vec<f64> = (0..own.matrices.len()).map(|batch| own.reach(batch)).collect();
    let (cause, one) = (loose(site), 1.0 + own.relative);
    let (below, least) = (usize::from(!is_complex), own.least);
    let values = if is_complex { 2..3 } else { 2..4 };
    let mut leaves = Leaves::new();
    for (leaf, shape) in results(site).into_iter().enumerate() {
        let factors = &mut ev.factors;
        leaves.push(match (leaf, shape) {
            (0, Some(shape)) => {
                own.push(factors, shape, [n, n], Some(&cause), |batch, i, j| match i > j + below {
                    true => Interval::point(0.0).widened(least),
                    false => about(norms[batch]),
                })
            }
            (1, Some(shape)) if vectors => {
                own.push(factors, shape, [n, n], Some(&cause), |_, _, _| about(one))
            }
            (leaf, Some(shape)) if values.contains(&leaf) => {
                own.push(factors, shape, [1, n], Some(&cause), |batch, _, _| about(norms[batch]))
            }
            (_, shape) => {
                own.factors.push(Factor::NONE);
                rest(site, shape)
            }
        });
    }
    own.factors.truncate(2 + values.len());
    ev.factors.add(own);
    leaves
}

/// Returns the powers of two that balance a matrix: rows and columns with another off-diagonal
/// element have lengths that differ by less than a factor of four.
fn balancing(a: &Matrix) -> Vec<f64> {
    /// More than any matrix of normal numbers needs.
    const ROUNDS: usize = 64;
    let n = a.rows;
    let mut scales = vec![1.0; n];
    for _ in 0..ROUNDS {
        let mut is_balanced = true;
        for i in 0..n {
            let others = || (0..n).filter(move |&j| j != i);
            let row = length(others().map(|j| a[(i, j)].map(|x| x / scales[i] * scales[j])));
            let column = length(others().map(|j| a[(j, i)].map(|x| x / scales[j] * scales[i])));
            let step = (row / column).sqrt();
            if step.is_normal() && !(0.5..=2.0).contains(&step) {
                scales[i] *= power_of_two(step);
                is_balanced = false;
            }
        }
        if is_balanced {
            break;
        }
    }
    scales
}

impl super::seen::Factorization {
    /// Returns the largest size of an eigenvalue.
    fn reach(&self, batch: usize) -> f64 {
        self.factored(batch).error + self.matrices[batch].0.norm()
    }
}

impl Factored<'_> {
    /// Checks `A v = w v` and `u^H A = w u^H` of all vectors, and the eigenvalues together.
    pub(super) fn general(
        &self,
        w: Option<&Matrix>,
        left: Option<&Matrix>,
        right: Option<&Matrix>,
    ) -> Broken {
        let quotients = right.map(|v| {
            let product = self.a.times(v);
            Matrix::of(1, v.columns, |_, j| v.inner(j, &product, j))
        });
        if let Some(w) = w.or(quotients.as_ref()) {
            let w = w.scaled(self.scale());
            let sums = |power: usize| {
                let each =
                    w.data.iter().map(|&x| (1..power).fold(x, |product, _| times(product, x)));
                each.fold([0.0; 2], plus)
            };
            self.traces(sums)?;
        }
        self.vectors("A v = w v", self.a, right, w)?;
        let conjugate = w.map(|w| Matrix::of(1, w.columns, |_, j| [w[(0, j)][0], -w[(0, j)][1]]));
        self.vectors("u^H A = w u^H", &self.a.adjoint(), left, conjugate.as_ref())
    }

    /// Returns what A is divided by before it is multiplied: powers of it may overflow.
    fn scale(&self) -> f64 {
        power_of_two(self.a.norm())
    }

    /// Checks that the powers of another matrix have the traces of those of A, both scaled.
    fn traces(&self, of: impl Fn(usize) -> Number) -> Broken {
        let (a, error) = (self.a.scaled(self.scale()), self.error / self.scale());
        let n = a.rows;
        let norm = (a.row_norm() * a.transposed().row_norm()).sqrt().min(a.norm());
        let mut power = a.clone();
        for k in 1..=n.min(POWERS) {
            if k > 1 {
                power = power.times(&a);
            }
            let trace = power.trace();
            let count = i32::try_from(k).unwrap_or(i32::MAX);
            let bound = float(n) * ((norm + error).powi(count) - norm.powi(count));
            let rounding = float(n * k) * 4.0 * f64::EPSILON * norm.powi(count);
            if !bound.is_finite() {
                return Ok(());
            }
            let what = format!("the sum of the eigenvalues to the power of {k}");
            within(&what, size(minus(of(k), trace)), bound + rounding)?;
        }
        Ok(())
    }

    /// Checks eigenvectors: each has length 1, and its largest element is real.
    fn vectors(&self, what: &str, a: &Matrix, v: Option<&Matrix>, w: Option<&Matrix>) -> Broken {
        let Some(v) = v else { return Ok(()) };
        for j in 0..v.columns {
            let column = || (0..v.rows).map(|i| v[(i, j)]);
            within(&format!("the length of vector {j}"), (v.length(j) - 1.0).abs(), self.relative)?;
            let largest = column().map(size).fold(0.0, f64::max);
            let real = |x: Number| {
                size(x) >= largest * (1.0 - self.relative) && x[1].abs() <= self.relative
            };
            if !column().any(real) {
                return Err(format!("the largest element of vector {j} is not real"));
            }
            // An eigenvalue that is not seen is the quotient v^H A v.
            let own = Matrix::of(v.rows, 1, |i, _| v[(i, j)]);
            let quotient = || own.inner(0, &a.times(&own), 0);
            let value = w.map_or_else(quotient, |w| w[(0, j)]);
            Factored { a, ..*self }.residual(&format!("{what} of vector {j}"), &own, value)?;
        }
        Ok(())
    }

    /// Returns the error of an eigenvector in the coordinates in which the rows and the columns of A
    /// are balanced, as a part of the norm there and of the vector: LAPACK computes it there.
    pub(super) fn balanced_error(&self, rest: &Matrix, v: &Matrix) -> f64 {
        let scales = balancing(self.a);
        let divided = |x: &Matrix| length((0..x.rows).map(|i| x[(i, 0)].map(|y| y / scales[i])));
        let (n, a) = (self.a.rows, self.a);
        let norm = Matrix::of(n, n, |i, j| a[(i, j)].map(|x| x / scales[i] * scales[j])).norm();
        divided(rest) / divided(v) * (a.norm() / norm)
    }

    /// Checks `A = Z T Z^H`: T is a triangle, of a real matrix with blocks of two rows, and Z is
    /// unitary.
    pub(super) fn schur(
        &self,
        is_real: bool,
        t: Option<&Matrix>,
        z: Option<&Matrix>,
        w: Option<&Matrix>,
    ) -> Broken {
        if let Some(z) = z {
            self.orthonormal("the product of Z and its transpose", z)?;
        }
        let turned = z.map(|z| z.adjoint().times(&self.a.times(z)));
        if let Some(t) = t.or(turned.as_ref()) {
            self.triangle(is_real, t)?;
        }
        match (t, z, w) {
            (Some(t), Some(z), _) => {
                let product = z.times(&t.times(&z.adjoint()));
                within("A = Z T Z^H", self.a.less(&product).norm(), self.error)?;
            }
            (Some(t), None, _) => {
                let scaled = t.scaled(self.scale());
                let powers = |power: usize| {
                    (1..power).fold(scaled.clone(), |product, _| product.times(&scaled)).trace()
                };
                self.traces(powers)?;
                within("the norm of T", (t.norm() - self.a.norm()).abs(), self.error)?;
            }
            (None, _, _) => {}
        }
        let Some(w) = w else { return Ok(()) };
        self.general(Some(w), None, None)?;
        let Some(t) = t else { return Ok(()) };
        for i in 0..t.rows {
            let at = |j: usize| if j < t.rows { t[(i.max(j), i.min(j))] } else { [0.0; 2] };
            let above = |j: usize| if j < t.rows { t[(i.min(j), i.max(j))] } else { [0.0; 2] };
            let before = i.checked_sub(1).unwrap_or(t.rows);
            let other = if at(before) == [0.0; 2] { i + 1 } else { before };
            let im = size(at(other)).sqrt() * size(above(other)).sqrt();
            let im = if other < i { -im } else { im };
            let expected = if is_real { [t[(i, i)][0], im] } else { t[(i, i)] };
            within(
                &format!("eigenvalue {i} and the diagonal of T"),
                size(minus(w[(0, i)], expected)),
                self.error,
            )?;
        }
        Ok(())
    }

    /// Checks that what is below the diagonal is 0, but for one element of each block.
    fn triangle(&self, is_real: bool, t: &Matrix) -> Broken {
        let first = if is_real { 2 } else { 1 };
        let below = (0..t.rows).flat_map(|i| (0..t.columns).map(move |j| (i, j)));
        let largest = below.filter(|&(i, j)| i >= j + first).map(|at| size(t[at]));
        within("the part of T below the diagonal", largest.fold(0.0, f64::max), self.error)?;
        let beside = |i: usize| size(t[(i + 1, i)]).min(size(t[(i + 2, i + 1)]));
        let blocks = if is_real { t.rows.saturating_sub(2) } else { 0 };
        let largest = (0..blocks).map(beside).fold(0.0, f64::max);
        within("a block of T of three rows", largest, self.error)
    }

    /// Checks `A P = Q R`: each column is the longest of those that remain.
    pub(super) fn pivoted(
        &self,
        order: Option<&[i64]>,
        q: Option<&Matrix>,
        r: Option<&Matrix>,
        packed: Option<(&Matrix, &Matrix)>,
    ) -> Broken {
        if let Some(r) = r {
            self.descending(r)?;
        }
        let Some(order) = order else {
            return q.map_or(Ok(()), |q| self.orthonormal("the product of Q and its transpose", q));
        };
        let mut taken = vec![false; self.a.columns];
        let mut columns = Vec::with_capacity(order.len());
        for &column in order {
            let free = usize::try_from(column).ok().filter(|&c| taken.get(c) == Some(&false));
            let Some(column) = free else {
                return Err("the order of columns is no permutation".to_owned());
            };
            taken[column] = true;
            columns.push(column);
        }
        let a = Matrix::of(self.a.rows, self.a.columns, |i, j| self.a[(i, columns[j])]);
        Factored { a: &a, ..*self }.orthogonal(q, r, packed)
    }

    /// Returns the order of columns in which each is the longest of those that remain; none if
    /// rounding errors may choose another one.
    pub(super) fn longest_first(&self) -> Option<Vec<usize>> {
        let mut rest = self.a.clone();
        let mut order: Vec<usize> = (0..rest.columns).collect();
        let (norm, mut least) = (rest.norm(), f64::INFINITY);
        for k in 0..rest.columns.min(rest.rows) {
            let lengths: Vec<f64> = (0..rest.columns).map(|j| rest.length(j)).collect();
            let longest = (k..order.len())
                .max_by(|&i, &j| lengths[order[i]].total_cmp(&lengths[order[j]]))?;
            order.swap(k, longest);
            let own = lengths[order[k]];
            // What is taken away moves with the directions before.
            let moved = 4.0 * self.error * (1.0 + norm / least);
            let next = order[k + 1..].iter().map(|&j| lengths[j]).fold(0.0, f64::max);
            if next * (1.0 + LENGTHS * self.unit.sqrt()) + moved >= own {
                return None;
            }
            least = least.min(own);
            let column = |i: usize, _: usize| rest[(i, order[k])].map(|x| x / own);
            let direction = Matrix::of(rest.rows, 1, column);
            for &j in &order[k + 1..] {
                let product = direction.inner(0, &rest, j);
                for i in 0..rest.rows {
                    rest[(i, j)] = minus(rest[(i, j)], times(direction[(i, 0)], product));
                }
            }
        }
        Some(order)
    }

    /// Checks that no column of a triangle is longer than the diagonal element that it is beside.
    fn descending(&self, r: &Matrix) -> Broken {
        let slack = LENGTHS * self.unit.sqrt();
        for k in 0..r.rows {
            let own = size(r[(k, k)]);
            for j in k + 1..r.columns {
                let last = r.rows.min(j + 1);
                let length = length((k..last).map(|i| r[(i, j)]));
                if length * (1.0 - slack) > own + self.error {
                    return Err(format!(
                        "column {j} is longer than column {k}, which is before it"
                    ));
                }
            }
        }
        Ok(())
    }
}
