//! Ops of tests: custom calls of their names, whose configurations are their attributes.
//!
//! What runs a test has a function for each of them; the engines have none.
use super::custom::literal_of;
use super::emit::literal_constant;
use super::scope::Scope;
use crate::attributes::integer;
use crate::error::Result;
use crate::ir::{Attribute, Attributes, Dense, Op, Type};
use crate::text::print;
use hlo::diag::quantity;
use hlo::ir::{BackendConfig, InstructionId};
use hlo::op::value::Text;
use hlo::op::{AfterAll, CustomCall};
use hlo::{ElementType, Shape};
use smol_str::SmolStr;

/// The start of the targets of custom calls that check values.
pub(super) const CHECKS: &str = "check.";

fn float(value: f64) -> Attribute {
    Attribute::Float(value, Type::Element(ElementType::F64))
}

/// Returns the attributes of a check with those that are not written.
fn with_defaults(op: &Op) -> Attributes {
    let mut attributes = Attributes::clone(&op.attributes);
    attributes.0.retain(|(name, _)| name != "value");
    let is_numpy = ["atol", "numpy", "rtol"].iter().any(|name| attributes.get(name).is_some());
    let defaults = match (op.name.as_str(), is_numpy) {
        ("check.expect_almost_eq" | "check.expect_almost_eq_const", true) => {
            vec![("atol", float(1e-4)), ("rtol", float(0.0))]
        }
        ("check.expect_almost_eq" | "check.expect_almost_eq_const", false) => {
            vec![("tolerance", float(1e-4))]
        }
        ("check.expect_close", _) => {
            vec![("max_ulp_difference", integer(1)), ("min_ulp_difference", integer(0))]
        }
        ("check.expect_serialized_eq", _) => vec![("iteration", integer(0))],
        _ => Vec::new(),
    };
    for (name, value) in defaults {
        if attributes.get(name).is_none() {
            attributes.0.push((SmolStr::new_static(name), value));
        }
    }
    crate::normal::sort(&mut attributes);
    attributes
}

/// Converts an op of `check`.
pub(crate) fn check(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let mut operands = scope.operands(op)?;
    if let Some(value) = scope.optional::<&Dense>(op, "value")? {
        let literal = literal_of(scope, op, value)?;
        operands.push(literal_constant(scope, op, literal)?);
    }
    if let [actual, expected] = operands.as_slice()
        && !scope.shape(*actual).compatible(scope.shape(*expected))
    {
        let (actual, expected) = (scope.shape(*actual), scope.shape(*expected));
        let message =
            format!("`{}` compares {actual:#} with {expected:#}: the shapes differ", op.name);
        return Err(scope.malformed(op, message));
    }
    emit(scope, op, &operands, &with_defaults(op), Shape::Tuple(Vec::new()))?;
    match op.results.len() {
        0 => Ok(()),
        found => Err(scope.malformed(
            op,
            format!("`{}` has {found}", op.name, found = quantity(found, "result")),
        )),
    }
}

/// Converts an op that passes its operand on, or has no result.
pub(crate) fn call(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 1] = scope.exactly(op)?;
    let shape = match op.results.as_slice() {
        [] => Shape::Tuple(Vec::new()),
        _ => scope.shape(operands[0]).clone(),
    };
    let id = emit(scope, op, &operands, &op.attributes, shape)?;
    if op.results.is_empty() { Ok(()) } else { scope.bind(op, id) }
}

/// Converts `interpreter.run_parallel`. Tokens are not passed: programs start with new ones.
pub(crate) fn run_parallel(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let mut operands = scope.operands(op)?;
    operands.retain(|&id| *scope.shape(id) != Shape::Token);
    let mut shapes = Vec::new();
    for i in 0..op.results.len() {
        let shape = scope.stated(op, i)?;
        shapes.extend((shape != Shape::Token).then_some(shape));
    }
    let id = emit(scope, op, &operands, &op.attributes, Shape::Tuple(shapes))?;
    let mut next = 0;
    for (i, result) in op.results.iter().enumerate() {
        let part = if scope.stated(op, i)? == Shape::Token {
            scope.emit(op, AfterAll {}, &[])?
        } else {
            next += 1;
            scope.element(op, id, next - 1)?
        };
        scope.define(result.id, part);
    }
    Ok(())
}

fn emit(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    operands: &[InstructionId],
    attributes: &Attributes,
    shape: Shape,
) -> Result<InstructionId> {
    let mut made = CustomCall::new(Text(op.name.clone()));
    made.custom_call_has_side_effect = true;
    let id = scope.emit_as(op, made, operands, shape)?;
    if !attributes.0.is_empty() {
        scope.common_of(id).backend_config = Some(BackendConfig(print::dictionary(attributes)));
    }
    Ok(id)
}
