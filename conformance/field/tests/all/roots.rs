//! Laws of roots, among them of numbers that are no squares of residues, and of what is learned
//! after it is needed.
use super::{as_a_whole, module};
use field::{Answer, equal};

/// Compares two functions of x and y, arrays of six.
fn answer(first: &str, second: &str) -> Answer {
    let of = |root: &str| {
        module(&format!(
            "x = f32[6] parameter(0) y = f32[6] parameter(1) zero = f32[] constant(0)
             one = f32[] constant(1) ones = f32[6] broadcast(one), dimensions={{}}
             two = f32[] constant(2) twos = f32[6] broadcast(two), dimensions={{}} {root}"
        ))
    };
    equal(&of(first), &of(second), &as_a_whole()).unwrap()
}

#[test]
fn roots_of_all_numbers_are_in_a_ring() {
    let norm = "q = f32[6] multiply(x, x) v = f32[] reduce(q, zero), dimensions={0}, to_apply=add";
    let pairs = [
        (
            "a = f32[6] sqrt(x) b = f32[6] sqrt(y) s = f32[6] add(a, b) ROOT r = f32[6] divide(ones, s)",
            "a = f32[6] sqrt(x) b = f32[6] sqrt(y) s = f32[6] subtract(a, b) d = f32[6] subtract(x, y) ROOT r = f32[6] divide(s, d)",
        ),
        (
            "a = f32[6] sqrt(x) s = f32[6] add(a, y) ROOT r = f32[6] multiply(s, s)",
            "a = f32[6] sqrt(x) b = f32[6] multiply(y, y) p = f32[6] multiply(a, y) c = f32[6] multiply(p, twos) d = f32[6] add(x, b) ROOT r = f32[6] add(d, c)",
        ),
        (
            &*format!(
                "{norm} s = f32[] sqrt(v) b = f32[6] broadcast(s), dimensions={{}} d = f32[6] divide(x, b) ROOT r = f32[6] divide(d, b)"
            ),
            &*format!(
                "{norm} b = f32[6] broadcast(v), dimensions={{}} ROOT r = f32[6] divide(x, b)"
            ),
        ),
        (
            "s = f32[6] add(x, y) ROOT r = f32[6] abs(s)",
            "a = f32[6] multiply(x, x) b = f32[6] multiply(y, y) p = f32[6] multiply(x, y) c = f32[6] multiply(p, twos) d = f32[6] add(a, b) e = f32[6] add(d, c) ROOT r = f32[6] sqrt(e)",
        ),
    ];
    for (first, second) in pairs {
        let found = answer(first, second);
        assert!(matches!(found, Answer::Equal(_)), "{first}\n{second}\n{found:?}");
    }
    // Of arguments, which are squares.
    let power = |name: &str, exponent: &str| {
        format!(
            "{name}0 = f32[] constant({exponent}) {name}1 = f32[6] broadcast({name}0), dimensions={{}} {name} = f32[6] power(x, {name}1)"
        )
    };
    let (a, b) = (power("a", "0.3"), power("b", "0.7"));
    for (first, second) in [
        (format!("{a} {b} ROOT r = f32[6] multiply(a, b)"), "ROOT r = f32[6] copy(x)"),
        (
            "p = f32[6] power(x, y) s = f32[6] add(y, ones) q = f32[6] power(x, s) ROOT r = f32[6] divide(q, p)".to_owned(),
            "ROOT r = f32[6] copy(x)",
        ),
        (
            "a = f32[6] abs(x) b = f32[6] abs(y) m = f32[6] maximum(a, b) n = f32[6] minimum(a, b) d = f32[6] divide(n, m)
             q = f32[6] multiply(d, d) s = f32[6] add(q, ones) t = f32[6] sqrt(s) ROOT r = f32[6] multiply(m, t)".to_owned(),
            "q = f32[6] multiply(x, x) p = f32[6] multiply(y, y) s = f32[6] add(q, p) ROOT r = f32[6] sqrt(s)",
        ),
    ] {
        let found = answer(&first, second);
        assert!(matches!(found, Answer::Equal(_)), "{first}\n{second}\n{found:?}");
    }
    let (first, second) = pairs[0];
    let found = answer(first, &second.replace("subtract(a, b)", "add(a, b)"));
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
}

