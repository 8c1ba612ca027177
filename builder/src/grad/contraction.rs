//! Derivatives of dot: linear in each operand, and the transpose of a dot is a dot.
use super::node::{Derivative, Node};
use super::ops;
use super::tangent::Tangent;
use crate::arguments::{cast, others};
use crate::{Result, Value};
use hlo::op::Dot;
use hlo::{ArrayShape, Dims, Op};

impl Derivative for Dot {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        ops::bilinear(node, tangents)
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let (lhs, rhs) = (
            Side::of(node.operand(0)?, &self.lhs_batch_dims, &self.lhs_contracting_dims)?,
            Side::of(node.operand(1)?, &self.rhs_batch_dims, &self.rhs_contracting_dims)?,
        );
        let batch = lhs.batch.len();
        // The cotangent's dimensions: those shared, those left of the left operand, those left of
        // the right one.
        let left = ops::run(batch, lhs.free.len());
        let right = ops::run(batch + lhs.free.len(), rhs.free.len());
        let mut reversed = self.clone();
        reversed.operand_precision.0.reverse();
        node.each_needed(|i| match i {
            0 => transpose(self, c, &lhs, (&rhs, &right)),
            _ => transpose(&reversed, c, &rhs, (&lhs, &left)),
        })
    }
}

/// An operand and the roles of its dimensions.
struct Side<'a, 'b> {
    value: Value<'b>,
    shape: ArrayShape,
    batch: &'a [i64],
    contracting: &'a [i64],
    free: Vec<i64>,
}
impl<'a, 'b> Side<'a, 'b> {
    fn of(value: Value<'b>, batch: &'a [i64], contracting: &'a [i64]) -> Result<Self> {
        let shape = value.array()?;
        let free = others(shape.rank(), &[batch, contracting].concat());
        Ok(Self { value, shape, batch, contracting, free })
    }
}

/// Returns the cotangent of `this` side: the result's, summed with the other operand over the
/// dimensions that only that one has. It takes the place and the precision of `this`.
fn transpose<'b>(
    op: &Dot,
    c: Value<'b>,
    this: &Side<'_, 'b>,
    (other, other_dims): (&Side<'_, 'b>, &[i64]),
) -> Result<Value<'b>> {
    let ty = c.element_type()?;
    let wide = cast(other.value, ty)?;
    let dot = Dot {
        lhs_batch_dims: ops::run(0, this.batch.len()),
        lhs_contracting_dims: other_dims.to_vec(),
        rhs_batch_dims: other.batch.to_vec(),
        rhs_contracting_dims: other.free.clone(),
        operand_precision: op.operand_precision.clone(),
        algorithm: op.algorithm,
    };
    // What the product has: the shared dimensions, those left of this side, and the other's
    // contracting ones, growing.
    let mut contracted: Vec<(i64, i64)> =
        other.contracting.iter().copied().zip(this.contracting.iter().copied()).collect();
    contracted.sort_unstable();
    let places: Vec<i64> = (this.batch.iter().chain(&this.free).copied())
        .chain(contracted.into_iter().map(|(_, this)| this))
        .collect();
    let sizes: Dims = places.iter().filter_map(|&d| this.shape.dim(d)).collect();
    let shape = ArrayShape::new(ty, sizes);
    let product = c.builder().emit(Op::Dot(Box::new(dot)), &[c, wide], Some(shape.into()))?;
    Ok(ops::transposed(product, &ops::inverse(&places)))
}
