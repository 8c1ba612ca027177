//! Tests of other forms of an instruction that compilers make.
use super::rules::{explained, verdicts};
use super::*;
use Verdict::{Differs, WithinBound};

#[test]
fn compilers_rewrite_products_and_quotients() {
    let of = |body: &str| {
        format!(
            "ENTRY e {{ x = f32[] parameter(0) c = f32[] constant(3e38) d = f32[] constant(10) {body} }}"
        )
    };
    let modes = &[Mode::AlgebraicRewrites];
    // The product of the constants overflows.
    let product = of("y = f32[] multiply(x, c) ROOT r = f32[] multiply(y, d)");
    explained(&product, &["f32[] 1e-30"], "f32[] inf", modes);
    verdicts(&product, &["f32[] 1e-30"], &[("f32[] 2.9e9", Differs)]);
    let sum = of("y = f32[] add(x, c) e = f32[] constant(-3e38) ROOT r = f32[] add(y, e)");
    explained(&sum, &["f32[] 7"], "f32[] 7", modes);
    // A sum of `f64` has the term, and no rounding of its own between.
    let term = "f32[] 1.2676506e30";
    explained(&sum, &[term], term, &[Mode::ExcessPrecision]);
    verdicts(&sum, &["f32[] 7"], &[("f32[] -1e14", Differs)]);
    let variables = of(
        "e = f32[] negate(c) f = f32[] multiply(x, c) g = f32[] add(f, e) ROOT r = f32[] add(g, x)",
    );
    verdicts(&variables, &["f32[] 1"], &[("f32[] 2", Differs)]);
    let factor = of("p = f32[] multiply(x, c) q = f32[] multiply(d, x) ROOT r = f32[] add(p, q)");
    verdicts(&factor, &["f32[] 1.1"], &[("f32[] 3e38", Differs)]);
    let root = of("s = f32[] sqrt(d) ROOT r = f32[] divide(x, s)");
    verdicts(
        &root,
        &["f32[] 1e-30"],
        &[("f32[] 3.1622779e-31", WithinBound), ("f32[] 3.163e-31", Differs)],
    );
    let power = of("t = f32[] constant(-1) ROOT r = f32[] power(x, t)");
    verdicts(&power, &["f32[] 3"], &[("f32[] 0.3334", Differs)]);
}

#[test]
fn compilers_multiply_constants_first_and_last() {
    let of = |body: &str| format!("ENTRY e {{ x = f32[3] parameter(0) {body} }}");
    let constant = |name: &str, x: &str| {
        format!(
            "{name}0 = f32[] constant({x}) {name} = f32[3] broadcast({name}0), dimensions={{}} "
        )
    };
    let x = "f32[3] {1, -3, 0.7}";
    let found =
        |values: [f32; 3]| format!("f32[3] {{{}, {}, {}}}", values[0], values[1], values[2]);
    let inputs = [1.0_f32, -3.0, 0.7];
    let (three, part) = (constant("c", "3"), constant("d", "0.7"));
    let scaled =
        of(&format!("{three}{part} y = f32[3] multiply(x, c) ROOT r = f32[3] divide(y, d)"));
    let one = inputs.map(|x| x * (3.0 * (1.0 / 0.7_f32)));
    let wrong = inputs.map(|x| x * 3.0 * 0.7);
    verdicts(&scaled, &[x], &[(&found(one), WithinBound), (&found(wrong), Differs)]);
    let near = one.map(|x| x * 1.000_001);
    verdicts(&scaled, &[x], &[(&found(near), Differs)]);
    // A factor that is repeated.
    let scalar = of(&format!(
        "{part} s = f32[] parameter(1) b = f32[3] broadcast(s), dimensions={{}} y = f32[3] multiply(x, d) ROOT r = f32[3] multiply(b, y)"
    ));
    let (s, factor) = ("f32[] 1.3", 1.3_f32 * 0.7);
    verdicts(&scalar, &[x, s], &[(&found(inputs.map(|x| x * factor)), WithinBound)]);
    verdicts(&scalar, &[x, s], &[(&found(inputs.map(|x| x * 1.3)), Differs)]);
    // Quotients of quotients.
    let quotients = "ENTRY e { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) d = f32[] parameter(3) p = f32[] divide(a, b) q = f32[] divide(c, d) ROOT r = f32[] divide(p, q) }";
    let arguments = ["f32[] 1.1", "f32[] 2.3", "f32[] -0.7", "f32[] 3.9"];
    let crossed = (1.1_f32 * 3.9) / (2.3 * -0.7);
    let (right, wrong) = (format!("f32[] {crossed}"), format!("f32[] {}", crossed * 1.000_001));
    verdicts(quotients, &arguments, &[(&right, WithinBound), (&wrong, Differs)]);
    // Sums of constants.
    let (c, d) = (constant("c", "1e10"), constant("d", "1e10"));
    let sum = of(&format!("{c}{d} y = f32[3] add(x, c) ROOT r = f32[3] subtract(y, d)"));
    verdicts(&sum, &[x], &[(x, WithinBound), ("f32[3] {1, -3, 0.8}", Differs)]);
    // Products without a constant keep their order.
    let plain = "ENTRY e { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] parameter(2) p = f32[] multiply(a, b) ROOT r = f32[] multiply(p, c) }";
    let other = format!("f32[] {}", 1.1_f32 * (0.7 * 0.3));
    assert_ne!(1.1_f32 * (0.7 * 0.3), 1.1_f32 * 0.7 * 0.3);
    verdicts(plain, &["f32[] 1.1", "f32[] 0.7", "f32[] 0.3"], &[(&other, Differs)]);
}

