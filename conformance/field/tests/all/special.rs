//! Infinities and NaN, integers that numbers decide, and constants that compilers round.
use super::{as_a_whole, module};
use field::{Answer, Options, equal};
use hlo::Verified;

fn answer(first: &Verified, second: &Verified) -> Answer {
    equal(first, second, &as_a_whole()).unwrap()
}

fn are_equal(ty: &str, pairs: &[(&str, &str)]) {
    let of = |root: &str| module(&format!("x = {ty}[6] parameter(0) {root}"));
    for (first, second) in pairs {
        for (first, second) in [(first, second), (second, first)] {
            let found = answer(&of(first), &of(second));
            assert!(matches!(found, Answer::Equal(_)), "{first}\n{second}\n{found:?}");
        }
    }
}

/// Half of all arguments are divided by a difference that is 0 for all.
#[test]
fn a_division_by_zero_for_all_arguments_is_seen() {
    let sum = "o = f32[] constant(1) c = f32[6] broadcast(o), dimensions={} s = f32[6] add(x, c) ";
    let of = |root: &str| module(&format!("x = f32[6] parameter(0) {sum} {root}"));
    let infinite =
        "z = f32[6] subtract(x, x) i = f32[6] divide(c, z) p = pred[6] compare(x, c), direction=GT
        ROOT r = f32[6] select(p, i, s)";
    let found = answer(&of("ROOT r = f32[6] copy(s)"), &of(infinite));
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
    // A divisor that is 0 for some arguments only.
    let quotient = "q = f32[6] multiply(x, s) ROOT r = f32[6] divide(q, s)";
    let found = answer(&of("ROOT r = f32[6] copy(x)"), &of(quotient));
    assert!(matches!(found, Answer::Equal(_)), "{found:?}");
}

#[test]
fn nan_of_constants_is_a_constant() {
    let two = "c = f32[] constant(-2) b = f32[6] broadcast(c), dimensions={} ";
    let log = format!("{two} l = f32[6] log(b) ROOT t = (f32[6], f32[6]) tuple(x, l)");
    let folded = "c = f32[] constant(nan) b = f32[6] broadcast(c), dimensions={} ROOT t = (f32[6], f32[6]) tuple(x, b)";
    are_equal("f32", &[(&log, folded), (&log, &log)]);
    // What is infinite for each argument that is drawn may be a number for others.
    let of = |power: &str| {
        module(&format!(
            "x = f32[6] parameter(0) a = f32[6] abs(x) c = f32[] constant(1e30) b = f32[6] broadcast(c), dimensions={{}}
             s = f32[6] add(a, b) e = f32[6] exponential(s) ROOT r = f32[6] {power}(e, s)"
        ))
    };
    let found = answer(&of("multiply"), &of("add"));
    assert!(matches!(found, Answer::Open(_)), "{found:?}");
}

#[test]
fn what_an_overflow_decides_is_not_known() {
    let of = |form: &str| {
        format!(
            "o = f32[] constant(1) c = f32[6] broadcast(o), dimensions={{}} {form} f = pred[6] is-finite(l)
             ROOT t = (f32[6], pred[6]) tuple(x, f)"
        )
    };
    let expanded = "k = f32[] constant(1000) b = f32[6] broadcast(k), dimensions={} m = f32[6] multiply(x, b)
        n = f32[6] negate(m) e = f32[6] exponential(n) d = f32[6] add(c, e) l = f32[6] divide(e, d)";
    let stable =
        "k = f32[] constant(1000) b = f32[6] broadcast(k), dimensions={} m = f32[6] multiply(x, b)
        p = f32[6] exponential(m) d = f32[6] add(c, p) l = f32[6] divide(c, d)";
    let first = module(&format!("x = f32[6] parameter(0) {}", of(expanded)));
    let second = module(&format!("x = f32[6] parameter(0) {}", of(stable)));
    let found = answer(&first, &second);
    assert!(!matches!(found, Answer::Different(_)), "{found:?}");
}

