//! Checks that every instruction states the shape its op has, and that the number of elements does not overflow.
use crate::diag::{Code, Place};
use crate::ir::{Computation, ComputationId, InstructionId, ProgramShape};
use crate::op::Callees;
use crate::{Error, Module, Shape, Span};
use smallvec::SmallVec;
use std::cell::OnceCell;

/// The program shape of each computation, computed once, since many instructions can call one computation.
struct Programs<'a> {
    module: &'a Module,
    found: Vec<OnceCell<ProgramShape<'a>>>,
}

impl Callees for Programs<'_> {
    fn program_shape(&self, id: ComputationId) -> Option<ProgramShape<'_>> {
        let computation = self.module.computations.get(id)?;
        Some(self.found[id.index()].get_or_init(|| computation.program_shape()).clone())
    }
}

pub(super) fn check(module: &Module, errors: &mut Vec<Error>) {
    let found = vec![OnceCell::new(); module.computations.len()];
    let programs = Programs { module, found };
    for (_, computation) in module.computations.iter() {
        for id in computation.instructions.ids() {
            if let Err(error) = instruction(&programs, computation, id) {
                errors.push(placed(computation, id, error));
            }
        }
        signature(computation, errors);
    }
}

/// Adds the span of the instruction, and a label at the definition of the operand the error is about.
fn placed(computation: &Computation, id: InstructionId, error: Error) -> Error {
    let spans = computation.spans(id);
    // The shape is between the name and the opcode; an instruction without a name states none.
    let place = error.place().clone();
    if place == Place::Shape && spans.name.end < spans.body.start {
        return error.at(Span { start: spans.name.end, end: spans.body.start });
    }
    let error = error.at(spans.body);
    let Place::Operand(i) = place else { return error };
    let operands = &computation.instructions[id].operands;
    let Some(&operand) = operands.get(i) else { return error };
    let shape = &computation.instructions[operand].shape;
    error.label(computation.spans(operand).name, format!("this is {shape:#}"))
}

fn instruction(
    programs: &Programs<'_>,
    computation: &Computation,
    id: InstructionId,
) -> Result<(), Error> {
    let instruction = &computation.instructions[id];
    let operands: SmallVec<[&Shape; 4]> =
        instruction.operands.iter().map(|&id| &computation.instructions[id].shape).collect();
    instruction.op.check_shape(&operands, &instruction.shape, programs)
}

/// Checks that the result of the signature is the shape of the root.
fn signature(computation: &Computation, errors: &mut Vec<Error>) {
    let Some(stated) = computation.signature.as_deref() else { return };
    let result = computation.result_shape();
    if !stated.compatible(result) {
        let name = &computation.name;
        let message =
            format!("the signature of `{name}` states {stated:#}, but its root is {result:#}");
        let error = Error::from(Code::Callee { rule: "signature_result", message });
        errors
            .push(error.at(computation.span).label(computation.span(computation.root), "the root"));
    }
}
