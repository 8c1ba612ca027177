//! Derivatives of elementwise ops: against differences everywhere, against JAX at the edges.
#![expect(clippy::float_cmp, reason = "tests of exact values")]
use crate::support::gradient::{check, gradients, inputs, twice};
use builder::{BINARY, Builder, UNARY, Value};
use hlo::ElementType;

type One = for<'b> fn(Value<'b>) -> Value<'b>;
type Two = for<'b> fn(Value<'b>, Value<'b>) -> Value<'b>;

/// Ops of real numbers, and an interval inside which they are smooth.
const REAL: &[(&str, One, f64, f64)] = &[
    ("abs", |x| x.abs(), -2.0, -0.1),
    ("acos", |x| x.acos(), -0.9, 0.9),
    ("acosh", |x| x.acosh(), 1.2, 4.0),
    ("asin", |x| x.asin(), -0.9, 0.9),
    ("asinh", |x| x.asinh(), -3.0, 3.0),
    ("atanh", |x| x.atanh(), -0.9, 0.9),
    ("cbrt", |x| x.cbrt(), -3.0, -0.3),
    ("cos", |x| x.cos(), -6.0, 6.0),
    ("cosh", |x| x.cosh(), -3.0, 3.0),
    ("erf", |x| x.erf(), -2.0, 2.0),
    ("exp", |x| x.exp(), -3.0, 3.0),
    ("expm1", |x| x.expm1(), -3.0, 3.0),
    ("log", |x| x.log(), 0.2, 5.0),
    ("log1p", |x| x.log1p(), -0.8, 5.0),
    ("logistic", |x| x.logistic(), -5.0, 5.0),
    ("neg", |x| x.neg(), -5.0, 5.0),
    ("real", |x| x.real(), -5.0, 5.0),
    ("rsqrt", |x| x.rsqrt(), 0.2, 5.0),
    ("sin", |x| x.sin(), -6.0, 6.0),
    ("sinh", |x| x.sinh(), -3.0, 3.0),
    ("sqrt", |x| x.sqrt(), 0.2, 5.0),
    ("tan", |x| x.tan(), -1.2, 1.2),
    ("tanh", |x| x.tanh(), -3.0, 3.0),
];
/// Ops of complex numbers, and an interval for both parts.
const COMPLEX: &[(&str, One, f64, f64)] = &[
    ("abs", |x| x.abs(), 0.2, 2.0),
    ("acos", |x| x.acos(), 0.2, 2.0),
    ("acosh", |x| x.acosh(), 0.2, 2.0),
    ("asin", |x| x.asin(), 0.2, 2.0),
    ("asinh", |x| x.asinh(), 0.2, 0.8),
    ("atanh", |x| x.atanh(), 0.2, 2.0),
    ("conj", |x| x.conj(), -2.0, 2.0),
    ("cos", |x| x.cos(), -2.0, 2.0),
    ("cosh", |x| x.cosh(), -2.0, 2.0),
    ("exp", |x| x.exp(), -2.0, 2.0),
    ("expm1", |x| x.expm1(), -2.0, 2.0),
    ("imag", |x| x.imag(), -2.0, 2.0),
    ("log", |x| x.log(), 0.2, 2.0),
    ("log1p", |x| x.log1p(), 0.2, 2.0),
    ("logistic", |x| x.logistic(), -1.0, 1.0),
    ("neg", |x| x.neg(), -2.0, 2.0),
    ("real", |x| x.real(), -2.0, 2.0),
    ("rsqrt", |x| x.rsqrt(), 0.2, 2.0),
    ("sign", |x| x.sign(), 0.2, 2.0),
    ("sin", |x| x.sin(), -2.0, 2.0),
    ("sinh", |x| x.sinh(), -2.0, 2.0),
    ("sqrt", |x| x.sqrt(), 0.2, 2.0),
    ("tan", |x| x.tan(), -1.0, 1.0),
    ("tanh", |x| x.tanh(), -1.0, 1.0),
];
/// Ops whose derivative is zero wherever they have one; those of integers have none.
const FLAT: &[&str] =
    &["ceil", "floor", "imag", "is_finite", "round", "round_nearest_even", "sign"];
const OF_INTEGERS: &[&str] = &["clz", "not", "population_count"];

