//! Tests of wrong values next to results that are open.
use super::Verdict::{Agrees, Differs, NotTested, Undefined, WithinBound};
use super::check;
use super::rules::verdicts;

const POOLING: &str = "ge { a = f32[] parameter(0) b = f32[] parameter(1)
      ROOT c = pred[] compare(a, b), direction=GE }
    sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }";

#[test]
fn selections_of_windows_without_overlap_are_certain() {
    let gradient = format!(
        "{POOLING} ENTRY e {{ x = f32[6] parameter(0) s = f32[3] parameter(1)
        z = f32[] constant(0) t = f32[6] tanh(x)
        ROOT r = f32[6] select-and-scatter(t, s, z), window={{size=2 stride=2}}, select=ge,
          scatter=sum }}"
    );
    let arguments = ["f32[6] {.1, .2, .3, .4, .5, .1}", "f32[3] {10, 20, 30}"];
    verdicts(
        &gradient,
        &arguments,
        &[
            ("f32[6] {0, 10, 0, 20, 30, 0}", Agrees),
            ("f32[6] {99, -5, 0, 20, 30, 0}", Differs),
            ("f32[6] {10, 0, 0, 20, 30, 0}", Differs),
        ],
    );
    // The order of the middle window is open.
    let arguments = ["f32[6] {.1, .2, .3, .3, .5, .1}", "f32[3] {10, 20, 30}"];
    verdicts(
        &gradient,
        &arguments,
        &[
            ("f32[6] {0, 10, 20, 0, 30, 0}", Agrees),
            ("f32[6] {0, 10, 0, 20, 30, 0}", WithinBound),
            ("f32[6] {0, 10, 0, 21, 30, 0}", Differs),
            ("f32[6] {1, 10, 0, 20, 30, 0}", Differs),
        ],
    );
}

#[test]
fn a_denormal_is_not_selected_before_large_numbers() {
    let gradient = format!(
        "{POOLING} ENTRY e {{ x = f32[4] parameter(0) s = f32[2] parameter(1)
        z = f32[] constant(0)
        ROOT r = f32[4] select-and-scatter(x, s, z), window={{size=2 stride=2}}, select=ge,
          scatter=sum }}"
    );
    verdicts(
        &gradient,
        &["f32[4] {1, 2, 5, 1e-40}", "f32[2] {10, 20}"],
        &[
            ("f32[4] {0, 10, 20, 0}", Agrees),
            ("f32[4] {0, 10, 0, 20}", Differs),
            ("f32[4] {0, 11, 20, 0}", Differs),
        ],
    );
}

#[test]
fn transforms_mix_no_images_and_no_features() {
    let convolution = |size: &str, labels: &str, out: &str| {
        format!(
            "ENTRY e {{ x = f32[2,4,1] parameter(0) k = f32[2,1,2] parameter(1)
            ROOT c = {out} convolution(x, k), window={{{size}}}, dim_labels={labels} }}"
        )
    };
    let overlapping = convolution("size=2", "b0f_0io->b0f", "f32[2,3,2]");
    let arguments = [
        "f32[2,4,1] {{{1e9}, {1e9}, {1e9}, {1e9}}, {{1}, {1}, {1}, {1}}}",
        "f32[2,1,2] {{{1, 1e9}}, {{1, 1e9}}}",
    ];
    let result = |x: &str, y: &str| {
        format!(
            "f32[2,3,2] {{{{{{2e9, 2e18}}, {{2e9, 2e18}}, {{2e9, 2e18}}}},
            {{{{2, 2e9}}, {{2, {y}}}, {{{x}, 2e9}}}}}}"
        )
    };
    verdicts(
        &overlapping,
        &arguments,
        &[
            (&result("2", "2e9"), Agrees),
            (&result("2.000001", "2e9"), WithinBound),
            (&result("3", "2e9"), Differs),
            (&result("2", "2.1e9"), Differs),
        ],
    );
    let apart = convolution("size=2 stride=2", "b0f_0io->b0f", "f32[2,2,2]");
    let arguments = [
        "f32[2,4,1] {{{1e9}, {1e9}, {1}, {1}}, {{1}, {1}, {1}, {1}}}",
        "f32[2,1,2] {{{1, 1}}, {{1, 1}}}",
    ];
    verdicts(
        &apart,
        &arguments,
        &[("f32[2,2,2] {{{2e9, 2e9}, {2, 3}}, {{2, 2}, {2, 2}}}", Differs)],
    );
}

