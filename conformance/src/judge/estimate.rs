//! Estimates of results that no rule bounds: by the tolerance of the module, which does not depend
//! on the values.
use super::JudgeOptions;
use super::range::{self, Cause, CauseKind};
use super::verdict::{Check, Open, parts};
use super::witness::TIME_LIMIT;
use crate::Tolerance;
use crate::backend::{Backend as _, LimitedEngine, VariantBackend};
use crate::bound::Bound;
use crate::compare::{Comparison, compare_at, ends_at};
use hlo::op::Accuracy;
use hlo::{Literal, Module, Verified};
use interp::{DeviceGrid, Engine};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

/// The number of runs with other rounding errors, and the seed of the first.
const RUNS: u64 = 6;
/// The number where rules have lost the bound: each op is then computed in each of its legal forms.
const MANY_RUNS: u64 = 24;
const FIRST_RUN: u64 = 0x5eed;
/// How many times the largest difference of these runs an error may be. Theirs are random and
/// partly cancel; those of a backend may be larger and have one sign.
const TIMES: f64 = 32.0;

/// Compares the elements of which nothing is known, though no decision depends on rounding errors,
/// by the tolerance of the module. Returns the reason, if there are any.
///
/// Where there is no rule, an error beyond the tolerance is wrong, unless rounding errors of the array
/// grow as much, as runs of the module show in which each result that is rounded moves by a unit.
/// Infinite bounds do not say that a result is wrong: an error is undetermined where the evaluation
/// `has_choices`, and else wrong if both numbers are finite and it is beyond many such runs.
pub(super) fn open(
    options: &JudgeOptions,
    (verified, arguments): (&Verified, &[Vec<Literal>]),
    pairs: &[(&Literal, &Literal)],
    has_choices: bool,
    check: &mut Check,
) -> Option<String> {
    let module = verified.module();
    let open = std::mem::take(&mut check.open);
    let first = open.first()?;
    let path = check.cause.as_ref().map_or_else(String::new, |cause| cause.path.to_string());
    let mut reason = match first.kind {
        CauseKind::NoRule => path,
        CauseKind::Decides | CauseKind::Unbounded | CauseKind::Loose => {
            format!("{path}: the bound is infinite")
        }
    };
    let tolerance = Tolerance::of(module);
    let of_elements = tolerance.clone().of_each_element();
    let leaves = pairs[0].0.leaves().len();
    let random = random(module);
    let mut runs: Option<(u64, Vec<Vec<Literal>>)> = None;
    for of_leaf in open.chunk_by(|a, b| (a.leaf, a.kind) == (b.leaf, b.kind)) {
        let Open { leaf, kind, .. } = of_leaf[0];
        let (device, own) = (leaf / leaves, leaf % leaves);
        let (expected, actual) = (pairs[device].0.leaves()[own], pairs[device].1.leaves()[own]);
        let has_rule = kind != CauseKind::NoRule;
        let positions = || of_leaf.iter().map(|open| open.at);
        let differ = |tolerance: &Tolerance, actual: &Literal| {
            compare_at(actual, expected, (own, tolerance.leaf(own)), positions())
        };
        let found = differ(if has_rule { &of_elements } else { &tolerance }, actual);
        check.undetermined -= of_leaf.len();
        check.within += of_leaf.len() - found.wrong;
        // An array is judged as a whole.
        let judged = differ(&tolerance, actual);
        // Only the distribution of random numbers is defined.
        let mut is_open = (has_rule && has_choices) || random.is_some();
        if !is_open && judged.wrong > 0 {
            let share = |found: &Comparison| found.worst.as_ref().map_or(0.0, |worst| worst.share);
            let count = if has_rule { MANY_RUNS } else { RUNS };
            if runs.as_ref().is_none_or(|(made, _)| *made < count) {
                let all = moved(verified, arguments, count).into_iter();
                runs = Some((count, all.map(|results| options.of_devices(results)).collect()));
            }
            let all: &[Vec<Literal>] = runs.as_ref().map_or(&[], |(_, all)| all);
            let results = all.iter().filter_map(|all| all.get(device).or(all.last()));
            let largest = results.map(|result| share(&differ(&tolerance, result.leaves()[own])));
            // Without a run nothing is known.
            let largest = largest.reduce(f64::max).unwrap_or(f64::INFINITY);
            let is_finite = |at: usize| {
                [expected, actual].iter().all(|x| parts(x.get(at)).iter().all(|x| x.is_finite()))
            };
            let is_known = !has_rule
                || (u64::try_from(all.len()) == Ok(MANY_RUNS) && positions().all(is_finite));
            is_open = !is_known || share(&judged) <= TIMES * largest;
            if is_open {
                reason.push_str("; rounding errors of the module grow as much");
            }
        }
        let wrong = if is_open { 0 } else { judged.wrong };
        check.add_wrong(leaf, wrong);
        check.undetermined += found.wrong.saturating_sub(wrong);
        if let Some(worst) = found.worst {
            check.estimated(leaf, &worst, expected);
        }
    }
    check.cause = check.cause.take().filter(|_| check.undetermined > 0);
    if check.undetermined > 0
        && let Some(path) = random
    {
        check.cause = Some(Cause { path: path.into(), kind: CauseKind::Decides });
    }
    Some(reason)
}

