//! Judging: whether the result of another backend is one that a correct evaluation may give.
//!
//! ```text
//! module, arguments ──evaluate──> Range: the legal values of each element ─┐
//! our result ──────────────────────────────────────────────────────────────┼─> Judgement
//! the backend's result ────────────────────────────────────────────────────┘
//! ```
//!
//! The bound is computed beside the values: each instruction maps the legal values of its operands
//! to those of its result. A sum in another order is legal, a sum that lacks a term is not,
//! whatever the size of the numbers. `docs/judging.md` explains the verdicts, the bound and the
//! modes.
//!
//! ```
//! use conformance::judge::{Mode, judge};
//! use conformance::results::Verdict;
//! let text = "HloModule m
//! add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
//! ENTRY e { x = f32[3] parameter(0) z = f32[] constant(0)
//!   ROOT s = f32[] reduce(x, z), dimensions={0}, to_apply=add }";
//! let verified = hlo::Module::parse(text)?.verify()?;
//! let arguments = [vec!["f32[3] {1, 5.9604645e-8, 5.9604645e-8}".parse()?]];
//! let expected = ["f32[] 1.0000001".parse()?];
//! // Two terms are lost one after the other.
//! let judgement = judge(&verified, &arguments, &expected, &["f32[] 1".parse()?]);
//! assert_eq!(judgement.verdict, Verdict::WithinBound);
//! assert_eq!(judgement.modes, [Mode::SummationOrder]);
//! let judgement = judge(&verified, &arguments, &expected, &["f32[] 1.000001".parse()?]);
//! assert_eq!(judgement.verdict, Verdict::Differs);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![expect(clippy::float_cmp, reason = "ends of intervals are compared exactly")]
mod accuracy;
mod alone;
mod anchors;
mod apart;
mod batch_norm;
mod candidates;
mod combine;
mod complex;
mod control;
mod custom;
mod decides;
mod describe;
mod device_folds;
mod devices;
mod dynamic;
mod elementwise;
mod elimination;
mod estimate;
mod evaluate;
mod factor_checks;
mod factors;
mod fold;
mod functions;
mod initial;
mod inputs;
mod integers;
mod interval;
mod legal;
mod linear;
mod modes;
mod moved;
mod narrowed;
mod needed;
mod open_indices;
mod open_order;
mod open_rows;
mod options;
mod precision;
mod product;
mod products;
mod random;
mod range;
mod regions;
mod rewrites;
mod runner;
mod scan;
mod scatter;
mod seen;
mod site;
mod sort;
mod sorted;
mod spans;
mod spectrum;
mod squares;
mod sum;
mod sums;
#[cfg(test)]
mod tests;
mod topk;
mod transfers;
mod transform;
mod transformed;
mod unrepresentable;
mod verdict;
mod whole;
mod witness;

pub use accuracy::Accuracies;
pub(crate) use anchors::Anchors;
pub(crate) use apart::{Apart, apart};
pub use legal::{Ends, LegalArray, Order, Way, legal};
pub use modes::{Mode, Modes};
pub use options::JudgeOptions;

use crate::results::{Element, Measures, Verdict};
use collectives::spmd::{Boundary, Program};
use evaluate::Evaluator;
use hlo::ir::Module;
use hlo::{IndexSpace, Literal, Shape, Verified};
use interp::{CompileOptions, DeviceGrid};
use range::{Cause, CauseKind, Range};
use runner::Key;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use verdict::{Check, WorstElement};

/// The verdict on the results of a backend.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// One of [`Verdict::Agrees`], [`Verdict::WithinBound`], [`Verdict::NotTested`],
    /// [`Verdict::Undefined`], [`Verdict::Differs`] and [`Verdict::EtalonBug`].
    pub verdict: Verdict,
    /// The modes that explain the difference: without any one of them, the result would not be
    /// legal.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modes: Vec<Mode>,
    /// The size of the difference. `max_error` and `bound` are those of the worst element: its
    /// distance from the expected value, and the largest legal distance.
    pub measures: Measures,
    /// Elements that differ and of which nothing can be said.
    #[serde(default)]
    pub undetermined: usize,
    /// Elements that differ within a bound of the size of the element, which no wrong value would
    /// break.
    #[serde(default)]
    pub untested: usize,
    /// The error of the worst element in units of the typical one: that of sums whose roundings
    /// cancel as random numbers do. It says nothing about the verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub typical: Option<f64>,
    /// What the second computation of the expected result says, if it does not confirm it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
    /// The instruction of which rounding errors change the decision, as `computation/instruction`;
    /// or the shapes that differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// Why results have no bound, and are judged by the [`Tolerance`](crate::Tolerance) of the module.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub estimated: Option<String>,
}

