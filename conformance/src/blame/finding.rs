//! The findings of a search, as text, as diagnostics and as JSON.
use crate::backend::About;
use crate::judge::Judgement;
use crate::program::{At, Program, arrays};
use crate::results::Verdict;
use hlo::diag::{Diagnostic, Level, Place};
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Literal, Module};
use serde::Serialize;
use std::fmt::{self, Write as _};

/// Where the value of an instruction is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Context {
    /// In a module of the instruction alone.
    Alone,
    /// Only in its module: other instructions change how the backend computes it.
    InModule,
}

/// The evidence that an instruction is wrong.
#[derive(Debug, Clone)]
pub(super) struct Evidence {
    pub(super) context: Context,
    pub(super) judgement: Option<Judgement>,
    /// The error of the backend, which has no result.
    pub(super) failure: Option<(Verdict, String)>,
    pub(super) expected: Vec<Literal>,
}

/// An operand of an instruction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Operand {
    /// Its name.
    pub name: String,
    /// Its shape.
    pub shape: String,
    /// The element that the worst element of the result is computed from, if there is only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub element: Option<String>,
}

/// An instruction that is wrong on the operands that the backend computed.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// The way to it, such as `entry/while.3 round 2/body/add.7`; rounds count from 1.
    pub path: String,
    /// Its opcode.
    pub opcode: String,
    /// Its shape.
    pub shape: String,
    /// Where it is wrong.
    pub context: Context,
    /// [`Verdict::Differs`], or why the backend has no result.
    pub verdict: Verdict,
    /// How its value differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// The error of the backend.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Its operands.
    pub operands: Vec<Operand>,
    /// Whether the computations that it calls are right by themselves.
    pub is_right_inside: bool,
    /// Its computation, in the module that was searched.
    #[serde(skip)]
    pub computation: ComputationId,
    /// Its id.
    #[serde(skip)]
    pub instruction: InstructionId,
    /// The module of the instruction alone, with the operands that the backend computed.
    #[serde(skip)]
    pub program: Program,
}

/// The result of a search.
#[derive(Debug, Clone, Serialize)]
pub struct Blame {
    /// The name of the backend.
    pub backend: String,
    /// What else is known of it.
    #[serde(skip_serializing_if = "About::is_empty")]
    pub about: About,
    /// The verdict on the result of the module.
    pub verdict: Verdict,
    /// How the result of the module differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// Why there is no result of the module.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// The instructions that are wrong by themselves, in text order.
    pub findings: Vec<Finding>,
    /// The instructions of the entry that differ from Etalon's values, and are right on the
    /// operands that the backend computed.
    pub inherited: Vec<String>,
    /// Instructions that were not checked, with the reason.
    pub not_checked: Vec<(String, String)>,
    /// The number of instructions of the entry that were checked.
    pub checked: usize,
    /// Whether the result of the module changes when its intermediate values are results too. The
    /// backend then compiles the module in another way, which may hide an error.
    pub changed_by_rewriting: bool,
}

impl Default for Blame {
    fn default() -> Self {
        Self {
            backend: String::new(),
            about: About::default(),
            verdict: Verdict::Agrees,
            judgement: None,
            failure: None,
            findings: Vec::new(),
            inherited: Vec::new(),
            not_checked: Vec::new(),
            checked: 0,
            changed_by_rewriting: false,
        }
    }
}

impl Blame {
    /// Returns whether the result or an instruction is wrong.
    pub fn is_wrong(&self) -> bool {
        self.verdict.is_bad() || !self.findings.is_empty()
    }
    /// Returns the report as JSON.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }
}

impl Finding {
    pub(super) fn new(
        module: &Module,
        (computation, id): At,
        path: String,
        evidence: Evidence,
        program: Program,
    ) -> Self {
        let owner = &module.computations[computation];
        let instruction = &owner.instructions[id];
        let (opcode, shape) =
            (instruction.opcode().name().to_owned(), format!("{:#}", instruction.shape));
        let index = worst_index(&evidence);
        let values = |at: usize| program.arguments.first().and_then(|list| list.get(at));
        let is_elementwise = instruction.opcode().is_elementwise();
        let mut fed = Vec::new();
        let operands = instruction.operands.iter().map(|&operand| {
            let shape = &owner.instructions[operand].shape;
            // Arguments are the different operands, in order.
            let number = fed.iter().position(|&other| other == operand).unwrap_or_else(|| {
                fed.push(operand);
                fed.len() - 1
            });
            let element = index.filter(|_| is_elementwise && shape.array().is_some());
            let element = element.and_then(|at| element_of(values(number)?, at));
            Operand { name: owner.name(operand).to_string(), shape: format!("{shape:#}"), element }
        });
        let operands = operands.collect();
        let (verdict, failure) = match evidence.failure {
            Some((verdict, message)) => (verdict, Some(message)),
            None => (Verdict::Differs, None),
        };
        Self {
            path,
            opcode,
            shape,
            context: evidence.context,
            verdict,
            judgement: evidence.judgement,
            failure,
            operands,
            is_right_inside: false,
            computation,
            instruction: id,
            program,
        }
    }
    /// Returns the finding as a diagnostic at the instruction in the text of the module.
    pub fn diagnostic(&self, module: &Module) -> Diagnostic {
        let computation = &module.computations[self.computation];
        let span = Some(computation.span(self.instruction)).filter(|span| span.end > 0);
        let label = span.map(|span| (span, self.summary()));
        Diagnostic {
            level: Level::Error,
            code: "",
            message: format!("{} is wrong", self.path),
            span,
            instruction: Some(computation.path(self.instruction)),
            place: Place::Whole,
            labels: label.into_iter().collect(),
            help: self.hint(),
        }
    }
    fn summary(&self) -> String {
        match (&self.judgement, &self.failure) {
            (Some(judgement), _) => match &judgement.measures.worst {
                Some(worst) => format!("found {}, expected {}", worst.actual, worst.expected),
                None => "differs".to_owned(),
            },
            (None, Some(_)) => "the backend has no result".to_owned(),
            (None, None) => "wrong".to_owned(),
        }
    }
    fn hint(&self) -> Option<String> {
        match (self.context, self.is_right_inside) {
            (Context::Alone, true) => Some(
                "the computations that it calls are right when they run by themselves on the same operands".to_owned(),
            ),
            (Context::InModule, _) => Some(
                "it is right when it runs alone: other instructions of the module change how the backend computes it".to_owned(),
            ),
            (Context::Alone, false) => None,
        }
    }
}

