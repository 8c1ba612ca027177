//! Times of kernels on a million elements, in both arithmetics:
//! `cargo bench -p etalon-interp --bench kernels`.
mod cases;

use cases::CASES;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use interp::Engine;

fn kernels(c: &mut Criterion) {
    for (name, engine) in [("exact", Engine::Exact), ("fast", Engine::Fast)] {
        let mut group = c.benchmark_group(name);
        group.sample_size(10);
        for case in CASES {
            let prepared = case.prepare(1 << 20, engine);
            let operations = if case.power > 1.0 { 1 << 30 } else { 1 << 20 };
            group.throughput(Throughput::Elements(operations));
            group.bench_function(case.name, |b| b.iter(|| prepared.run()));
        }
        group.finish();
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
