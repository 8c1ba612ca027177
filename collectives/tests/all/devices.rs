//! Programs on several devices, and reports of deadlocks.

use crate::common::program::Program;
use collectives::{Code, Error};
use hlo::{Literal, Module};

const ADD: &str = "add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }";

/// Runs `body` as the entry computation; the results as text.
fn run(grid: (usize, usize), body: &str, inputs: &[&[&str]]) -> Result<Vec<String>, Error> {
    let (replicas, partitions) = grid;
    let text = format!(
        "HloModule m, replica_count={replicas}, num_partitions={partitions}\n{ADD}\n{body}"
    );
    let verified = match Module::parse(&text).unwrap().verify() {
        Ok(verified) => verified,
        Err(errors) => panic!("{errors}\n{text}"),
    };
    let literal = |text: &&str| text.parse::<Literal>().unwrap();
    let inputs: Vec<Vec<Literal>> =
        inputs.iter().map(|arguments| arguments.iter().map(literal).collect()).collect();
    let results = Program::new(&verified).run(&inputs)?;
    Ok(results.iter().map(Literal::to_string).collect())
}

#[test]
fn every_device_has_the_sum() {
    let body = "ENTRY e { x = s32[2] parameter(0)
        ROOT r = s32[2] all-reduce(x), replica_groups={{0,2},{1}}, to_apply=add }";
    let inputs: [&[&str]; 3] = [&["s32[2] {1, 2}"], &["s32[2] {10, 20}"], &["s32[2] {100, 200}"]];
    let results = run((3, 1), body, &inputs).unwrap();
    assert_eq!(results, ["s32[2]{0} {101, 202}", "s32[2]{0} {10, 20}", "s32[2]{0} {101, 202}"]);
}

#[test]
fn blocks_are_in_group_order() {
    let body = "ENTRY e { p = u32[] partition-id() x = u32[1] reshape(p)
        ROOT r = u32[3] all-gather(x), channel_id=1, replica_groups={{2,0,1}}, dimensions={0},
        use_global_device_ids=true }";
    let results = run((1, 3), body, &[&[]]).unwrap();
    assert_eq!(results, vec!["u32[3]{0} {2, 0, 1}"; 3]);
    let body = "ENTRY e { x = s32[4] parameter(0)
        ROOT r = s32[2] reduce-scatter(x), replica_groups={{1,0}}, dimensions={0}, to_apply=add }";
    let inputs: [&[&str]; 2] = [&["s32[4] {1, 2, 3, 4}"], &["s32[4] {10, 20, 30, 40}"]];
    let results = run((2, 1), body, &inputs).unwrap();
    assert_eq!(results, ["s32[2]{0} {33, 44}", "s32[2]{0} {11, 22}"]);
    let body = "ENTRY e { x = s32[4] parameter(0)
        ROOT r = s32[4] all-to-all(x), replica_groups={{0,1}}, dimensions={0} }";
    let results = run((2, 1), body, &inputs).unwrap();
    assert_eq!(results, ["s32[4]{0} {1, 2, 10, 20}", "s32[4]{0} {3, 4, 30, 40}"]);
}

#[test]
fn a_device_without_a_source_gets_zeros() {
    let body = "ENTRY e { r = u32[] replica-id() one = u32[] constant(1) x = u32[] add(r, one)
        ROOT y = u32[] collective-permute(x), source_target_pairs={{0,1},{1,2}} }";
    assert_eq!(run((3, 1), body, &[&[]]).unwrap(), ["u32[] 0", "u32[] 1", "u32[] 2"]);
    let body = "ENTRY e { r = u32[] replica-id()
        ROOT y = u32[] collective-broadcast(r), replica_groups={{2,0},{1,3}} }";
    assert_eq!(run((4, 1), body, &[&[]]).unwrap(), ["u32[] 2", "u32[] 1", "u32[] 2", "u32[] 1"]);
}

#[test]
fn starts_do_not_wait() {
    // Each device starts both and finishes them in a different order.
    let body = "ENTRY e { x = s32[] parameter(0)
        a = s32[] all-reduce-start(x), replica_groups={}, to_apply=add
        p = (s32[], s32[]) collective-permute-start(x), source_target_pairs={{0,1},{1,0}}
        q = s32[] collective-permute-done(p)
        b = s32[] all-reduce-done(a)
        ROOT t = (s32[], s32[]) tuple(b, q) }";
    let results = run((2, 1), body, &[&["s32[] 3"], &["s32[] 4"]]).unwrap();
    assert_eq!(results, ["( s32[] 7, s32[] 4 )", "( s32[] 7, s32[] 3 )"]);
}

/// Replica 0 runs `n + 1` iterations of the loop, the others `n`.
const LOOP: &str = "
body { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
  x = s32[] get-tuple-element(s), index=1
  sum = s32[] all-reduce(x), replica_groups={}, to_apply=add
  one = s32[] constant(1) j = s32[] subtract(i, one) ROOT t = (s32[], s32[]) tuple(j, sum) }
more { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
  zero = s32[] constant(0) ROOT c = pred[] compare(i, zero), direction=GT }
ENTRY e { n = s32[] parameter(0) x = s32[] constant(1) s = (s32[], s32[]) tuple(n, x)
  ROOT w = (s32[], s32[]) while(s), condition=more, body=body }";

#[test]
fn a_deadlock_is_reported() {
    let error = run((3, 1), LOOP, &[&["s32[] 3"], &["s32[] 2"], &["s32[] 2"]]).unwrap_err();
    assert!(matches!(error.code(), Code::Deadlock { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "error[E0501]: deadlock: every running device waits for another one\n  \
         device 0 waits at `body/sum` for devices 1 and 2, which have finished, in iteration 3 of `w`\n  devices 1 and 2 have finished"
    );
}