#[test]
fn every_one_operand_op_is_tried() {
    for (name, _) in UNARY {
        let tried = REAL.iter().any(|(known, ..)| known == name)
            || FLAT.contains(name)
            || OF_INTEGERS.contains(name);
        assert!(tried, "{name}");
    }
}

#[test]
fn real_functions_of_one_operand() {
    for &(name, f, low, high) in REAL {
        check(name, &inputs(&["f64[2,3]"], low, high), |_, x| f(x[0]));
    }
}

#[test]
fn complex_functions_of_one_operand() {
    for &(name, f, low, high) in COMPLEX {
        check(&format!("{name}_c"), &inputs(&["c128[5]"], low, high), |_, x| f(x[0]));
    }
}

#[test]
fn complex_functions_keep_their_branch() {
    // Left of the imaginary axis the root of the product is not the product of the roots.
    let left = || ["c128[2] {(-2, 0.5), (-0.3, -1.5)}".parse().unwrap()];
    check("acosh_left", &left(), |_, x| x[0].acosh());
    check("asin_left", &left(), |_, x| x[0].asin());
    check("acos_left", &left(), |_, x| x[0].acos());
    check("rsqrt_left", &left(), |_, x| x[0].rsqrt());
}

type Interval = (f64, f64);

/// Ops of two operands and intervals for them.
const TWO: &[(&str, Two, Interval, Interval)] = &[
    ("add", |x, y| x.add(y), (-2.0, 2.0), (-2.0, 2.0)),
    ("atan2", |x, y| x.atan2(y), (0.1, 2.0), (-2.0, 2.0)),
    ("complex", |x, y| x.complex(y), (-2.0, 2.0), (-2.0, 2.0)),
    ("div", |x, y| x.div(y), (-2.0, 2.0), (0.5, 2.0)),
    ("max", |x, y| x.max(y), (-2.0, 2.0), (-2.0, 2.0)),
    ("min", |x, y| x.min(y), (-2.0, 2.0), (-2.0, 2.0)),
    ("mul", |x, y| x.mul(y), (-2.0, 2.0), (-2.0, 2.0)),
    ("pow", |x, y| x.pow(y), (0.3, 2.0), (-2.0, 2.0)),
    ("rem", |x, y| x.rem(y), (-5.0, 5.0), (0.7, 1.9)),
    ("sub", |x, y| x.sub(y), (-2.0, 2.0), (-2.0, 2.0)),
];

#[test]
fn functions_of_two_operands() {
    for (name, op) in BINARY {
        let real = op_is_real(name);
        assert_eq!(real, TWO.iter().any(|(known, ..)| known == name), "{name}: {op:?}");
    }
    for &(name, f, (low, high), (from, to)) in TWO {
        let x = inputs(&["f64[7]"], low, high).remove(0);
        let y = inputs(&["f64[2]", "f64[7]"], from, to).remove(1);
        check(name, &[x, y], |_, x| f(x[0], x[1]));
    }
    for &(name, f, _, _) in TWO.iter().filter(|(name, ..)| !["complex", "rem"].contains(name)) {
        let x = inputs(&["c128[4]", "c128[4]"], 0.3, 1.5);
        check(&format!("{name}_c"), &x, |_, x| f(x[0], x[1]));
    }
}
fn op_is_real(name: &str) -> bool {
    !["and", "mulhi", "or", "xor"].contains(&name) && !name.starts_with("shift")
}

