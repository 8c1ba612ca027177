//! Ops the library is written with: checked and typed, without options.
use crate::operand::{Number, scalar};
use crate::{Builder, Error, Result, Value};
use hlo::elem::Class;
use hlo::op::value::{
    DotAlgorithm, OperandPrecision, PaddingConfig, PaddingDim, SliceRange, SliceRanges, Window,
};
use hlo::op::{
    Concatenate, Dot, DynamicSlice, DynamicUpdateSlice, GetDimensionSize, Iota, Pad, ReduceWindow,
    SetDimensionSize, Slice, Sort, TriangularSolve,
};
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar};

/// A count as HLO's sizes are written.
pub(crate) fn size(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
/// The numbers of the first `count` dimensions.
pub(crate) fn first(count: usize) -> Vec<i64> {
    (0..size(count)).collect()
}
/// The dimensions of an array of this rank that are not in the list.
pub(crate) fn others(rank: usize, dims: &[i64]) -> Vec<i64> {
    (0..size(rank)).filter(|d| !dims.contains(d)).collect()
}
/// Fails unless the array has two dimensions or more; gives the sizes of the matrices' rows and columns.
pub(crate) fn matrix(shape: &ArrayShape) -> Result<(i64, i64)> {
    match shape.dims.as_slice() {
        [.., rows, columns] => Ok((*rows, *columns)),
        [] | [_] => Err(Error::argument(format!("a matrix is wanted here, this is {shape:#}"))
            .with_help("a matrix has two dimensions or more; the last two are rows and columns")),
    }
}
/// As [`matrix`], of matrices with as many rows as columns.
pub(crate) fn square(shape: &ArrayShape) -> Result<i64> {
    let (rows, columns) = matrix(shape)?;
    if rows == columns {
        return Ok(rows);
    }
    Err(Error::argument(format!("square matrices are wanted here, these are {shape:#}")))
}
/// Fails unless the elements are real or complex floats.
pub(crate) fn inexact(shape: &ArrayShape, what: &str) -> Result<()> {
    if shape.ty.is_float() || shape.ty.is_complex() {
        return Ok(());
    }
    Err(Error::argument(format!("{what} is of floats, this is {shape:#}"))
        .with_help("convert it first: `x.convert_element_type(ElementType::F32)`"))
}

/// Indices, of a type that counts as far as dimensions reach.
pub(crate) fn counting(indices: Value<'_>) -> Result<Value<'_>> {
    let shape = indices.array()?;
    if !shape.ty.is_integral() {
        return Err(Error::argument(format!("indices are whole numbers, not {shape:#}")));
    }
    let narrow = shape.ty.bits() < 32;
    Ok(if narrow { indices.convert_element_type(ElementType::S32) } else { indices })
}

/// A scalar of this type, from a whole number.
pub(crate) fn whole(b: &Builder, ty: ElementType, n: i64) -> Result<Value<'_>> {
    b.make_constant(Literal::scalar(ty, scalar(Number::Whole(n), ty)?))
}
/// A scalar of this float type, rounded.
pub(crate) fn real(b: &Builder, ty: ElementType, x: f64) -> Result<Value<'_>> {
    b.make_constant(Literal::scalar(ty, scalar(Number::Float(x), ty)?))
}
/// An array of zeros; of `pred` all false.
pub(crate) fn zeros<'b>(b: &'b Builder, ty: ElementType, dims: &[i64]) -> Result<Value<'b>> {
    b.make_constant(Literal::zeros(ArrayShape::new(ty, Dims::from_slice(dims))))
}
/// The value below or above all others of a real type, or as far as it reaches: what `max` or `min` leaves alone.
pub(crate) fn bound(b: &Builder, ty: ElementType, above: bool) -> Result<Value<'_>> {
    let bits = ty.bits();
    let scalar = match ty.class() {
        Class::Pred => Scalar::Pred(above),
        Class::Unsigned if above => Scalar::Unsigned(u64::MAX >> (64 - bits)),
        Class::Unsigned => Scalar::Unsigned(0),
        Class::Signed if above => Scalar::Signed(i64::MAX >> (64 - bits)),
        Class::Signed => Scalar::Signed(i64::MIN >> (64 - bits)),
        Class::Float => {
            let far = if above { f64::INFINITY } else { f64::NEG_INFINITY };
            let held = Scalar::Float(far).convert(ElementType::F64, ty);
            let finite = ty.float_format().map_or(far, |format| format.max_finite().copysign(far));
            if held.as_f64().is_infinite() { held } else { Scalar::Float(finite) }
        }
        Class::Complex => {
            return Err(Error::argument(format!("{ty} has no order, so no largest element")));
        }
    };
    b.make_constant(Literal::scalar(ty, scalar))
}

