//! Checks that several shape rules share.
use super::{Infer, check};
use crate::diag::{Code, Place, quantity};
use crate::ir::{ComputationId, ProgramShape};
use crate::{ArrayShape, Dims, ElementType, Error, Result, Shape};
use rustc_hash::FxHashSet;

/// A list of dimensions, and its attribute.
#[derive(Clone, Copy)]
pub(super) struct List<'a> {
    pub(super) attribute: &'static str,
    pub(super) dims: &'a [i64],
}

impl List<'_> {
    fn fails(&self, rule: &'static str, message: String) -> Error {
        Error::from(Code::Rule { rule, message }).on(Place::Attribute(self.attribute))
    }
    /// Fails unless the list is sorted; [`List::unique`] checks for duplicates.
    pub(super) fn sorted(&self, rule: &'static str) -> Result<()> {
        ascending(self.dims, rule, self.attribute)
    }
    /// Fails if a dimension is listed twice.
    pub(super) fn unique(&self, rule: &'static str) -> Result<()> {
        self.unique_with(List { dims: &[], ..*self }, rule)
    }
    /// Fails if a dimension is listed twice in both lists together; the error is at the second
    /// occurrence.
    pub(super) fn unique_with(&self, other: List<'_>, rule: &'static str) -> Result<()> {
        let mut seen = FxHashSet::default();
        for list in [*self, other] {
            for dim in list.dims {
                if seen.insert(*dim) {
                    continue;
                }
                let both = self.dims.contains(dim) && other.dims.contains(dim);
                let message = match both {
                    true => format!(
                        "dimension {dim} is listed in both `{}` and `{}`",
                        self.attribute, other.attribute
                    ),
                    false => format!("dimension {dim} is listed twice"),
                };
                return Err(list.fails(rule, message));
            }
        }
        Ok(())
    }
    /// Fails unless every dimension is one of `shape`.
    pub(super) fn within(&self, shape: &ArrayShape, rule: &'static str) -> Result<()> {
        self.below(shape.rank(), rule, || format!("{shape:#}"))
    }
    /// Fails unless every dimension is below `rank`, the rank of `what`.
    pub(super) fn below(
        &self,
        rank: usize,
        rule: &'static str,
        what: impl FnOnce() -> String,
    ) -> Result<()> {
        let wrong = self.dims.iter().find(|&&dim| !usize::try_from(dim).is_ok_and(|d| d < rank));
        match wrong {
            Some(dim) => {
                Err(self.fails(rule, format!("dimension {dim} does not exist in {}", what())))
            }
            None => Ok(()),
        }
    }
    /// Fails unless the list has `expected` entries; `what` is the reason.
    pub(super) fn counts(
        &self,
        expected: usize,
        rule: &'static str,
        what: impl FnOnce() -> String,
    ) -> Result<()> {
        if self.dims.len() == expected {
            return Ok(());
        }
        let name = self.attribute;
        let found = match self.dims.len() {
            0 => "no entry".to_owned(),
            n => quantity(n, "entry"),
        };
        let message = format!("`{name}` has {found}, expected {expected}: {}", what());
        Err(self.fails(rule, message))
    }
}

/// Fails unless operand `i` has the dimensions of operand 0.
pub(super) fn same_dims_as_first(cx: &Infer<'_>, i: usize, rule: &'static str) -> Result<()> {
    let (first, other) = (cx.array(0)?, cx.array(i)?);
    check(first.dims == other.dims, rule, || {
        format!("operand {i} is {other:#}, operand 0 is {first:#}: expected the same dimensions")
    })
    .map_err(|e| e.on(Place::Operand(i)))
}

/// Fails unless every one of `dims` is in `0..rank`, without duplicates: if the specification has
/// one rule for both.
pub(super) fn unique_in_range(
    dims: &[i64],
    rank: usize,
    rule: &'static str,
    attribute: &'static str,
) -> Result<()> {
    let list = List { attribute, dims };
    list.below(rank, rule, || format!("an array of rank {rank}"))?;
    list.unique(rule)
}

/// Fails unless the list is sorted.
pub(super) fn ascending(dims: &[i64], rule: &'static str, attribute: &'static str) -> Result<()> {
    check(dims.is_sorted(), rule, || {
        let pair = dims.windows(2).find(|pair| pair[0] > pair[1]).unwrap_or(&[0, 0]);
        format!("`{attribute}` is not in ascending order: {} comes before {}", pair[0], pair[1])
    })
    .map_err(|e| e.on(Place::Attribute(attribute)))
}

