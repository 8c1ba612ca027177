//! The dialect `arith`: numbers that are known when they are converted, or else elementwise ops.
use super::emit::convert_to;
use super::moves;
use super::scope::Scope;
use super::shape::{define_known, known};
use crate::error::Result;
use crate::ir::Op;
use hlo::ElementType;
use hlo::ir::InstructionId;
use hlo::op::value::Direction;
use hlo::op::{Binary, Compare, Select};

/// The ops of two integers, which have a sign.
const INTEGERS: &[(&str, Binary)] = &[
    ("arith.addi", Binary::Add),
    ("arith.andi", Binary::And),
    ("arith.divsi", Binary::Divide),
    ("arith.maxsi", Binary::Maximum),
    ("arith.minsi", Binary::Minimum),
    ("arith.muli", Binary::Multiply),
    ("arith.ori", Binary::Or),
    ("arith.remsi", Binary::Remainder),
    ("arith.subi", Binary::Subtract),
    ("arith.xori", Binary::Xor),
];

/// Defines the result, if it is a number or a list of numbers that follows from the operands.
fn fold(scope: &mut Scope<'_, '_>, op: &Op) -> Result<bool> {
    match scope.shape_elements(op) {
        Some(elements) if is_list(scope, op) => define_known(scope, op, elements).map(|()| true),
        Some(_) | None => Ok(false),
    }
}
fn is_list(scope: &Scope<'_, '_>, op: &Op) -> bool {
    let integers = |ty: ElementType| ty.is_integral() || ty == ElementType::Pred;
    scope.stated_array(op, 0).is_ok_and(|array| array.rank() <= 1 && integers(array.ty))
}
/// Fails for booleans: one of `arith` is an integer of one bit, whose sum and sign are other than
/// those of a boolean.
fn refuse_bits(scope: &Scope<'_, '_>, op: &Op, id: InstructionId) -> Result<()> {
    if scope.array(op, id)?.ty == ElementType::Pred {
        return Err(scope.unsupported(op, format!("`{}` of `i1`", op.name)));
    }
    Ok(())
}

pub(crate) fn integers(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x, y] = scope.exactly(op)?;
    let row = INTEGERS.iter().find(|(name, _)| *name == op.name);
    let Some((_, binary)) = row else { return known(scope, op) };
    let bitwise = matches!(op.name.as_str(), "arith.andi" | "arith.ori" | "arith.xori");
    if !bitwise {
        refuse_bits(scope, op, x)?;
    }
    if fold(scope, op)? {
        return Ok(());
    }
    let id = scope.emit(op, *binary, &[x, y])?;
    scope.bind(op, id)
}
pub(crate) fn cast(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    refuse_bits(scope, op, x)?;
    let to = scope.stated_array(op, 0)?.ty;
    if to == ElementType::Pred {
        return Err(scope.unsupported(op, format!("`{}` to `i1`", op.name)));
    }
    if fold(scope, op)? {
        return Ok(());
    }
    let id = convert_to(scope, op, x, to)?;
    scope.bind(op, id)
}
/// Converts `arith.cmpi`: the predicate is a number in the generic form.
pub(crate) fn cmpi(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x, y] = scope.exactly(op)?;
    let predicate: i64 = scope.required(op, "predicate")?;
    let direction = match predicate {
        0 => Direction::Eq,
        1 => Direction::Ne,
        2 => Direction::Lt,
        3 => Direction::Le,
        4 => Direction::Gt,
        5 => Direction::Ge,
        _ => {
            let message = format!("`{}` of integers without sign", op.name);
            return Err(scope.unsupported(op, message));
        }
    };
    if predicate > 1 {
        refuse_bits(scope, op, x)?;
    }
    if fold(scope, op)? {
        return Ok(());
    }
    let id = scope.emit(op, Compare::new(direction), &[x, y])?;
    scope.bind(op, id)
}
pub(crate) fn select(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 3] = scope.exactly(op)?;
    if fold(scope, op)? {
        return Ok(());
    }
    let id = scope.emit(op, Select {}, &operands)?;
    scope.bind(op, id)
}
/// Converts `arith.constant`: an array, or a number.
pub(crate) fn constant(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    if let Ok(Some(_)) = scope.optional::<&crate::ir::Dense>(op, "value") {
        return moves::constant(scope, op);
    }
    match op.attributes.get("value") {
        Some(crate::ir::Attribute::Float(value, _)) => {
            let shape = scope.stated_array(op, 0)?;
            let id = scope.full(op, &shape, *value)?;
            scope.bind(op, id)
        }
        _ => known(scope, op),
    }
}