/// Why legal values cannot be computed.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stop {
    /// There is no rule for an instruction, whose values may be any.
    NoRule(String),
    /// Nothing is known of the module.
    Module(String),
}

impl Stop {
    fn new(module: &Module, key: &Key, reason: &str) -> Self {
        let path = module.computations[key.computation].path(key.instruction);
        Self::NoRule(format!("{path}: {reason}"))
    }
    /// Returns any values of the shape of a result.
    fn any(&self, expected: &Literal) -> Vec<Range> {
        let (Self::NoRule(reason) | Self::Module(reason)) = self;
        let cause = Some(Cause { path: reason.as_str().into(), kind: CauseKind::NoRule });
        let leaves = expected.leaves().into_iter();
        let any = |leaf: &Literal| match leaf.array_shape() {
            Some(shape) => Range::any(shape).because(cause.clone()),
            None => Range::nothing(),
        };
        leaves.map(any).collect()
    }
}

/// Judges the results of a backend, one for each device.
///
/// `arguments` are those of each device, or a single list for all; `expected` are the results of
/// Etalon.
pub fn judge(
    verified: &Verified,
    arguments: &[Vec<Literal>],
    expected: &[Literal],
    actual: &[Literal],
) -> Judgement {
    judge_with(&JudgeOptions::default(), verified, arguments, expected, actual)
}

/// Judges as [`judge`], by what is known of the backend.
pub fn judge_with(
    options: &JudgeOptions,
    verified: &Verified,
    arguments: &[Vec<Literal>],
    expected: &[Literal],
    actual: &[Literal],
) -> Judgement {
    let mut judgement = Judgement {
        verdict: Verdict::Agrees,
        modes: Vec::new(),
        measures: Measures::default(),
        undetermined: 0,
        untested: 0,
        typical: None,
        witness: None,
        cause: None,
        estimated: None,
    };
    let pairs: Vec<(&Literal, &Literal)> = match expected {
        [all] => actual.iter().map(|actual| (all, actual)).collect(),
        each => each.iter().zip(actual).collect(),
    };
    let alike = |&(a, b): &(&Literal, &Literal)| a.shape().compatible(&b.shape());
    if pairs.len() < actual.len() || pairs.is_empty() || !pairs.iter().all(alike) {
        judgement.verdict = Verdict::Differs;
        let wrong = pairs.iter().find(|pair| !alike(pair));
        judgement.cause = Some(wrong.map_or_else(
            || format!("{} results, expected {}", actual.len(), expected.len()),
            |(a, b)| format!("the result has shape {}, expected {}", b.shape(), a.shape()),
        ));
        return judgement;
    }
    let mut equal = true;
    for (expected, actual) in &pairs {
        equal &= verdict::measure(expected, actual, &mut judgement.measures);
    }
    if equal {
        return judgement;
    }
    let repeated = match arguments {
        [all] if options.boundary.is_none() => vec![all.clone(); pairs.len()],
        each => each.to_vec(),
    };
    judge_devices(options, verified, &repeated, &pairs, &mut judgement);
    if judgement.verdict == Verdict::Differs && options.witness {
        witness::examine(options, verified, &repeated, expected, &mut judgement);
    }
    judgement
}