/// A matrix that is not positive definite has no factor.
#[test]
fn a_pivot_of_zero_is_no_difference() {
    let factor = "m = f32[3,3] parameter(1) ROOT c = f32[3,3] cholesky(m), lower=true";
    let select = "m = f32[3,3] parameter(1) c = f32[3,3] cholesky(m), lower=true z = f32[] constant(0) s = f32[3,3] broadcast(z), dimensions={}
        d = f32[3,3] subtract(c, c) p = pred[3,3] compare(d, s), direction=EQ n = f32[] constant(nan) b = f32[3,3] broadcast(n), dimensions={}
        ROOT r = f32[3,3] select(p, c, b)";
    let of = |root: &str| module(&format!("x = f32[6] parameter(0) {root}"));
    let found = answer(&of(factor), &of(select));
    assert!(!matches!(found, Answer::Different(_)), "{found:?}");
}

/// Arguments are drawn that have a factor.
#[test]
fn factors_are_compared() {
    for (ty, imag) in [("f32", ""), ("c64", ", 0)")] {
        let of = |root: &str| module(&format!("x = {ty}[2,3,3] parameter(0) {root}"));
        let number = |x: &str| if imag.is_empty() { x.to_owned() } else { format!("({x}{imag}") };
        let factor = of(&format!("ROOT c = {ty}[2,3,3] cholesky(x), lower=true"));
        let found = answer(&factor, &factor);
        assert!(matches!(found, Answer::Equal(_)), "{found:?}");
        let scaled = |by: &str| {
            let (four, by) = (number("4"), number(by));
            of(&format!(
                "k = {ty}[] constant({four}) b = {ty}[2,3,3] broadcast(k), dimensions={{}} m = {ty}[2,3,3] multiply(x, b)
                c = {ty}[2,3,3] cholesky(m), lower=true h = {ty}[] constant({by}) d = {ty}[2,3,3] broadcast(h), dimensions={{}}
                ROOT r = {ty}[2,3,3] multiply(c, d)"
            ))
        };
        let found = answer(&factor, &scaled("0.5"));
        assert!(matches!(found, Answer::Equal(_)), "{found:?}");
        let found = answer(&factor, &scaled("0.25"));
        assert!(matches!(found, Answer::Different(_)), "{found:?}");
    }
}

/// The factor of a matrix of complex numbers times its adjoint is the matrix, and a system with the
/// adjoint is one with the conjugates of the transpose.
#[test]
fn adjoints_are_conjugates() {
    let adjoint = |x: &str| {
        format!(
            "r{x} = f32[3,3] real({x}) i{x} = f32[3,3] imag({x}) n{x} = f32[3,3] negate(i{x}) c{x} = c64[3,3] complex(r{x}, n{x})
            t{x} = c64[3,3] transpose(c{x}), dimensions={{1,0}}"
        )
    };
    let compared = |first: &str, second: &str| {
        let of = |root: &str| {
            module(&format!("x = c64[3,3] parameter(0) b = c64[3,2] parameter(1) {root}"))
        };
        answer(&of(first), &of(second))
    };
    let is_equal = |first: &str, second: &str| {
        let found = compared(first, second);
        assert!(matches!(found, Answer::Equal(_)), "{found:?}");
    };
    let is_other = |first: &str, second: &str| {
        let found = compared(first, second);
        assert!(matches!(found, Answer::Different(_)), "{found:?}");
    };
    let hermitian = format!("{} m = c64[3,3] add(x, tx)", adjoint("x"));
    let factor = format!("{hermitian} l = c64[3,3] cholesky(m), lower=true {}", adjoint("l"));
    let times = |other: &str| {
        format!(
            "{factor} ROOT p = c64[3,3] dot(l, {other}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}"
        )
    };
    is_equal(
        &times("tl"),
        &format!("{hermitian} z = c64[3,3] subtract(m, m) ROOT r = c64[3,3] add(m, z)"),
    );
    is_other(&times("tl"), &times("l"));
    let solve = |a: &str, lower: bool, how: &str| {
        format!(
            "{} ROOT s = c64[3,2] triangular-solve({a}, b), left_side=true, lower={lower}, transpose_a={how}",
            adjoint("x")
        )
    };
    is_equal(&solve("x", true, "ADJOINT"), &solve("tx", false, "NO_TRANSPOSE"));
    is_other(&solve("x", true, "ADJOINT"), &solve("x", true, "TRANSPOSE"));
}

