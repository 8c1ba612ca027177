//! Implicit broadcasting: what XLA's builder adds to operands of different shapes.
//!
//! Source: Broadcasting Semantics of the XLA documentation. Scalars stretch to anything; operands
//! of one rank stretch along dimensions of size 1; an operand of lower rank broadcasts along
//! dimensions that must be named. There is no alignment by trailing dimensions.
use crate::arguments::{all_counted, first};
use crate::{Code, Error, Operand, Result, Value};
use hlo::op::{Broadcast, Reshape};
use hlo::{ArrayShape, Dims};

#[cold]
fn refused(message: String, help: &str) -> Error {
    Error::from(Code::Broadcast { message }).with_help(help)
}

/// Returns both operands, broadcast to one shape.
pub(crate) fn pair<'b>(
    lhs: impl Operand<'b>,
    rhs: impl Operand<'b>,
    like: Value<'b>,
) -> Result<(Value<'b>, Value<'b>)> {
    let (lhs, rhs) = (lhs.beside(like)?, rhs.beside(like)?);
    // An operand of another computation is reported before its shape.
    let _ = like.builder().adopt(lhs.value)?;
    let _ = like.builder().adopt(rhs.value)?;
    let (l, r) = (lhs.value.array()?, rhs.value.array()?);
    let (lower, higher) = if l.rank() <= r.rank() { (&lhs, &rhs) } else { (&rhs, &lhs) };
    if !higher.dims().is_empty() && l.rank() != r.rank() {
        let (low, high) = (lower.value.array()?, higher.value.array()?);
        let message = format!("{high:#} is broadcast along dimensions of {low:#}, which has fewer");
        return Err(refused(message, "`along` belongs to the operand with fewer dimensions"));
    }
    let dims = if lower.dims().is_empty() { higher.dims() } else { lower.dims() };
    let (low, high) = raised(lower.value, &dims, higher.value)?;
    Ok(if l.rank() <= r.rank() { (low, high) } else { (high, low) })
}

/// Returns the operand of lower rank brought to the rank of the other, then both stretched.
fn raised<'b>(low: Value<'b>, dims: &[i64], high: Value<'b>) -> Result<(Value<'b>, Value<'b>)> {
    let (l, h) = (low.array()?, high.array()?);
    let dims = all_counted(dims, h.rank());
    if l.rank() == 0 && h.rank() > 0 && dims.is_empty() {
        return Ok((splat(low, &h)?, high));
    }
    if l.rank() == h.rank() {
        let identity = dims.iter().zip(0i64..).all(|(&d, i)| d == i);
        if !dims.is_empty() && (!identity || dims.len() != l.rank()) {
            let message = format!(
                "operands of one rank, {l:#} and {h:#}, cannot be broadcast along {dims:?}"
            );
            return Err(refused(message, "leave `along` out, or transpose one of them"));
        }
        return stretched(low, high);
    }
    if dims.is_empty() {
        let message = format!("{l:#} and {h:#} have different ranks");
        let help = "name the dimensions it broadcasts along: `x + bias.along(&[1])`; XLA does not align trailing dimensions";
        return Err(refused(message, help));
    }
    if dims.len() != l.rank() {
        let message = format!("{l:#} has {} dimensions, `along` names {}", l.rank(), dims.len());
        return Err(refused(message, "name one dimension of the other operand for each"));
    }
    let mut sizes = h.dims.clone();
    for (&dim, &size) in dims.iter().zip(&l.dims) {
        let slot = usize::try_from(dim).ok().and_then(|d| sizes.get_mut(d));
        let slot = slot.ok_or_else(|| {
            refused(
                format!("dimension {dim} does not exist in {h:#}"),
                "count from 0, or from the end: `-1` is the last",
            )
        })?;
        *slot = size;
    }
    if !dims.is_sorted_by(|a, b| a < b) {
        let message = format!("the dimensions {dims:?} of `along` are not increasing");
        return Err(refused(message, "transpose the operand first"));
    }
    let shape = ArrayShape::new(l.ty, sizes);
    let op = Broadcast { dimensions: dims };
    let raised = low.builder().emit(op, &[low], Some(shape.into()))?;
    stretched(raised, high)
}

