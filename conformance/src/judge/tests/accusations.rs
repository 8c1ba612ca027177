//! Tests of what the specification leaves open: no accusation.
use super::rules::verdicts;
use super::*;
use Verdict::{Differs, Undefined, WithinBound};

/// What follows from a value without a rule is estimated, what it decides is undefined.
#[test]
fn nothing_is_accused_by_a_decision_without_a_bound() {
    let text = "HloModule m
        ENTRY e { v = f32[1,1] parameter(0)
        q = (f32[1,1], f32[0], s32[]) custom-call(v), custom_call_target=\"lapack_sgehrd_ffi\",
          backend_config={low = 1 : i32, high = 1 : i32} s = f32[1,1] get-tuple-element(q), index=0
        m = f32[1,1] negate(s) z = f32[1,1] constant({{-2}}) p = pred[1,1] compare(m, z), direction=GE
        a = f32[1,1] constant({{5}}) c = f32[1,1] select(p, a, z) i = s32[1,1] convert(m)
        ROOT t = (f32[1,1], f32[1,1], s32[1,1]) tuple(s, c, i) }";
    let of = |actual: &str| check(text, &["f32[1,1] {{2}}"], actual);
    let found = of("(f32[1,1] {{2}}, f32[1,1] {{-2}}, s32[1,1] {{-1}})");
    assert_eq!(found.verdict, Undefined);
    let found = of("(f32[1,1] {{1.9999999}}, f32[1,1] {{5}}, s32[1,1] {{-2}})");
    assert_eq!(found.verdict, WithinBound);
    assert!(found.estimated.is_some_and(|reason| reason.starts_with("e/q: no bound for")));
    // The factor may have another sign.
    let found = of("(f32[1,1] {{-2}}, f32[1,1] {{5}}, s32[1,1] {{-2}})");
    assert_eq!(found.verdict, Undefined);
}

#[test]
fn bodies_that_narrow_are_what_they_say() {
    let body = "f { a = f32[] parameter(0) b = f32[] parameter(1) c = bf16[] convert(a) d = bf16[] convert(b)
          m = bf16[] maximum(c, d) ROOT r = f32[] convert(m) }
        ENTRY e { x = f32[3] parameter(0) z = f32[] constant(-9)
        ROOT s = f32[] reduce(x, z), dimensions={0}, to_apply=f }";
    let judged =
        check(&format!("HloModule m\n{body}"), &["f32[3] {1.003, 2.003, 3.003}"], "f32[] 3.003");
    assert_ne!(judged.verdict, Verdict::EtalonBug, "{judged:?}");
}

#[test]
fn exact_bodies_that_do_not_associate_have_any_tree() {
    let body = "f { a = s32[] parameter(0) b = s32[] parameter(1) k = s32[] constant(31)
          m = s32[] multiply(a, k) ROOT r = s32[] add(m, b) }
        ENTRY e { x = s32[4] parameter(0) z = s32[] constant(0)
        ROOT s = s32[] reduce(x, z), dimensions={0}, to_apply=f }";
    verdicts(body, &["s32[4] {1, 2, 3, 4}"], &[("s32[] 1230", Undefined)]);
}

#[test]
fn a_sign_change_may_flush() {
    let body = "ENTRY e { x = f32[] parameter(0) ROOT r = f32[] negate(x) }";
    verdicts(body, &["f32[] 1e-40"], &[("f32[] -0", WithinBound), ("f32[] 1", Differs)]);
}

#[test]
fn steps_of_complex_functions_may_overflow() {
    let unary = |op: &str| format!("ENTRY e {{ x = c64[] parameter(0) ROOT r = c64[] {op}(x) }}");
    let inf = "c64[] (inf, inf)";
    verdicts(&unary("exponential"), &["c64[] (88.9, 1.2)"], &[(inf, Undefined)]);
    verdicts(&unary("sqrt"), &["c64[] (1e30, 1e30)"], &[(inf, Undefined)]);
    verdicts(&unary("tanh"), &["c64[] (100, 1)"], &[("c64[] (nan, 0)", Undefined)]);
    verdicts(&unary("exponential"), &["c64[] (8, 1.2)"], &[(inf, Differs)]);
}

