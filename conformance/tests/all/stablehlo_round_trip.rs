//! Modules as StableHLO and back: every file test computes the same bits, from the program, from
//! its text and from the generic form of that.
use collectives::Session;
use conformance::FileTest;
use hlo::{Literal, Verified};
use interp::{CompileOptions, RunOptions};
use stablehlo::{Chlo, ExportOptions, TextStyle};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The outcome of a case.
#[derive(Debug)]
enum RoundTrip {
    /// The case expects an error, or does not run.
    Skipped,
    Same,
    /// StableHLO cannot express it.
    Refused(String),
    Wrong(String),
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut files: Vec<PathBuf> = ["ops", "programs", "collectives", "findings"]
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "hlo"))
        .collect();
    files.sort();
    files
}

fn run(module: Verified, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>, String> {
    let session =
        Session::compile(module, &CompileOptions::default()).map_err(|e| e.to_string())?;
    let mut options = RunOptions::default();
    options.fuel = Some(1 << 22);
    session.run(arguments, &options).map(|output| output.results).map_err(|e| e.to_string())
}
/// Returns the bits of each array.
fn bits(results: &[Literal]) -> Vec<(String, Vec<u8>)> {
    let leaves = results.iter().flat_map(Literal::leaves);
    let arrays = leaves.filter_map(|leaf| {
        Some((leaf.array_shape()?.ty.to_string(), leaf.to_static().bytes().to_vec()))
    });
    arrays.collect()
}

fn round_trip(case: &conformance::Case, chlo: Chlo) -> RoundTrip {
    let Ok(Some(subject)) = case.subject() else { return RoundTrip::Skipped };
    let Ok(expected) = run((*subject.module).clone(), &subject.arguments) else {
        return RoundTrip::Skipped;
    };
    let program = match stablehlo::from_hlo(&subject.module, &ExportOptions { chlo }) {
        Ok(program) => program,
        Err(error) => return RoundTrip::Refused(error.code().to_string()),
    };
    let arguments: Vec<Vec<Literal>> = subject
        .arguments
        .iter()
        .map(|list| list.iter().flat_map(Literal::leaves).cloned().collect())
        .collect();
    let mut texts = Vec::new();
    for style in [TextStyle::Pretty, TextStyle::Generic] {
        let text = program.to_text(style);
        let again = match stablehlo::read(text.as_bytes()) {
            Ok(again) => again,
            Err(error) => {
                return RoundTrip::Wrong(format!("the text is not read: {error}\n{text}"));
            }
        };
        let pretty = again.to_text(TextStyle::Pretty);
        let module = match stablehlo::convert::module(&again) {
            Ok(module) => module,
            Err(error) => return RoundTrip::Wrong(format!("not converted: {error}\n{text}")),
        };
        let hlo = module.to_string();
        let module = match module.verify() {
            Ok(module) => module,
            Err(errors) => return RoundTrip::Wrong(format!("not valid: {errors}\n{text}\n{hlo}")),
        };
        match run(module, &arguments) {
            Ok(found) if bits(&found) == bits(&expected) => {}
            Ok(found) => {
                return RoundTrip::Wrong(format!("{found:?} is not {expected:?}\n{text}\n{hlo}"));
            }
            Err(error) => return RoundTrip::Wrong(format!("does not run: {error}\n{text}\n{hlo}")),
        }
        texts.push(pretty);
    }
    if texts[0] != texts[1] {
        return RoundTrip::Wrong(format!("two styles differ:\n{}\n{}", texts[0], texts[1]));
    }
    RoundTrip::Same
}

#[test]
fn file_tests_compute_the_same_bits() {
    let mut refused: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let (mut same, mut skipped, mut wrong) = (0, 0, Vec::new());
    let only = std::env::var("ONLY").unwrap_or_default();
    for path in files() {
        for case in
            FileTest::read(&path).unwrap().cases.iter().filter(|case| case.name.contains(&only))
        {
            match round_trip(case, Chlo::Keep) {
                RoundTrip::Skipped => skipped += 1,
                RoundTrip::Same => same += 1,
                RoundTrip::Refused(reason) => {
                    refused.entry(reason).or_default().push(case.name.clone())
                }
                RoundTrip::Wrong(reason) => wrong.push(format!("{}: {reason}", case.name)),
            }
        }
    }
    let mut refusals = String::new();
    for (reason, cases) in &refused {
        refusals += &format!("{} {reason}: {}\n", cases.len(), cases.join(" "));
    }
    eprintln!(
        "{same} same, {skipped} skipped, {} wrong, {} refused\n{refusals}",
        wrong.len(),
        refused.values().map(Vec::len).sum::<usize>()
    );
    if let Ok(path) = std::env::var("OUT") {
        std::fs::write(path, wrong.join("\n=======\n")).unwrap();
    }
    assert!(wrong.is_empty(), "{} wrong", wrong.len());
}
