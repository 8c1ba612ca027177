//! The check of a module: each state against the one before it, and the last against the first.
use super::dump::{ModuleDump, StateFile};
use super::html::change;
use super::report::{Class, Evidence, LastState, ModuleReport, Step};
use super::run::{
    Interface, Limit, NoResult, Outcome, Outputs, Results, TIMES, compared, compared_outfeeds,
    compared_partitioned, run,
};
use super::state::{State, Unread};
use crate::blame::{Divergence, Options as BlameOptions, compare_modules};
use crate::exact::{Proof, at_least, difference_from, is_rounding, proof};
use crate::generate::Regime;
use crate::program::{Program, watching};
use field::Difference;
use hlo::ir::InstructionId;
use hlo::ir::rewrite::ModuleRewriter;
use hlo::text::Style;
use hlo::{Literal, Verified};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Arguments that all states run on.
#[derive(Debug, Clone)]
pub struct ArgumentSet {
    /// What reports call it.
    pub name: String,
    /// The arguments of each device, or a single list for all devices.
    pub arguments: Vec<Vec<Literal>>,
}

/// How a module is checked.
#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "one switch for each option")]
pub struct Options {
    /// The most steps of one run: a pass may make an endless loop. Without it, the first state has no
    /// limit, and each other may take far more steps than the one before it.
    pub fuel: Option<u64>,
    /// Whether to end at the first step that is wrong.
    pub first: bool,
    /// Whether algebra with other rounding errors is wrong.
    pub strict: bool,
    /// Keep unknown attributes of HLO text.
    pub lenient: bool,
    /// Compare only the steps whose pipeline and pass match; `*` stands for any characters.
    pub pass: Option<String>,
    /// How often arguments are drawn to compare both states of a step in exact arithmetic; 0 for
    /// never.
    pub draws: u32,
    /// Whether steps say which lines they change.
    pub changes: bool,
    /// Ends the check of a module after a step when it is set.
    pub interrupt: Arc<AtomicBool>,
}

impl Options {
    fn is_compared(&self, file: &StateFile) -> bool {
        self.pass.as_ref().is_none_or(|pattern| {
            let inner = format!("*{pattern}*");
            let mut labels = std::iter::once(file.label()).chain(file.maker.clone());
            labels.any(|label| crate::suite::matches(&inner, &label))
        })
    }
}

/// Returns the first state of a module that can be read: its parameters are those of the dump.
///
/// # Errors
/// If no state can be read: the first error.
pub fn first_module(dump: &ModuleDump, options: &Options) -> Result<Arc<Verified>, String> {
    let mut first = None;
    for file in &dump.files {
        match State::read(file, options.lenient) {
            Ok(state) => return Ok(state.module),
            Err(Unread::Invalid(message, _) | Unread::Missing(message, _)) => {
                first.get_or_insert(format!("{}: {message}", file.file()));
            }
        }
    }
    Err(first.unwrap_or_else(|| "the module has no states".to_owned()))
}

/// A state that has run.
pub(super) struct Ran {
    pub(super) state: State,
    name: String,
    /// The sets of arguments, and the results of each.
    pub(super) arguments: Vec<Vec<Vec<Literal>>>,
    pub(super) outputs: Outputs,
    limit: Limit,
}

/// The seed of the first arguments of a state that takes others than the dump.
const FIRST_SEED: u64 = 1;

/// The draws that differ over the field of which a run is sought that shows it.
const MOST_SHOWN: u32 = 8;

/// The steps that a run over the field may take, however few the state before takes.
const LEAST_STEPS: u64 = 1_000_000;

impl Ran {
    pub(super) fn new(
        file: &StateFile,
        state: State,
        arguments: Vec<Vec<Vec<Literal>>>,
        limit: Limit,
    ) -> Self {
        let outputs = run(&state, &arguments, limit);
        Self { state, name: file.file(), arguments, outputs, limit }
    }
    /// Says why it has no result.
    pub(super) fn failure(&self) -> &str {
        let mut failures = self.outputs.results.iter().filter_map(|result| result.as_ref().err());
        failures.next().map_or("there are no arguments", NoResult::message)
    }
    fn last_state(&self) -> Option<LastState> {
        let (arguments, results) = (self.arguments.first()?, self.outputs.results.first()?);
        Some(LastState {
            module: Arc::clone(&self.state.module),
            arguments: arguments.clone(),
            results: results.clone().ok()?,
        })
    }
}

