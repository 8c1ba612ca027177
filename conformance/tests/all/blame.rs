//! Planted bugs are named by blame.
use super::planted::{Bug, Planted};
use super::programs;
use conformance::backend::{Backends, EngineBackend};
use conformance::blame::{Blame, Context, ModulePair, Options, blame, compare_modules};
use conformance::reduce::file_test;
use conformance::results::Verdict;
use conformance::{Engine, FileTest, Summary};
use hlo::{Literal, Module, Verified};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

fn module(text: &str) -> Arc<Verified> {
    let module = Module::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    Arc::new(module.verify().unwrap_or_else(|errors| panic!("{errors}\n{text}")))
}

fn literals(arguments: &[&str]) -> Vec<Literal> {
    arguments.iter().map(|text| text.parse().unwrap()).collect()
}

fn searched(text: &str, arguments: &[&str], bug: Bug, options: &Options) -> Blame {
    let module = module(text);
    assert!(bug.plant(module.module()).1 > 0, "there is no place for {bug:?}");
    blame(&module, &[literals(arguments)], &Planted(bug).backends(1), options)
}

/// Checks that exactly these instructions are wrong.
fn names(text: &str, arguments: &[&str], bug: Bug, expected: &[&str]) -> Blame {
    let found = searched(text, arguments, bug, &Options::default());
    let paths: Vec<&str> = found.findings.iter().map(|finding| finding.path.as_str()).collect();
    assert_eq!(paths, expected, "{found}");
    assert!(found.is_wrong());
    found
}

const X: &str = "f32[4] {0.1, 0.7, 1.3, -2.9}";

#[test]
fn a_product_and_what_inherits_from_it() {
    let text = "HloModule m\nENTRY e { x = f32[4] parameter(0) s = f32[4] sine(x) p = f32[4] multiply(s, x)
        q = f32[4] add(p, x) o = f32[4] cosine(x) ROOT r = f32[4] subtract(q, o) }";
    let found = names(text, &[X], Bug::Rounding, &["e/p"]);
    assert_eq!(found.inherited, ["e/q", "e/r"]);
    assert_eq!((found.checked, found.verdict), (5, Verdict::Differs));
    let finding = &found.findings[0];
    assert_eq!((finding.context, finding.opcode.as_str()), (Context::Alone, "multiply"));
    let operands: Vec<&str> =
        finding.operands.iter().map(|operand| operand.name.as_str()).collect();
    assert_eq!(operands, ["s", "x"]);
    assert!(finding.operands.iter().all(|operand| operand.element.is_some()), "{finding}");
    assert!(found.to_json().contains("\"path\": \"e/p\""));
}

#[test]
fn one_value_a_run_finds_the_same() {
    let text = "HloModule m\nENTRY e { x = f32[4] parameter(0) s = f32[4] sine(x) p = f32[4] multiply(s, x)
        ROOT r = f32[4] add(p, x) }";
    let options = Options { slice_bytes: 1, ..Options::default() };
    let found = searched(text, &[X], Bug::Rounding, &options);
    assert_eq!(found.findings.len(), 1);
    assert_eq!(found.findings[0].path, "e/p");
}

const LOOP: &str = "HloModule m
condition { t = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(5)
  ROOT go = pred[] compare(i, n), direction=LT }
body { t = (s32[], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1)
  next = s32[] add(i, one) v = f32[4] get-tuple-element(t), index=1 top = f32[] constant(2) low = f32[] constant(-9)
  grown = f32[4] add(v, v) c = f32[4] clamp(low, grown, top) ROOT r = (s32[], f32[4]) tuple(next, c) }
ENTRY e { x = f32[4] parameter(0) z = s32[] constant(0) t = (s32[], f32[4]) tuple(z, x)
  w = (s32[], f32[4]) while(t), condition=condition, body=body ROOT r = f32[4] get-tuple-element(w), index=1 }";

#[test]
fn in_the_body_of_a_loop_at_a_round() {
    // 0.7, 1.4, 2.8: the first value above 2.
    names(LOOP, &["f32[4] {0.1, 0.7, 0, -0.5}"], Bug::Clamp, &["e/w round 2/body/c"]);
}

