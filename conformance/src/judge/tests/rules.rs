//! Tests of single rules: what is legal in another order, with another formula, or after an open
//! decision.
use super::*;
use Verdict::{Differs, Undefined, WithinBound};

/// Judges results of one program.
pub(super) fn verdicts(body: &str, arguments: &[&str], results: &[(&str, Verdict)]) {
    let text = format!("HloModule m\n{body}");
    for (actual, verdict) in results {
        let judgement = check(&text, arguments, actual);
        assert_eq!(judgement.verdict, *verdict, "{actual}: {judgement:?}\n{body}");
    }
}

/// As [`verdicts`], of a backend without a mode.
pub(super) fn verdicts_without(
    mode: Mode,
    body: &str,
    arguments: &[&str],
    results: &[(&str, Verdict)],
) {
    let module = verified(&format!("HloModule m\n{body}"));
    let arguments: Vec<Literal> = arguments.iter().map(|text| text.parse().unwrap()).collect();
    let expected = interp::run(&module, &arguments).unwrap();
    let modes = Modes::ALL.without(mode);
    let options = JudgeOptions { modes, ..JudgeOptions::default() };
    for (actual, verdict) in results {
        let actual = actual.parse().unwrap();
        let (arguments, expected) = ([arguments.clone()], [expected.clone()]);
        let judgement = judge_with(&options, &module, &arguments, &expected, &[actual]);
        assert_eq!(judgement.verdict, *verdict, "{judgement:?}\n{body}");
    }
}

/// As [`verdicts`], with the modes that explain results that are legal.
pub(super) fn explained(body: &str, arguments: &[&str], actual: &str, modes: &[Mode]) {
    let judgement = check(&format!("HloModule m\n{body}"), arguments, actual);
    assert_eq!((judgement.verdict, &*judgement.modes), (WithinBound, modes), "{judgement:?}");
}

const SCATTER: &str =
    "ENTRY e { t = f32[3] parameter(0) i = s32[3,1] parameter(1) u = f32[3] parameter(2)
    ROOT s = f32[3] scatter(t, i, u), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }";

#[test]
fn any_of_several_overwriting_updates_may_be_the_last() {
    let arguments = ["f32[3] {1, 2, 3}", "s32[3,1] {{0}, {0}, {2}}", "f32[3] {10.1, 20.1, 30.1}"];
    for body in [
        "ROOT b = f32[] parameter(1)",
        "b = f32[] parameter(1) ROOT c = f32[] copy(b)",
        "b = f32[] parameter(1) n = f32[] negate(b) ROOT c = f32[] negate(n)",
    ] {
        let body = format!("f {{ a = f32[] parameter(0) {body} }}\n{SCATTER}");
        let results = [
            ("f32[3] {10.1, 2, 30.1}", WithinBound),
            ("f32[3] {15, 2, 30.1}", Differs),
            ("f32[3] {20.1, 2.0000002, 30.1}", Differs),
            ("f32[3] {20.1, 2, 3}", Differs),
        ];
        verdicts(&body, &arguments, &results);
    }
    // What is stored is rounded to bf16 on the way.
    let body = format!(
        "f {{ a = f32[] parameter(0) b = f32[] parameter(1) h = bf16[] convert(b) ROOT c = f32[] convert(h) }}\n{SCATTER}"
    );
    let rounded =
        [("f32[3] {10.125, 2, 30.125}", WithinBound), ("f32[3] {20.125, 2, 30.5}", Differs)];
    verdicts(&body, &arguments, &rounded);
}

#[test]
fn updates_that_round_have_no_order() {
    let body = format!(
        "f {{ a = f32[] parameter(0) b = f32[] parameter(1) s = f32[] subtract(b, a) ROOT r = f32[] sine(s) }}\n{SCATTER}"
    );
    let arguments = ["f32[3] {1, 2, 3}", "s32[3,1] {{0}, {0}, {2}}", "f32[3] {10, 20, 30}"];
    let actual = |first: &str| format!("f32[3] {{{first}, 2, 0.95637596}}");
    verdicts(&body, &arguments, &[(&actual("0.5"), Undefined), ("f32[3] {0.5, 2, 0.5}", Differs)]);
}