/// The rounded product of two literals, and the inverse of one.
#[test]
fn folded_literals_are_known() {
    let by = |op: &str, constant: &str, of: &str, n: usize| {
        format!(
            "k{n} = f32[] constant({constant}) b{n} = f32[6] broadcast(k{n}), dimensions={{}} r{n} = f32[6] {op}({of}, b{n})"
        )
    };
    let first = format!("{} {}", by("multiply", "1.3", "x", 0), by("multiply", "0.7", "r0", 1));
    are_equal("f32", &[(&first, &by("multiply", "0.9099999", "x", 0))]);
    let of = |root: &str| module(&format!("x = f32[6] parameter(0) {root}"));
    let found = answer(&of(&first), &of(&by("multiply", "0.9101", "x", 0)));
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
}

/// A compiler rounds a computed constant of few digits, or computes with more.
#[test]
fn constants_of_few_digits_are_rounded_or_not() {
    let wide = |ty: &str| {
        let f = |size: &str| format!("f32[{size}]");
        let values = "constant({0.3, 0.7, -1.1, 2.3, 0.9, 1.7})";
        let dims = "lhs_contracting_dims={0}, rhs_contracting_dims={0}";
        let of_type = format!(
            "a = {ty}[6] {values} d = {ty}[] dot(a, a), {dims} b = {ty}[6] broadcast(d), dimensions={{}} ROOT r = {ty}[6] add(x, b)"
        );
        let in_f32 = format!(
            "a = {ty}[6] {values} w = {} convert(a) d = {} dot(w, w), {dims} n = {ty}[] convert(d)
             b = {ty}[6] broadcast(n), dimensions={{}} ROOT r = {ty}[6] add(x, b)",
            f("6"),
            f("")
        );
        let in_f32_throughout = format!(
            "a = {ty}[6] {values} w = {} convert(a) d = {} dot(w, w), {dims} b = {} broadcast(d), dimensions={{}}
             v = {} convert(x) s = {} add(v, b) ROOT r = {ty}[6] convert(s)",
            f("6"),
            f(""),
            f("6"),
            f("6"),
            f("6")
        );
        [of_type, in_f32, in_f32_throughout]
    };
    for ty in ["bf16", "f16", "f8e4m3fn"] {
        let [narrow, converted, throughout] = wide(ty);
        are_equal(ty, &[(&narrow, &converted), (&narrow, &throughout), (&converted, &throughout)]);
    }
    // The inverse of a constant.
    let over =
        "c = f16[] constant(3) b = f16[6] broadcast(c), dimensions={} ROOT r = f16[6] divide(x, b)";
    let times = |inverse: &str| {
        format!(
            "c = f16[] constant({inverse}) b = f16[6] broadcast(c), dimensions={{}} ROOT r = f16[6] multiply(x, b)"
        )
    };
    let of = |root: &str| module(&format!("x = f16[6] parameter(0) {root}"));
    let found = answer(&of(over), &of(&times("0.33325")));
    assert!(matches!(found, Answer::Equal(_)), "{found:?}");
    let found = answer(&of(over), &of(&times("0.334")));
    assert!(!matches!(found, Answer::Equal(_)), "{found:?}");
}

#[test]
fn constants_are_known_behind_calls() {
    let call = |body: &str| {
        super::parsed(&format!(
            "f {{ a = f32[6] parameter(0) s = f32[6] sine(a) ROOT r = f32[6] multiply(s, s) }}
             ENTRY e {{ x = f32[6] parameter(0) i = f32[6] iota(), iota_dimension=0 {body} }}"
        ))
    };
    let called = "c = f32[6] call(i), to_apply=f ROOT r = f32[6] add(x, c)";
    let inlined = "s = f32[6] sine(i) p = f32[6] multiply(s, s) ROOT r = f32[6] add(x, p)";
    let copied =
        "k = f32[6] copy(i) s = f32[6] sine(k) p = f32[6] multiply(s, s) ROOT r = f32[6] add(x, p)";
    for other in [inlined, copied] {
        let found = answer(&call(called), &call(other));
        assert!(matches!(found, Answer::Equal(_)), "{other} {found:?}");
    }
    let other = "s = f32[6] cosine(i) p = f32[6] multiply(s, s) ROOT r = f32[6] add(x, p)";
    let found = answer(&call(called), &call(other));
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
}

