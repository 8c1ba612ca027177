//! Runs of states, and their comparison.
use super::report::Class;
use super::state::State;
use crate::blame::{Divergence, Options as BlameOptions, compare_results, interface_difference};
use crate::judge::Judgement;
use crate::{Tolerance, compare_each};
use collectives::spmd::Boundary;
use collectives::{RunError, Session};
use hlo::{Literal, Verified};
use interp::{CompileOptions, DeviceGrid, RunOptions};
use std::sync::Arc;

/// Why a state has no results.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NoResult {
    /// Etalon does not implement something.
    Unsupported(String),
    /// The run fails, or takes too many steps.
    Failed(String),
}

impl NoResult {
    fn new(error: &RunError) -> Self {
        let message = error.to_string();
        let line = message.lines().next().unwrap_or_default().to_owned();
        if error.is_unsupported() { Self::Unsupported(line) } else { Self::Failed(line) }
    }
    pub(super) fn message(&self) -> &str {
        let (Self::Unsupported(message) | Self::Failed(message)) = self;
        message
    }
}

/// The results of each device, or why there are none.
pub(super) type Results = Result<Vec<Literal>, NoResult>;

/// Runs a state on each set of arguments.
pub(super) fn run(module: &State, sets: &[Vec<Vec<Literal>>], fuel: u64) -> Vec<Results> {
    let grid = DeviceGrid::of(&module.module.module().config);
    let session = Session::compile_for(module.module.clone(), grid, &CompileOptions::default());
    let session = match session {
        Ok(session) => session,
        Err(error) => return vec![Err(NoResult::new(&error)); sets.len()],
    };
    let options = RunOptions::default().fuel(fuel);
    let one = |arguments: &Vec<Vec<Literal>>| match session.run(arguments, &options) {
        Ok(output) => Ok(output.results),
        Err(error) => Err(NoResult::new(&error)),
    };
    sets.iter().map(one).collect()
}

/// What the results of two states show.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) class: Class,
    pub(super) message: String,
    pub(super) judgement: Option<Judgement>,
    pub(super) divergence: Option<Divergence>,
}

impl Outcome {
    pub(super) fn new(class: Class, message: impl Into<String>) -> Self {
        Self { class, message: message.into(), judgement: None, divergence: None }
    }
}

/// Compares the results of two states with the same parameters, on one set of arguments.
pub(super) fn compared(
    [before, after]: [&State; 2],
    arguments: &[Vec<Literal>],
    [expected, actual]: [&Results; 2],
    options: &BlameOptions,
) -> Outcome {
    let (expected, actual) = match (expected, actual) {
        (Ok(expected), Ok(actual)) => (expected, actual),
        (Err(error), _) => {
            return Outcome::new(
                Class::NotRun,
                format!("no result before it: {}", error.message()),
            );
        }
        (Ok(_), Err(NoResult::Unsupported(message))) => {
            return Outcome::new(Class::NotRun, message.as_str());
        }
        (Ok(_), Err(NoResult::Failed(message))) => {
            return Outcome::new(Class::Differs, format!("it has no result any more: {message}"));
        }
    };
    if expected == actual {
        return Outcome::new(Class::SameBits, "");
    }
    let missing = before.elided.symmetric_difference(&after.elided).next();
    if let Some(constant) = missing {
        let message = format!(
            "the text elides constants, and `{constant}` is only on one side; dump with --xla_dump_large_constants or as protos"
        );
        return Outcome::new(Class::NotRun, message);
    }
    let judged = judged([&before.module, &after.module], arguments, [expected, actual], options);
    if judged.class == Class::Differs && before.is_mlir && !after.is_mlir {
        // A function of CHLO is exact in Etalon's HLO, and an approximation in that of the frontend,
        // of which no rule says how good it is.
        let estimated = within_tolerance([before, after], expected, actual);
        if estimated.class != Class::Differs {
            return estimated;
        }
    }
    judged
}

/// Judges the results of the second module by the bound of the first.
fn judged(
    modules: [&Arc<Verified>; 2],
    arguments: &[Vec<Literal>],
    results: [&[Literal]; 2],
    options: &BlameOptions,
) -> Outcome {
    let pair = match compare_results(modules, arguments, results, options) {
        Ok(pair) => pair,
        Err(message) => return Outcome::new(Class::NotRun, message),
    };
    let own = Class::of(&pair.judgement);
    let class = if pair.is_wrong() { own.max(Class::Differs) } else { own };
    let (judgement, divergence) = (Some(pair.judgement), pair.divergence);
    Outcome { class, message: String::new(), judgement, divergence }
}

