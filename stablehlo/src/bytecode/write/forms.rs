//! Forms of ops that are newer than the ops.
use crate::ir::{Attribute, Op, Type};
use crate::version::Version;

/// Whether an op has a form, by the types of its operands.
type HasForm = fn(&Op, &[&Type]) -> bool;

/// Ops, a form that they may have, and the version that introduced it.
#[rustfmt::skip]
const FORMS: &[(&[&str], HasForm, Version)] = &[
    (&["stablehlo.all_reduce", "stablehlo.reduce", "stablehlo.reduce_scatter",
       "stablehlo.reduce_window", "stablehlo.scatter", "stablehlo.select_and_scatter"],
     is_promoted, Version::new(0, 17, 0)),
    (&["stablehlo.custom_call"], is_typed, Version::new(1, 3, 0)),
    (&["stablehlo.all_gather", "stablehlo.all_reduce", "stablehlo.all_to_all"],
     has_several_operands, Version::new(1, 5, 0)),
    (&["stablehlo.composite"], has_regions, Version::new(1, 14, 0)),
    (&["stablehlo.custom_call"], takes_futures, Version::new(1, 17, 0)),
    (&["stablehlo.collective_broadcast"], has_several_operands, Version::new(1, 20, 0)),
];

/// Returns the version that introduced the form of an op, or the oldest if all have it.
pub(super) fn needs(op: &Op, operands: &[&Type]) -> Version {
    let of_op = FORMS.iter().filter(|(ops, ..)| ops.contains(&op.name.as_str()));
    let needs = of_op.filter(|(_, has, _)| has(op, operands)).map(|(.., since)| *since);
    needs.max().unwrap_or(Version::MINIMUM)
}

/// Returns whether results have other element types than operands: those that the op computes in.
fn is_promoted(op: &Op, operands: &[&Type]) -> bool {
    let element = |ty: &Type| match ty {
        Type::Tensor(tensor) => Some(tensor.element.clone()),
        _ => None,
    };
    let results = op.results.iter().map(|result| &result.ty);
    operands.iter().zip(results).any(|(operand, result)| element(operand) != element(result))
}
/// Returns whether a custom call has attributes in place of text.
fn is_typed(op: &Op, _: &[&Type]) -> bool {
    let [config, version] = ["backend_config", "api_version"].map(|name| op.attributes.get(name));
    matches!(config, Some(Attribute::Dictionary(_)))
        || matches!(version, Some(Attribute::Integer(4, _)))
}
fn has_several_operands(op: &Op, _: &[&Type]) -> bool {
    op.operands.len() > 1
}
fn has_regions(op: &Op, _: &[&Type]) -> bool {
    !op.regions.is_empty()
}
fn takes_futures(_: &Op, operands: &[&Type]) -> bool {
    operands
        .iter()
        .any(|ty| matches!(ty, Type::Other(text) if text.starts_with("!stablehlo.future")))
}
