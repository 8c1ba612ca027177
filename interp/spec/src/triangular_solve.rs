//! `triangular-solve`: the solution x of `op(a) x = b`, or of `x op(a) = b`, for each pair of
//! matrices of a batch
//!
//! With T = op(a), a lower triangle is solved from its first row down, an upper one from its last
//! row up:
//!
//! `x[i] = (b[i] - sum over the k that are solved of T[i, k] * x[k]) / T[i, i]`, for each column of
//! b
//!
//! - `left_side`: T is on the left of x. On the right, the rows of b are the columns of the
//!   transposed system.
//! - `transpose_a`: op(a) is a itself, its transpose, or its adjoint (transposed and conjugated).
//! - `lower`: the triangle of a that is read, before it is transposed. The other one is not read.
//! - `unit_diagonal`: the diagonal is taken to be 1, and not read.
//! - A zero on the diagonal gives an infinity, or NaN if the numerator is 0 too, and dependent
//!   elements follow from it. XLA:CPU inverts blocks, and may return NaN instead of an infinity.
//! - All is computed in [`Field`] and rounded once: f64, or twice its precision for f64 and c128.
//!
//! Source: StableHLO, `triangular_solve`.
use super::{Operand, Output, indices};
use hlo::op::TriangularSolve;
use hlo::op::value::Transpose;
use hlo::{ArrayShape, Dims, Literal};
use num::clock::Stop;
use num::complex_of::{Field, InField, in_field};
use num::index::{to_i64, to_usize};

pub(super) fn triangular_solve(
    op: &TriangularSolve,
    a: &Operand<'_>,
    b: &Operand<'_>,
    shape: &ArrayShape,
) -> Literal {
    in_field(shape.ty, Solve { op, a, b, shape })
}

struct Solve<'a> {
    op: &'a TriangularSolve,
    a: &'a Operand<'a>,
    b: &'a Operand<'a>,
    shape: &'a ArrayShape,
}

impl InField for Solve<'_> {
    type Output = Literal;
    fn run<F: Field>(self) -> Literal {
        let TriangularSolve { left_side, lower, unit_diagonal, transpose_a } = self.op;
        let (is_transposed, is_conjugated) = match transpose_a {
            Transpose::None | Transpose::Invalid => (false, false),
            Transpose::Transpose => (true, false),
            Transpose::Adjoint => (true, true),
        };
        // On the right the system is transposed: T^T x^T = b^T.
        let is_transposed = is_transposed == *left_side;
        let is_lower = *lower != is_transposed;

        let stop = Stop::current();
        let mut result = Output::zeros(self.shape);
        let (batch_dims, matrix) = self.shape.dims.split_at(self.shape.rank() - 2);
        let (n, systems) = if *left_side { (matrix[0], matrix[1]) } else { (matrix[1], matrix[0]) };
        for batch in indices(batch_dims) {
            let at = |i: i64, j: i64, is_swapped: bool| -> Dims {
                let (i, j) = if is_swapped { (j, i) } else { (i, j) };
                batch.iter().copied().chain([i, j]).collect()
            };
            let t = |i: i64, k: i64| {
                let element = F::of(self.a.at(&at(i, k, is_transposed)));
                if is_conjugated { element.conj() } else { element }
            };
            for system in (0..systems).take_while(|_| !stop.is_set()) {
                let mut x = vec![F::ZERO; to_usize(n)];
                for step in 0..n {
                    let row = |step: i64| if is_lower { step } else { n - 1 - step };
                    let i = row(step);
                    let sum =
                        (0..step).map(row).fold(F::ZERO, |sum, k| sum + t(i, k) * x[to_usize(k)]);
                    let rest = F::of(self.b.at(&at(i, system, !left_side))) - sum;
                    x[to_usize(i)] = if *unit_diagonal { rest } else { rest.quotient(t(i, i)) };
                }
                for (i, x) in x.into_iter().enumerate() {
                    result.set(&at(to_i64(i), system, !left_side), x.element());
                }
            }
        }
        result.into_literal()
    }
}
