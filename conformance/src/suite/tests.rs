use super::{FILES, Selection, Suite, SuiteCase, template};
use crate::backend::EngineBackend;
use crate::{Engine, Tolerance, compare_each, on_large_stack};
use rayon::prelude::*;
use std::collections::BTreeSet;

fn all() -> Suite {
    Suite::load(&Selection::full()).unwrap()
}

#[test]
fn every_description_file_is_listed_and_parses() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/suite");
    let found: BTreeSet<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    let listed: BTreeSet<String> = FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(found, listed);
    for (file, text) in FILES {
        for template in template::parse(file, text).unwrap() {
            assert!(!template.rule.is_empty(), "{file}:{}: no rule", template.line);
            assert!(!template.expand().unwrap().is_empty(), "{file}:{}: no case", template.line);
        }
    }
}

#[test]
fn names_are_unique() {
    let suite = all();
    let names: BTreeSet<&str> = suite.cases().iter().map(SuiteCase::name).collect();
    let smoke = Suite::load(&Selection::smoke()).unwrap().cases().len();
    assert_eq!(names.len(), suite.cases().len());
    assert!(smoke > 0 && smoke < names.len());
    println!("{} cases, {smoke} in the smoke set", names.len());
}

/// Runs a case in both engines.
fn disagreement(case: &SuiteCase) -> Option<String> {
    let run = || {
        let subject = case.subject()?;
        let [exact, reference] =
            [Engine::Exact, Engine::Reference].map(|e| subject.run(&mut EngineBackend(e)));
        let (exact, reference) =
            (exact.map_err(|e| e.to_string())?, reference.map_err(|e| e.to_string())?);
        let tolerance = Tolerance::of_reference(subject.module.module());
        let comparison = compare_each(&exact, &reference, &tolerance)?;
        if comparison.agrees() { Ok(()) } else { Err(format!("{comparison:?}")) }
    };
    run().err().map(|error: String| format!("{}: {error}", case.name()))
}

#[test]
fn the_engines_agree() {
    let suite = all();
    let wrong: Vec<String> =
        on_large_stack(|| suite.cases().par_iter().filter_map(disagreement).collect());
    assert!(wrong.is_empty(), "{} cases\n{}", wrong.len(), wrong.join("\n"));
}
