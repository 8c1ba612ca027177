//! Elementwise ops of one operand.
use super::attrs::{EnumWord, FromAttribute};
use super::emit::convert_to;
use super::scope::Scope;
use crate::error::Result;
use crate::ir::{Attributes, Op};
use hlo::ElementType;
use hlo::ir::InstructionId;
use hlo::op::value::{AccuracyMode, ResultAccuracy};
use hlo::op::{Binary, Unary};

/// Converts to an op of HLO.
pub(super) fn unary(scope: &mut Scope<'_, '_>, op: &Op, unary: Unary) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let id = scope.emit(op, unary, &[x])?;
    accuracy(scope, op, id)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.cbrt`. HLO lacks the root of a complex number, which is a power; in c128, so
/// that 1/3 has the digits for c64.
pub(crate) fn cbrt(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let shape = scope.array(op, x)?;
    if !shape.ty.is_complex() {
        return unary(scope, op, Unary::Cbrt);
    }
    let wide = convert_to(scope, op, x, ElementType::C128)?;
    let third = scope.full(op, &shape.with_type(ElementType::C128), 1.0 / 3.0)?;
    let root = scope.emit(op, Binary::Power, &[wide, third])?;
    let id = convert_to(scope, op, root, shape.ty)?;
    scope.bind(op, id)
}

/// Keeps the accuracy that the op asks for.
fn accuracy(scope: &mut Scope<'_, '_>, op: &Op, id: InstructionId) -> Result<()> {
    let Some(fields) = scope.optional::<&Attributes>(op, "result_accuracy")? else { return Ok(()) };
    let mode = match fields.get("mode").and_then(EnumWord::from_attribute) {
        Some(EnumWord("TOLERANCE")) => None,
        Some(EnumWord(word)) => Some(scope.one_of(
            op,
            "result_accuracy",
            word,
            AccuracyMode::ALL,
            AccuracyMode::name,
        )?),
        None => Some(AccuracyMode::Default),
    };
    let result = match mode {
        Some(mode) => ResultAccuracy::Mode(mode),
        None => ResultAccuracy::Tolerance {
            atol: scope.field(op, fields, "atol")?.unwrap_or(0.0),
            rtol: scope.field(op, fields, "rtol")?.unwrap_or(0.0),
            ulps: scope.field(op, fields, "ulps")?.unwrap_or(0),
        },
    };
    if result != ResultAccuracy::default() {
        scope.common_of(id).result_accuracy = Some(result);
    }
    Ok(())
}
