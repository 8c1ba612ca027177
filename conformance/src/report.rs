//! The outcome of each case, and the totals of a run.
use crate::Comparison;
use hlo::Scalar;
use hlo::diag::{Diagnostic, Source, render};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// The outcome of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The result is within its bound; the comparison has the measured error.
    Agree(Comparison),
    /// The result differs from the expected one.
    Differ(Comparison),
    /// The case was not run.
    Skipped(String),
    /// The engine does not implement something the module needs.
    Unsupported(Failure),
    /// There is no result, or not the expected errors.
    Failed(Failure),
}

impl Outcome {
    /// Returns the outcome with this name for the text of a failure.
    pub(crate) fn named(mut self, name: &str) -> Self {
        if let Self::Unsupported(failure) | Self::Failed(failure) = &mut self {
            name.clone_into(&mut failure.name);
        }
        self
    }
    /// Returns the outcome of a comparison.
    pub(crate) fn of(comparison: Comparison) -> Self {
        if comparison.agrees() { Self::Agree(comparison) } else { Self::Differ(comparison) }
    }
}

/// The reason why there is no result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Failure {
    /// A sentence; empty if there are only diagnostics.
    pub reason: String,
    /// Errors with their spans in `text`.
    pub diagnostics: Vec<Diagnostic>,
    /// The text of the module.
    pub text: String,
    /// The name that is shown for the text; empty for the file of the case.
    pub name: String,
}

/// The outcome of a case that did not pass.
#[derive(Debug)]
pub(crate) struct Failed {
    /// The treatment with this outcome; empty if it is that of all treatments.
    pub(crate) treatment: String,
    pub(crate) outcome: Outcome,
}

impl Failed {
    pub(crate) fn new(treatment: impl Into<String>, outcome: Outcome) -> Box<Self> {
        Box::new(Self { treatment: treatment.into(), outcome })
    }
    /// Returns the failure of a malformed case.
    pub(crate) fn invalid(failure: impl Into<Failure>) -> Box<Self> {
        Self::new("", Outcome::Failed(failure.into()))
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self { reason, ..Self::default() }
    }
}

/// A case and its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The name of the case.
    pub name: String,
    /// The path of its file, for rendering errors.
    pub file: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The treatment with this outcome, such as `engine reference`; empty if all treatments have
    /// it.
    pub treatment: String,
    /// The run time of all treatments.
    pub time: Duration,
}

