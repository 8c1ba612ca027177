//! What became of each case, and the sum of them.
use crate::Comparison;
use hlo::diag::{Diagnostic, Source, render};
use std::fmt::Write as _;
use std::time::Duration;

/// What became of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// The result is as wanted; the comparison holds the measured error and the bound.
    Agree(Comparison),
    /// The result is another one.
    Differ(Comparison),
    /// The case was not run.
    Skipped(String),
    /// The engine does not implement something the module needs.
    Unsupported(Failure),
    /// There is no result, or not the errors that were wanted.
    Failed(Failure),
}

/// Why there is no result.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Failure {
    /// In words; empty if the diagnostics say all.
    pub reason: String,
    /// Errors with their places in `text`.
    pub diagnostics: Vec<Diagnostic>,
    /// The module.
    pub text: String,
    /// What the text is called; empty if it is the file.
    pub name: String,
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Self { reason, ..Self::default() }
    }
}

/// A case and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Name of the case.
    pub name: String,
    /// Path of the file it is from, for showing errors.
    pub file: String,
    /// What became of it.
    pub outcome: Outcome,
    /// How long it took.
    pub time: Duration,
}

impl Report {
    /// Whether something is wrong.
    pub fn is_bad(&self) -> bool {
        match self.outcome {
            Outcome::Agree(_) | Outcome::Skipped(_) => false,
            Outcome::Differ(_) | Outcome::Unsupported(_) | Outcome::Failed(_) => true,
        }
    }
    /// Lines for a person: what was wanted, what was found, and where. Without the name of the case.
    pub fn details(&self, colour: bool) -> String {
        match &self.outcome {
            Outcome::Agree(comparison) | Outcome::Differ(comparison) => comparison.describe(),
            Outcome::Skipped(reason) => format!("{reason}\n"),
            Outcome::Unsupported(failure) | Outcome::Failed(failure) => {
                failure.describe(&self.file, colour)
            }
        }
    }
    /// One line of JSON.
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
        out.push('}');
        out
    }
}

impl Comparison {
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
            let show = |x: &hlo::Scalar| hlo::Literal::scalar(worst.ty, *x).to_string();
            let (got, wanted) = (show(&worst.got), show(&worst.wanted));
            let device = worst.device.map_or_else(String::new, |k| format!("device {k}, "));
            let at = format!("{device}result {} at {:?}", worst.leaf, worst.index);
            let _ = writeln!(out, "worst: {at}: got {got}, wanted {wanted}");
        }
        if self.worst.is_some() || self.bound > 0.0 {
            let Self { max_error, bound, max_ulps, .. } = self;
            let _ = writeln!(out, "error {max_error:.3e} (bound {bound:.3e}), {max_ulps} ulp");
        }
        if self.flushed > 0 {
            let _ = writeln!(out, "{} numbers differ below the smallest normal one", self.flushed);
        }
        out
    }
}

impl Failure {
    /// An error of a module's text.
    pub fn of(text: &str, diagnostics: Vec<Diagnostic>) -> Self {
        Self { diagnostics, text: text.to_owned(), ..Self::default() }
    }
    fn describe(&self, file: &str, colour: bool) -> String {
        let mut out = String::new();
        if !self.reason.is_empty() {
            out.push_str(self.reason.trim_end());
            out.push('\n');
        }
        for diagnostic in &self.diagnostics {
            let name = if self.name.is_empty() { file } else { &self.name };
            let source = Source { name, text: &self.text };
            out.push_str(&render(diagnostic, Some(source), colour));
        }
        out
    }
}

/// How many cases ended how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Summary {
    /// As wanted.
    pub agree: usize,
    /// Another result.
    pub differ: usize,
    /// Not run.
    pub skipped: usize,
    /// Not implemented.
    pub unsupported: usize,
    /// No result.
    pub failed: usize,
}

impl Summary {
    /// Counts reports.
    pub fn of<'a>(reports: impl IntoIterator<Item = &'a Report>) -> Self {
        let mut sum = Self::default();
        for report in reports {
            *match report.outcome {
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

/// A JSON number; infinities become the largest number there is.
fn number(x: f64) -> String {
    format!("{:e}", x.clamp(f64::MIN, f64::MAX))
}

/// A JSON string.
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
        let report =
            Report { name: "x\\y".to_owned(), file: String::new(), outcome, time: Duration::ZERO };
        let wanted = r#"{"name": "x\\y", "outcome": "skipped", "seconds": 0.000000, "reason": "a \"b\"\nc"}"#;
        assert_eq!(report.json(), wanted);
        assert_eq!(Summary::of([&report]), Summary { skipped: 1, ..Summary::default() });
        assert!(!report.is_bad());
    }
}
