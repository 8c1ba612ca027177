//! The check of a module: each state against the one before it, and the last against the first.
use super::dump::{ModuleDump, StateFile};
use super::report::{Class, Evidence, LastState, ModuleReport, Step};
use super::run::{Interface, Outcome, Results, compared, compared_partitioned, run};
use super::state::{State, Unread};
use crate::blame::{Divergence, Options as BlameOptions, compare_modules};
use crate::program::{Program, watching};
use hlo::ir::InstructionId;
use hlo::ir::rewrite::ModuleRewriter;
use hlo::text::Style;
use hlo::{Literal, Verified};
use std::sync::Arc;
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
#[derive(Debug, Clone)]
pub struct Options {
    /// The most steps of one run: a pass may make an endless loop.
    pub fuel: u64,
    /// Whether to end at the first step that is wrong.
    pub first: bool,
    /// Whether algebra with other rounding errors is wrong.
    pub strict: bool,
    /// Keep unknown attributes of HLO text.
    pub lenient: bool,
    /// Compare only the steps whose pipeline and pass match; `*` stands for any characters.
    pub pass: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Self { fuel: 100_000_000, first: false, strict: false, lenient: false, pass: None }
    }
}

impl Options {
    fn is_compared(&self, file: &StateFile) -> bool {
        let label = file.label();
        self.pass.as_ref().is_none_or(|pattern| {
            let inner = format!("*{pattern}*");
            crate::suite::matches(&inner, &label)
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
            Err(Unread::Invalid(message, _) | Unread::Missing(message)) => {
                first.get_or_insert(format!("{}: {message}", file.file()));
            }
        }
    }
    Err(first.unwrap_or_else(|| "the module has no states".to_owned()))
}

/// A state that has run.
struct Ran {
    state: State,
    name: String,
    /// The sets of arguments, and the results of each.
    arguments: Vec<Vec<Vec<Literal>>>,
    results: Vec<Results>,
}

impl Ran {
    fn last_state(&self) -> Option<LastState> {
        let (arguments, results) = (self.arguments.first()?, self.results.first()?);
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
    let mut check = Check { sets, options, first: None, last: None, text: None, is_broken: false };
    for file in &dump.files {
        let start = Instant::now();
        let step = check.step(file, &mut report);
        let Some(mut step) = step else { continue };
        step.seconds = start.elapsed().as_secs_f64();
        progress(&step);
        let is_over = options.first && step.class.is_wrong(options.strict);
        report.steps.push(step);
        if is_over {
            return report;
        }
    }
    report.overall = check.overall();
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

struct Check<'a> {
    sets: &'a [ArgumentSet],
    options: &'a Options,
    first: Option<Arc<Ran>>,
    last: Option<Arc<Ran>>,
    /// The text of the last state.
    text: Option<Vec<u8>>,
    /// Whether the last state is invalid.
    is_broken: bool,
}

impl Check<'_> {
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
            source: None,
            seconds: 0.0,
            evidence: None,
        }
    }

    /// Returns the step to a state that is no module. Only the first of several invalid ones is
    /// wrong.
    fn unread(&mut self, file: &StateFile, unread: Unread, report: &mut ModuleReport) -> Step {
        let (message, details) = match unread {
            Unread::Missing(message) => {
                return self.described(file, Outcome::new(Class::NotRun, message));
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
        let evidence = Some(Evidence { before, after, arguments: Vec::new() });
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
        let Some(last) = self.last.clone() else {
            report.states += 1;
            let arguments: Vec<_> = self.sets.iter().map(|set| set.arguments.clone()).collect();
            let results = run(&state, &arguments, self.options.fuel);
            let ran = Arc::new(Ran { state, name: file.file(), arguments, results });
            self.first = Some(Arc::clone(&ran));
            self.last = Some(ran);
            return None;
        };
        if state.fingerprint == last.state.fingerprint {
            return Some(self.described(file, Outcome::new(Class::Unchanged, "")));
        }
        report.states += 1;
        let interface = Interface::of(&last.state.module, &state.module);
        let arguments: Result<Vec<_>, String> =
            last.arguments.iter().map(|given| interface.arguments(given)).collect();
        let arguments = match arguments {
            Ok(arguments) => arguments,
            Err(message) => {
                return Some(self.described(file, Outcome::new(Class::NotRun, message)));
            }
        };
        let results = run(&state, &arguments, self.options.fuel);
        let ran = Ran { state, name: file.file(), arguments, results };
        let (outcome, set) = match self.options.is_compared(file) {
            true => self.worst(&last, &ran, &interface),
            false => (Outcome::new(Class::NotRun, "not asked for"), None),
        };
        let mut step = self.described(file, outcome);
        step.arguments = set.filter(|_| self.sets.len() > 1).map(|set| self.sets[set].name.clone());
        if step.class.is_wrong(self.options.strict) {
            let set = set.unwrap_or_default();
            step.evidence = Some(evidence(&last, &ran, set, step.divergence.as_ref()));
        }
        if file.is_start() && step.class > Class::SameBits {
            let other = separated(&step.message);
            step.message = format!("{other}made between pipelines, before this one");
        }
        let found = step.divergence.as_ref();
        step.source = found.and_then(|found| source(&ran.state, &last.state, found));
        self.last = Some(Arc::new(ran));
        Some(step)
    }

    /// Compares two states on all sets of arguments; returns the worst outcome, and its arguments.
    fn worst(&self, before: &Ran, after: &Ran, interface: &Interface) -> (Outcome, Option<usize>) {
        let states = [&before.state, &after.state];
        let limits = BlameOptions { fuel: self.options.fuel, ..BlameOptions::default() };
        let mut worst: Option<(Outcome, Option<usize>)> = None;
        let any_ran = before.results.iter().any(Result::is_ok);
        for number in 0..self.sets.len() {
            // Arguments that the module does not take, such as a size below 0, say nothing.
            if any_ran && before.results[number].is_err() {
                continue;
            }
            let results = [&before.results[number], &after.results[number]];
            let outcome = match interface {
                Interface::Same => compared(states, &before.arguments[number], results, &limits),
                Interface::Partitioned(boundary) => compared_partitioned(states, boundary, results),
                Interface::Selected(_) => selected(results),
                Interface::Other(message) => Outcome::new(Class::NotRun, message.as_str()),
            };
            if worst.as_ref().is_none_or(|(known, _)| outcome.class > known.class) {
                worst = Some((outcome, Some(number)));
            }
        }
        worst.unwrap_or_else(|| (Outcome::new(Class::NotRun, "there are no arguments"), None))
    }

    /// Compares the last state with the first.
    fn overall(&self) -> Option<Step> {
        let (first, last) = (self.first.as_ref()?, self.last.as_ref()?);
        if Arc::ptr_eq(first, last) {
            return None;
        }
        let start = Instant::now();
        let interface = Interface::of(&first.state.module, &last.state.module);
        let (outcome, set) = self.worst(first, last, &interface);
        let set = set.filter(|_| self.sets.len() > 1);
        let arguments = set.map(|set| self.sets[set].name.clone());
        let Outcome { class, message, judgement, divergence } = outcome;
        let source = divergence.as_ref().and_then(|found| source(&last.state, &first.state, found));
        Some(Step {
            number: String::new(),
            pass: "last against first".to_owned(),
            class,
            before: first.name.clone(),
            after: last.name.clone(),
            message,
            details: String::new(),
            arguments,
            judgement,
            divergence,
            source,
            seconds: start.elapsed().as_secs_f64(),
            evidence: None,
        })
    }
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
fn evidence(before: &Ran, after: &Ran, set: usize, found: Option<&Divergence>) -> Evidence {
    let arguments = &before.arguments[set];
    let cut = found.and_then(|found| {
        let sides = [(before, found.counterpart), (after, found.at)];
        let programs = sides.map(|(ran, (computation, id))| {
            let module = ran.state.module.module();
            let is_entry = computation == module.entry;
            is_entry.then(|| cut(&ran.state, arguments, id)).flatten()
        });
        let [Some(first), Some(second)] = programs else { return None };
        let limits = BlameOptions::default();
        let pair =
            compare_modules(&first.module, &second.module, &first.arguments, &limits).ok()?;
        pair.is_wrong().then_some((first, second))
    });
    match cut {
        Some((first, second)) => Evidence {
            before: Some(first.module.module().print(Style::Full)),
            after: second.module.module().print(Style::Full),
            arguments: first.arguments,
        },
        None => Evidence {
            before: Some(full(&before.state)),
            after: full(&after.state),
            arguments: arguments.clone(),
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
