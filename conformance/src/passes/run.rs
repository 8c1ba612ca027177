//! Runs of states, and their comparison.
use super::report::Class;
use super::state::State;
use crate::blame::{Divergence, Options as BlameOptions, compare_results, interface_difference};
use crate::exact::narrows;
use crate::judge::{JudgeOptions, Judgement, judge_partitioned};
use crate::program::scheduled;
use crate::{Tolerance, compare_each};
use collectives::spmd::Boundary;
use collectives::{RunError, Session};
use crossbeam_channel::{Receiver, unbounded};
use hlo::diag::quantity;
use hlo::{Literal, Verified};
use interp::{CompileOptions, Device, DeviceGrid, Hooks, RunOptions};
use std::sync::Arc;

/// Why a state has no results.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum NoResult {
    /// Etalon does not implement something, or the run takes more steps than it may.
    Unsupported(String),
    /// The run fails, or takes far more steps than that of the state before it.
    Failed(String),
}

impl NoResult {
    fn new(error: &RunError, limit: Limit) -> Self {
        let message = error.to_string();
        let line = message.lines().next().unwrap_or_default().to_owned();
        let is_unknown = match error.number() {
            "E0404" => !limit.is_far,
            "E0505" => true,
            _ => error.is_unsupported(),
        };
        if is_unknown { Self::Unsupported(line) } else { Self::Failed(line) }
    }
    pub(super) fn message(&self) -> &str {
        let (Self::Unsupported(message) | Self::Failed(message)) = self;
        message
    }
}

/// The results of each device, or why there are none.
pub(super) type Results = Result<Vec<Literal>, NoResult>;

/// The most steps of a run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Limit {
    pub(super) steps: Option<u64>,
    /// Whether that is so far beyond the state before it that a run of more steps is endless.
    is_far: bool,
}

/// The most steps of a run that is not compared with a long one.
const STEPS: u64 = 100_000_000;
/// How many times the steps of the state before it a run may take: a pass may expand an op into a
/// loop, whose steps count one by one.
pub(super) const TIMES: u64 = 100;

impl Limit {
    /// Returns the limit of a state, by the one that the user states and the steps of the state
    /// before it, of which the first has none.
    pub(super) fn of(stated: Option<u64>, before: Option<u64>) -> Self {
        let far = before.map(|steps| steps.saturating_mul(TIMES));
        let steps = stated.or(far.map(|far| far.max(STEPS)));
        Self { steps, is_far: far.zip(steps).is_some_and(|(far, steps)| steps >= far) }
    }
}

/// What a state computes from each set of arguments.
#[derive(Debug)]
pub(super) struct Outputs {
    pub(super) results: Vec<Results>,
    /// What it writes to the outside: the values of `outfeed` on each device.
    pub(super) outfeeds: Vec<Vec<Literal>>,
    /// The most steps of a run.
    pub(super) steps: u64,
}

impl Outputs {
    /// Returns whether the state has a result.
    pub(super) fn is_any(&self) -> bool {
        self.results.iter().any(Result::is_ok)
    }
}

/// Runs a state on each set of arguments.
pub(super) fn run(module: &State, sets: &[Vec<Vec<Literal>>], limit: Limit) -> Outputs {
    let grid = DeviceGrid::of(&module.module.module().config);
    let session = Session::compile_for(module.module.clone(), grid, &CompileOptions::default());
    let mut outputs = Outputs { results: Vec::new(), outfeeds: Vec::new(), steps: 0 };
    let session = match session {
        Ok(session) => session,
        Err(error) => {
            outputs.results = vec![Err(NoResult::new(&error, limit)); sets.len()];
            outputs.outfeeds = vec![Vec::new(); sets.len()];
            return outputs;
        }
    };
    let mut options = scheduled(&module.module, RunOptions::default());
    options.fuel = limit.steps;
    for arguments in sets {
        let (senders, queues): (Vec<_>, Vec<_>) = (0..grid.len()).map(|_| unbounded()).unzip();
        let hooks = move |device: Device| match senders.get(grid.number(device)) {
            Some(sender) => Hooks::new().outfeed(sender.clone()),
            // Those of a manual region are no devices of the program.
            None => Hooks::new(),
        };
        let result = session.run_with(arguments, &options, hooks);
        let result = result.map_err(|error| NoResult::new(&error, limit)).map(|output| {
            outputs.steps = outputs.steps.max(output.steps.unwrap_or_default());
            output.results
        });
        outputs.results.push(result);
        outputs.outfeeds.push(queues.iter().map(queued).collect());
    }
    outputs
}