/// Numbers that count along a dimension.
pub(crate) fn iota<'b>(
    b: &'b Builder,
    ty: ElementType,
    dims: &[i64],
    dimension: i64,
) -> Result<Value<'b>> {
    let shape = ArrayShape::new(ty, Dims::from_slice(dims));
    b.emit(Iota { iota_dimension: Some(dimension) }, &[], Some(shape.into()))
}
/// The elements from `start` to before `limit` of one dimension.
pub(crate) fn slice_in_dim(x: Value<'_>, start: i64, limit: i64, dim: i64) -> Result<Value<'_>> {
    let dims = x.dims()?;
    let ranges = dims.iter().zip(0i64..).map(|(&size, d)| match d == dim {
        true => SliceRange { start, limit, stride: 1 },
        false => SliceRange { start: 0, limit: size, stride: 1 },
    });
    x.builder().emit(Slice { ranges: SliceRanges(ranges.collect()) }, &[x], None)
}
/// A box of an array: a start and a limit for each dimension.
pub(crate) fn slice<'b>(x: Value<'b>, ranges: &[(i64, i64)]) -> Result<Value<'b>> {
    let ranges = ranges.iter().map(|&(start, limit)| SliceRange { start, limit, stride: 1 });
    x.builder().emit(Slice { ranges: SliceRanges(ranges.collect()) }, &[x], None)
}
/// A value around and between the elements.
pub(crate) fn pad<'b>(x: Value<'b>, with: Value<'b>, dims: Vec<PaddingDim>) -> Result<Value<'b>> {
    x.builder().emit(Pad { padding: PaddingConfig { dims } }, &[x, with], None)
}
/// A value before and after the elements of one dimension.
pub(crate) fn pad_in_dim<'b>(
    x: Value<'b>,
    with: Value<'b>,
    dim: i64,
    low: i64,
    high: i64,
) -> Result<Value<'b>> {
    let none = PaddingDim::default();
    let one = |d: i64| if d == dim { PaddingDim { low, high, interior: 0 } } else { none };
    pad(x, with, (0..size(x.rank()?)).map(one).collect())
}
/// Arrays end to end.
pub(crate) fn concat<'b>(arrays: &[Value<'b>], dim: i64) -> Result<Value<'b>> {
    let first =
        arrays.first().ok_or_else(|| Error::argument("there is nothing to put together"))?;
    first.builder().emit(Concatenate { dimensions: vec![dim] }, arrays, None)
}
/// A box at a place known only at run time.
pub(crate) fn dynamic_slice<'b>(
    x: Value<'b>,
    starts: &[Value<'b>],
    sizes: &[i64],
) -> Result<Value<'b>> {
    let op = DynamicSlice { dynamic_slice_sizes: sizes.to_vec() };
    x.builder().emit(op, &[&[x], starts].concat(), None)
}
/// The array with a box replaced.
pub(crate) fn dynamic_update_slice<'b>(
    x: Value<'b>,
    update: Value<'b>,
    starts: &[Value<'b>],
) -> Result<Value<'b>> {
    x.builder().emit(DynamicUpdateSlice {}, &[&[x, update], starts].concat(), None)
}

/// Which dimensions of two arrays belong together.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    pub(crate) lhs_batch: Vec<i64>,
    pub(crate) rhs_batch: Vec<i64>,
    pub(crate) lhs_contracting: Vec<i64>,
    pub(crate) rhs_contracting: Vec<i64>,
}
/// Sums of products.
pub(crate) fn dot<'b>(lhs: Value<'b>, rhs: Value<'b>, pairs: Pairs) -> Result<Value<'b>> {
    let op = Dot {
        lhs_batch_dims: pairs.lhs_batch,
        lhs_contracting_dims: pairs.lhs_contracting,
        rhs_batch_dims: pairs.rhs_batch,
        rhs_contracting_dims: pairs.rhs_contracting,
        operand_precision: OperandPrecision::default(),
        algorithm: DotAlgorithm::Unset,
    };
    lhs.builder().emit(op, &[lhs, rhs], None)
}
/// A window that slides over an array and folds what it covers.
pub(crate) fn reduce_window<'b>(
    x: Value<'b>,
    init: Value<'b>,
    combine: impl FnOnce(Value<'b>, Value<'b>) -> Value<'b>,
    window: Window,
) -> Result<Value<'b>> {
    let b = x.builder();
    let to_apply = b.combiner("reducer", x.element_type()?, combine)?;
    b.emit(ReduceWindow { window, to_apply }, &[x, init], None)
}
/// Arrays in the order of the first one: the largest first, equal ones as they stood.
pub(crate) fn sort_descending<'b>(arrays: &[Value<'b>], dim: i64) -> Result<Value<'b>> {
    let first = arrays.first().ok_or_else(|| Error::argument("there is nothing to sort"))?;
    let mut scalars = Vec::new();
    for array in arrays {
        let scalar = hlo::Shape::scalar(array.element_type()?);
        scalars.extend([scalar.clone(), scalar]);
    }
    let b = first.builder();
    let greater = |p: &[Value<'b>]| match p {
        [a, c, ..] => a.gt_total_order(*c),
        [] | [_] => Value::invalid(b),
    };
    let to_apply = Some(b.trace("greater", &scalars, greater)?);
    b.emit(Sort { dimensions: Some(vec![dim]), is_stable: true, to_apply }, arrays, None)
}
/// The solution `x` of `a x = b`, where `a` is triangular.
pub(crate) fn triangular_solve<'b>(
    a: Value<'b>,
    b: Value<'b>,
    lower: bool,
    unit_diagonal: bool,
) -> Result<Value<'b>> {
    let transpose_a = hlo::op::value::Transpose::None;
    let op = TriangularSolve { left_side: true, lower, unit_diagonal, transpose_a };
    a.builder().emit(op, &[a, b], None)
}
/// How much of a dimension counts, as `s32[]`.
pub(crate) fn dimension_size(x: Value<'_>, dim: i64) -> Result<Value<'_>> {
    x.builder().emit(GetDimensionSize { dimensions: vec![dim] }, &[x], None)
}
/// The array, of which only so much of a dimension counts.
pub(crate) fn set_dimension_size<'b>(x: Value<'b>, size: Value<'b>, dim: i64) -> Result<Value<'b>> {
    x.builder().emit(SetDimensionSize { dimensions: vec![dim] }, &[x, size], None)
}
