//! Every instruction states the shape its op gives.
use crate::diag::{Code, Place};
use crate::ir::{Computation, InstructionId};
use crate::op::{Arity, Infer, ShapeText};
use crate::{Error, Module, Shape};
use smallvec::SmallVec;

pub(super) fn check(module: &Module, errors: &mut Vec<Error>) {
    for (_, computation) in module.computations.iter() {
        for id in computation.instructions.ids() {
            if let Err(error) = instruction(module, computation, id) {
                errors.push(placed(computation, id, error));
            }
        }
        signature(computation, errors);
    }
}

/// Adds where the instruction stands, and where an operand the error is about was defined.
fn placed(computation: &Computation, id: InstructionId, error: Error) -> Error {
    let error = error.at(computation.spans[id].body);
    let Place::Operand(i) = error.diagnostic().place else { return error };
    let operands = &computation.instructions[id].operands;
    let Some(&operand) = operands.get(i) else { return error };
    let shape = &computation.instructions[operand].shape;
    error.label(computation.spans[operand].name, format!("this is {shape}"))
}

fn instruction(module: &Module, computation: &Computation, id: InstructionId) -> Result<(), Error> {
    let instruction = &computation.instructions[id];
    let opcode = instruction.opcode();
    let operands: SmallVec<[&Shape; 4]> =
        instruction.operands.iter().map(|&id| &computation.instructions[id].shape).collect();
    if let Arity::Fixed(wanted) = opcode.arity()
        && operands.len() != wanted
    {
        let op = opcode.name().to_owned();
        return Err(Code::Arity { op, wanted: format!("{wanted}"), found: operands.len() }.into());
    }
    let stated = Some(&instruction.shape);
    let cx = Infer { opcode, operands: &operands, stated, callees: module };
    let inferred = instruction.op.infer(&cx)?;
    if inferred.compatible(&instruction.shape) {
        return Ok(());
    }
    let (op, stated) = (opcode.name().to_owned(), instruction.shape.to_string());
    let error = Error::from(Code::ResultShape { op, inferred: inferred.to_string(), stated });
    Err(match opcode.shape_text() {
        ShapeText::Inferred => error.with_help("the shape may be left out: it is then inferred"),
        ShapeText::Stated | ShapeText::Forced => error,
    })
}

/// The signature's result is the root's shape.
fn signature(computation: &Computation, errors: &mut Vec<Error>) {
    let Some(stated) = computation.signature.as_deref() else { return };
    let result = computation.result_shape();
    if !stated.compatible(result) {
        let name = &computation.name;
        let message = format!("the signature of `{name}` gives {stated}, its root {result}");
        let error = Error::from(Code::Callee { rule: "signature_result", message });
        errors.push(
            error
                .at(computation.span)
                .label(computation.spans[computation.root].body, "the root is here"),
        );
    }
}