/// The estimates of the results of a module, which [`open`] compares with, for each element.
pub(super) struct Estimates<'a> {
    verified: &'a Verified,
    arguments: &'a [Vec<Literal>],
    expected: &'a [Literal],
    tolerance: Tolerance,
    is_random: bool,
    runs: Option<Vec<Vec<Literal>>>,
    /// How many times its bound an error of each leaf may be that is not certainly wrong.
    limits: HashMap<usize, f64>,
}

/// What is known of an element that no rule bounds, as intervals of its parts.
pub(super) struct Estimate {
    pub(super) legal: Vec<[f64; 2]>,
    /// What is neither legal nor wrong; everything, if absent.
    pub(super) open: Option<Vec<[f64; 2]>>,
}

impl<'a> Estimates<'a> {
    pub(super) fn new(
        verified: &'a Verified,
        arguments: &'a [Vec<Literal>],
        expected: &'a [Literal],
    ) -> Self {
        let module = verified.module();
        let (tolerance, is_random) = (Tolerance::of(module), random(module).is_some());
        let (runs, limits) = (None, HashMap::new());
        Self { verified, arguments, expected, tolerance, is_random, runs, limits }
    }
    /// Returns the estimate of an element of a leaf, of those of all devices.
    pub(super) fn of(&mut self, leaf: usize, at: usize, kind: CauseKind) -> Estimate {
        let leaves = self.expected[0].leaves().len();
        let (device, own) = (leaf / leaves, leaf % leaves);
        let array = self.expected[device].leaves()[own];
        let is_whole = array.array_shape().is_none_or(|shape| range::is_whole(shape.ty));
        let ends = |bound, times| match is_whole {
            true => Vec::new(),
            false => ends_at(array, bound, times, at),
        };
        if kind != CauseKind::NoRule {
            let bound = self.tolerance.clone().of_each_element().leaf(own);
            return Estimate { legal: ends(bound, 1.0), open: None };
        }
        let bound = self.tolerance.leaf(own);
        if self.is_random {
            return Estimate { legal: ends(bound, 1.0), open: None };
        }
        let limit = match self.limits.get(&leaf) {
            Some(&limit) => limit,
            None => {
                let limit = TIMES * self.largest((device, own), array, bound);
                self.limits.insert(leaf, limit);
                limit
            }
        };
        let open = if limit > 1.0 { ends(bound, limit) } else { Vec::new() };
        Estimate { legal: ends(bound, 1.0), open: limit.is_finite().then_some(open) }
    }
    /// Returns the largest error of runs with other rounding errors, in units of a bound.
    fn largest(&mut self, (device, own): (usize, usize), array: &Literal, bound: Bound) -> f64 {
        let runs = self.runs.get_or_insert_with(|| moved(self.verified, self.arguments, RUNS));
        let results = runs.iter().filter_map(|all| all.get(device).or(all.last()));
        let share = |result: &Literal| {
            let found = compare_at(result.leaves()[own], array, (own, bound), 0..array.len());
            found.worst.map_or(0.0, |worst| worst.share)
        };
        results.map(share).reduce(f64::max).unwrap_or(f64::INFINITY)
    }
}

/// Returns the results of a module whose rounded results move by a unit, of up to `count` runs, as many
/// as there is time for.
fn moved(verified: &Verified, arguments: &[Vec<Literal>], count: u64) -> Vec<Vec<Literal>> {
    let (module, start) = (Arc::new(verified.clone()), Instant::now());
    let run = |seed: u64| {
        if start.elapsed() > TIME_LIMIT * 2 {
            return None;
        }
        let limits = LimitedEngine {
            engine: Engine::Exact,
            fuel: u64::MAX,
            max_memory: usize::MAX,
            time_limit: Some(TIME_LIMIT),
        };
        let mut backend = VariantBackend::moving(FIRST_RUN + seed, Box::new(limits));
        let mut loaded = backend.compile(&module, DeviceGrid::of(&module.module().config)).ok()?;
        loaded.execute(arguments).ok()
    };
    (0..count).map_while(run).collect()
}

/// Returns the first instruction whose result is random.
fn random(module: &Module) -> Option<String> {
    module.computations.iter().find_map(|(_, computation)| {
        let mut instructions = computation.instructions.iter();
        let found = instructions.find(|(_, i)| i.opcode().accuracy() == Accuracy::Random);
        found.map(|(id, _)| computation.path(id))
    })
}