#[test]
fn products_with_constants_have_any_order() {
    let of = |root: &str| {
        format!(
            "ENTRY e {{ x = f32[1] parameter(0) y = f32[] parameter(1) a = f32[1] parameter(2) d = f32[1] parameter(3)
               v = f32[1] broadcast(y), dimensions={{}} c = f32[1] constant({{0.1}}) k = f32[1] constant({{0.7}}) {root} }}"
        )
    };
    let (x, y, a, d) = (1.1f32, 1.3f32, 1.7f32, 2.3f32);
    let (c, k) = (0.1f32, 0.7f32);
    let arguments = [
        format!("f32[1] {{{x}}}"),
        format!("f32[] {y}"),
        format!("f32[1] {{{a}}}"),
        format!("f32[1] {{{d}}}"),
    ];
    let arguments = arguments.each_ref().map(String::as_str);
    for (root, form) in [
        ("p = f32[1] multiply(x, c) ROOT r = f32[1] multiply(v, p)", x * (y * c)),
        ("p = f32[1] divide(x, c) ROOT r = f32[1] multiply(v, p)", x * (y * (1.0 / c))),
        ("p = f32[1] multiply(x, c) ROOT r = f32[1] divide(p, k)", x * (c * (1.0 / k))),
        (
            "p = f32[1] divide(x, a) q = f32[1] divide(k, d) ROOT r = f32[1] divide(p, q)",
            (x * d) / (a * k),
        ),
        (
            "p = f32[1] divide(x, a) q = f32[1] divide(v, d) ROOT r = f32[1] divide(p, q)",
            (x * d) / (a * y),
        ),
        (
            "p = f32[1] multiply(x, c) q = f32[1] multiply(a, k) ROOT r = f32[1] multiply(p, q)",
            (x * a) * (c * k),
        ),
        (
            "p = f32[1] multiply(x, c) t = f32[1] transpose(p), dimensions={0} ROOT r = f32[1] multiply(t, a)",
            x * (a * c),
        ),
        (
            "p = f32[1] multiply(x, c) q = f32[1] multiply(p, k) ROOT r = f32[1] multiply(q, c)",
            x * (c * k * c),
        ),
    ] {
        let legal = check(
            &format!("HloModule m\n{}", of(root)),
            &arguments,
            &format!("f32[1] {{{form:?}}}"),
        );
        assert!(!legal.verdict.is_bad(), "{root}: {legal:?}");
        let wrong = format!("f32[1] {{{:?}}}", form * 1.000_01);
        assert_eq!(
            check(&format!("HloModule m\n{}", of(root)), &arguments, &wrong).verdict,
            Differs,
            "{root}"
        );
    }
    // Products of arrays have one order.
    let arrays = "p = f32[1] multiply(x, a) ROOT r = f32[1] multiply(p, d)";
    let (one, other) = ((x * a) * d, x * (a * d));
    let other = if one == other { one * (1.0 + f32::EPSILON) } else { other };
    verdicts(&of(arrays), &arguments, &[(&format!("f32[1] {{{other:?}}}"), Differs)]);
}