#[test]
fn constants_have_all_their_digits() {
    let bits = "c = f64[] constant(-0.8427007929497149) b = s64[] bitcast-convert(c) ROOT t = (f64[6], s64[]) tuple(x, b)";
    let folded = "b = s64[] constant(-4618047486226567279) ROOT t = (f64[6], s64[]) tuple(x, b)";
    let literal = i64::from_ne_bytes((-0.842_700_792_949_714_9_f64).to_ne_bytes());
    are_equal("f64", &[(bits, &folded.replace("-4618047486226567279", &literal.to_string()))]);
    let power = "c = c128[] constant((1e300, -1e300)) l = c128[] log(c) r = f64[] real(l) b = f64[6] broadcast(r), dimensions={} ROOT s = f64[6] add(x, b)";
    let folded = "c = f64[] constant(691.1221014884936) b = f64[6] broadcast(c), dimensions={} ROOT s = f64[6] add(x, b)";
    are_equal("f64", &[(power, folded)]);
}

/// A size beyond the bound of a dimension is no argument.
#[test]
fn a_size_is_within_its_bound() {
    let of = |op: &str| {
        module(&format!(
            "x = s64[4] parameter(0) n = s32[] parameter(1) d = s64[<=4] set-dimension-size(x, n), dimensions={{0}}
             g = s32[] get-dimension-size(d), dimensions={{0}} ROOT r = s32[] {op}(g, g)"
        ))
    };
    let options = Options { seeds: 24, ..as_a_whole() };
    let found = equal(&of("add"), &of("add"), &options).unwrap();
    assert!(!matches!(found, Answer::Different(_)), "{found:?}");
    let found = equal(&of("add"), &of("subtract"), &options).unwrap();
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
}

fn are_different(ty: &str, pairs: &[(&str, &str)]) {
    let of = |root: &str| module(&format!("x = {ty}[4] parameter(0) {root}"));
    for (first, second) in pairs {
        let found = answer(&of(first), &of(second));
        assert!(matches!(found, Answer::Different(_)), "{first}\n{second}\n{found:?}");
    }
}

/// A computation that is called once, by one that is called with a constant and with an argument.
#[test]
fn constants_of_one_call_are_none_of_another() {
    let of = |other: &str| {
        super::parsed(&format!(
            "c {{ p = f32[4] parameter(0) ROOT l = f32[4] cosine(p) }}
             b {{ q = f32[4] parameter(0) ROOT k = f32[4] call(q), to_apply=c }}
             ENTRY e {{
               x = f32[4] parameter(0) t = f32[] constant(3) s = f32[4] broadcast(t), dimensions={{}}
               u = f32[4] call(s), to_apply=b y = f32[4] {other} v = f32[4] call(y), to_apply=b ROOT r = f32[4] add(u, v)
             }}"
        ))
    };
    let found = answer(&of("copy(x)"), &of("multiply(x, x)"));
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
    let found = answer(&of("copy(x)"), &of("negate(x)"));
    assert!(matches!(found, Answer::Equal(_)), "{found:?}");
}

#[test]
fn nan_of_a_negative_number_decides() {
    let one = "o = f32[] constant(1) c = f32[4] broadcast(o), dimensions={} s = f32[4] add(x, c)";
    let nan = format!(
        "{one} q = f32[4] sqrt(x) p = pred[4] compare(q, q), direction=NE ROOT r = f32[4] select(p, x, s)"
    );
    let less = |other: &str| {
        format!(
            "{one} z = f32[4] subtract(x, x) p = pred[4] compare(x, z), direction=LT f = f32[4] {other} ROOT r = f32[4] select(p, f, s)"
        )
    };
    are_different("f32", &[(&nan, &less("add(x, x)"))]);
    let of = |root: &str| module(&format!("x = f32[4] parameter(0) {root}"));
    let found = answer(&of(&nan), &of(&less("copy(x)")));
    assert!(matches!(found, Answer::Equal(_)), "{found:?}");
}

