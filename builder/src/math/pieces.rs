//! Small instructions the library is made of.
use crate::{Result, Value};
use hlo::op::value::{SliceRange, SliceRanges};
use hlo::op::{BitcastConvert, Concatenate, Iota, Slice};
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar, Shape};

/// The same bits read as another type of the same width.
pub(super) fn bitcast(x: Value<'_>, ty: ElementType) -> Value<'_> {
    x.builder().record(|b| {
        let shape: Shape = x.array()?.with_type(ty).into();
        b.emit(BitcastConvert {}, &[x], Some(shape))
    })
}

/// Bits as a scalar constant of `x`'s width, unsigned.
pub(super) fn word(x: Value<'_>, bits: u64) -> Value<'_> {
    x.builder().record(|b| {
        let ty = unsigned(x.element_type()?.bits()).unwrap_or(ElementType::U64);
        b.make_constant(Literal::scalar(ty, Scalar::Unsigned(bits)))
    })
}

/// The unsigned integer of so many bits.
pub(super) fn unsigned(bits: u32) -> Option<ElementType> {
    match bits {
        8 => Some(ElementType::U8),
        16 => Some(ElementType::U16),
        32 => Some(ElementType::U32),
        64 => Some(ElementType::U64),
        _ => None,
    }
}

/// Counts along a dimension.
pub(super) fn iota<'b>(
    like: Value<'b>,
    ty: ElementType,
    dims: &[i64],
    dimension: i64,
) -> Result<Value<'b>> {
    let shape = ArrayShape::new(ty, Dims::from_slice(dims));
    like.builder().emit(Iota { iota_dimension: Some(dimension) }, &[], Some(shape.into()))
}

/// The elements from `starts` to before `limits`.
pub(super) fn slice<'b>(x: Value<'b>, starts: &[i64], limits: &[i64]) -> Result<Value<'b>> {
    let ranges = starts.iter().zip(limits);
    let ranges = ranges.map(|(&start, &limit)| SliceRange { start, limit, stride: 1 });
    let sizes: Dims = starts.iter().zip(limits).map(|(start, limit)| limit - start).collect();
    let shape = ArrayShape::new(x.element_type()?, sizes);
    let op = Slice { ranges: SliceRanges(ranges.collect()) };
    x.builder().emit(op, &[x], Some(shape.into()))
}

/// The arrays one after the other along a dimension.
pub(super) fn concatenate<'b>(arrays: &[Value<'b>], dimension: i64) -> Result<Value<'b>> {
    let first = arrays.first().ok_or_else(|| crate::Error::argument("nothing to concatenate"))?;
    first.builder().emit(Concatenate { dimensions: vec![dimension] }, arrays, None)
}