/// Checks all states of a module; calls `progress` with each step.
pub fn check(
    dump: &ModuleDump,
    sets: &[ArgumentSet],
    options: &Options,
    progress: &mut dyn FnMut(&Step),
) -> ModuleReport {
    let mut report = ModuleReport {
        module: dump.name.clone(),
        files: dump.files.len(),
        states: 0,
        arguments: sets.iter().map(|set| set.name.clone()).collect(),
        steps: Vec::new(),
        overall: None,
        notes: Vec::new(),
        last: None,
    };
    let mut check = Check::new(sets, options);
    for file in &dump.files {
        let start = Instant::now();
        let step = check.step(file, &mut report);
        let Some(mut step) = step.filter(|_| options.is_compared(file)) else { continue };
        step.seconds = start.elapsed().as_secs_f64();
        progress(&step);
        let is_over = options.first && step.class.is_wrong(options.strict);
        report.steps.push(step);
        if is_over || options.interrupt.load(Ordering::Relaxed) {
            return report;
        }
    }
    // What other passes change is not asked for.
    report.overall = options.pass.is_none().then(|| check.overall()).flatten();
    note_elided(&check, &mut report);
    report.last = check.last.as_deref().and_then(Ran::last_state);
    report
}

fn note_elided(check: &Check<'_>, report: &mut ModuleReport) {
    let states = [&check.first, &check.last].into_iter().flatten();
    if states.map(|ran| ran.state.elided.len()).max().unwrap_or(0) > 0 {
        report.notes.push(
            "the texts elide large constants, which have drawn values here; dump with --xla_dump_large_constants, or as protos, for the real ones".to_owned(),
        );
    }
}

pub(super) struct Check<'a> {
    sets: &'a [ArgumentSet],
    options: &'a Options,
    /// The first state that has a result, and the last.
    first: Option<Arc<Ran>>,
    last: Option<Arc<Ran>>,
    /// The fingerprint of the last state that was read, and whether it has a result.
    before: Option<(u64, bool)>,
    /// The text of the last state.
    text: Option<Vec<u8>>,
    /// Whether the last state is invalid.
    is_broken: bool,
    /// Why the last one of those that cannot run cannot.
    missing: Option<String>,
}

impl<'a> Check<'a> {
    pub(super) fn new(sets: &'a [ArgumentSet], options: &'a Options) -> Self {
        let (first, last, before, text) = (None, None, None, None);
        Self { sets, options, first, last, before, text, is_broken: false, missing: None }
    }

    /// Reads a state, and compares it with the last one; the first state is no step, unless it is
    /// invalid.
    fn step(&mut self, file: &StateFile, report: &mut ModuleReport) -> Option<Step> {
        let text = file.read().ok().map(|file| file.bytes.into_owned());
        if text.is_some() && text == self.text {
            return self
                .last
                .is_some()
                .then(|| self.described(file, Outcome::new(Class::Unchanged, "")));
        }
        self.text = text;
        match State::read(file, self.options.lenient) {
            Ok(state) => self.compared(file, state, report),
            Err(unread) => Some(self.unread(file, unread, report)),
        }
    }

    /// Returns the step to a state, from the last one.
    fn described(&self, file: &StateFile, outcome: Outcome) -> Step {
        Step {
            number: file.number(),
            pass: file.label(),
            class: outcome.class,
            before: self.last.as_ref().map(|ran| ran.name.clone()).unwrap_or_default(),
            after: file.file(),
            message: outcome.message,
            details: String::new(),
            arguments: None,
            judgement: outcome.judgement,
            divergence: outcome.divergence,
            proof: None,
            change: String::new(),
            source: None,
            seconds: 0.0,
            evidence: None,
        }
    }

