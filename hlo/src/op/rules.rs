//! Checks that several shape rules share.
use super::{Infer, check};
use crate::diag::{Code, Place};
use crate::ir::{ComputationId, ProgramShape};
use crate::{ArrayShape, Dims, ElementType, Error, Result, Shape};

/// Fails unless every one of `dims` is a dimension of `shape`, and none is listed twice.
pub(super) fn dims_of(
    dims: &[i64],
    shape: &ArrayShape,
    rule: &'static str,
    attribute: &'static str,
) -> Result<()> {
    unique_in_range(dims, shape.rank(), rule, attribute)
}

/// Fails unless every one of `dims` is in `0..rank`, and none is listed twice.
pub(super) fn unique_in_range(
    dims: &[i64],
    rank: usize,
    rule: &'static str,
    attribute: &'static str,
) -> Result<()> {
    let mut seen = vec![false; rank];
    for &dim in dims {
        let slot = usize::try_from(dim).ok().and_then(|d| seen.get_mut(d));
        let Some(slot) = slot else {
            let message = format!("dimension {dim} is not one of {rank}");
            return Err(Error::from(Code::Rule { rule, message }).on(Place::Attribute(attribute)));
        };
        if std::mem::replace(slot, true) {
            let message = format!("dimension {dim} is listed twice");
            return Err(Error::from(Code::Rule { rule, message }).on(Place::Attribute(attribute)));
        }
    }
    Ok(())
}

/// Fails unless the list grows.
pub(super) fn ascending(dims: &[i64], rule: &'static str, attribute: &'static str) -> Result<()> {
    check(dims.is_sorted(), rule, || format!("{attribute}={dims:?} is not in ascending order"))
        .map_err(|e| e.on(Place::Attribute(attribute)))
}

/// The one entry of a list that must have one.
pub(super) fn only(dims: &[i64], attribute: &'static str) -> Result<i64> {
    match dims {
        [dim] => Ok(*dim),
        _ => {
            let message = format!("`{attribute}` takes one entry here, found {}", dims.len());
            Err(Error::from(Code::AttributeValue { message }).on(Place::Attribute(attribute)))
        }
    }
}

/// The sizes of `shape` without `dims`.
pub(super) fn without(shape: &ArrayShape, dims: &[i64]) -> Dims {
    let kept = (0i64..).zip(&shape.dims).filter(|(d, _)| !dims.contains(d));
    kept.map(|(_, &size)| size).collect()
}

/// `shape` without `dims`; a dimension that is kept stays dynamic.
pub(super) fn drop_dims(shape: &ArrayShape, ty: ElementType, dims: &[i64]) -> ArrayShape {
    let mut result = ArrayShape::new(ty, without(shape, dims));
    if let Some(flags) = &shape.dynamic {
        let kept = (0i64..).zip(flags.iter()).filter(|(d, _)| !dims.contains(d));
        result.dynamic = Some(kept.map(|(_, &flag)| flag).collect());
    }
    result
}

/// One shape for one result, a tuple for several.
pub(super) fn one_or_tuple(mut shapes: Vec<Shape>) -> Shape {
    match shapes.len() {
        1 => shapes.remove(0),
        _ => Shape::Tuple(shapes),
    }
}

fn wrong(rule: &'static str, message: String, attribute: &'static str) -> Error {
    Error::from(Code::Callee { rule, message }).on(Place::Attribute(attribute))
}

/// Fails unless the computation takes these parameters.
pub(super) fn parameters(
    callee: &ProgramShape<'_>,
    wanted: &[&Shape],
    rule: &'static str,
    attribute: &'static str,
) -> Result<()> {
    if callee.parameters.len() != wanted.len() {
        let (found, wanted) = (callee.parameters.len(), wanted.len());
        let message =
            format!("the computation has {found} parameters, it is given {wanted} values");
        return Err(wrong(rule, message, attribute));
    }
    for (i, (&found, &wanted)) in callee.parameters.iter().zip(wanted).enumerate() {
        if !found.compatible(wanted) {
            let message =
                format!("parameter {i} of the computation is {found}, it is given {wanted}");
            return Err(wrong(rule, message, attribute));
        }
    }
    Ok(())
}

/// Fails unless the computation gives `wanted`.
pub(super) fn result(
    callee: &ProgramShape<'_>,
    wanted: &Shape,
    rule: &'static str,
    attribute: &'static str,
) -> Result<()> {
    if callee.result.compatible(wanted) {
        return Ok(());
    }
    let message = format!("the computation gives {}, wanted {wanted}", callee.result);
    Err(wrong(rule, message, attribute))
}

/// The element types a reducer works in, one for each pair of operand and initial value.
///
/// It takes two scalars for each operand and gives one for each: accumulators first. Precisions may differ from the
/// operand's, as XLA allows.
pub(super) fn reducer(
    cx: &Infer<'_>,
    id: ComputationId,
    inputs: &[ElementType],
    rule: &'static str,
    attribute: &'static str,
) -> Result<Vec<ElementType>> {
    let callee = cx.callee(id)?;
    let count = inputs.len();
    if callee.parameters.len() != 2 * count {
        let (found, wanted) = (callee.parameters.len(), 2 * count);
        let message =
            format!("a reducer of {count} arrays takes {wanted} scalars, this one {found}");
        return Err(wrong(rule, message, attribute));
    }
    let results = match callee.result {
        Shape::Tuple(elements) => elements.iter().collect(),
        other => vec![other],
    };
    if results.len() != count {
        let found = callee.result;
        let message =
            format!("a reducer of {count} arrays gives {count} scalars, this one {found}");
        return Err(wrong(rule, message, attribute));
    }
    let mut types = Vec::with_capacity(count);
    for (i, (&result, &input)) in results.iter().zip(inputs).enumerate() {
        let Some(ty) = result.array().filter(|a| a.rank() == 0).map(|a| a.ty) else {
            let message = format!("a reducer gives scalars, this one {result}");
            return Err(wrong(rule, message, attribute));
        };
        for parameter in [i, count + i] {
            let found = callee.parameters[parameter];
            let fits =
                found.array().is_some_and(|a| a.rank() == 0 && a.ty.same_ignoring_precision(ty));
            let exact = parameter >= count || found.is_scalar(ty);
            if !fits || !exact {
                let message = format!(
                    "parameter {parameter} of the reducer is {found}, its result {i} is {ty}[]"
                );
                return Err(wrong(rule, message, attribute));
            }
        }
        if !input.same_ignoring_precision(ty) {
            let message = format!("the reducer works in {ty}, operand {i} is {input}");
            return Err(wrong(rule, message, attribute));
        }
        types.push(ty);
    }
    Ok(types)
}

/// Fails unless operand `i` is the scalar initial value of an operand of this type.
pub(super) fn initial_value(
    cx: &Infer<'_>,
    i: usize,
    ty: ElementType,
    rule: &'static str,
) -> Result<()> {
    let init = cx.array(i)?;
    check(init.rank() == 0 && init.ty.same_ignoring_precision(ty), rule, || {
        format!("the initial value is {init}, wanted {ty}[]")
    })
    .map_err(|e| e.on(Place::Operand(i)))
}