#[test]
fn a_loop_that_is_wrong_though_its_rounds_are_right() {
    let found = names(LOOP, &["f32[4] {0.1, 0.7, 0, -0.5}"], Bug::LostCarry, &["e/w"]);
    assert!(found.findings[0].is_right_inside);
}

#[test]
fn in_a_fusion_and_a_call_and_a_branch() {
    let of = |call: &str| {
        format!(
            "HloModule m
inner {{ a = f32[4] parameter(0) e = f32[4] exponential(a) p = f32[4] multiply(a, e) ROOT s = f32[4] sine(p) }}
other {{ ROOT a = f32[4] parameter(0) }}
ENTRY e {{ x = f32[4] parameter(0) s = f32[4] sine(x) no = pred[] constant(false) c = f32[4] {call} ROOT r = f32[4] negate(c) }}"
        )
    };
    let calls = [
        "fusion(s), kind=kLoop, calls=inner",
        "call(s), to_apply=inner",
        "conditional(no, x, s), true_computation=other, false_computation=inner",
    ];
    for call in calls {
        names(&of(call), &[X], Bug::Rounding, &["e/c/inner/p"]);
    }
}

#[test]
fn in_a_reducer() {
    let of = |root: &str, initial: &str| {
        format!(
            "HloModule m
f {{ a = f32[] parameter(0) b = f32[] parameter(1) n = f32[] negate(b) ROOT d = f32[] {root} }}
ENTRY e {{ x = f32[4] parameter(0) z = f32[] constant({initial}) ROOT r = f32[] reduce(x, z), dimensions={{0}}, to_apply=f }}"
        )
    };
    names(&of("multiply(a, b)", "1"), &[X], Bug::Rounding, &["e/r/f/d"]);
    // A sum: its negation is no legal result in any order.
    let found = names(&of("subtract(a, n)", "0"), &[X], Bug::SwappedOperands, &["e/r"]);
    assert!(found.findings[0].is_right_inside);
}

#[test]
fn windows_products_indices_and_special_values() {
    let sum = "HloModule m\nadd { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }\n";
    let window = format!("{sum}ENTRY e {{ x = f32[4] parameter(0) z = f32[] constant(0)
        w = f32[4] reduce-window(x, z), window={{size=2 pad=0_1}}, to_apply=add ROOT n = f32[4] negate(w) }}");
    names(&window, &[X], Bug::WindowEdge, &["e/w"]);
    let dot = "HloModule m\nENTRY e { x = f32[4] parameter(0) d = f32[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
        ROOT n = f32[] negate(d) }";
    names(dot, &[X], Bug::DotTerm, &["e/d"]);
    let maximum = "HloModule m\nENTRY e { x = f32[4] parameter(0) l = f32[4] log(x) m = f32[4] maximum(x, l) ROOT n = f32[4] negate(m) }";
    names(maximum, &[X], Bug::NanLost, &["e/m"]);
    let shift = "HloModule m\nENTRY e { x = s32[2] parameter(0) two = s32[2] constant({2, 2})
        s = s32[2] shift-right-arithmetic(x, two) ROOT n = s32[2] negate(s) }";
    names(shift, &["s32[2] {-9, 9}"], Bug::ShiftSign, &["e/s"]);
    let gather = "HloModule m\nENTRY e { x = f32[4] parameter(0) i = s32[2] parameter(1)
        g = f32[2] gather(x, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}
        ROOT n = f32[2] negate(g) }";
    names(gather, &[X, "s32[2] {-1, 2}"], Bug::GatherClamp, &["e/g"]);
}

