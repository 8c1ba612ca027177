//! Derivatives of cholesky: with `A = L L^H`, `dL = L P(L^-1 dA L^-H)`, where `P` takes the lower
//! triangle and half of the diagonal.
//!
//! Only one triangle of `A` is read, so only that has a derivative: `dA` is what it stands for,
//! with a real diagonal. An upper factor is the adjoint of the lower factor of the adjoint.
use super::matrices::Factor::{Plain, Transposed};
use super::matrices::{
    MatrixPart, adjoint, hermitian, lies_in, only, product, real_diagonal, solve, solve_transposed,
};
use super::node::{Derivative, Node, first};
use super::tangent::Tangent;
use crate::{Result, Value};
use hlo::op::value::Transpose;
use hlo::op::{Cholesky, TriangularSolve};

/// Converts to the lower factor and back.
fn as_lower<'b>(op: &Cholesky, value: Value<'b>) -> Value<'b> {
    if op.lower { value } else { adjoint(value) }
}
/// Returns the lower triangle with half of the diagonal.
fn halved(value: Value<'_>) -> Result<Value<'_>> {
    let half = lies_in(value, MatrixPart::Diagonal)?.select(value * 0.5, value);
    only(half, MatrixPart::Lower)
}
const BY_FACTOR: TriangularSolve = TriangularSolve {
    left_side: true,
    lower: true,
    unit_diagonal: false,
    transpose_a: Transpose::None,
};
const BY_ADJOINT: TriangularSolve =
    TriangularSolve { left_side: false, transpose_a: Transpose::Adjoint, ..BY_FACTOR };

impl Derivative for Cholesky {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let Some(t) = first(tangents)? else { return Ok(Tangent::Zero) };
        let (factor, whole) = (as_lower(self, node.result), hermitian(t, self.lower)?);
        let inner = solve(&BY_ADJOINT, factor, solve(&BY_FACTOR, factor, whole)?)?;
        let pushed = product(Plain(factor), Plain(halved(inner)?))?;
        Ok(Tangent::Array(as_lower(self, pushed)))
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let (factor, c) = (as_lower(self, node.result), as_lower(self, c));
        let inner = halved(product(Transposed(factor), Plain(c))?)?;
        let whole =
            solve_transposed(&BY_ADJOINT, factor, solve_transposed(&BY_FACTOR, factor, inner)?)?;
        // What stands above the diagonal is read as the conjugate of what stands below.
        let above = only(whole, MatrixPart::AboveDiagonal)?;
        let pulled = real_diagonal(only(whole, MatrixPart::Lower)?)? + adjoint(above);
        Ok(node.first_only(as_lower(self, pulled)))
    }
}
