//! Properties of runs: memory limits, orders, late operands, slices, queues, and the places of
//! errors.

use crate::common::program::Program;
use collectives::Error;
use hlo::{Literal, Module, Verified};
use interp::{Device, Hooks, RunOptions};

fn verified(text: &str) -> Verified {
    Module::parse(text).unwrap().verify().unwrap()
}
fn results(text: &str) -> Vec<String> {
    let verified = verified(text);
    let results = Program::new(&verified).run(&[vec![]]).unwrap();
    results.iter().map(ToString::to_string).collect()
}
fn error(text: &str) -> Error {
    let verified = verified(text);
    Program::compile(&verified).and_then(|program| program.run(&[vec![]])).unwrap_err()
}

#[test]
fn slices_go_from_the_senders_offset_to_the_receivers() {
    // Device d sends element d of its input; the receiver writes it at its own offset, 1 - d.
    let text = "HloModule m, replica_count=2
ENTRY e {
  r = u32[] replica-id()  i = s32[] convert(r)  one = s32[] constant(1)  j = s32[] subtract(one, i)
  ten = s32[] constant(10)  k = s32[] multiply(i, ten)  b = s32[2] broadcast(k), dimensions={}
  n = s32[2] iota(), iota_dimension=0  x = s32[2] add(n, b)
  m = s32[] constant(-1)  y = s32[2] broadcast(m), dimensions={}
  from = (s32[]) tuple(i)  to = (s32[]) tuple(j)
  ROOT p = s32[2] collective-permute(x, y, from, to), source_target_pairs={{0,1},{1,0}}, slice_sizes={{1}}
}";
    // Device 0 gets 11, its own offset is 1; device 1 gets 0, its own offset is 0.
    assert_eq!(results(text), ["s32[2]{0} {-1, 11}", "s32[2]{0} {0, -1}"]);
}

#[test]
fn operands_of_started_computations_may_be_bound_late() {
    let text = "HloModule m, replica_count=2
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
both { x = s32[] parameter(0) y = s32[] parameter(1) z = s32[] multiply(x, y)
  ROOT r = s32[] all-reduce(z), replica_groups={}, to_apply=add }, execution_thread=\"worker\"
ENTRY e {
  r = u32[] replica-id()  i = s32[] convert(r)  three = s32[] constant(3)  x = s32[] add(i, three)
  st = ((s32[]), s32[]) async-start(x), calls=both, async_execution_thread=\"worker\"
  up = ((s32[], s32[]), s32[]) async-update(st, three)
  ROOT d = s32[] async-done(up)
}";
    // 3 * 3 + 4 * 3
    assert_eq!(results(text), ["s32[] 21", "s32[] 21"]);
}

