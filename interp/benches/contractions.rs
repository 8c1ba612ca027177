//! The time that sums of products take: `cargo bench -p etalon-interp --bench contractions`.
use criterion::{Criterion, criterion_group, criterion_main};
use hlo::{ArrayShape, Literal, Module, Scalar};
use interp::{CompileOptions, Executable, RunOptions};
use std::hint::black_box;

/// Returns an array of arbitrary fractions, the same in each run.
fn input(shape: &ArrayShape) -> Literal {
    let mut literal = Literal::zeros(shape.clone());
    let width = shape.ty.storage_bytes();
    let mut state = 1u32;
    for slot in literal.bytes_mut().chunks_exact_mut(width) {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let x = f64::from(state >> 8) / f64::from(1 << 23) - 1.0;
        let element = match shape.ty.class() {
            hlo::Class::Complex => Scalar::Complex(x, -x),
            hlo::Class::Float => Scalar::Float(x),
            hlo::Class::Pred | hlo::Class::Signed | hlo::Class::Unsigned => {
                Scalar::Signed(i64::from(state >> 16))
            }
        };
        element.round_to(shape.ty).write(shape.ty, slot);
    }
    literal
}

fn bench(c: &mut Criterion, name: &str, body: &str) {
    let module: Module = format!("HloModule bench\nENTRY main {{ {body} }}").parse().expect("text");
    let entry = module.entry();
    let inputs: Vec<Literal> = (entry.parameters().iter())
        .map(|&id| input(entry.instructions[id].shape.array().expect("an array")))
        .collect();
    let module = module.verify().expect("a module without errors");
    let executable = Executable::compile(module, &CompileOptions::default()).expect("a program");
    let options = RunOptions::default();
    let run = || black_box(executable.execute(&inputs, &options).expect("a result"));
    c.bench_function(name, |b| b.iter(run));
}

fn square(c: &mut Criterion, ty: &str, n: usize) {
    let body = format!(
        "x = {ty}[{n},{n}] parameter(0) y = {ty}[{n},{n}] parameter(1) \
         ROOT r = {ty}[{n},{n}] dot(x, y), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
    );
    bench(c, &format!("dot {ty} {n}^3"), &body);
}

fn dots(c: &mut Criterion) {
    for ty in ["f32", "bf16", "s32", "f64", "c64", "c128"] {
        square(c, ty, 256);
    }
    square(c, "f32", 1024);
    bench(
        c,
        "dot f32 1x2048x2048",
        "x = f32[1,2048] parameter(0) y = f32[2048,2048] parameter(1) \
         ROOT r = f32[1,2048] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}",
    );
    bench(
        c,
        "dot f32 96 batches of 128x64x128",
        "x = f32[96,128,64] parameter(0) y = f32[96,128,64] parameter(1) \
         ROOT r = f32[96,128,128] dot(x, y), lhs_batch_dims={0}, rhs_batch_dims={0}, \
         lhs_contracting_dims={2}, rhs_contracting_dims={2}",
    );
}

fn convolutions(c: &mut Criterion) {
    bench(
        c,
        "convolution of 2.4M products",
        "x = f32[1,32,32,16] parameter(0) k = f32[3,3,16,16] parameter(1) \
         ROOT r = f32[1,32,32,16] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
    );
    bench(
        c,
        "convolution 3x3, 64 features, 56x56",
        "x = f32[1,56,56,64] parameter(0) k = f32[3,3,64,64] parameter(1) \
         ROOT r = f32[1,56,56,64] convolution(x, k), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f",
    );
    bench(
        c,
        "convolution depthwise 3x3, 64 features, 56x56",
        "x = f32[1,56,56,64] parameter(0) k = f32[3,3,1,64] parameter(1) \
         ROOT r = f32[1,56,56,64] convolution(x, k), window={size=3x3 pad=1_1x1_1}, \
         dim_labels=b01f_01io->b01f, feature_group_count=64",
    );
}

criterion_group! {
    name = contractions;
    config = Criterion::default().sample_size(10);
    targets = dots, convolutions
}
criterion_main!(contractions);
