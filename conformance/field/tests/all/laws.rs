//! Pairs of modules that are the same function of real numbers, and pairs that are not.
use super::{as_a_whole, module, parsed};
use field::{Answer, Options, equal};

/// Compares two functions of x and y, arrays of six.
fn answer(first: &str, second: &str) -> Answer {
    let of = |root: &str| {
        module(&format!(
            "x = f32[6] parameter(0) y = f32[6] parameter(1) zero = f32[] constant(0)
             half = f32[] constant(0.5) halves = f32[6] broadcast(half), dimensions={{}}
             one = f32[] constant(1) ones = f32[6] broadcast(one), dimensions={{}}
             two = f32[] constant(2) twos = f32[6] broadcast(two), dimensions={{}}
             four = f32[] constant(4) fours = f32[6] broadcast(four), dimensions={{}}
             {root}"
        ))
    };
    equal(&of(first), &of(second), &as_a_whole()).unwrap()
}

/// Pairs that are the same function.
const LAWS: &[(&str, &str)] = &[
    ("ROOT r = f32[6] multiply(x, twos)", "ROOT r = f32[6] add(x, x)"),
    ("ROOT r = f32[6] divide(x, twos)", "ROOT r = f32[6] multiply(halves, x)"),
    ("a = f32[6] multiply(x, x) ROOT r = f32[6] sqrt(a)", "ROOT r = f32[6] abs(x)"),
    (
        "a = f32[6] sqrt(x) b = f32[6] divide(ones, a) ROOT r = f32[6] multiply(y, b)",
        "a = f32[6] rsqrt(x) ROOT r = f32[6] multiply(y, a)",
    ),
    (
        "a = f32[6] abs(x) b = f32[6] abs(y) ROOT r = f32[6] multiply(a, b)",
        "a = f32[6] multiply(x, y) ROOT r = f32[6] abs(a)",
    ),
    (
        "a = f32[6] exponential(x) ROOT r = f32[6] log(a)",
        "zeros = f32[6] broadcast(zero), dimensions={} ROOT r = f32[6] add(x, zeros)",
    ),
    (
        "a = f32[6] exponential(x) b = f32[6] exponential(y) ROOT r = f32[6] multiply(a, b)",
        "a = f32[6] add(x, y) ROOT r = f32[6] exponential(a)",
    ),
    (
        "ROOT r = f32[6] logistic(x)",
        "n = f32[6] negate(x) e = f32[6] exponential(n) s = f32[6] add(e, ones) ROOT r = f32[6] divide(ones, s)",
    ),
    (
        "a = f32[6] multiply(x, twos) l = f32[6] logistic(a) m = f32[6] multiply(l, twos) ROOT r = f32[6] subtract(m, ones)",
        "ROOT r = f32[6] tanh(x)",
    ),
    (
        "n = f32[6] negate(x) t = f32[6] tanh(n) ROOT r = f32[6] negate(t)",
        "ROOT r = f32[6] tanh(x)",
    ),
    (
        "s = f32[6] sine(x) c = f32[6] cosine(x) a = f32[6] multiply(s, s) b = f32[6] multiply(c, c) ROOT r = f32[6] add(a, b)",
        "nil = f32[6] broadcast(zero), dimensions={} zeros = f32[6] multiply(x, nil) ROOT r = f32[6] add(ones, zeros)",
    ),
    (
        "a = f32[6] power(x, halves) ROOT r = f32[6] multiply(a, y)",
        "a = f32[6] sqrt(x) ROOT r = f32[6] multiply(a, y)",
    ),
    (
        "a = f32[6] negate(x) b = f32[6] negate(y) c = f32[6] maximum(a, b) ROOT r = f32[6] negate(c)",
        "ROOT r = f32[6] minimum(x, y)",
    ),
    (
        "p = pred[6] compare(x, y), direction=LT ROOT r = f32[6] select(p, y, x)",
        "ROOT r = f32[6] maximum(x, y)",
    ),
    (
        "e = f32[6] exponential-minus-one(x) ROOT r = f32[6] add(e, ones)",
        "ROOT r = f32[6] exponential(x)",
    ),
    (
        "ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=add",
        "a = f32[2,3] reshape(x) b = f32[3] reduce(a, zero), dimensions={0}, to_apply=add ROOT r = f32[] reduce(b, zero), dimensions={0}, to_apply=add",
    ),
    (
        "ROOT r = f32[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
        "a = f32[6] multiply(y, x) ROOT r = f32[] reduce(a, zero), dimensions={0}, to_apply=add",
    ),
    (
        "low = f32[] constant(-inf) m = f32[] reduce(x, low), dimensions={0}, to_apply=max b = f32[6] broadcast(m), dimensions={} d = f32[6] subtract(x, b) e = f32[6] exponential(d) s = f32[] reduce(e, zero), dimensions={0}, to_apply=add t = f32[6] broadcast(s), dimensions={} ROOT r = f32[6] divide(e, t)",
        "e = f32[6] exponential(x) s = f32[] reduce(e, zero), dimensions={0}, to_apply=add t = f32[6] broadcast(s), dimensions={} ROOT r = f32[6] divide(e, t)",
    ),
    (
        "t = f32[] constant(0.33333334) a = f32[6] broadcast(t), dimensions={} ROOT r = f32[6] multiply(x, a)",
        "t = f32[] constant(3) a = f32[6] broadcast(t), dimensions={} ROOT r = f32[6] divide(x, a)",
    ),
    // A pass multiplies constants, which rounds once more.
    (
        "c = f32[] constant(0.797884583) b = f32[6] broadcast(c), dimensions={} d = f32[] constant(0.0447149985) e = f32[6] broadcast(d), dimensions={} p = f32[6] multiply(x, b) ROOT r = f32[6] multiply(p, e)",
        "c = f32[] constant(0.0356774069) b = f32[6] broadcast(c), dimensions={} ROOT r = f32[6] multiply(x, b)",
    ),
    (
        "c = f32[] constant(2.82842708) b = f32[6] broadcast(c), dimensions={} ROOT r = f32[6] divide(x, b)",
        "c = f32[] constant(0.353553385) b = f32[6] broadcast(c), dimensions={} ROOT r = f32[6] multiply(x, b)",
    ),
    (
        "a = f32[6] divide(ones, x) ROOT r = f32[6] log(a)",
        "a = f32[6] log(x) ROOT r = f32[6] negate(a)",
    ),
    (
        "a = f32[6] multiply(x, x) b = f32[6] multiply(y, y) c = f32[6] divide(a, b) ROOT r = f32[6] sqrt(c)",
        "a = f32[6] divide(x, y) ROOT r = f32[6] abs(a)",
    ),
    (
        "a = f32[6] multiply(x, x) b = f32[6] multiply(a, y) ROOT r = f32[6] sqrt(b)",
        "a = f32[6] abs(x) b = f32[6] sqrt(y) ROOT r = f32[6] multiply(a, b)",
    ),
    (
        "a = f32[6] power(x, twos) ROOT r = f32[6] log(a)",
        "a = f32[6] abs(x) b = f32[6] log(a) ROOT r = f32[6] multiply(b, twos)",
    ),
    // The order of real numbers.
    (
        "a = f32[6] add(x, y) b = f32[6] add(x, x) ROOT r = f32[6] maximum(a, b)",
        "m = f32[6] maximum(x, y) ROOT r = f32[6] add(m, x)",
    ),
    (
        "c = f32[] constant(53) b = f32[6] broadcast(c), dimensions={} p = f32[6] multiply(x, b) zeros = f32[6] broadcast(zero), dimensions={} ROOT r = f32[6] maximum(p, zeros)",
        "c = f32[] constant(53) b = f32[6] broadcast(c), dimensions={} zeros = f32[6] broadcast(zero), dimensions={} m = f32[6] maximum(x, zeros) ROOT r = f32[6] multiply(m, b)",
    ),
    // Where both are numbers.
    ("a = f32[6] sqrt(x) ROOT r = f32[6] multiply(a, a)", "ROOT r = f32[6] copy(x)"),
    ("a = bf16[6] convert(x) ROOT r = f32[6] convert(a)", "ROOT r = f32[6] copy(x)"),
];