#[test]
fn scattered_products_have_any_order() {
    let body = format!(
        "f {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] multiply(b, a) }}\n{SCATTER}"
    );
    let arguments = ["f32[3] {1.1, 2, 3}", "s32[3,1] {{0}, {0}, {2}}", "f32[3] {1.3, 1.7, 30}"];
    // 1.1 * (1.3 * 1.7), and 1.1 * 1.7 * 1.3.
    let [one, other] = [1.1f32 * (1.3 * 1.7), 1.1f32 * 1.7 * 1.3];
    for x in [one, other] {
        let actual = format!("f32[3] {{{x}, 2, 90}}");
        let judgement = check(&format!("HloModule m\n{body}"), &arguments, &actual);
        assert_ne!(judgement.verdict, Differs, "{judgement:?}");
    }
    verdicts(&body, &arguments, &[("f32[3] {2.4309, 2, 90}", Differs)]);
}

#[test]
fn sums_may_begin_with_zero_or_not() {
    let add = "f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }";
    let sum = format!(
        "{add} ENTRY e {{ x = f32[2,1] parameter(0) z = f32[] constant(0)
         ROOT s = f32[2] reduce(x, z), dimensions={{1}}, to_apply=f }}"
    );
    let results = [("f32[2] {-0, 1}", WithinBound), ("f32[2] {0, -1}", Differs)];
    verdicts(&sum, &["f32[2,1] {{-0}, {1}}"], &results);
    let dot = "ENTRY e { x = f32[1] parameter(0) y = f32[1] parameter(1)
        ROOT s = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} }";
    for (x, y) in [("-1", "0"), ("-0", "2"), ("-0", "0"), ("-1e-30", "1e-30")] {
        let (x, y) = (format!("f32[1] {{{x}}}"), format!("f32[1] {{{y}}}"));
        for sign in ["f32[] 0", "f32[] -0"] {
            let judgement = check(&format!("HloModule m\n{dot}"), &[&x, &y], sign);
            assert_ne!(judgement.verdict, Differs, "{x} {y} {sign} {judgement:?}");
        }
    }
    // The sum of 0 and -0 is 0 in either order.
    let two = "ENTRY e { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }";
    verdicts(two, &["f32[] 0", "f32[] -0"], &[("f32[] -0", Differs)]);
}

#[test]
fn integer_division_is_undefined_by_zero() {
    for op in ["divide", "remainder"] {
        let of = |ty: &str| {
            format!(
                "ENTRY e {{ x = {ty}[3] parameter(0) y = {ty}[3] parameter(1) ROOT r = {ty}[3] {op}(x, y) }}"
            )
        };
        let quotient =
            |x: &str| format!("s32[3] {{{x}, {x}, {}}}", if op == "divide" { "3" } else { "1" });
        let arguments = ["s32[3] {7, -2147483648, 7}", "s32[3] {0, -1, 2}"];
        verdicts(&of("s32"), &arguments, &[(&quotient("77"), Undefined)]);
        let wrong = quotient("77").replace("3}", "4}").replace("1}", "4}");
        verdicts(&of("s32"), &arguments, &[(&wrong, Differs)]);
        let judgement = check(&format!("HloModule m\n{}", of("s32")), &arguments, &quotient("77"));
        assert_eq!(judgement.cause.as_deref(), Some("e/r"));
        let unsigned = ["u8[3] {7, 0, 7}", "u8[3] {0, 255, 7}"];
        let right = if op == "divide" { "u8[3] {9, 0, 1}" } else { "u8[3] {9, 0, 0}" };
        verdicts(&of("u8"), &unsigned, &[(right, Undefined), ("u8[3] {9, 1, 1}", Differs)]);
    }
}

