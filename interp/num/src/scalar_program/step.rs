//! Steps of scalar programs.
use crate::Arithmetic;
use crate::loops::{
    VectorLoop, binary_loop, clamp_loop, compare_loop, convert_loop, select_loop, unary_loop,
};
use hlo::op::value::{ComparisonType, Direction};
use hlo::op::{Binary, Unary};
use hlo::{ElementType, Op, Scalar};
use smallvec::SmallVec;

/// One step, which writes the next register. Its operands are registers.
#[derive(Debug, Clone, Copy)]
pub enum ScalarStep {
    /// A constant.
    Constant(Scalar),
    /// An op of one register, whose type is given.
    Unary(Unary, ElementType, usize),
    /// An op of two registers, whose type is given.
    Binary(Binary, ElementType, usize, usize),
    /// A comparison of two registers.
    Compare(Direction, ComparisonType, ElementType, usize, usize),
    /// The second register where the first is true, else the third.
    Select(usize, usize, usize),
    /// The second register, at least the first and at most the third.
    Clamp(ElementType, usize, usize, usize),
    /// A register of the first type, converted to the second.
    Convert(ElementType, ElementType, usize),
}

impl ScalarStep {
    /// Returns the step of an elementwise op on registers, of operands of these types; `None` if it
    /// has none.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "a computation with another op is not compiled"
    )]
    pub fn elementwise(
        op: &Op,
        types: &[ElementType],
        to: ElementType,
        x: &[usize],
    ) -> Option<Self> {
        let ty = *types.first()?;
        Some(match op {
            Op::Unary(op) => Self::Unary(*op, ty, x[0]),
            Op::Binary(op) => Self::Binary(*op, ty, x[0], x[1]),
            Op::Compare(op) => Self::Compare(op.direction, op.order(ty), ty, x[0], x[1]),
            Op::Select(_) => Self::Select(x[0], x[1], x[2]),
            Op::Clamp(_) => Self::Clamp(types[1], x[0], x[1], x[2]),
            Op::Convert(_) => Self::Convert(ty, to, x[0]),
            _ => return None,
        })
    }

    /// Returns the result, given the values of registers.
    #[inline]
    pub fn apply(self, value: impl Fn(usize) -> Scalar) -> Scalar {
        match self {
            Self::Constant(constant) => constant,
            Self::Unary(op, ty, x) => crate::unary(op, ty, value(x)),
            Self::Binary(op, ty, a, b) => crate::binary(op, ty, value(a), value(b)),
            Self::Compare(direction, order, ty, a, b) => {
                Scalar::Pred(crate::compare(direction, order, ty, value(a), value(b)))
            }
            Self::Select(p, a, b) => value(if value(p) == Scalar::Pred(true) { a } else { b }),
            Self::Clamp(ty, low, x, high) => crate::clamp(ty, value(low), value(x), value(high)),
            Self::Convert(from, to, x) => value(x).convert(from, to),
        }
    }
}

impl ScalarStep {
    /// Returns the registers of its operands.
    pub fn operands(self) -> SmallVec<[usize; 3]> {
        match self {
            Self::Constant(_) => SmallVec::new(),
            Self::Unary(_, _, x) | Self::Convert(_, _, x) => SmallVec::from_slice(&[x]),
            Self::Binary(_, _, a, b) | Self::Compare(_, _, _, a, b) => {
                SmallVec::from_slice(&[a, b])
            }
            Self::Select(a, b, c) | Self::Clamp(_, a, b, c) => SmallVec::from_slice(&[a, b, c]),
        }
    }
    /// Returns the same step of the operands 0, 1, 2.
    pub fn renumbered(self) -> Self {
        match self {
            Self::Constant(constant) => Self::Constant(constant),
            Self::Unary(op, ty, _) => Self::Unary(op, ty, 0),
            Self::Convert(from, to, _) => Self::Convert(from, to, 0),
            Self::Binary(op, ty, _, _) => Self::Binary(op, ty, 0, 1),
            Self::Compare(direction, order, ty, _, _) => Self::Compare(direction, order, ty, 0, 1),
            Self::Select(..) => Self::Select(0, 1, 2),
            Self::Clamp(ty, _, _, _) => Self::Clamp(ty, 0, 1, 2),
        }
    }
}

/// A step of operands 0, 1, 2, with their types and that of its result.
#[derive(Debug, Clone)]
pub struct ElementStep {
    /// The step.
    pub step: ScalarStep,
    /// The type of each operand.
    pub operands: SmallVec<[ElementType; 3]>,
    /// The type of the result.
    pub result: ElementType,
}

impl ElementStep {
    /// Returns the step of each element of an elementwise op; `None` if it has none.
    pub fn of(op: &Op, operands: SmallVec<[ElementType; 3]>, result: ElementType) -> Option<Self> {
        let step = ScalarStep::elementwise(op, &operands, result, &[0, 1, 2])?;
        Some(Self { step, operands, result })
    }

    /// Returns the loop over arrays, in types of the processor if there is one for these types.
    pub fn in_loop(&self, arithmetic: Arithmetic) -> VectorLoop {
        self.typed_loop(arithmetic).unwrap_or_else(|| self.wide_loop())
    }

    /// Returns the loop in types of the processor; `None` if there is none for these types.
    pub fn typed_loop(&self, arithmetic: Arithmetic) -> Option<VectorLoop> {
        match self.step {
            ScalarStep::Constant(_) => None,
            ScalarStep::Unary(op, ty, _) => unary_loop(op, ty, arithmetic),
            ScalarStep::Binary(op, ty, ..) => binary_loop(op, ty, arithmetic),
            ScalarStep::Compare(direction, order, ty, ..) => {
                Some(compare_loop(direction, order, ty))
            }
            ScalarStep::Select(..) => Some(select_loop(self.result.storage_bytes())),
            ScalarStep::Clamp(ty, ..) => clamp_loop(ty),
            ScalarStep::Convert(from, to, _) => convert_loop(from, to),
        }
    }

    /// Returns the loop over elements in wide form.
    fn wide_loop(&self) -> VectorLoop {
        let (step, ty, width) = (self.step, self.result, self.result.storage_bytes());
        let types = self.operands.iter().map(|&ty| (ty, ty.storage_bytes()));
        let types: SmallVec<[(ElementType, usize); 3]> = types.collect();
        VectorLoop::new(move |operands, result| {
            let mut i = 0;
            // Nearly always one element, for which a division by the width would take long.
            while let Some(out) = result.get_mut(i * width..(i + 1) * width) {
                let operand = |k: usize| {
                    let (ty, bytes) = types[k];
                    Scalar::read(ty, &operands[k][i * bytes..][..bytes])
                };
                step.apply(operand).write(ty, out);
                i += 1;
            }
        })
    }
}
