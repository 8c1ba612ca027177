//! Uniform values: an elementwise op on arrays that each have one value everywhere is computed once,
//! and its result is broadcast.
//!
//! A counter that is broadcast over a batch, as a loop of many instances makes it, is divided, rounded
//! and compared in each iteration; all elements are the same.
use super::builder::PlanBuilder;
use super::unallocated::{ArrayId, ArrayIds};
use super::value_key::ValueKey;
use crate::state::Site;
use hlo::ir::Instruction;
use hlo::op::Broadcast;
use hlo::{ArrayShape, Op, Shape};
use num::scalar_program::step::ElementStep;
use std::borrow::Cow;

/// The fewest elements of a value that is computed once: for fewer, the steps take longer.
const LEAST: usize = 512;

impl<'a> PlanBuilder<'a> {
    /// Returns the arrays of an elementwise instruction on uniform operands; `None` of anything else.
    pub(super) fn uniform(
        &mut self,
        site: Site,
        instruction: &'a Instruction,
        fuel: u64,
    ) -> Option<ArrayIds> {
        let shape = instruction.shape.array().filter(|shape| shape.dynamic.is_none())?;
        shape.element_count().filter(|&count| count >= LEAST)?;
        let types = self.operand_shapes(instruction);
        let types = types.iter().map(|shape| shape.element_type()).collect::<Option<_>>()?;
        ElementStep::of(&instruction.op, types, shape.ty)?;
        let one = |id: &hlo::ir::InstructionId| {
            let of = self.computation.instructions[*id].shape.array()?;
            let array = *self.values[id.index()].first()?;
            let array = if of.rank() == 0 { array } else { *self.uniforms.get(&array)? };
            Some(([array].into(), Cow::Owned(scalar(of))))
        };
        let operands: Vec<_> = instruction.operands.iter().map(one).collect::<Option<_>>()?;
        let once = Instruction { shape: scalar(shape), ..instruction.clone() };
        let key = ValueKey::new(Cow::Owned(once), operands);
        let lowered = self.lowering.lower(site, &key);
        let folded = self.folded(&key, &lowered);
        let value = folded.unwrap_or_else(|| {
            let outputs = self.fresh(&scalar(shape));
            self.step(site, lowered.action, key.arrays().collect(), &outputs, 0);
            if let Some(step) = self.plan.steps.last_mut() {
                step.part = Some(shape.dims.iter().map(|_| (0, 1)).collect());
            }
            outputs
        });
        let op = Op::Broadcast(Broadcast { dimensions: Vec::new() });
        let key = ValueKey::new(
            Cow::Owned(Instruction { op, ..instruction.clone() }),
            [(value.clone(), Cow::Owned(scalar(shape)))],
        );
        let lowered = self.lowering.lower(site, &key);
        let outputs = self.fresh(&instruction.shape);
        self.step(site, lowered.action, key.arrays().collect(), &outputs, fuel);
        self.uniforms.insert(outputs[0], value[0]);
        Some(outputs)
    }

    /// Notes that an instruction has one value everywhere, if it is a broadcast of one, or moves only
    /// such elements.
    pub(super) fn note_uniform(&mut self, instruction: &Instruction, output: ArrayId) {
        let Some(&operand) = instruction.operands.first() else { return };
        let Some(of) = self.computation.instructions[operand].shape.array() else { return };
        let Some(&array) = self.values[operand.index()].first() else { return };
        let value = match (&instruction.op, of.rank()) {
            (Op::Broadcast(_), 0) => Some(array),
            (Op::Broadcast(_) | Op::Reshape(_), _) => self.uniforms.get(&array).copied(),
            _ => None,
        };
        if let Some(value) = value {
            self.uniforms.insert(output, value);
        }
    }
}

/// Returns the shape of one element.
fn scalar(of: &ArrayShape) -> Shape {
    ArrayShape::new(of.ty, [].as_slice()).into()
}
