//! The memory limit of a run bounds the heap of all devices together.
#![expect(clippy::unwrap_used, reason = "a test may panic")]
#[path = "../../interp/tests/memory/counting.rs"]
mod counting;

use collectives::Session;
use hlo::{ArrayShape, ElementType, Literal, Module};
use interp::{CompileOptions, Engine, RunOptions};

/// Bytes beyond the limit: machines, queues of threads, and the blocks that a thread works on.
const BEYOND: usize = 1 << 20;

/// Ops on `x = f32[N]`, and where the plan claims more than the run takes.
const OPS: [(&str, bool); 9] = [
    ("ROOT r = f32[N] all-reduce(x), replica_groups={}, to_apply=add", true),
    ("ROOT r = f32[N] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=max", true),
    ("ROOT r = f32[M] reduce-scatter(x), replica_groups={}, dimensions={0}, to_apply=add", true),
    ("ROOT r = f32[W] all-gather(x), replica_groups={}, dimensions={0}", true),
    ("ROOT r = f32[N] all-to-all(x), replica_groups={}, dimensions={0}", true),
    ("ROOT r = f32[N] collective-permute(x), source_target_pairs={{0,1},{1,2},{2,3},{3,0}}", true),
    ("ROOT r = f32[N] collective-broadcast(x), replica_groups={{1,0,2,3}}", true),
    (
        "s = f32[N] all-reduce-start(x), replica_groups={}, to_apply=add ROOT r = f32[N] all-reduce-done(s)",
        true,
    ),
    (
        "s = (f32[N], f32[W]) all-gather-start(x), replica_groups={}, dimensions={0} ROOT r = f32[W] all-gather-done(s)",
        false,
    ),
];

fn module(op: &str) -> String {
    let text = format!(
        "HloModule m, replica_count=4
add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
max {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] maximum(a, b) }}
ENTRY e {{ p = f32[N] parameter(0) x = f32[N] negate(p) {op} }}"
    );
    text.replace("[N]", "[1000000]").replace("[M]", "[250000]").replace("[W]", "[4000000]")
}

/// The allocator counts for all threads: nothing else may run.
#[test]
fn memory_is_bounded() {
    devices_share_the_limit();
    large_groups_take_memory_for_each_member();
}

/// No list that a collective op makes has an entry for each pair of devices.
fn large_groups_take_memory_for_each_member() {
    const DEVICES: usize = 256;
    /// Machines and their parts, of each device.
    const EACH: usize = 8 << 10;
    for op in [
        "f32[256] all-to-all(x), replica_groups={}, dimensions={0}",
        "f32[256] all-reduce(x), replica_groups={}, to_apply=add",
        "f32[1] reduce-scatter(x), replica_groups={}, dimensions={0}, to_apply=add",
        "f32[65536] all-gather(x), replica_groups={}, dimensions={0}",
        "f32[256] ragged-all-to-all(x, x, i, s, t, s), replica_groups=[1,256]<=[256]",
    ] {
        let text = format!(
            "HloModule m, replica_count=256
            add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
            ENTRY e {{ x = f32[256] parameter(0) i = s32[256] iota(), iota_dimension=0
              n = s32[] constant(1) s = s32[256] broadcast(n), dimensions={{}} r = u32[] replica-id()
              k = s32[] convert(r) t = s32[256] broadcast(k), dimensions={{}} ROOT y = {op} }}"
        );
        let verified = Module::parse(&text).unwrap().verify().unwrap();
        let session = Session::compile(verified, &CompileOptions::default()).unwrap();
        let shape = ArrayShape::new(ElementType::F32, [256].as_slice());
        let inputs = [vec![Literal::zeros(shape)]];
        let before = counting::in_use();
        counting::start();
        session.run(&inputs, &RunOptions::default()).unwrap();
        let (peak, most) = (counting::peak() - before, session.planned_bytes().unwrap());
        assert!(peak <= most + DEVICES * EACH + BEYOND, "{op}: {peak} of {most} bytes");
    }
}

fn devices_share_the_limit() {
    let mut wrong = Vec::new();
    for (op, is_strict) in OPS {
        let verified = Module::parse(&module(op)).unwrap().verify().unwrap();
        for engine in Engine::ALL {
            let options = CompileOptions::default().engine(engine);
            let session = Session::compile(verified.clone(), &options).unwrap();
            let before = counting::in_use();
            let shape = ArrayShape::new(ElementType::F32, [1_000_000].as_slice());
            let inputs: Vec<_> = (0..4).map(|_| vec![Literal::zeros(shape.clone())]).collect();
            let run = |bytes| {
                counting::start();
                let output = session.run(&inputs, &RunOptions::default().max_memory(bytes));
                (counting::peak() - before, output.err().map(|error| error.number()))
            };
            let (claim, name) = (session.planned_bytes().unwrap(), engine.name());
            let (peak, error) = run(claim);
            if error.is_some() || peak > claim + BEYOND {
                wrong.push(format!("{op}: {name} takes {peak} of {claim} bytes: {error:?}"));
            }
            let (peak, error) = run(claim - 1);
            if is_strict != (error == Some("E0405")) || peak > claim + BEYOND {
                wrong.push(format!("{op}: {name} takes {peak} of {claim} - 1 bytes: {error:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}
