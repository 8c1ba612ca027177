//! `cholesky`: the triangular factor of each matrix of a batch
//!
//! With `lower`, the lower triangle L with `a = L L^H`; without, the upper triangle U with
//! `a = U^H U`. For j <= i
//!
//! ```text
//! L[i, j] = (a[i, j] - sum over k < j of L[i, k] * conj(L[j, k])) / d[j]
//! d[j]    = sqrt(re(a[j, j] - sum over k < j of |L[j, k]|^2))
//! ```
//!
//! - Only the named triangle is read; the other triangle of the result is 0.
//! - A matrix that is not positive definite, detected by a `d[j]^2` that is not above 0, or not
//!   finite, has NaN in all of its elements (the real part of complex ones). Other matrices of the
//!   batch are not affected.
//! - An imaginary part on the diagonal is divided by d like the rest of the column.
//! - All is computed in [`Field`] and rounded once: f64, or twice its precision for f64 and c128.
//!
//! XLA:CPU does not detect a last `d[j]^2` that is 0 or infinite, and returns NaN or 0 in single
//! elements there.
//!
//! Source: StableHLO, `cholesky`.
use super::{Operand, Output, indices};
use hlo::op::Cholesky;
use hlo::{ArrayShape, Dims, Literal};
use num::clock::Stop;
use num::complex_of::{Field, InField, in_field};
use num::double_double::Real;
use num::index::{to_i64, to_usize};

pub(super) fn cholesky(op: &Cholesky, a: &Operand<'_>, shape: &ArrayShape) -> Literal {
    let Cholesky { lower } = op;
    in_field(shape.ty, Factors { lower: *lower, a, shape })
}

struct Factors<'a> {
    lower: bool,
    a: &'a Operand<'a>,
    shape: &'a ArrayShape,
}

impl InField for Factors<'_> {
    type Output = Literal;
    fn run<F: Field>(self) -> Literal {
        let mut result = Output::zeros(self.shape);
        let (batch_dims, matrix) = self.shape.dims.split_at(self.shape.rank() - 2);
        let n = to_usize(matrix[0]);
        for batch in indices(batch_dims) {
            let at = |i: usize, j: usize| -> Dims {
                batch.iter().copied().chain([to_i64(i), to_i64(j)]).collect()
            };
            // The upper triangle is the adjoint of a lower one.
            let factor = lower_factor(n, |i, j| match self.lower {
                true => F::of(self.a.at(&at(i, j))),
                false => F::of(self.a.at(&at(j, i))).conj(),
            });
            for i in 0..n {
                for j in 0..n {
                    let element = match &factor {
                        Some(l) if self.lower => l[i][j],
                        Some(l) => l[j][i].conj(),
                        None => F::nan(),
                    };
                    result.set(&at(i, j), element.element());
                }
            }
        }
        result.into_literal()
    }
}

/// Returns the rows of the lower factor; `None` if the matrix is not positive definite.
fn lower_factor<F: Field>(n: usize, a: impl Fn(usize, usize) -> F) -> Option<Vec<Vec<F>>> {
    let mut l = vec![vec![F::ZERO; n]; n];
    let mut d = Vec::with_capacity(n);
    let stop = Stop::current();
    for i in 0..n {
        if stop.is_set() {
            return None;
        }
        for j in 0..=i {
            let sum = (0..j).fold(F::ZERO, |sum, k| sum + l[i][k] * l[j][k].conj());
            let rest = a(i, j) - sum;
            if i == j {
                let square = rest.re().rounded();
                if square <= 0.0 || !square.is_finite() {
                    return None;
                }
                d.push(rest.re().sqrt());
            }
            l[i][j] = rest.over(d[j]);
        }
    }
    Some(l)
}
