//! Two compilers, or two versions of one: the states of the same module in two dumps.
use super::check::{ArgumentSet, Check, Options, Ran, first_module};
use super::dump::{ModuleDump, StateFile};
use super::html::change;
use super::report::{Class, ModuleReport, Step};
use super::run::{Interface, Limit};
use super::state::{State, Unread};
use crate::blame::interface_difference;
use hlo::Verified;
use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::fmt;
use std::sync::Arc;

/// The modules of two dumps that belong together.
#[derive(Debug, Default)]
pub struct Pairs<'d> {
    /// The same module in both.
    pub both: Vec<[&'d ModuleDump; 2]>,
    /// The names of those that are in one only, in each.
    pub single: [Vec<&'d str>; 2],
}

/// A module that two compilers compiled.
#[derive(Debug, Clone, Serialize)]
pub struct Comparison {
    /// The name of the module in the first dump.
    pub module: String,
    /// What both dumps are called.
    pub dumps: [String; 2],
    /// The names of the sets of arguments.
    pub arguments: Vec<String>,
    /// The last state of the second dump, against that of the first.
    pub last: Step,
    /// The first states of the same pass that have other results, if the last ones have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parted: Option<Step>,
    /// The last states of the same pass before these, whose results are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<String>,
    /// Whether they are the same program no more.
    #[serde(skip)]
    pub is_wrong: bool,
    /// The passes of each dump that change the meaning.
    pub wrong: [Vec<String>; 2],
    /// Whether both have first states of other results: they are no compilations of one program.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub other_programs: bool,
}

/// Finds the modules of two dumps that have the same names and the same parameters and results. If each
/// dump has one module, its name does not matter.
pub fn pairs<'d>(dumps: [&[&'d ModuleDump]; 2], options: &Options) -> Pairs<'d> {
    let is_single = dumps.iter().all(|modules| modules.len() == 1);
    let first = |dump: &&'d ModuleDump| (*dump, first_module(dump, options).ok());
    let [olds, news] = dumps.map(|modules| modules.iter().map(first).collect::<Vec<_>>());
    let mut taken = vec![false; news.len()];
    let mut pairs = Pairs::default();
    for (old, module) in olds {
        let found = news.iter().enumerate().position(|(at, (new, other))| {
            !taken[at]
                && (is_single || old.base == new.base)
                && has_same_interface(module.as_ref(), other.as_ref())
        });
        match found {
            Some(at) => {
                taken[at] = true;
                pairs.both.push([old, news[at].0]);
            }
            None => pairs.single[0].push(&old.name),
        }
    }
    let left = news.iter().zip(taken).filter(|(_, taken)| !taken);
    pairs.single[1] = left.map(|((new, _), _)| new.name.as_str()).collect();
    pairs
}

/// Returns whether modules have the same parameters and results; one that cannot be read may have any.
fn has_same_interface(first: Option<&Arc<Verified>>, second: Option<&Arc<Verified>>) -> bool {
    let (Some(first), Some(second)) = (first, second) else { return true };
    interface_difference(first.module(), second.module()).is_none()
}

/// Compares the last states of a module in two dumps. If their results are not the same, finds the
/// first states of the same pass of which that holds. `names` are those of the dumps, and `reports` what each
/// says of its own steps.
pub fn compare(
    dumps: [&ModuleDump; 2],
    names: [String; 2],
    sets: &[ArgumentSet],
    options: &Options,
    reports: [&ModuleReport; 2],
) -> Comparison {
    let wrong = reports.map(|report| {
        let steps = report.wrong(options.strict);
        steps.map(|step| format!("{} {}", step.number, step.pass).trim().to_owned()).collect()
    });
    let versions = Versions { sets, options, first: first_module(dumps[0], options).ok() };
    let mut comparison = Comparison {
        module: dumps[0].name.clone(),
        dumps: names,
        arguments: sets.iter().map(|set| set.name.clone()).collect(),
        last: versions.last(dumps),
        parted: None,
        together: None,
        is_wrong: false,
        wrong,
        other_programs: false,
    };
    comparison.is_wrong = comparison.last.class.is_wrong(options.strict);
    if !comparison.is_wrong {
        return comparison;
    }
    // The states of the last pass, and whether they have the same results.
    let (mut known, mut is_known_same) = (None, false);
    for (number, [old, new]) in aligned(dumps).into_iter().enumerate() {
        let (Ok(before), Ok(after)) = (read(old, options), read(new, options)) else { continue };
        let states = Some((before.fingerprint, after.fingerprint));
        let is_same = before.fingerprint == after.fingerprint;
        // Most passes change nothing.
        if std::mem::replace(&mut known, states) == states {
            if is_known_same {
                comparison.together = Some(new.label());
            }
            continue;
        }
        let step = versions.begun(old, before);
        let step = step.and_then(|before| versions.against(&before, new, after, &new.label()));
        is_known_same = is_same;
        let Ok((step, _)) = step else { continue };
        if step.class.is_wrong(options.strict) && !is_same {
            let is_first =
                |dump: &ModuleDump, file: &StateFile| file.file() == dump.files[0].file();
            comparison.other_programs =
                number == 0 && is_first(dumps[0], old) && is_first(dumps[1], new);
            comparison.is_wrong = !comparison.other_programs;
            comparison.parted = Some(Step { number: new.number(), ..step });
            break;
        }
        is_known_same |= step.class != Class::NotRun;
        if is_known_same {
            comparison.together = Some(new.label());
        }
    }
    comparison
}

