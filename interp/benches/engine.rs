//! Speed of the reference engine on single ops of a million elements.
#![expect(clippy::unwrap_used, reason = "a bench may panic")]
use criterion::{Criterion, criterion_group, criterion_main};
use hlo::{Literal, Module};
use interp::{CompileOptions, Executable, RunOptions};
use std::hint::black_box;

const CALLED: &str = "less { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER }\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }";
const CASES: [(&str, &str); 6] = [
    ("add", "ROOT r = f32[1048576] add(x, y)"),
    ("exponential", "ROOT r = f32[1048576] exponential(x)"),
    ("convert_bf16", "ROOT r = bf16[1048576] convert(x)"),
    ("sort", "ROOT r = f32[1048576] sort(x), dimensions={0}, to_apply=less"),
    ("reduce", "z = f32[] constant(0) ROOT r = f32[] reduce(x, z), dimensions={0}, to_apply=add"),
    (
        "cumulative_sum",
        "z = f32[] constant(0) ROOT r = f32[1048576] reduce-window(x, z), window={size=1048576 pad=1048575_0}, to_apply=add",
    ),
];

fn engine(c: &mut Criterion) {
    let mut group = c.benchmark_group("engine");
    group.sample_size(10);
    // Unsorted numbers between 0 and 1.
    let numbers: Vec<f32> = (0u32..1 << 20)
        .map(|i| f32::from_bits(i.wrapping_mul(2_654_435_761) >> 9 | 0x3f80_0000) - 1.0)
        .collect();
    let x = Literal::from_slice(&[1 << 20], &numbers);
    for (name, body) in CASES {
        let text = format!(
            "HloModule m\n{CALLED}\nENTRY e {{ x = f32[1048576] parameter(0) y = f32[1048576] parameter(1) {body} }}"
        );
        let verified = Module::parse(&text).unwrap().verify().unwrap();
        let arguments = [x.clone(), x.clone()];
        let executable = Executable::compile(verified, &CompileOptions::default()).unwrap();
        group.bench_function(name, |b| {
            let options = RunOptions::default();
            b.iter(|| executable.execute(black_box(&arguments), &options).unwrap());
        });
    }
    group.finish();
}

criterion_group!(benches, engine);
criterion_main!(benches);