/// Judges what the devices of a partitioned module return, by the legal values of the program from
/// which it was made. `arguments` and `result` are those of the program, the result by Etalon. Where
/// the sharding of a result is open, the one closest to the results of the devices is assumed.
///
/// # Errors
/// `E0511` if the sharding of a result is not known.
///
/// ```
/// use conformance::judge::{self, JudgeOptions};
/// let whole = hlo::Module::parse("HloModule m\nENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] cosine(x) }")?.verify()?;
/// let part = "HloModule m, num_partitions=2
/// ENTRY e { x = f32[2] parameter(0), sharding={devices=[2]<=[2]} ROOT r = f32[2] cosine(x), sharding={devices=[2]<=[2]} }";
/// let part = hlo::Module::parse(part)?.verify()?;
/// let boundary = collectives::spmd::Boundary::of(&whole, &part)?;
/// let (x, result) = (["f32[4] {0, 0, 0, 0}".parse()?], "f32[4] {1, 1, 1, 1}".parse()?);
/// let devices = ["f32[2] {1, 1}".parse()?, "f32[2] {1, 0.9}".parse()?];
/// let judgement = judge::judge_partitioned(&JudgeOptions::default(), &whole, &boundary, &x, &result, &devices)?;
/// assert_eq!(judgement.measures.wrong, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn judge_partitioned(
    options: &JudgeOptions,
    program: &Verified,
    boundary: &Boundary,
    arguments: &[Literal],
    result: &Literal,
    devices: &[Literal],
) -> Result<Judgement, collectives::Error> {
    let boundary = Arc::new(boundary.closest(result, devices));
    let expected = boundary.split(result)?;
    let options = JudgeOptions { boundary: Some(boundary), ..options.clone() };
    Ok(judge_with(&options, program, &[arguments.to_vec()], &expected, devices))
}

/// Compares a result with the legal values of an evaluation.
fn checked(
    evaluator: &mut Evaluator<'_>,
    arguments: &[Vec<Literal>],
    [expected, actual]: [&Literal; 2],
) -> Check {
    let ranges = |evaluator: &mut Evaluator<'_>, known: HashMap<u32, [f64; 2]>| {
        evaluator.factors.restart(known);
        ranges(evaluator, arguments, expected)
    };
    let own = ranges(evaluator, HashMap::new());
    let mut seen = evaluator.factors.seen(&own, actual);
    seen.disordered = sorted::disordered(evaluator, &own, actual);
    sorted::add_unequal(evaluator.module, actual, &mut seen.disordered);
    let mut check = Check::of(&own, (&seen, None), expected, actual);
    if !seen.wrong.is_empty() && !evaluator.factors.seen(&own, expected).wrong.is_empty() {
        check.missed += 1;
    }
    if !seen.legal.is_empty() {
        // What is computed from factors of the backend is not what it is from ours.
        let missed = check.missed;
        let theirs = ranges(evaluator, seen.legal.clone());
        check = Check::of(&theirs, (&seen, Some(&own)), expected, actual);
        check.missed = missed;
    }
    check
}

fn judge_devices(
    options: &JudgeOptions,
    verified: &Verified,
    arguments: &[Vec<Literal>],
    pairs: &[(&Literal, &Literal)],
    judgement: &mut Judgement,
) {
    let module = verified.module();
    let result = module.entry().result_shape();
    let results = |of: fn(&(&Literal, &Literal)) -> Literal| match pairs {
        [only] => of(only),
        all => Literal::tuple(all.iter().map(of).collect()),
    };
    let (expected, actual) = (results(|pair| pair.0.clone()), results(|pair| pair.1.clone()));
    let checked =
        |evaluator: &mut Evaluator<'_>| checked(evaluator, arguments, [&expected, &actual]);
    let mut tiers = tiers(options).into_iter();
    let mut modes = tiers.next().unwrap_or(Modes::NONE);
    // Factors are checked together, and what one decision makes.
    let asked = match factors::any(module) || whole::any(module) {
        true => vec![true; result.leaves().len()],
        false => different(result, pairs),
    };
    let program = split(options, verified);
    let mut evaluator =
        Evaluator::of_program(verified, program.as_ref(), modes, &options.accuracies)
            .asked_for(asked)
            .anchored(Arc::clone(&options.anchors))
            .divided(options.boundary.clone());
    let mut check = checked(&mut evaluator);
    for more in tiers {
        if check.passes() {
            break;
        }
        evaluator = evaluator.with_modes(more);
        let wider = checked(&mut evaluator);
        // More modes decide less: what is undetermined in both is not their doing.
        if check.wrong > 0 || wider.passes() {
            (check, modes) = (wider, more);
        }
    }
    if check.passes() && check.explained() > 0 {
        for mode in modes.list() {
            evaluator = evaluator.with_modes(modes.without(mode));
            let narrower = checked(&mut evaluator);
            // The modes explain our own result, too.
            if narrower.passes() && narrower.missed == 0 {
                (check, modes) = (narrower, modes.without(mode));
            }
        }
        judgement.modes = modes.list();
    }
    if check.wrong == 0 {
        let has_choices = evaluator.has_choices || pairs.len() > 1;
        judgement.estimated =
            estimate::open(options, (verified, arguments), pairs, has_choices, &mut check);
    }
    judgement.verdict = check.verdict();
    if check.missed > 0 {
        judgement.verdict = Verdict::EtalonBug;
        judgement.witness = Some("the expected result is not within its own bound".to_owned());
    }
    judgement.measures.wrong = check.wrong;
    let leaves = pairs[0].0.leaves().len();
    let arrays: BTreeSet<usize> = check.wrong_leaves.iter().map(|leaf| leaf % leaves).collect();
    judgement.measures.wrong_arrays = arrays.into_iter().collect();
    judgement.undetermined = check.undetermined;
    judgement.untested = check.untested;
    if judgement.verdict == Verdict::WithinBound
        && let Ok(ranges) = evaluator.with_modes(modes).typical().entry(arguments)
    {
        judgement.typical = check.typical(&ranges, &expected);
    }
    judgement.cause = check.cause.map(|cause| cause.path.to_string());
    if let Some(worst) = &check.worst {
        note_worst(worst, module, arguments, pairs, &mut judgement.measures);
    }
}

