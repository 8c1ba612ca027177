//! Lists of dimensions and small instruction sequences that derivative rules share.
use super::node::Node;
use super::tangent::Tangent;
use crate::arguments::size;
use crate::{Result, Value, implicit};
use hlo::ir::ComputationId;
use hlo::{ArrayShape, ElementType};

/// Returns `first, first + 1, ...`, `length` numbers in all.
pub(super) fn run(first: usize, length: usize) -> Vec<i64> {
    (size(first)..).take(length).collect()
}
/// Returns a dimension number as an index into a list of sizes. Such numbers come from verified
/// instructions.
pub(super) fn at(dim: i64) -> usize {
    usize::try_from(dim).unwrap_or(usize::MAX)
}
/// Returns the computation that adds two scalars.
pub(super) fn adder(value: Value<'_>) -> Result<ComputationId> {
    value.builder().combiner("add", value.element_type()?, |a, b| a + b)
}
/// Returns the sum of all elements.
pub(super) fn total(value: Value<'_>) -> Value<'_> {
    value.reduce_all(0, |a, b| a + b)
}
/// Lays dimension `i` along dimension `dims[i]` of an array of this shape.
pub(super) fn spread<'b>(value: Value<'b>, dims: &[i64], shape: &ArrayShape) -> Result<Value<'b>> {
    if value.dims()? == shape.dims.as_slice() && dims.is_sorted() {
        return Ok(value);
    }
    Ok(value.broadcast_in_dim(&shape.dims, dims))
}
/// Returns an integer vector constant.
pub(super) fn integers(like: Value<'_>, ty: ElementType, numbers: Vec<i64>) -> Value<'_> {
    like.builder().constant(numbers).convert_element_type(ty)
}
/// Repeats a scalar to an array of this shape; an array is returned as it is.
pub(super) fn like_array<'b>(value: Value<'b>, shape: &ArrayShape) -> Result<Value<'b>> {
    if value.rank()? == shape.rank() { Ok(value) } else { implicit::splat(value, shape) }
}
/// Transposes, unless the permutation is the identity.
pub(super) fn transposed<'b>(value: Value<'b>, permutation: &[i64]) -> Value<'b> {
    if permutation.is_sorted() { value } else { value.transpose(permutation) }
}
/// Returns `p` with `p[places[i]] = i`.
pub(super) fn inverse(places: &[i64]) -> Vec<i64> {
    let mut order: Vec<i64> = run(0, places.len());
    order.sort_by_key(|&i| places.get(at(i)).copied());
    order
}
/// Returns `high` for each component of the index vectors, as an array shaped like the indices.
/// Bounds that the element type cannot hold become its largest value.
pub(super) fn along_vectors<'b>(
    indices: Value<'b>,
    vector_dim: i64,
    bounds: &[i64],
) -> Result<Value<'b>> {
    let shape = indices.array()?;
    let bits = shape.ty.bits() - u32::from(shape.ty.class() == hlo::elem::Class::Signed);
    let most = i64::try_from((1i128 << bits) - 1).unwrap_or(i64::MAX);
    let bounds: Vec<i64> = bounds.iter().map(|&bound| bound.min(most)).collect();
    let bounds = integers(indices, shape.ty, bounds);
    if at(vector_dim) == shape.rank() {
        return like_array(bounds.reshape(&[]), &shape);
    }
    spread(bounds, &[vector_dim], &shape)
}
/// Returns the JVP of an op that is linear in each of its two operands.
pub(super) fn bilinear<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let mut sum = Tangent::Zero;
    for (i, tangent) in tangents.iter().enumerate() {
        let Some(t) = tangent.array()? else { continue };
        let mut operands = node.operands.clone();
        operands[i] = t;
        sum = sum.plus(Tangent::Array(node.again(&operands)?))?;
    }
    Ok(sum)
}
