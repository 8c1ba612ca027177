//! Checks that every instruction states the shape its op has, and that the number of elements does
//! not overflow.
use crate::diag::{Code, Place};
use crate::ir::{Computation, ComputationId, InstructionId, ProgramShape};
use crate::op::{Callees, check_arrays};
use crate::{Error, Module, Op, Shape, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::OnceCell;

/// The program shape of each computation, computed once, since many instructions can call one
/// computation.
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

/// The result of the checks: where a stated shape is wrong, the one that follows from operands and
/// attributes.
#[derive(Default)]
pub(super) struct Corrections {
    shapes: FxHashMap<(ComputationId, InstructionId), Shape>,
    /// The computations with an error.
    broken: FxHashSet<ComputationId>,
}

/// Checks each instruction. An error that vanishes with the corrected shapes of the operands
/// follows from the errors of these, and is left out; so is an error of an instruction that calls a
/// computation with an error.
pub(super) fn check(module: &Module, errors: &mut Vec<Error>) -> Corrections {
    let found = vec![OnceCell::new(); module.computations.len()];
    let programs = Programs { module, found };
    let mut corrections = Corrections::default();
    let mut callers = Vec::new();
    for (computation_id, computation) in module.computations.iter() {
        for id in computation.instructions.ids() {
            if let Err(error) = instruction(&programs, (computation_id, id), &mut corrections) {
                corrections.broken.insert(computation_id);
                let error = placed(computation, id, error);
                match calls(computation, id) {
                    true => callers.push((computation_id, id, error)),
                    false => errors.push(error),
                }
            }
        }
        if let Err(error) = signature(computation_id, computation, &corrections) {
            errors.push(error);
        }
    }
    let is_first = |(computation, id, _): &(ComputationId, InstructionId, Error)| {
        !corrections.calls_broken(&module.computations[*computation].instructions[*id].op)
    };
    errors.extend(callers.into_iter().filter(is_first).map(|(_, _, error)| error));
    corrections
}

fn calls(computation: &Computation, id: InstructionId) -> bool {
    let mut calls = false;
    computation.instructions[id].op.each_callee(&mut |_| calls = true);
    calls
}

impl Corrections {
    /// Returns whether an instruction calls a computation with an error.
    fn calls_broken(&self, op: &Op) -> bool {
        let mut found = false;
        op.each_callee(&mut |callee| found |= self.broken.contains(&callee));
        found
    }
    /// Returns the corrected result of a computation, if it has one.
    pub(super) fn result(&self, id: ComputationId, computation: &Computation) -> Option<&Shape> {
        self.shapes.get(&(id, computation.root))
    }
}

/// Adds the span of the instruction, and a label at the definition of the operand the error is
/// about.
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
    (computation_id, id): (ComputationId, InstructionId),
    corrections: &mut Corrections,
) -> Result<(), Error> {
    let computation = &programs.module.computations[computation_id];
    let instruction = &computation.instructions[id];
    let (op, stated) = (&instruction.op, &instruction.shape);
    let operands: SmallVec<[&Shape; 4]> =
        instruction.operands.iter().map(|&id| &computation.instructions[id].shape).collect();
    let checked = op.check_shape(&operands, stated, programs);
    let known = &corrections.shapes;
    let follows = !known.is_empty()
        && instruction.operands.iter().any(|&id| known.contains_key(&(computation_id, id)));
    let is_wrong = checked.as_ref().is_err_and(|e| matches!(e.code(), Code::ResultShape { .. }));
    if !follows && !is_wrong {
        return checked;
    }
    check_arrays(stated)?;
    let corrected: SmallVec<[&Shape; 4]> = (instruction.operands.iter().zip(&operands))
        .map(|(&operand, shape)| known.get(&(computation_id, operand)).unwrap_or(*shape))
        .collect();
    let Ok(shape) = op.shape(&corrected, Some(stated), programs) else { return checked };
    if shape.compatible(stated) {
        // It is right as soon as its operands are.
        return Ok(());
    }
    drop(corrected);
    if !corrections.calls_broken(op) {
        corrections.shapes.insert((computation_id, id), shape);
    }
    checked
}

/// Checks that the result of the signature is the shape of the root.
fn signature(
    id: ComputationId,
    computation: &Computation,
    corrections: &Corrections,
) -> Result<(), Error> {
    let Some(stated) = computation.signature.as_deref() else { return Ok(()) };
    let result = computation.result_shape();
    let corrected = corrections.result(id, computation);
    if stated.compatible(result) || corrected.is_some_and(|shape| stated.compatible(shape)) {
        return Ok(());
    }
    let name = &computation.name;
    let message =
        format!("the signature of `{name}` states {stated:#}, but its root is {result:#}");
    let error = Error::from(Code::Callee { rule: "signature_result", message });
    Err(error.at(computation.span).label(computation.span(computation.root), "the root"))
}