#[test]
fn a_nan_has_no_place_in_a_sort() {
    let body = "f { a = f32[] parameter(0) b = f32[] parameter(1) ROOT p = pred[] compare(a, b), direction=LT }
        ENTRY e { x = f32[4] parameter(0) ROOT s = f32[4] sort(x), dimensions={0}, to_apply=f }";
    let results = [("f32[4] {3, nan, 1, 2}", WithinBound), ("f32[4] {3, nan, 1, 5}", Differs)];
    verdicts(body, &["f32[4] {3, nan, 1, 2}"], &results[1..]);
    let total = body.replace("direction=LT", "direction=LT, type=TOTALORDER");
    verdicts(&total, &["f32[4] {3, nan, 1, 2}"], &[("f32[4] {3, nan, 1, 2}", Differs)]);
}

#[test]
fn the_bits_of_what_rounds_to_one_value_are_known() {
    let body = "ENTRY e { x = f32[] parameter(0) y = f32[] parameter(1) s = f32[] add(x, y)
        ROOT b = s32[] bitcast-convert(s) }";
    verdicts(body, &["f32[] 1.1", "f32[] 0.3"], &[("s32[] 12345", Differs)]);
}

#[test]
fn partial_products_may_overflow_before_a_zero() {
    let body = "f { a = f64[] parameter(0) b = f64[] parameter(1) ROOT p = f64[] multiply(a, b) }
        ENTRY e { x = f64[4] parameter(0) z = f64[] constant(1)
        ROOT s = f64[] reduce(x, z), dimensions={0}, to_apply=f }";
    let arguments = ["f64[4] {1e200, 1e200, 1e-200, 0}"];
    verdicts(body, &arguments, &[("f64[] 0", Undefined)]);
    verdicts(body, &["f64[4] {inf, 0, 3, 4}"], &[("f64[] 0", Differs)]);
}

#[test]
fn functions_that_turn_have_any_phase() {
    let body = "ENTRY e { x = c64[] parameter(0) y = c64[] parameter(1) s = c64[] add(x, y)
        t = c64[] add(s, s) ROOT r = c64[] cosh(t) }";
    let arguments = ["c64[] (0, -4.2907e+11)", "c64[] (0, 12345)"];
    let judged = check(&format!("HloModule m\n{body}"), &arguments, "c64[] (0.3, 0)");
    assert!(!matches!(judged.verdict, Differs | Verdict::EtalonBug), "{judged:?}");
}

#[test]
fn an_estimate_accuses_only_where_rounding_errors_stay_small() {
    let text = "HloModule m
        c { s = (f32[], f32[], s32[]) parameter(0) i = s32[] get-tuple-element(s), index=2 n = s32[] constant(20000)
          ROOT p = pred[] compare(i, n), direction=LT }
        b { s = (f32[], f32[], s32[]) parameter(0) x = f32[] get-tuple-element(s), index=0
          v = f32[] get-tuple-element(s), index=1 i = s32[] get-tuple-element(s), index=2
          one = f32[] constant(1) r = f32[] constant(3.99) y = f32[] subtract(one, x) z = f32[] multiply(x, y)
          w = f32[] multiply(z, r) h = f32[] constant(0.37) g = f32[] multiply(v, h) u = f32[] add(g, one)
          k = s32[] constant(1) j = s32[] add(i, k) ROOT t = (f32[], f32[], s32[]) tuple(w, u, j) }
        ENTRY e { x = f32[] parameter(0) i = s32[] constant(0) s = (f32[], f32[], s32[]) tuple(x, x, i)
          ROOT w = (f32[], f32[], s32[]) while(s), condition=c, body=b }";
    let of = |actual: &str| {
        let found = check(text, &["f32[] 0.3"], &format!("({actual})"));
        (found.verdict, found.measures.wrong, found.undetermined)
    };
    // The first number is chaotic, the second converges to 1 / 0.63.
    let [stable, near, far] = ["f32[] 1.5873016", "f32[] 1.587302", "f32[] 1.5879"];
    assert_eq!(of(&format!("f32[] 0.5, {stable}, s32[] 20000")), (Undefined, 0, 1));
    assert_eq!(of(&format!("f32[] 0.5, {near}, s32[] 20000")), (Undefined, 0, 1));
    assert_eq!(of(&format!("f32[] 0.5, {far}, s32[] 20000")), (Differs, 1, 1));
    assert_eq!(of(&format!("f32[] 0.5, {stable}, s32[] 19999")), (Differs, 1, 1));
}

