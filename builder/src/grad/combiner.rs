//! The function that a reduction, scatter or collective combines with.
use crate::{Builder, Code, Result};
use hlo::Op;
use hlo::ir::ComputationId;
use hlo::op::Binary;

/// The function that a computation of two scalars computes, as far as derivative rules distinguish
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Combiner {
    Add,
    Maximum,
    Minimum,
    Multiply,
    /// The second parameter.
    Overwrite,
    Other,
}

impl Combiner {
    pub(super) fn of(b: &Builder, id: ComputationId) -> Result<Self> {
        let state = b.state.borrow();
        let computation = state.finished.get(id).ok_or(Code::Invalid {})?;
        let root = &computation.instructions[computation.root];
        let mut taken: Vec<i64> = Vec::new();
        for &operand in &root.operands {
            if let Op::Parameter(parameter) = &computation.instructions[operand].op {
                taken.push(parameter.number);
            }
        }
        taken.sort_unstable();
        if let Op::Parameter(parameter) = &root.op
            && parameter.number == 1
        {
            return Ok(Self::Overwrite);
        }
        let Op::Binary(op) = root.op else { return Ok(Self::Other) };
        let all = [
            (Binary::Add, Self::Add),
            (Binary::Maximum, Self::Maximum),
            (Binary::Minimum, Self::Minimum),
            (Binary::Multiply, Self::Multiply),
        ];
        let known = all.into_iter().find(|(binary, _)| *binary == op && taken == [0, 1]);
        Ok(known.map_or(Self::Other, |(_, combiner)| combiner))
    }
    /// Returns whether the result is one of the operands, chosen by size.
    pub(super) fn is_extremum(self) -> bool {
        matches!(self, Self::Maximum | Self::Minimum)
    }
    /// Returns the value that a maximum or minimum ignores.
    pub(super) fn neutral(self) -> f64 {
        if self == Self::Maximum { f64::NEG_INFINITY } else { f64::INFINITY }
    }
}