#[test]
fn a_window_in_the_padding_has_few_terms() {
    let cumsum = "sum { a = bf16[] parameter(0) b = bf16[] parameter(1) ROOT c = bf16[] add(a, b) }
        ENTRY e { x = bf16[300] parameter(0) z = bf16[] constant(0)
        ROOT r = bf16[300] reduce-window(x, z), window={size=300 pad=299_0}, to_apply=sum }";
    let list = |first: f64, all: &dyn Fn(u32) -> f64| {
        let all = (1..300).map(|i| all(i).to_string());
        let all: Vec<String> = std::iter::once(first.to_string()).chain(all).collect();
        format!("bf16[300] {{{}}}", all.join(", "))
    };
    let x = list(1.0, &|_| 1.1);
    let right = |i: u32| 1.0 + 1.101_562_5 * f64::from(i);
    let (right, wrong) = (list(1.0, &right), list(1.5, &right));
    let judged = |actual: &str| check(&format!("HloModule m\n{cumsum}"), &[&x], actual).verdict;
    assert_ne!(judged(&right), Differs);
    assert_eq!(judged(&wrong), Differs);
}

#[test]
fn rows_of_a_reduction_have_their_own_signs_and_digits() {
    let rows = |n: usize| {
        format!(
            "sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}
            ENTRY e {{ x = f32[2,{n}] parameter(0) z = f32[] constant(0)
            ROOT r = f32[2] reduce(x, z), dimensions={{1}}, to_apply=sum }}"
        )
    };
    verdicts(
        &rows(3),
        &["f32[2,3] {{3e38, 3e38, 1}, {-1, -2, 0}}"],
        &[("f32[2] {inf, -3}", Agrees), ("f32[2] {5, -3}", Differs)],
    );
    let numbers = (1..=1000).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let tenths = vec!["0.1"; 1000].join(", ");
    verdicts(
        &rows(1000),
        &[&format!("f32[2,1000] {{{{{numbers}}}, {{{tenths}}}}}")],
        &[("f32[2] {500500, 100.0001}", WithinBound), ("f32[2] {500501, 100}", Differs)],
    );
}

#[test]
fn beyond_a_format_without_infinities_is_nan_or_the_largest_number() {
    let binary = |op: &str| {
        format!(
            "ENTRY e {{ x = f8e4m3fn[] parameter(0) y = f8e4m3fn[] parameter(1)
            ROOT r = f8e4m3fn[] {op}(x, y) }}"
        )
    };
    let legal = |body: &str, arguments: &[&str]| {
        verdicts(
            body,
            arguments,
            &[
                ("f8e4m3fn[] nan", Agrees),
                ("f8e4m3fn[] 448", WithinBound),
                ("f8e4m3fn[] 416", Differs),
                ("f8e4m3fn[] -448", Differs),
                ("f8e4m3fn[] 3", Differs),
            ],
        );
    };
    let numbers = ["f8e4m3fn[] 384", "f8e4m3fn[] 384"];
    legal(&binary("add"), &numbers);
    legal(&binary("multiply"), &numbers);
    let convert = "ENTRY e { x = f32[] parameter(0) ROOT r = f8e4m3fn[] convert(x) }";
    legal(convert, &["f32[] 1000"]);
    let sum = "sum { a = f8e4m3fn[] parameter(0) b = f8e4m3fn[] parameter(1)
          ROOT c = f8e4m3fn[] add(a, b) }
        ENTRY e { x = f8e4m3fn[3] parameter(0) z = f8e4m3fn[] constant(0)
        ROOT r = f8e4m3fn[] reduce(x, z), dimensions={0}, to_apply=sum }";
    legal(sum, &["f8e4m3fn[3] {384, 384, 384}"]);
    // The sum may stay wide, be NaN or the largest number; so may be the difference.
    let kept = "ENTRY e { x = f8e4m3fn[] parameter(0) y = f8e4m3fn[] add(x, x)
        ROOT r = f8e4m3fn[] subtract(y, x) }";
    verdicts(
        kept,
        &["f8e4m3fn[] 384"],
        &[
            ("f8e4m3fn[] nan", Agrees),
            ("f8e4m3fn[] 384", WithinBound),
            ("f8e4m3fn[] 64", WithinBound),
            ("f8e4m3fn[] 200", Differs),
        ],
    );
}