#[test]
fn formulas_of_complex_numbers_differ_at_infinity() {
    let of = |op: &str| {
        format!(
            "ENTRY e {{ x = c64[] parameter(0) y = c64[] parameter(1) ROOT r = c64[] {op}(x, y) }}"
        )
    };
    // (inf + inf i) i: annex G has infinities, the textbook inf * 0.
    let arguments = ["c64[] (inf, inf)", "c64[] (0, 1)"];
    verdicts(&of("multiply"), &arguments, &[("c64[] (nan, nan)", Undefined)]);
    let arguments = ["c64[] (1, 2)", "c64[] (0, 0)"];
    for actual in ["c64[] (nan, nan)", "c64[] (inf, inf)"] {
        let judgement = check(&format!("HloModule m\n{}", of("divide")), &arguments, actual);
        assert_ne!(judgement.verdict, Differs, "{judgement:?}");
    }
    let finite = ["c64[] (1, 2)", "c64[] (3, 4)"];
    verdicts(&of("divide"), &finite, &[("c64[] (0.44, 0.0801)", Differs)]);
}

#[test]
fn denormals_are_flushed_where_they_are_read() {
    let binary = |op: &str| {
        format!(
            "ENTRY e {{ x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] {op}(x, y) }}"
        )
    };
    for (op, x, y, flushed) in [
        ("atan2", "1e-40", "1", "0"),
        ("atan2", "1e-40", "0", "0"),
        ("atan2", "-1e-40", "-0", "-3.1415927"),
        ("maximum", "1e-40", "-1", "0"),
        ("minimum", "1e-40", "1", "0"),
        ("maximum", "-1e-40", "-1", "-0"),
        ("maximum", "-1e-40", "0", "-0"),
        ("minimum", "1e-40", "-0", "0"),
    ] {
        let (x, y) = (format!("f32[] {x}"), format!("f32[] {y}"));
        let actual = format!("f32[] {flushed}");
        explained(&binary(op), &[&x, &y], &actual, &[Mode::FlushedDenormals]);
    }
    let cbrt = "ENTRY e { x = f32[] parameter(0) ROOT r = f32[] cbrt(x) }";
    explained(cbrt, &["f32[] 1e-40"], "f32[] 0", &[Mode::FlushedDenormals]);
    // The bits of a denormal, of which nothing is known before it is read.
    let bits =
        "ENTRY e { x = u32[] parameter(0) f = f32[] bitcast-convert(x) c = f32[] constant(1e30)
        ROOT r = f32[] multiply(f, c) }";
    explained(bits, &["u32[] 71362"], "f32[] 0", &[Mode::FlushedDenormals]);
    let doubles =
        "ENTRY e { x = u64[] parameter(0) f = f64[] bitcast-convert(x) ROOT r = f32[] convert(f) }";
    verdicts(doubles, &["u64[] 4607182418800017408"], &[("f32[] 0", Differs)]);
    // What is only moved keeps its bits.
    let moved = "ENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] reverse(x), dimensions={0} }";
    verdicts(moved, &["f32[2] {1e-40, 1}"], &[("f32[2] {1, 0}", Differs)]);
}

/// `x` with an error of a few units: its logarithm's exponential.
const NEAR: &str = "x = f32[] parameter(0) l = f32[] log(x) e = f32[] exponential(l)";