    /// Returns the step to a state that is no module. Only the first of several invalid ones is
    /// wrong.
    fn unread(&mut self, file: &StateFile, unread: Unread, report: &mut ModuleReport) -> Step {
        let (message, details) = match unread {
            Unread::Missing(message, details) => {
                // Its place is shown once for the states that have it.
                let is_shown = self.missing.replace(message.clone()).as_ref() == Some(&message);
                let step = self.described(file, Outcome::new(Class::NotRun, message));
                return if is_shown { step } else { Step { details, ..step } };
            }
            Unread::Invalid(message, details) => (message, details),
        };
        if std::mem::replace(&mut self.is_broken, true) {
            let message = format!("still invalid: {message}");
            return self.described(file, Outcome::new(Class::NotRun, message));
        }
        report.states += 1;
        let before = self.last.as_ref().map(|ran| full(&ran.state));
        let after = String::from_utf8_lossy(self.text.as_deref().unwrap_or_default()).into_owned();
        let evidence =
            Some(Evidence { before, after, arguments: Vec::new(), fuel: None, given: Vec::new() });
        let step = self.described(file, Outcome::new(Class::Invalid, message));
        Step { details, evidence, ..step }
    }

    /// Runs a state, and compares it with the last one.
    fn compared(
        &mut self,
        file: &StateFile,
        state: State,
        report: &mut ModuleReport,
    ) -> Option<Step> {
        self.is_broken = false;
        let before = self.before.replace((state.fingerprint, true));
        if before.is_some_and(|(known, has_result)| known == state.fingerprint && !has_result) {
            self.before = before;
            return Some(self.described(file, Outcome::new(Class::Unchanged, "")));
        }
        let Some(last) = self.last.clone() else {
            report.states += 1;
            return self.begun(file, state, None);
        };
        let is_same = state.fingerprint == last.state.fingerprint;
        let flushed = if is_same { None } else { state.with_denormals_of(&last.state) };
        if flushed.is_some() {
            report.notes.push(format!(
                "{} shows denormal constants as 0, as XLA prints its last state; they are taken from {}",
                file.file(),
                last.name
            ));
        }
        let state = flushed.unwrap_or(state);
        let is_equal = state.fingerprint == last.state.fingerprint;
        let mut interface = Interface::of(&last.state.module, &state.module);
        if is_equal && matches!(interface, Interface::Same) {
            return Some(self.described(file, Outcome::new(Class::Unchanged, "")));
        }
        if is_equal && matches!(interface, Interface::Other(_)) {
            // It reads the parameters of the same numbers; others have gone.
            interface = Interface::first(&last.state.module, &state.module).unwrap_or(interface);
        }
        report.states += 1;
        let arguments: Result<Vec<_>, String> =
            last.arguments.iter().map(|given| interface.arguments(given)).collect();
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(message) => return self.begun(file, state, Some(message)),
        };
        let limit = Limit::of(self.options.fuel, Some(last.outputs.steps));
        let ran = Ran::new(file, state, arguments, limit);
        let has_result = ran.outputs.is_any();
        self.before = Some((ran.state.fingerprint, has_result));
        let (outcome, set) = match before {
            Some((_, false)) if !has_result => {
                let message = format!("still no result: {}", ran.failure());
                (Outcome::new(Class::NotRun, message), None)
            }
            // The steps that are not asked for are left out.
            _ if !self.options.is_compared(file) => (Outcome::new(Class::NotRun, ""), None),
            _ => self.worst(&last, &ran, &interface),
        };
        let Exact { proof, outcome, drawn } = self.exact(&last, &ran, &interface, outcome, set);
        let mut step = Step { proof, ..self.described(file, outcome) };
        if self.options.changes {
            step.change = change(&last.state.module, &ran.state.module);
        }
        step.arguments = set.filter(|_| self.sets.len() > 1).map(|set| self.sets[set].name.clone());
        if let Some((name, _)) = &drawn {
            step.arguments = Some(name.clone());
        }
        if step.class.is_wrong(self.options.strict) {
            let set = set.unwrap_or_default();
            let arguments = drawn.map_or_else(|| last.arguments[set].clone(), |(_, drawn)| drawn);
            let shown = evidence([&last, &ran], set, arguments, step.divergence.as_ref());
            step.evidence = Some(Evidence { fuel: self.options.fuel.or(shown.fuel), ..shown });
        }
        if file.is_start() && step.class > Class::SameBits {
            let other = separated(&step.message);
            let pipeline = &file.stage.pipeline;
            let place = match &file.maker {
                Some(maker) => {
                    step.pass.clone_from(maker);
                    format!("shown by the start of the pipeline {pipeline}")
                }
                None => "made between pipelines, before this one".to_owned(),
            };
            step.message = format!("{other}{place}");
        }
        let found = step.divergence.as_ref();
        step.source = found.and_then(|found| source(&ran.state, &last.state, found));
        if has_result {
            self.last = Some(Arc::new(ran));
        }
        Some(step)
    }

    /// Runs a state that is compared with none: the first, or one with other parameters than the
    /// last, which has arguments of its own. The states after it are compared with it.
    fn begun(&mut self, file: &StateFile, state: State, change: Option<String>) -> Option<Step> {
        let own = |(number, set): (u64, &ArgumentSet)| match change {
            None => set.arguments.clone(),
            Some(_) => {
                let regime = Regime::Benign;
                crate::generate::arguments(state.module.module(), regime, FIRST_SEED + number)
            }
        };
        let arguments: Vec<_> = (0..).zip(self.sets).map(own).collect();
        let limit = match &self.last {
            Some(last) => Limit::of(self.options.fuel, Some(last.outputs.steps)),
            None => Limit::of(self.options.fuel, None),
        };
        let ran = Arc::new(Ran::new(file, state, arguments, limit));
        let has_result = ran.outputs.is_any();
        self.before = Some((ran.state.fingerprint, has_result));
        let message = match (change, has_result) {
            (None, true) => None,
            (Some(change), true) => Some(format!(
                "{change}; the states after it are compared with this one, on other arguments"
            )),
            (change, false) => {
                Some(format!("{}{}", separated(&change.unwrap_or_default()), ran.failure()))
            }
        };
        let step =
            message.map(|message| self.described(file, Outcome::new(Class::NotRun, message)));
        if has_result {
            self.first = Some(Arc::clone(&ran));
            self.last = Some(ran);
        }
        step
    }

    /// Compares two states on all sets of arguments; returns the worst outcome, and its arguments.
    fn worst(&self, before: &Ran, after: &Ran, interface: &Interface) -> (Outcome, Option<usize>) {
        let states = [&before.state, &after.state];
        let limits = blame_options(after.limit);
        let mut worst: Option<(Outcome, Option<usize>)> = None;
        let any_ran = before.outputs.is_any();
        let outputs = [&before.outputs, &after.outputs];
        for number in 0..self.sets.len() {
            let results = outputs.map(|outputs| &outputs.results[number]);
            // Arguments that the module does not take, such as a size below 0, say nothing.
            if any_ran && results[0].is_err() {
                continue;
            }
            let mut outcome = match interface {
                Interface::Same => compared(states, &before.arguments[number], results, &limits),
                Interface::Partitioned(boundary) => {
                    compared_partitioned(states, boundary, &before.arguments[number], results)
                }
                Interface::Selected(_) => selected(results),
                Interface::Other(message) => Outcome::new(Class::NotRun, message.as_str()),
            };
            let outfeeds = outputs.map(|outputs| outputs.outfeeds[number].as_slice());
            if let (Interface::Same, Ok(_), Ok(_)) = (interface, results[0], results[1])
                && let Some(other) = compared_outfeeds(states, outfeeds)
                && other.class > outcome.class
            {
                outcome = other;
            }
            if worst.as_ref().is_none_or(|(known, _)| outcome.class > known.class) {
                worst = Some((outcome, Some(number)));
            }
        }
        worst.unwrap_or_else(|| (Outcome::new(Class::NotRun, "there are no arguments"), None))
    }

    /// Compares two states for every float argument, and adds what that says to an outcome: a
    /// difference of rounding is algebra, and arguments for which the functions differ may show it.
    fn exact(
        &self,
        before: &Ran,
        after: &Ran,
        interface: &Interface,
        outcome: Outcome,
        set: Option<usize>,
    ) -> Exact {
        let states = [&before.state, &after.state];
        let is_compared = match outcome.class {
            Class::Unchanged | Class::NotRun | Class::Invalid | Class::EtalonBug => false,
            Class::Differs => set.is_some(),
            Class::SameBits
            | Class::WithinBound
            | Class::Algebra
            | Class::NotTested
            | Class::Undefined => true,
        };
        let is_possible = match interface {
            Interface::Same | Interface::Partitioned(_) => is_compared,
            Interface::Selected(_) | Interface::Other(_) => false,
        };
        let modules = states.map(|state| &*state.module);
        if self.options.draws == 0 || !is_possible {
            return Exact { proof: None, outcome, drawn: None };
        }
        // A loop that a pass made endless shows as one without so many steps.
        let fuel = before.outputs.steps.saturating_mul(TIMES).max(LEAST_STEPS);
        let fuel = self.options.fuel.unwrap_or(fuel);
        let (proof, difference) = proof(modules, self.options.draws, Some(fuel));
        let proof = Some(proof);
        if outcome.class == Class::Differs {
            let set = set.unwrap_or_default();
            let results = [before, after].map(|ran| ran.outputs.results[set].as_deref());
            if let ([Ok(expected), Ok(actual)], [arguments]) = (results, &*before.arguments[set])
                && is_rounding(modules, arguments, [expected, actual])
            {
                let message = "equal in exact arithmetic on these arguments".to_owned();
                let outcome = Outcome { class: Class::Algebra, message, ..outcome };
                return Exact { proof, outcome, drawn: None };
            }
            return Exact { proof, outcome, drawn: None };
        }
        // A draw may differ where its run is undefined.
        let next = |found: &Difference| {
            difference_from(modules, found.seed + 1, self.options.draws, Some(fuel))
        };
        let most = at_least(modules, self.options.draws).max(MOST_SHOWN);
        for (_, difference) in (0..most).zip(std::iter::successors(difference, next)) {
            let name = format!("draw {} of the field", difference.seed);
            let arguments = vec![difference.arguments];
            if let Some(shown) = shown(states, &arguments, interface, after.limit)
                && shown.class == Class::Differs
            {
                return Exact { proof, outcome: shown, drawn: Some((name, arguments)) };
            }
        }
        Exact { proof, outcome, drawn: None }
    }

    /// Compares the last state with the first.
    fn overall(&self) -> Option<Step> {
        let (first, last) = (self.first.as_ref()?, self.last.as_ref()?);
        if Arc::ptr_eq(first, last) {
            return None;
        }
        Some(self.against(first, last, "last against first"))
    }

    /// Compares a state with any other one.
    pub(super) fn against(&self, first: &Ran, last: &Ran, pass: &str) -> Step {
        let start = Instant::now();
        let interface = Interface::of(&first.state.module, &last.state.module);
        let (outcome, set) = self.worst(first, last, &interface);
        let Exact { proof, outcome, drawn } = self.exact(first, last, &interface, outcome, set);
        let set = set.filter(|_| self.sets.len() > 1);
        let arguments = drawn.map(|(name, _)| name);
        let arguments = arguments.or(set.map(|set| self.sets[set].name.clone()));
        let Outcome { class, message, judgement, divergence } = outcome;
        let source = divergence.as_ref().and_then(|found| source(&last.state, &first.state, found));
        Step {
            number: String::new(),
            pass: pass.to_owned(),
            class,
            before: first.name.clone(),
            after: last.name.clone(),
            message,
            details: String::new(),
            arguments,
            judgement,
            divergence,
            proof,
            change: String::new(),
            source,
            seconds: start.elapsed().as_secs_f64(),
            evidence: None,
        }
    }
}