/// The sum of squares: of any function its second derivative is not zero.
fn total(y: Value<'_>) -> Value<'_> {
    (y * y).reduce(0.0, |a, c| a + c, &[0])
}
/// The same of both parts.
fn parts(y: Value<'_>) -> Value<'_> {
    total(y.real()) + total(y.imag() * 2)
}

#[test]
fn derivatives_are_differentiated_again() {
    for &(name, f, low, high) in REAL {
        twice(&format!("{name}_2"), &inputs(&["f64[3]"], low, high), |_, x| total(f(x[0])));
    }
    for &(name, f, low, high) in COMPLEX {
        let z = inputs(&["c128[2]"], low, high);
        twice(&format!("{name}_2_c"), &z, |_, z| {
            parts(f(z[0]).convert_element_type(ElementType::C128) + z[0])
        });
    }
    for &(name, f, (low, high), (from, to)) in TWO.iter().filter(|(name, ..)| *name != "complex") {
        let x = inputs(&["f64[3]"], low, high).remove(0);
        let y = inputs(&["f64[2]", "f64[3]"], from, to).remove(1);
        twice(&format!("{name}_2"), &[x, y], |_, x| total(f(x[0], x[1])));
    }
}

/// The gradients of a function of scalars at a point.
fn at(name: &str, point: &[f64], f: for<'b> fn(&[Value<'b>]) -> Value<'b>) -> Vec<f64> {
    let inputs: Vec<_> = point.iter().map(|x| hlo::Literal::from_slice(&[], &[*x])).collect();
    gradients(name, &inputs, |_, x| f(x)).concat()
}
fn same(found: &[f64], expected: &[f64], what: &str) {
    let near = |(&a, &b): (&f64, &f64)| {
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-15 * b.abs()
    };
    assert!(found.iter().zip(expected).all(near), "{what}: {found:?}, expected {expected:?}");
}

// The values of the following tests were computed with JAX 0.10.2 in float64, `jax.grad` of the
// functions of `jax.lax`.

#[test]
fn edges_of_one_operand_are_jaxs() {
    const INF: f64 = f64::INFINITY;
    for (x, slope) in [(0.0, 1.0), (-0.0, 1.0), (-2.0, -1.0), (3.0, 1.0)] {
        same(&at("abs", &[x], |x| x[0].abs()), &[slope], "abs");
    }
    same(&at("sqrt", &[0.0], |x| x[0].sqrt()), &[INF], "sqrt");
    same(&at("cbrt", &[0.0], |x| x[0].cbrt()), &[INF], "cbrt");
    same(&at("rsqrt", &[0.0], |x| x[0].rsqrt()), &[-INF], "rsqrt");
    same(&at("log", &[0.0], |x| x[0].log()), &[INF], "log");
}

#[test]
fn edges_of_two_operands_are_jaxs() {
    const NAN: f64 = f64::NAN;
    let max = |x, y| at("max", &[x, y], |x| x[0].max(x[1]));
    same(&max(2.0, 2.0), &[0.5, 0.5], "max");
    same(&max(1.0, 2.0), &[0.0, 1.0], "max");
    same(&max(NAN, 2.0), &[0.0, 0.0], "max");
    same(&at("min", &[2.0, 2.0], |x| x[0].min(x[1])), &[0.5, 0.5], "min");
    // At x = y = 0 JAX has NaN for the first; x^0 is 1 everywhere, and its slope 0.
    for (x, y, slopes) in [
        (0.0, 2.0, [0.0, 0.0]),
        (0.0, 1.0, [1.0, 0.0]),
        (0.0, 0.0, [0.0, 0.0]),
        (-2.0, 3.0, [12.0, NAN]),
        (2.0, -1.5, [-0.265_165_042_944_955_35, 0.245_064_535_867_136_8]),
        (0.0, -1.0, [-f64::INFINITY, NAN]),
        (3.0, 0.0, [0.0, 1.098_612_288_668_109_8]),
    ] {
        same(&at("pow", &[x, y], |x| x[0].pow(x[1])), &slopes, "pow");
    }
    for (x, y, slope) in [(7.5, 2.0, -3.0), (-7.5, 2.0, 3.0), (7.5, -2.0, 3.0), (6.0, 2.0, -3.0)] {
        same(&at("rem", &[x, y], |x| x[0].rem(x[1])), &[1.0, slope], "rem");
    }
    for (x, y, slopes) in [
        (1.0, 0.0, [0.0, -1.0]),
        (0.0, 1.0, [1.0, 0.0]),
        (0.0, -1.0, [-1.0, 0.0]),
        (0.0, 0.0, [NAN, NAN]),
        (-1.0, -1.0, [-0.5, 0.5]),
    ] {
        same(&at("atan2", &[x, y], |x| x[0].atan2(x[1])), &slopes, "atan2");
    }
}

