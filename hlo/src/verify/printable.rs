//! Checks that a module prints as a text that is read as the same module.
//!
//! A text has this property by itself. Messages and programs that build modules can have any
//! characters in a name and in the attributes that are printed as they are, and shapes of any
//! depth.
use crate::diag::Code;
use crate::ir::{CommonAttrs, Computation, InstructionId, OriginalValue};
use crate::op::Op;
use crate::text::{common, header, is_name, is_raw, names};
use crate::{Error, Literal, Module, Shape};

pub(crate) fn check(module: &Module, errors: &mut Vec<Error>) {
    if !is_name(&module.name) {
        errors.push(bad_name("a module", &module.name));
    }
    errors.extend(header::not_kept(&module.config).map(bad_attribute));
    if let Some((parameters, result)) = &module.config.entry_layout {
        let nesting = parameters.iter().chain([result]).map(Shape::nesting);
        errors.extend(check_nesting(nesting.max().unwrap_or(0)).err());
    }
    for (_, computation) in module.computations.iter() {
        if !names::is_kept(&computation.name) {
            errors.push(bad_name("a computation", &computation.name).at(computation.span));
        }
        for id in computation.instructions.ids() {
            let found = check_instruction(computation, id).err();
            errors.extend(found.map(|error| error.at(computation.site(id))));
        }
    }
}

fn check_instruction(computation: &Computation, id: InstructionId) -> Result<(), Error> {
    let (name, instruction) = (computation.name(id), &computation.instructions[id]);
    if !names::is_kept(name) {
        return Err(bad_name("an instruction", name));
    }
    let mut nesting = instruction.shape.nesting();
    if let Op::CustomCall(call) = &instruction.op {
        nesting = nesting.max(call.literal.as_ref().map_or(0, literal_nesting));
    }
    if let Some(common) = &instruction.common {
        nesting = nesting.max(common.origin.as_ref().map_or(0, OriginalValue::nesting));
        check_raw(instruction.op.opcode().attributes(), common)?;
    }
    check_nesting(nesting)
}

fn literal_nesting(literal: &Literal) -> usize {
    literal.shape().nesting()
}

fn check_nesting(nesting: usize) -> Result<(), Error> {
    const LIMIT: usize = Shape::NESTING_LIMIT;
    if nesting <= LIMIT {
        return Ok(());
    }
    let error = Error::from(Code::TooDeep { limit: u32::try_from(LIMIT).unwrap_or(u32::MAX) });
    Err(error.with_help(format!(
        "use at most {LIMIT} dimensions, and {LIMIT} together with the tuples around them"
    )))
}

/// Checks the unknown attributes of an instruction, whose own attributes are `known`.
fn check_raw(known: &[&str], attributes: &CommonAttrs) -> Result<(), Error> {
    let taken = |name: &str| known.contains(&name) || common::NAMES.contains(&name);
    match attributes.unknown.iter().find(|raw| taken(&raw.name) || !is_raw(&raw.name, &raw.value)) {
        Some(raw) => Err(bad_attribute(&raw.name)),
        None => Ok(()),
    }
}

#[cold]
fn bad_attribute(name: &str) -> Error {
    let message = format!("the attribute {name:?} cannot be printed as it is");
    Code::AttributeValue { message }.into()
}

#[cold]
fn bad_name(kind: &str, name: &str) -> Error {
    let message = format!("{name:?} cannot be the name of {kind}");
    Error::from(Code::Structure { message }).with_help(
        "begin a name with a letter or `_`, and go on with letters, digits, `_`, `.`, `-`",
    )
}
