//! `triangular-solve`: `x[i] = (b[i] - sum of a[i,k] * x[k]) / a[i,i]` over the k of the triangle, for each column of b
//!
//! Solves `op(a) x = b` (with `left_side`) or `x op(a) = b` (without) for each pair of matrices of a batch, by
//! substitution. Any float or complex type.
//!
//! - `transpose_a`: `op(a)` is a itself, its transpose, or its adjoint (transposed and conjugated).
//! - `lower`: which triangle of a is read, before it is transposed. The other is ignored, NaN included.
//! - `unit_diagonal`: the diagonal is taken to be 1, and not read.
//!
//! Zero on the diagonal divides by zero: an infinity, or NaN where the numerator is 0 too, and what depends on it follows.
//! Nothing is reported. Matrices of size 0 and batches of none have empty solutions.
//!
//! All is computed in f64 (twice that for f64 and c128), and each element is rounded once. XLA:CPU solves block by block
//! with inverses of the blocks, and rounds every step; where a matrix is singular, it may have NaN instead of an infinity.
use super::build;
use crate::Result;
use crate::index::to_usize;
use crate::num::complex_of::{Field, InField, in_field};
use hlo::op::TriangularSolve;
use hlo::op::value::Transpose;
use hlo::{ArrayShape, Literal};

#[expect(clippy::unnecessary_wraps, reason = "the caller expects an error, as of other ops")]
pub(super) fn triangular_solve(
    op: &TriangularSolve,
    a: &Literal,
    b: &Literal,
    shape: &ArrayShape,
) -> Result<Literal> {
    Ok(in_field(shape.ty, Solve { op, a, b, shape }))
}

/// The solutions of all systems.
struct Solve<'a> {
    op: &'a TriangularSolve,
    a: &'a Literal,
    b: &'a Literal,
    shape: &'a ArrayShape,
}

impl InField for Solve<'_> {
    type Output = Literal;
    fn run<F: Field>(self) -> Literal {
        let dims = &self.shape.dims;
        let (rows, columns) = (to_usize(dims[dims.len() - 2]), to_usize(dims[dims.len() - 1]));
        // From the right, the rows of b are the columns of the transposed system.
        let (n, systems) = if self.op.left_side { (rows, columns) } else { (columns, rows) };
        let mut solutions = vec![F::ZERO; self.b.len()];
        let mut x = vec![F::ZERO; n];
        for batch in 0..self.b.len() / (rows * columns).max(1) {
            let (triangle, from_below) = self.triangle::<F>(n, batch);
            let start = batch * rows * columns;
            for system in 0..systems {
                let place = |i: usize| {
                    let i = if from_below { n - 1 - i } else { i };
                    start + if self.op.left_side { i * columns + system } else { system * n + i }
                };
                for i in 0..n {
                    let row = &triangle[i * n..=i * n + i];
                    let rest = F::of(self.b.get(place(i))) - F::dot(&row[..i], &x[..i]);
                    x[i] = if self.op.unit_diagonal { rest } else { rest.quotient(row[i]) };
                }
                for (i, &x) in x.iter().enumerate() {
                    solutions[place(i)] = x;
                }
            }
        }
        build(self.shape, |i| solutions[i].element())
    }
}

impl Solve<'_> {
    /// The rows of the lower triangle that is to be solved, and whether it is an upper one turned upside down.
    fn triangle<F: Field>(&self, n: usize, batch: usize) -> (Vec<F>, bool) {
        let (turned, conjugated) = match self.op.transpose_a {
            Transpose::None | Transpose::Invalid => (false, false),
            Transpose::Transpose => (true, false),
            Transpose::Adjoint => (true, true),
        };
        let transposed = turned == self.op.left_side;
        let from_below = self.op.lower == transposed;
        let mut rows = vec![F::ZERO; n * n];
        for i in 0..n {
            for j in 0..=i {
                let (r, c) = if from_below { (n - 1 - i, n - 1 - j) } else { (i, j) };
                let (r, c) = if transposed { (c, r) } else { (r, c) };
                let element = F::of(self.a.get(batch * n * n + r * n + c));
                rows[i * n + j] = if conjugated { element.conj() } else { element };
            }
        }
        (rows, from_below)
    }
}
