//! Chains: fused operations of which each is an instruction of vectors. Machine code has them as one
//! loop, in whose registers the values between them stay.
use hlo::ElementType;
use hlo::op::value::ComparisonType;
use hlo::op::{Binary, Unary};
use kernels::Register;
use num::scalar_program::step::{ElementStep, ScalarStep};
use smallvec::SmallVec;

/// The bytes of the smallest value for which a loop over vectors is worth it, where there is code:
/// below, each vector has instructions of its own.
pub(super) const LEAST: usize = if cfg!(feature = "jit") { 1 << 9 } else { usize::MAX };

/// The steps of fused operations.
#[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "for generated code"))]
pub(super) struct Chain {
    /// Elements of each value.
    pub(super) count: usize,
    /// Bytes of an element, but of predicates, each of which is one.
    pub(super) width: usize,
    /// The type of each operand from outside, and whether it is one element for all.
    pub(super) inputs: Vec<(ElementType, bool)>,
    pub(super) steps: Vec<ChainStep>,
    /// The registers that are outputs.
    pub(super) outputs: SmallVec<[Register; 2]>,
}

/// A step, with the registers that it reads.
pub(super) type ChainStep = (ElementStep, SmallVec<[Register; 3]>);

impl Chain {
    /// Returns the chain of these steps of `count` elements, of which one reads each operand from
    /// outside; `None` if vectors have not so many elements in each of them. `is_one` tells which
    /// of the operands is one element.
    pub(super) fn new(
        count: usize,
        is_one: impl Iterator<Item = bool>,
        steps: Vec<ChainStep>,
        outputs: SmallVec<[Register; 2]>,
    ) -> Option<Self> {
        let mut widths = steps.iter().map(|(step, _)| lane_width(step));
        let width = widths.clone().flatten().flatten().next()?;
        if !widths.all(|of| of.is_some_and(|of| of.is_none_or(|of| of == width))) {
            return None;
        }
        let read = |register: Register| {
            let mut reads = steps.iter().flat_map(|(step, read)| read.iter().zip(&step.operands));
            reads.find(|(read, _)| **read == register).map(|(_, &ty)| ty)
        };
        let inputs = is_one.enumerate().map(|(k, is_one)| Some((read(k)?, is_one)));
        let inputs = inputs.collect::<Option<_>>()?;
        Some(Self { count, width, inputs, steps, outputs })
    }
    /// Returns the type of a value.
    #[cfg(feature = "jit")]
    pub(super) fn type_of(&self, register: Register) -> ElementType {
        match register.checked_sub(self.inputs.len()) {
            Some(step) => self.steps[step].0.result,
            None => self.inputs[register].0,
        }
    }
}

/// Returns whether an operation on values of so many bytes at most is worth a place in a chain.
pub(super) fn is_link(step: &ElementStep, bytes: usize) -> bool {
    bytes > LEAST && lane_width(step).is_some()
}

/// Returns the bytes of the elements of a step that is an instruction of vectors, or a few, and none
/// if all are predicates; `None` if it is none.
pub(super) fn lane_width(step: &ElementStep) -> Option<Option<usize>> {
    use ElementType::{F32, F64, Pred, S32, S64, U32, U64};
    let types = || step.operands.iter().chain([&step.result]).copied();
    let mut widths = types().filter(|ty| *ty != Pred).map(ElementType::storage_bytes);
    let width = widths.next();
    let of_lanes = types().all(|ty| [F32, F64, Pred, S32, S64, U32, U64].contains(&ty));
    if !of_lanes || widths.any(|of| Some(of) != width) {
        return None;
    }
    let is_float = |ty: ElementType| [F32, F64].contains(&ty);
    let is_word = |ty: ElementType| [S32, U32].contains(&ty);
    let fits = match step.step {
        ScalarStep::Constant(_) => false,
        ScalarStep::Select(..) => true,
        ScalarStep::Unary(op, ty, _) if is_float(ty) => match op {
            Unary::Abs | Unary::Ceil | Unary::Floor | Unary::Negate => true,
            op => [Unary::RoundNearestEven, Unary::Sqrt].contains(&op),
        },
        ScalarStep::Unary(op, ty, _) => op == Unary::Not || op == Unary::Negate && ty != Pred,
        ScalarStep::Binary(op, ty, ..) => is_binary(op, ty),
        ScalarStep::Clamp(ty, ..) => is_float(ty) || is_word(ty),
        ScalarStep::Compare(_, order, ty, ..) => {
            order != ComparisonType::TotalOrder || !is_float(ty)
        }
        ScalarStep::Convert(from, to, _) => {
            from == to
                || width == Some(4) && (is_word(from) || is_word(to) || from == Pred || to == Pred)
                || width == Some(8) && is_float(from) && to == Pred
        }
    };
    fits.then_some(width)
}

/// Returns whether vectors have an operation.
fn is_binary(op: Binary, ty: ElementType) -> bool {
    use Binary::{Add, And, Divide, Maximum, Minimum, Multiply, Or, Subtract, Xor};
    match ty {
        ElementType::F32 | ElementType::F64 => {
            [Add, Subtract, Multiply, Divide, Maximum, Minimum].contains(&op)
        }
        ElementType::Pred => [And, Or, Xor, Add, Multiply, Maximum, Minimum].contains(&op),
        ElementType::S32 | ElementType::U32 => {
            [Add, Subtract, Multiply, And, Or, Xor, Maximum, Minimum].contains(&op)
        }
        _ => [Add, Subtract, Multiply, And, Or, Xor].contains(&op),
    }
}
