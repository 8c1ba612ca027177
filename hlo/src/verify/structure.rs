//! The skeleton: ids in range, operands before users, parameter numbers, recursion.
//!
//! Everything after this may index freely.
use crate::diag::Code;
use crate::ir::{Computation, ComputationId};
use crate::{Error, Module, Op};

pub(super) fn check(module: &Module, errors: &mut Vec<Error>) {
    if module.computations.get(module.entry).is_none() {
        let message = "the entry computation does not exist".to_owned();
        errors.push(Code::Structure { message }.into());
        return;
    }
    for (_, computation) in module.computations.iter() {
        operands(module, computation, errors);
        parameters(computation, errors);
    }
    if errors.is_empty() {
        recursion(module, errors);
    }
}

/// Operands, control predecessors and callees exist, and operands stand before their users.
fn operands(module: &Module, computation: &Computation, errors: &mut Vec<Error>) {
    let count = computation.instructions.len();
    if computation.root.index() >= count {
        let message = format!("computation `{}` has no root", computation.name);
        errors.push(Error::from(Code::Structure { message }).at(computation.span));
    }
    for (id, instruction) in computation.instructions.iter() {
        let span = computation.span(id);
        let control = instruction.common.iter().flat_map(|c| c.control_predecessors());
        for &before in instruction.operands.iter().chain(control) {
            if before.index() >= id.index() {
                let known = computation.instructions.get(before).is_some();
                let name = if known { computation.name(before).as_str() } else { "" };
                errors.push(Error::from(Code::UndefinedName { name: name.into() }).at(span));
            }
        }
        instruction.op.each_callee(&mut |callee| {
            if module.computations.get(callee).is_none() {
                let name = format!("{callee:?}");
                errors.push(Error::from(Code::UndefinedComputation { name }).at(span));
            }
        });
    }
}

/// Parameters are numbered from 0 without gaps.
fn parameters(computation: &Computation, errors: &mut Vec<Error>) {
    let mut found = Vec::new();
    for (id, instruction) in computation.instructions.iter() {
        if let Op::Parameter(parameter) = &instruction.op {
            found.push((parameter.number, id));
        }
    }
    found.sort_unstable();
    let mut wanted = 0;
    for (i, &(number, id)) in found.iter().enumerate() {
        let span = computation.span(id);
        let twice = i > 0 && found[i - 1].0 == number;
        if twice {
            let message = format!("parameter {number} of `{}` is defined twice", computation.name);
            let first = computation.span(found[i - 1].1);
            let error = Error::from(Code::ParameterNumber { message }).at(span);
            errors.push(error.label(first, "first defined here"));
            continue;
        }
        if number != wanted {
            let message = format!(
                "`{}` has a parameter {number}, but no parameter {wanted}",
                computation.name
            );
            let help = "parameters are numbered from 0 without gaps";
            errors.push(Error::from(Code::ParameterNumber { message }).at(span).with_help(help));
        }
        wanted = number.saturating_add(1);
    }
}

/// The error for a computation that comes back to itself by this round of calls.
fn recursive(module: &Module, round: &[ComputationId]) -> Error {
    const SHOWN: usize = 8;
    let computation = &module.computations[round[0]];
    let mut path: Vec<&str> =
        round.iter().map(|&id| module.computations[id].name.as_str()).collect();
    if path.len() > SHOWN {
        path.splice(SHOWN - 2..path.len() - 1, ["..."]);
    }
    let code = Code::Recursion { name: computation.name.to_string(), path: path.join(" -> ") };
    Error::from(code).at(computation.span)
}

/// No computation calls itself, directly or through others.
fn recursion(module: &Module, errors: &mut Vec<Error>) {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let callees = |id: ComputationId| {
        let mut found = Vec::new();
        for (_, instruction) in module.computations[id].instructions.iter() {
            instruction.op.each_callee(&mut |callee| found.push(callee));
        }
        found
    };
    let mut marks = vec![Mark::New; module.computations.len()];
    for start in module.computations.ids() {
        if marks[start.index()] != Mark::New {
            continue;
        }
        marks[start.index()] = Mark::Open;
        let mut stack = vec![(start, callees(start))];
        while let Some((id, rest)) = stack.last_mut() {
            let Some(callee) = rest.pop() else {
                marks[id.index()] = Mark::Done;
                stack.pop();
                continue;
            };
            match marks[callee.index()] {
                Mark::New => {
                    marks[callee.index()] = Mark::Open;
                    stack.push((callee, callees(callee)));
                }
                Mark::Open => {
                    let first = stack.iter().position(|(id, _)| *id == callee).unwrap_or(0);
                    let round = stack[first..].iter().map(|(id, _)| *id).chain([callee]);
                    errors.push(recursive(module, &round.collect::<Vec<_>>()));
                }
                Mark::Done => {}
            }
        }
    }
}
