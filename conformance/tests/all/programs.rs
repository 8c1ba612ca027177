//! Programs of about 200 instructions with fusions, calls, loops and conditionals, in which every
//! planted bug shows.
use hlo::{Literal, Module, Verified};
use std::fmt::Write as _;

const COMPUTATIONS: &str = "
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
difference { a = f32[] parameter(0) b = f32[] parameter(1) n = f32[] negate(b) ROOT d = f32[] subtract(a, n) }
largest { a = f32[] parameter(0) b = f32[] parameter(1) ROOT m = f32[] maximum(a, b) }
";

const LOOP: &str = "
condition {
  t = (s32[], f32[4,8], f32[4,8]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(5)
  ROOT go = pred[] compare(i, n), direction=LT
}
body {
  t = (s32[], f32[4,8], f32[4,8]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  one = s32[] constant(1)
  next = s32[] add(i, one)
  x = f32[4,8] get-tuple-element(t), index=1
  f = f32[4,8] fusion(x, x), kind=kLoop, calls=fused.0
  s = f32[4,8] get-tuple-element(t), index=2
  total = f32[4,8] add(s, f)
  ROOT r = (s32[], f32[4,8], f32[4,8]) tuple(next, f, total)
}
";

/// The instructions between the blocks of the entry, and in the fusions.
const CHAIN: [&str; 5] =
    ["multiply({v}, {w})", "add({v}, {w})", "tanh({v})", "subtract({v}, {w})", "sine({v})"];

/// Writes elementwise instructions; returns the name of the last.
fn chain(out: &mut String, prefix: &str, (mut v, w): (String, String), count: usize) -> String {
    for i in 0..count {
        let op = CHAIN[i % CHAIN.len()].replace("{v}", &v).replace("{w}", &w);
        let name = format!("{prefix}.{i}");
        let _ = writeln!(out, "  {name} = f32[4,8] {op}");
        v = name;
    }
    v
}

fn fusion(out: &mut String, number: usize) {
    let _ = writeln!(
        out,
        "fused.{number} {{\n  a = f32[4,8] parameter(0)\n  b = f32[4,8] parameter(1)"
    );
    let last = chain(out, "c", ("a".into(), "b".into()), 12 + number);
    let _ = writeln!(out, "  ROOT end = f32[4,8] tanh({last})\n}}");
}

/// The blocks of the entry. Each takes `{v}`, and `{o}` is its result.
const BLOCKS: [&str; 9] = [
    "  {o} = f32[4,8] fusion({v}, x), kind=kLoop, calls=fused.1",
    "  {o}i = s32[] constant(0)
  {o}t = (s32[], f32[4,8], f32[4,8]) tuple({o}i, {v}, x)
  {o}w = (s32[], f32[4,8], f32[4,8]) while({o}t), condition=condition, body=body
  {o}l = f32[4,8] get-tuple-element({o}w), index=2
  {o} = f32[4,8] tanh({o}l)",
    "  {o}z = f32[] constant(0)
  {o}r = f32[4] reduce({v}, {o}z), dimensions={1}, to_apply=difference
  {o}b = f32[4,8] broadcast({o}r), dimensions={0}
  {o} = f32[4,8] tanh({o}b)",
    "  {o}z = f32[] constant(0)
  {o}r = f32[4,8] reduce-window({v}, {o}z), window={size=1x3 pad=0_0x1_1}, to_apply=sum
  {o} = f32[4,8] tanh({o}r)",
    "  {o}d = f32[4,4] dot({v}, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}
  {o}e = f32[4,8] dot({o}d, {v}), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  {o} = f32[4,8] tanh({o}e)",
    "  {o}g = f32[4,8] gather({v}, indices), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,8}
  {o} = f32[4,8] sine({o}g)",
    "  {o}a = f32[] constant(-0.5)
  {o}b = f32[] constant(-0.0625)
  {o} = f32[4,8] clamp({o}a, {v}, {o}b)",
    "  {o} = f32[4,8] conditional(choice, {v}, {v}), true_computation=fused.2, false_computation=fused.3",
    "  {o}r = f32[4,8] all-reduce({v}), replica_groups={}, to_apply=sum
  {o} = f32[4,8] tanh({o}r)",
];

/// Returns the text of the program.
pub(crate) fn text(replicas: usize) -> String {
    let mut text = format!("HloModule program, replica_count={replicas}\n{COMPUTATIONS}");
    for number in 0..2 {
        fusion(&mut text, number);
    }
    for number in 2..4 {
        let _ = writeln!(text, "fused.{number} {{\n  a = f32[4,8] parameter(0)");
        let last = chain(&mut text, "c", ("a".into(), "a".into()), 8 + number);
        let _ = writeln!(text, "  ROOT end = f32[4,8] sine({last})\n}}");
    }
    text.push_str(LOOP);
    text.push_str(
        "ENTRY e {\n  x = f32[4,8] parameter(0)\n  indices = s32[4] parameter(1)\n  bits = s32[8] parameter(2)\n  choice = pred[] parameter(3)\n",
    );
    let mut v = "x".to_owned();
    for (number, block) in BLOCKS.iter().enumerate() {
        let name = format!("block{number}");
        for line in block.lines() {
            let _ = writeln!(text, "{}", line.replace("{o}", &name).replace("{v}", &v));
        }
        v = chain(&mut text, &format!("n{number}"), (name, "x".to_owned()), 10);
    }
    text.push_str(&nan_and_shift(&v));
    text
}

/// Results of their own, so that a NaN does not reach the others.
fn nan_and_shift(v: &str) -> String {
    let shapes = "f32[4,8], ".repeat(BLOCKS.len());
    let mut blocks = String::new();
    for number in 0..BLOCKS.len() {
        let _ = write!(blocks, "block{number}, ");
    }
    format!(
        "  logs = f32[4,8] log({v})
  half = f32[] constant(0.5)
  halves = f32[4,8] broadcast(half), dimensions={{}}
  floor = f32[4,8] maximum(halves, logs)
  scaled = f32[4,8] multiply(floor, halves)
  by = s32[] constant(3)
  bys = s32[8] broadcast(by), dimensions={{}}
  shifted = s32[8] shift-right-arithmetic(bits, bys)
  sevens = s32[8] add(shifted, bys)
  ROOT all = ({shapes}f32[4,8], f32[4,8], s32[8]) tuple({blocks}{v}, scaled, sevens)
}}
"
    )
}

/// Returns the program with the arguments of each device.
pub(crate) fn program(replicas: usize) -> (Verified, Vec<Vec<Literal>>) {
    let text = text(replicas);
    let module = Module::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let module = module.verify().unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    let arguments = (0..replicas).map(|replica| {
        let mut seed = u32::try_from(replica).unwrap_or(0) + 1;
        let mut next = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            f32::from_bits(seed >> 9 | 0x3f80_0000) * 2.0 - 3.0
        };
        let x: Vec<f32> = (0..32).map(|_| next()).collect();
        vec![
            Literal::from_slice(&[4, 8], &x),
            Literal::from_slice(&[4], &[2i32, -3, 1, 9]),
            Literal::from_slice(&[8], &[5i32, -5, 100, -100, 77, -78, 0, -1]),
            "pred[] true".parse().expect("a literal"),
        ]
    });
    (module, arguments.collect())
}
