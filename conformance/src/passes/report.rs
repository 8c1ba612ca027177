//! What is known of each step: classes, reports as text and as JSON.
use super::name::PIPELINE_START;
use crate::blame::Divergence;
use crate::exact::Proof;
use crate::judge::{Judgement, Mode};
use crate::results::Verdict;
use hlo::diag::quantity;
use hlo::{Literal, Verified};
use serde::Serialize;
use std::fmt;
use std::fmt::Write as _;
use std::sync::Arc;

/// What a step between two states changes, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// The program is the same but for names, comments and metadata.
    Unchanged,
    /// The results have the same bits.
    SameBits,
    /// The results differ by no more than rounding errors may.
    WithinBound,
    /// The results differ by no more than algebra with other rounding errors may, such as another
    /// grouping of factors.
    Algebra,
    /// The results differ within a bound that no wrong value would break.
    NotTested,
    /// The results differ, and the specification or rounding errors leave them open.
    Undefined,
    /// There are no results to compare.
    NotRun,
    /// The state breaks a rule of HLO.
    Invalid,
    /// The results differ: the step changes the meaning.
    Differs,
    /// Two results of Etalon itself differ.
    EtalonBug,
}

impl Class {
    /// All classes, from the best to the worst.
    pub const ALL: [Self; 10] = [
        Self::Unchanged,
        Self::SameBits,
        Self::WithinBound,
        Self::Algebra,
        Self::NotTested,
        Self::Undefined,
        Self::NotRun,
        Self::Invalid,
        Self::Differs,
        Self::EtalonBug,
    ];

    /// Returns the words of reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Unchanged => "unchanged",
            Self::SameBits => "same bits",
            Self::WithinBound => "within bound",
            Self::Algebra => "algebra",
            Self::NotTested => "not tested",
            Self::Undefined => "undefined",
            Self::NotRun => "not run",
            Self::Invalid => "INVALID",
            Self::Differs => "DIFFERS",
            Self::EtalonBug => "bug of Etalon",
        }
    }
    /// Returns whether the step makes another program of it; `strict` counts algebra, too.
    pub const fn is_wrong(self, strict: bool) -> bool {
        match self {
            Self::Invalid | Self::Differs => true,
            Self::Algebra => strict,
            Self::Unchanged
            | Self::SameBits
            | Self::WithinBound
            | Self::NotTested
            | Self::Undefined
            | Self::NotRun
            | Self::EtalonBug => false,
        }
    }
    /// Returns the class of a step by the comparison of its results.
    pub fn of(judgement: &Judgement) -> Self {
        match judgement.verdict {
            Verdict::Agrees => Self::SameBits,
            // Algebra that makes an infinity or a NaN of a number, or the reverse, is no rounding.
            Verdict::WithinBound
                if judgement.modes.contains(&Mode::AlgebraicRewrites)
                    && judgement.measures.max_error.is_infinite() =>
            {
                Self::Differs
            }
            Verdict::WithinBound if judgement.modes.contains(&Mode::AlgebraicRewrites) => {
                Self::Algebra
            }
            Verdict::WithinBound => Self::WithinBound,
            Verdict::NotTested => Self::NotTested,
            Verdict::Undefined => Self::Undefined,
            Verdict::Differs => Self::Differs,
            Verdict::EtalonBug => Self::EtalonBug,
            Verdict::Skipped
            | Verdict::Unsupported
            | Verdict::NoReference
            | Verdict::Unstable
            | Verdict::Rejected
            | Verdict::Failed
            | Verdict::TimedOut
            | Verdict::Crashed => Self::NotRun,
        }
    }
}

/// A step from one state to the next.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// The number of the pass in the dump; empty for states before and after all passes.
    pub number: String,
    /// The pass, with its pipeline and its round: `simplification/algsimp (round 2)`.
    pub pass: String,
    /// What it changes.
    pub class: Class,
    /// The file of the state before it; empty for the first.
    pub before: String,
    /// The file of the state after it.
    pub after: String,
    /// What is wrong, or why nothing is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// More lines about it: the error of a state, with its place.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub details: String,
    /// The arguments that show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    /// The comparison of the results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// The first instruction that differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub divergence: Option<Divergence>,
    /// Whether both states are the same function, in exact arithmetic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proof: Option<Proof>,
    /// The lines that it changes, as a unified diff, if that was asked for.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub change: String,
    /// Where that instruction comes from in the program of the frontend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The seconds that the step took.
    pub seconds: f64,
    /// What shows it, of a step that is wrong.
    #[serde(skip)]
    pub evidence: Option<Evidence>,
}