/// The gradient of a root mean square norm of rows, for the scale and for the rows.
#[test]
fn gradients_of_a_norm_are_equal() {
    let of = |factors: &str| {
        module(&format!(
            "x = f32[5,4] parameter(0) g = f32[5,4] parameter(1) w = f32[4] parameter(2) z = f32[] constant(0)
             q = f32[5,4] multiply(x, x) s = f32[5] reduce(q, z), dimensions={{1}}, to_apply=add
             n = f32[] constant(4) ns = f32[5] broadcast(n), dimensions={{}} e = f32[] constant(1e-5) es = f32[5] broadcast(e), dimensions={{}}
             m = f32[5] divide(s, ns) v = f32[5] add(m, es) wide = f32[5,4] broadcast(w), dimensions={{1}} gw = f32[5,4] multiply(g, wide)
             p = f32[5,4] multiply(gw, x) t = f32[5] reduce(p, z), dimensions={{1}}, to_apply=add
             {factors}
             rows = f32[5,4] broadcast(r), dimensions={{0}} normed = f32[5,4] multiply(x, rows) gn = f32[5,4] multiply(g, normed)
             dw = f32[4] reduce(gn, z), dimensions={{0}}, to_apply=add
             a = f32[5,4] multiply(gw, rows) u = f32[5,4] broadcast(k), dimensions={{0}} b = f32[5,4] multiply(x, u)
             dx = f32[5,4] subtract(a, b) ROOT all = (f32[4], f32[5,4]) tuple(dw, dx)"
        ))
    };
    let one = of(
        "r = f32[5] rsqrt(v) r2 = f32[5] multiply(r, r) r3 = f32[5] multiply(r2, r) tr = f32[5] multiply(t, r3) k = f32[5] divide(tr, ns)",
    );
    for (factors, is_equal) in [
        (
            "h = f32[5] sqrt(v) r = f32[5] divide(h, v) a2 = f32[5] multiply(r, t) a3 = f32[5] multiply(a2, r) a4 = f32[5] divide(a3, ns) k = f32[5] multiply(a4, r)",
            true,
        ),
        (
            "h = f32[5] sqrt(v) o = f32[] constant(1) os = f32[5] broadcast(o), dimensions={} r = f32[5] divide(os, h) a2 = f32[5] divide(t, h) a3 = f32[5] divide(a2, v) k = f32[5] divide(a3, ns)",
            true,
        ),
        ("r = f32[5] rsqrt(v) a2 = f32[5] multiply(t, r) k = f32[5] divide(a2, ns)", false),
    ] {
        let found = equal(&one, &of(factors), &as_a_whole()).unwrap();
        let is_found = if is_equal {
            matches!(found, Answer::Equal(_))
        } else {
            matches!(found, Answer::Different(_))
        };
        assert!(is_found, "{factors}\n{found:?}");
    }
}

#[test]
fn constants_leave_the_root() {
    let constant = |value: &str| {
        format!("c = f32[] constant({value}) k = f32[6] broadcast(c), dimensions={{}}")
    };
    for (inside, outside) in
        [("49", "7"), ("2", "1.41421354"), ("3", "1.73205078"), ("0.0204081628", "0.142857149")]
    {
        let first =
            format!("{} p = f32[6] multiply(x, k) ROOT r = f32[6] sqrt(p)", constant(inside));
        let second =
            format!("{} s = f32[6] sqrt(x) ROOT r = f32[6] multiply(s, k)", constant(outside));
        let found = answer(&first, &second);
        assert!(matches!(found, Answer::Equal(_)), "{inside} {found:?}");
    }
}

#[test]
fn what_is_learned_later_is_known() {
    let square = "n = f32[6] add(x, ones) a = f32[6] multiply(x, x) b = f32[6] add(x, x) c = f32[6] add(a, b) v = f32[6] add(c, ones)";
    let first = format!(
        "{square} s = f32[6] sqrt(v) q = f32[6] multiply(n, n) t = f32[6] add(s, q) ROOT r = f32[6] add(t, s)"
    );
    let second = format!(
        "{square} q = f32[6] multiply(n, n) s = f32[6] sqrt(v) t = f32[6] add(s, q) ROOT r = f32[6] add(t, s)"
    );
    let sum = "e = f32[6] exponential(x) f = f32[6] exponential(y) p = f32[6] multiply(e, f)";
    let power = "s = f32[6] add(x, y) g = f32[6] exponential(s)";
    let third = format!("{sum} l = f32[6] log(p) {power} ROOT r = f32[6] multiply(l, g)");
    let fourth = format!("{sum} {power} l = f32[6] log(p) ROOT r = f32[6] multiply(l, g)");
    for (a, b) in [(&first, &first), (&first, &second), (&third, &third), (&third, &fourth)] {
        let found = answer(a, b);
        assert!(matches!(found, Answer::Equal(_)), "{a}\n{b}\n{found:?}");
    }
}

#[test]
fn the_square_of_a_complex_root_is_the_number() {
    let of =
        |root: &str| module(&format!("x = c64[4] parameter(0) y = c64[4] parameter(1) {root}"));
    for (first, second, is_equal) in [
        ("s = c64[4] sqrt(x) ROOT r = c64[4] multiply(s, s)", "ROOT r = c64[4] copy(x)", true),
        (
            "s = c64[4] rsqrt(x) q = c64[4] multiply(s, s) ROOT r = c64[4] multiply(q, y)",
            "ROOT r = c64[4] divide(y, x)",
            true,
        ),
        (
            "s = c64[4] sqrt(x) t = c64[4] sqrt(y) ROOT r = c64[4] multiply(s, t)",
            "p = c64[4] multiply(x, y) ROOT r = c64[4] sqrt(p)",
            false,
        ),
        ("ROOT r = f32[4] real(x)", "ROOT r = f32[4] convert(x)", true),
    ] {
        let found = equal(&of(first), &of(second), &as_a_whole()).unwrap();
        let is_found = if is_equal {
            matches!(found, Answer::Equal(_))
        } else {
            matches!(found, Answer::Different(_))
        };
        assert!(is_found, "{first}\n{second}\n{found:?}");
    }
}
