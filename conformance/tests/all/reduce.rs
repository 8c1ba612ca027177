//! Reduction of programs with planted bugs.
//! `cargo test -p etalon-conformance --test all reduce -- --nocapture` shows a line for each.
use super::planted::{Bug, Planted};
use super::programs;
use conformance::backend::{
    Backend, BackendError, Backends, Capabilities, EngineBackend, LoadedModule,
};
use conformance::pool::Queue;
use conformance::reduce::{
    Candidate, Difference, Interest, Options, Reduced, file_test, reduce, repeated, repetitions,
};
use conformance::{Engine, FileTest, Summary};
use hlo::{Literal, Module, Verified};
use interp::DeviceGrid;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Enough for the programs; a candidate may have a loop without an end.
const FUEL: u64 = 1 << 14;

/// Returns the queue of a difference of backends, which shows in one of several runs.
fn queue(backends: &Backends, times: u32) -> Queue<'_, Candidate, Interest> {
    let difference = Difference::new(Engine::Exact, FUEL);
    backends.queue(1, move |backend, candidate: Candidate| {
        repeated(times, || difference.interest(backend, &candidate))
    })
}

fn reduced(bug: Bug, jobs: usize) -> Reduced {
    let replicas = if bug == Bug::ReplicaGroup { 2 } else { 1 };
    let (module, arguments) = programs::program(replicas);
    let backends = Planted(bug).backends(jobs);
    let mut options = Options { fuel: Some(FUEL), ..Options::default() };
    let reduced = reduce(module, &arguments, &mut options, queue(&backends, 1));
    reduced.unwrap_or_else(|error| panic!("{bug:?}: {error}"))
}

/// Checks that a bug is reduced to a few instructions, parameters and constants not counted.
fn check(bug: Bug, most: usize) {
    let start = Instant::now();
    let reduced = reduced(bug, 1);
    let seconds = start.elapsed().as_secs_f64();
    let text = file_test(&reduced.module, &reduced.arguments, Some(FUEL));
    let count = reduced.steps.last().map_or(usize::MAX, |step| step.score.instructions);
    let (before, tried) = (instructions(&programs::program(1).0), reduced.tried);
    eprintln!("{bug:?}: {before} instructions became {count}, {tried} candidates, {seconds:.1} s");
    assert!(count <= most, "{bug:?}: {count} instructions\n{text}");
    let (_, planted) = bug.plant(reduced.module.module());
    assert!(planted > 0, "{text}");
    let test = FileTest::new("reduced.hlo".as_ref(), text).expect("a file test");
    let summary = Summary::of(&test.run(&Engine::ALL));
    assert_eq!(summary.agree, 1, "{summary}");
}

fn instructions(module: &Verified) -> usize {
    module.module().computations.iter().map(|(_, c)| c.instructions.len()).sum()
}

/// A backend that has the bug in one of three executions.
struct Flaky {
    planted: Planted,
    right: EngineBackend,
    executions: Arc<AtomicUsize>,
}

impl Backend for Flaky {
    fn name(&self) -> String {
        "flaky".to_owned()
    }
    fn capabilities(&self) -> Capabilities {
        self.right.capabilities()
    }
    fn compile(
        &mut self,
        module: &Arc<Verified>,
        grid: DeviceGrid,
    ) -> Result<Box<dyn LoadedModule>, BackendError> {
        let modules = [self.planted.compile(module, grid)?, self.right.compile(module, grid)?];
        Ok(Box::new(FlakyModule { modules, executions: Arc::clone(&self.executions) }))
    }
}

struct FlakyModule {
    modules: [Box<dyn LoadedModule>; 2],
    executions: Arc<AtomicUsize>,
}

impl LoadedModule for FlakyModule {
    fn execute(&mut self, arguments: &[Vec<Literal>]) -> Result<Vec<Literal>, BackendError> {
        // Numbers without a pattern, the same in each run of the test.
        let n = self.executions.fetch_add(1, Ordering::Relaxed);
        let is_right = n.wrapping_mul(0x9e37_79b9) >> 7 & 0xff > 85;
        self.modules[usize::from(is_right)].execute(arguments)
    }
}

#[test]
fn a_bug_in_a_third_of_the_executions() {
    let text = "HloModule m
ENTRY e { x = f32[4] parameter(0) s = f32[4] sine(x) c = f32[4] cosine(s) p = f32[4] multiply(c, s)
  q = f32[4] add(p, x) t = f32[4] tanh(q) ROOT r = (f32[4], f32[4]) tuple(t, c) }";
    let module = Module::parse(text).expect("a module").verify().expect("a valid module");
    let arguments = [vec![Literal::from_slice(&[4], &[0.1f32, 0.7, 1.3, -2.9])]];
    let backend = Flaky {
        planted: Planted(Bug::Rounding),
        right: EngineBackend(Engine::Exact),
        executions: Arc::default(),
    };
    let backends = Backends::one(Box::new(backend));
    let mut options = Options { fuel: Some(FUEL), ..Options::default() };
    let queue = queue(&backends, repetitions(6, 20));
    let reduced = reduce(module, &arguments, &mut options, queue);
    let reduced = reduced.expect("the difference shows in one of these runs");
    let found = reduced.steps.last().map(|step| step.score.instructions);
    assert_eq!(found, Some(1), "{}", reduced.module.module());
    assert!(reduced.module.module().to_string().contains(" multiply("));
}