/// Selectors below 0 and above the last branch choose the last one; those between, the others.
#[test]
fn an_open_selector_may_choose_each_branch() {
    let branch = |name: &str, c: i32| {
        format!(
            "{name} {{ x = f32[] parameter(0) c = f32[] constant({c}) ROOT r = f32[] add(x, c) }}"
        )
    };
    let body = format!(
        "{} {} {} ENTRY e {{ x = f32[] parameter(0) y = f32[] parameter(1) i = s32[] convert(y)
          ROOT r = f32[] conditional(i, x, x, x), branch_computations={{a, b, c}} }}",
        branch("a", 10),
        branch("b", 20),
        branch("c", 30)
    );
    // NaN has no integer.
    for text in ["f32[] 11", "f32[] 21", "f32[] 31"] {
        let found = check(&format!("HloModule m\n{body}"), &["f32[] 1", "f32[] nan"], text);
        assert!(!matches!(found.verdict, Differs | Verdict::EtalonBug), "{text}: {found:?}");
    }
    verdicts(&body, &["f32[] 1", "f32[] nan"], &[("f32[] 12", Differs)]);
    verdicts(&body, &["f32[] 1", "f32[] 1"], &[("f32[] 11", Differs), ("f32[] 31", Differs)]);
}

/// The magnitude of a finite complex number may be beyond `f64`.
#[test]
fn products_with_the_largest_complex_numbers_have_no_small_bound() {
    let body = "ENTRY e { x = c128[1] parameter(0) y = c128[1] parameter(1) z = c128[1] asinh(x)
        ROOT r = c128[] dot(z, y), lhs_contracting_dims={0}, rhs_contracting_dims={0} }";
    let arguments = ["c128[1] (1e-10, 3e-10)", "c128[1] (-1.7e308, -1.7e308)"];
    let arguments = arguments.map(|x| x.replace("] (", "] {(").replace(')', ")}"));
    let arguments = arguments.each_ref().map(String::as_str);
    let near = "c128[] (3.40000000000001e298, -6.8e298)";
    let found = check(&format!("HloModule m\n{body}"), &arguments, near).verdict;
    assert!(!matches!(found, Differs | Verdict::EtalonBug), "{found:?}");
    let smaller = [arguments[0], "c128[1] {(-1e308, -1e308)}"];
    verdicts(body, &smaller, &[("c128[] (2.01e298, -4e298)", Differs)]);
}

/// When a number overflows, it begins again: a loop that keeps it wide begins later.
#[test]
fn an_estimate_does_not_accuse_where_floats_decide() {
    let text = |keep: &str| {
        format!(
            "HloModule m
            c {{ s = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(9000)
              ROOT p = pred[] compare(i, n), direction=LT }}
            b {{ s = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(s), index=0
              x = f32[] get-tuple-element(s), index=1 y = f32[] add(x, x) o = f32[] constant(1)
              k = s32[] constant(1) j = s32[] add(i, k) f = pred[] {keep}
              z = f32[] select(f, y, o) ROOT t = (s32[], f32[]) tuple(j, z) }}
            ENTRY e {{ x = f32[] parameter(0) i = s32[] constant(0) s = (s32[], f32[]) tuple(i, x)
              ROOT w = (s32[], f32[]) while(s), condition=c, body=b }}"
        )
    };
    let of = |keep: &str, actual: &str| check(&text(keep), &["f32[] 3"], actual).verdict;
    assert_eq!(of("is-finite(y)", "(s32[] 9000, f32[] 7)"), Undefined);
    // By its count alone it stays the same.
    assert_eq!(of("compare(i, k), direction=LT", "(s32[] 9000, f32[] 7)"), Differs);
}

/// A loop of more instructions than the judge evaluates.
#[test]
fn what_does_not_depend_on_a_long_loop_has_its_bounds() {
    let body = "c { i = s32[] parameter(0) n = s32[] constant(99999) ROOT p = pred[] compare(i, n), direction=LT }
        b { i = s32[] parameter(0) k = s32[] constant(1) ROOT j = s32[] add(i, k) }
        ENTRY e { x = f32[1] parameter(0) i = s32[] constant(0) w = s32[] while(i), condition=c, body=b
          d = f32[] dot(x, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}
          ROOT t = (f32[], s32[]) tuple(d, w) }";
    // The second product is that of bf16 factors.
    let results = [
        ("(f32[] 1.006009, s32[] 99999)", Verdict::Agrees),
        ("(f32[] 1, s32[] 99999)", WithinBound),
        ("(f32[] 1.2, s32[] 99999)", Differs),
        ("(f32[] 1, s32[] 99998)", Differs),
    ];
    verdicts(body, &["f32[1] {1.003}"], &results);
}

