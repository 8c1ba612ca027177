//! Derivatives of triangular-solve: `op(A) X = B` gives `op(A) dX = dB - op(dA) X`; on the other side likewise.
//!
//! Of `A` only the triangle that is read has a derivative, and not its diagonal where that counts as ones.
use super::matrices::Factor::{Plain, Turned};
use super::matrices::{Part, adjoint, conjugate, only, product, solve, solve_turned, turned};
use super::{Node, Tangent};
use crate::{Result, Value};
use hlo::Op;
use hlo::op::TriangularSolve;
use hlo::op::value::Transpose;

fn attributes<'a>(node: &'a Node<'_>) -> Result<&'a TriangularSolve> {
    let Op::TriangularSolve(op) = &node.op else { return Err(node.refused("solves nothing")) };
    Ok(op)
}
fn part(op: &TriangularSolve) -> Part {
    match (op.lower, op.unit_diagonal) {
        (true, false) => Part::Lower,
        (true, true) => Part::BelowDiagonal,
        (false, false) => Part::Upper,
        (false, true) => Part::AboveDiagonal,
    }
}

pub(super) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let (op, x) = (attributes(node)?, node.result);
    let [of_a, of_b] = tangents else { return Err(node.refused("solves nothing")) };
    let mut right = of_b.clone();
    if let Some(t) = of_a.array()? {
        let t = only(t, part(op))?;
        let t = match op.transpose_a {
            Transpose::None | Transpose::Invalid => Plain(t),
            Transpose::Transpose => Turned(t),
            Transpose::Adjoint => Turned(conjugate(t)?),
        };
        let moved = if op.left_side { product(t, Plain(x))? } else { product(Plain(x), t)? };
        right = right.plus(Tangent::Array(-moved))?;
    }
    right.map(&|right| solve(op, node.operand(0)?, right))
}

pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let (op, x) = (attributes(node)?, node.result);
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let of_b = solve_turned(op, node.operand(0)?, c)?;
    let mut cotangents = vec![Tangent::Zero, Tangent::Array(of_b)];
    if node.wants(0) {
        let of_op_a: Value<'b> = match op.left_side {
            true => product(Plain(of_b), Turned(x))?,
            false => product(Turned(x), Plain(of_b))?,
        };
        let of_a = match op.transpose_a {
            Transpose::None | Transpose::Invalid => of_op_a,
            Transpose::Transpose => turned(of_op_a)?,
            Transpose::Adjoint => adjoint(of_op_a)?,
        };
        cotangents[0] = Tangent::Array(only(-of_a, part(op))?);
    }
    Ok(cotangents)
}
