//! Checks of arguments, and lists of dimension numbers.
use crate::{Error, Result, Value};
use hlo::{ArrayShape, Class, ElementType};

/// Returns a count as HLO's sizes are written.
pub(crate) fn size(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
/// Returns the number of a dimension of an array of this rank; a negative one counts from the end:
/// `-1` is the last. One that does not exist stays as it is, for the rule of the op to name it.
pub(crate) fn counted(dim: i64, rank: usize) -> i64 {
    if dim < 0 && dim >= -size(rank) { dim + size(rank) } else { dim }
}
/// As [`counted`], of several.
pub(crate) fn all_counted(dims: &[i64], rank: usize) -> Vec<i64> {
    dims.iter().map(|&dim| counted(dim, rank)).collect()
}
/// Returns the numbers of the first `count` dimensions.
pub(crate) fn first(count: usize) -> Vec<i64> {
    (0..size(count)).collect()
}
/// Returns the dimensions of an array of this rank that are not in the list.
pub(crate) fn others(rank: usize, dims: &[i64]) -> Vec<i64> {
    (0..size(rank)).filter(|d| !dims.contains(d)).collect()
}
/// Fails unless the array has two dimensions or more; returns the sizes of the matrices' rows and
/// columns.
pub(crate) fn matrix(shape: &ArrayShape) -> Result<(i64, i64)> {
    match shape.dims.as_slice() {
        [.., rows, columns] => Ok((*rows, *columns)),
        [] | [_] => Err(Error::argument(format!("expected a matrix, found {shape:#}"))
            .with_help("a matrix has two dimensions or more; the last two are rows and columns")),
    }
}
/// As [`matrix`], of matrices with as many rows as columns.
pub(crate) fn square(shape: &ArrayShape) -> Result<i64> {
    let (rows, columns) = matrix(shape)?;
    if rows == columns {
        return Ok(rows);
    }
    Err(Error::argument(format!("expected square matrices, found {shape:#}")))
}
/// Fails unless the elements are real or complex floats.
pub(crate) fn inexact(shape: &ArrayShape, what: &str) -> Result<()> {
    if shape.ty.is_float() || shape.ty.is_complex() {
        return Ok(());
    }
    Err(Error::argument(format!("{what} takes floats, found {shape:#}"))
        .with_help("convert it first: `x.convert_element_type(ElementType::F32)`"))
}

/// Returns the indices in a type that counts as far as dimensions reach.
pub(crate) fn counting(indices: Value<'_>) -> Result<Value<'_>> {
    let shape = indices.array()?;
    if !shape.ty.is_integral() {
        return Err(Error::argument(format!("indices are integers, not {shape:#}")));
    }
    let narrow = shape.ty.bits() < 32;
    Ok(if narrow { indices.convert_element_type(ElementType::S32) } else { indices })
}
/// Returns the unsigned integer type of this many bits.
pub(crate) fn unsigned_of(bits: u32) -> Option<ElementType> {
    let fits = |ty: &ElementType| ty.class() == Class::Unsigned && ty.bits() == bits;
    ElementType::ALL.iter().copied().find(fits)
}
/// Converts the elements unless they are of this type.
pub(crate) fn cast(value: Value<'_>, ty: ElementType) -> Result<Value<'_>> {
    Ok(if value.element_type()? == ty { value } else { value.convert_element_type(ty) })
}