#[test]
fn an_open_decision_has_its_candidates() {
    let of = |root: &str| format!("ENTRY e {{ {NEAR} {root} }}");
    for (op, x, candidates) in [
        ("floor", "f32[] 3", ["f32[] 2", "f32[] 3"]),
        ("ceil", "f32[] 3", ["f32[] 4", "f32[] 3"]),
        ("round-nearest-afz", "f32[] 2.5", ["f32[] 2", "f32[] 3"]),
        ("round-nearest-even", "f32[] 3.5", ["f32[] 4", "f32[] 3"]),
    ] {
        let body = of(&format!("ROOT r = f32[] {op}(e)"));
        for candidate in candidates {
            let judgement = check(&format!("HloModule m\n{body}"), &[x], candidate);
            assert_ne!(judgement.verdict, Differs, "{op} {candidate}: {judgement:?}");
        }
        verdicts(
            &body,
            &[x],
            &[("f32[] 2.75", Differs), ("f32[] 3.25", Differs), ("f32[] 5", Differs)],
        );
    }
    // The candidates pass through what follows.
    let body = of("f = f32[] floor(e) h = f32[] constant(10) m = f32[] multiply(f, h)
        b = f32[2] broadcast(m), dimensions={} ROOT r = f32[2] negate(b)");
    let results = [("f32[2] {-20, -30}", WithinBound), ("f32[2] {-25, -30}", Differs)];
    verdicts(&body, &["f32[] 3"], &results);
    let decided =
        of("p = pred[] compare(e, x), direction=GE a = f32[] constant(1) b = f32[] constant(100)
        q = f32[] convert(p) s = f32[] select(p, a, b) ROOT r = (f32[], f32[]) tuple(q, s)");
    let judgement =
        check(&format!("HloModule m\n{decided}"), &["f32[] 3.3"], "(f32[] 0.5, f32[] 50)");
    assert_eq!((judgement.verdict, judgement.measures.wrong), (Differs, 2));
    assert_eq!(judgement.cause.as_deref(), Some("e/p"), "{judgement:?}");
}

#[test]
fn a_conditional_may_take_either_branch() {
    let body = format!(
        "t {{ x = f32[] parameter(0) c = f32[] constant(10) ROOT r = f32[] add(x, c) }}
         f {{ x = f32[] parameter(0) c = f32[] constant(20) ROOT r = f32[] add(x, c) }}
         ENTRY e {{ {NEAR} p = pred[] compare(e, x), direction=GE
           ROOT r = f32[] conditional(p, x, x), true_computation=t, false_computation=f }}"
    );
    for x in ["f32[] 13.3", "f32[] 23.3"] {
        let judgement = check(&format!("HloModule m\n{body}"), &["f32[] 3.3"], x);
        assert_ne!(judgement.verdict, Differs, "{judgement:?}");
    }
    verdicts(&body, &["f32[] 3.3"], &[("f32[] 18.3", Differs)]);
}

#[test]
fn the_payload_of_a_tie_is_one_of_its_elements() {
    let reduce = "f { a = f32[] parameter(0) i = s32[] parameter(1) b = f32[] parameter(2) j = s32[] parameter(3)
          p = pred[] compare(a, b), direction=GE v = f32[] select(p, a, b) k = s32[] select(p, i, j)
          ROOT r = (f32[], s32[]) tuple(v, k) }
        ENTRY e { x = f32[5] parameter(0) i = s32[5] parameter(1) m = f32[] constant(-inf) z = s32[] constant(-1)
          ROOT r = (f32[], s32[]) reduce(x, i, m, z), dimensions={0}, to_apply=f }";
    let x = ["f32[5] {1, 7, 2, 7, 7}", "s32[5] {10, 20, 30, 40, 50}"];
    let results = [
        ("(f32[] 7, s32[] 40)", WithinBound),
        ("(f32[] 7, s32[] 50)", WithinBound),
        ("(f32[] 7, s32[] 30)", Differs),
        ("(f32[] 7, s32[] 45)", Differs),
        ("(f32[] 2, s32[] 20)", Differs),
    ];
    verdicts(reduce, &x, &results);
    let sort = "f { a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)
          ROOT p = pred[] compare(a, b), direction=LT }
        ENTRY e { x = f32[4] parameter(0) i = s32[4] parameter(1)
          ROOT r = (f32[4], s32[4]) sort(x, i), dimensions={0}, to_apply=f }";
    let x = ["f32[4] {3, 3, 1, 2}", "s32[4] {10, 30, 50, 70}"];
    let results = [
        ("(f32[4] {1, 2, 3, 3}, s32[4] {50, 70, 30, 10})", WithinBound),
        ("(f32[4] {1, 2, 3, 3}, s32[4] {50, 70, 20, 10})", Differs),
    ];
    verdicts(sort, &x, &results);
}