#[test]
fn ops_of_integers_follow_a_range() {
    // About 250 integers near 989712905, of which one is even and the next odd.
    let of = |ty: &str, op: &str| {
        format!(
            "ENTRY e {{ x = f32[] parameter(0) e = f32[] exponential(x) c = f32[] constant(1e5) m = f32[] multiply(e, c)
              i = s32[] convert(m) n = s32[] negate(i) u = u32[] convert(i)
              seven = s32[] constant(7) four = s32[] constant(4) big = s32[] constant(65280) two = u32[] constant(2)
              thousand = s32[] constant(1000) million = s32[] constant(1000000) ROOT r = {ty}[] {op} }}"
        )
    };
    let x = ["f32[] 9.2"];
    for (ty, op, legal, wrong) in [
        ("s32", "abs(n)", "989712896", "989812896"),
        ("s32", "sign(n)", "-1", "1"),
        ("s32", "not(i)", "-989712897", "989712897"),
        ("s32", "and(i, big)", "53760", "58854"),
        ("s32", "or(i, seven)", "989712903", "989812896"),
        ("s32", "xor(n, seven)", "-989712889", "989712889"),
        ("s32", "shift-right-arithmetic(n, four)", "-61857056", "61857056"),
        ("u32", "shift-right-logical(u, two)", "247428224", "247528224"),
        ("s32", "shift-left(n, four)", "1344462848", "-1344462848"),
        ("s32", "divide(n, seven)", "-141387556", "-141387000"),
        ("s32", "remainder(n, thousand)", "-896", "896"),
        ("s32", "remainder(i, million)", "712896", "713896"),
        ("s32", "count-leading-zeros(i)", "2", "3"),
        ("s32", "popcnt(i)", "15", "29"),
        ("s32", "multiply(i, seven)", "-1661944320", "1661944320"),
        ("s16", "convert(i)", "-11776", "18240"),
    ] {
        let text = of(ty, op);
        let judged = |value: &str| {
            check(&format!("HloModule m\n{text}"), &x, &format!("{ty}[] {value}")).verdict
        };
        assert!(!judged(legal).is_bad(), "{op}: {legal} is {:?}", judged(legal));
        assert_eq!(judged(wrong), Differs, "{op}: {wrong}");
    }
}

#[test]
fn bits_of_what_is_nearly_known_are_nearly_known() {
    let bits = "ENTRY e { x = f32[2] parameter(0) s = f32[2] sine(x) b = s32[2] bitcast-convert(s)
        h = s32[] constant(31) a = s32[2] broadcast(h), dimensions={} ROOT t = s32[2] shift-right-arithmetic(b, a) }";
    // Neither sine is near 0.
    let x = ["f32[2] {-3.0, 2.0}"];
    verdicts(bits, &x, &[("s32[2] {-1, 0}", Agrees), ("s32[2] {0, 0}", Differs)]);
    let exponent =
        "ENTRY e { x = f32[] parameter(0) s = f32[] exponential(x) b = u32[] bitcast-convert(s)
        c = u32[] constant(23) ROOT t = u32[] shift-right-logical(b, c) }";
    verdicts(exponent, &["f32[] 1"], &[("u32[] 128", Agrees), ("u32[] 127", Differs)]);
    // A number below or above 1: either exponent, and no other.
    let either = [("u32[] 127", WithinBound), ("u32[] 125", Differs), ("u32[] 128", Differs)];
    verdicts(exponent, &["f32[] -5e-8"], &[either[0], either[1]]);
    verdicts(exponent, &["f32[] -5e-8"], &either[2..]);
    let back =
        "ENTRY e { x = f32[] parameter(0) s = f32[] exponential(x) b = s32[] bitcast-convert(s)
        m = s32[] constant(2147483647) a = s32[] and(b, m) ROOT t = f32[] bitcast-convert(a) }";
    let results =
        [("f32[] 2.718282", WithinBound), ("f32[] 2.7183", Differs), ("f32[] nan", Differs)];
    verdicts(back, &["f32[] 1"], &results);
    // Bits that are unknown but for those of the exponent.
    let uniform = "ENTRY e { k = u64[2] parameter(0)
        g = (u64[2], u32[4]) rng-bit-generator(k), algorithm=rng_philox v = u32[4] get-tuple-element(g), index=1
        c = u32[] constant(9) n = u32[4] broadcast(c), dimensions={} s = u32[4] shift-right-logical(v, n)
        o = u32[] constant(1065353216) e = u32[4] broadcast(o), dimensions={} w = u32[4] or(s, e)
        ROOT f = f32[4] bitcast-convert(w) }";
    let results = [
        ("f32[4] {1, 1.5, 1.25, 1.999}", NotTested),
        ("f32[4] {1, 1.5, 2, 1}", Differs),
        ("f32[4] {1, nan, 1, 1}", Differs),
    ];
    verdicts(uniform, &["u64[2] {1, 2}"], &results);
}