/// Returns the states that passes of the same names made, in the order in which they ran.
fn aligned(dumps: [&ModuleDump; 2]) -> Vec<[&StateFile; 2]> {
    let stages = dumps.map(|dump| dump.files.iter().map(StateFile::stage).collect::<Vec<String>>());
    let operations = capture_diff_slices(Algorithm::Myers, &stages[0], &stages[1]);
    let mut pairs = Vec::new();
    for operation in operations {
        if let DiffOp::Equal { old_index, new_index, len } = operation {
            let both = (0..len).map(|at| [old_index + at, new_index + at]);
            pairs.extend(both.map(|[old, new]| [&dumps[0].files[old], &dumps[1].files[new]]));
        }
    }
    pairs
}

/// How states of two dumps are compared.
struct Versions<'a> {
    sets: &'a [ArgumentSet],
    options: &'a Options,
    /// The first state of the first dump: the arguments are its own.
    first: Option<Arc<Verified>>,
}

impl Versions<'_> {
    /// Compares the last states that have results.
    fn last(&self, dumps: [&ModuleDump; 2]) -> Step {
        let mut message = "no state has a result".to_owned();
        for old in dumps[0].files.iter().rev() {
            let before = read(old, self.options).and_then(|state| self.begun(old, state));
            let before = match before {
                Ok(before) if before.outputs.is_any() => before,
                Ok(before) => {
                    before.failure().clone_into(&mut message);
                    continue;
                }
                Err(error) => {
                    message = error;
                    continue;
                }
            };
            for new in dumps[1].files.iter().rev() {
                let after = read(new, self.options);
                match after.and_then(|after| self.against(&before, new, after, "last states")) {
                    Ok((step, true)) => return step,
                    Ok((step, false)) if step.class == Class::Differs => return step,
                    Ok((step, false)) => message = step.message,
                    Err(error) => message = error,
                }
            }
            break;
        }
        let files = dumps.map(|dump| dump.files.last().map(StateFile::file).unwrap_or_default());
        Step::not_run("last states", files, message)
    }
    /// Runs a state of the first dump.
    fn begun(&self, file: &StateFile, state: State) -> Result<Ran, String> {
        let first = self.first.as_ref().ok_or("no state can be read")?;
        let interface = Interface::of(first, &state.module);
        let sets = self.sets.iter().map(|set| interface.arguments(&set.arguments));
        let arguments = sets.collect::<Result<Vec<_>, _>>()?;
        Ok(Ran::new(file, state, arguments, Limit::of(self.options.fuel, None)))
    }
    /// Compares a state of the second dump with one of the first; also returns whether it has a
    /// result.
    fn against(
        &self,
        before: &Ran,
        file: &StateFile,
        state: State,
        pass: &str,
    ) -> Result<(Step, bool), String> {
        let interface = Interface::of(&before.state.module, &state.module);
        let sets = before.arguments.iter().map(|given| interface.arguments(given));
        let arguments = sets.collect::<Result<Vec<_>, _>>()?;
        let limit = Limit::of(self.options.fuel, Some(before.outputs.steps));
        let after = Ran::new(file, state, arguments, limit);
        let mut step = Check::new(self.sets, self.options).against(before, &after, pass);
        if self.options.changes {
            step.change = change(&before.state.module, &after.state.module);
        }
        Ok((step, after.outputs.is_any()))
    }
}

fn read(file: &StateFile, options: &Options) -> Result<State, String> {
    State::read(file, options.lenient).map_err(|error| match error {
        Unread::Invalid(message, _) | Unread::Missing(message, _) => {
            format!("{}: {message}", file.file())
        }
    })
}

impl Comparison {
    /// Returns the comparison as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
    /// Returns the class that counts for an exit code.
    pub fn class(&self) -> Class {
        if self.other_programs { Class::NotRun } else { self.last.class }
    }
    /// Says which compiler is wrong by its own steps.
    fn blamed(&self) -> String {
        let [old, new] = &self.dumps;
        let passes = |at: usize| self.wrong[at].join(", ");
        match self.wrong.each_ref().map(Vec::is_empty) {
            [false, true] => {
                format!("{old} changes the meaning: {}; no step of {new} does", passes(0))
            }
            [true, false] => {
                format!("{new} changes the meaning: {}; no step of {old} does", passes(1))
            }
            [false, false] => {
                format!("both change the meaning: {old} in {}; {new} in {}", passes(0), passes(1))
            }
            [true, true] => format!("no step of {old} or of {new} changes the meaning by itself"),
        }
    }
}

impl fmt::Display for Comparison {
    /// Prints whether the last states have the same results, and else where they part.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { module, dumps: [old, new], arguments, last, parted, together, .. } = self;
        writeln!(f, "{module}: {new} against {old}, arguments: {}", arguments.join(", "))?;
        writeln!(f, "  {}", last.line())?;
        last.below(f)?;
        if self.other_programs {
            return writeln!(f, "not compared: the first states have other results already");
        }
        match (parted, together) {
            _ if !self.is_wrong => return Ok(()),
            (Some(step), together) => {
                let since = together.as_ref().map(|pass| format!("the same at {pass}, "));
                let label = format!("{} {}", step.number, step.pass);
                let since = since.unwrap_or_default();
                writeln!(f, "  {since}they part at {}", label.trim())?;
                writeln!(f, "         {} and {}", step.before, step.after)?;
                if (&step.before, &step.after) != (&last.before, &last.after) {
                    step.below(f)?;
                }
            }
            (None, Some(pass)) => {
                writeln!(f, "  the same at {pass}; no pass after it has the same name in both")?;
            }
            (None, None) => writeln!(f, "  no pass has the same name in both")?,
        }
        writeln!(f, "{}", self.blamed())
    }
}