#[test]
fn starts_of_different_iterations_are_not_confused() {
    // Only every other start is done, and each gets the values of its own iteration.
    let text = "HloModule m, replica_count=2
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
work { x = s32[] parameter(0) ROOT r = s32[] all-reduce(x), replica_groups={}, to_apply=add }
even { p = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(p), index=0
  st = ((s32[]), s32[]) async-start(i), calls=work
  ROOT d = s32[] async-done(st) }
odd { p = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(p), index=0
  st = ((s32[]), s32[]) async-start(i), calls=other
  ROOT s = s32[] get-tuple-element(p), index=1 }
other { x = s32[] parameter(0) ROOT c = s32[] copy(x) }
body { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
  two = s32[] constant(2)  b = s32[] remainder(i, two)
  x = s32[] conditional(b, s, s), branch_computations={even, odd}
  one = s32[] constant(1)  j = s32[] add(i, one)
  ROOT t = (s32[], s32[]) tuple(j, x) }
more { s = (s32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(6)  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { z = s32[] constant(0)  s = (s32[], s32[]) tuple(z, z)
  w = (s32[], s32[]) while(s), condition=more, body=body
  ROOT r = s32[] get-tuple-element(w), index=1 }";
    // The last even iteration is 4, on both replicas.
    assert_eq!(results(text), ["s32[] 8", "s32[] 8"]);
}

#[test]
fn memory_is_counted_for_each_device() {
    // A loop that reduces 4 kB a hundred times never holds more than a few such arrays.
    let text = "HloModule m, replica_count=4
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
body { s = (s32[], f32[1024]) parameter(0)
  i = s32[] get-tuple-element(s), index=0  x = f32[1024] get-tuple-element(s), index=1
  y = f32[1024] all-reduce(x), replica_groups={}, to_apply=add
  z = f32[1024] collective-permute(y), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}
  one = s32[] constant(1)  j = s32[] add(i, one)
  ROOT t = (s32[], f32[1024]) tuple(j, z) }
more { s = (s32[], f32[1024]) parameter(0) i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(100)  ROOT c = pred[] compare(i, n), direction=LT }
ENTRY e { z = s32[] constant(0)  f = f32[] constant(0)  x = f32[1024] broadcast(f), dimensions={}
  s = (s32[], f32[1024]) tuple(z, x)
  w = (s32[], f32[1024]) while(s), condition=more, body=body
  ROOT r = s32[] get-tuple-element(w), index=0 }";
    let verified = verified(text);
    let run = |bytes| {
        Program::new(&verified).with_options(RunOptions::default().max_memory(bytes)).run(&[vec![]])
    };
    let enough = run(4 * 5 * 4096).unwrap();
    assert!(enough.iter().all(|r| r.to_string() == "s32[] 100"));
    let error = run(4 * 6000).unwrap_err();
    assert_eq!(error.number(), "E0405", "{error}");
}

#[test]
fn a_seed_permutes_orders_and_rounds_each_sum() {
    // 1 + 2^24 - 2^24: the result depends on the order of the additions, unless sums are rounded
    // once.
    let text = "HloModule m, replica_count=3
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[] parameter(0) ROOT r = f32[] all-reduce(x), replica_groups={}, to_apply=add }";
    let verified = verified(text);
    let inputs: Vec<Vec<Literal>> =
        ["f32[] 1", "f32[] 16777216", "f32[] -16777216"].map(|x| vec![x.parse().unwrap()]).into();
    let program = Program::new(&verified);
    assert_eq!(program.run(&inputs).unwrap()[0].to_string(), "f32[] 1");
    let seeded = |seed| {
        let results = program.clone().with_seed(seed).run(&inputs).unwrap();
        assert!(results.windows(2).all(|two| two[0] == two[1]));
        results[0].to_string()
    };
    let all: std::collections::BTreeSet<String> = (0..32).map(seeded).collect();
    assert_eq!(all.into_iter().collect::<Vec<_>>(), ["f32[] 0", "f32[] 1"]);
    assert_eq!(seeded(7), seeded(7));
}

#[test]
fn devices_have_separate_host_queues() {
    let text = "HloModule m, replica_count=2
ENTRY e { t = token[] after-all()
  a = (s32[], token[]) infeed(t)  x = s32[] get-tuple-element(a), index=0
  u = token[] get-tuple-element(a), index=1
  ROOT o = token[] outfeed(x, u), outfeed_shape=s32[] }";
    let verified = verified(text);
    let (out, seen) = crossbeam_channel::unbounded();
    let program = Program::new(&verified).with_hooks(move |device: Device| {
        let (fill, queue) = crossbeam_channel::unbounded();
        let value: Literal = format!("s32[] {}", 5 + device.replica).parse().unwrap();
        fill.send(value).unwrap();
        Hooks::new().infeed(queue).outfeed(out.clone())
    });
    program.run(&[vec![]]).unwrap();
    let mut seen: Vec<String> = seen.try_iter().map(|value| value.to_string()).collect();
    seen.sort();
    assert_eq!(seen, ["s32[] 5", "s32[] 6"]);
}

/// Returns a module in which two devices run different computations, `t` and `f`, that use
/// channel 1.
fn two(t: &str, f: &str) -> String {
    format!(
        "HloModule m, num_partitions=2
add {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }}
sum {{ c = s32[] parameter(0) d = s32[] parameter(1) ROOT e = s32[] add(c, d) }}
mul {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] multiply(a, b) }}
t {{ x = s32[2,2] parameter(0) {t} }}
f {{ x = s32[2,2] parameter(0) {f} }}
ENTRY e {{ x = s32[2,2] constant({{{{1,2}},{{3,4}}}}) p = u32[] partition-id() i = s32[] convert(p)
  ROOT c = s32[2,2] conditional(i, x, x), branch_computations={{t, f}} }}"
    )
}