#[test]
fn an_open_index_of_a_scatter_opens_only_its_elements() {
    let of = |shape: &str, combine: &str| {
        format!(
            "f {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] {combine} }}
            ENTRY e {{ y = f32[{shape}] parameter(0) t = f32[6] parameter(1) u = f32[{shape}] parameter(2)
              e = f32[{shape}] exponential(y) i = s32[{shape}] convert(e) j = s32[{shape},1] reshape(i)
              ROOT s = f32[6] scatter(t, j, u), update_window_dims={{}}, inserted_window_dims={{0}},
                scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=f }}"
        )
    };
    // 1, 2 or 3, and 4.
    let open = "f32[3] {0.1, 1.0986123, 1.5}";
    let arguments = [open, "f32[6] {0, 1, 2, 3, 4, 5}", "f32[3] {10, 20, 100}"];
    let sums = [
        ("f32[6] {0, 11, 22, 3, 104, 5}", WithinBound),
        ("f32[6] {0, 11, 2, 23, 104, 5}", Agrees),
        ("f32[6] {0, 11, 12, 3, 104, 5}", Differs),
        ("f32[6] {0, 11, 2, 23, 4, 5}", Differs),
        ("f32[6] {7, 11, 2, 23, 104, 5}", Differs),
    ];
    verdicts(&of("3", "add(a, b)"), &arguments, &sums);
    let last = [
        ("f32[6] {0, 10, 20, 3, 100, 5}", WithinBound),
        ("f32[6] {0, 10, 2, 20, 100, 5}", Agrees),
        ("f32[6] {0, 10, 22, 3, 100, 5}", Differs),
    ];
    verdicts(&of("3", "add(b, a)").replace("add(b, a)", "copy(b)"), &arguments, &last);
    // Two that may be 2 or 3, twelve that may be 3 or 4 as well: too many to choose apart.
    let two = ["f32[2] {1.0986123, 1.0986123}", "f32[6] {0, 0, 0, 0, 0, 0}", "f32[2] {1, 10}"];
    let sums = [
        ("f32[6] {0, 0, 11, 0, 0, 0}", WithinBound),
        ("f32[6] {0, 0, 10, 1, 0, 0}", WithinBound),
        ("f32[6] {0, 0, 0, 12, 0, 0}", Differs),
        ("f32[6] {0, 1, 0, 11, 0, 0}", Differs),
    ];
    verdicts(&of("2", "add(a, b)"), &two, &sums);
    let many = |x: &str| [x; 6].join(", ");
    let (x, ones) =
        (format!("f32[6] {{{}}}", many("1.0986123")), format!("f32[6] {{{}}}", many("1")));
    let many = [&*x, "f32[6] {0, 0, 0, 0, 0, 0}", &*ones];
    verdicts(
        &of("6", "add(a, b)"),
        &many,
        &[("f32[6] {0, 0, 9, 0, 0, 0}", Undefined), ("f32[6] {0, 0, 6, 0, 1, 0}", Differs)],
    );
    // Apart from each other, any number of them.
    let apart = [
        "f32[6] {0, 1.0986123, 1.0986123, 1.609438, 1.609438, 1.609438}",
        "f32[6] {0, 0, 0, 0, 0, 0}",
        &*ones,
    ];
    verdicts(
        &of("6", "add(a, b)"),
        &apart,
        &[("f32[6] {0, 1, 2, 0, 1, 2}", WithinBound), ("f32[6] {0, 1, 3, 0, 1, 2}", Differs)],
    );
}

