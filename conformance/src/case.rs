//! Runs one case of a file test in every treatment.
//!
//! The treatments: the engine; printed in the default and the short style and read again, which must print the same;
//! the module read back from the short style, run again, which must give the same bits.
use crate::file::{Case, Wanted};
use crate::report::Failure;
use crate::{Comparison, Engine, Failed, Outcome, Tolerance, compare_each};
use collectives::World;
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
    /// The result of each device, if there is one.
    pub(crate) fn results(&self, engine: Engine) -> Result<Vec<Literal>, Refused> {
        let verified = self.verified()?;
        self.ran(&verified, engine, &self.text)
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
    /// The results of a module that was read from `text`.
    fn ran(
        &self,
        verified: &Verified,
        engine: Engine,
        text: &str,
    ) -> Result<Vec<Literal>, Refused> {
        let found = self.attempt(verified, engine).map_err(failed)?;
        found.map_err(|error| Box::new(run_failure(text, &error)))
    }
    /// Runs the module on all devices, if there are arguments for all.
    fn attempt(
        &self,
        verified: &Verified,
        engine: Engine,
    ) -> Result<Result<Vec<Literal>, Failed>, String> {
        let devices = match World::devices(verified.module()) {
            Ok(grid) => grid.len(),
            Err(error) => return Ok(Err(error.into())),
        };
        let inputs = self.arguments(devices)?;
        let options = self.run_options();
        let ran = engine.run_on_devices(verified, &inputs, options, |_| interp::Hooks::new());
        Ok(ran.map(|ran| ran.results))
    }
    /// The arguments of each device, or one list for all.
    fn arguments(&self, devices: usize) -> Result<Vec<Vec<Literal>>, String> {
        let all = self.inputs.get(&None);
        if self.inputs.keys().all(Option::is_none) {
            return Ok(vec![all.cloned().unwrap_or_default()]);
        }
        known(self.inputs.keys().flatten(), devices)?;
        let of = |device| self.inputs.get(&Some(device)).or(all).cloned();
        (0..devices).map(|k| of(k).ok_or_else(|| missing_of(k, "in"))).collect()
    }
}

fn missing_of(device: usize, word: &str) -> String {
    format!("no `// {word}` is for device {device}, nor for all")
}
/// Fails at the first that is no device.
fn known<'a>(named: impl IntoIterator<Item = &'a usize>, devices: usize) -> Result<(), String> {
    match named.into_iter().find(|&&device| device >= devices) {
        Some(device) => Err(format!("`d{device}` is no device: the module has {devices}")),
        None => Ok(()),
    }
}

/// What an error of a run is to a report.
pub(crate) fn run_failure(text: &str, error: &Failed) -> Outcome {
    let failure = Failure::of(text, vec![error.diagnostic()]);
    if error.is_unsupported() { Outcome::Unsupported(failure) } else { Outcome::Failed(failure) }
}

fn agreement(case: &Case, engine: Engine) -> Result<Outcome, Refused> {
    let verified = case.verified()?;
    let (printed, again) = reparsed(verified.module()).map_err(failed)?;
    if case.outputs.is_empty() {
        return Ok(Outcome::Agree(Comparison::default()));
    }
    let got = case.ran(&verified, engine, &case.text)?;
    let wanted = wanted(case, &got)?;
    let tolerance = Tolerance::of_reference(verified.module());
    let comparison = compare_each(&got, &wanted, &tolerance).map_err(failed)?;
    if !comparison.agrees() {
        return Ok(Outcome::Differ(comparison));
    }
    let twice = case.ran(&again, engine, &printed).map_err(|refused| of_printed(*refused))?;
    match compare_each(&twice, &got, &Tolerance::EXACT) {
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

/// The values of the `// out:` comments, for each device in the shape of its result.
fn wanted(case: &Case, got: &[Literal]) -> Result<Vec<Literal>, Refused> {
    known(case.outputs.iter().filter_map(|o| o.device.as_ref()), got.len()).map_err(failed)?;
    let of = |device: Option<usize>| case.outputs.iter().filter(move |o| o.device == device);
    got.iter()
        .enumerate()
        .map(|(device, got)| {
            let own = of(Some(device)).next().map(|_| device);
            let values: Option<Vec<Literal>> = of(own).map(|o| o.value.clone()).collect();
            let values =
                values.ok_or_else(|| failed("an `// out:` comment is empty".to_owned()))?;
            if values.is_empty() {
                return Err(failed(missing_of(device, "out")));
            }
            wanted_of_one(values, got)
        })
        .collect()
}

/// The values in the shape of the result.
fn wanted_of_one(values: Vec<Literal>, got: &Literal) -> Result<Literal, Refused> {
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
        Ok(verified) => match case.attempt(&verified, engine).map_err(failed)? {
            Ok(_) => Vec::new(),
            Err(error) => vec![error.diagnostic()],
        },
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
