//! One case of a file test, run in every treatment.
//!
//! Each engine runs the module, and the first engine also runs it after it was printed in the short
//! style and parsed again, which must give the same bits. Printing in the default and in the short
//! style must be a fixed point, and an `HloModuleProto` of the module must print as the module
//! does.
use crate::file::{Case, ExpectedError};
use crate::judge::{JudgeOptions, judge_with};
use crate::report::{Failed, Failure};
use crate::results::Verdict;
use crate::{Comparison, Engine, Outcome, Report, Subject, Tolerance, compare_each};
use collectives::{RunError, Session};
use hlo::diag::{Diagnostic, locate};
use hlo::text::Style;
use hlo::{Literal, Module, Verified};
use interp::{CompileOptions, DeviceGrid, RunOptions};
use std::sync::Arc;

type Result<T> = std::result::Result<T, Box<Failed>>;

const REPARSED: &str = "printed and parsed again";

fn engine_treatment(engine: Engine) -> String {
    format!("engine {}", engine.name())
}

/// Runs a case in every treatment. The comparison is that of the first engine.
fn run(case: &Case, engines: &[Engine]) -> Result<Outcome> {
    if !case.errors.is_empty() {
        check_errors(case, engines)?;
        return Ok(Outcome::Agree(Comparison::default()));
    }
    check_results(case, engines).map(Outcome::Agree)
}

impl Case {
    /// Runs the case in every treatment: in each of these engines, and in the first one also after
    /// the module was printed and parsed again.
    pub fn run(&self, engines: &[Engine]) -> Report {
        Report::run(&self.name, &self.file, || run(self, engines))
    }
    /// Runs the case as [`run`](Self::run) does, with these options; a time limit is that of all
    /// treatments together.
    pub fn run_with(&self, engines: &[Engine], options: &RunOptions) -> Report {
        let case = Self { options: options.clone().start_clock(), ..self.clone() };
        case.run(engines)
    }

    /// Runs the module and returns the result of each device.
    pub(crate) fn results(&self, engine: Engine) -> Result<Vec<Literal>> {
        self.results_of(&self.verified()?, engine)
    }
    fn results_of(&self, verified: &Verified, engine: Engine) -> Result<Vec<Literal>> {
        let results = self.attempt(verified, engine)?;
        results
            .map_err(|error| Failed::new(engine_treatment(engine), run_failure(&self.text, &error)))
    }
    /// Returns the module with its arguments; `None` if the case expects errors.
    ///
    /// # Errors
    /// The report of a case that is malformed.
    pub fn subject(&self) -> std::result::Result<Option<Subject>, Box<Report>> {
        let subject = || {
            let module = Arc::new(self.verified()?);
            let devices = DeviceGrid::of(&module.module().config).len();
            let arguments = self.arguments(devices).map_err(Failed::invalid)?;
            let (name, file, text) = (self.name.clone(), self.file.clone(), self.text.clone());
            Ok(Subject { name, file, text, module, arguments })
        };
        if !self.errors.is_empty() {
            return Ok(None);
        }
        let report = |failed: Box<Failed>| Report::of(&self.name, &self.file, *failed);
        subject().map(Some).map_err(|failed| Box::new(report(failed)))
    }
    fn verified(&self) -> Result<Verified> {
        self.diagnosed()
            .map_err(|diagnostics| Failed::invalid(Failure::new(&self.text, diagnostics)))
    }
    fn diagnosed(&self) -> std::result::Result<Verified, Vec<Diagnostic>> {
        let parsed = Module::parse(&self.text);
        let verified = parsed.and_then(|module| Ok(module.verify()?));
        verified.map_err(|errors| errors.diagnostics())
    }
    fn run_options(&self) -> RunOptions {
        let mut options = self.options.clone();
        options.fuel = self.fuel.or(options.fuel);
        options
    }
    /// Runs the module on all devices; the outer error is a case without arguments for a device.
    fn attempt(
        &self,
        verified: &Verified,
        engine: Engine,
    ) -> Result<std::result::Result<Vec<Literal>, RunError>> {
        let options = CompileOptions::default().engine(engine);
        let session = match Session::compile(verified.clone(), &options) {
            Ok(session) => session,
            Err(error) => return Ok(Err(error)),
        };
        let inputs = self.arguments(session.grid().len()).map_err(Failed::invalid)?;
        let output = session.run(&inputs, &self.run_options());
        Ok(output.map(|output| output.results))
    }
    /// Returns the arguments of each device, or a single list for all devices.
    fn arguments(&self, devices: usize) -> std::result::Result<Vec<Vec<Literal>>, String> {
        let common = self.inputs.get(&None);
        if self.inputs.keys().all(Option::is_none) {
            return Ok(vec![common.cloned().unwrap_or_default()]);
        }
        check_devices(self.inputs.keys().flatten(), devices)?;
        let of = |device| self.inputs.get(&Some(device)).or(common).cloned();
        (0..devices).map(|k| of(k).ok_or_else(|| missing_comment(k, "in"))).collect()
    }
}

