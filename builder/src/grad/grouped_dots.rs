//! Derivatives of ragged-dot and scaled-dot, which are rewritten as dots.
use super::node::{Derivative, Node};
use super::ops;
use super::rewrite::{self, Rewrite};
use super::tangent::Tangent;
use crate::arguments::{cast, size};
use crate::{Result, Value};
use hlo::op::{Dot, RaggedDot, RaggedMode, ScaledDot};
use hlo::{Dims, ElementType, Shape};

impl Derivative for RaggedDot {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        ops::bilinear(node, tangents)
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        rewrite::vjp(node, dense(self, node)?, cotangent)
    }
}

/// Returns the left operand once for each group, with zeros in place of what belongs to others, and
/// a dot over all of it.
fn dense<'b>(op: &RaggedDot, node: &Node<'b>) -> Result<Value<'b>> {
    let (b, lhs) = (node.result.builder(), node.operand(0)?);
    let belongs = membership(op, node)?;
    let mut dot = Dot {
        lhs_batch_dims: op.lhs_batch_dims.clone(),
        lhs_contracting_dims: op.lhs_contracting_dims.clone(),
        rhs_batch_dims: op.rhs_batch_dims.clone(),
        rhs_contracting_dims: op.rhs_contracting_dims.clone(),
        operand_precision: op.operand_precision.clone(),
        ..Dot::default()
    };
    if op.mode() == RaggedMode::Batch {
        let masked = belongs.reduce_or(&[0]).select(lhs, 0);
        return b.emit(dot, &[masked, node.operand(1)?], Some(node.result.shape()?));
    }
    let copies = lhs.broadcast(&[belongs.dims()?[0]]);
    let masked = belongs.select(copies, 0);
    let shifted = |dims: &[i64]| dims.iter().map(|dim| dim + 1).collect::<Vec<i64>>();
    dot.lhs_batch_dims = shifted(&op.lhs_batch_dims);
    dot.lhs_contracting_dims = shifted(&op.lhs_contracting_dims);
    if op.mode() == RaggedMode::Free {
        dot.lhs_contracting_dims.insert(0, 0);
        dot.rhs_contracting_dims.splice(0..0, op.rhs_group_dims.iter().copied());
        return b.emit(dot, &[masked, node.operand(1)?], Some(node.result.shape()?));
    }
    // The groups come after the batch dimensions, and belong before them.
    let batch = size(op.lhs_batch_dims.len());
    let result = node.result.array()?;
    let order: Vec<i64> =
        std::iter::once(batch).chain(0..batch).chain(batch + 1..size(result.rank())).collect();
    let places = ops::inverse(&order);
    let dims: Dims = places.iter().filter_map(|&place| result.dim(place)).collect();
    let stated = Shape::from(hlo::ArrayShape::new(result.ty, dims));
    let product = b.emit(dot, &[masked, node.operand(1)?], Some(stated))?;
    Ok(ops::transposed(product, &order))
}

/// Returns for each group and each element of the left operand whether the element is in the group.
fn membership<'b>(op: &RaggedDot, node: &Node<'b>) -> Result<Value<'b>> {
    let (b, lhs) = (node.result.builder(), node.operand(0)?);
    let (shape, sizes) = (lhs.array()?, node.operand(2)?);
    let (ragged, last) = (op.lhs_ragged_dims[0], size(sizes.rank()?) - 1);
    // Ends of groups cannot lie beyond the dimension, so that their sums do not wrap.
    let length = shape.dim(ragged).unwrap_or(0);
    let wide = if sizes.element_type()?.bits() == 64 { sizes.min(length) } else { sizes };
    let lengths = cast(wide, ElementType::S64)?.max(0);
    let ends = lengths.cumsum(last, false);
    let groups = sizes.dims()?[ops::at(last)];
    let dims: Vec<i64> = std::iter::once(groups).chain(shape.dims.iter().copied()).collect();
    let prefix = if sizes.rank()? > 1 { op.prefix(shape.rank()) } else { Vec::new() };
    // Dimensions of the sizes are brought to the places they have in the result, which grow.
    let mut places: Vec<(i64, i64)> = prefix.iter().map(|dim| dim + 1).zip(0..).collect();
    places.insert(0, (0, last));
    places.sort_unstable();
    let (to, from): (Vec<i64>, Vec<i64>) = places.into_iter().unzip();
    let spread = |x: Value<'b>| x.transpose(&from).broadcast_in_dim(&dims, &to);
    let at = b.iota((ElementType::S64, &dims), ragged + 1);
    Ok(at.lt(spread(ends)) & at.ge(spread(ends - lengths)))
}

/// A dot of the products of operands and scales.
impl Rewrite for ScaledDot {
    fn rewritten<'b>(&self, node: &Node<'b>) -> Result<Value<'b>> {
        let ty = node.result.element_type()?;
        let scaled = |x: usize, scale: usize| {
            let (x, scale) = (node.operand(x)?, node.operand(scale)?);
            Ok::<_, crate::Error>(cast(x, ty)? * cast(repeated(scale, &x.dims()?)?, ty)?)
        };
        let dot = Dot {
            lhs_batch_dims: self.lhs_batch_dims.clone(),
            lhs_contracting_dims: self.lhs_contracting_dims.clone(),
            rhs_batch_dims: self.rhs_batch_dims.clone(),
            rhs_contracting_dims: self.rhs_contracting_dims.clone(),
            operand_precision: self.operand_precision.clone(),
            algorithm: self.algorithm,
        };
        let operands = [scaled(0, 2)?, scaled(1, 3)?];
        node.result.builder().emit(dot, &operands, Some(node.result.shape()?))
    }
}
/// Repeats each element to a block, so that the array has these sizes; a scalar stays.
fn repeated<'b>(scale: Value<'b>, dims: &[i64]) -> Result<Value<'b>> {
    let own = scale.dims()?;
    if own.is_empty() || own == dims {
        return Ok(scale);
    }
    let blocks = own.iter().zip(dims);
    let split: Vec<i64> = blocks.flat_map(|(&count, &size)| [count, size / count.max(1)]).collect();
    let places: Vec<i64> = (0..size(own.len())).map(|dim| 2 * dim).collect();
    Ok(scale.broadcast_in_dim(&split, &places).reshape(dims))
}