/// Returns the values in a queue.
fn queued(queue: &Receiver<Literal>) -> Literal {
    Literal::tuple(queue.try_iter().collect())
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
    of_frontend(judged, [before, after], [expected, actual])
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
        let devices = modules.map(|module| DeviceGrid::of(&module.config).len());
        let Some(difference) = interface_difference(modules[0], modules[1]) else {
            return match devices {
                // Each device is compared with the only one, as all have its arguments.
                [1, _] => Self::Same,
                [one, other] if one == other => Self::Same,
                [one, other] => {
                    Self::Other(format!("it runs on {}, not on {one}", quantity(other, "device")))
                }
            };
        };
        let partitions = modules.map(|module| module.config.num_partitions);
        if partitions[1] > 1 {
            match Boundary::of(before, after) {
                Ok(boundary) => return Self::Partitioned(Box::new(boundary)),
                Err(error) if error.number() == "E0511" => return Self::Other(error.to_string()),
                // They do not correspond at all.
                Err(_) => {}
            }
        }
        selected(before, after).map_or(Self::Other(difference), Self::Selected)
    }
    /// Returns that the parameters are the first ones of the other state, if they are.
    pub(super) fn first(before: &Verified, after: &Verified) -> Option<Self> {
        let [first, second] = [before, after].map(|state| state.module().entry().program_shape());
        let mut pairs = first.parameters.iter().zip(&second.parameters);
        let is_first = first.parameters.len() >= second.parameters.len()
            && pairs.all(|(own, other)| own.compatible(other))
            && first.result.compatible(second.result);
        is_first.then(|| Self::Selected((0..second.parameters.len()).collect()))
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
    arguments: &[Vec<Literal>],
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
    let given = arguments.first().map_or(&[][..], Vec::as_slice);
    let options = JudgeOptions::of_partitioner();
    let judged = judge_partitioned(&options, &before.module, boundary, given, global, actual);
    let outcome = match judged {
        Ok(judgement) => {
            let class = Class::of(&judgement);
            let message = String::new();
            Outcome { class, message, judgement: Some(judgement), divergence: None }
        }
        Err(error) => return Outcome::new(Class::NotRun, error.to_string()),
    };
    match boundary.results(global, actual) {
        Ok(expected) => of_frontend(outcome, [before, after], [&expected, actual]),
        Err(_) => outcome,
    }
}

/// Returns the outcome; of a program with functions of CHLO by the tolerance, if it differs: they are
/// exact in Etalon's HLO, and approximations in that of the frontend, of which no rule says how good
/// they are.
fn of_frontend(
    outcome: Outcome,
    states: [&State; 2],
    [expected, actual]: [&[Literal]; 2],
) -> Outcome {
    if outcome.class != Class::Differs || !states[0].has_chlo {
        return outcome;
    }
    let estimated = within_tolerance(states, expected, actual);
    if estimated.class == Class::Differs { outcome } else { estimated }
}

/// Compares what two states write to the outside; `None` if it is the same.
pub(super) fn compared_outfeeds(
    states: [&State; 2],
    [expected, actual]: [&[Literal]; 2],
) -> Option<Outcome> {
    let is_same = match expected {
        [only] => actual.iter().all(|own| own == only),
        each => each == actual,
    };
    (!is_same).then(|| {
        let outcome = within_tolerance(states, expected, actual);
        Outcome { message: format!("outfeed: {}", outcome.message), ..outcome }
    })
}

/// Compares results by the tolerance of both modules, which does not depend on the values.
fn within_tolerance(
    [before, after]: [&State; 2],
    expected: &[Literal],
    actual: &[Literal],
) -> Outcome {
    let [first, second] = [before, after].map(|state| Tolerance::of(state.module.module()));
    // A state that rounds to fewer digits than the one before it has no wider bound for that, but if
    // that has functions of CHLO, which have more digits in Etalon's HLO.
    let narrows = !before.has_chlo && narrows([&before.module, &after.module]);
    let tolerance = if narrows { first } else { second.or(&first) };
    match compare_each(actual, expected, &tolerance) {
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