/// A function of what is 0 for half of all arguments, and finite again.
#[test]
fn an_infinity_at_zero_is_known() {
    let relu = "z = f32[4] subtract(x, x) m = f32[4] maximum(x, z) o = f32[] constant(1) c = f32[4] broadcast(o), dimensions={}
        t = f32[] constant(10) u = f32[4] broadcast(t), dimensions={} p = pred[4] compare(x, z), direction=GT";
    for op in ["rsqrt", "log"] {
        let first = format!("{relu} l = f32[4] {op}(m) ROOT r = f32[4] divide(c, l)");
        let second = format!(
            "{relu} l = f32[4] {op}(x) k = f32[4] divide(c, l) ROOT r = f32[4] select(p, k, u)"
        );
        are_different("f32", &[(&first, &second)]);
    }
}

#[test]
fn small_literals_are_no_logarithms() {
    let squares = "a = f32[4] multiply(x, x) o = f32[] constant(1) c = f32[4] broadcast(o), dimensions={} u = f32[4] add(a, c)
        v = f32[4] add(u, a)";
    let of_product = format!(
        "{squares} w = f32[4] multiply(u, v) l = f32[4] log(w) t = f32[] constant(1e-20) s = f32[4] broadcast(t), dimensions={{}}
         h = f32[] constant(1e20) g = f32[4] broadcast(h), dimensions={{}} q = f32[4] multiply(s, x) z = f32[4] multiply(q, g)
         ROOT r = (f32[4], f32[4]) tuple(l, z)"
    );
    let of_sum = format!(
        "{squares} m = f32[4] log(u) n = f32[4] log(v) l = f32[4] add(m, n) z = f32[4] subtract(x, x) ROOT r = (f32[4], f32[4]) tuple(l, z)"
    );
    are_different("f32", &[(&of_product, &of_sum)]);
}

#[test]
fn each_literal_of_a_module_is_its_own_number() {
    let constants = "k = f32[] constant(0.333333343) a = f32[4] broadcast(k), dimensions={} l = f32[] constant(0.333333313) b = f32[4] broadcast(l), dimensions={}";
    let compared = format!(
        "{constants} p = pred[4] compare(a, b), direction=GT ROOT r = f32[4] select(p, x, a)"
    );
    let constant = "k = f32[] constant(0.333333343) ROOT a = f32[4] broadcast(k), dimensions={}";
    let of = |root: &str| module(&format!("x = f32[4] parameter(0) {root}"));
    let found = answer(&of(&compared), &of(constant));
    assert!(!matches!(found, Answer::Equal(_)), "{found:?}");
}

/// The inverse of a constant of f32 is none of a type of few digits.
#[test]
fn a_literal_of_few_digits_is_made_of_such() {
    let first = module(
        "x = f8e5m2[4] parameter(0) o = f8e5m2[4] constant({1, 1, 1, 1}) d = f32[] dot(x, o), lhs_contracting_dims={0}, rhs_contracting_dims={0}
         k = f32[] constant(3) ROOT r = f32[] divide(d, k)",
    );
    let second = module(
        "x = f8e5m2[4] parameter(0) o = f8e5m2[4] constant({0.3125, 0.3125, 0.3125, 0.3125})
         ROOT d = f32[] dot(x, o), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
    );
    for (first, second) in [(&first, &second), (&second, &first)] {
        let found = answer(first, second);
        assert!(!matches!(found, Answer::Equal(_)), "{found:?}");
    }
}

/// A rule for constants of few digits holds for all arguments.
#[test]
fn constants_of_few_digits_are_one_number() {
    let folded = "k = bf16[] constant(1) e = bf16[] constant(0.001953125) s = bf16[] add(k, e) d = bf16[] subtract(s, k)
        m = bf16[] constant(512) q = bf16[] multiply(d, m) c = bf16[4] broadcast(q), dimensions={} ROOT r = bf16[4] multiply(x, c)";
    let relu = "z = bf16[4] subtract(x, x) ROOT r = bf16[4] maximum(x, z)";
    are_different("bf16", &[(folded, relu)]);
    let twice = "a = bf16[] constant(1.6171875) c = bf16[4] broadcast(a), dimensions={} b = bf16[] constant(0.578125) d = bf16[4] broadcast(b), dimensions={}
        s = bf16[4] multiply(x, c) ROOT r = bf16[4] multiply(s, d)";
    let times = |product: &str| {
        format!(
            "a = bf16[] constant({product}) c = bf16[4] broadcast(a), dimensions={{}} ROOT r = bf16[4] multiply(x, c)"
        )
    };
    let of = |root: &str| module(&format!("x = bf16[4] parameter(0) {root}"));
    let found = answer(&of(twice), &of(&times("0.93359375")));
    assert!(matches!(found, Answer::Equal(_)), "{found:?}");
    let found = answer(&of(twice), &of(&times("0.9453125")));
    assert!(!matches!(found, Answer::Equal(_)), "{found:?}");
}