/// Returns the parts of a program with manual regions, if it is one. Anchors are instructions of the
/// module as it is.
fn split(options: &JudgeOptions, verified: &Verified) -> Option<Program> {
    let is_one = DeviceGrid::of(&verified.module().config).len() == 1;
    let is_free = is_one && options.anchors.is_empty();
    is_free.then(|| Program::compile(verified, CompileOptions::default()).ok().flatten()).flatten()
}

/// Returns the legal values of the results of all devices in the modes of the evaluator.
fn ranges(
    evaluator: &mut Evaluator<'_>,
    arguments: &[Vec<Literal>],
    expected: &Literal,
) -> Vec<Range> {
    evaluator.entry(arguments).unwrap_or_else(|stop| stop.any(expected))
}

/// Returns the sets of modes in which a backend may have computed a result, the smallest first.
fn tiers(options: &JudgeOptions) -> Vec<Modes> {
    let stated = Mode::StatedAccuracy;
    let none_stated = options.accuracies.is_empty();
    let most = if none_stated { options.modes.without(stated) } else { options.modes };
    most.tiers()
}

/// Notes the element that is farthest out, and what it depends on.
fn note_worst(
    worst: &WorstElement,
    module: &Module,
    arguments: &[Vec<Literal>],
    pairs: &[(&Literal, &Literal)],
    measures: &mut Measures,
) {
    measures.max_error = worst.error;
    measures.bound = worst.bound;
    measures.worst_ulps = worst.ulps;
    let leaves = pairs[0].0.leaves().len();
    let (device, leaf) = (worst.leaf / leaves, worst.leaf % leaves);
    let (expected, actual) = pairs[device];
    let number = (pairs.len() > 1).then_some(device);
    let described = verdict::describe(number, leaf, worst.at, expected, actual);
    measures.worst = described.map(|element| Element {
        inputs: match pairs.len() {
            1 => inputs(module, &arguments[0], expected, (leaf, worst.at)),
            _ => Vec::new(),
        },
        ..element
    });
}

/// Returns for each leaf of the result whether it differs on a device.
fn different(result: &Shape, pairs: &[(&Literal, &Literal)]) -> Vec<bool> {
    let mut different = vec![false; result.leaves().len()];
    for (expected, actual) in pairs {
        let leaves = expected.leaves().into_iter().zip(actual.leaves());
        for (different, (expected, actual)) in different.iter_mut().zip(leaves) {
            *different |= expected.bytes() != actual.bytes();
        }
    }
    different
}

/// Returns the elements that an element of the result depends on directly.
fn inputs(
    module: &Module,
    arguments: &[Literal],
    expected: &Literal,
    (leaf, at): (usize, usize),
) -> Vec<String> {
    let leaves = expected.leaves();
    let shape = leaves.get(leaf).and_then(|leaf| leaf.array_shape());
    shape
        .map(|shape| inputs::of(module, arguments, leaf, &shape.dims.index_of(at)))
        .unwrap_or_default()
}