/// What several backends find ahead changes nothing.
#[test]
fn the_result_does_not_depend_on_the_number_of_backends() {
    for bug in [Bug::Clamp, Bug::LostCarry, Bug::ReplicaGroup] {
        let found = |jobs| {
            let Reduced { module, arguments, tried, steps, others, is_cut_short } =
                reduced(bug, jobs);
            let others: Vec<_> = others
                .into_iter()
                .map(|one| (one.kind, one.module.module().to_string(), one.arguments))
                .collect();
            (module.module().to_string(), arguments, tried, steps, others, is_cut_short)
        };
        assert_eq!(found(1), found(3), "{bug:?}");
    }
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
    check(Bug::SwappedOperands, 3);
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

/// Without its comparator, or without `is_stable`, a sort is another one.
#[test]
fn a_sort_keeps_its_comparator_and_is_stable() {
    let text = "HloModule m
        less { a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)
          ROOT l = pred[] compare(a, b), direction=LT }
        ENTRY e { x = f32[2,4] parameter(0) y = f32[2,4] negate(x) i = s32[2,4] iota(), iota_dimension=1
          ROOT s = (f32[2,4], s32[2,4]) sort(y, i), dimensions={1}, is_stable=true, to_apply=less }";
    let module = Module::parse(text).unwrap().verify().unwrap();
    let x = Literal::from_slice(&[2, 4], &[0.0f32; 8]);
    let queue = Queue::inline(|candidate: Candidate| {
        Interest::from(candidate.module.module().to_string().contains("sort("))
    });
    let reduced = reduce(module, &[vec![x]], &mut Options::default(), queue).unwrap();
    let text = reduced.module.module().to_string();
    assert!(text.contains("is_stable=true") && text.contains("to_apply="), "{text}");
}

/// What the comparator of a sort does not read goes with its operand.
#[test]
fn a_sort_loses_operands_that_it_does_not_compare() {
    let text = "HloModule m
        less { i = s32[] parameter(0) j = s32[] parameter(1) a = f32[] parameter(2) b = f32[] parameter(3)
          c = s8[] parameter(4) d = s8[] parameter(5) ROOT l = pred[] compare(a, b), direction=LT }
        ENTRY e { x = f32[4] parameter(0) i = s32[4] iota(), iota_dimension=0 z = s8[4] parameter(1)
          s = (s32[4], f32[4], s8[4]) sort(i, x, z), dimensions={0}, is_stable=true, to_apply=less
          k = s32[4] get-tuple-element(s), index=0 y = f32[4] get-tuple-element(s), index=1
          ROOT r = (s32[4], f32[4]) tuple(k, y) }";
    let module = Module::parse(text).unwrap().verify().unwrap();
    let arguments = vec![vec![
        Literal::from_slice(&[4], &[2.0f32, 1.0, 0.0, 3.0]),
        Literal::from_slice(&[4], &[1i8, 2, 3, 4]),
    ]];
    // A sort of floats.
    let queue = Queue::inline(|candidate: Candidate| {
        let text = candidate.module.module().to_string();
        Interest::from(text.contains("sort(") && text.contains("f32[] parameter"))
    });
    let reduced = reduce(module, &arguments, &mut Options::default(), queue).unwrap();
    let text = reduced.module.module().to_string();
    let (_, sort) = text.split_once(" sort(").unwrap();
    assert!(!sort.split(')').next().unwrap().contains(','), "{text}");
    assert!(!text.contains("s8["), "{text}");
}

/// The element that shows a difference may be the last one, or one in the middle.
#[test]
fn sizes_are_cut_from_both_ends() {
    for at in [0, 6, 11] {
        let text = "HloModule m\nENTRY e { x = s32[12] parameter(0) ROOT r = s32[12] negate(x) }";
        let module = Module::parse(text).unwrap().verify().unwrap();
        let mut x = [3i32; 12];
        x[at] = 77;
        let queue = Queue::inline(|candidate: Candidate| {
            let arguments = candidate.arguments.concat();
            let has_it = arguments.iter().any(|value| value.to_string().contains("77"));
            Interest::from(has_it && candidate.module.module().to_string().contains("negate("))
        });
        let arguments = vec![vec![Literal::from_slice(&[12], &x)]];
        let reduced = reduce(module, &arguments, &mut Options::default(), queue).unwrap();
        let result = reduced.module.module().entry().result_shape().to_string();
        assert_eq!(result, "s32[]", "{at}");
    }
}