#[test]
fn clamp_flows_to_what_it_gives() {
    for (low, x, high, slopes) in [
        (0.0, 0.5, 1.0, [0.0, 1.0, 0.0]),
        (0.0, -1.0, 1.0, [1.0, 0.0, 0.0]),
        (0.0, 2.0, 1.0, [0.0, 0.0, 1.0]),
        (0.0, 0.0, 1.0, [0.0, 0.0, 0.0]),
        (0.0, 1.0, 1.0, [0.0, 0.0, 0.0]),
        (1.0, 0.5, 0.0, [0.0, 0.0, 1.0]),
        (1.0, 2.0, 0.0, [0.0, 0.0, 1.0]),
    ] {
        let f: for<'b> fn(&[Value<'b>]) -> Value<'b> = |x| x[1].clamp(x[0], x[2]);
        same(&at("clamp", &[low, x, high], f), &slopes, "clamp");
    }
    // Scalar bounds of an array collect what all elements give.
    let mut x = inputs(&["f64[20]"], -2.0, 2.0);
    x.insert(0, "f64[] -1".parse().unwrap());
    x.push("f64[] 0.5".parse().unwrap());
    check("clamp_array", &x, |_, x| x[1].clamp(x[0], x[2]));
}

#[test]
fn values_of_smooth_functions_are_jaxs() {
    for (x, tanh, logistic) in [
        (0.3, 0.915_136_961_826_629_3, 0.244_458_311_690_745_86),
        (2.0, 0.070_650_824_853_164_43, 0.104_993_585_403_506_62),
        (-1.0, 0.419_974_341_614_026, 0.196_611_933_241_481_85),
    ] {
        let near = |found: Vec<f64>, expected: f64| assert!((found[0] - expected).abs() < 1e-15);
        near(at("tanh", &[x], |x| x[0].tanh()), tanh);
        near(at("logistic", &[x], |x| x[0].logistic()), logistic);
    }
    // Far out the derivatives are small and not yet zero: 4 exp(-2x) and exp(-x).
    same(&at("tanh", &[30.0], |x| x[0].tanh()), &[4.0 * (-60.0f64).exp()], "tanh");
    same(&at("logistic", &[50.0], |x| x[0].logistic()), &[(-50.0f64).exp()], "logistic");
}

#[test]
fn gradients_of_complex_numbers_are_jaxs() {
    // df/dx - i df/dy at 1.5 - 0.5i, by `jax.vjp` with cotangent 1.
    let of = |f: One| {
        let z = ["c128[] (1.5, -0.5)".parse().unwrap()];
        gradients("complex", &z, |_, z| f(z[0]).real()).concat()
    };
    same(&of(|z| z.abs()), &[0.948_683_298_050_513_8, 0.316_227_766_016_837_94], "abs");
    same(&of(|z| z.real()), &[1.0, 0.0], "real");
    same(&of(|z| z.imag()), &[0.0, -1.0], "imag");
    same(&of(|z| z.conj()), &[1.0, 0.0], "conj");
    same(&of(|z| z.exp()), &[3.933_052_175_943_361_7, -2.148_636_196_403_396_4], "exp");
    same(&of(|z| z.log()), &[0.6, 0.2], "log");
    let zero = ["c128[] (0, 0)".parse().unwrap()];
    assert_eq!(gradients("abs_0", &zero, |_, z| z[0].abs()), [[0.0, 0.0]]);
}

#[test]
fn select_and_conversions() {
    check("select", &inputs(&["f64[6]", "f64[6]"], -1.0, 1.0), |_, x| {
        x[0].gt(x[1]).select(x[0] * x[1], x[1])
    });
    check("select_scalar", &inputs(&["f64[]", "f64[6]"], -1.0, 1.0), |b, x| {
        b.constant(true).select(x[1], x[1].sin()) * x[0]
    });
    check("to_complex", &inputs(&["f64[3]", "c128[3]"], -1.0, 1.0), |_, x| {
        x[0].convert_element_type(ElementType::C128) * x[1]
    });
    check("to_real", &inputs(&["c128[3]"], -1.0, 1.0), |_, x| {
        (x[0] * x[0]).convert_element_type(ElementType::F64)
    });
    // Cotangents come back in the type they belong to: 3/4 + 2^-20 is no bf16.
    let b = Builder::new("convert");
    let x = b.parameter(0, "bf16[]", "x");
    let y = x.convert_element_type(ElementType::F32) * (0.75 + 2f64.powi(-20));
    let gradient = b.grad(y, &[x])[0];
    assert_eq!(crate::support::run(&b, gradient, &["bf16[] 2"]), "bf16[] 0.75");
}