#[test]
fn random_numbers_are_where_their_distribution_is() {
    let of = |ty: &str, a: &str, b: &str, distribution: &str, after: &str| {
        format!(
            "ENTRY e {{ a = {ty}[] constant({a}) b = {ty}[] constant({b})
               n = {ty}[3] rng(a, b), distribution={distribution} ROOT r = {ty}[3] {after} }}"
        )
    };
    let floats = of("f32", "2", "3", "rng_uniform", "copy(n)");
    verdicts(
        &floats,
        &[],
        &[
            ("f32[3] {2, 2.5, 2.75}", WithinBound),
            ("f32[3] {2, 3.5, 2.75}", Differs),
            ("f32[3] {1.9999999, 2.5, 2.75}", Differs),
            ("f32[3] {2, 2.5, nan}", Differs),
        ],
    );
    let log = of("f32", "0", "1", "rng_uniform", "log(n)");
    verdicts(&log, &[], &[("f32[3] {-inf, -1, -2}", NotTested), ("f32[3] {-1, -2, 0.5}", Differs)]);
    let integers = of("s32", "-2", "5", "rng_uniform", "copy(n)");
    verdicts(&integers, &[], &[("s32[3] {-2, 4, 0}", WithinBound), ("s32[3] {-2, 5, 0}", Differs)]);
    let normal = of("f32", "2", "3", "rng_normal", "copy(n)");
    verdicts(&normal, &[], &[("f32[3] {-20, 2, 30}", NotTested), ("f32[3] {2, 2, nan}", Differs)]);
    let unknown = of("f32", "2", "-3", "rng_normal", "copy(n)");
    verdicts(&unknown, &[], &[("f32[3] {2, 2, nan}", Undefined)]);
}

#[test]
fn a_zero_has_the_sign_of_what_is_nearly_known() {
    let of = |op: &str| {
        format!(
            "ENTRY e {{ x = f32[] parameter(0) z = f32[] parameter(1) s = f32[] sine(x)
               h = f32[] constant(0.5) m = f32[] multiply(s, h) ROOT r = f32[] {op} }}"
        )
    };
    for (op, x, zero, other) in [
        ("multiply(s, z)", "f32[] -3", "-0", "0"),
        ("multiply(z, s)", "f32[] 3", "0", "-0"),
        ("divide(z, s)", "f32[] -3", "-0", "0"),
        ("ceil(m)", "f32[] -0.5", "-0", "0"),
        ("floor(m)", "f32[] 0.5", "0", "-0"),
        ("round-nearest-even(m)", "f32[] -0.5", "-0", "0"),
    ] {
        let results = [(format!("f32[] {zero}"), Agrees), (format!("f32[] {other}"), Differs)];
        let results = results.each_ref().map(|(value, verdict)| (value.as_str(), *verdict));
        verdicts(&of(op), &[x, "f32[] 0"], &results);
    }
    // An end of 0 stands for both zeros.
    verdicts(&of("multiply(s, z)"), &["f32[] 0", "f32[] 0"], &[("f32[] -0", Differs)]);
}

#[test]
fn a_select_by_a_comparison_of_what_it_selects_may_flush() {
    let of = |select: &str| {
        format!(
            "w {{ p = pred[2] parameter(0) a = f32[2] parameter(1) b = f32[2] parameter(2)
               ROOT s = f32[2] select(p, a, b) }}
             ENTRY e {{ x = f32[2] parameter(0) y = f32[2] parameter(1) p = pred[2] parameter(2)
               c = pred[2] compare(x, y), direction=GT ROOT r = f32[2] {select} }}"
        )
    };
    let arguments = ["f32[2] {1e-40, 2}", "f32[2] {1, 1}", "pred[2] {false, true}"];
    for select in ["select(c, y, x)", "call(c, y, x), to_apply=w"] {
        let results = [
            ("f32[2] {0, 1}", WithinBound),
            ("f32[2] {1e-40, 2}", Differs),
            ("f32[2] {5e-41, 1}", Differs),
        ];
        verdicts(&of(select), &arguments, &results);
    }
    verdicts(&of("select(p, y, x)"), &arguments, &[("f32[2] {0, 1}", Differs)]);
}

