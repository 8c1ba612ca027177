//! The programs of `tests/collectives/deadlock`: each deadlocks, with the report in the `.stderr`
//! file next to it.
//!
//! A first line `// error: E0503` states an error other than a deadlock; `// fuel: N` limits the
//! steps of a device. `ETALON_BLESS=1` rewrites the reports: review the changes.

use crate::common::program::Program;
use hlo::Module;
use hlo::diag::{Source, render};
use std::path::{Path, PathBuf};

/// Returns the text after a prefix of a line.
fn said<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(word)).map(str::trim)
}

/// Returns the number of the error a program ends with, and its report.
fn report(name: &str, text: &str) -> (&'static str, String) {
    let module = Module::parse(text).unwrap().verify().unwrap();
    let mut options = interp::RunOptions::default();
    if let Some(fuel) = said(text, "// fuel:") {
        options = options.fuel(fuel.parse().unwrap());
    }
    match Program::new(&module).with_options(options).run(&[vec![]]) {
        Ok(_) => panic!("{name} ends"),
        Err(error) => {
            (error.number(), render(&error.diagnostic(), Some(Source { name, text }), false))
        }
    }
}

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/collectives/deadlock");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "hlo")).collect();
    paths.sort();
    paths
}

#[test]
fn reports_list_the_waiting_devices() {
    let mut wrong = Vec::new();
    let paths = programs();
    assert!(paths.len() > 10, "the programs are not there");
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (number, found) = report(&name, &text);
        assert_eq!(number, said(&text, "// error:").unwrap_or("E0501"), "{found}");
        // The report stays short for any number of devices.
        assert!(found.lines().count() <= 40, "{found}");
        let beside = path.with_extension("stderr");
        if std::env::var_os("ETALON_BLESS").is_some_and(|v| v == "1") {
            std::fs::write(&beside, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&beside).unwrap_or_default();
        if found != expected {
            wrong.push(format!("{name}: found\n{found}\nexpected\n{expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