#[test]
fn laws_of_real_numbers_hold() {
    for (first, second) in LAWS {
        let found = answer(first, second);
        assert!(matches!(found, Answer::Equal(_)), "{first}\n{second}\n{found:?}");
    }
}

#[test]
fn other_functions_are_different() {
    for (first, second) in [
        ("ROOT r = f32[6] add(x, y)", "ROOT r = f32[6] subtract(x, y)"),
        ("ROOT r = f32[6] copy(x)", "ROOT r = f32[6] abs(x)"),
        // NaN of a NaN that a module states.
        (
            "zeros = f32[6] broadcast(zero), dimensions={} p = pred[6] compare(x, zeros), direction=GT n = f32[] constant(nan) m = f32[6] broadcast(n), dimensions={} s = f32[6] select(p, x, m) ROOT r = f32[6] multiply(s, y)",
            "ROOT r = f32[6] multiply(x, y)",
        ),
        ("ROOT r = f32[6] tanh(x)", "ROOT r = f32[6] logistic(x)"),
        ("ROOT r = f32[6] maximum(x, y)", "ROOT r = f32[6] minimum(x, y)"),
        ("a = f32[6] multiply(x, x) ROOT r = f32[6] sqrt(a)", "ROOT r = f32[6] copy(x)"),
        (
            "a = f32[6] add(x, y) ROOT r = f32[6] abs(a)",
            "a = f32[6] abs(x) b = f32[6] abs(y) ROOT r = f32[6] add(a, b)",
        ),
        ("ROOT r = f32[6] sine(x)", "ROOT r = f32[6] cosine(x)"),
        ("ROOT r = f32[6] floor(x)", "ROOT r = f32[6] ceil(x)"),
        (
            "p = pred[6] compare(x, y), direction=LT ROOT r = f32[6] select(p, y, x)",
            "p = pred[6] compare(x, y), direction=GT ROOT r = f32[6] select(p, y, x)",
        ),
        (
            "ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=add",
            "ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=max",
        ),
        (
            "ROOT r = f32[] reduce(x, zero), dimensions={0}, to_apply=add",
            "ROOT r = f32[] reduce(x, one), dimensions={0}, to_apply=add",
        ),
        // The sign of a product with a constant, whatever the constant.
        (
            "c = f32[] constant(53) b = f32[6] broadcast(c), dimensions={} p = f32[6] multiply(x, b) ROOT r = f32[6] sign(p)",
            "s = f32[6] sign(x) ROOT r = f32[6] negate(s)",
        ),
        (
            "a = f32[6] exponential(x) ROOT r = f32[6] multiply(a, fours)",
            "a = f32[6] add(x, ones) ROOT r = f32[6] exponential(a)",
        ),
        (
            "ROOT r = f32[6] power(twos, x)",
            "a = f32[6] multiply(x, halves) ROOT r = f32[6] exponential(a)",
        ),
        (
            "ROOT r = pred[6] compare(x, ones), direction=GT",
            "c = f32[] constant(1.1) b = f32[6] broadcast(c), dimensions={} ROOT r = pred[6] compare(x, b), direction=GT",
        ),
        (
            "ROOT r = pred[6] compare(x, y), direction=LT",
            "ROOT r = pred[6] compare(x, y), direction=LE",
        ),
        // An infinity that a module states, and no overflow.
        (
            "c = f32[] constant(nan) b = f32[6] broadcast(c), dimensions={} p = pred[6] compare(x, ones), direction=GT ROOT r = f32[6] select(p, b, x)",
            "ROOT r = f32[6] copy(x)",
        ),
        (
            "c = f32[] constant(inf) ROOT r = f32[] reduce(x, c), dimensions={0}, to_apply=max",
            "c = f32[] constant(-inf) ROOT r = f32[] reduce(x, c), dimensions={0}, to_apply=max",
        ),
        // Above a large constant.
        (
            "c = f32[] constant(1e20) b = f32[6] broadcast(c), dimensions={} ROOT r = f32[6] minimum(x, b)",
            "ROOT r = f32[6] copy(x)",
        ),
        ("ROOT r = s32[6] convert(x)", "a = s8[6] convert(x) ROOT r = s32[6] convert(a)"),
        (
            "a = f16[6] convert(x) b = bf16[6] bitcast-convert(a) ROOT r = f32[6] convert(b)",
            "a = bf16[6] convert(x) ROOT r = f32[6] convert(a)",
        ),
        (
            "t = f32[] constant(0.3333) a = f32[6] broadcast(t), dimensions={} ROOT r = f32[6] multiply(x, a)",
            "t = f32[] constant(3) a = f32[6] broadcast(t), dimensions={} ROOT r = f32[6] divide(x, a)",
        ),
    ] {
        let found = answer(first, second);
        assert!(matches!(found, Answer::Different(_)), "{first}\n{second}\n{found:?}");
    }
}