#[test]
fn the_exponential_of_a_logistic_may_overflow() {
    let of = |ty: &str, x: &str, results: &[(&str, Verdict)]| {
        let body = format!("ENTRY e {{ x = {ty}[] parameter(0) ROOT r = {ty}[] logistic(x) }}");
        let results: Vec<_> =
            results.iter().map(|(y, verdict)| (format!("{ty}[] {y}"), *verdict)).collect();
        let results: Vec<_> = results.iter().map(|(y, verdict)| (y.as_str(), *verdict)).collect();
        verdicts(&body, &[&format!("{ty}[] {x}")], &results);
    };
    // exp(6.5) is beyond 448; the type has no infinity.
    of("f8e4m3fn", "-6.5", &[("nan", WithinBound), ("0.5", Differs)]);
    of("f8e4m3fn", "-5", &[("nan", Differs)]);
    // exp(11.5) is beyond 65504.
    of("f16", "-11.5", &[("0", WithinBound), ("nan", Differs)]);
    of("f16", "-10", &[("0", Differs)]);
}

#[test]
fn windows_that_are_partly_outside_are_open() {
    let body = "f { a = s32[] parameter(0) ROOT b = s32[] parameter(1) }
        ENTRY e { t = s32[4] parameter(0) i = s32[2] parameter(1) u = s32[2,2] parameter(2)
        ROOT s = s32[4] scatter(t, i, u), update_window_dims={1}, inserted_window_dims={},
        scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=f }";
    let arguments = ["s32[4] {1, 2, 3, 4}", "s32[2] {0, 3}", "s32[2,2] {{7, 8}, {9, 10}}"];
    let results = [
        ("s32[4] {7, 8, 3, 4}", Verdict::Agrees),
        ("s32[4] {7, 8, 3, 9}", Undefined),
        ("s32[4] {7, 8, 9, 4}", Differs),
        ("s32[4] {1, 8, 3, 4}", Differs),
    ];
    verdicts(body, &arguments, &results);
}

#[test]
fn a_gradient_of_pooling_may_take_initial_values_again() {
    for ty in ["f32", "s32"] {
        let body = format!(
            "ge {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = pred[] compare(a, b), direction=GE }}
            sum {{ a = {ty}[] parameter(0) b = {ty}[] parameter(1) ROOT c = {ty}[] add(a, b) }}
            ENTRY e {{ x = {ty}[4] parameter(0) s = {ty}[2] parameter(1) z = {ty}[] parameter(2)
            ROOT r = {ty}[4] select-and-scatter(x, s, z), window={{size=2 stride=2}}, select=ge,
              scatter=sum }}"
        );
        let of = |initial: &str, actual: &str, verdict| {
            let initial = format!("{ty}[] {initial}");
            let arguments =
                [format!("{ty}[4] {{1, 5, 7, 2}}"), format!("{ty}[2] {{10, 20}}"), initial];
            let arguments = arguments.each_ref().map(String::as_str);
            verdicts(&body, &arguments, &[(&format!("{ty}[4] {actual}"), verdict)]);
        };
        of("0", "{0, 10, 20, 0}", Verdict::Agrees);
        of("0", "{0, 11, 20, 0}", Differs);
        of("1", "{1, 11, 21, 1}", Verdict::Agrees);
        let other = if ty == "f32" { WithinBound } else { Undefined };
        of("1", "{1, 12, 21, 1}", other);
        of("1", "{2, 11, 21, 1}", Differs);
        // 1 - 1 - 10: the initial value is subtracted, too.
        let body = body.replace("add(", "subtract(");
        let arguments =
            [format!("{ty}[4] {{1, 5, 7, 2}}"), format!("{ty}[2] {{10, 20}}"), format!("{ty}[] 1")];
        let arguments = arguments.each_ref().map(String::as_str);
        let [open, wrong] = ["{1, -10, -19, 1}", "{1, -9, -19, 0}"].map(|x| format!("{ty}[4] {x}"));
        verdicts(&body, &arguments, &[(&open, Undefined), (&wrong, Differs)]);
        if ty == "f32" {
            of("1", "{1, 11.5, 21, 1}", Differs);
            of("1", "{1, 9, 21, 1}", Differs);
        }
    }
}

