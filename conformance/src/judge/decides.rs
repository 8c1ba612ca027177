//! Instructions that decide by floats: another rounding may give a very different result.
#![expect(clippy::wildcard_enum_match_arm, reason = "only some ops decide")]
use super::evaluate::Leaves;
use super::interval::Interval;
use super::range::{Range, is_whole};
use super::site::Site;
use hlo::ir::{Computation, Instruction};
use hlo::op::{Binary, Kind, Unary};
use hlo::{Module, Op, Shape};

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

/// Returns whether an instruction decides by what rounding changes, or has several legal results for
/// another reason.
pub(super) fn is_open(site: Site<'_>, operands: &[&Leaves], value: &Leaves) -> bool {
    let chooses = match &site.instruction().op {
        // Of a transform, errors have the size of the largest terms.
        Op::Sort(_) | Op::SelectAndScatter(_) | Op::CustomCall(_) | Op::Convolution(_) => true,
        op => op.opcode().kind() == Kind::Random || decides(site.computation, site.instruction()),
    };
    let is_lost = |range: &Range| range.intervals().any(Interval::is_any);
    // A rule that knows nothing of what is well known, or of complex numbers, where it names no formula.
    let has_sign = |x: Interval| x.is_point() || (x.is_finite() && (x.lo > 0.0 || x.hi < 0.0));
    let complex = site.instruction().shape.leaves().into_iter().filter_map(Shape::element_type);
    let known = || operands.iter().all(|leaves| leaves.iter().all(|x| x.intervals().all(has_sign)));
    let mut complex = complex.filter(|ty| ty.is_complex());
    let is_rule = site.instruction().opcode().kind() == Kind::Array;
    let names_none = is_rule && value.iter().any(is_lost) && (complex.next().is_some() || known());
    names_none || (chooses && !value.iter().all(Range::is_point))
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