#[test]
fn devices_on_one_channel_must_execute_the_same_op() {
    let reduce = |name: &str| {
        format!(
            "ROOT r = s32[2,2] all-reduce(x), channel_id=1, replica_groups={{}}, to_apply={name}"
        )
    };
    // A copy of a computation is the same computation.
    assert_eq!(results(&two(&reduce("add"), &reduce("sum"))).len(), 2);
    let all_to_all = |dim: i64| {
        format!(
            "ROOT r = s32[2,2] all-to-all(x), channel_id=1, replica_groups={{}}, dimensions={{{dim}}}"
        )
    };
    let permuted =
        "ROOT r = s32[2,2] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,0}}";
    let narrow = "y = s32[2,1] slice(x), slice={[0:2],[0:1]}
        z = s32[2,1] collective-permute(y), channel_id=1, source_target_pairs={{0,1},{1,0}}
        w = s32[2,2] concatenate(z, z), dimensions={1} ROOT r = s32[2,2] copy(w)";
    for (t, f) in [
        (reduce("add"), reduce("mul")),
        (all_to_all(0), all_to_all(1)),
        (reduce("add"), all_to_all(0)),
        (permuted.to_owned(), narrow.to_owned()),
        (narrow.to_owned(), permuted.to_owned()),
    ] {
        let error = error(&two(&t, &f));
        assert_eq!(error.number(), "E0503", "{t} and {f}: {error}");
        assert!(error.instruction().is_some());
    }
}

#[test]
fn started_collectives_must_be_joined_by_all() {
    let error = error(&two(
        "r = s32[2,2] all-reduce-start(x), channel_id=1, replica_groups={}, to_apply=add
         ROOT y = s32[2,2] copy(x)",
        "ROOT y = s32[2,2] copy(x)",
    ));
    assert_eq!(error.number(), "E0504");
    assert_eq!(error.instruction(), Some("t/r"));
    assert_eq!(
        error.code().to_string(),
        "device 0 started a collective op that device 1 did not join, and all devices have finished"
    );
}

#[test]
fn groups_are_matched_by_their_members() {
    // Replicas 0 and 1 used channel 1 in another group before.
    let text = "HloModule m, replica_count=4
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
t { x = s32[] parameter(0) ROOT r = s32[] all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3}}, to_apply=add }
f { x = s32[] parameter(0) ROOT r = s32[] copy(x) }
ENTRY e { x = s32[] constant(5) r = u32[] replica-id() i = s32[] convert(r) two = s32[] constant(2)
  h = s32[] divide(i, two)  c = s32[] conditional(h, x, x), branch_computations={t, f}
  ROOT s = s32[] all-reduce(c), channel_id=1, replica_groups={{0,2},{1,3}}, to_apply=add }";
    assert_eq!(results(text), ["s32[] 15"; 4]);
}

#[test]
fn a_channel_without_pairs_connects_two_devices_at_most() {
    let text = |receivers: &str| {
        format!(
            "HloModule m, replica_count=4
to {{ x = s32[] parameter(0) t = token[] after-all()
  s = (s32[], u32[], token[]) send(x, t), channel_id=1  d = token[] send-done(s), channel_id=1
  ROOT y = s32[] copy(x) }}
from {{ x = s32[] parameter(0) t = token[] after-all()
  v = (s32[], u32[], token[]) recv(t), channel_id=1  w = (s32[], token[]) recv-done(v), channel_id=1
  ROOT y = s32[] get-tuple-element(w), index=0 }}
rest {{ x = s32[] parameter(0) ROOT y = s32[] copy(x) }}
ENTRY e {{ r = u32[] replica-id()  i = s32[] convert(r)  ten = s32[] constant(10)  x = s32[] multiply(i, ten)
  ROOT c = s32[] conditional(i, x, x, x, x), branch_computations={{{receivers}}} }}"
        )
    };
    assert_eq!(
        results(&text("rest, to, from, rest")),
        ["s32[] 0", "s32[] 10", "s32[] 10", "s32[] 30"]
    );
    for branches in ["to, to, from, from", "to, from, from, rest"] {
        let verified = verified(&text(branches));
        let program = Program::new(&verified);
        let orders =
            (0..20).map(|seed| program.clone().with_seed(seed).run(&[vec![]]).unwrap_err());
        for error in orders.chain([program.run(&[vec![]]).unwrap_err()]) {
            assert!(["E0501", "E0503"].contains(&error.number()), "{error}");
        }
    }
}

