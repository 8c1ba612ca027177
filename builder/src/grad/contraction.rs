//! Derivatives of dot: linear in each operand, and the transpose of a dot is a dot.
use super::{Node, Tangent, ops};
use crate::{Result, Value};
use hlo::op::Dot;
use hlo::{ArrayShape, Dims, Op};

pub(super) fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let (lhs, rhs) = (node.operand(0)?, node.operand(1)?);
    let mut sum = Tangent::Zero;
    for (i, tangent) in tangents.iter().enumerate() {
        let Some(t) = tangent.array()? else { continue };
        let operands = if i == 0 { [t, rhs] } else { [lhs, t] };
        sum = sum.plus(Tangent::Array(node.again(&operands, None)?))?;
    }
    Ok(sum)
}

pub(super) fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Op::Dot(op) = &node.op else { return Err(node.refused("is no dot")) };
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let (lhs, rhs) = (
        Side::of(node.operand(0)?, &op.lhs_batch_dims, &op.lhs_contracting_dims)?,
        Side::of(node.operand(1)?, &op.rhs_batch_dims, &op.rhs_contracting_dims)?,
    );
    let batch = lhs.batch.len();
    // The cotangent's dimensions: those shared, those left of the left operand, those left of the right one.
    let left = ops::run(batch, lhs.free.len());
    let right = ops::run(batch + lhs.free.len(), rhs.free.len());
    let mut cotangents = node.zeros();
    if node.wants(0) {
        cotangents[0] = Tangent::Array(transpose(op, c, &lhs, (&rhs, &right))?);
    }
    if node.wants(1) {
        let mut turned = op.clone();
        turned.operand_precision.0.reverse();
        cotangents[1] = Tangent::Array(transpose(&turned, c, &rhs, (&lhs, &left))?);
    }
    Ok(cotangents)
}

/// An operand and what its dimensions are for.
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
        let free = ops::others(shape.rank(), &[batch, contracting].concat());
        Ok(Self { value, shape, batch, contracting, free })
    }
}

/// The cotangent of `this` side: the result's, summed with the other operand over the dimensions that only that one has.
/// It takes the place and the precision of `this`.
fn transpose<'b>(
    op: &Dot,
    c: Value<'b>,
    this: &Side<'_, 'b>,
    (other, other_dims): (&Side<'_, 'b>, &[i64]),
) -> Result<Value<'b>> {
    let ty = c.element_type()?;
    let wide = match other.shape.ty == ty {
        true => other.value,
        false => other.value.convert_element_type(ty),
    };
    let dot = Dot {
        lhs_batch_dims: ops::run(0, this.batch.len()),
        lhs_contracting_dims: other_dims.to_vec(),
        rhs_batch_dims: other.batch.to_vec(),
        rhs_contracting_dims: other.free.clone(),
        operand_precision: op.operand_precision.clone(),
        algorithm: op.algorithm,
    };
    // What the product has: the shared dimensions, those left of this side, and the other's contracting ones, growing.
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