/// Returns a scalar repeated to the sizes of `shape`.
pub(crate) fn splat<'b>(scalar: Value<'b>, shape: &ArrayShape) -> Result<Value<'b>> {
    let shape = shape.with_type(scalar.element_type()?);
    scalar.builder().emit(Broadcast { dimensions: vec![] }, &[scalar], Some(shape.into()))
}

/// Operands of one rank: dimensions of size 1 are repeated.
fn stretched<'b>(a: Value<'b>, b: Value<'b>) -> Result<(Value<'b>, Value<'b>)> {
    let (left, right) = (a.array()?, b.array()?);
    let mut sizes = Dims::new();
    for (&l, &r) in left.dims.iter().zip(&right.dims) {
        if l != r && l != 1 && r != 1 {
            let message =
                format!("{left:#} and {right:#} do not fit: {l} and {r} are different sizes");
            return Err(refused(message, "only dimensions of size 1 are repeated"));
        }
        sizes.push(if l == 1 { r } else { l });
    }
    Ok((stretch(a, &sizes)?, stretch(b, &sizes)?))
}

/// Repeats dimensions of size 1 until the array has these sizes: a reshape that drops them, and a
/// broadcast.
pub(crate) fn stretch<'b>(value: Value<'b>, sizes: &[i64]) -> Result<Value<'b>> {
    let shape = value.array()?;
    if shape.dims.as_slice() == sizes {
        return Ok(value);
    }
    let result = ArrayShape::new(shape.ty, Dims::from_slice(sizes));
    in_dim(value, &shape, result, &first(sizes.len()))
}

/// Emits XLA's `BroadcastInDim`: operand dimension `i` becomes `dims[i]`, and is repeated if it has
/// size 1.
pub(crate) fn in_dim<'b>(
    value: Value<'b>,
    shape: &ArrayShape,
    result: ArrayShape,
    dims: &[i64],
) -> Result<Value<'b>> {
    let b = value.builder();
    let grows = |&(&dim, &size): &(&i64, &i64)| size != 1 || result.dim(dim) == Some(1);
    let kept: Vec<(&i64, &i64)> = dims.iter().zip(&shape.dims).filter(grows).collect();
    let dimensions: Vec<i64> = kept.iter().map(|(dim, _)| **dim).collect();
    let mut result = result;
    keep_dynamic(shape, &mut result, dims);
    let mut operand = value;
    if kept.len() < shape.rank() {
        let sizes: Dims = kept.iter().map(|(_, size)| **size).collect();
        let mut dropped = ArrayShape::new(shape.ty, sizes);
        // What is kept is as dynamic as the dimension of the result it becomes.
        let dynamic = |dim: &i64| usize::try_from(*dim).is_ok_and(|d| result.is_dynamic(d));
        let flags: Box<[bool]> = dimensions.iter().map(dynamic).collect();
        dropped.dynamic = flags.contains(&true).then_some(flags);
        operand = b.emit(Reshape { inferred_dimension: -1 }, &[value], Some(dropped.into()))?;
    }
    b.emit(Broadcast { dimensions }, &[operand], Some(result.into()))
}

/// Marks those dimensions of the result as dynamic that dynamic dimensions of the operand become.
pub(crate) fn keep_dynamic(operand: &ArrayShape, result: &mut ArrayShape, dims: &[i64]) {
    let mut flags = vec![false; result.rank()];
    for (d, &dim) in dims.iter().enumerate() {
        if let Some(flag) = usize::try_from(dim).ok().and_then(|dim| flags.get_mut(dim)) {
            *flag |= operand.is_dynamic(d);
        }
    }
    if flags.contains(&true) {
        result.dynamic = Some(flags.into());
    }
}