impl fmt::Display for Finding {
    /// Prints the details, a line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {}", self.opcode, self.shape)?;
        for (number, Operand { name, shape, element }) in self.operands.iter().enumerate() {
            let element =
                element.as_ref().map_or(String::new(), |x| format!(", at the worst element {x}"));
            writeln!(f, "operand {number}: {name}: {shape}{element}")?;
        }
        if let Some(judgement) = &self.judgement {
            write!(f, "{judgement}")?;
        }
        if let Some(failure) = &self.failure {
            writeln!(f, "{failure}")?;
        }
        Ok(())
    }
}

/// The most inherited and unchecked instructions that a report lists.
const LISTED: usize = 8;

impl fmt::Display for Blame {
    /// Prints the report without source lines.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for finding in &self.findings {
            writeln!(f, "wrong: {}", finding.path)?;
            let mut details = finding.to_string();
            if let Some(hint) = finding.hint() {
                let _ = writeln!(details, "{hint}");
            }
            details.lines().try_for_each(|line| writeln!(f, "  {line}"))?;
        }
        self.summary(f)
    }
}

/// What a result is that there is none of.
const MISSING: &str = "is missing";

impl Blame {
    /// Returns the lines that follow the findings.
    pub fn footer(&self) -> String {
        struct Footer<'a>(&'a Blame);
        impl fmt::Display for Footer<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.summary(f)
            }
        }
        Footer(self).to_string()
    }
    fn summary(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(failure) = &self.failure {
            writeln!(f, "the module has no result: {failure}")?;
        }
        if self.findings.is_empty() && self.verdict.is_bad() {
            f.write_str("no instruction is wrong by itself\n")?;
            if let Some(judgement) = &self.judgement {
                write!(f, "{judgement}")?;
            }
        }
        list(f, "inherited", self.inherited.len(), self.inherited.iter().map(String::as_str))?;
        let left_out = self.not_checked.iter().map(|(path, _)| path.as_str());
        list(f, "not checked", self.not_checked.len(), left_out)?;
        let is_wrong = !self.findings.is_empty() || self.verdict.is_bad();
        if self.changed_by_rewriting && is_wrong {
            f.write_str(
                "the result changes when intermediate values are results too: the backend then compiles the module in another way\n",
            )?;
        }
        let wrong = self.findings.len();
        let is_right = !is_wrong && self.words() != MISSING && self.checked > 0;
        writeln!(
            f,
            "{}{} instruction{} checked, {wrong} wrong; the result {}",
            if is_right { "no error: " } else { "" },
            self.checked,
            if self.checked == 1 { "" } else { "s" },
            self.words()
        )
    }
    fn words(&self) -> &'static str {
        match self.verdict {
            Verdict::Agrees => "agrees",
            Verdict::WithinBound => "is within its bound",
            Verdict::NotTested => "is within a bound that no wrong value would break",
            Verdict::Undefined => "may be any of several",
            Verdict::EtalonBug => "shows a bug of Etalon",
            Verdict::Differs => "differs",
            Verdict::Skipped
            | Verdict::Unsupported
            | Verdict::Unstable
            | Verdict::Rejected
            | Verdict::Failed
            | Verdict::TimedOut
            | Verdict::Crashed
            | Verdict::NoReference => MISSING,
        }
    }
}

fn list<'a>(
    f: &mut fmt::Formatter<'_>,
    title: &str,
    count: usize,
    items: impl Iterator<Item = &'a str>,
) -> fmt::Result {
    if count == 0 {
        return Ok(());
    }
    let shown: Vec<&str> = items.take(LISTED).collect();
    let rest = if count > LISTED { format!(", ... ({count} in all)") } else { String::new() };
    writeln!(f, "{title}: {}{rest}", shown.join(", "))
}

/// Returns the position of the worst element, if the result is one array on one device.
fn worst_index(evidence: &Evidence) -> Option<usize> {
    let worst = evidence.judgement.as_ref()?.measures.worst.as_ref()?;
    let ([expected], Some(rest)) =
        (evidence.expected.as_slice(), worst.place.strip_prefix("out0["))
    else {
        return None;
    };
    let sizes = arrays(expected).first()?.array_shape()?.dims.clone();
    let indices = rest.trim_end_matches(']').split(',').filter(|index| !index.is_empty());
    let mut at = 0;
    for (index, &size) in indices.zip(&sizes) {
        at = at * usize::try_from(size).ok()? + index.parse::<usize>().ok()?;
    }
    Some(at)
}

/// Returns an element as text; a scalar has one for all positions.
fn element_of(array: &Literal, at: usize) -> Option<String> {
    let ty = array.array_shape()?.ty;
    let at = if array.len() == 1 { 0 } else { at };
    (at < array.len()).then(|| Literal::scalar(ty, array.get(at)).to_string())
}