#[test]
fn more_devices_than_memory_are_rejected() {
    let error = error(
        "HloModule m, replica_count=2000000000
ENTRY e { ROOT x = s32[4] iota(), iota_dimension=0 }",
    );
    assert_eq!(error.number(), "E0507");
}

#[test]
fn a_broadcast_leaves_others_zeros() {
    let text = "HloModule m, replica_count=4
ENTRY e { r = u32[] replica-id() ROOT y = u32[] collective-broadcast(r), replica_groups={{2,1}} }";
    assert_eq!(results(text), ["u32[] 0", "u32[] 2", "u32[] 2", "u32[] 0"]);
}

#[test]
fn starts_of_one_computation_are_distinguished() {
    let text = |second: &str, channel: &str| {
        format!(
            "HloModule m, replica_count=2
add {{ a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }}
w {{ x = s32[] parameter(0) y = s32[] negate(x)
  ROOT r = s32[] all-reduce(y), replica_groups={{}}, to_apply=add{channel} }}, execution_thread=\"worker\"
v {{ x = s32[] parameter(0) y = s32[] negate(x)
  ROOT r = s32[] all-reduce(y), replica_groups={{}}, to_apply=add{channel} }}, execution_thread=\"worker\"
ENTRY e {{ r = u32[] replica-id() x = s32[] convert(r) h = s32[] constant(100) y = s32[] add(x, h)
  a = ((s32[]), s32[]) async-start(x), calls=w, async_execution_thread=\"worker\"
  b = ((s32[]), s32[]) async-start(y), calls={second}, async_execution_thread=\"worker\"
  p = s32[] async-done(a)  q = s32[] async-done(b)
  ROOT t = (s32[], s32[]) tuple(p, q) }}"
        )
    };
    let plain = verified(&text("w", ""));
    let shared = verified(&text("v", ", channel_id=1"));
    for seed in 0..20 {
        // -(0 + 1) and -(100 + 101), in either order of the devices.
        let results = Program::new(&plain).with_seed(seed).run(&[vec![]]).unwrap();
        for result in results {
            let parts = result.elements().unwrap();
            assert_eq!([parts[0].to_string(), parts[1].to_string()], ["s32[] -1", "s32[] -201"]);
        }
        // On one channel they cannot be distinguished.
        let error = Program::new(&shared).with_seed(seed).run(&[vec![]]).unwrap_err();
        assert_eq!(error.number(), "E0503", "{error}");
    }
}

#[test]
fn permutes_on_one_channel_have_the_same_pairs() {
    let text = "HloModule m, num_partitions=3
t { x = u32[] parameter(0) ROOT r = u32[] collective-permute(x), channel_id=1, source_target_pairs={{0,1}} }
f { x = u32[] parameter(0) ROOT r = u32[] collective-permute(x), channel_id=1, source_target_pairs={{2,1}} }
ENTRY e { r = u32[] partition-id() i = s32[] convert(r)
  ROOT c = u32[] conditional(i, r, r), branch_computations={t, f} }";
    let verified = verified(text);
    for seed in 0..20 {
        let error = Program::new(&verified).with_seed(seed).run(&[vec![]]).unwrap_err();
        // If 1 and 2 have exchanged values before 0 arrives, its value is not received.
        assert!(["E0503", "E0504"].contains(&error.number()), "{error}");
    }
}

#[test]
fn groups_on_one_channel_are_the_same() {
    let error = error(&two(
        "ROOT r = s32[2,2] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add",
        "ROOT r = s32[2,2] all-reduce(x), channel_id=1, replica_groups={{1,0}}, use_global_device_ids=true, to_apply=add",
    ));
    assert_eq!(error.number(), "E0503");
    assert!(error.to_string().contains("channel 1: device 0 waits in the group of"), "{error}");
}