impl Report {
    /// Runs a case and measures its time. A panic is a failure of this case and does not end the
    /// others.
    pub(crate) fn run(
        name: &str,
        file: &str,
        case: impl FnOnce() -> Result<Outcome, Box<Failed>>,
    ) -> Self {
        let start = Instant::now();
        let panicked = || Err(Failed::invalid("the engine panicked".to_owned()));
        let result = catch_unwind(AssertUnwindSafe(case)).unwrap_or_else(|_| panicked());
        let (treatment, outcome) = match result {
            Ok(outcome) => (String::new(), outcome),
            Err(failed) => (failed.treatment, failed.outcome),
        };
        let (name, file) = (name.to_owned(), file.to_owned());
        Self { name, file, outcome, treatment, time: start.elapsed() }
    }
    /// Returns the report of a case that was not run.
    pub(crate) fn of(name: &str, file: &str, failed: Failed) -> Self {
        Self::run(name, file, || Err(Box::new(failed)))
    }
    /// Returns whether the case did not pass.
    pub fn is_bad(&self) -> bool {
        match &self.outcome {
            Outcome::Agree(_) | Outcome::Skipped(_) => false,
            Outcome::Differ(_) | Outcome::Unsupported(_) | Outcome::Failed(_) => true,
        }
    }
    /// Describes the outcome: what was expected, what was found, and where. The name of the case is
    /// not included.
    pub fn details(&self, color: bool) -> String {
        let treatment = match self.treatment.as_str() {
            "" => String::new(),
            name => format!("{name}: "),
        };
        let details = match &self.outcome {
            Outcome::Agree(comparison) | Outcome::Differ(comparison) => comparison.describe(),
            Outcome::Skipped(reason) => format!("{reason}\n"),
            Outcome::Unsupported(failure) | Outcome::Failed(failure) => {
                failure.describe(&self.file, color)
            }
        };
        treatment + &details
    }
    /// Returns the report as one line of JSON.
    pub fn json(&self) -> String {
        let (word, comparison) = match &self.outcome {
            Outcome::Agree(comparison) => ("agree", Some(comparison)),
            Outcome::Differ(comparison) => ("differ", Some(comparison)),
            Outcome::Skipped(_) => ("skipped", None),
            Outcome::Unsupported(_) => ("unsupported", None),
            Outcome::Failed(_) => ("failed", None),
        };
        let name = quoted(&self.name);
        let mut out = format!(
            r#"{{"name": {name}, "outcome": "{word}", "seconds": {:.6}"#,
            self.time.as_secs_f64()
        );
        if let Some(c) = comparison {
            let Comparison { max_ulps, max_error, bound, .. } = c;
            let (error, bound) = (number(*max_error), number(*bound));
            let _ =
                write!(out, r#", "max_ulps": {max_ulps}, "max_error": {error}, "bound": {bound}"#);
            let _ = write!(out, r#", "wrong": {}, "elements": {}"#, c.wrong, c.elements);
            if !c.devices_wrong.is_empty() {
                let _ = write!(out, r#", "devices_wrong": {:?}"#, c.devices_wrong);
            }
        } else {
            let _ = write!(out, r#", "reason": {}"#, quoted(self.details(false).trim_end()));
        }
        if !self.treatment.is_empty() {
            let _ = write!(out, r#", "treatment": {}"#, quoted(&self.treatment));
        }
        out.push('}');
        out
    }
}

impl Comparison {
    /// Returns the size of the largest error and its bound as text:
    /// `error 1.2e-7 (bound 1.1e-6), 1 ulp`; `None` where the values of the worst element say more:
    /// of integers, infinities and NaN.
    pub fn sizes(&self) -> Option<String> {
        /// Between numbers of different sign there are most of the type's values.
        const MOST_ULPS: u64 = 1 << 30;
        let Self { max_error, bound, max_ulps, .. } = *self;
        let is_measured = match &self.worst {
            Some(worst) => {
                [worst.actual, worst.expected].iter().all(is_finite_float) && max_error > 0.0
            }
            None => bound > 0.0,
        };
        let ulps = if max_ulps < MOST_ULPS { format!(", {max_ulps} ulp") } else { String::new() };
        // Elements that must be equal, or that may differ by units in the last place alone, have no
        // bound of this kind.
        let bound = if bound > 0.0 { format!(" (bound {bound:.3e})") } else { String::new() };
        is_measured.then(|| format!("error {max_error:.3e}{bound}{ulps}"))
    }
    fn describe(&self) -> String {
        let mut out = String::new();
        if self.wrong > 0 {
            let on = match self.devices_wrong.as_slice() {
                [] => String::new(),
                devices => format!(" on {}", collectives::list_devices(devices)),
            };
            let _ = writeln!(out, "{} of {} elements differ{on}", self.wrong, self.elements);
        }
        if let Some(worst) = &self.worst {
            let show = |x: &Scalar| hlo::Literal::scalar(worst.ty, *x).to_string();
            let (actual, expected) = (show(&worst.actual), show(&worst.expected));
            let device = worst.device.map_or_else(String::new, |k| format!("device {k}, "));
            let at = format!("{device}result {} at {:?}", worst.leaf, worst.index);
            let _ = writeln!(out, "worst: {at}: found {actual}, expected {expected}");
        }
        if let Some(sizes) = self.sizes() {
            let _ = writeln!(out, "{sizes}");
        }
        if self.flushed > 0 {
            let _ = writeln!(out, "{} denormals differ", self.flushed);
        }
        out
    }
}

/// The lines that `etalon test` prints: how many elements differ, the worst one, and the largest
/// error beside its bound.
impl std::fmt::Display for Comparison {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.describe().trim_end() {
            "" => write!(f, "{} elements agree", self.elements),
            text => f.write_str(text),
        }
    }
}

fn is_finite_float(x: &Scalar) -> bool {
    match x {
        Scalar::Float(x) => x.is_finite(),
        Scalar::Complex(re, im) => re.is_finite() && im.is_finite(),
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) => false,
    }
}

impl Failure {
    /// Returns a failure with these errors in the text of a module.
    pub fn new(text: &str, diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, text: text.to_owned(), ..Self::default() }
    }
    pub(crate) fn describe(&self, file: &str, color: bool) -> String {
        let mut out = String::new();
        if !self.reason.is_empty() {
            out.push_str(self.reason.trim_end());
            out.push('\n');
        }
        for diagnostic in &self.diagnostics {
            let name = if self.name.is_empty() { file } else { &self.name };
            let source = Source { name, text: &self.text };
            out.push_str(&render(diagnostic, Some(source), color));
        }
        out
    }
}

/// The number of cases with each outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// The result is within its bound.
    pub agree: usize,
    /// The result differs.
    pub differ: usize,
    /// The case was not run.
    pub skipped: usize,
    /// Something is not implemented.
    pub unsupported: usize,
    /// There is no result.
    pub failed: usize,
}

impl Summary {
    /// Counts the outcomes of reports.
    pub fn of<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Self {
        let mut sum = Self::default();
        for report in reports {
            *match &report.outcome {
                Outcome::Agree(_) => &mut sum.agree,
                Outcome::Differ(_) => &mut sum.differ,
                Outcome::Skipped(_) => &mut sum.skipped,
                Outcome::Unsupported(_) => &mut sum.unsupported,
                Outcome::Failed(_) => &mut sum.failed,
            } += 1;
        }
        sum
    }
}
impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { agree, differ, skipped, unsupported, failed } = self;
        write!(
            f,
            "{agree} agree, {differ} differ, {failed} failed, {unsupported} unsupported, {skipped} skipped"
        )
    }
}

/// Returns a JSON number; JSON has no infinities, so they become the largest finite number.
fn number(x: f64) -> String {
    format!("{:e}", x.clamp(f64::MIN, f64::MAX))
}

/// Returns a JSON string.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_escaped_and_counted() {
        let outcome = Outcome::Skipped("a \"b\"\nc".to_owned());
        let report = Report {
            name: "x\\y".to_owned(),
            file: String::new(),
            outcome,
            treatment: String::new(),
            time: Duration::ZERO,
        };
        let expected = r#"{"name": "x\\y", "outcome": "skipped", "seconds": 0.000000, "reason": "a \"b\"\nc"}"#;
        assert_eq!(report.json(), expected);
        assert_eq!(Summary::of([&report]), Summary { skipped: 1, ..Summary::default() });
        assert!(!report.is_bad());
    }
}