/// Different polynomials of a degree as large as the prime may agree everywhere.
#[test]
fn a_degree_that_is_too_large_is_open() {
    let text = |limit: &str| {
        let text = format!(
            "body {{ s = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 v = f32[] get-tuple-element(s), index=1
               one = s32[] constant(1) j = s32[] add(i, one) w = f32[] multiply(v, v) h = f32[] constant(0.5) u = f32[] multiply(w, h)
               ROOT t = (s32[], f32[]) tuple(j, u) }}
             more {{ s = (s32[], f32[]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant({limit}) ROOT r = pred[] compare(i, n), direction=LT }}
             ENTRY e {{ x = f32[] parameter(0) y = f32[] tanh(x) k = s32[] constant(0) t = (s32[], f32[]) tuple(k, y)
               w = (s32[], f32[]) while(t), condition=more, body=body ROOT z = f32[] get-tuple-element(w), index=1 }}"
        );
        parsed(&text)
    };
    let options = as_a_whole();
    let (few, many) = (text("4"), text("40"));
    assert!(matches!(equal(&few, &few, &options).unwrap(), Answer::Equal(_)));
    let answer = equal(&many, &many, &options).unwrap();
    assert!(matches!(answer, Answer::Open(_)), "{answer:?}");
}

#[test]
fn numbers_that_a_type_lacks_are_rounded() {
    let narrow = module("ROOT r = bf16[300] iota(), iota_dimension=0");
    let wide = module("i = s32[300] iota(), iota_dimension=0 ROOT r = bf16[300] convert(i)");
    let answer = equal(&narrow, &wide, &as_a_whole()).unwrap();
    assert!(matches!(answer, Answer::Equal(_)), "{answer:?}");
}

