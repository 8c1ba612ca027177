//! Checks between an instruction and the computations that it calls: their threads, and the
//! attributes of composites.
use crate::diag::Place;
use crate::ir::{ComputationId, Instruction};
use crate::op::{Kind, check as rule};
use crate::{Error, Module, Op, Result};

pub(super) fn check(module: &Module, errors: &mut Vec<Error>) {
    for (_, computation) in module.computations.iter() {
        for (id, instruction) in computation.instructions.iter() {
            let result = threads(module, &computation.execution_thread, instruction)
                .and_then(|()| composite(instruction));
            errors.extend(result.err().map(|error| error.at(computation.span(id))));
        }
    }
}

/// Fails unless called computations run on the thread of the caller; those of a start on the thread
/// that it names.
fn threads(module: &Module, own: &str, instruction: &Instruction) -> Result<()> {
    let own = if let Op::AsyncStart(start) = &instruction.op {
        start.thread()
    } else if instruction.opcode().kind() == Kind::Asynchronous {
        return Ok(());
    } else {
        own
    };
    let mut other: Option<ComputationId> = None;
    instruction.op.each_callee(&mut |callee| {
        if module.computations[callee].execution_thread != own {
            other = other.or(Some(callee));
        }
    });
    rule(other.is_none(), "callee_thread", || {
        let name =
            |thread: &str| if thread.is_empty() { "main".to_owned() } else { thread.to_owned() };
        let callee = &module.computations[other.expect("the rule is broken")];
        let thread = name(&callee.execution_thread);
        format!("`{}` runs on the thread `{thread}`, its caller on `{}`", callee.name, name(own))
    })
}

/// Fails unless a composite has a name, and its version is a number.
fn composite(instruction: &Instruction) -> Result<()> {
    let Op::Call(call) = &instruction.op else { return Ok(()) };
    if !call.is_composite {
        return Ok(());
    }
    let attributes = instruction.common.as_ref().and_then(|c| c.frontend_attributes.as_ref());
    let find = |key: &str| {
        let found = attributes?.0.iter().find(|(name, _)| name == key);
        found.map(|(_, value)| value.as_str())
    };
    let on = |e: Error| e.on(Place::Attribute("frontend_attributes"));
    let is_named = find("composite.name").is_some_and(|name| !name.is_empty());
    rule(is_named, "composite_name", || {
        "a composite needs the frontend attribute `composite.name`".to_owned()
    })
    .map_err(on)?;
    let version = find("composite.version").unwrap_or("0");
    rule(version.parse::<u32>().is_ok(), "composite_version", || {
        format!("`composite.version` must be a number that is not negative, found `{version}`")
    })
    .map_err(on)
}
