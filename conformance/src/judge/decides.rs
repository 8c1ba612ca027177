//! Instructions that decide by floats: another rounding may give a very different result.
#![expect(clippy::wildcard_enum_match_arm, reason = "only some ops decide")]
use super::range::is_whole;
use hlo::ir::{Computation, Instruction};
use hlo::op::{Binary, Unary};
use hlo::{Module, Op};

/// Returns whether an instruction of a computation that an op calls decides.
pub(super) fn any_call(module: &Module, op: &Op) -> bool {
    let mut found = false;
    op.each_callee(&mut |callee| {
        let computation = &module.computations[callee];
        let mut all = computation.instructions.iter();
        found |= all.any(|(_, instruction)| {
            decides(computation, instruction) || any_call(module, &instruction.op)
        });
    });
    found
}

fn decides(computation: &Computation, instruction: &Instruction) -> bool {
    let whole = |ty: Option<hlo::ElementType>| ty.is_none_or(is_whole);
    let operands = || instruction.operands.iter().map(|&id| &computation.instructions[id].shape);
    let of_floats = operands().any(|shape| !whole(shape.element_type()));
    let jumps = match &instruction.op {
        Op::Compare(_) | Op::TopK(_) | Op::Unary(Unary::IsFinite) => true,
        Op::Convert(_) => whole(instruction.shape.element_type()),
        Op::Unary(op) => super::functions::image(*op).jumps,
        Op::Binary(op) => *op == Binary::Remainder,
        _ => false,
    };
    of_floats && jumps
}