#[test]
fn loops_sorts_and_scatters_run_over_the_field() {
    let text = |direction: &str| {
        let text = format!(
            "less {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = pred[] compare(a, b), direction={direction} }}
             body {{ s = (s32[], f32[5]) parameter(0) i = s32[] get-tuple-element(s), index=0 v = f32[5] get-tuple-element(s), index=1
               one = s32[] constant(1) j = s32[] add(i, one) w = f32[5] tanh(v) ROOT t = (s32[], f32[5]) tuple(j, w) }}
             more {{ s = (s32[], f32[5]) parameter(0) i = s32[] get-tuple-element(s), index=0 n = s32[] constant(3) ROOT r = pred[] compare(i, n), direction=LT }}
             ENTRY e {{ x = f32[5] parameter(0) k = s32[] constant(0) s = f32[5] sort(x), dimensions={{0}}, to_apply=less
               t = (s32[], f32[5]) tuple(k, s) w = (s32[], f32[5]) while(t), condition=more, body=body
               ROOT r = f32[5] get-tuple-element(w), index=1 }}"
        );
        parsed(&text)
    };
    let sorted = module(
        "x = f32[5] parameter(0) a = f32[5] tanh(x) b = f32[5] tanh(a) ROOT r = f32[5] tanh(b)",
    );
    let (up, down) = (text("LT"), text("GT"));
    let options = as_a_whole();
    assert!(matches!(equal(&up, &up, &options).unwrap(), Answer::Equal(_)));
    assert!(matches!(equal(&up, &down, &options).unwrap(), Answer::Different(_)));
    assert!(matches!(equal(&up, &sorted, &options).unwrap(), Answer::Different(_)));
}

