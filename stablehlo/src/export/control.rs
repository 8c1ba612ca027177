//! Loops, branches, tokens, and computations that are walked in place.
use super::exporter::{At, Draft, Exporter, Given, Leaves, leaf_shapes};
use super::instruction::element;
use crate::error::Result;
use crate::ir::ValueId;
use hlo::ir::{ComputationId, Instruction};
use hlo::op::{AsyncStart, Conditional, While};
use hlo::{Module, Op, Shape};

impl Exporter<'_> {
    /// Walks the computation that an instruction calls, in its place.
    pub(super) fn inlined(&mut self, at: At<'_, '_>, id: ComputationId) -> Result<Leaves> {
        self.inlined_with(at, id, &at.operands())
    }
    fn inlined_with(
        &mut self,
        at: At<'_, '_>,
        id: ComputationId,
        operands: &[ValueId],
    ) -> Result<Leaves> {
        let parameters = self.split(&at.frame.module.computations[id], operands)?;
        self.computation(at.frame.module, id, parameters)
    }
    pub(super) fn while_(&mut self, at: At<'_, '_>, op: &While) -> Result<Leaves> {
        let While { condition, body } = op;
        let module = at.frame.module;
        let operands = at.operands();
        let state = leaf_shapes(&at.instruction.shape);
        let pred = [Shape::scalar(hlo::ElementType::Pred)];
        let condition = self.region(module, *condition, Given::Arguments(&state), &pred)?;
        let body = self.region(module, *body, Given::Arguments(&state), &state)?;
        let draft = Draft::new("stablehlo.while", operands).region(condition).region(body);
        let draft = draft.with_common(self);
        self.emit(draft, &state)
    }
    pub(super) fn conditional(&mut self, at: At<'_, '_>, op: &Conditional) -> Result<Leaves> {
        let Conditional { branches, on_pred } = op;
        let results = leaf_shapes(&at.instruction.shape);
        let name = if *on_pred { "stablehlo.if" } else { "stablehlo.case" };
        let mut draft = Draft::new(name, [at.operand(0)?]);
        for (i, &branch) in branches.iter().enumerate() {
            let given = Given::Captured(at.leaves(i + 1).clone());
            draft = draft.region(self.region(at.frame.module, branch, given, &results)?);
        }
        let draft = draft.with_common(self);
        self.emit(draft, &results)
    }

    pub(super) fn after_all(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        let mut tokens = at.operands();
        // Others only order.
        tokens.retain(|id| *self.shape(*id) == Shape::Token);
        let draft = Draft::new("stablehlo.after_all", tokens).with_common(self);
        self.emit(draft, &[Shape::Token])
    }
    /// Converts `add-dependency`: the barrier keeps the order where the token is that of an effect.
    pub(super) fn add_dependency(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        let token = at.instruction.operands[1];
        let token = &at.frame.computation.instructions[token];
        if matches!(token.op, Op::AfterAll(_)) {
            return Ok(at.leaves(0).clone());
        }
        let mut all = self.barrier(at)?;
        all.truncate(at.leaves(0).len());
        Ok(all)
    }
    pub(super) fn optimization_barrier(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        self.barrier(at)
    }
    /// Adds a barrier of all operands.
    fn barrier(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        let operands = at.operands();
        let shapes: Vec<Shape> = operands.iter().map(|&id| self.shape(id).clone()).collect();
        let draft = Draft::new("stablehlo.optimization_barrier", operands).with_common(self);
        self.emit(draft, &shapes)
    }
    /// Converts `async-start`: the op runs here, if all its operands and the shape of its result
    /// are known.
    pub(super) fn async_start(&mut self, at: At<'_, '_>, op: &AsyncStart) -> Result<Leaves> {
        if waits(at.frame.module, at.instruction, op) {
            return Ok(Leaves::new());
        }
        let done = self.inlined(at, op.calls)?;
        self.started(at, done)
    }
    /// Converts `async-done`: the value of the start is its operands, then the results, unless the
    /// op waited for further operands.
    pub(super) fn async_done(&mut self, at: At<'_, '_>) -> Result<Leaves> {
        let computation = at.frame.computation;
        let (mut given, mut state) = (vec![at.operands_from(1)], at.instruction.operands[0]);
        loop {
            let instruction = &computation.instructions[state];
            let from = |first: usize| -> Leaves {
                let operands = instruction.operands.iter().skip(first);
                operands.flat_map(|id| &at.frame.values[id.index()]).copied().collect()
            };
            if matches!(instruction.op, Op::AsyncUpdate(_)) {
                given.push(from(1));
                state = instruction.operands[0];
            } else if let Op::AsyncStart(op) = &instruction.op
                && waits(at.frame.module, instruction, op)
            {
                given.push(from(0));
                let operands: Leaves = given.into_iter().rev().flatten().collect();
                return self.inlined_with(at, op.calls, &operands);
            } else {
                // The value may come from a loop or a branch.
                break;
            }
        }
        at.refuse(at.leaves(0).is_empty(), "of an op that waits for operands elsewhere")?;
        Ok(element(at.shape(0), at.leaves(0), 1))
    }
}

/// Returns whether an op that is started needs more operands, or the shape of its result, from an
/// update or its end.
fn waits(module: &Module, start: &Instruction, op: &AsyncStart) -> bool {
    let callee = module.computations[op.calls].program_shape();
    let result = start.shape.tuple().and_then(|parts| parts.get(1));
    start.operands.len() < callee.parameters.len()
        || result.is_none_or(|result| !result.compatible(callee.result))
}
