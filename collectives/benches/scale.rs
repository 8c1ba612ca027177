//! Growth of time and memory with the number of devices:
//! `cargo bench -p etalon-collectives --bench scale`.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench may panic, and prints its measurements"
)]
use collectives::Session;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use hlo::{Literal, Module};
use interp::{CompileOptions, RunOptions};
use std::hint::black_box;

const ADD: &str = "add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }";

fn program(replicas: u64, text: &str) -> Session {
    let text = format!("HloModule m, replica_count={replicas}\n{ADD}\n{text}");
    let verified = Module::parse(&text).unwrap().verify().unwrap();
    Session::compile(verified, &CompileOptions::default()).unwrap()
}

/// Returns a different array for each replica.
fn inputs(replicas: u64, size: u16) -> Vec<Vec<Literal>> {
    let array = |replica: u64| {
        let first = f32::from(u16::try_from(replica % 1000).unwrap());
        let elements: Vec<f32> = (0..size).map(|i| first + f32::from(i) / 8.0).collect();
        vec![Literal::from_slice(&[i64::from(size)], &elements)]
    };
    (0..replicas).map(array).collect()
}

/// One `all-reduce` of 4 KiB over all devices.
fn all_reduce(c: &mut Criterion) {
    let mut group = c.benchmark_group("all-reduce f32[1024]");
    group.sample_size(10);
    for replicas in [64, 256, 1024] {
        let program = program(
            replicas,
            "ENTRY e { x = f32[1024] parameter(0)
             ROOT r = f32[1024] all-reduce(x), replica_groups={}, to_apply=add }",
        );
        let inputs = inputs(replicas, 1024);
        group.throughput(Throughput::Bytes(replicas * 4096));
        group.bench_with_input(BenchmarkId::from_parameter(replicas), &inputs, |b, inputs| {
            b.iter(|| black_box(program.run(inputs, &RunOptions::default()).unwrap()));
        });
    }
    group.finish();
}

/// 64 iterations in which each device sends 64 bytes to the next.
fn ring(c: &mut Criterion) {
    let mut group = c.benchmark_group("ring of 64 steps");
    group.sample_size(10);
    for replicas in [64, 256, 1024] {
        let pairs: Vec<String> =
            (0..replicas).map(|r| format!("{{{r},{}}}", (r + 1) % replicas)).collect();
        let pairs = pairs.join(",");
        let program = program(
            replicas,
            &format!(
                "step {{ c = (s32[], f32[16]) parameter(0) i = s32[] get-tuple-element(c), index=0
                   x = f32[16] get-tuple-element(c), index=1
                   y = f32[16] collective-permute(x), source_target_pairs={{{pairs}}}
                   one = s32[] constant(1) j = s32[] add(i, one) ROOT n = (s32[], f32[16]) tuple(j, y) }}
                 more {{ c = (s32[], f32[16]) parameter(0) i = s32[] get-tuple-element(c), index=0
                   steps = s32[] constant(64) ROOT m = pred[] compare(i, steps), direction=LT }}
                 ENTRY e {{ x = f32[16] parameter(0) zero = s32[] constant(0)
                   c = (s32[], f32[16]) tuple(zero, x)
                   ROOT w = (s32[], f32[16]) while(c), condition=more, body=step }}"
            ),
        );
        let inputs = inputs(replicas, 16);
        group.throughput(Throughput::Elements(replicas * 64));
        group.bench_with_input(BenchmarkId::from_parameter(replicas), &inputs, |b, inputs| {
            b.iter(|| black_box(program.run(inputs, &RunOptions::default()).unwrap()));
        });
    }
    group.finish();
}

/// Returns the peak memory of this process in bytes, if the system reports it.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// The memory of a replica that only waits for the others, each with one number.
fn idle(_: &mut Criterion) {
    const REPLICAS: u64 = 4096;
    let run = |replicas| {
        let program = program(
            replicas,
            "ENTRY e { x = f32[] constant(1)
             ROOT r = f32[] all-reduce(x), replica_groups={}, to_apply=add }",
        );
        black_box(program.run(&[vec![]], &RunOptions::default()).unwrap());
        peak()
    };
    let (Some(before), Some(after)) = (run(1), run(REPLICAS)) else { return };
    let each = after.saturating_sub(before) / REPLICAS;
    println!("{REPLICAS} replicas that wait: {after} bytes at most, {each} bytes a replica");
}

// The peak never decreases, so this measurement comes first.
criterion_group!(benches, idle, all_reduce, ring);
criterion_main!(benches);