#[test]
fn roots_have_two_values_at_the_cut() {
    let body = "ENTRY e { x = c128[] parameter(0) c = c128[] constant((1, 0)) y = c128[] multiply(x, c) ROOT r = c128[] sqrt(y) }";
    // The root of -4 is 2i, or -2i with an imaginary part of -0: nothing between, and no denormals
    // are involved.
    for wrong in ["c128[] (0, 1)", "c128[] (0.5, 2)"] {
        verdicts(body, &["c128[] (-4, 0)"], &[(wrong, Differs)]);
    }
    for near in ["1e-17", "0", "-1e-17"] {
        let x = format!("c128[] (-4, {near})");
        let judgement = check(&format!("HloModule m\n{body}"), &[&x], "c128[] (1e-17, -2)");
        assert!(!judgement.modes.contains(&Mode::FlushedDenormals), "{near}: {judgement:?}");
    }
}

#[test]
fn reports_show_values_that_have_no_distance() {
    let body = "HloModule m\nENTRY e { x = f32[2] parameter(0) i = s32[] parameter(1) ROOT r = (f32[2], s32[]) tuple(x, i) }";
    let arguments = ["f32[2] {1, inf}", "s32[] 7"];
    let text = check(body, &arguments, "(f32[2] {1, 3}, s32[] 7)").to_string();
    assert_eq!(text, "1 of 3 elements differ\nworst: out0[1]: found f32[] 3, expected f32[] inf\n");
    let judgement = check(body, &arguments, "(f32[2] {1, inf}, s32[] 12)");
    assert_eq!(judgement.measures.max_ulps, 0);
    assert!(!judgement.to_string().contains("ulp"), "{judgement}");
}

#[test]
fn the_worst_element_has_its_inputs() {
    let inputs = |body: &str, arguments: &[&str], actual: &str| {
        let judgement = check(&format!("HloModule m\n{body}"), arguments, actual);
        judgement.measures.worst.unwrap().inputs
    };
    let add = "ENTRY e { x = f32[2] parameter(0) y = f32[2] negate(x) a = f32[2] add(x, y)
        m = f32[2] multiply(x, y) ROOT r = (f32[2], f32[2]) tuple(a, m) }";
    let found = inputs(add, &["f32[2] {3, 5}"], "(f32[2] {0, 0}, f32[2] {-9, 5})");
    assert_eq!(found, ["x[1] = f32[] 5", "y[1] = f32[] -5"]);
    let dot = "ENTRY e { x = f32[2,2] parameter(0) y = f32[2,3] parameter(1)
        ROOT d = f32[2,3] dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0} }";
    let arguments = ["f32[2,2] {{1, 2}, {3, 4}}", "f32[2,3] {{1, 1, 1}, {0, 0, 0}}"];
    let found = inputs(dot, &arguments, "f32[2,3] {{1, 1, 1}, {3, 3, 4}}");
    assert_eq!(found, ["x[1,:]", "y[:,2]"]);
    let sum = "f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }
        ENTRY e { x = f32[2,2] parameter(0) z = f32[] constant(0)
        ROOT s = f32[2] reduce(x, z), dimensions={0}, to_apply=f }";
    let found = inputs(sum, &["f32[2,2] {{1, 2}, {3, 4}}"], "f32[2] {4, 7}");
    assert_eq!(found, ["x[:,1]", "z[] = f32[] 0"]);
}