#[test]
fn what_has_no_meaning_is_open() {
    let random = module(
        "a = f32[] constant(0) b = f32[] constant(1) ROOT z = f32[8] rng(a, b), distribution=rng_uniform",
    );
    let Answer::Open(open) = equal(&random, &random, &as_a_whole()).unwrap() else {
        panic!("random numbers are known");
    };
    assert_eq!((open.module, &*open.instruction), (Some(0), "e/z"));
    // The length of a program of any length.
    let dynamic =
        module("x = f32[<=8] parameter(0) ROOT n = s32[] get-dimension-size(x), dimensions={0}");
    let full = module("x = f32[<=8] parameter(0) ROOT n = s32[] constant(8)");
    let answer = equal(&dynamic, &full, &as_a_whole()).unwrap();
    assert!(matches!(answer, Answer::Open(_)), "{answer:?}");
}

/// The real numbers agree, and no law says so: neither equal nor different.
#[test]
fn what_the_field_does_not_know_is_open() {
    for (first, second) in [
        (
            "a = f32[6] add(x, y) ROOT r = f32[6] sine(a)",
            "s = f32[6] sine(x) c = f32[6] cosine(x) t = f32[6] sine(y) d = f32[6] cosine(y) p = f32[6] multiply(s, d) q = f32[6] multiply(c, t) ROOT r = f32[6] add(p, q)",
        ),
        (
            "e = f32[6] exponential(x) f = f32[6] exponential(y) a = f32[6] add(e, f) ROOT r = f32[6] exponential(a)",
            "e = f32[6] exponential(x) f = f32[6] exponential(y) a = f32[6] exponential(e) b = f32[6] exponential(f) ROOT r = f32[6] multiply(a, b)",
        ),
    ] {
        let found = answer(first, second);
        assert!(!matches!(found, Answer::Equal(_)), "{first}\n{second}\n{found:?}");
    }
}

/// Infinite or NaN for each argument, in one module or in both: such elements are not compared.
#[test]
fn what_no_draw_compares_is_open() {
    let huge = |factor: &str| {
        format!(
            "c = f32[] constant({factor}) b = f32[6] broadcast(c), dimensions={{}} a = f32[6] abs(x) d = f32[6] add(a, ones) p = f32[6] multiply(d, b) ROOT r = f32[6] exponential(p)"
        )
    };
    let none = "a = f32[6] abs(x) b = f32[6] negate(a) c = f32[6] subtract(b, ones)";
    for (first, second) in [
        (&*huge("1e6"), "z = f32[6] subtract(ones, twos) ROOT r = f32[6] rsqrt(z)"),
        (&*format!("{none} ROOT r = f32[6] sqrt(c)"), &*format!("{none} ROOT r = f32[6] log(c)")),
        (&*format!("{none} ROOT r = f32[6] sqrt(c)"), "ROOT r = f32[6] copy(x)"),
    ] {
        let found = answer(first, second);
        assert!(matches!(found, Answer::Open(_)), "{first}\n{second}\n{found:?}");
    }
    // For half of the arguments, or for small ones only.
    let root = "a = f32[6] sqrt(x) ROOT r = f32[6] multiply(a, y)";
    let network = "a = f32[6] multiply(x, fours) b = f32[6] tanh(a) c = f32[6] multiply(b, b) d = f32[6] exponential(c) ROOT r = f32[6] tanh(d)";
    for same in [root, network] {
        assert!(matches!(answer(same, same), Answer::Equal(_)), "{same}");
    }
}

/// Where a sum, a product or a square is a constant.
#[test]
fn ties_of_functions_are_drawn() {
    let of = |root: &str| {
        module(&format!(
            "x = f32[64] parameter(0) y = f32[64] parameter(1) c = f32[] constant(4) b = f32[64] broadcast(c), dimensions={{}} {root}"
        ))
    };
    let same = of("ROOT r = f32[64] copy(x)");
    for z in ["add(x, y)", "subtract(x, y)", "multiply(x, y)", "multiply(x, x)"] {
        let other = of(&format!(
            "z = f32[64] {z} p = pred[64] compare(z, b), direction=EQ n = f32[64] negate(x) ROOT r = f32[64] select(p, n, x)"
        ));
        let found = equal(&other, &same, &as_a_whole()).unwrap();
        assert!(matches!(found, Answer::Different(_)), "{z} {found:?}");
    }
}

