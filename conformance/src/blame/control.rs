//! Computations that a wrong instruction calls: they run as entries on the operands that the
//! backend computed.
use super::finding::{Context, Finding};
use super::search::{BlameSearch, ComputationCall};
use crate::program::{At, Values};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::op::Kind;
use hlo::{ArrayShape, ElementType, Literal, Op, Scalar, Shape};
use std::sync::Arc;

/// The scalar operands on which the computation of a `reduce` and its like runs.
const SAMPLES: usize = 8;

impl BlameSearch<'_> {
    /// Records a finding, or those in the computations that the instruction calls.
    pub(super) fn descend(
        &mut self,
        mut finding: Finding,
        at: At,
        place: &ComputationCall,
        known: &dyn Fn(InstructionId) -> Option<Values>,
    ) {
        let module = Arc::clone(&self.module);
        let instruction = &module.module().computations[at.0].instructions[at.1];
        let operands: Option<Vec<Values>> =
            instruction.operands.iter().map(|&id| known(id)).collect();
        let is_alone = finding.context == Context::Alone;
        if let Some(operands) = operands.filter(|_| is_alone && !callees(instruction).is_empty()) {
            let devices = place.arguments.len();
            match self.inside(instruction, &operands, devices, &finding.path) {
                Some(true) => return,
                Some(false) => finding.is_right_inside = true,
                None => {}
            }
        }
        self.blame.findings.push(finding);
    }

    /// Searches what an instruction calls. Returns whether something there is wrong; `None` if
    /// nothing was searched.
    fn inside(
        &mut self,
        instruction: &Instruction,
        operands: &[Values],
        devices: usize,
        path: &str,
    ) -> Option<bool> {
        let transposed = |operands: &[Values]| -> Vec<Vec<Literal>> {
            (0..devices)
                .map(|d| operands.iter().map(|values| values[d].clone()).collect())
                .collect()
        };
        let place = |search: &Self, computation: ComputationId, operands: &[Values]| {
            let name = &search.module.module().computations[computation].name;
            let path = format!("{path}/{name}");
            ComputationCall { computation, arguments: transposed(operands), path }
        };
        if let Op::Call(op) = &instruction.op {
            let place = place(self, op.to_apply, operands);
            Some(self.place(&place, &None))
        } else if let Op::Fusion(op) = &instruction.op {
            let place = place(self, op.calls, operands);
            Some(self.place(&place, &None))
        } else if let Op::Conditional(op) = &instruction.op {
            let branches: Vec<usize> =
                operands[0].iter().map(|value| branch(value, op.branches.len())).collect();
            let branch = *branches.first().filter(|&first| branches.iter().all(|b| b == first))?;
            let place = place(self, op.branches[branch], &operands[branch + 1..=branch + 1]);
            Some(self.place(&place, &None))
        } else if let Op::While(op) = &instruction.op {
            self.rounds(op, operands.first()?, path)
        } else if instruction.opcode().kind() == Kind::Array {
            self.samples(instruction, operands, path)
        } else {
            None
        }
    }

    /// Runs a computation of scalars on some elements of the operands.
    fn samples(
        &mut self,
        instruction: &Instruction,
        operands: &[Values],
        path: &str,
    ) -> Option<bool> {
        let module = Arc::clone(&self.module);
        let mut searched = None;
        for computation in callees(instruction) {
            let callee = &module.module().computations[computation];
            let shapes = callee.program_shape().parameters;
            let types: Vec<ElementType> = shapes.iter().filter_map(|shape| scalar(shape)).collect();
            if types.len() != shapes.len() {
                continue;
            }
            for sample in 0..SAMPLES {
                let Some(arguments) = sampled(&types, operands, sample) else { break };
                let arguments = vec![arguments; operands.first().map_or(1, Vec::len)];
                let path = format!("{path}/{}", callee.name);
                if self.place(&ComputationCall { computation, arguments, path }, &None) {
                    return Some(true);
                }
                searched = Some(false);
            }
        }
        searched
    }
}

/// Returns scalars of these types from the operands; parameters of the same type get different
/// elements.
fn sampled(types: &[ElementType], operands: &[Values], sample: usize) -> Option<Vec<Literal>> {
    let element = |(number, &ty): (usize, &ElementType)| {
        let arrays = operands.iter().flat_map(|values| values[0].leaves());
        let is_source =
            |a: &&Literal| a.array_shape().is_some_and(|shape| shape.ty == ty) && !a.is_empty();
        let arrays: Vec<&Literal> = arrays.filter(is_source).collect();
        let array = *arrays.get(number % arrays.len().max(1))?;
        let at = (sample * types.len() + number) % array.len();
        Some(Literal::scalar(ty, array.get(at)))
    };
    types.iter().enumerate().map(element).collect()
}

fn callees(instruction: &Instruction) -> Vec<ComputationId> {
    let mut found = Vec::new();
    instruction.op.each_callee(&mut |id| found.push(id));
    found
}

fn scalar(shape: &Shape) -> Option<ElementType> {
    shape.array().filter(|array| array.rank() == 0).map(|array: &ArrayShape| array.ty)
}

/// Returns the number of the branch that a selector selects.
fn branch(selector: &Literal, branches: usize) -> usize {
    if let Scalar::Pred(is_true) = selector.get(0) {
        // The first branch is for true.
        return usize::from(!is_true);
    }
    let index = selector.get(0).as_i64().and_then(|index| usize::try_from(index).ok());
    index.filter(|&index| index < branches).unwrap_or(branches - 1)
}
