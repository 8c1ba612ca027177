//! The run of the suite in a backend.
use super::{Suite, SuiteCase};
use crate::backend::{Backend, BackendError, Code, EngineBackend};
use crate::judge::{Judgement, judge};
use crate::results::{Record, Reproduction, Results, Verdict};
use crate::{Engine, Subject, on_large_stack};
use hlo::Literal;
use interp::DeviceGrid;
use std::time::Instant;

/// The most characters of a value in a record.
const SHOWN: usize = 2000;

impl Suite {
    /// Runs the cases in a backend and judges the results. `observe` gets each record as soon as it is there.
    pub fn run(&self, backend: &mut dyn Backend, mut observe: impl FnMut(&Record) + Send) -> Results {
        let mut results = Results::new(backend.name());
        results.shard = self.shard;
        on_large_stack(|| {
            for case in &self.cases {
                let record = case.run(backend);
                observe(&record);
                results.push(record);
                results.warnings.extend(backend.take_warnings());
            }
        });
        results
    }
}

impl SuiteCase {
    /// Runs the case in a backend and judges the result.
    pub fn run(&self, backend: &mut dyn Backend) -> Record {
        let skipped = |reason: String| self.record(Verdict::Skipped, reason);
        let subject = match self.subject() {
            Ok(subject) => subject,
            Err(reason) => return skipped(reason),
        };
        let needed = DeviceGrid::of(&subject.module.module().config).len();
        if let Some(devices) = backend.capabilities().devices.filter(|&devices| devices < needed) {
            return skipped(format!("the case needs {needed} devices, the backend has {devices}"));
        }
        let expected = match subject.run(&mut EngineBackend(Engine::Exact)) {
            Ok(expected) => expected,
            Err(error) => return skipped(format!("no expected result: {error}")),
        };
        let start = Instant::now();
        let actual = subject.run(backend);
        let seconds = start.elapsed().as_secs_f64();
        let record = match &actual {
            Ok(actual) => {
                let judgement = judge(&subject.module, &subject.arguments, &expected, actual);
                self.judged(judgement)
            }
            Err(error) => self.record(verdict(error), error.to_string()),
        };
        let bad = record.verdict.is_bad();
        let reproduction = bad.then(|| {
            let actual = actual.as_deref().unwrap_or_default();
            self.reproduction(&subject, &expected, actual)
        });
        Record { seconds, reproduction, ..record }
    }

    fn record(&self, verdict: Verdict, reason: String) -> Record {
        Record { reason, ..Record::new(self.name(), verdict) }
    }

    fn judged(&self, judgement: Judgement) -> Record {
        let modes: Vec<&str> = judgement.modes.iter().map(|mode| mode.name()).collect();
        let label = (!modes.is_empty()).then(|| modes.join(", "));
        let (wrong, elements) = (judgement.measures.wrong, judgement.measures.elements);
        let reason = match (judgement.verdict, judgement.cause) {
            (Verdict::Differs, cause) if wrong == 0 => cause.unwrap_or_default(),
            (Verdict::Differs, _) => format!("{wrong} of {elements} elements differ"),
            (_, Some(cause)) => cause,
            (_, None) => String::new(),
        };
        let measures = Some(judgement.measures);
        Record { label, measures, ..self.record(judgement.verdict, reason) }
    }

    fn reproduction(
        &self,
        subject: &Subject,
        expected: &[Literal],
        actual: &[Literal],
    ) -> Reproduction {
        let texts = |values: &[Literal]| values.iter().map(shown).collect();
        Reproduction {
            module: subject.text.clone(),
            arguments: subject.arguments.iter().flatten().map(shown).collect(),
            expected: texts(expected),
            actual: texts(actual),
            command: format!("etalon conform --suite full --case '{}' --backend ...", self.name()),
        }
    }
}

fn shown(literal: &Literal) -> String {
    let mut text = literal.to_string();
    if let Some((end, _)) = text.char_indices().nth(SHOWN) {
        text.truncate(end);
        text.push_str(" ...");
    }
    text
}

fn verdict(error: &BackendError) -> Verdict {
    match error.code() {
        Code::Unsupported { .. } => Verdict::Unsupported,
        Code::Rejected { .. } => Verdict::Rejected,
        Code::Failed { .. } | Code::NotStarted { .. } => Verdict::Failed,
        Code::Crashed { .. } => Verdict::Crashed,
        Code::TimedOut { .. } => Verdict::TimedOut,
    }
}
