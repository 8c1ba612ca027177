//! The functions of the custom calls that a test makes.
use super::compare::Rule;
use super::{PrintLine, grid};
use crate::report::Failed;
use crate::{Comparison, Engine, Outcome};
use hlo::diag::quantity;
use hlo::{ElementType, Literal, Scalar};
use interp::{Call, Code, Hooks, RunOptions};
use stablehlo::ir::{Attribute, Attributes};
use stablehlo::testing::{TestProgram, attributes};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The checks of values.
const CHECKS: [&str; 9] = [
    "check.eq",
    "check.expect_all_true",
    "check.expect_almost_eq",
    "check.expect_almost_eq_const",
    "check.expect_close",
    "check.expect_eq",
    "check.expect_eq_const",
    "check.expect_false",
    "check.expect_true",
];

/// What the calls of a run have found.
#[derive(Default)]
pub(super) struct Findings {
    /// The number of checks that were reached.
    checks: usize,
    /// The comparisons of those that hold, together.
    held: Comparison,
    /// Those that fail.
    failed: Vec<FailedCheck>,
    /// The values of each probe, in the order of the run.
    probes: BTreeMap<String, Vec<Literal>>,
    /// The failure of programs on several devices.
    pub(super) failure: Option<Box<Failed>>,
}

struct FailedCheck {
    /// The op, with its place.
    check: String,
    comparison: Comparison,
}

impl Findings {
    /// Returns the number of checks and what they compared; an error if one fails.
    pub(super) fn verdict(
        self,
        treatment: &str,
        function: &str,
    ) -> Result<(usize, Comparison), Box<Failed>> {
        let count = self.failed.len();
        let Some(first) = self.failed.into_iter().next() else {
            return Ok((self.checks, self.held));
        };
        let others = match count {
            1 => String::new(),
            2 => " (and 1 other check)".to_owned(),
            count => format!(" (and {} other checks)", count - 1),
        };
        let treatment = format!("{treatment}: {} of `@{function}`{others}", first.check);
        Err(Failed::new(treatment, Outcome::Differ(first.comparison)))
    }
    fn add(&mut self, check: String, comparison: Comparison) {
        self.checks += 1;
        match comparison.agrees() {
            true => self.held.merge(comparison),
            false => self.failed.push(FailedCheck { check, comparison }),
        }
    }
}

/// The functions, and what they share.
#[derive(Clone)]
pub(super) struct Functions {
    pub(super) program: Arc<TestProgram>,
    pub(super) engine: Engine,
    pub(super) run: RunOptions,
    pub(super) print: Option<PrintLine>,
    pub(super) findings: Arc<Mutex<Findings>>,
    /// The number of grids around the run.
    pub(super) depth: usize,
    /// The values of the infeed queue.
    pub(super) queue: Vec<Literal>,
    /// Takes the values of `outfeed`, which nothing reads.
    pub(super) outfeed: crossbeam_channel::Sender<Literal>,
}

