//! Differences beside what runs do not tell, and rounded literals that decide.
use super::{as_a_whole, module};
use field::{Answer, equal};

fn answer(first: &str, second: &str) -> Answer {
    equal(&module(first), &module(second), &as_a_whole()).unwrap()
}

/// A scalar, and a comparison of two numbers that real numbers do not tell apart.
fn beside_an_unsure_comparison(parameters: &str, result: &str) -> String {
    format!(
        "x = f32[] parameter(0) {parameters} h = f32[] constant(1e20) o = f32[] constant(1) u = f32[] add(x, h) v = f32[] add(u, o)
         g = pred[] compare(u, v), direction=LT z = f32[] constant(0) n = pred[] compare(x, z), direction=LT {result}
         r = f32[] select(n, y, x) ROOT t = (f32[], pred[]) tuple(r, g)"
    )
}

#[test]
fn an_unsure_comparison_excuses_nothing_beside_it() {
    let same = "y = f32[] copy(x)";
    let complex = "w = c64[] parameter(1)";
    for (parameters, other) in [
        (complex, "y = f32[] add(x, x)"),
        ("", "y = f32[] add(x, x)"),
        ("", "k = f32[] constant(1.000005) y = f32[] multiply(x, k)"),
    ] {
        let of = |result| beside_an_unsure_comparison(parameters, result);
        let found = answer(&of(same), &of(other));
        assert!(!matches!(found, Answer::Equal(_)), "{other} {found:?}");
        let found = answer(&of(same), &of(same));
        assert!(matches!(found, Answer::Equal(_)), "{found:?}");
    }
    let chaos = |factor: &str| {
        let sine =
            format!("c = f32[] constant({factor}) m = f32[] multiply(x, c) y = f32[] sine(m)");
        beside_an_unsure_comparison("", &sine)
    };
    let found = answer(&chaos("1e15"), &chaos("1.7e15"));
    assert!(!matches!(found, Answer::Equal(_)), "{found:?}");
}

/// The difference of two literals is known with the digits of the difference.
#[test]
fn a_difference_of_literals_is_no_other_literal() {
    let constants = "x = f32[] parameter(0) p = f32[] constant(3.1415917) q = f32[] constant(3.0915912) d = f32[] subtract(p, q)";
    let first = format!("{constants} ROOT r = f32[] subtract(x, x)");
    let second = format!(
        "{constants} l = f32[] constant(0.0500012) g = pred[] compare(l, d), direction=GT z = f32[] constant(0)
         ROOT r = f32[] select(g, x, z)"
    );
    let found = answer(&first, &second);
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
}

/// A compiler rounds the product of two literals, which decides integers and comparisons.
#[test]
fn what_a_rounded_literal_decides_is_no_difference() {
    let twice = "x = f32[6] parameter(0) k = f32[] constant(0.0254) a = f32[6] broadcast(k), dimensions={} l = f32[] constant(12.7)
        b = f32[6] broadcast(l), dimensions={} m = f32[6] multiply(x, a) s = f32[6] multiply(m, b)";
    let once = "x = f32[6] parameter(0) k = f32[] constant(0.32257998) a = f32[6] broadcast(k), dimensions={} s = f32[6] multiply(x, a)";
    let threshold = "t = f32[] constant(0.35) c = f32[6] broadcast(t), dimensions={} ROOT p = pred[6] compare(s, c), direction=GT";
    for end in ["ROOT i = s32[6] convert(s)", threshold] {
        let found = answer(&format!("{twice} {end}"), &format!("{once} {end}"));
        assert!(!matches!(found, Answer::Different(_)), "{end} {found:?}");
    }
    let other = once.replace("0.32257998", "0.3226");
    let found = answer(&format!("{twice} {threshold}"), &format!("{other} {threshold}"));
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
}

#[test]
fn floats_show_constants_of_few_digits_in_each_region() {
    let first = "x = f32[] parameter(0) k = s32[] parameter(1) i = s32[] constant(7) p = pred[] compare(k, i), direction=EQ
        z = f32[] subtract(x, x) ROOT r = f32[] select(p, z, x)";
    let folded = "x = f32[] parameter(0) k = s32[] parameter(1) t = bf16[1] constant({0.333984375}) u = bf16[1] constant({512}) n = bf16[1] constant({3})
        d = bf16[1] divide(u, n) v = f32[] dot(t, u), lhs_contracting_dims={0}, rhs_contracting_dims={0} q = f32[] constant(3)
        f = f32[] multiply(v, q) c = f32[] constant(512) h = f32[] subtract(f, c) w = f32[] multiply(x, h) i = s32[] constant(7)
        p = pred[] compare(k, i), direction=EQ ROOT r = f32[] select(p, w, x)";
    let found = answer(first, folded);
    assert!(!matches!(found, Answer::Equal(_)), "{found:?}");
    let beside = |result: &str| {
        format!(
            "x = bf16[1] parameter(0) k = bf16[] constant(1) e = bf16[] constant(0.001953125) s = bf16[] add(k, e) d = bf16[] subtract(s, k)
             m = bf16[] constant(512) q = bf16[] multiply(d, m) c = bf16[1] broadcast(q), dimensions={{}} y = bf16[1] multiply(x, c)
             z = bf16[1] subtract(x, x) b = bf16[1] constant({{1e30}}) ROOT r = bf16[2] concatenate(b, {result}), dimensions={{0}}"
        )
    };
    let are_equal = |other: &str| matches!(answer(&beside("y"), &beside(other)), Answer::Equal(_));
    assert!(!are_equal("x") || !are_equal("z"), "x is 0");
}

/// Signs of zero are not covered.
#[test]
fn an_infinity_of_both_in_floats_is_no_difference() {
    let of = |infinity: &str| {
        format!(
            "x = f32[] parameter(0) o = f32[] constant(1) {infinity} p = pred[] compare(x, o), direction=GT ROOT r = f32[] select(p, i, x)"
        )
    };
    let found = answer(
        &of("z = f32[] constant(-0.0) i = f32[] divide(o, z)"),
        &of("i = f32[] constant(-inf)"),
    );
    assert!(!matches!(found, Answer::Different(_)), "{found:?}");
}

/// What a clamp returns of its bounds is a constant for some arguments only.
#[test]
fn laws_hold_of_clamped_numbers() {
    let clamp = "x = f32[] parameter(0) k = f32[] constant(2) o = f32[] constant(1) m = f32[] minimum(x, k) ";
    let tanh = format!("{clamp} ROOT s = f32[] tanh(m)");
    let quotient = format!(
        "{clamp} t = f32[] add(m, m) e = f32[] exponential(t) a = f32[] subtract(e, o) b = f32[] add(e, o) ROOT r = f32[] divide(a, b)"
    );
    let found = answer(&tanh, &quotient);
    assert!(matches!(found, Answer::Equal(_)), "{found:?}");
    let found = answer(&tanh, &quotient.replace("constant(2)", "constant(2.5)"));
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
}

/// Not only matrices whose diagonals are dominant are drawn.
#[test]
fn definite_matrices_are_of_any_kind() {
    let quotient = "x = f32[2,2] parameter(0) l = f32[2,2] cholesky(x), lower=true a = f32[1,1] slice(l), slice={[1:2], [0:1]}
        b = f32[1,1] slice(l), slice={[0:1], [0:1]} q = f32[1,1] divide(a, b)";
    let first = format!("{quotient} ROOT r = f32[1,1] copy(q)");
    let second =
        format!("{quotient} o = f32[1,1] constant({{{{1}}}}) ROOT r = f32[1,1] minimum(q, o)");
    let found = answer(&first, &second);
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
}