fn missing_comment(device: usize, word: &str) -> String {
    format!("there is no `// {word}:` for device {device}")
}

/// Fails if a comment names a device that the module does not have.
fn check_devices<'a>(
    named: impl IntoIterator<Item = &'a usize>,
    devices: usize,
) -> std::result::Result<(), String> {
    match named.into_iter().find(|&&device| device >= devices) {
        Some(device) => {
            let plural = if devices == 1 { "" } else { "s" };
            Err(format!("there is no device `d{device}`: the module has {devices} device{plural}"))
        }
        None => Ok(()),
    }
}

/// Returns the outcome of a run that failed.
pub(crate) fn run_failure(text: &str, error: &RunError) -> Outcome {
    let failure = Failure::new(text, vec![error.diagnostic()]);
    if error.is_unsupported() { Outcome::Unsupported(failure) } else { Outcome::Failed(failure) }
}

fn check_results(case: &Case, engines: &[Engine]) -> Result<Comparison> {
    let verified = case.verified()?;
    let (printed, reparsed) = print_and_parse(verified.module())
        .map_err(|reason| Failed::invalid(Failure::from(reason)))?;
    if case.outputs.is_empty() {
        return Ok(Comparison::default());
    }
    let mut first = None;
    for &engine in engines {
        let tolerance = Tolerance::of_engine(engine, verified.module());
        let treatment = engine_treatment(engine);
        let results = case.results_of(&verified, engine)?;
        let expected = expected_results(case, &results)?;
        let comparison = match agreement(&treatment, &results, &expected, &tolerance) {
            Err(_)
                if !engine.rounds_correctly()
                    && is_legal(case, &verified, &expected, &results)? =>
            {
                Comparison::default()
            }
            comparison => comparison?,
        };
        if first.is_none() {
            check_reparsed(case, &printed, &reparsed, engine, &results)?;
            first = Some(comparison);
        }
    }
    Ok(first.unwrap_or_default())
}

/// Returns whether the results are among those that a correct evaluation may give, where the
/// tolerance is an estimate.
fn is_legal(
    case: &Case,
    verified: &Verified,
    expected: &[Literal],
    actual: &[Literal],
) -> Result<bool> {
    let devices = DeviceGrid::of(&verified.module().config).len();
    let arguments = case.arguments(devices).map_err(Failed::invalid)?;
    // Etalon's own engines.
    let options = JudgeOptions::default().without_witness();
    let judgement = judge_with(&options, verified, &arguments, expected, actual);
    let is_known =
        matches!(judgement.verdict, Verdict::Agrees | Verdict::WithinBound | Verdict::NotTested);
    Ok(judgement.estimated.is_none() && is_known)
}

/// Compares the results of a treatment with the expected ones.
fn agreement(
    treatment: &str,
    actual: &[Literal],
    expected: &[Literal],
    tolerance: &Tolerance,
) -> Result<Comparison> {
    match compare_each(actual, expected, tolerance) {
        Ok(comparison) if comparison.agrees() => Ok(comparison),
        Ok(comparison) => Err(Failed::new(treatment, Outcome::Differ(comparison))),
        Err(reason) => Err(Failed::new(treatment, Outcome::Failed(reason.into()))),
    }
}

/// Runs the module that was parsed from `printed` and compares its results bitwise with those of
/// the original module.
fn check_reparsed(
    case: &Case,
    printed: &str,
    reparsed: &Verified,
    engine: Engine,
    expected: &[Literal],
) -> Result<()> {
    match case.attempt(reparsed, engine)? {
        Ok(results) => agreement(REPARSED, &results, expected, &Tolerance::EXACT).map(drop),
        Err(error) => {
            let failure = Failure::new(printed, vec![error.diagnostic()]);
            let failure = Failure { name: "printed".to_owned(), ..failure };
            Err(Failed::new(REPARSED, Outcome::Failed(failure)))
        }
    }
}

/// Returns the values of the `// out:` comments, for each device in the shape of its result.
fn expected_results(case: &Case, results: &[Literal]) -> Result<Vec<Literal>> {
    let devices = case.outputs.iter().filter_map(|o| o.device.as_ref());
    check_devices(devices, results.len()).map_err(Failed::invalid)?;
    let of = |device: Option<usize>| case.outputs.iter().filter(move |o| o.device == device);
    let of_device = |(device, result): (usize, &Literal)| {
        let own = of(Some(device)).next().map(|_| device);
        let values: Option<Vec<Literal>> = of(own).map(|o| o.value.clone()).collect();
        let values = values.ok_or_else(|| "an `// out:` comment is empty".to_owned())?;
        match values.is_empty() {
            true => Err(missing_comment(device, "out")),
            false => with_tuples(values, result),
        }
    };
    results
        .iter()
        .enumerate()
        .map(of_device)
        .collect::<std::result::Result<_, _>>()
        .map_err(Failed::invalid)
}