/// The branches of a conditional, the last start of a slice, equal distances, and products of zeros.
#[test]
fn what_decides_is_drawn() {
    let branches = |of: [i32; 7]| {
        let branches = of
            .iter()
            .enumerate()
            .map(|(i, x)| {
                format!("b{i} {{ p = f32[] parameter(0) c = f32[] constant({x}) ROOT r = f32[] add(p, c) }}\n")
            })
            .collect::<Vec<_>>();
        let text = branches.concat()
            + "ENTRY e { i = s32[] parameter(0) x = f32[] parameter(1)
               ROOT r = f32[] conditional(i, x, x, x, x, x, x, x), branch_computations={b0, b1, b2, b3, b4, b5, b6} }";
        parsed(&text)
    };
    let found =
        equal(&branches([0, 1, 2, 3, 4, 5, 6]), &branches([0, 1, 2, 3, 4, 7, 6]), &as_a_whole());
    assert!(matches!(found.unwrap(), Answer::Different(_)));
    let slices = |limit: i32| {
        module(&format!(
            "x = f32[10] parameter(0) i = s32[] parameter(1) c = s32[] constant({limit}) z = s32[] constant(0) k = s32[] clamp(z, i, c) ROOT r = f32[3] dynamic-slice(x, k), dynamic_slice_sizes={{3}}"
        ))
    };
    let found = equal(&slices(7), &slices(6), &as_a_whole());
    assert!(matches!(found.unwrap(), Answer::Different(_)));
    let nearest = |direction: &str| {
        let text = format!(
            "sum {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }}
             ENTRY e {{ x = f32[4,3] parameter(0) y = f32[3] parameter(1) z = f32[] constant(0)
             b = f32[4,3] broadcast(y), dimensions={{1}} d = f32[4,3] subtract(x, b) q = f32[4,3] multiply(d, d)
             s = f32[4] reduce(q, z), dimensions={{1}}, to_apply=sum
             f = f32[1] slice(s), slice={{[0:1]}} g = f32[1] slice(s), slice={{[1:2]}}
             ROOT r = pred[1] compare(f, g), direction={direction} }}"
        );
        parsed(&text)
    };
    let found = equal(&nearest("LT"), &nearest("LE"), &as_a_whole());
    assert!(matches!(found.unwrap(), Answer::Different(_)));
    let mask = |direction: &str| {
        module(&format!(
            "x = f32[4,3] parameter(0) w = f32[3,2] parameter(1) y = f32[4,2] dot(x, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
             c = f32[] constant(0) z = f32[4,2] broadcast(c), dimensions={{}} ROOT r = pred[4,2] compare(y, z), direction={direction}"
        ))
    };
    let found = equal(&mask("GT"), &mask("GE"), &as_a_whole());
    assert!(matches!(found.unwrap(), Answer::Different(_)));
    // What no draw decides is said.
    let never = branches([0; 7]);
    let Answer::Equal(evidence) =
        equal(&never, &never, &Options { seeds: 1, ties: false, ..as_a_whole() }).unwrap()
    else {
        panic!("a module is itself");
    };
    assert_eq!(evidence.branches.all, 14);
    assert!(evidence.branches.met < 14);
}

/// Real numbers of few digits are no reason for a difference.
#[test]
fn numbers_that_cancel_are_not_different() {
    let sum = "a = f32[6] multiply(x, x) b = f32[6] multiply(a, a) c = f32[6] multiply(b, b) d = f32[6] multiply(c, c)";
    let first = format!(
        "{sum} e = f32[6] add(d, y) f = f32[6] subtract(e, d) ROOT r = f32[6] exponential(f)"
    );
    let found = answer(&first, "ROOT r = f32[6] exponential(y)");
    assert!(!matches!(found, Answer::Different(_)), "{found:?}");
}

