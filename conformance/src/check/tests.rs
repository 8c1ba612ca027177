//! Functions that check their own values, run as tests.
use super::*;
use crate::Summary;


fn options(print: PrintLine) -> CheckOptions {
    CheckOptions { engines: Engine::ALL.to_vec(), run: RunOptions::default(), print }
}
fn reports(text: &str) -> Vec<Report> {
    let file = CheckFile::new("t.mlir", text.as_bytes());
    assert!(file.has_checks());
    let options = options(Arc::new(|_| {}));
    file.cases.iter().map(|case| case.run(&options)).collect()
}
fn summary(text: &str) -> Summary {
    Summary::of(&reports(text))
}
fn shown(text: &str) -> String {
    let reports = reports(text);
    let bad: Vec<_> = reports.iter().filter(|report| report.is_bad()).collect();
    let [bad] = bad.as_slice() else { panic!("{reports:?}") };
    format!("{}: {}", bad.name, bad.details(false))
}
