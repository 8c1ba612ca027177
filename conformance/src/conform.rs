//! The comparison of a backend with a reference, on the same modules and arguments.
use crate::backend::{Backend, BackendError, Code};
use crate::report::{Failed, Failure};
use crate::judge::judge;
use crate::{Outcome, Report};
use hlo::{Literal, Verified};
use interp::DeviceGrid;
use std::sync::Arc;

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

/// Runs a module in two backends and compares the results.
///
/// ```
/// use conformance::backend::EngineBackend;
/// use conformance::{Engine, FileTest, Summary, conform};
/// let text = "HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] tanh(x) }\n// in: f32[2] {1, 2}\n";
/// let file = FileTest::new("tanh.hlo".as_ref(), text.to_owned())?;
/// let subject = file.cases[0].subject().unwrap().unwrap();
/// let [mut exact, mut reference] = [Engine::Exact, Engine::Reference].map(EngineBackend);
/// let report = conform(&subject, &mut reference, &mut exact);
/// assert_eq!(Summary::of([&report]).agree, 1);
/// # Ok::<(), conformance::ParseError>(())
/// ```
pub fn conform(
    subject: &Subject,
    reference: &mut dyn Backend,
    backend: &mut dyn Backend,
) -> Report {
    Report::run(&subject.name, &subject.file, || {
        let expected = subject
            .run(reference)
            .map_err(|error| Failed::new(reference.name(), subject.outcome(&error)))?;
        let actual = match subject.run(backend) {
            Ok(actual) => actual,
            Err(error) => return Ok(subject.outcome(&error)),
        };
        let judgement = judge(&subject.module, &subject.arguments, &expected, &actual);
        Ok(Outcome::Judged(Box::new(judgement)))
    })
}

impl Subject {
    pub(crate) fn run(&self, backend: &mut dyn Backend) -> Result<Vec<Literal>, BackendError> {
        let grid = DeviceGrid::of(&self.module.module().config);
        backend.compile(&self.module, grid)?.execute(&self.arguments)
    }
    fn outcome(&self, error: &BackendError) -> Outcome {
        let failure = Failure::new(&self.text, vec![error.diagnostic()]);
        match error.code() {
            Code::Unsupported { .. } => Outcome::Unsupported(failure),
            Code::Crashed { .. } => Outcome::Crashed(failure),
            Code::TimedOut { .. } => Outcome::TimedOut(failure),
            Code::Rejected { .. } | Code::Failed { .. } | Code::NotStarted { .. } => {
                Outcome::Failed(failure)
            }
        }
    }
}