#[test]
fn types_without_negative_zero_have_one_zero() {
    for op in ["negate", "ceil", "multiply"] {
        let operand = if op == "multiply" { "x, m" } else { "x" };
        let body = format!(
            "ENTRY e {{ x = f8e4m3fnuz[] parameter(0) m = f8e4m3fnuz[] constant(-1) y = f8e4m3fnuz[] {op}({operand})
            w = f32[] convert(y) o = f32[] constant(1) ROOT q = f32[] divide(o, w) }}"
        );
        verdicts(&body, &["f8e4m3fnuz[] 0"], &[("f32[] -inf", Differs), ("f32[] 3", Differs)]);
    }
}

#[test]
fn a_complex_divisor_about_zero_has_quotients_of_any_size() {
    let body = "ENTRY e { x = c64[] parameter(0) b = c64[] parameter(1) e = c64[] exponential(x) l = c64[] log(e)
        y = c64[] subtract(l, b) ROOT q = c64[] divide(x, y) }";
    let arguments = ["c64[] (0.3, 0.2)", "c64[] (0.29999998, 0.20000002)"];
    verdicts(body, &arguments, &[("c64[] (-3e12, 4e12)", Undefined)]);
}

#[test]
fn the_next_integer_may_be_beyond_a_type() {
    let body =
        "ENTRY e { x = f8e3m4[] parameter(0) y = f8e3m4[] ceil(x) ROOT r = f32[] convert(y) }";
    let results = [("f32[] 16", WithinBound), ("f32[] 15.5", Differs), ("f32[] -inf", Differs)];
    verdicts(body, &["f8e3m4[] 15.5"], &results);
    let angle = "ENTRY e { x = f8e3m4[] parameter(0) y = f8e3m4[] round-nearest-afz(x)
        ROOT r = f8e3m4[] atan2(x, y) }";
    let results = [("f8e3m4[] -2.38", WithinBound), ("f8e3m4[] -1.5", Differs)];
    verdicts(angle, &["f8e3m4[] -15.5"], &results);
}

#[test]
fn a_zero_of_either_sign_is_a_pole_of_a_reciprocal_root() {
    let body = "ENTRY e { x = f32[] parameter(0) y = f32[] minimum(x, x) ROOT r = f32[] rsqrt(y) }";
    let results =
        [("f32[] -inf", WithinBound), ("f32[] inf", WithinBound), ("f32[] -3e30", Differs)];
    verdicts(body, &["f32[] 1e-39"], &results);
    let steps = "ENTRY e { x = c64[] parameter(0) c = c64[] cosh(x) i = f32[] imag(c)
        f = f32[] floor(i) ROOT r = f32[] rsqrt(f) }";
    verdicts(steps, &["c64[] (-1, 0)"], &[("f32[] inf", WithinBound), ("f32[] 1", Differs)]);
}

/// Each step of a rewritten form may flush, and keeps what is apart apart.
#[test]
fn rewritten_forms_flush_what_they_compute() {
    let body = "ENTRY e { x = f32[] parameter(0) y = f32[] parameter(1) q = f32[] divide(y, x)
        ROOT r = f32[] divide(x, q) }";
    let results = [("f32[] 0", WithinBound), ("f32[] 1e-23", Differs)];
    verdicts(body, &["f32[] 2.3657317e-21", "f32[] 5.6e-15"], &results);
}

/// A NaN keeps its bits where nothing computes with it: they decide in the total order.
#[test]
fn signaling_values_have_their_place_in_the_total_order() {
    for ty in ["f8e4m3", "f16", "f32", "f64"] {
        let body = format!(
            "ENTRY e {{ x = {ty}[2] parameter(0) y = {ty}[2] reverse(x), dimensions={{0}}
            ROOT p = pred[2] compare(x, y), direction=GT, type=TOTALORDER }}"
        );
        let argument = format!("{ty}[2] {{nan(0x3), nan}}");
        verdicts(&body, &[&argument], &[("pred[2] {1, 0}", Differs)]);
    }
}