impl Functions {
    /// Returns the hooks of a run.
    pub(super) fn hooks(&self) -> Hooks {
        let (fill, infeed) = crossbeam_channel::unbounded();
        for value in &self.queue {
            // The queue is there until the run ends.
            let _ = fill.send(value.clone());
        }
        let mut hooks = Hooks::new().infeed(infeed).outfeed(self.outfeed.clone());
        for target in CHECKS {
            let functions = self.clone();
            hooks = hooks.custom_call(target, move |call| functions.check(call));
        }
        let functions = self.clone();
        hooks = hooks.custom_call("check.expect_serialized_eq", move |call| functions.probed(call));
        let functions = self.clone();
        hooks = hooks.custom_call("interpreter.probe", move |call| functions.probe(call));
        let functions = self.clone();
        hooks = hooks.custom_call("interpreter.print", move |call| Ok(functions.print(call)));
        let functions = self.clone();
        hooks.custom_call("interpreter.run_parallel", move |call| grid::run(&functions, call))
    }
    pub(super) fn findings(&self) -> MutexGuard<'_, Findings> {
        self.findings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&self, call: &Call<'_>) -> interp::Result<Literal> {
        let target = call.op.custom_call_target.0.as_str();
        let attributes = configuration(call)?;
        let rule = Rule::of(target, &attributes).ok_or_else(|| trap(call, "it has no rule"))?;
        let found = rule.compare(call.operands).map_err(|message| trap(call, &message))?;
        let agrees = found.agrees();
        self.findings().add(place(call), found);
        Ok(match call.shape.tuple() {
            Some(_) => Literal::tuple(Vec::new()),
            // `check.eq` returns whether the values agree.
            None => Literal::scalar(ElementType::Pred, Scalar::Pred(agrees)),
        })
    }
    fn print(&self, call: &Call<'_>) -> Literal {
        if let (Some(print), [value]) = (&self.print, call.operands) {
            let place = position(call).map_or_else(String::new, |place| format!("{place}: "));
            print(&format!("{place}{}\n", crate::file::without_layouts(value)));
        }
        Literal::tuple(Vec::new())
    }
    fn probe(&self, call: &Call<'_>) -> interp::Result<Literal> {
        let [value] = call.operands else { return Err(trap(call, "it takes one value")) };
        let name = probe_name(call, &configuration(call)?)?;
        self.findings().probes.entry(name).or_default().push((*value).clone());
        Ok((*value).clone())
    }
    /// Compares a value with that of a probe.
    fn probed(&self, call: &Call<'_>) -> interp::Result<Literal> {
        let attributes = configuration(call)?;
        let name = probe_name(call, &attributes)?;
        let iteration = match attributes.get("iteration") {
            Some(Attribute::Integer(value, _)) => usize::try_from(*value).unwrap_or(usize::MAX),
            _ => 0,
        };
        let mut findings = self.findings();
        let values = findings.probes.get(&name).map_or(&[][..], Vec::as_slice);
        let Some(probed) = values.get(iteration).cloned() else {
            let count = values.len();
            let message = format!(
                "the probe `{name}` has {}, none of number {iteration}",
                quantity(count, "value")
            );
            return Err(trap(call, &message));
        };
        let [expected] = call.operands else { return Err(trap(call, "it takes one value")) };
        let found = Rule::Equal.compare(&[&probed, *expected]);
        findings.add(place(call), found.map_err(|message| trap(call, &message))?);
        Ok(Literal::tuple(Vec::new()))
    }
}

/// Returns the attributes of the op that a call stands for.
pub(super) fn configuration(call: &Call<'_>) -> interp::Result<Attributes> {
    let Some(text) = call.backend_config.filter(|config| !config.0.is_empty()) else {
        return Ok(Attributes::default());
    };
    attributes(&text.0).map_err(|error| trap(call, &error.to_string()))
}
fn probe_name(call: &Call<'_>, attributes: &Attributes) -> interp::Result<String> {
    match attributes.get("probe_id") {
        Some(Attribute::String(name)) => Ok(String::from_utf8_lossy(name).into_owned()),
        _ => Err(trap(call, "it has no `probe_id`")),
    }
}

/// Returns the file and the line of the op that a call stands for.
fn position(call: &Call<'_>) -> Option<String> {
    let metadata = call.metadata?;
    (metadata.source_line > 0).then(|| format!("{}:{}", metadata.source_file, metadata.source_line))
}
/// Returns the op that a call stands for, with its place.
fn place(call: &Call<'_>) -> String {
    let target = &call.op.custom_call_target.0;
    let place = position(call).map_or_else(String::new, |place| format!("{place}: "));
    format!("{place}`{target}`")
}
/// Returns the error of a call that cannot be run.
pub(super) fn trap(call: &Call<'_>, message: &str) -> interp::Error {
    let message = format!("{}: {message}", place(call));
    Code::Trap { message }.into()
}
