//! The speed of parsing, verifying and printing.
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hlo::Module;
use std::fmt::Write as _;
use std::hint::black_box;

/// Returns a module of many layers, as a frontend emits it.
fn layers(count: usize) -> String {
    let mut text = String::from(
        "HloModule layers, entry_computation_layout={(f32[128,768]{1,0}, f32[768,768]{1,0})->f32[128,768]{1,0}}\n\nadd.1 {\n  a.1 = f32[] parameter(0)\n  b.1 = f32[] parameter(1)\n  ROOT c.1 = f32[] add(a.1, b.1)\n}\n\nENTRY main.1 {\n  x.0 = f32[128,768]{1,0} parameter(0)\n  w.1 = f32[768,768]{1,0} parameter(1)\n  zero.1 = f32[] constant(0)\n",
    );
    for i in 0..count {
        let _ = write!(
            text,
            "  dot_general.{i} = f32[128,768]{{1,0}} dot(x.{i}, w.1), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}\n  reduce_sum.{i} = f32[128]{{0}} reduce(dot_general.{i}, zero.1), dimensions={{1}}, to_apply=add.1\n  broadcast_in_dim.{i} = f32[128,768]{{1,0}} broadcast(reduce_sum.{i}), dimensions={{0}}\n  tanh.{i} = f32[128,768]{{1,0}} tanh(broadcast_in_dim.{i})\n  x.{} = f32[128,768]{{1,0}} add(tanh.{i}, x.{i})\n",
            i + 1
        );
    }
    let _ = write!(text, "  ROOT out.1 = f32[128,768]{{1,0}} negate(x.{count})\n}}\n");
    text
}

fn text(c: &mut Criterion) {
    let text = layers(2000);
    let module = Module::parse(&text).expect("the module is well formed");
    let mut group = c.benchmark_group("text");
    group.throughput(Throughput::Bytes(u64::try_from(text.len()).expect("a length fits")));
    group.bench_function("parse", |b| b.iter(|| Module::parse(black_box(&text))));
    group.bench_function("verify", |b| {
        b.iter_batched(|| module.clone(), Module::verify, criterion::BatchSize::LargeInput);
    });
    group.bench_function("print", |b| b.iter(|| black_box(&module).to_string()));
    group.finish();
}

criterion_group!(benches, text);
criterion_main!(benches);