/// Each bug in a program of about 300 instructions with loops, fusions, a call and a conditional.
#[test]
fn in_a_large_program() {
    for bug in Bug::ALL {
        let (module, arguments) = programs::program(if bug == Bug::ReplicaGroup { 2 } else { 1 });
        let (module, start) = (Arc::new(module), Instant::now());
        let blamed =
            |jobs| blame(&module, &arguments, &Planted(bug).backends(jobs), &Options::default());
        let found = blamed(1);
        assert_eq!(found.to_json(), blamed(3).to_json());
        let first = found.findings.first().unwrap_or_else(|| panic!("{bug:?}: {found}"));
        let (seconds, count) = (start.elapsed().as_secs_f64(), found.findings.len());
        let (path, opcode) = (&first.path, &first.opcode);
        eprintln!("{bug:?}: {opcode} {path}, {count} findings, {seconds:.1} s");
        let expected = match bug {
            Bug::Rounding => "multiply",
            Bug::WindowEdge => "reduce-window",
            Bug::SwappedOperands => "reduce",
            Bug::NanLost => "maximum",
            Bug::Clamp => "clamp",
            Bug::LostCarry => "while",
            Bug::ReplicaGroup => "all-reduce",
            Bug::DotTerm => "dot",
            Bug::ShiftSign => "shift-right-arithmetic",
            Bug::GatherClamp => "gather",
        };
        let opcodes: Vec<&str> = found.findings.iter().map(|one| one.opcode.as_str()).collect();
        assert!(opcodes.iter().all(|&opcode| opcode == expected), "{bug:?}: {opcodes:?}\n{found}");
    }
}

#[test]
fn between_devices() {
    let text = "HloModule m, replica_count=2
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[2] parameter(0) total = f32[2] all-reduce(x), replica_groups={{0,1}}, to_apply=add ROOT n = f32[2] negate(total) }";
    let arguments = [literals(&["f32[2] {1, 2}"]), literals(&["f32[2] {3, 5}"])];
    let backends = Planted(Bug::ReplicaGroup).backends(1);
    let found = blame(&module(text), &arguments, &backends, &Options::default());
    assert_eq!(found.findings.len(), 1, "{found}");
    assert_eq!(found.findings[0].path, "e/total");
}

#[test]
fn nothing_is_wrong_between_the_engines() {
    let backends = Backends::one(Box::new(EngineBackend(Engine::Reference)));
    let arguments = [literals(&["f32[4] {0.1, 0.7, 0, -0.5}"])];
    let found = blame(&module(LOOP), &arguments, &backends, &Options::default());
    assert!(!found.is_wrong() && found.not_checked.is_empty(), "{found}");
}

#[test]
fn the_instruction_alone_is_a_file_test() {
    let text = "HloModule m\nENTRY e { x = f32[4] parameter(0) s = f32[4] sine(x) ROOT p = f32[4] multiply(s, x) }";
    let found = searched(text, &[X], Bug::Rounding, &Options::default());
    let program = &found.findings[0].program;
    let test = file_test(&program.module, &program.arguments, Some(1 << 20));
    let test = FileTest::new(Path::new("p.hlo"), test).unwrap();
    assert_eq!(Summary::of(&test.run(&Engine::ALL)).agree, 1);
}

fn compared(before: &str, after: &str, arguments: &[&str]) -> ModulePair {
    let [before, after] = [before, after].map(module);
    compare_modules(&before, &after, &[literals(arguments)], &Options::default()).unwrap()
}

#[test]
fn a_rewrite_that_keeps_the_result() {
    let before = "HloModule m\nENTRY e { x = f32[4] parameter(0) a = f32[4] add(x, x) ROOT r = f32[4] sine(a) }";
    let after = "HloModule m\nf { x = f32[4] parameter(0) two = f32[] constant(2) t = f32[4] broadcast(two), dimensions={}
        m = f32[4] multiply(x, t) ROOT s = f32[4] sine(m) }
        ENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] fusion(x), kind=kLoop, calls=f }";
    let pair = compared(before, after, &[X]);
    assert!(!pair.is_wrong() && pair.divergence.is_none());
}

