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

/// What is legal from the arguments makes no result wrong.
#[test]
fn what_is_fused_beside_a_wrong_result_is_right() {
    let text =
        "HloModule m\nENTRY e { x = f32[4] parameter(0) z = f32[] constant(0) o = f32[] constant(1)
        c = f32[4] clamp(z, x, o) p = f32[4] multiply(x, x) s = f32[4] add(p, x) t = f32[4] sine(s)
        ROOT r = (f32[4], f32[4]) tuple(c, t) }";
    let found = names(text, &[X], Bug::FusedClamp, &["e/c"]);
    assert_eq!((found.checked, found.verdict), (6, Verdict::Differs));
    let after = text.replace("multiply(x, x)", "multiply(c, c)");
    names(&after, &[X], Bug::FusedClamp, &["e/c"]);
}

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
            Bug::Clamp | Bug::FusedClamp => "clamp",
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

/// What one backend computes otherwise than another is no reason for two modules to differ.
#[test]
fn modules_differ_by_rewrites_alone() {
    let before = "HloModule m\nENTRY e { x = f32[2,2] parameter(0) k = f32[] constant(0.125)
        b = f32[2,2] broadcast(k), dimensions={} q = f32[2,2] multiply(x, b)
        ROOT d = f32[2,2] dot(q, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} }";
    let after = before.replace("0.125", "0.1256");
    assert!(compared(before, &after, &["f32[2,2] {{0.3, 0.7}, {1.9, -2.1}}"]).is_wrong());
    let before = "HloModule m\nENTRY e { s = u64[2] parameter(0)
        r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry
        ROOT g = u32[4] get-tuple-element(r), index=1 }";
    let after =
        "HloModule m\nENTRY e { s = u64[2] parameter(0) ROOT g = u32[4] constant({1, 2, 3, 4}) }";
    assert!(compared(before, after, &["u64[2] {1, 2}"]).is_wrong());
}

