//! Values that are not rounded to their type between two instructions.
#![expect(clippy::wildcard_enum_match_arm, reason = "other ops end a chain of values")]
use super::edit::Edit;
use super::precision::wider;
use hlo::ir::InstructionId;
use hlo::{ElementType, Op};
use std::collections::BTreeMap;

/// Computes an elementwise op in a wider type, from operands that may be unrounded.
pub(super) fn unrounded(edit: &mut Edit<'_>) -> bool {
    let Some(shape) = edit.arrays() else { return false };
    let op = edit.op();
    let operands = edit.operands();
    let takes = match op {
        Op::Unary(_) | Op::Binary(_) | Op::Clamp(_) | Op::Select(_) => {
            shape.ty.is_float() || shape.ty.is_complex() || shape.ty == ElementType::Pred
        }
        Op::Compare(_) => true,
        Op::Convert(_) => !edit.ty(operands[0]).is_complex() && !shape.ty.is_complex(),
        _ => false,
    };
    let truth = |x: &InstructionId| edit.ty(*x) == ElementType::Pred;
    let Some(&last) = operands.last().filter(|_| takes && !operands.iter().all(truth)) else {
        return false;
    };
    let Some(ty) = wider(edit.ty(last)) else { return false };
    let converts = matches!(op, Op::Convert(_));
    if !converts && shape.ty != ElementType::Pred && shape.ty != edit.ty(last) {
        return false;
    }
    // A value that is read twice is the same value.
    let mut read: BTreeMap<InstructionId, InstructionId> = BTreeMap::new();
    let mut any = false;
    for &x in &operands {
        if read.contains_key(&x) {
            continue;
        }
        let unrounded = edit.wide.get(&x).copied().filter(|_| edit.random.bool());
        any |= unrounded.is_some();
        let value = match unrounded {
            Some(value) => value,
            None if edit.ty(x) == ElementType::Pred => x,
            None => edit.convert(x, ty),
        };
        read.insert(x, value);
    }
    let computes = matches!(op, Op::Unary(_) | Op::Binary(_) | Op::Clamp(_));
    if !any && (!computes || shape.ty == ElementType::Pred) {
        return false;
    }
    let operands: Vec<InstructionId> = operands.iter().map(|x| read[x]).collect();
    if converts || shape.ty == ElementType::Pred {
        let value = edit.add(op, shape, operands);
        return edit.set(value);
    }
    let value = edit.add(op, shape.with_type(ty), operands);
    edit.wide.insert(edit.at, value);
    edit.set(value)
}
