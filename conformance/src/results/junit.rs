//! Results as JUnit XML, which CI systems show.
use super::{Record, Results, Verdict};
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;
use std::time::Duration;

impl Results {
    /// Returns the results as JUnit XML: a test suite for each opcode, a test case for each case.
    ///
    /// Wrong and unstable results are failures, cases without a result are errors. Cases that are
    /// unsupported, undefined or not run are skipped.
    pub fn to_junit(&self) -> String {
        let mut report = quick_junit::Report::new(format!("etalon conform: {}", self.backend));
        let about = || self.about.0.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let mut suites = BTreeMap::new();
        for record in self.records() {
            let name = if record.op.is_empty() { "programs" } else { record.op.as_str() };
            let suite = suites.entry(name).or_insert_with(|| {
                let mut suite = TestSuite::new(name);
                suite.add_properties(about());
                suite
            });
            suite.add_test_case(test_case(record));
        }
        report.add_test_suites(suites.into_values());
        report.to_string().expect("strings are written to memory")
    }
}

fn test_case(record: &Record) -> TestCase {
    let non_success = |kind| {
        let mut status = TestCaseStatus::non_success(kind);
        status.set_type(record.verdict.name()).set_message(first_line(&record.reason));
        status.set_description(record.reason.as_str());
        status
    };
    let status = match record.verdict {
        Verdict::Agrees | Verdict::WithinBound => TestCaseStatus::success(),
        Verdict::Skipped | Verdict::NotTested | Verdict::Undefined | Verdict::Unsupported => {
            let mut status = TestCaseStatus::skipped();
            status.set_type(record.verdict.name()).set_message(first_line(&record.reason));
            status
        }
        Verdict::Differs | Verdict::Unstable => non_success(NonSuccessKind::Failure),
        Verdict::NoReference
        | Verdict::EtalonBug
        | Verdict::Rejected
        | Verdict::Failed
        | Verdict::TimedOut
        | Verdict::Crashed => non_success(NonSuccessKind::Error),
    };
    let mut case = TestCase::new(record.name.as_str(), status);
    case.set_time(Duration::try_from_secs_f64(record.seconds).unwrap_or_default());
    if let Some(reproduction) = &record.reproduction {
        case.set_system_out(format!("{}\n\n{}", reproduction.command, reproduction.module));
    }
    case
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn junit_has_suites_failures_and_skips() {
        let mut results = Results::new("cpu");
        let mut wrong = Record::new("abs/f32/nan", Verdict::Differs);
        wrong.reason = "1 of 2 elements differ <here>\nmore".to_owned();
        results.push(wrong);
        results.push(Record::new("abs/s8/edges", Verdict::Agrees));
        results.push(Record::new("sort/f32/ties", Verdict::Unsupported));
        results.push(Record::new("model.hlo", Verdict::Crashed));
        let xml = results.to_junit();
        for part in [
            r#"<testsuites name="etalon conform: cpu" tests="4" failures="1" errors="1""#,
            r#"<testsuite name="abs" tests="2""#,
            r#"<testsuite name="programs" tests="1""#,
            r#"<failure message="1 of 2 elements differ &lt;here&gt;" type="differs">"#,
            r#"<skipped message="" type="unsupported""#,
            r#"<error message="" type="crashed""#,
        ] {
            assert!(xml.contains(part), "{part}\n{xml}");
        }
    }
}