#[test]
fn complex_numbers_are_pairs() {
    let of = |root: &str| {
        module(&format!(
            "x = c64[8] parameter(0) y = c64[8] parameter(1) zero = c64[] constant((0, 0)) {root}"
        ))
    };
    let same = [
        ("ROOT r = c64[8] multiply(x, y)", "ROOT r = c64[8] multiply(y, x)"),
        (
            "a = f32[8] real(x) b = f32[8] imag(x) c = f32[8] negate(b) d = c64[8] complex(a, c) p = c64[8] multiply(x, d) ROOT r = f32[8] real(p)",
            "a = f32[8] abs(x) ROOT r = f32[8] multiply(a, a)",
        ),
        ("a = c64[8] divide(x, y) ROOT r = c64[8] multiply(a, y)", "ROOT r = c64[8] copy(x)"),
        (
            "a = c64[8] fft(x), fft_type=FFT, fft_length={8} ROOT r = c64[8] fft(a), fft_type=IFFT, fft_length={8}",
            "ROOT r = c64[8] copy(x)",
        ),
        (
            "a = c64[8] add(x, y) ROOT r = c64[8] fft(a), fft_type=FFT, fft_length={8}",
            "a = c64[8] fft(x), fft_type=FFT, fft_length={8} b = c64[8] fft(y), fft_type=FFT, fft_length={8} ROOT r = c64[8] add(a, b)",
        ),
        (
            "a = f32[8] real(x) b = c64[5] fft(a), fft_type=RFFT, fft_length={8} ROOT r = f32[8] fft(b), fft_type=IRFFT, fft_length={8}",
            "ROOT r = f32[8] real(x)",
        ),
        // The even and the odd half.
        (
            "ROOT r = c64[8] fft(x), fft_type=FFT, fft_length={8}",
            "e = c64[4] slice(x), slice={[0:8:2]} o = c64[4] slice(x), slice={[1:8:2]}
             f = c64[4] fft(e), fft_type=FFT, fft_length={4} g = c64[4] fft(o), fft_type=FFT, fft_length={4}
             w = c64[4] constant({(1, 0), (0.70710677, -0.70710677), (0, -1), (-0.70710677, -0.70710677)})
             t = c64[4] multiply(g, w) a = c64[4] add(f, t) b = c64[4] subtract(f, t)
             ROOT r = c64[8] concatenate(a, b), dimensions={0}",
        ),
    ];
    for (first, second) in same {
        let found = equal(&of(first), &of(second), &as_a_whole()).unwrap();
        assert!(matches!(found, Answer::Equal(_)), "{first}\n{second}\n{found:?}");
    }
    for (first, second) in [
        ("ROOT r = c64[8] multiply(x, y)", "ROOT r = c64[8] divide(x, y)"),
        ("ROOT r = f32[8] real(x)", "ROOT r = f32[8] imag(x)"),
        (
            "a = f32[8] real(x) ROOT r = c64[5] fft(a), fft_type=RFFT, fft_length={8}",
            "a = f32[8] imag(x) ROOT r = c64[5] fft(a), fft_type=RFFT, fft_length={8}",
        ),
        (
            "ROOT r = c64[8] fft(x), fft_type=FFT, fft_length={8}",
            "ROOT r = c64[8] fft(x), fft_type=IFFT, fft_length={8}",
        ),
    ] {
        let found = equal(&of(first), &of(second), &as_a_whole()).unwrap();
        assert!(matches!(found, Answer::Different(_)), "{first}\n{second}\n{found:?}");
    }
}

/// An unknown function may compute parts of an array alone: a batch of matrices, or a half of it.
#[test]
fn unknown_functions_with_other_shapes_are_open() {
    for [first, second] in [
        [
            "ROOT r = f32[6] custom-call(x), custom_call_target=\"f\"",
            "a = f32[3] slice(x), slice={[0:3]} b = f32[3] slice(x), slice={[3:6]} c = f32[3] custom-call(a), custom_call_target=\"f\"
             d = f32[3] custom-call(b), custom_call_target=\"f\" ROOT r = f32[6] concatenate(c, d), dimensions={0}",
        ],
        [
            "ROOT r = f32[6] custom-call(x, y), custom_call_target=\"f\"",
            "a = f32[12] concatenate(x, y), dimensions={0} b = f32[7] slice(a), slice={[0:7]} c = f32[5] slice(a), slice={[7:12]}
             ROOT r = f32[6] custom-call(b, c), custom_call_target=\"f\"",
        ],
    ] {
        let found = answer(first, second);
        assert!(matches!(found, Answer::Open(_)), "{first}\n{second}\n{found:?}");
    }
    let found = answer(
        "ROOT r = f32[6] custom-call(x), custom_call_target=\"f\"",
        "ROOT r = f32[6] custom-call(y), custom_call_target=\"f\"",
    );
    assert!(matches!(found, Answer::Different(_)), "{found:?}");
}
