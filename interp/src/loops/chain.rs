//! Chains: fused operations of which each is an instruction of vectors. Machine code has them as one
//! loop, in whose registers the values between them stay.
use hlo::op::value::ComparisonType;
use hlo::op::{Binary, Unary};
use hlo::{Class, ElementType};
use kernels::Register;
use num::scalar_program::step::{ElementStep, ScalarStep};
use smallvec::SmallVec;

/// The bytes above which a loop over vectors is worth it: below, each vector has instructions of its
/// own.
const LEAST: usize = 1 << 9;

/// The steps of fused operations.
#[cfg_attr(not(feature = "jit"), expect(dead_code, reason = "for generated code"))]
pub(super) struct Chain {
    /// Elements of each value.
    pub(super) count: usize,
    /// Bytes of an element that is no predicate.
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
    /// Returns the chain of these steps on `count` elements; `None` if a step is no instruction of
    /// vectors, or if elements of different widths meet. `is_one` tells of each operand from outside
    /// whether it is one element for all; a step reads each of them.
    pub(super) fn new(
        count: usize,
        is_one: impl Iterator<Item = bool>,
        steps: Vec<ChainStep>,
        outputs: SmallVec<[Register; 2]>,
    ) -> Option<Self> {
        let lanes: Vec<Lanes> = steps.iter().map(|(step, _)| lanes(step)).collect::<Option<_>>()?;
        let mut widths = lanes.into_iter().filter_map(|lanes| match lanes {
            Lanes::Numbers(width) => Some(width),
            Lanes::Predicates => None,
        });
        let width = widths.next()?;
        if widths.any(|other| other != width) {
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

/// Returns whether an operation on values of so many bytes at most is worth a place in a chain, where
/// there is code.
pub(super) fn is_link(step: &ElementStep, bytes: usize) -> bool {
    cfg!(feature = "jit") && bytes > LEAST && lanes(step).is_some()
}

/// The elements of a step that is an instruction of vectors, or a few.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lanes {
    /// Numbers of so many bytes, and predicates.
    Numbers(usize),
    /// Predicates alone.
    Predicates,
}

/// Returns the elements of a step that is an instruction of vectors, or a few; `None` if it is none.
pub(super) fn lanes(step: &ElementStep) -> Option<Lanes> {
    use ElementType::{F32, F64, Pred, S32, S64, U32, U64};
    let types = || step.operands.iter().chain([&step.result]).copied();
    let mut widths = types().filter(|ty| *ty != Pred).map(ElementType::storage_bytes);
    let width = widths.next();
    let of_lanes = types().all(|ty| [F32, F64, Pred, S32, S64, U32, U64].contains(&ty));
    if !of_lanes || widths.any(|of| Some(of) != width) {
        return None;
    }
    let is_float = |ty: ElementType| ty.class() == Class::Float;
    let is_word = |ty: ElementType| [S32, U32].contains(&ty);
    let fits = match step.step {
        ScalarStep::Constant(_) => false,
        ScalarStep::Select(..) => true,
        ScalarStep::Unary(op, ty, _) if is_float(ty) => FLOAT_UNARY.contains(&op),
        ScalarStep::Unary(op, ty, _) => op == Unary::Not || op == Unary::Negate && ty != Pred,
        ScalarStep::Binary(op, ty, ..) => is_binary(op, ty),
        ScalarStep::Clamp(ty, ..) => is_float(ty) || is_word(ty),
        ScalarStep::Compare(_, order, ty, ..) => {
            order != ComparisonType::TotalOrder || !is_float(ty)
        }
        ScalarStep::Convert(from, to, _) => match width {
            _ if from == to => true,
            Some(4) => is_word(from) || is_word(to) || from == Pred || to == Pred,
            _ => is_float(from) && to == Pred,
        },
    };
    fits.then_some(width.map_or(Lanes::Predicates, Lanes::Numbers))
}

/// The functions of floats that vectors have.
const FLOAT_UNARY: [Unary; 6] =
    [Unary::Abs, Unary::Ceil, Unary::Floor, Unary::Negate, Unary::RoundNearestEven, Unary::Sqrt];

/// Returns whether vectors have an operation.
fn is_binary(op: Binary, ty: ElementType) -> bool {
    use Binary::{Add, And, Divide, Maximum, Minimum, Multiply, Or, Subtract, Xor};
    let has_extremes = ty.storage_bytes() <= size_of::<u32>();
    match ty.class() {
        Class::Float => [Add, Subtract, Multiply, Divide, Maximum, Minimum].contains(&op),
        Class::Pred => [And, Or, Xor, Add, Multiply, Maximum, Minimum].contains(&op),
        Class::Signed | Class::Unsigned | Class::Complex => {
            [Add, Subtract, Multiply, And, Or, Xor].contains(&op)
                || has_extremes && [Maximum, Minimum].contains(&op)
        }
    }
}