#[test]
fn a_wrong_rewrite() {
    // The fusion has the operands of `subtract` reversed.
    let before =
        "HloModule m\nENTRY e { x = f32[4] parameter(0) a = f32[4] sine(x) b = f32[4] cosine(x)
        d = f32[4] subtract(a, b) n = f32[4] negate(d) ROOT r = f32[4] tanh(n) }";
    let after = "HloModule m\nf { p = f32[4] parameter(0) q = f32[4] parameter(1) d = f32[4] subtract(q, p) ROOT n = f32[4] negate(d) }
        ENTRY e { x = f32[4] parameter(0) a = f32[4] sine(x) b = f32[4] cosine(x)
        fused = f32[4] fusion(a, b), kind=kLoop, calls=f ROOT r = f32[4] tanh(fused) }";
    let pair = compared(before, after, &[X]);
    let found = pair.divergence.unwrap();
    assert_eq!((found.before.as_str(), found.after.as_str()), ("e/d", "e/fused/d"));
    assert_eq!(found.agree, ["e/a", "e/b"]);
}

#[test]
fn a_wrong_rewrite_without_a_counterpart() {
    let before = "HloModule m\nENTRY e { x = f32[4] parameter(0) a = f32[4] sine(x) b = f32[4] add(a, a) ROOT r = f32[4] tanh(b) }";
    let after = "HloModule m\nENTRY e { x = f32[4] parameter(0) a = f32[4] sine(x) three = f32[] constant(3)
        t = f32[4] broadcast(three), dimensions={} m = f32[4] multiply(a, t) ROOT r = f32[4] tanh(m) }";
    let found = compared(before, after, &[X]).divergence.unwrap();
    assert_eq!((found.before.as_str(), found.after.as_str()), ("e/r", "e/r"));
    assert_eq!(found.agree, ["e/a"]);
    assert_eq!(found.between, ["e/three", "e/t", "e/m"]);
}

/// A chaotic loop: after 300 rounds every result is within the bound.
#[test]
fn a_wrong_rewrite_in_a_loop_whose_bound_says_nothing() {
    let before = "HloModule m
condition { t = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(t), index=0 n = s32[] constant(300)
  ROOT go = pred[] compare(i, n), direction=LT }
body { t = (s32[], f32[2]) parameter(0) i = s32[] get-tuple-element(t), index=0 one = s32[] constant(1) next = s32[] add(i, one)
  x = f32[2] get-tuple-element(t), index=1 ones = f32[2] constant({1, 1}) r = f32[2] constant({3.9, 3.9})
  rest = f32[2] subtract(ones, x) p = f32[2] multiply(x, rest) grown = f32[2] multiply(p, r)
  ROOT out = (s32[], f32[2]) tuple(next, grown) }
ENTRY e { x = f32[2] parameter(0) z = s32[] constant(0) t = (s32[], f32[2]) tuple(z, x)
  w = (s32[], f32[2]) while(t), condition=condition, body=body ROOT r = f32[2] get-tuple-element(w), index=1 }";
    let after = before.replace("constant({3.9, 3.9})", "constant({3.8, 3.9})");
    let pair = compared(before, &after, &["f32[2] {0.3, 0.6}"]);
    assert!(pair.judgement.verdict != Verdict::Differs && pair.is_wrong());
    assert!(pair.divergence.unwrap().after.starts_with("e/w round 1/body/"));
    let fused = before.replace("multiply(p, r)", "multiply(r, p)");
    assert!(!compared(before, &fused, &["f32[2] {0.3, 0.6}"]).is_wrong());
}

#[test]
fn a_wrong_rewrite_in_a_loop() {
    let after = LOOP.replace("grown = f32[4] add(v, v)", "grown = f32[4] multiply(v, v)");
    let found = compared(LOOP, &after, &["f32[4] {0, 2, 0, 0}"]);
    // 2 * 2 = 2 + 2, and both are clamped to 2.
    assert!(!found.is_wrong());
    let found = compared(LOOP, &after, &["f32[4] {0, 0, 0, 0.5}"]).divergence.unwrap();
    assert_eq!(found.after, "e/w round 1/body/c");
    let found =
        compared(LOOP, &LOOP.replace("constant(2)", "constant(3)"), &["f32[4] {0, 0, 0, 0.5}"]);
    // The first two rounds have the same result.
    assert_eq!(found.divergence.unwrap().after, "e/w round 3/body/top");
}