#[test]
fn a_mask_that_is_multiplied_may_select() {
    let body = "ENTRY e { x = f32[4] parameter(0) m = pred[4] parameter(1)
        k = f32[4] convert(m) ROOT r = f32[4] multiply(x, k) }";
    let x = ["f32[4] {inf, nan, 2, -3}", "pred[4] {false, false, true, true}"];
    let results = [
        ("f32[4] {0, 0, 2, -3}", WithinBound),
        ("f32[4] {1, 0, 2, -3}", Differs),
        ("f32[4] {0, 0, 0, -3}", Differs),
    ];
    verdicts(body, &x, &results);
    let called = "w { p = pred[4] parameter(0) a = f32[4] parameter(1) b = f32[4] parameter(2)
          ROOT s = f32[4] select(p, a, b) }
        ENTRY e { x = f32[4] parameter(0) m = pred[4] parameter(1) one = f32[] constant(1) zero = f32[] constant(0)
        o = f32[4] broadcast(one), dimensions={} z = f32[4] broadcast(zero), dimensions={}
        k = f32[4] call(m, o, z), to_apply=w ROOT r = f32[4] multiply(k, x) }";
    verdicts(called, &x, &results);
    // In a function that makes one, and moved.
    let called = "w { m = pred[4] parameter(0) ROOT k = f32[4] convert(m) }
        ENTRY e { x = f32[4] parameter(0) m = pred[4] parameter(1) k = f32[4] call(m), to_apply=w
        t = f32[4] reshape(k) ROOT r = f32[4] multiply(t, x) }";
    verdicts(called, &x, &results);
    let numbers = body.replace("m = pred", "m = s32").replace("pred", "s32");
    let x = [x[0], "s32[4] {0, 0, 1, 1}"];
    verdicts(&numbers, &x, &[("f32[4] {0, 0, 2, -3}", Differs)]);
}

#[test]
fn constants_that_are_added_are_one() {
    let of = |root: &str| {
        format!(
            "ENTRY e {{ x = f32[] parameter(0) c = f32[] constant(1e10) d = f32[] constant(3e9) {root} }}"
        )
    };
    let x = ["f32[] 1e-3"];
    let difference = of("a = f32[] add(x, c) ROOT r = f32[] subtract(a, c)");
    verdicts(&difference, &x, &[("f32[] 1e-3", WithinBound), ("f32[] 2e-3", Differs)]);
    let three = of(
        "a = f32[] subtract(c, d) b = f32[] add(x, c) s = f32[] subtract(b, d) ROOT r = f32[] subtract(s, a)",
    );
    verdicts(&three, &x, &[("f32[] 1", Differs)]);
    let three = of(
        "b = f32[] add(c, x) s = f32[] subtract(b, d) t = f32[] add(s, d) ROOT r = f32[] subtract(t, c)",
    );
    verdicts(&three, &x, &[("f32[] 1e-3", WithinBound), ("f32[] 1", Differs)]);
    // A product overflows that the quotient of quotients has not.
    let body = "ENTRY e { a = f32[] parameter(0) b = f32[] parameter(1) p = f32[] divide(a, b)
        q = f32[] divide(b, a) ROOT r = f32[] divide(p, q) }";
    verdicts(body, &["f32[] 1e30", "f32[] 1e25"], &[("f32[] nan", Differs)]);
    verdicts(body, &["f32[] 1e15", "f32[] 1e10"], &[("f32[] nan", Differs)]);
}
