//! Checks of the descriptions, and of the engines on all cases.
use super::values::allows;
use super::{FILES, Selection, Suite, SuiteCase, template, templates};
use crate::backend::{BackendError, Code, EngineBackend};
use crate::{Engine, Subject, Tolerance, compare_each, on_large_stack};
use hlo::op::Kind;
use hlo::{ElementType, Module, Opcode};
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
    assert!((1000..3000).contains(&smoke), "{smoke} of {} cases", names.len());
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

/// Returns the opcode and the element type of a name.
fn subject_of(name: &str) -> Option<(Opcode, ElementType)> {
    let mut parts = name.split('/');
    let op = Opcode::from_name(parts.next()?)?;
    Some((op, ElementType::from_name(parts.next()?)?))
}

/// Ops whose values no backend is given from outside: other devices' queues, the host, random
/// numbers, functions in C.
fn needs_more_than_arguments(op: Opcode) -> bool {
    match op.kind() {
        Kind::Transfer | Kind::Host | Kind::Random | Kind::Custom => true,
        Kind::Array
        | Kind::Value
        | Kind::Control
        | Kind::Asynchronous
        | Kind::Collective
        | Kind::Device => false,
    }
}

#[test]
fn every_opcode_has_a_case() {
    let mut found = BTreeSet::new();
    for template in templates() {
        let module = Module::parse(&template.text(&template.expand().unwrap()[0])).unwrap();
        for (_, computation) in module.computations.iter() {
            found.extend(computation.instructions.iter().map(|(_, i)| i.opcode()));
        }
    }
    found.extend(all().cases().iter().filter_map(|case| Some(subject_of(case.name())?.0)));
    let ops = Opcode::ALL.iter().filter(|&&op| !needs_more_than_arguments(op));
    let missing: Vec<&Opcode> = ops.filter(|op| !found.contains(op)).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

/// Whether a module is valid, and Etalon implements it.
fn runs(case: &SuiteCase) -> bool {
    let run = |subject: Subject| subject.run(&mut EngineBackend(Engine::Exact));
    let unsupported = |error: &BackendError| matches!(error.code(), Code::Unsupported { .. });
    case.subject().is_ok_and(|subject| !run(subject).is_err_and(|error| unsupported(&error)))
}

/// A type that the table allows, or that a module of the same op may have in the place of `{type}`,
/// has a case.
#[test]
fn every_element_type_of_an_op_has_a_case() {
    let covered: BTreeSet<(Opcode, ElementType)> =
        all().cases().iter().filter_map(|case| subject_of(case.name())).collect();
    let mut missing = BTreeSet::new();
    for &op in Opcode::ALL {
        missing.extend(ElementType::ALL.iter().filter(|ty| allows(op, **ty)).map(|&ty| (op, ty)));
    }
    for template in templates() {
        let mut bindings = template.expand().unwrap().swap_remove(0);
        let Some((op, _)) = subject_of(&template.name(&bindings)) else { continue };
        for &ty in ElementType::ALL {
            let Some(own) = bindings.iter_mut().find(|(name, _)| name == "type") else { break };
            own.1 = ty.name().to_owned();
            let name = template.name(&bindings);
            if !covered.contains(&(op, ty))
                && runs(&SuiteCase { name, bindings: bindings.clone(), template })
            {
                missing.insert((op, ty));
            }
        }
    }
    let missing: Vec<_> = missing.difference(&covered).collect();
    assert!(missing.is_empty(), "{} without a case: {missing:?}", missing.len());
}