#[test]
fn what_nan_keys_leave_open_is_any_permutation() {
    let sorted = |operand: &str, order: &str| {
        format!(
            "f {{ a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3)
              ROOT p = pred[] compare(a, b), direction=LT{order} }}
            ENTRY e {{ x = f32[4] parameter(0) y = f32[4] parameter(1) n = f32[4] {operand}
              s = (f32[4], f32[4]) sort(n, y), dimensions={{0}}, to_apply=f
              ROOT r = f32[4] get-tuple-element(s), index=1 }}"
        )
    };
    let results = [
        ("f32[4] {4, 1, 2, 3}", WithinBound),
        ("f32[4] {4, 4, 2, 3}", Differs),
        ("f32[4] {4, 1, 2, 2.5}", Differs),
    ];
    let [nans, some, y] =
        ["f32[4] {nan, nan, nan, nan}", "f32[4] {nan, 2, nan, 1}", "f32[4] {1, 2, 3, 4}"];
    verdicts(&sorted("copy(x)", ""), &[nans, y], &results);
    verdicts(&sorted("copy(x)", ""), &[some, y], &results);
    // The signs of computed NaNs, which the total order compares, are open.
    verdicts(&sorted("sine(x)", ", type=TOTALORDER"), &[nans, y], &results);
    verdicts(
        &sorted("copy(x)", ", type=TOTALORDER"),
        &["f32[4] {-nan, nan, 2, 1}", y],
        &results[1..],
    );
}

#[test]
fn sizes_that_are_set_again_are_known() {
    let text = |size: &str| {
        format!(
            "add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT s = f32[] add(a, b) }}
            ENTRY e {{ x = f32[3,2] parameter(0) n = s32[] parameter(1) m = s32[] parameter(2) z = f32[] constant(0)
              a = f32[<=3,2] set-dimension-size(x, n), dimensions={{0}}
              b = f32[<=3,<=2] set-dimension-size(a, m), dimensions={{1}}
              c = f32[<=3,<=2] set-dimension-size(b, {size}), dimensions={{0}}
              s = f32[<=3,<=2] logistic(c) t = f32[] reduce(s, z), dimensions={{0,1}}, to_apply=add
              d = s32[] get-dimension-size(c), dimensions={{1}} e = f32[] convert(d) ROOT r = f32[] add(t, e) }}"
        )
    };
    let arguments = ["f32[3,2] {{0.1, 0.7}, {0.3, 0.2}, {9, 9}}", "s32[] 2", "s32[] 1"];
    let results =
        [("f32[] 2.0994220", WithinBound), ("f32[] 2.0999", Differs), ("f32[] 5", Differs)];
    verdicts(&text("n"), &arguments, &results);
    // What becomes visible is not defined.
    let three = text("k").replace("ENTRY e {", "ENTRY e { k = s32[] constant(3)");
    verdicts(&three, &arguments, &[("f32[] 5", Undefined)]);
    // Of a size that is open, nothing follows.
    let open = text("o").replace(
        "ENTRY e {",
        "ENTRY e { h = f32[] constant(2) l = f32[] sqrt(h) q = f32[] multiply(l, l) o = s32[] convert(q)",
    );
    verdicts(&open, &arguments, &[("f32[] 1.5", Undefined), ("f32[] 2.9", Undefined)]);
}

#[test]
fn a_conversion_rounds_or_keeps_and_nothing_between() {
    let body = "ENTRY e { x = f32[] parameter(0) n = f8[] convert(x) ROOT r = f32[] convert(n) }";
    for ty in ["bf16", "f8e5m2"] {
        let body = body.replace("f8", ty);
        let kept = ("f32[] 1.003", WithinBound);
        verdicts(&body, &["f32[] 1.003"], &[kept, ("f32[] 1.0015", Differs)]);
    }
    let reduced = "ENTRY e { x = f64[] parameter(0) n = f32[] convert(x)
        ROOT r = f32[] reduce-precision(n), exponent_bits=8, mantissa_bits=7 }";
    // It is above the middle, to which the first rounding takes it.
    let results = [("f32[] 1.0078125", WithinBound), ("f32[] 1.005", Differs)];
    verdicts(reduced, &["f64[] 1.00390625000001"], &results);
}

#[test]
fn integers_are_rounded_once() {
    let body = "ENTRY e { x = s64[] parameter(0) ROOT r = f32[] convert(x) }";
    let results = [("f32[] 1.1529215e18", Differs)];
    verdicts(body, &["s64[] 1152921573326323713"], &results);
    verdicts(&body.replace("s64", "u64"), &["u64[] 1152921573326323713"], &results);
    let wide = "ENTRY e { x = u64[] parameter(0) ROOT r = f64[] convert(x) }";
    verdicts(wide, &["u64[] 18446744073709550593"], &[("f64[] 18446744073709549568", Differs)]);
}