#[test]
fn beside_the_edge_of_a_domain_is_nan_or_a_value_of_its_inside() {
    // y is the logarithm of 3: d is within 5e-7 of 0.
    let of = |ty: &str, op: &str| {
        format!(
            "ENTRY e {{ y = {ty}[] parameter(0) n = {ty}[] parameter(1) e = {ty}[] exponential(y) m = {ty}[] constant(3)
               t = {ty}[] constant(2) h = {ty}[] constant(0.5) w = {ty}[] constant(-0.5) d = {ty}[] subtract(e, m)
               c = {ty}[] subtract(e, t) l = {ty}[] negate(c) ROOT r = {ty}[] {op} }}"
        )
    };
    let judged = |ty: &str, op: &str, y: &str, value: &str| {
        let arguments = [format!("{ty}[] {y}"), format!("{ty}[] 1")];
        let arguments = arguments.each_ref().map(String::as_str);
        check(&format!("HloModule m\n{}", of(ty, op)), &arguments, &format!("{ty}[] {value}"))
            .verdict
    };
    for (op, legal, wrong) in [
        ("sqrt(d)", ["nan", "0", "4e-4"], ["1", "-1", "inf"]),
        ("rsqrt(d)", ["nan", "inf", "4e3"], ["100", "-5", "0"]),
        ("log(d)", ["nan", "-inf", "-15"], ["5", "-10", "inf"]),
        ("log-plus-one(l)", ["nan", "-inf", "-15"], ["5", "-10", "inf"]),
        ("acos(c)", ["nan", "0", "5e-4"], ["-0.1", "0.1", "3.14"]),
        ("asin(c)", ["nan", "1.5707964", "1.5705"], ["-1.5", "1.5", "2"]),
        ("atanh(c)", ["nan", "inf", "8"], ["5", "-8", "-inf"]),
        ("acosh(c)", ["nan", "0", "5e-4"], ["-0.1", "0.1", "2"]),
        ("power(d, h)", ["nan", "0", "4e-4"], ["1", "-1", "inf"]),
        ("power(d, w)", ["nan", "inf", "4e3"], ["100", "-5", "0"]),
        ("divide(n, d)", ["inf", "-inf", "4e6"], ["1", "-1e5", "nan"]),
        ("divide(e, d)", ["inf", "-inf", "-1e7"], ["1", "-1e5", "nan"]),
    ] {
        for value in legal {
            let found = judged("f32", op, "1.0986123", value);
            assert!(
                matches!(found, Agrees | WithinBound | NotTested),
                "{op}: {value} is {found:?}"
            );
        }
        for value in wrong {
            assert_eq!(judged("f32", op, "1.0986123", value), Differs, "{op}: {value}");
        }
    }
    for (op, wrong) in [("sqrt(d)", "1"), ("divide(n, d)", "1"), ("acos(c)", "-0.1")] {
        assert_eq!(judged("f64", op, "1.0986122886681098", wrong), Differs, "{op}");
        assert_eq!(judged("bf16", op, "1.1015625", wrong), Differs, "{op}");
    }
}

#[test]
fn random_numbers_that_are_shown_are_one_value() {
    let of = |root: &str| {
        format!(
            "ENTRY e {{ k = u64[2] parameter(0) g = (u64[2], u32[2]) rng-bit-generator(k), algorithm=rng_philox
              b = u32[2] get-tuple-element(g), index=1 c = u32[] constant(8) n = u32[2] broadcast(c), dimensions={{}}
              h = u32[2] shift-right-logical(b, n) z = f32[] constant(0) o = f32[] constant(1)
              u = f32[] rng(z, o), distribution=rng_uniform {root} }}"
        )
    };
    let key = ["u64[2] {1, 2}"];
    let shown = of("ROOT r = (u32[2], u32[2]) tuple(b, h)");
    let results = [
        ("(u32[2] {256, 4294967295}, u32[2] {1, 16777215})", Undefined),
        ("(u32[2] {256, 4294967295}, u32[2] {2, 16777215})", Differs),
    ];
    verdicts(&shown, &key, &results);
    verdicts(&of("ROOT r = u32[2] copy(h)"), &key, &[("u32[2] {2, 3}", WithinBound)]);
    let repeated = of("ROOT r = f32[2] broadcast(u), dimensions={}");
    let results = [
        ("f32[2] {0.3, 0.3}", NotTested),
        ("f32[2] {0.3, 0.2}", Differs),
        ("f32[2] {1.5, 1.5}", Differs),
    ];
    verdicts(&repeated, &key, &results);
    let product = of("d = f32[] multiply(u, u) ROOT r = (f32[], f32[]) tuple(u, d)");
    verdicts(
        &product,
        &key,
        &[("(f32[] 0.5, f32[] 0.25)", NotTested), ("(f32[] 0.5, f32[] 0.3)", Differs)],
    );
}