/// How the arguments and results of a state follow from those of another.
pub(super) enum Interface {
    /// They are the same.
    Same,
    /// The state is what each device runs of a program over global arrays.
    Partitioned(Box<Boundary>),
    /// Its parameters are some of the others, by number; the results are the same.
    Selected(Vec<usize>),
    /// Neither: what has changed.
    Other(String),
}

impl Interface {
    pub(super) fn of(before: &Verified, after: &Verified) -> Self {
        let modules = [before.module(), after.module()];
        let Some(difference) = interface_difference(modules[0], modules[1]) else {
            return Self::Same;
        };
        let partitions = modules.map(|module| module.config.num_partitions);
        if partitions[1] > 1
            && let Ok(boundary) = Boundary::of(before, after)
        {
            return Self::Partitioned(Box::new(boundary));
        }
        selected(before, after).map_or(Self::Other(difference), Self::Selected)
    }
    /// Returns the arguments of the state, for those of the other.
    pub(super) fn arguments(&self, given: &[Vec<Literal>]) -> Result<Vec<Vec<Literal>>, String> {
        match self {
            Self::Same => Ok(given.to_vec()),
            Self::Partitioned(boundary) => {
                let global = given.first().map_or(&[][..], Vec::as_slice);
                boundary.arguments(global).map_err(|error| error.to_string())
            }
            Self::Selected(numbers) => {
                let of = |list: &Vec<Literal>| numbers.iter().map(|&n| list[n].clone()).collect();
                Ok(given.iter().map(of).collect())
            }
            Self::Other(message) => Err(message.clone()),
        }
    }
}

/// Finds the parameters of the second module in the first, by name, where some were removed.
fn selected(before: &Verified, after: &Verified) -> Option<Vec<usize>> {
    let [first, second] = [before, after].map(|module| module.module().entry());
    if !first.result_shape().compatible(second.result_shape()) {
        return None;
    }
    let find = |&id: &hlo::ir::InstructionId| {
        let (name, shape) = (second.name(id), &second.instructions[id].shape);
        let is_same = |&&other: &&hlo::ir::InstructionId| {
            first.name(other) == name && first.instructions[other].shape.compatible(shape)
        };
        let found = first.parameters();
        found.iter().position(|other| is_same(&other))
    };
    second.parameters().iter().map(find).collect()
}

/// Compares the results of the devices of a partitioned state with those of the program.
pub(super) fn compared_partitioned(
    [before, after]: [&State; 2],
    boundary: &Boundary,
    [expected, actual]: [&Results; 2],
) -> Outcome {
    let (expected, actual) = match (expected, actual) {
        (Ok(expected), Ok(actual)) => (expected, actual),
        (Err(error), _) | (_, Err(error)) => {
            return Outcome::new(Class::NotRun, error.message());
        }
    };
    let Some(global) = expected.first() else {
        return Outcome::new(Class::NotRun, "the program has no result");
    };
    let of_devices = match boundary.results(global, actual) {
        Ok(results) => results,
        Err(error) => return Outcome::new(Class::NotRun, error.to_string()),
    };
    if of_devices == *actual {
        return Outcome::new(Class::SameBits, "");
    }
    within_tolerance([before, after], &of_devices, actual)
}

/// Compares results by the tolerance of both modules, which does not depend on the values.
fn within_tolerance(
    [before, after]: [&State; 2],
    expected: &[Literal],
    actual: &[Literal],
) -> Outcome {
    let [first, second] = [before, after].map(|state| Tolerance::of(state.module.module()));
    match compare_each(actual, expected, &second.or(&first)) {
        Ok(comparison) if comparison.agrees() => {
            Outcome::new(Class::WithinBound, "within the tolerance of the modules")
        }
        Ok(comparison) => {
            let message = comparison.worst.map_or("differs".to_owned(), |worst| {
                let show = |x| Literal::scalar(worst.ty, x).to_string();
                format!("found {}, expected {}", show(worst.actual), show(worst.expected))
            });
            Outcome::new(Class::Differs, message)
        }
        Err(message) => Outcome::new(Class::Differs, message),
    }
}
