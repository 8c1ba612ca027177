//! The comparison of a backend with a reference, on the same modules and arguments.
use crate::Failure;
use crate::backend::{Backend, BackendError, Code};
use crate::judge::{JudgeOptions, Judgement, Mode, judge_with};
use crate::results::{Record, Reproduction, Verdict};
use hlo::diag::quantity;
use hlo::{Literal, Verified};
use interp::DeviceGrid;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// A module with arguments.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The name that reports show.
    pub name: String,
    /// The path of its file.
    pub file: String,
    /// Its text, for rendering errors.
    pub text: String,
    /// The module.
    pub module: Arc<Verified>,
    /// The arguments of each device, or a single list for all devices.
    pub arguments: Vec<Vec<Literal>>,
}

/// The results of a backend on one module.
type BackendResults = Result<Vec<Literal>, BackendError>;

/// Runs a module in two backends and judges the result of the second by that of the first.
///
/// The backend executes the module twice. Two legal results that differ are labeled as not
/// deterministic; they are [`Verdict::Unstable`] where determinism is asked for.
///
/// ```
/// use conformance::backend::EngineBackend;
/// use conformance::results::Verdict;
/// use conformance::{Engine, FileTest, conform};
/// let text = "HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] tanh(x) }\n// in: f32[2] {1, 2}\n";
/// let file = FileTest::new("tanh.hlo".as_ref(), text.to_owned())?;
/// let subject = file.cases[0].subject().unwrap().unwrap();
/// let [mut exact, mut reference] = [Engine::Exact, Engine::Reference].map(EngineBackend);
/// let record = conform(&subject, &mut reference, &mut exact);
/// assert_eq!(record.verdict, Verdict::Agrees);
/// # Ok::<(), conformance::ParseError>(())
/// ```
pub fn conform(
    subject: &Subject,
    reference: &mut dyn Backend,
    backend: &mut dyn Backend,
) -> Record {
    conform_as(subject, subject, reference, backend)
}

/// As [`conform`], with another module for the reference and the judge, which is the same function:
/// what [`Declarations`](crate::Declarations) say of custom calls.
pub fn conform_as(
    subject: &Subject,
    meaning: &Subject,
    reference: &mut dyn Backend,
    backend: &mut dyn Backend,
) -> Record {
    let mut record = Record::new(&subject.name, Verdict::Agrees);
    let expected = catch_unwind(AssertUnwindSafe(|| meaning.run(reference)));
    let expected = match expected {
        Ok(Ok(expected)) => expected,
        Ok(Err(error)) => {
            let unsupported = matches!(error.code(), Code::Unsupported { .. });
            record.verdict = if unsupported { Verdict::Skipped } else { Verdict::NoReference };
            record.reason = format!("{}: {}", reference.name(), meaning.describe(&error));
            return record;
        }
        Err(_) => {
            record.verdict = Verdict::NoReference;
            record.reason = format!("{} panicked", reference.name());
            return record;
        }
    };
    let start = Instant::now();
    let executions = subject.run_twice(backend);
    record.seconds = start.elapsed().as_secs_f64();
    let actual = match executions {
        Ok([first, second]) => {
            let options = backend.judging();
            meaning.judge(&options, &expected, &first, &mut record);
            if !record.verdict.is_bad() && bytes(&first) != bytes(&second) {
                meaning.judge_second(&options, &expected, &second, &mut record);
            }
            first
        }
        Err(error) => {
            record.verdict = verdict(error.code());
            record.reason = subject.describe(&error);
            if let Code::Crashed { death, .. } = error.code() {
                record.death = Some(death.to_string());
            }
            Vec::new()
        }
    };
    if record.verdict.is_bad() {
        record.reproduction = Some(subject.reproduction(&expected, &actual));
    }
    record
}

/// Returns the verdict on a backend without a result.
pub(crate) fn verdict(code: &Code) -> Verdict {
    match code {
        Code::Unsupported { .. } => Verdict::Unsupported,
        Code::Rejected { .. } => Verdict::Rejected,
        Code::Failed { .. } | Code::NotStarted { .. } => Verdict::Failed,
        Code::Crashed { .. } => Verdict::Crashed,
        Code::TimedOut { .. } => Verdict::TimedOut,
    }
}

/// Returns the bytes of each array.
fn bytes(results: &[Literal]) -> Vec<&[u8]> {
    let leaves = results.iter().flat_map(Literal::leaves);
    leaves.filter(|leaf| leaf.array_shape().is_some()).map(Literal::bytes).collect()
}

impl Subject {
    pub(crate) fn run(&self, backend: &mut dyn Backend) -> BackendResults {
        let grid = DeviceGrid::of(&self.module.module().config);
        backend.compile(&self.module, grid)?.execute(&self.arguments)
    }
    /// Compiles the module once and executes it twice.
    fn run_twice(&self, backend: &mut dyn Backend) -> Result<[Vec<Literal>; 2], BackendError> {
        let grid = DeviceGrid::of(&self.module.module().config);
        let mut module = backend.compile(&self.module, grid)?;
        Ok([module.execute(&self.arguments)?, module.execute(&self.arguments)?])
    }

    /// Judges the second execution, whose result is another one.
    fn judge_second(
        &self,
        options: &JudgeOptions,
        expected: &[Literal],
        actual: &[Literal],
        record: &mut Record,
    ) {
        let mut second = Record::new(&self.name, Verdict::Agrees);
        self.judge(options, expected, actual, &mut second);
        if options.deterministic && !second.verdict.is_bad() {
            second.verdict = Verdict::Unstable;
        }
        if second.verdict > record.verdict {
            *record = Record { seconds: record.seconds, ..second };
        }
        record.reason = format!("the second execution has another result\n{}", record.reason);
        let label = record.label.take().into_iter().chain(["not deterministic".to_owned()]);
        record.label = Some(label.collect::<Vec<_>>().join(", "));
    }

    fn judge(
        &self,
        options: &JudgeOptions,
        expected: &[Literal],
        actual: &[Literal],
        record: &mut Record,
    ) {
        let judgement = judge_with(options, &self.module, &self.arguments, expected, actual);
        let text = judgement.to_string();
        let Judgement { verdict, modes, measures, .. } = judgement;
        let names: Vec<&str> = modes.iter().map(|mode: &Mode| mode.name()).collect();
        record.verdict = verdict;
        record.label = (!names.is_empty()).then(|| names.join(", "));
        record.measures = Some(measures);
        record.reason = if verdict == Verdict::Agrees { String::new() } else { text };
    }

    /// Renders an error with its place in the module.
    pub(crate) fn describe(&self, error: &BackendError) -> String {
        let failure = Failure::new(&self.text, vec![error.diagnostic()]);
        failure.describe(&self.file, false)
    }

    pub(crate) fn reproduction(&self, expected: &[Literal], actual: &[Literal]) -> Reproduction {
        /// Larger arrays are elided.
        const SHOWN: usize = 64;
        /// Larger modules are omitted: the command names their file.
        const LONGEST: usize = 1 << 16;
        let show = |values: &[Literal]| values.iter().map(|value| value.summary(SHOWN)).collect();
        let module = match self.text.len() {
            0..=LONGEST => self.text.clone(),
            bytes => format!("({} of text)", quantity(bytes, "byte")),
        };
        Reproduction {
            module,
            arguments: show(&self.arguments.concat()),
            expected: show(expected),
            actual: show(actual),
            command: String::new(),
        }
    }
}
