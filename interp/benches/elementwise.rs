//! Time per element of elementwise ops, on arrays that one thread computes.
#![expect(clippy::unwrap_used, reason = "a bench may panic")]
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use hlo::{Literal, Module};
use interp::{CompileOptions, Executable, RunOptions};
use std::hint::black_box;
use std::time::Duration;

const COUNT: u16 = 1 << 15;

/// Instructions on `x` and `y`, of this type.
const CASES: [(&str, &str); 7] = [
    (
        "f32",
        "add maximum atan2 power exponential exponential-minus-one log log-plus-one tanh logistic erf sine cosine tan sinh cosh asin acos asinh atanh rsqrt cbrt sqrt floor sign",
    ),
    ("bf16", "add multiply maximum exponential tanh power"),
    ("f16", "add exponential"),
    ("f64", "add maximum exponential"),
    ("s32", "add multiply divide shift-left popcnt maximum"),
    ("u32", "add xor shift-right-logical"),
    ("s8", "add multiply shift-right-arithmetic"),
];
/// Instructions of other forms: the type of `x` and `y`, the result's, and the text. `p` is a
/// comparison, which is timed too.
const OTHERS: [(&str, &str, &str, &str); 16] = [
    ("compare_f32", "f32", "pred", "compare(x, y), direction=LT"),
    ("compare_bf16", "bf16", "pred", "compare(x, y), direction=LT"),
    ("compare_s8", "s8", "pred", "compare(x, y), direction=LT"),
    ("clamp_f32", "f32", "f32", "clamp(y, x, y)"),
    ("clamp_s32", "s32", "s32", "clamp(y, x, y)"),
    ("f32_bf16", "f32", "bf16", "convert(x)"),
    ("bf16_f32", "bf16", "f32", "convert(x)"),
    ("f32_f16", "f32", "f16", "convert(x)"),
    ("f16_f32", "f16", "f32", "convert(x)"),
    ("f32_s32", "f32", "s32", "convert(x)"),
    ("s32_f32", "s32", "f32", "convert(x)"),
    ("s32_bf16", "s32", "bf16", "convert(x)"),
    ("s8_s32", "s8", "s32", "convert(x)"),
    ("f32_pred", "f32", "pred", "convert(x)"),
    ("compare_select_f32", "f32", "f32", "select(p, x, y)"),
    ("u32_u8", "u32", "u8", "convert(x)"),
];

fn case(c: &mut Criterion, name: &str, ty: &str, body: &str) {
    // Multiples of 1/64 in [0, 1): small values for every type.
    let text = format!(
        "HloModule m\nENTRY e {{ a = f32[{COUNT}] parameter(0) b = f32[{COUNT}] parameter(1) x = {ty}[{COUNT}] convert(a) y = {ty}[{COUNT}] convert(b) ROOT r = ({ty}[{COUNT}], {ty}[{COUNT}]) tuple(x, y) }}"
    );
    let numbers = |seed: u16| -> Literal {
        let numbers: Vec<f32> =
            (0..COUNT).map(|i| f32::from(i.wrapping_mul(seed) >> 8) / 256.0).collect();
        Literal::from_slice(&[COUNT.into()], &numbers)
    };
    let compile = |text: &str| {
        let verified = Module::parse(text).unwrap().verify().unwrap();
        Executable::compile(verified, &CompileOptions::default()).unwrap()
    };
    let options = RunOptions::default();
    let operands = compile(&text).execute(&[numbers(40_503), numbers(29_789)], &options).unwrap();
    let arguments: Vec<Literal> = operands.elements().unwrap().to_vec();
    let chosen = if body.contains("(p,") {
        format!("p = pred[{COUNT}] compare(x, y), direction=LT")
    } else {
        String::new()
    };
    let executable = compile(&format!(
        "HloModule m\nENTRY e {{ x = {ty}[{COUNT}] parameter(0) y = {ty}[{COUNT}] parameter(1) {chosen} ROOT r = {body} }}"
    ));
    let mut group = c.benchmark_group("elementwise");
    group.throughput(Throughput::Elements(COUNT.into()));
    group.warm_up_time(Duration::from_millis(50)).measurement_time(Duration::from_millis(400));
    group.sample_size(40);
    group.bench_function(name, |b| {
        b.iter(|| executable.execute(black_box(&arguments), &options).unwrap());
    });
    group.finish();
}

fn elementwise(c: &mut Criterion) {
    for (ty, ops) in CASES {
        for op in ops.split(' ') {
            let mut binary = "add maximum atan2 power multiply divide xor".split(' ');
            let is_binary = binary.any(|name| name == op) || op.starts_with("shift");
            let operands = if is_binary { "x, y" } else { "x" };
            case(c, &format!("{op}_{ty}"), ty, &format!("{ty}[{COUNT}] {op}({operands})"));
        }
    }
    for (name, ty, result, body) in OTHERS {
        case(c, name, ty, &format!("{result}[{COUNT}] {body}"));
    }
}

criterion_group!(benches, elementwise);
criterion_main!(benches);
