//! The comparison of Etalon's engines: the bits must be equal, but for ops that the engines compute
//! in different orders.
use crate::backend::Backend;
use crate::conform::verdict;
use crate::results::{Record, Verdict};
use crate::{Outcome, Report, Subject, Tolerance, compare_each};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Runs a module in two engines and compares the results.
pub(super) fn conform(
    subject: &Subject,
    reference: &mut dyn Backend,
    backend: &mut dyn Backend,
) -> Record {
    let expected = match run(subject, reference) {
        Ok(expected) => expected,
        Err((Verdict::Unsupported, reason)) => return of(subject, Verdict::Unsupported, reason),
        Err((_, reason)) => return of(subject, Verdict::NoReference, reason),
    };
    let actual = match run(subject, backend) {
        Ok(actual) => actual,
        Err((verdict, reason)) => return of(subject, verdict, reason),
    };
    let tolerance = Tolerance::between_engines(subject.module.module());
    match compare_each(&actual, &expected, &tolerance) {
        Ok(comparison) if comparison.agrees() => of(subject, Verdict::Agrees, String::new()),
        Ok(comparison) => {
            let (name, file) = (subject.name.clone(), subject.file.clone());
            let (outcome, time) = (Outcome::Differ(comparison), Duration::ZERO);
            let report = Report { name, file, outcome, treatment: String::new(), time };
            of(subject, Verdict::Differs, report.details(false))
        }
        Err(reason) => of(subject, Verdict::Differs, reason),
    }
}

fn of(subject: &Subject, verdict: Verdict, reason: String) -> Record {
    Record { reason, ..Record::new(&subject.name, verdict) }
}

/// Returns the results of an engine, or why there are none.
fn run(
    subject: &Subject,
    engine: &mut dyn Backend,
) -> Result<Vec<hlo::Literal>, (Verdict, String)> {
    match catch_unwind(AssertUnwindSafe(|| subject.run(engine))) {
        Ok(result) => result.map_err(|error| (verdict(error.code()), subject.describe(&error))),
        Err(_) => Err((Verdict::Crashed, "the engine panicked".to_owned())),
    }
}
