//! Runs one case of a file test in every treatment.
//!
//! The treatments: the engine; printed in the default and the short style and read again, which must print the same;
//! the module read back from the short style, run again, which must give the same bits.
use crate::file::{Case, Wanted};
use crate::report::Failure;
use crate::{Comparison, Engine, Outcome, Tolerance, compare};
use hlo::diag::{Diagnostic, locate};
use hlo::{Literal, Module, Style, Verified};

/// No result: what to report instead.
type Refused = Box<Outcome>;

fn failed(failure: impl Into<Failure>) -> Refused {
    Box::new(Outcome::Failed(failure.into()))
}

/// Runs a case in every treatment.
pub(crate) fn outcome(case: &Case, engine: Engine) -> Outcome {
    let run = || {
        if case.errors.is_empty() { agreement(case, engine) } else { rejection(case, engine) }
    };
    run().unwrap_or_else(|refused| *refused)
}

impl Case {
    /// The leaves of the result, if there is one.
    pub(crate) fn leaves(&self, engine: Engine) -> Result<Vec<Literal>, Refused> {
        let verified = self.verified()?;
        let result = self.result(&verified, engine, &self.text)?;
        Ok(result.leaves().into_iter().cloned().collect())
    }
    fn refused(&self, diagnostics: Vec<Diagnostic>) -> Refused {
        failed(Failure::of(&self.text, diagnostics))
    }
    fn verified(&self) -> Result<Verified, Refused> {
        self.diagnosed().map_err(|diagnostics| self.refused(diagnostics))
    }
    fn diagnosed(&self) -> Result<Verified, Vec<Diagnostic>> {
        let module = Module::parse(&self.text).map_err(|e| vec![e.diagnostic()])?;
        module.verify().map_err(|e| e.0.iter().map(hlo::Error::diagnostic).collect())
    }
    fn run_options(&self) -> interp::Options {
        self.fuel.map_or_else(interp::Options::default, |n| interp::Options::default().fuel(n))
    }
    /// The result of a module that was read from `text`.
    fn result(&self, verified: &Verified, engine: Engine, text: &str) -> Result<Literal, Refused> {
        let run = engine.run(verified, &self.inputs, self.run_options(), interp::Hooks::new());
        run.map_err(|error| Box::new(run_failure(text, &error)))
    }
}

/// What an error of a run is to a report.
pub(crate) fn run_failure(text: &str, error: &interp::Error) -> Outcome {
    let failure = Failure::of(text, vec![error.diagnostic()]);
    match error.code() {
        interp::Code::Unsupported { .. } | interp::Code::Elided { .. } => {
            Outcome::Unsupported(failure)
        }
        _ => Outcome::Failed(failure),
    }
}

fn agreement(case: &Case, engine: Engine) -> Result<Outcome, Refused> {
    let verified = case.verified()?;
    let (printed, again) = reparsed(verified.module()).map_err(failed)?;
    if case.outputs.is_empty() {
        return Ok(Outcome::Agree(Comparison::default()));
    }
    let got = case.result(&verified, engine, &case.text)?;
    let wanted = wanted(case, &got)?;
    let tolerance = Tolerance::of_reference(verified.module());
    let comparison = compare(&got, &wanted, &tolerance).map_err(|e| failed(e.to_string()))?;
    if !comparison.agrees() {
        return Ok(Outcome::Differ(comparison));
    }
    let twice = case.result(&again, engine, &printed).map_err(|refused| of_printed(*refused))?;
    match compare(&twice, &got, &Tolerance::EXACT) {
        Ok(same) if same.agrees() => Ok(Outcome::Agree(comparison)),
        Ok(other) => Ok(Outcome::Differ(other)),
        Err(error) => Err(failed(format!("printed and read again: {error}"))),
    }
}

/// Why the module that was printed and read again does not run, shown in the text that was printed.
fn of_printed(outcome: Outcome) -> Refused {
    let named = |failure: Failure| Failure {
        reason: "the module runs as it is, but not after it was printed and read again".to_owned(),
        name: "printed".to_owned(),
        ..failure
    };
    Box::new(match outcome {
        Outcome::Failed(failure) => Outcome::Failed(named(failure)),
        Outcome::Unsupported(failure) => Outcome::Unsupported(named(failure)),
        Outcome::Agree(_) | Outcome::Differ(_) | Outcome::Skipped(_) => outcome,
    })
}