/// A number that may be 0, divided by itself or subtracted from itself.
#[test]
fn a_number_and_itself_have_few_values() {
    let of = |op: &str| {
        format!(
            "ENTRY e {{ x = f32[] parameter(0) e = f32[] exponential(x) l = f32[] log(e) t = f32[] subtract(l, x)
            s = f32[] multiply(t, t) q = f32[] divide(x, s) ROOT r = f32[] {op} }}"
        )
    };
    let quotient =
        [("f32[] nan", WithinBound), ("f32[] 0.99999994", WithinBound), ("f32[] 7", Differs)];
    verdicts(&of("divide(t, t)"), &["f32[] 0.3"], &quotient);
    let difference = [("f32[] 3", Differs), ("f32[] -1e-30", Differs)];
    verdicts(&of("subtract(q, q)"), &["f32[] 0.3"], &difference);
}

#[test]
fn a_complex_product_that_overflows_is_itself_or_special() {
    let body =
        "ENTRY e { x = c64[] parameter(0) y = c64[] parameter(1) ROOT r = c64[] multiply(x, y) }";
    let results = [("c64[] (inf, 4e30)", Differs), ("c64[] (2e38, 7e35)", Differs)];
    verdicts(body, &["c64[] (2e38, 2e30)", "c64[] (1, 1e-8)"], &results);
    // A small part has the error of its own products.
    let small =
        [("c64[] (-0.50000024, 1.7014117e38)", Differs), ("c64[] (0.25, 1.7014117e38)", Differs)];
    verdicts(body, &["c64[] (-0, 0.5)", "c64[] (3.4028235e38, 1)"], &small);
    // The difference is a number, of products that are none.
    let large = ["c64[] (2e38, 1.9e38)", "c64[] (2, 2)"];
    let results = [
        ("c64[] (nan, inf)", WithinBound),
        ("c64[] (inf, inf)", WithinBound),
        ("c64[] (7, inf)", Differs),
        ("c64[] (1e38, -inf)", Differs),
    ];
    verdicts(body, &large, &results);
}

#[test]
fn a_system_without_a_solution_has_none() {
    let body = "ENTRY e { a = f32[2,2] parameter(0) b = f32[2,2] parameter(1)
        ROOT x = f32[2,2] triangular-solve(a, b), left_side=true, lower=true, unit_diagonal=false, transpose_a=NO_TRANSPOSE }";
    let regular = "f32[2,2] {{2, 0}, {1, 4}}";
    // A column has one solution, whatever the others have.
    let results =
        [("f32[2,2] {{7, 1}, {nan, 0.25}}", Undefined), ("f32[2,2] {{nan, 1}, {nan, 7}}", Differs)];
    verdicts(body, &[regular, "f32[2,2] {{nan, 2}, {1, 2}}"], &results);
    let singular = [("f32[2,2] {{7, 1}, {nan, 0.25}}", Undefined)];
    verdicts(body, &["f32[2,2] {{0, 0}, {1, 4}}", "f32[2,2] {{1, 2}, {1, 2}}"], &singular);
}

#[test]
fn angles_of_complex_numbers_jump_at_two_cuts() {
    let body =
        "ENTRY e { y = c64[] parameter(0) x = c64[] parameter(1) ROOT r = c64[] atan2(y, x) }";
    // The sum of the squares is negative: its root has either sign, and the angle is a quarter of a
    // turn, or three back.
    let quarter = [("c64[] (-2.3561945, 0)", WithinBound), ("c64[] (1.5707964, 0)", Differs)];
    verdicts(body, &["c64[] (0, 2)", "c64[] (1e-9, 2)"], &quarter);
    // The quotient is negative: half a turn of either sign.
    let half = [("c64[] (-3.1415927, 0)", WithinBound), ("c64[] (0, 0)", Differs)];
    verdicts(body, &["c64[] (1e-9, 0)", "c64[] (-2, 0)"], &half);
    let none = [("c64[] (-2.3561945, 0)", Differs), ("c64[] (0.7853981, 0)", WithinBound)];
    verdicts(body, &["c64[] (2, 0)", "c64[] (2, 0)"], &none);
}