/// The modules around a step that is wrong, and the arguments that show it.
#[derive(Debug, Clone)]
pub struct Evidence {
    /// The text of the module before the step; none if the first state is invalid.
    pub before: Option<String>,
    /// The text of the one after it.
    pub after: String,
    /// The arguments of each device; empty if none are needed.
    pub arguments: Vec<Vec<Literal>>,
    /// The most steps of a run that shows it, if not those of any run.
    pub fuel: Option<u64>,
    /// The arguments of the whole module; empty if none are needed.
    pub given: Vec<Vec<Literal>>,
}

/// The steps of a module.
#[derive(Debug, Clone, Serialize)]
pub struct ModuleReport {
    /// The name of the module.
    pub module: String,
    /// The number of states in the dump.
    pub files: usize,
    /// The number of different programs among them.
    pub states: usize,
    /// The names of the sets of arguments.
    pub arguments: Vec<String>,
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// The first state against the last, over which errors add up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overall: Option<Step>,
    /// What the reader should know of the report.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The last state that ran.
    #[serde(skip)]
    pub last: Option<LastState>,
}

/// The last state of a module, on the first set of arguments.
#[derive(Debug, Clone)]
pub struct LastState {
    /// The module.
    pub module: Arc<Verified>,
    /// The arguments of each device, or a single list for all devices.
    pub arguments: Vec<Vec<Literal>>,
    /// Its results on each device.
    pub results: Vec<Literal>,
}

impl ModuleReport {
    /// Returns the steps, and the first state against the last.
    pub fn all(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().chain(&self.overall)
    }
    /// Returns the steps that make another program of it.
    pub fn wrong(&self, strict: bool) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(move |step| step.class.is_wrong(strict))
    }
    /// Returns the number of steps of a class.
    pub fn count(&self, class: Class) -> usize {
        self.steps.iter().filter(|step| step.class == class).count()
    }
    /// Returns the report as one line of JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Step {
    /// Returns whether the step is proved to keep the function, or only tested.
    const fn standing(&self) -> &'static str {
        match (self.class, &self.proof) {
            (Class::NotRun | Class::Invalid | Class::Differs | Class::EtalonBug, _) | (_, None) => {
                ""
            }
            (_, Some(Proof::Proved { .. })) => "proved",
            (_, Some(Proof::Different { .. } | Proof::Open { .. })) => "tested",
        }
    }
    /// Returns what is known of the step, in one line.
    pub(super) fn remark(&self) -> String {
        self.remarks().join("; ")
    }
    /// Returns what the proof leaves open, where the reader should know it.
    fn limits_of_proof(&self) -> Option<String> {
        match (&self.proof, self.class) {
            (Some(Proof::Proved { decides: true, .. }), _) if self.standing() == "proved" => {
                Some("decisions on floats are tested".to_owned())
            }
            (Some(Proof::Open { reason }), Class::Differs) => {
                Some(format!("open in exact arithmetic: {reason}"))
            }
            (Some(Proof::Different { seed }), _) if self.standing() == "tested" => Some(format!(
                "draw {seed} of the field differs in exact arithmetic, and no run shows it"
            )),
            _ => None,
        }
    }
    /// Returns the parts of the line about the step, after its class.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        if let Some(judgement) = self.judgement.as_ref().filter(|_| self.class > Class::SameBits) {
            remarks.extend(measures(judgement));
        }
        remarks.extend(Some(self.message.clone()).filter(|message| !message.is_empty()));
        remarks.extend(self.limits_of_proof());
        let shown = self.arguments.as_ref().filter(|_| self.class > Class::SameBits);
        remarks.extend(shown.map(|arguments| format!("with {arguments}")));
        remarks
    }
}

/// Returns the error with its bound, and what explains it.
fn measures(judgement: &Judgement) -> Option<String> {
    let modes: Vec<&str> = judgement.modes.iter().map(|mode| mode.name()).collect();
    let modes = if modes.is_empty() { String::new() } else { format!(": {}", modes.join(", ")) };
    let undefined = judgement.cause.as_ref().filter(|_| judgement.verdict == Verdict::Undefined);
    if let Some(cause) = undefined {
        return Some(format!("{cause} decides on rounding errors"));
    }
    match judgement.verdict {
        Verdict::WithinBound | Verdict::NotTested if judgement.measures.max_error.is_finite() => {
            let (error, bound) = (judgement.measures.max_error, judgement.measures.bound);
            Some(format!("error {error:.1e}, bound {bound:.1e}{modes}"))
        }
        Verdict::Differs
        | Verdict::EtalonBug
        | Verdict::WithinBound
        | Verdict::NotTested
        | Verdict::Undefined => match &judgement.measures.worst {
            Some(worst) => {
                let (place, actual, expected) = (&worst.place, &worst.actual, &worst.expected);
                Some(format!("{place}: found {actual}, expected {expected}{modes}"))
            }
            None => judgement.cause.clone(),
        },
        Verdict::Agrees
        | Verdict::Skipped
        | Verdict::Unsupported
        | Verdict::NoReference
        | Verdict::Unstable
        | Verdict::Rejected
        | Verdict::Failed
        | Verdict::TimedOut
        | Verdict::Crashed => None,
    }
}