/// Returns the entry of a list that must have exactly one.
pub(super) fn only(dims: &[i64], attribute: &'static str) -> Result<i64> {
    match dims {
        [dim] => Ok(*dim),
        _ => {
            let message = format!("`{attribute}` expects one entry here, found {}", dims.len());
            Err(Error::from(Code::AttributeValue { message }).on(Place::Attribute(attribute)))
        }
    }
}

/// Returns the sizes of `shape` without `dims`.
pub(super) fn without(shape: &ArrayShape, dims: &[i64]) -> Dims {
    let kept = (0i64..).zip(&shape.dims).filter(|(d, _)| !dims.contains(d));
    kept.map(|(_, &size)| size).collect()
}

/// Returns `shape` without `dims`; a dimension that is kept stays dynamic.
pub(super) fn drop_dims(shape: &ArrayShape, ty: ElementType, dims: &[i64]) -> ArrayShape {
    let mut result = ArrayShape::new(ty, without(shape, dims));
    if let Some(flags) = &shape.dynamic {
        let kept = (0i64..).zip(flags.iter()).filter(|(d, _)| !dims.contains(d));
        result.dynamic = Some(kept.map(|(_, &flag)| flag).collect());
    }
    result
}

/// Returns the shape for one result, a tuple for several.
pub(super) fn one_or_tuple(mut shapes: Vec<Shape>) -> Shape {
    match shapes.len() {
        1 => shapes.remove(0),
        _ => Shape::Tuple(shapes),
    }
}

fn wrong(rule: &'static str, message: String, attribute: &'static str) -> Error {
    Error::from(Code::Callee { rule, message }).on(Place::Attribute(attribute))
}

/// Fails unless the computation has these parameters.
pub(super) fn parameters(
    callee: &ProgramShape<'_>,
    expected: &[&Shape],
    rule: &'static str,
    attribute: &'static str,
) -> Result<()> {
    if callee.parameters.len() != expected.len() {
        let (found, expected) = (callee.parameters.len(), expected.len());
        let message = format!(
            "the computation has {}, but the instruction passes {}",
            quantity(found, "parameter"),
            quantity(expected, "value")
        );
        return Err(wrong(rule, message, attribute));
    }
    for (i, (&found, &expected)) in callee.parameters.iter().zip(expected).enumerate() {
        if !found.compatible(expected) {
            let message = format!(
                "parameter {i} of the computation is {found:#}, but the instruction passes {expected:#}"
            );
            return Err(wrong(rule, message, attribute));
        }
    }
    Ok(())
}

/// Fails unless the computation returns `expected`.
pub(super) fn result(
    callee: &ProgramShape<'_>,
    expected: &Shape,
    rule: &'static str,
    attribute: &'static str,
) -> Result<()> {
    if callee.result.compatible(expected) {
        return Ok(());
    }
    let message = format!("the computation returns {:#}, expected {expected:#}", callee.result);
    Err(wrong(rule, message, attribute))
}

/// Returns the element types of a reducer, one for each pair of operand and initial value.
///
/// It takes two scalars per operand, accumulators first, and returns one per operand. Precisions
/// may differ from the operand's, as in XLA.
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
        let (found, expected) = (callee.parameters.len(), 2 * count);
        let message = format!(
            "a reducer of {} needs {expected} scalar parameters, found {found}",
            quantity(count, "array")
        );
        return Err(wrong(rule, message, attribute));
    }
    let results = callee.result.tuple().unwrap_or(std::slice::from_ref(callee.result));
    if results.len() != count {
        let found = callee.result;
        let message = format!(
            "a reducer of {} must return {}, found {found:#}",
            quantity(count, "array"),
            quantity(count, "scalar")
        );
        return Err(wrong(rule, message, attribute));
    }
    let mut types = Vec::with_capacity(count);
    for (i, (result, &input)) in results.iter().zip(inputs).enumerate() {
        let Some(ty) = result.array().filter(|a| a.rank() == 0).map(|a| a.ty) else {
            let message = format!("a reducer must return scalars, found {result:#}");
            return Err(wrong(rule, message, attribute));
        };
        for parameter in [i, count + i] {
            let found = callee.parameters[parameter];
            let fits =
                found.array().is_some_and(|a| a.rank() == 0 && a.ty.same_ignoring_precision(ty));
            let exact = parameter >= count || found.is_scalar(ty);
            if !fits || !exact {
                let message = format!(
                    "parameter {parameter} of the reducer is {found:#}, but its result {i} is {ty}[]"
                );
                return Err(wrong(rule, message, attribute));
            }
        }
        if !input.same_ignoring_precision(ty) {
            let message = format!("the reducer returns {ty}, but operand {i} is {input}");
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
        format!("the initial value is {init:#}, expected {ty}[]")
    })
    .map_err(|e| e.on(Place::Operand(i)))
}
