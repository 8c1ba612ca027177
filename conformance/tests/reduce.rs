//! Reduction of programs with planted bugs.
#[path = "support/planted.rs"]
mod planted;
#[path = "support/programs.rs"]
mod programs;

use conformance::reduce::{Difference, Options, Reduced, file_test, reduce};
use conformance::{Engine, FileTest, Summary};
use planted::{Bug, Planted};

/// Enough for the programs; a candidate may have a loop without an end.
const FUEL: u64 = 1 << 14;

fn reduced(bug: Bug) -> Reduced {
    let replicas = if bug == Bug::ReplicaGroup { 2 } else { 1 };
    let (module, arguments) = programs::program(replicas);
    let mut backend = Planted(bug);
    let mut difference = Difference::new(Engine::Exact, &mut backend, FUEL);
    let mut options = Options { fuel: Some(FUEL), ..Options::default() };
    reduce(module, &arguments, &mut options, |module, arguments| {
        difference.interest(module, arguments)
    })
    .unwrap_or_else(|error| panic!("{bug:?}: {error}"))
}

/// Checks that a bug is reduced to a few instructions, parameters and constants not counted.
fn check(bug: Bug, most: usize) {
    let reduced = reduced(bug);
    let text = file_test(&reduced.module, &reduced.arguments, Some(FUEL));
    let count = reduced.steps.last().map_or(usize::MAX, |step| step.score.instructions);
    assert!(count <= most, "{bug:?}: {count} instructions\n{text}");
    let (_, planted) = bug.plant(reduced.module.module());
    assert!(planted > 0, "{text}");
    let test = FileTest::new("reduced.hlo".as_ref(), text).expect("a file test");
    let summary = Summary::of(&test.run(&Engine::ALL));
    assert_eq!(summary.agree, 1, "{summary}");
}

#[test]
fn a_wrong_rounding() {
    check(Bug::Rounding, 1);
}
#[test]
fn a_wrong_window_edge() {
    check(Bug::WindowEdge, 2);
}
#[test]
fn swapped_operands_in_a_reducer() {
    check(Bug::SwappedOperands, 2);
}
#[test]
fn a_lost_nan() {
    check(Bug::NanLost, 1);
}
#[test]
fn a_wrong_clamp() {
    check(Bug::Clamp, 1);
}
#[test]
fn a_lost_carry() {
    check(Bug::LostCarry, 5);
}
#[test]
fn a_wrong_replica_group() {
    check(Bug::ReplicaGroup, 2);
}
#[test]
fn a_dropped_term_of_a_dot() {
    check(Bug::DotTerm, 1);
}
#[test]
fn a_wrong_sign_of_a_shift() {
    check(Bug::ShiftSign, 1);
}
#[test]
fn a_wrong_clamp_of_a_gather() {
    check(Bug::GatherClamp, 1);
}