/// Returns the values in the tuple structure of the result.
fn with_tuples(values: Vec<Literal>, result: &Literal) -> std::result::Result<Literal, String> {
    if let [only] = values.as_slice()
        && (only.shape().compatible(&result.shape()) || result.elements().is_none())
    {
        return Ok(only.clone());
    }
    let (found, leaves) = (values.len(), result.leaves().len());
    if found != leaves {
        return Err(format!("the result has {leaves} leaves, found {found} `// out:` comments"));
    }
    let value = Literal::from_leaves(&result.shape(), &mut values.into_iter());
    Ok(value.unwrap_or_else(Literal::token))
}

/// Returns the module in the short style and parsed from it, after checking that printing is a
/// fixed point.
fn print_and_parse(module: &Module) -> std::result::Result<(String, Verified), String> {
    through_proto(module)?;
    print_style(module, Style::Default)?;
    print_style(module, Style::Short)
}

/// Checks that encoding as a message and decoding loses nothing.
fn through_proto(module: &Module) -> std::result::Result<(), String> {
    let complaint = |what: String| format!("through HloModuleProto, {what}");
    let message = match hlo::proto::encode(module) {
        Ok(message) => message,
        // The text has a number that is wider than its field in a message.
        Err(error) if error.number() == "E0112" => return Ok(()),
        Err(error) => return Err(complaint(format!("it is not encoded: {error}"))),
    };
    let decoded =
        hlo::proto::decode(&message).map_err(|e| complaint(format!("it is not decoded: {e}")))?;
    let (before, after) = (module.print(Style::Full), decoded.print(Style::Full));
    match before == after {
        true => Ok(()),
        false => Err(complaint(format!("it prints differently:\n{after}\nbefore\n{before}"))),
    }
}

fn print_style(module: &Module, style: Style) -> std::result::Result<(String, Verified), String> {
    let printed = module.print(style);
    let complaint = |what: String| format!("printed in the {style:?} style, {what}:\n{printed}");
    let reparsed =
        Module::parse(&printed).map_err(|e| complaint(format!("the text does not parse: {e}")))?;
    let again = reparsed.print(style);
    if again != printed {
        return Err(complaint(format!("the text prints differently:\n{again}\nfirst print")));
    }
    let verified = reparsed.verify();
    let verified = verified.map_err(|e| complaint(format!("the text does not verify: {e}")))?;
    Ok((printed, verified))
}

/// Checks that the module gets the expected errors and no others. Errors of a run are checked in
/// each engine.
fn check_errors(case: &Case, engines: &[Engine]) -> Result<()> {
    let verified = match case.diagnosed() {
        Err(diagnostics) => return match_errors(case, "", diagnostics),
        Ok(verified) => verified,
    };
    for &engine in engines {
        let errors = match case.attempt(&verified, engine)? {
            Ok(_) => Vec::new(),
            Err(error) => vec![error.diagnostic()],
        };
        match_errors(case, &engine_treatment(engine), errors)?;
    }
    Ok(())
}

fn match_errors(case: &Case, treatment: &str, found: Vec<Diagnostic>) -> Result<()> {
    let mut missing = case.errors.clone();
    let mut unexpected = Vec::new();
    for diagnostic in found {
        let line = line_of(case, &diagnostic);
        let matches = |expected: &ExpectedError| {
            let label = expected.label.is_empty() || label(&diagnostic.message) == expected.label;
            expected.line == line && expected.code == diagnostic.code && label
        };
        match missing.iter().position(matches) {
            Some(at) => drop(missing.remove(at)),
            None => unexpected.push(diagnostic),
        }
    }
    if missing.is_empty() && unexpected.is_empty() {
        return Ok(());
    }
    let reason: Vec<String> = missing.iter().map(missing_error).collect();
    let failure = Failure { reason: reason.join("\n"), ..Failure::new(&case.text, unexpected) };
    Err(Failed::new(treatment, Outcome::Failed(failure)))
}

fn missing_error(ExpectedError { line, code, label }: &ExpectedError) -> String {
    let label = if label.is_empty() { String::new() } else { format!(" ({label})") };
    format!("line {line}: expected error {code}{label}, which is missing")
}

/// Returns the line an error is shown at; an error without a span belongs to the first line of the
/// module.
fn line_of(case: &Case, diagnostic: &Diagnostic) -> usize {
    let Some(span) = diagnostic.span else { return case.first_line };
    let start = locate(&case.text, span, &diagnostic.place).range().start;
    let before = case.text.bytes().take(start);
    before.filter(|&byte| byte == b'\n').count() + 1
}

/// Returns the label in parentheses at the end of a message.
fn label(message: &str) -> &str {
    let label = message.strip_suffix(')').and_then(|m| m.rsplit_once('('));
    label.map_or("", |(_, label)| label)
}