/// Float normalization gives a reducer of `bf16` this form.
#[test]
fn a_reduction_that_rounds_to_a_narrower_type_is_compared() {
    let module = |op: &str, entry: &str| {
        format!("HloModule m\nf {{ a = f32[] parameter(0) b = f32[] parameter(1) m = f32[] {op}(a, b) c = bf16[] convert(m) ROOT d = f32[] convert(c) }}
            ENTRY e {{ x = f32[4] parameter(0) z = f32[] constant(0) {entry} }}")
    };
    let reduce = |operand: &str| {
        format!("ROOT r = f32[] reduce({operand}, z), dimensions={{0}}, to_apply=f")
    };
    for op in ["maximum", "minimum", "add"] {
        let before = module(op, &reduce("x"));
        let same = module(op, &format!("y = f32[4] reverse(x), dimensions={{0}} {}", reduce("y")));
        let other = module(op, &format!("y = f32[4] exponential(x) {}", reduce("y")));
        assert!(!compared(&before, &same, &[X]).is_wrong(), "{op}");
        let is_wrong = compared(&before, &other, &["f32[4] {0.1, 0.7, 1.3, 2.9}"]).is_wrong();
        // The least is the initial value, whatever the elements.
        assert_eq!(is_wrong, op != "minimum", "{op}");
    }
}

/// What has no rule, and decides, leaves the results open; an instruction before it is still wrong.
#[test]
fn the_only_instruction_that_differs_is_judged_alone() {
    let module = |op: &str| {
        format!("HloModule m
ENTRY e {{ x = f32[2,2] parameter(0) k = f32[2,2] constant({{{{1, 2}}, {{3, 5}}}}) y = f32[2,2] {op}(x, k)
  q = (f32[2,2], f32[1], s32[]) custom-call(y), custom_call_target=\"lapack_sgehrd_ffi\",
    backend_config={{low = 1 : i32, high = 2 : i32}} s = f32[2,2] get-tuple-element(q), index=0
  ROOT i = s32[2,2] convert(s) }}")
    };
    let argument = ["f32[2,2] {{9.1, 3.7}, {1.3, 7.9}}"];
    let pair = compared(&module("add"), &module("subtract"), &argument);
    assert_ne!(pair.judgement.verdict, Verdict::Differs);
    assert!(pair.is_wrong(), "{:?}", pair.judgement);
    assert_eq!(pair.divergence.unwrap().after, "e/y");
    // Nothing is known of another way to compute it.
    let negated = module("add")
        .replace("add(x, k)", "subtract(x, n)")
        .replace("y = ", "n = f32[2,2] negate(k) y = ");
    let pair = compared(&module("add"), &negated, &argument);
    assert!(!pair.is_wrong(), "{:?}", pair.judgement);
}

/// What a rewrite reads is not cut off by what is exact.
#[test]
fn a_rewrite_over_an_exact_value_is_legal() {
    let before = "HloModule m
add { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
ENTRY e { p = f32[4] parameter(0) q = f32[8] parameter(1) z = f32[] constant(0) s = f32[] reduce(p, z), dimensions={0}, to_apply=add
  cs = s32[] convert(s) y = f32[4] dynamic-slice(q, cs), dynamic_slice_sizes={4} c0 = f32[] constant(3.3)
  c = f32[4] broadcast(c0), dimensions={} d0 = f32[] constant(1.7) d = f32[4] broadcast(d0), dimensions={}
  t = f32[4] multiply(y, c) u = f32[4] multiply(t, d) ROOT r = f32[4] subtract(u, t) }";
    let after = before.replace(
        "u = f32[4] multiply(t, d)",
        "e0 = f32[] multiply(c0, d0) cd = f32[4] broadcast(e0), dimensions={} u = f32[4] multiply(y, cd)",
    );
    let arguments =
        ["f32[4] {0.3, 0.7, 0.2, 1.9}", "f32[8] {0.1, 0.2, 0.3, 0.7, 1.1, 1.3, 1.9, 2.3}"];
    let pair = compared(before, &after, &arguments);
    assert!(!pair.is_wrong(), "{:?}", pair.judgement);
}

/// A function that is called twice through another has two values.
#[test]
fn a_value_that_is_computed_twice_is_not_exact() {
    let module = |h: &str, called: &str| {
        format!("HloModule m
{h} g {{ p = f32[] parameter(0) n = f32[] negate(p) s = f32[] exponential(n) ROOT l = f32[] log(s) }}
f {{ p = f32[] parameter(0) ROOT c = f32[] call(p), to_apply=g }}
ENTRY e {{ x = f32[4] parameter(0) a = f32[] parameter(1) m = f32[4] map(x), dimensions={{0}}, to_apply={called}
  k = f32[] call(a), to_apply=f ROOT t = (f32[4], f32[]) tuple(m, k) }}")
    };
    let wrong = "h { p = f32[] parameter(0) k = f32[] constant(1.000008) n = f32[] negate(p) ROOT c = f32[] multiply(n, k) }";
    let arguments = ["f32[4] {1.1, 1.3, 1.7, 1.9}", "f32[] 1.5"];
    assert!(compared(&module("", "f"), &module(wrong, "h"), &arguments).is_wrong());
}

/// The carried values of two loops may have other roles, if the result says enough.
#[test]
fn a_loop_whose_carried_values_change_places() {
    let before = "HloModule m
c { t = (s32[], f32[4], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0 k = s32[] constant(6) ROOT l = pred[] compare(i, k), direction=LT }
b { t = (s32[], f32[4], f32[4]) parameter(0) i = s32[] get-tuple-element(t), index=0 o = s32[] constant(1) j = s32[] add(i, o)
  u = f32[4] get-tuple-element(t), index=1 v = f32[4] get-tuple-element(t), index=2 su = f32[4] sine(u) cv = f32[4] cosine(v)
  ROOT r = (s32[], f32[4], f32[4]) tuple(j, su, cv) }
ENTRY e { x = f32[4] parameter(0) y = f32[4] parameter(1) z = s32[] constant(0) t = (s32[], f32[4], f32[4]) tuple(z, x, y)
  w = (s32[], f32[4], f32[4]) while(t), condition=c, body=b p = f32[4] get-tuple-element(w), index=1 q = f32[4] get-tuple-element(w), index=2
  k7 = f32[] constant(7) th = f32[4] broadcast(k7), dimensions={} d = f32[4] divide(p, th) ROOT r = f32[4] add(d, q) }";
    let after = before
        .replace("sine(u)", "cosineu")
        .replace("cosine(v)", "sine(v)")
        .replace("cosineu", "cosine(u)")
        .replace("tuple(z, x, y)", "tuple(z, y, x)")
        .replace(
            "p = f32[4] get-tuple-element(w), index=1",
            "p = f32[4] get-tuple-element(w), index=2",
        )
        .replace(
            "q = f32[4] get-tuple-element(w), index=2",
            "q = f32[4] get-tuple-element(w), index=1",
        )
        .replace("constant(7)", "constant(0.14285714285714)")
        .replace("divide(p, th)", "multiply(p, th)");
    let arguments = ["f32[4] {0.1, 0.7, 1.3, 2.9}", "f32[4] {0.3, -0.7, 2.3, 1.1}"];
    let pair = compared(before, &after, &arguments);
    assert!(!pair.is_wrong(), "{:?}", pair.divergence);
}

/// An array that no memory holds, of which a slice is all that is computed.
#[test]
fn an_array_too_large_for_its_ends_is_not_judged() {
    let before = "HloModule m\nENTRY e { x = f32[4] parameter(0) c = f32[] constant(1)
        b = f32[1000000,1000000] broadcast(c), dimensions={} s = f32[1,4] slice(b), slice={[0:1],[0:4]}
        q = f32[4] reshape(s) ROOT r = f32[4] add(x, q) }";
    let after = "HloModule m\nENTRY e { x = f32[4] parameter(0) ROOT r = f32[4] sine(x) }";
    let pair = module_pair(before, after, &[X]);
    assert!(pair.is_err() || pair.is_ok_and(|pair| pair.judgement.estimated.is_some()));
}

fn module_pair(before: &str, after: &str, arguments: &[&str]) -> Result<ModulePair, String> {
    let [before, after] = [before, after].map(module);
    compare_modules(&before, &after, &[literals(arguments)], &Options::default())
}