/// What exact arithmetic says of a step.
struct Exact {
    proof: Option<Proof>,
    outcome: Outcome,
    /// The arguments of the draw that shows the outcome, and what reports call them.
    drawn: Option<(String, Vec<Vec<Literal>>)>,
}

/// Compares two states on the arguments of a draw.
fn shown(
    states: [&State; 2],
    arguments: &[Vec<Literal>],
    interface: &Interface,
    limit: Limit,
) -> Option<Outcome> {
    let of_devices = interface.arguments(arguments).ok()?;
    let given = [arguments.to_vec(), of_devices];
    let [before, after] =
        [0, 1].map(|i| run(states[i], std::slice::from_ref(&given[i]), limit).results);
    let results = [&before[0], &after[0]];
    let limits = blame_options(limit);
    Some(match interface {
        Interface::Partitioned(boundary) => {
            compared_partitioned(states, boundary, arguments, results)
        }
        Interface::Same | Interface::Selected(_) | Interface::Other(_) => {
            compared(states, arguments, results, &limits)
        }
    })
}

fn blame_options(limit: Limit) -> BlameOptions {
    BlameOptions { fuel: limit.steps.unwrap_or(u64::MAX), ..BlameOptions::default() }
}

fn separated(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!("{message}; ") }
}

/// Compares the results of states of which one lacks parameters of the other.
fn selected([expected, actual]: [&Results; 2]) -> Outcome {
    match (expected, actual) {
        (Ok(expected), Ok(actual)) if expected == actual => Outcome::new(Class::SameBits, ""),
        (Ok(_), Ok(_)) => {
            Outcome::new(Class::NotRun, "the parameters and the results have changed")
        }
        (Err(error), _) | (_, Err(error)) => Outcome::new(Class::NotRun, error.message()),
    }
}

