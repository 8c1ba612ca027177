//! Steps as JUnit XML, which CI systems show.
use super::Comparison;
use super::report::{Class, ModuleReport, Step};
use crate::exact::Proof;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::time::Duration;

/// Returns reports as JUnit XML: a test suite for each module, a test case for each step, and a
/// test suite for each module of two dumps, with a test case for its last states.
///
/// Steps that are wrong are failures, and so are modules that are no longer the same. Those of
/// which nothing is known are skipped.
pub fn to_junit(reports: &[ModuleReport], comparisons: &[Comparison], strict: bool) -> String {
    let mut junit = Report::new("etalon passes");
    for report in reports {
        let mut suite = TestSuite::new(report.module.as_str());
        suite.add_test_cases(report.all().map(|step| test_case(step, strict)));
        junit.add_test_suite(suite);
    }
    for comparison in comparisons {
        let Comparison { module, dumps: [old, new], last, .. } = comparison;
        let mut suite = TestSuite::new(format!("{module}: {new} against {old}"));
        let mut case = test_case(last, strict);
        if comparison.other_programs {
            case.status = TestCaseStatus::skipped();
        }
        case.set_system_out(comparison.to_string());
        suite.add_test_case(case);
        junit.add_test_suite(suite);
    }
    junit.to_string().expect("strings are written to memory")
}

fn test_case(step: &Step, strict: bool) -> TestCase {
    let status = match step.class {
        class if class.is_wrong(strict) => TestCaseStatus::non_success(NonSuccessKind::Failure),
        Class::EtalonBug => TestCaseStatus::non_success(NonSuccessKind::Error),
        Class::NotTested | Class::Undefined if matches!(step.proof, Some(Proof::Proved { .. })) => {
            TestCaseStatus::success()
        }
        Class::NotTested | Class::Undefined | Class::NotRun => TestCaseStatus::skipped(),
        Class::Unchanged
        | Class::SameBits
        | Class::WithinBound
        | Class::Algebra
        | Class::Invalid
        | Class::Differs => TestCaseStatus::success(),
    };
    let status = described(status, step);
    let mut case = TestCase::new(format!("{} {}", step.number, step.pass).trim(), status);
    if step.class > Class::SameBits {
        case.set_system_out(format!("{}: {}", step.class.name(), step.remark()));
    }
    case.set_time(Duration::try_from_secs_f64(step.seconds).unwrap_or_default());
    case
}

fn described(mut status: TestCaseStatus, step: &Step) -> TestCaseStatus {
    if !matches!(status, TestCaseStatus::Success { .. }) {
        status.set_type(step.class.name()).set_message(step.remark());
    }
    status
}
