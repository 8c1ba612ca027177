//! Checks ids, operands before users, parameter numbers and recursion.
//!
//! All later checks can index without checking bounds.
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
        check_operands(module, computation, errors);
        check_parameters(computation, errors);
    }
    if errors.is_empty() {
        check_recursion(module, errors);
    }
}

/// Checks that operands, control predecessors and callees exist, and that operands come before
/// their users.
fn check_operands(module: &Module, computation: &Computation, errors: &mut Vec<Error>) {
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

/// Checks that parameters are numbered from 0 without gaps.
fn check_parameters(computation: &Computation, errors: &mut Vec<Error>) {
    let mut found = Vec::new();
    for (id, instruction) in computation.instructions.iter() {
        if let Op::Parameter(parameter) = &instruction.op {
            found.push((parameter.number, id));
        }
    }
    found.sort_unstable();
    let mut expected = 0;
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
        if number != expected {
            let message = format!(
                "`{}` has a parameter {number}, but no parameter {expected}",
                computation.name
            );
            let help = "number parameters from 0 without gaps";
            errors.push(Error::from(Code::ParameterNumber { message }).at(span).with_help(help));
        }
        expected = number.saturating_add(1);
    }
}

/// Returns the error for a cycle of calls.
fn recursion_error(module: &Module, round: &[ComputationId]) -> Error {
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

/// Checks that no computation calls itself, directly or indirectly.
fn check_recursion(module: &Module, errors: &mut Vec<Error>) {
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
                    errors.push(recursion_error(module, &round.collect::<Vec<_>>()));
                }
                Mark::Done => {}
            }
        }
    }
}
