//! Programs that are compiled once and run often: concurrently, with hooks, over ranks.

use crate::threads;
use collectives::Session;
use hlo::{Literal, Module};
use interp::{CompileOptions, Hooks, RunOptions};
use std::sync::{Arc, Mutex};

fn compile(text: &str) -> Session {
    let verified = Module::parse(text).unwrap().verify().unwrap();
    Session::compile(verified, &CompileOptions::default()).unwrap()
}
fn literal(text: &str) -> Literal {
    text.parse().unwrap()
}

const SUM: &str = "HloModule m, replica_count=4
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
round { c = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(c), index=0  x = s32[] get-tuple-element(c), index=1
  s = s32[] all-reduce-start(x), replica_groups={}, to_apply=add  y = s32[] all-reduce-done(s)
  one = s32[] constant(1)  j = s32[] add(i, one)  ROOT n = (s32[], s32[]) tuple(j, y) }
less { c = (s32[], s32[]) parameter(0)  i = s32[] get-tuple-element(c), index=0
  n = s32[] constant(5)  ROOT l = pred[] compare(i, n), direction=LT }
ENTRY e { x = s32[] parameter(0)  zero = s32[] constant(0)  c = (s32[], s32[]) tuple(zero, x)
  w = (s32[], s32[]) while(c), condition=less, body=round  ROOT r = s32[] get-tuple-element(w), index=1 }";

/// A program over global arrays: each of two devices has half of `x`, and both have the sum.
const UNPARTITIONED: &str = r##"HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2]>}}
add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
ENTRY e {
  x = s32[4] parameter(0)
  twice = s32[4] add(x, x)
  shard = s32[2] custom-call(twice), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={
    xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
  sum = s32[2] all-reduce(shard), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
  ROOT r = s32[2] custom-call(sum), custom_call_target="xla.sdy.LocalToGlobalShape", frontend_attributes={
    xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
}"##;

#[test]
fn eight_threads_run_one_program() {
    let session = compile(SUM);
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let session = session.clone();
            std::thread::spawn(move || {
                for round in 0..10 {
                    let first = thread * 100 + round;
                    let input = |device| vec![literal(&format!("s32[] {}", first + device))];
                    let inputs: Vec<Vec<Literal>> = (0..4).map(input).collect();
                    let output = session.run(&inputs, &RunOptions::default()).unwrap();
                    // The first sum is 4 first + 6, and each of four more iterations multiplies it
                    // by 4.
                    let expected = literal(&format!("s32[] {}", (4 * first + 6) * 256));
                    assert_eq!(output.results, vec![expected; 4]);
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

#[test]
fn eight_threads_run_one_unpartitioned_program() {
    let session = compile(UNPARTITIONED);
    assert!(session.is_unpartitioned());
    let run = |k: i32| {
        let input = literal(&format!("s32[4] {{{k}, 1, 2, 3}}"));
        let output = session.run(&[vec![input]], &RunOptions::default()).unwrap();
        // Twice the sum of both halves: 2 (k + 2), 2 (1 + 3).
        assert_eq!(output.results, [literal(&format!("s32[2] {{{}, 8}}", 2 * k + 4))]);
    };
    std::thread::scope(|scope| {
        for k in 0..8 {
            scope.spawn(move || (0..10).for_each(|round| run(k * 10 + round)));
        }
    });
}

#[test]
fn an_unpartitioned_program_runs_over_ranks() {
    let session = compile(UNPARTITIONED);
    let inputs = [vec![literal("s32[4] {5, 6, 7, 8}")]];
    for count in [1, 2, 3] {
        let all = threads::on_ranks(count, |ranks| {
            let options = RunOptions::default();
            session.run_on_ranks(&ranks, &inputs, &options, |_| Hooks::new()).unwrap().results
        });
        assert_eq!(all, vec![[literal("s32[2] {24, 28}")]; count]);
    }
}

#[test]
fn each_run_has_its_own_hooks() {
    let session = compile(SUM);
    let inputs = [vec![literal("s32[] 1")]];
    let run = |observed: bool| {
        let seen = Arc::new(Mutex::new(0));
        let count = Arc::clone(&seen);
        let hooks = move |_| match observed {
            true => {
                let count = Arc::clone(&count);
                Hooks::new().observe(move |_| *count.lock().unwrap() += 1)
            }
            false => Hooks::new(),
        };
        session.run_with(&inputs, &RunOptions::default(), hooks).unwrap();
        let total = *seen.lock().unwrap();
        drop(seen);
        total
    };
    assert_eq!(run(false), 0);
    let first = run(true);
    assert!(first > 4 * 5, "{first}");
    assert_eq!(run(true), first);
}

#[test]
fn memory_is_that_of_all_devices() {
    let session = compile(
        "HloModule m, replica_count=2
         ENTRY e { x = f32[256] parameter(0)  y = f32[256] exponential(x)  z = f32[256] negate(y)
           r = u32[] replica-id()  ROOT t = (f32[256], f32[256]) tuple(y, z) }",
    );
    let input = literal(&format!("f32[256] {{{}}}", vec!["1"; 256].join(", ")));
    // The devices share the argument.
    let inputs = [vec![input]];
    let output = session.run(&inputs, &RunOptions::default()).unwrap();
    let peak = output.peak_bytes.unwrap();
    let own = session.executable().planned_bytes() - 1024;
    assert!(own >= 2048 && peak == 1024 + 2 * own, "{peak}");
    let run = |bytes| session.run(&inputs, &RunOptions::default().max_memory(bytes));
    assert_eq!(run(peak).unwrap(), output);
    for bytes in [peak - 1, 1024, 1023, 0] {
        assert_eq!(run(bytes).unwrap_err().number(), "E0405");
    }
    let planned = session.planned_bytes().unwrap();
    let own = [inputs[0].clone(), vec![inputs[0][0].copied()]];
    let run = |bytes| session.run(&own, &RunOptions::default().max_memory(bytes));
    assert_eq!(run(planned).unwrap().results, output.results);
    assert_eq!(run(planned - 1).unwrap_err().number(), "E0405");
}
