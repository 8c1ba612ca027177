//! The instruction that is being evaluated.
use super::Stop;
use super::evaluate::{Leaves, unknown};
use super::range::{Cause, CauseKind, Range};
use super::runner::{Form, Key};
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::{ArrayShape, Opcode, Shape};

/// The instruction that is being evaluated.
#[derive(Clone, Copy)]
pub(super) struct Site<'m> {
    pub(super) computation: &'m Computation,
    pub(super) id: ComputationId,
    pub(super) at: InstructionId,
    /// The length of the vectors that stand for scalars, in a computation that is applied to
    /// elements.
    pub(super) lanes: Option<i64>,
}

impl<'m> Site<'m> {
    pub(super) fn instruction(&self) -> &'m Instruction {
        &self.computation.instructions[self.at]
    }
    pub(super) fn key(&self, form: Form) -> Key {
        Key { computation: self.id, instruction: self.at, form }
    }
    /// Returns the instruction as one that decides.
    pub(super) fn cause(&self) -> Cause {
        Cause { path: self.computation.path(self.at).into(), kind: CauseKind::Decides }
    }
    /// Returns the shape of an array of this shape: that of a vector for a scalar in lanes.
    pub(super) fn lane_shape(&self, shape: &ArrayShape) -> ArrayShape {
        match self.lanes {
            Some(lanes) => ArrayShape::new(shape.ty, [lanes].as_slice()),
            None => shape.clone(),
        }
    }
    /// Returns the shape of the result, if it is an array.
    pub(super) fn shape(&self) -> Result<ArrayShape, Stop> {
        let array = self.instruction().shape.array();
        array.map(|array| self.lane_shape(array)).ok_or_else(|| self.unsupported("a tuple"))
    }
    pub(super) fn operand(&self, i: usize) -> &'m Shape {
        &self.computation.instructions[self.instruction().operands[i]].shape
    }
    /// Returns an element of the tuple that is the first operand.
    pub(super) fn element(&self, index: i64, tuple: &Leaves) -> Leaves {
        let elements = self.operand(0).tuple().unwrap_or_default();
        let index = usize::try_from(index).unwrap_or(0);
        let skipped = elements.iter().take(index).map(|shape| shape.leaves().len()).sum();
        let count = self.instruction().shape.leaves().len();
        tuple.iter().skip(skipped).take(count).cloned().collect()
    }
    /// Returns whether both operands are the same value.
    pub(super) fn same_operands(&self) -> bool {
        self.instruction().operands.windows(2).all(|pair| self.is_same(pair[0], pair[1]))
    }
    /// Returns whether two instructions are the same value, which is moved in the same way.
    pub(super) fn is_same(&self, a: InstructionId, b: InstructionId) -> bool {
        let [x, y] = [a, b].map(|id| &self.computation.instructions[id]);
        let moves = matches!(
            x.op.opcode(),
            Opcode::Broadcast
                | Opcode::Copy
                | Opcode::GetTupleElement
                | Opcode::Reshape
                | Opcode::Reverse
                | Opcode::Slice
                | Opcode::Transpose
        );
        let alike = || moves && x.op == y.op && x.shape == y.shape;
        a == b || (alike() && self.is_same(x.operands[0], y.operands[0]))
    }
    /// Returns a place for each leaf of a value that is not needed.
    pub(super) fn nothing(&self) -> Vec<Range> {
        self.instruction().shape.leaves().iter().map(|_| Range::nothing()).collect()
    }
    /// Returns the leaves of a result as those of the operation that was started: its value has more.
    pub(super) fn started(&self, mut result: Vec<Range>) -> Vec<Range> {
        let count = self.instruction().shape.leaves().len();
        result.resize_with(count.max(result.len()), Range::nothing);
        result
    }
    pub(super) fn unsupported(&self, what: &str) -> Stop {
        Stop::NoRule(format!("{}: no bound for {what}", self.computation.path(self.at)))
    }
    /// Returns the values of the instruction: any, if it has no rule. Only of operands that are
    /// exactly known the tolerance of the module says how wrong they may be.
    pub(super) fn or_any(
        &self,
        operands: &[&Leaves],
        value: Result<Leaves, Stop>,
    ) -> Result<Leaves, Stop> {
        let Err(Stop::NoRule(reason)) = value else { return value };
        let is_exact =
            |range: &Range| range.is_point() && (range.shape().is_some() || range.cause.is_none());
        let exact = operands.iter().all(|leaves| leaves.iter().all(is_exact));
        let kind = if exact { CauseKind::NoRule } else { CauseKind::Unbounded };
        Ok(unknown(*self, Some(Cause { path: reason.as_str().into(), kind })))
    }
}
