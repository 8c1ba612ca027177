//! Derivatives of cholesky: with `A = L L^H`, `dL = L P(L^-1 dA L^-H)`, where `P` takes the lower triangle and half of the
//! diagonal.
//!
//! Only one triangle of `A` is read, so only that has a derivative: `dA` is what it stands for, with a real diagonal. An upper
//! factor is the adjoint of the lower factor of the adjoint.
use super::matrices::Factor::{Plain, Turned};
use super::matrices::{Part, adjoint, lies_in, only, product, solve, solve_turned};
use super::{Node, Tangent, node};
use crate::{Result, Value};
use hlo::Op;
use hlo::op::TriangularSolve;
use hlo::op::value::Transpose;

/// To the lower factor and back.
fn as_lower<'b>(node: &Node<'b>, value: Value<'b>) -> Result<Value<'b>> {
    let Op::Cholesky(op) = &node.op else { return Err(node.refused("has no factor")) };
    if op.lower { Ok(value) } else { adjoint(value) }
}
/// The lower triangle with half of the diagonal.
fn halved(value: Value<'_>) -> Result<Value<'_>> {
    let half = lies_in(value, Part::Diagonal)?.select(value * 0.5, value);
    only(half, Part::Lower)
}
fn real_diagonal(value: Value<'_>) -> Result<Value<'_>> {
    let ty = value.element_type()?;
    if !ty.is_complex() {
        return Ok(value);
    }
    let real = value.real().convert_element_type(ty);
    Ok(lies_in(value, Part::Diagonal)?.select(real, value))
}
const BY_FACTOR: TriangularSolve = TriangularSolve {
    left_side: true,
    lower: true,
    unit_diagonal: false,
    transpose_a: Transpose::None,
};
const BY_ADJOINT: TriangularSolve =
    TriangularSolve { left_side: false, transpose_a: Transpose::Adjoint, ..BY_FACTOR };

pub(super) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let Some(t) = node::first(tangents)? else { return Ok(Tangent::Zero) };
    let (factor, t) = (as_lower(node, node.result)?, as_lower(node, t)?);
    let below = only(t, Part::BelowDiagonal)?;
    let whole = real_diagonal(only(t, Part::Lower)?)? + adjoint(below)?;
    let inner = solve(&BY_ADJOINT, factor, solve(&BY_FACTOR, factor, whole)?)?;
    let pushed = product(Plain(factor), Plain(halved(inner)?))?;
    Ok(Tangent::Array(as_lower(node, pushed)?))
}
pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let (factor, c) = (as_lower(node, node.result)?, as_lower(node, c)?);
    let inner = halved(product(Turned(factor), Plain(c))?)?;
    let whole = solve_turned(&BY_ADJOINT, factor, solve_turned(&BY_FACTOR, factor, inner)?)?;
    // What stands above the diagonal is read as the conjugate of what stands below.
    let above = only(whole, Part::AboveDiagonal)?;
    let pulled = real_diagonal(only(whole, Part::Lower)?)? + adjoint(above)?;
    Ok(node.first_only(as_lower(node, pulled)?))
}