/// Returns the line of the frontend's program that the instruction comes from.
fn source(after: &State, before: &State, found: &Divergence) -> Option<String> {
    let sides = [(after, found.at), (before, found.counterpart)];
    sides.into_iter().find_map(|(state, (computation, id))| {
        let module = state.module.module();
        let instruction = &module.computations[computation].instructions[id];
        let metadata = instruction.common.as_ref()?.metadata.as_ref()?;
        let place = metadata.places(&module.frames).next()?;
        Some(match place.line {
            0 => place.file.to_owned(),
            line => format!("{}:{line}", place.file),
        })
    })
}

/// Returns the text of a state with all constants and its metadata.
fn full(state: &State) -> String {
    state.module.module().print(Style::Full)
}

/// Returns what shows a step that is wrong: the instructions that the first difference is computed
/// from, if these alone differ, too, else both modules.
fn evidence(
    [before, after]: [&Ran; 2],
    set: usize,
    arguments: Vec<Vec<Literal>>,
    found: Option<&Divergence>,
) -> Evidence {
    let cut = found.and_then(|found| {
        let sides = [(before, found.counterpart), (after, found.at)];
        let programs = sides.map(|(ran, (computation, id))| {
            let module = ran.state.module.module();
            let is_entry = computation == module.entry;
            is_entry.then(|| cut(&ran.state, &arguments, id)).flatten()
        });
        let [Some(first), Some(second)] = programs else { return None };
        let limits = BlameOptions::default();
        let pair =
            compare_modules(&first.module, &second.module, &first.arguments, &limits).ok()?;
        pair.is_wrong().then_some((first, second))
    });
    // A run that takes too many steps is shown by one that takes as many.
    let fuel = after.outputs.results[set].is_err().then_some(after.limit.steps).flatten();
    match cut {
        Some((first, second)) => Evidence {
            fuel,
            before: Some(first.module.module().print(Style::Full)),
            after: second.module.module().print(Style::Full),
            arguments: first.arguments,
            given: arguments,
        },
        None => Evidence {
            fuel,
            before: Some(full(&before.state)),
            after: full(&after.state),
            given: arguments.clone(),
            arguments,
        },
    }
}

/// Returns the module of an instruction of the entry and what it is computed from.
fn cut(state: &State, arguments: &[Vec<Literal>], id: InstructionId) -> Option<Program> {
    let module = state.module.module();
    let program = watching(module, module.entry, arguments, &[id]).ok()?;
    let mut rewriter = ModuleRewriter::new(program.module.module());
    rewriter.computation_mut(program.module.module().entry).remove_dead_code(|_| false);
    rewriter.remove_unused_computations();
    let module = Arc::new(rewriter.finish().ok()?.verify().ok()?);
    Some(Program { module, ..program })
}