/// The values of the `// out:` comments, in the shape of the result.
fn wanted(case: &Case, got: &Literal) -> Result<Literal, Refused> {
    let values: Option<Vec<Literal>> = case.outputs.iter().map(|o| o.value.clone()).collect();
    let values = values.ok_or_else(|| failed("an `// out:` comment is empty".to_owned()))?;
    if let [only] = values.as_slice()
        && (only.shape().compatible(&got.shape()) || got.elements().is_none())
    {
        return Ok(only.clone());
    }
    let leaves = got.leaves().len();
    if values.len() != leaves {
        let found = values.len();
        return Err(failed(format!(
            "the result has {leaves} leaves, {found} are given with `// out:`"
        )));
    }
    Ok(reshaped(got, &mut values.into_iter()))
}

/// The leaves in the tuple tree of `like`, which has as many.
fn reshaped(like: &Literal, leaves: &mut impl Iterator<Item = Literal>) -> Literal {
    match like.elements() {
        Some(elements) => Literal::tuple(elements.iter().map(|e| reshaped(e, leaves)).collect()),
        None => leaves.next().unwrap_or_else(Literal::token),
    }
}

/// The module in the short style and read back from it, after checking that printing is a fixed point.
fn reparsed(module: &Module) -> Result<(String, Verified), String> {
    let mut last = None;
    for style in [Style::Default, Style::Short] {
        let printed = module.print(style);
        let complain = |what: String| format!("printed in the {style:?} style, {what}:\n{printed}");
        let again =
            Module::parse(&printed).map_err(|e| complain(format!("it does not parse: {e}")))?;
        let twice = again.print(style);
        if twice != printed {
            return Err(complain(format!(
                "read and printed again it is another text:\n{twice}\nwas"
            )));
        }
        let verified = again.verify();
        let verified = verified.map_err(|e| complain(format!("it does not verify: {e}")))?;
        last = Some((printed, verified));
    }
    last.ok_or_else(|| "no style was tried".to_owned())
}

fn rejection(case: &Case, engine: Engine) -> Result<Outcome, Refused> {
    let diagnostics = match case.diagnosed() {
        Err(diagnostics) => diagnostics,
        Ok(verified) => {
            match engine.run(&verified, &case.inputs, case.run_options(), interp::Hooks::new()) {
                Ok(_) => Vec::new(),
                Err(error) => vec![error.diagnostic()],
            }
        }
    };
    let mut missing = case.errors.clone();
    let mut unexpected = Vec::new();
    for diagnostic in diagnostics {
        let line = line_of(case, &diagnostic);
        let fits = |wanted: &Wanted| {
            let label = wanted.label.is_empty() || rule(&diagnostic.message) == wanted.label;
            wanted.line == line && wanted.code == diagnostic.code && label
        };
        match missing.iter().position(fits) {
            Some(at) => drop(missing.remove(at)),
            None => unexpected.push(diagnostic),
        }
    }
    if missing.is_empty() && unexpected.is_empty() {
        return Ok(Outcome::Agree(Comparison::default()));
    }
    let reason: Vec<String> = missing.iter().map(missed).collect();
    let failure = Failure { reason: reason.join("\n"), ..Failure::of(&case.text, unexpected) };
    Err(failed(failure))
}

fn missed(Wanted { line, code, label }: &Wanted) -> String {
    let label = if label.is_empty() { String::new() } else { format!(" ({label})") };
    format!("line {line}: error {code}{label} does not come")
}

/// The line an error is shown at; one without a place counts as one of the module's first line.
fn line_of(case: &Case, diagnostic: &Diagnostic) -> usize {
    let Some(span) = diagnostic.span else { return case.first_line };
    let start = locate(&case.text, span, &diagnostic.place).range().start;
    let before = case.text.bytes().take(start);
    before.filter(|&byte| byte == b'\n').count() + 1
}

/// The label in parentheses at the end of a message.
fn rule(message: &str) -> &str {
    let label = message.strip_suffix(')').and_then(|m| m.rsplit_once('('));
    label.map_or("", |(_, label)| label)
}