/// An infinity less another, and 0 times an infinity, are NaN whatever the form of the function is.
#[test]
fn nan_of_infinities_is_known() {
    let one = "o = f32[] constant(1) c = f32[4] broadcast(o), dimensions={} s = f32[4] add(x, c) z = f32[4] subtract(x, x)";
    let less = "i = f32[4] divide(c, z) n = f32[4] subtract(i, i)";
    let times = "i = f32[4] divide(c, z) n = f32[4] multiply(i, z)";
    let over = "i = f32[4] divide(c, z) n = f32[4] divide(i, i)";
    let sine = "i = f32[4] log(z) n = f32[4] sine(i)";
    let stated = "k = f32[] constant(-inf) b = f32[4] broadcast(k), dimensions={} i = f32[4] add(b, x) n = f32[4] subtract(b, i)";
    for nan in [less, times, over, sine, stated] {
        let of = |branch: &str| {
            format!(
                "{one} {nan} p = pred[4] compare(x, c), direction=GT ROOT r = f32[4] select(p, {branch}, s)"
            )
        };
        are_different("f32", &[(&of("s"), &of("n"))]);
    }
    // What is too small for a float is no zero.
    let small = "m = f32[] constant(-200) b = f32[4] broadcast(m), dimensions={} w = f32[4] abs(x) v = f32[4] multiply(w, b) t = f32[4] subtract(v, w)
        h = f32[4] add(t, b) e = f32[4] exponential(h) d = f32[4] negate(h) f = f32[4] exponential(d)";
    let product = format!("{small} ROOT r = f32[4] multiply(e, f)");
    let found = answer(
        &module(&format!("x = f32[4] parameter(0) {product}")),
        &module(
            "x = f32[4] parameter(0) o = f32[] constant(1) ROOT c = f32[4] broadcast(o), dimensions={}",
        ),
    );
    assert!(!matches!(found, Answer::Different(_)), "{found:?}");
}

/// The arguments for which results depend on the last digits may all be of one kind.
#[test]
fn chaos_excuses_no_difference_in_the_field() {
    let of = |factor: &str, op: &str| {
        module(&format!(
            "x = f32[4] parameter(0) z = f32[4] subtract(x, x) p = pred[4] compare(x, z), direction=LT k = f32[] constant({factor})
             b = f32[4] broadcast(k), dimensions={{}} a = f32[4] multiply(x, b) s = f32[4] {op}(a) ROOT r = f32[4] select(p, s, x)"
        ))
    };
    let found = answer(&of("1e15", "sine"), &of("1.7e15", "sine"));
    assert!(matches!(found, Answer::Open(_)), "{found:?}");
    let found = answer(&of("1e15", "sine"), &of("1e15", "sine"));
    assert!(matches!(found, Answer::Equal(_)), "{found:?}");
}

/// A sum that one module computes with more digits than the type of its constants.
#[test]
fn a_rounding_of_few_digits_is_no_difference() {
    let rest = "v = f32[4] convert(x) b = f32[4] broadcast(w), dimensions={} r = f32[4] add(v, b) ROOT s = f16[4] convert(r)";
    let constants = "c = f16[] constant(358.5) d = f16[] constant(0.123)";
    let of = |sum: &str| module(&format!("x = f16[4] parameter(0) {constants} {sum} {rest}"));
    let narrow = of("e = f16[] add(c, d) f = f16[] subtract(e, d) w = f32[] convert(f)");
    let mixed = of(
        "g = f32[] convert(c) h = f32[] convert(d) e = f16[] add(c, d) i = f32[] convert(e) w = f32[] subtract(i, h)",
    );
    let found = answer(&narrow, &mixed);
    assert!(!matches!(found, Answer::Different(_)), "{found:?}");
    let found = answer(&narrow, &of("e = f16[] add(c, c) w = f32[] convert(e)"));
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
}