#[test]
fn a_sum_of_products_that_underflow_has_either_zero() {
    let body = "ENTRY e { x = c128[] parameter(0) y = c128[] parameter(1) ROOT r = c128[] multiply(x, y) }";
    // Rounded one after the other the products are -0 and -0, whose difference is 0; rounded once it
    // is -0.
    let results = [("c128[] (0, -0)", WithinBound), ("c128[] (1e-300, -0)", Differs)];
    verdicts(body, &["c128[] (2e-308, 5e-324)", "c128[] (-1e-323, -1.5e-323)"], &results);
}

/// Beside a pole the denominator of a formula of exponentials is a difference.
#[test]
fn functions_of_exponentials_lose_digits_beside_a_pole() {
    let body = |op: &str| format!("ENTRY e {{ x = c128[] parameter(0) ROOT r = c128[] {op}(x) }}");
    let legal = |op: &str, x: &str, of: [&str; 2]| {
        let found = check(&format!("HloModule m\n{}", body(op)), &[x], of[0]);
        assert_eq!(found.verdict, WithinBound, "{op}: {found:?}");
        let found = check(&format!("HloModule m\n{}", body(op)), &[x], of[1]);
        assert_eq!(found.verdict, Differs, "{op}: {found:?}");
    };
    legal(
        "tanh",
        "c128[] (0.010647593264928066, 2786390.0349024003)",
        [
            "c128[] (28.56765815832394, 43.200810187620235)",
            "c128[] (28.5676581583, 43.200810187620235)",
        ],
    );
    // Away from a pole nothing changes.
    legal(
        "logistic",
        "c128[] (0.5, 0.25)",
        [
            "c128[] (0.6242751644199615, 0.05900296431450802)",
            "c128[] (0.6242751644199672, 0.05900296431450802)",
        ],
    );
}

/// StableHLO (`slice`, C3): a limit is not above the size of its dimension.
#[test]
fn what_is_beyond_the_size_of_an_array_is_open() {
    let of = |root: &str| {
        format!(
            "HloModule m
        ENTRY e {{ x = s32[4] parameter(0) n = s32[] parameter(1) d = s32[<=4] set-dimension-size(x, n), dimensions={{0}}
          z = s32[] constant(0) i = s32[2] constant({{0, 2}}) {root} }}"
        )
    };
    let size = of(
        "s = s32[<=2] slice(d), slice={[0:2]} ROOT r = s32[] get-dimension-size(s), dimensions={0}",
    );
    let sizes = |n: &str, size_is: &str| check(&size, &["s32[4] {7, 8, 9, 6}", n], size_is).verdict;
    assert_eq!(sizes("s32[] 1", "s32[] 1"), Undefined);
    assert_eq!(sizes("s32[] 3", "s32[] 3"), Differs);
    let read = [
        "ROOT r = s32[2] dynamic-slice(d, z), dynamic_slice_sizes={2}",
        "ROOT r = s32[2] gather(d, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1}",
    ];
    for root in read {
        let judged = |actual| check(&of(root), &["s32[4] {7, 8, 9, 6}", "s32[] 1"], actual).verdict;
        assert_eq!(judged("s32[2] {7, 0}"), Undefined, "{root}");
        assert_eq!(judged("s32[2] {6, 0}"), Differs, "{root}");
    }
}

/// (max + 1i) / 3 by the square of 3 is infinite, and what follows of it may be NaN.
#[test]
fn steps_of_a_solution_may_overflow() {
    let text = "HloModule m
        ENTRY e { b = c128[1,2] parameter(0) a = c128[2,2] constant({ { (3, 0), (0, 0) }, { (0, 0), (5, 0) } })
          ROOT r = c128[1,2] triangular-solve(a, b), lower=true, transpose_a=TRANSPOSE }";
    let b = "c128[1,2] {{(1.7976931348623157e308, 0), (1, 0)}}";
    for legal in ["{{(5.9923104495410527e307, 0), (0.2, 0)}}", "{{(inf, 0), (nan, 0)}}"] {
        let found = check(text, &[b], &format!("c128[1,2] {legal}"));
        assert!(!matches!(found.verdict, Differs | Verdict::EtalonBug), "{found}");
    }
    let found = check(text, &["c128[1,2] {{(3, 0), (1, 0)}}"], "c128[1,2] {{(1, 0), (0.3, 0)}}");
    assert_eq!(found.verdict, Differs);
}
