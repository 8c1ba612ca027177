//! Derivatives of triangular-solve: `op(A) X = B` gives `op(A) dX = dB - op(dA) X`; on the other
//! side likewise.
//!
//! Of `A` only the triangle that is read has a derivative, and not its diagonal where that counts
//! as ones.
use super::matrices::Factor::{Plain, Transposed};
use super::matrices::{
    MatrixPart, adjoint, conjugate, only, product, solve, solve_transposed, transposed,
};
use super::node::{Derivative, Node};
use super::tangent::Tangent;
use crate::{Result, Value};
use hlo::op::TriangularSolve;
use hlo::op::value::Transpose;

fn part(op: &TriangularSolve) -> MatrixPart {
    match (op.lower, op.unit_diagonal) {
        (true, false) => MatrixPart::Lower,
        (true, true) => MatrixPart::BelowDiagonal,
        (false, false) => MatrixPart::Upper,
        (false, true) => MatrixPart::AboveDiagonal,
    }
}

impl Derivative for TriangularSolve {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let (op, x) = (self, node.result);
        let [of_a, of_b] = tangents else { return Err(node.refused("solves nothing")) };
        let mut right = of_b.clone();
        if let Some(t) = of_a.array()? {
            let t = only(t, part(op))?;
            let t = match op.transpose_a {
                Transpose::None | Transpose::Invalid => Plain(t),
                Transpose::Transpose => Transposed(t),
                Transpose::Adjoint => Transposed(conjugate(t)),
            };
            let moved = if op.left_side { product(t, Plain(x))? } else { product(Plain(x), t)? };
            right = right.plus(Tangent::Array(-moved))?;
        }
        right.map(&|right| solve(op, node.operand(0)?, right))
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let (op, x) = (self, node.result);
        let of_b = solve_transposed(op, node.operand(0)?, c)?;
        let mut cotangents = vec![Tangent::Zero, Tangent::Array(of_b)];
        if node.needs(0) {
            let of_op_a: Value<'b> = match op.left_side {
                true => product(Plain(of_b), Transposed(x))?,
                false => product(Transposed(x), Plain(of_b))?,
            };
            let of_a = match op.transpose_a {
                Transpose::None | Transpose::Invalid => of_op_a,
                Transpose::Transpose => transposed(of_op_a),
                Transpose::Adjoint => adjoint(of_op_a),
            };
            cotangents[0] = Tangent::Array(only(-of_a, part(op))?);
        }
        Ok(cotangents)
    }
}
