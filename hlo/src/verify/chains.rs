//! Asynchronous ops: each `-done` takes the value of a `-start` of its op, which nothing else uses,
//! its operands and its result are those of the computation that the start calls, and that
//! computation has one op.
//!
//! Between the two the value may pass through tuples, loops, branches and calls.
use super::origins::{Site, Tracer};
use crate::diag::{Code, Error, Place};
use crate::ir::{Computation, Instruction, InstructionId};
use crate::op::{AsyncRole, Kind, check as rule};
use crate::{Module, Op, Result, Shape};
use rustc_hash::FxHashSet;

/// The frontend attribute of a start whose computation is a group of collectives.
const GROUP: &str = "_collectives_group";

pub(super) fn check(module: &Module, errors: &mut Vec<Error>) {
    let mut tracer = Tracer::new(module);
    for (holder, computation) in module.computations.iter() {
        let mut users = vec![0u32; computation.instructions.len()];
        for (_, instruction) in computation.instructions.iter() {
            let mut operands = instruction.operands.clone();
            // One of the branches runs, so several may take one value.
            if let Op::Conditional(_) = instruction.op {
                operands.sort_unstable();
                operands.dedup();
            }
            for operand in operands {
                users[operand.index()] += 1;
            }
        }
        let mut taken = FxHashSet::default();
        for (id, instruction) in computation.instructions.iter() {
            let result = end(module, &mut tracer, (holder, id))
                .and_then(|()| taken_once(&tracer, (holder, id), computation, &users, &mut taken))
                .and_then(|()| start(instruction, users[id.index()]))
                .and_then(|()| wrapped(module, instruction));
            if let Err(error) = result {
                errors.push(error.at(computation.span(id)));
            }
        }
    }
}

/// Fails unless an update or a done takes the value of its start, and fits it.
fn end(module: &Module, tracer: &mut Tracer<'_>, site: Site) -> Result<()> {
    let computation = &module.computations[site.0];
    let instruction = &computation.instructions[site.1];
    let opcode = instruction.opcode();
    let Some(AsyncRole::Update(start) | AsyncRole::Done(start)) = opcode.async_role() else {
        return Ok(());
    };
    let origins = tracer.origins(site);
    let at = |(holder, id): Site| &module.computations[holder].instructions[id];
    let other = origins.starts.iter().find(|&&origin| at(origin).opcode() != start);
    let other = origins.other.or(other.copied());
    rule(other.is_none(), "done_of_start", || {
        let found = other.map_or(start, |origin| at(origin).opcode());
        format!("`{opcode}` must take the value of `{start}`, found that of `{found:#}`")
    })
    .map_err(|e| e.on(Place::Operand(0)))?;
    for &origin in &origins.starts {
        let before = at(origin);
        let is_direct = (origin.0, instruction.operands.first()) == (site.0, Some(&origin.1));
        let channel = |op: &Op| (op.channel_id(), op.is_host_transfer());
        let is_same = opcode.kind() != Kind::Transfer
            || !is_direct
            || channel(&before.op) == channel(&instruction.op);
        rule(is_same, "done_same_channel", || {
            format!("`{start:#}` and `{opcode}` have different `channel_id` or `is_host_transfer`")
        })
        .map_err(|e| e.on(Place::Operand(0)))?;
        if let Op::AsyncStart(start) = &before.op {
            let callee = &module.computations[start.calls];
            fits(computation, instruction, callee).map_err(|error| {
                error.label(module.computations[origin.0].span(origin.1), "started here")
            })?;
        }
    }
    Ok(())
}