#[test]
fn a_backend_states_its_own_accuracy() {
    let text = "HloModule m\nENTRY e { x = f32[] parameter(0) y = f32[] parameter(1) ROOT r = f32[] divide(x, y) }";
    let module = verified(text);
    let arguments: Vec<Literal> = ["f32[] 1", "f32[] 3"].map(|x| x.parse().unwrap()).to_vec();
    let expected = [interp::run(&module, &arguments).unwrap()];
    let of = |stated: &Accuracies, actual: &str| {
        let options = JudgeOptions { accuracies: stated.clone(), ..JudgeOptions::default() };
        judge_with(
            &options,
            &module,
            std::slice::from_ref(&arguments),
            &expected,
            &[actual.parse().unwrap()],
        )
    };
    // Three units above the nearest number.
    let stated = Accuracies::default().with(hlo::Opcode::Divide, None, 3.5);
    let judgement = of(&stated, "f32[] 0.33333343");
    assert_eq!((judgement.verdict, judgement.modes), (WithinBound, vec![Mode::StatedAccuracy]));
    assert_eq!(of(&stated, "f32[] 0.3333336").verdict, Differs);
    assert_eq!(of(&Accuracies::default(), "f32[] 0.33333343").verdict, Differs);
}

#[test]
fn undecided_comparisons_are_undefined() {
    let text =
        "HloModule m\nENTRY e { x = f32[] parameter(0) l = f32[] log(x) e = f32[] exponential(l)
        p = pred[] compare(e, x), direction=GT a = f32[] constant(1) b = f32[] constant(100)
        ROOT r = f32[] select(p, a, b) }";
    for actual in ["f32[] 50", "f32[] 200"] {
        assert_eq!(check(text, &["f32[] 3.3"], actual).verdict, Differs);
    }
    for actual in ["f32[] 1", "f32[] 100"] {
        assert_ne!(check(text, &["f32[] 3.3"], actual).verdict, Differs);
    }
    let text = text.replace("ROOT r = f32[] select(p, a, b)", "ROOT r = s32[] convert(p)");
    let judgement = check(&text, &["f32[] 3.3"], "s32[] 1");
    let other = check(&text, &["f32[] 3.3"], "s32[] 0");
    assert!(judgement.verdict == WithinBound || other.verdict == WithinBound);
    let looped = "HloModule m
        c { x = f32[] parameter(0) y = f32[] exponential(x) one = f32[] constant(7.389056)
          ROOT p = pred[] compare(y, one), direction=LT }
        b { x = f32[] parameter(0) h = f32[] constant(0.5) ROOT n = f32[] add(x, h) }
        ENTRY e { x = f32[] parameter(0) ROOT w = f32[] while(x), condition=c, body=b }";
    // The loop ends at 2, or one round later.
    for (actual, verdict) in [("f32[] 2.5", WithinBound), ("f32[] 3", Differs)] {
        assert_eq!(check(looped, &["f32[] 0"], actual).verdict, verdict, "{actual}");
    }
    let text = "HloModule m\nENTRY e { x = f32[] parameter(0) e = f32[] exponential(x)
        s = f32[] subtract(e, x) ROOT r = f32[] divide(x, s) }";
    let text = text
        .replace("subtract(e, x)", "subtract(e, y)")
        .replace("s = f32", "l = f32[] log(e) y = f32[] exponential(l) s = f32");
    assert_eq!(check(&text, &["f32[] 1.5"], "f32[] 77").verdict, Differs);
    let of_both = "t = f32[] subtract(y, e) ROOT r = f32[] divide(t, s)";
    let text = text.replace("ROOT r = f32[] divide(x, s)", of_both);
    let judgement = check(&text, &["f32[] 1.5"], "f32[] 77");
    assert_eq!((judgement.verdict, judgement.cause.as_deref()), (Undefined, Some("e/r")));
}
