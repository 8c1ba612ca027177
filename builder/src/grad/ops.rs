//! Instructions that derivative rules are made of.
use super::{Node, Tangent, tangent};
use crate::{Result, Value, implicit};
use hlo::ir::ComputationId;
use hlo::op::value::{PaddingConfig, PaddingDim, SliceRange, SliceRanges};
use hlo::op::{Broadcast, Pad, Reduce, Slice};
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar};

/// Zeros of the shape of an array.
pub(super) fn zeros_like(value: Value<'_>) -> Result<Value<'_>> {
    tangent::zeros(value.builder(), &value.shape()?)
}
/// The zero of an array's type.
pub(super) fn zero_of(value: Value<'_>) -> Result<Value<'_>> {
    value.builder().make_constant(Literal::zeros(scalar_shape(value.element_type()?)))
}
pub(super) fn scalar_shape(ty: ElementType) -> ArrayShape {
    ArrayShape::new(ty, Dims::new())
}
/// Tangents of all operands as values, zeros where nothing flows.
pub(super) fn filled<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Vec<Value<'b>>> {
    tangents.iter().zip(&node.operands).map(|(t, &operand)| t.filled(operand)).collect()
}
/// A vector of whole numbers of an integer type, as constants.
pub(super) fn integers<'b>(like: Value<'b>, ty: ElementType, numbers: &[i64]) -> Result<Value<'b>> {
    let mut literal = Literal::zeros(ArrayShape::new(ty, Dims::from_slice(&[count(numbers)])));
    for (bytes, &n) in literal.bytes_mut().chunks_exact_mut(ty.storage_bytes()).zip(numbers) {
        Scalar::Signed(n).convert(ElementType::S64, ty).write(ty, bytes);
    }
    like.builder().make_constant(literal)
}
pub(super) fn count<T>(items: &[T]) -> i64 {
    i64::try_from(items.len()).unwrap_or(i64::MAX)
}
/// The numbers `first, first + 1, ...`, so many.
pub(super) fn run(first: usize, length: usize) -> Vec<i64> {
    (first..first + length).map(|d| i64::try_from(d).unwrap_or(i64::MAX)).collect()
}
/// Dimensions of an array of this rank that are not listed, growing.
pub(super) fn others(rank: usize, listed: &[i64]) -> Vec<i64> {
    run(0, rank).into_iter().filter(|d| !listed.contains(d)).collect()
}
/// The place of a dimension number in a list of sizes; such numbers come from instructions that were checked.
pub(super) fn at(dim: i64) -> usize {
    usize::try_from(dim).unwrap_or(usize::MAX)
}

/// The computation that adds two scalars.
pub(super) fn adder(value: Value<'_>) -> Result<ComputationId> {
    value.builder().combiner("add", value.element_type()?, |a, b| a + b)
}
/// The sum along dimensions.
pub(super) fn sum<'b>(value: Value<'b>, dimensions: &[i64]) -> Result<Value<'b>> {
    if dimensions.is_empty() {
        return Ok(value);
    }
    let op = Reduce { dimensions: dimensions.to_vec(), to_apply: adder(value)? };
    value.builder().emit(op, &[value, zero_of(value)?], None)
}
/// The sum of all elements.
pub(super) fn total(value: Value<'_>) -> Result<Value<'_>> {
    sum(value, &run(0, value.rank()?))
}
/// Dimension `i` laid along dimension `dims[i]` of an array of this shape.
pub(super) fn spread<'b>(value: Value<'b>, dims: &[i64], shape: &ArrayShape) -> Result<Value<'b>> {
    let shape = ArrayShape::new(value.element_type()?, shape.dims.clone());
    if value.dims()? == shape.dims.as_slice() && dims.is_sorted() {
        return Ok(value);
    }
    value.builder().emit(Broadcast { dimensions: dims.to_vec() }, &[value], Some(shape.into()))
}
/// A scalar as an array of these sizes; an array stays.
pub(super) fn like_array<'b>(value: Value<'b>, shape: &ArrayShape) -> Result<Value<'b>> {
    match value.rank()? == shape.rank() {
        true => Ok(value),
        false => implicit::splat(value, shape),
    }
}
/// The dimensions in another order; nothing if it is the same.
pub(super) fn transposed<'b>(value: Value<'b>, permutation: &[i64]) -> Value<'b> {
    match permutation.is_sorted() {
        true => value,
        false => value.transpose(permutation),
    }
}
/// `p` with `p[places[i]] = i`.
pub(super) fn inverse(places: &[i64]) -> Vec<i64> {
    let mut order: Vec<i64> = run(0, places.len());
    order.sort_by_key(|&i| places.get(at(i)).copied());
    order
}
/// One range of each dimension.
pub(super) fn sliced(value: Value<'_>, ranges: Vec<SliceRange>) -> Result<Value<'_>> {
    let shape = value.array()?;
    let whole = |(r, &size): (&SliceRange, &i64)| r.start == 0 && r.limit == size && r.stride == 1;
    if ranges.iter().zip(&shape.dims).all(whole) {
        return Ok(value);
    }
    let size = |r: &SliceRange| (r.limit - r.start + r.stride - 1) / r.stride;
    let result = ArrayShape::new(shape.ty, ranges.iter().map(size).collect::<Dims>());
    let ranges = SliceRanges(ranges);
    value.builder().emit(Slice { ranges }, &[value], Some(result.into()))
}
/// All of an array but this range of one dimension.
pub(super) fn slice_of(value: Value<'_>, dim: i64, range: SliceRange) -> Result<Value<'_>> {
    let all = |(d, &limit): (i64, &i64)| match d == dim {
        true => range,
        false => SliceRange { start: 0, limit, stride: 1 },
    };
    let dims = value.dims()?;
    sliced(value, (0i64..).zip(&dims).map(all).collect())
}
/// The array with `with`, a scalar, around and between its elements.
pub(super) fn padded<'b>(
    value: Value<'b>,
    with: Value<'b>,
    dims: Vec<PaddingDim>,
) -> Result<Value<'b>> {
    if dims.iter().all(|dim| *dim == PaddingDim::default()) {
        return Ok(value);
    }
    value.builder().emit(Pad { padding: PaddingConfig { dims } }, &[value, with], None)
}