/// Fails unless the operands that are bound up to an update or a done are those that the
/// computation takes, and the result so far is part of its result.
fn fits(computation: &Computation, instruction: &Instruction, callee: &Computation) -> Result<()> {
    let shape = |id: &InstructionId| &computation.instructions[*id].shape;
    let Some((state, late)) = instruction.operands.split_first() else { return Ok(()) };
    let before = shape(state).tuple().and_then(|parts| parts.first()?.tuple());
    let before = before.unwrap_or_default();
    let late: Vec<_> = late.iter().map(|id| shape(id).clone()).collect();
    let bound = [before, &late].concat();
    let (name, program) = (&callee.name, callee.program_shape());
    let fit = |(a, b): (&Shape, &&Shape)| a.compatible(b);
    let count = bound.iter().zip(&program.parameters).take_while(|&pair| fit(pair)).count();
    let wrong = (count < bound.len()).then(|| (count + 1).saturating_sub(before.len()));
    rule(wrong.is_none(), "async_operands", || {
        let expected = program.parameters.get(count);
        let expected = expected.map_or("no further one".into(), |shape| format!("{shape:#}"));
        format!("parameter {count} of `{name}` gets {:#}, expected {expected}", bound[count])
    })
    .map_err(|e| e.on(Place::Operand(wrong.unwrap_or_default())))?;
    let is_done = matches!(instruction.op, Op::AsyncDone(_));
    rule(!is_done || count == program.parameters.len(), "async_unbound", || {
        format!(
            "`{}` comes before all operands are bound: `{name}` takes {}, found {count}",
            instruction.opcode(),
            program.parameters.len()
        )
    })
    .map_err(|e| e.on(Place::Operand(0)))?;
    let (result, fits) = if is_done {
        (&instruction.shape, instruction.shape.compatible(program.result))
    } else {
        let parts = instruction.shape.tuple().unwrap_or_default();
        let result = parts.get(1).unwrap_or(&instruction.shape);
        (result, result.is_prefix_of(program.result))
    };
    rule(fits, "async_result", || {
        format!("`{name}` returns {:#}, but the result here is {result:#}", program.result)
    })
    .map_err(|e| e.on(Place::Shape))
}

/// Fails if two updates or dones of a computation take one value, through tuples.
fn taken_once(
    tracer: &Tracer<'_>,
    site: Site,
    computation: &Computation,
    users: &[u32],
    taken: &mut FxHashSet<(InstructionId, Vec<i64>)>,
) -> Result<()> {
    let instruction = &computation.instructions[site.1];
    let role = instruction.opcode().async_role();
    let Some(AsyncRole::Update(_) | AsyncRole::Done(_)) = role else { return Ok(()) };
    let Some(&operand) = instruction.operands.first() else { return Ok(()) };
    let (origin, index) = tracer.local((site.0, operand));
    // The value of a start with several users is an error of the start.
    let is_counted = index.is_empty() && users[origin.index()] > 1;
    rule(taken.insert((origin, index)) || is_counted, "start_taken_once", || {
        format!("the operand of `{}` is the value that another one takes", instruction.opcode())
    })
    .map_err(|e| e.on(Place::Operand(0)))
}

/// Fails unless the computation of an asynchronous op has one op, only elements of parameters, or
/// only sends and receives.
fn wrapped(module: &Module, instruction: &Instruction) -> Result<()> {
    let Op::AsyncStart(start) = &instruction.op else { return Ok(()) };
    let callee = &module.computations[start.calls];
    let attributes = instruction.common.as_ref().and_then(|c| c.frontend_attributes.as_ref());
    let is_group = attributes.is_some_and(|all| all.0.iter().any(|(key, _)| key == GROUP));
    if !callee.execution_thread.is_empty() || is_group || callee.only_transfers() {
        return Ok(());
    }
    let mut others = callee.instructions.iter().filter(|(id, _)| *id != callee.root);
    let is_simple = |one: &Instruction| {
        let element = matches!(one.op, Op::GetTupleElement(_));
        element || matches!(one.op, Op::Parameter(_))
    };
    let Some((_, found)) = others.find(|(_, one)| !is_simple(one)) else { return Ok(()) };
    let message = format!(
        "the asynchronous computation `{}` has a `{}` besides its root",
        callee.name,
        found.opcode()
    );
    Err(Error::from(Code::AsyncComputation { message }).on(Place::Attribute("calls")))
}

fn start(instruction: &Instruction, users: u32) -> Result<()> {
    let starts = match instruction.opcode().async_role() {
        Some(AsyncRole::Start(_) | AsyncRole::Update(_)) => true,
        Some(AsyncRole::Done(_)) | None => false,
    };
    rule(!starts || users <= 1, "start_used_once", || {
        format!("the value of `{}` has {users} users, expected at most 1", instruction.opcode())
    })
}