/// The columns of the name of a pass, at most.
const MOST_COLUMNS: usize = 60;

impl fmt::Display for ModuleReport {
    /// Prints a line for each step that changes the program, and what is wrong below it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sets = match self.arguments.len() {
            0 => "no arguments".to_owned(),
            1 => format!("arguments: {}", self.arguments[0]),
            n => format!("{n} sets of arguments: {}", self.arguments.join(", ")),
        };
        let (files, states) = (quantity(self.files, "file"), quantity(self.states, "state"));
        writeln!(f, "{}: {files}, {states}, {sets}", self.module)?;
        let shown: Vec<&Step> =
            self.steps.iter().filter(|step| step.class != Class::Unchanged).collect();
        let columns = shown.iter().map(|step| step.pass.chars().count()).max().unwrap_or_default();
        let columns = columns.min(MOST_COLUMNS);
        let is_tried = shown.iter().any(|step| !step.standing().is_empty());
        for step in &shown {
            let Step { number, pass, class, .. } = step;
            let line = format!("  {number:>4} {pass:columns$}  {:12} ", class.name());
            let line = if is_tried { format!("{line} {:6} ", step.standing()) } else { line };
            writeln!(f, "{}", format!("{line} {}", step.remark()).trim_end())?;
            step.below(f)?;
        }
        if let Some(step) = &self.overall {
            writeln!(f, "       {}", step.line())?;
        }
        for note in &self.notes {
            writeln!(f, "  note: {note}")?;
        }
        self.conclusion(f)
    }
}

impl Step {
    /// Returns the name of the pass alone; nothing for a state that is not one after a pass.
    pub fn pass_name(&self) -> Option<String> {
        let (_, pass) = self.pass.split(" (").next()?.rsplit_once('/')?;
        (pass != PIPELINE_START).then(|| pass.to_owned())
    }
    /// Returns a step between two files of which nothing is known.
    pub(super) fn not_run(pass: &str, [before, after]: [String; 2], message: String) -> Self {
        Self {
            number: String::new(),
            pass: pass.to_owned(),
            class: Class::NotRun,
            before,
            after,
            message,
            details: String::new(),
            arguments: None,
            judgement: None,
            divergence: None,
            proof: None,
            change: String::new(),
            source: None,
            seconds: 0.0,
            evidence: None,
        }
    }
    /// Returns the step in one line, by itself.
    pub(super) fn line(&self) -> String {
        let standing = Some(self.standing()).filter(|standing| !standing.is_empty());
        let standing = standing.map(|standing| format!(", {standing};")).unwrap_or_default();
        let line = format!("{}: {}{standing} {}", self.pass, self.class.name(), self.remark());
        line.trim_end_matches([' ', ';']).to_owned()
    }
    /// Prints what is wrong, below the line of the step.
    pub(super) fn below(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(found) = &self.divergence {
            let mut line = format!("{} differs from {}", found.after, found.before);
            if self.class != Class::Differs {
                let _ = write!(line, ": {}", found.difference);
            }
            if !found.between.is_empty() {
                let _ = write!(line, ", through {}", found.between.join(", "));
            }
            writeln!(f, "         {line}")?;
        }
        if let Some(source) = &self.source {
            writeln!(f, "         from {source}")?;
        }
        let details = self.details.lines().filter(|line| !line.trim().is_empty());
        for line in details {
            writeln!(f, "         {line}")?;
        }
        Ok(())
    }
}

impl ModuleReport {
    fn conclusion(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let compared = self.steps.len();
        if compared == 0 {
            return writeln!(f, "no two states to compare");
        }
        let wrong: Vec<String> = self
            .wrong(false)
            .map(|step| format!("{} {}", step.number, step.pass).trim().to_owned())
            .collect();
        let counts: Vec<String> = Class::ALL
            .iter()
            .map(|&class| (class, self.count(class)))
            .filter(|(_, count)| *count > 0)
            .map(|(class, count)| format!("{count} {}", class.name()))
            .collect();
        let proved = self.steps.iter().filter(|step| step.standing() == "proved").count();
        let proved = match proved {
            0 => String::new(),
            proved => format!("; {proved} proved for every float argument"),
        };
        if wrong.is_empty() {
            let counts = counts.join(", ");
            return writeln!(f, "no step of {compared} changes the meaning: {counts}{proved}");
        }
        writeln!(
            f,
            "{} of {compared} steps {} the meaning: {} ({}{proved})",
            wrong.len(),
            if wrong.len() == 1 { "changes" } else { "change" },
            wrong.join(", "),
            counts.join(", ")
        )
    }
}