#[test]
fn a_value_that_is_returned_twice_is_one_value() {
    let sine =
        "ENTRY e { x = f32[] parameter(0) y = f32[] sine(x) ROOT r = (f32[], f32[]) tuple(y, y) }";
    let results = [
        ("(f32[] 0.84147102, f32[] 0.84147102)", WithinBound),
        ("(f32[] 0.84147102, f32[] 0.84147096)", Differs),
    ];
    verdicts(sine, &["f32[] 1"], &results);
}

#[test]
fn products_of_small_complex_integers_are_exact() {
    let product =
        "ENTRY e { x = c64[] parameter(0) y = c64[] parameter(1) ROOT r = c64[] multiply(x, y) }";
    let results = |of: &[&str]| of.iter().map(|text| format!("c64[] {text}")).collect::<Vec<_>>();
    let judged = |text: &str, arguments: &[&str], legal: &[&str], wrong: &[&str]| {
        let [legal, wrong] = [legal, wrong].map(results);
        let legal = legal.iter().map(|value| (value.as_str(), [Agrees, WithinBound]));
        let wrong = wrong.iter().map(|value| (value.as_str(), [Differs, Differs]));
        for (value, verdicts) in legal.chain(wrong) {
            let found = check(&format!("HloModule m\n{text}"), arguments, value);
            assert!(verdicts.contains(&found.verdict), "{value}: {found}");
        }
    };
    let small = ["c64[] (1, 2)", "c64[] (2, 1)"];
    judged(product, &small, &["(0, 5)", "(-0, 5)"], &["(0, 5.0000005)", "(1e-7, 5)"]);
    // Of 24 digits, a form of three products rounds sums.
    let large = ["c64[] (1.0000001, 3)", "c64[] (1.0000001, 1)"];
    judged(product, &large, &["(-1.9999998, 4.0000005)", "(-1.9999999, 4)"], &["(-1.9999, 4)"]);
    let all = "mul { a = c64[] parameter(0) b = c64[] parameter(1) ROOT c = c64[] multiply(a, b) }
        ENTRY e { x = c64[3] parameter(0) o = c64[] constant((1, 0)) ROOT r = c64[] reduce(x, o), dimensions={0}, to_apply=mul }";
    judged(
        all,
        &["c64[3] {(1, 2), (2, 1), (0, 1)}"],
        &["(-5, 0)"],
        &["(-5.0000005, 0)", "(-5, 1e-7)"],
    );
}

#[test]
fn the_largest_elements_are_returned_in_order() {
    let text = "ENTRY e { x = f32[3] parameter(0) y = f32[3] sine(x) t = (f32[2], s32[2]) topk(y), k=2, largest=true
        ROOT r = f32[2] get-tuple-element(t), index=0 }";
    let results = [
        ("f32[2] {0.84147102, 0.84147096}", WithinBound),
        ("f32[2] {0.84147096, 0.84147102}", Differs),
    ];
    verdicts(text, &["f32[3] {1, 0.1, 1}"], &results);
}

#[test]
fn what_is_decided_as_a_whole_stays_so_when_it_is_moved() {
    let row = "ENTRY e { x = f32[3,2] parameter(0) i = f32[] parameter(1) c = f32[] constant(10)
        j = f32[] multiply(i, c) l = s32[] convert(j) z = s32[] constant(0)
        five = s32[] constant(5) k = s32[] subtract(l, five) d = f32[1,2] dynamic-slice(x, k, z), dynamic_slice_sizes={1,2} ROOT r = f32[2] reshape(d) }";
    let arguments = ["f32[3,2] {{1, 2}, {3, 4}, {5, 6}}", "f32[] 0.7"];
    let results = [("f32[2] {3, 4}", WithinBound), ("f32[2] {3, 6}", Differs)];
    verdicts(row, &arguments, &results);
    let ranks = "less { a = f32[] parameter(0) b = f32[] parameter(1) i = s32[] parameter(2) j = s32[] parameter(3)
          ROOT p = pred[] compare(a, b), direction=LT }
        ENTRY e { x = f32[3] parameter(0) y = f32[3] sine(x) i = s32[3] iota(), iota_dimension=0
          s = (f32[3], s32[3]) sort(y, i), dimensions={0}, to_apply=less p = s32[3] get-tuple-element(s), index=1
          ROOT r = s32[2] slice(p), slice={[1:3]} }";
    let results = [("s32[2] {2, 0}", WithinBound), ("s32[2] {0, 0}", Differs)];
    verdicts(ranks, &["f32[3] {1, 0.1, 1.0000001}"], &results);
}
