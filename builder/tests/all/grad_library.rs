//! Derivatives of the library's functions of each element: reverse mode is forward mode, and both
//! are JAX's.
#![expect(clippy::unwrap_used, clippy::float_cmp, reason = "tests of exact values")]
use crate::support::gradient::{check, inputs, twice};
use crate::support::{evaluate_on, reals};
use builder::{Builder, Value};
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar};

type Function = for<'b> fn(&[Value<'b>]) -> Value<'b>;

/// The functions of the table that keep all digits where they are small.
const SPECIAL: &[(&str, Function)] = &[
    ("bessel_i0e", |x| x[0].bessel_i0e()),
    ("bessel_i1e", |x| x[0].bessel_i1e()),
    ("digamma", |x| x[0].digamma()),
    ("erf", |x| x[0].erf()),
    ("erf_inv", |x| x[0].erf_inv()),
    ("erfc", |x| x[0].erfc()),
    ("lgamma", |x| x[0].lgamma()),
    ("igamma", |x| x[0].igamma(x[1])),
    ("igammac", |x| x[0].igammac(x[1])),
    ("polygamma", |x| x[0].polygamma(x[1])),
    ("regularized_incomplete_beta", |x| x[0].regularized_incomplete_beta(x[1], x[2])),
    ("zeta", |x| x[0].zeta(x[1])),
    ("atan", |x| x[0].atan()),
    ("reciprocal", |x| x[0].reciprocal()),
    ("square", |x| x[0].square()),
];
/// Those that are as exact as the largest of their terms.
const ACTIVATIONS: &[(&str, Function)] = &[
    ("elu", |x| x[0].elu(1.0)),
    ("gelu", |x| x[0].gelu()),
    ("gelu_tanh", |x| x[0].gelu_tanh()),
    ("hard_sigmoid", |x| x[0].hard_sigmoid()),
    ("hard_swish", |x| x[0].hard_swish()),
    ("leaky_relu", |x| x[0].leaky_relu(0.01)),
    ("log_sigmoid", |x| x[0].log_sigmoid()),
    ("mish", |x| x[0].mish()),
    ("relu", |x| x[0].relu()),
    ("relu6", |x| x[0].relu6()),
    ("selu", |x| x[0].selu()),
    ("sigmoid", |x| x[0].sigmoid()),
    ("silu", |x| x[0].silu()),
    ("soft_sign", |x| x[0].soft_sign()),
    ("softplus", |x| x[0].softplus()),
];

/// The lines of a function: points and derivatives.
fn table(name: &str) -> Vec<Vec<Option<f64>>> {
    let lines = include_str!("../data/derivatives.txt").lines();
    let of = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    of.map(|line| line.split(' ').map(|word| word.parse().ok()).collect()).collect()
}
/// A vector of these numbers, rounded to the type.
fn array(numbers: &[f64], ty: ElementType) -> Literal {
    let count = i64::try_from(numbers.len()).unwrap();
    let mut array = Literal::zeros(ArrayShape::new(ty, Dims::from_slice(&[count])));
    let elements = array.bytes_mut().chunks_exact_mut(ty.storage_bytes());
    numbers.iter().zip(elements).for_each(|(&x, bytes)| Scalar::Float(x).write(ty, bytes));
    array
}
/// The differences that are allowed: relative, and absolute.
fn bounds(ty: ElementType, is_special: bool) -> (f64, f64) {
    match (ty == ElementType::F64, is_special) {
        (true, true) => (1e-10, 1e-300),
        (true, false) => (1e-10, 1e-15),
        (false, true) => (1e-6, f64::from(f32::MIN_POSITIVE)),
        (false, false) => (1e-6, 2e-7),
    }
}
fn near(found: f64, expected: f64, (relative, absolute): (f64, f64)) -> bool {
    found == expected || (found - expected).abs() <= (relative * expected.abs()).max(absolute)
}
/// A function, one of its arguments, and why it has no derivative by that.
type Refused = (Function, usize, &'static str);

#[test]
fn both_directions_are_those_of_jax() {
    let mut wrong = Vec::new();
    let functions = SPECIAL.iter().map(|f| (f, true)).chain(ACTIVATIONS.iter().map(|f| (f, false)));
    for (&(name, f), is_special) in functions {
        let lines = table(name);
        let count = (lines[0].len() - 1) / 2;
        for ty in [ElementType::F64, ElementType::F32] {
            let column =
                |i: usize| lines.iter().map(|l| l[i].unwrap_or(f64::NAN)).collect::<Vec<_>>();
            let x: Vec<Literal> = (0..count).map(|i| array(&column(i), ty)).collect();
            let one = array(&vec![1.0; lines.len()], ty);
            for i in (0..count).filter(|i| lines[0][count + 1 + i].is_some()) {
                let (forward, reverse) = derivatives(f, &x, i, &one);
                for (k, line) in lines.iter().enumerate() {
                    let (value, slope) = (line[count].unwrap(), line[count + 1 + i].unwrap());
                    // Where JAX says NaN, a limit may be known.
                    let unknown = value.is_nan() || slope.is_nan();
                    let overflows = ty == ElementType::F32 && slope.abs() > f64::from(f32::MAX);
                    let slope = if overflows { slope * f64::INFINITY } else { slope };
                    let bounds = bounds(ty, is_special);
                    let as_jax = unknown || near(forward[k], slope, bounds);
                    let both_nan = forward[k].is_nan() && reverse[k].is_nan();
                    if !as_jax || !(both_nan || near(reverse[k], forward[k], bounds)) {
                        let at = &line[..count];
                        let found = (forward[k], reverse[k]);
                        wrong.push(format!("{name} {ty} by {i} at {at:?}: {found:?}, JAX {slope}"));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

/// The derivative by argument `i` in both directions; the others are constants.
fn derivatives(f: Function, x: &[Literal], i: usize, one: &Literal) -> (Vec<f64>, Vec<f64>) {
    let run = |reverse: bool| {
        let b = Builder::new("derivative");
        let v: Vec<Value<'_>> = x.iter().map(|x| b.input("x", x.shape())).collect();
        let one = b.constant(one.clone());
        let y = f(&v);
        let slope = if reverse { b.vjp(y, &[v[i]], one)[0] } else { b.jvp(y, &[v[i]], &[one]) };
        reals(&evaluate_on(&b, slope, x))
    };
    (run(false), run(true))
}

/// Limits that JAX's formulas miss: 0 times infinity, or a difference of infinities.
#[test]
fn limits_at_the_ends() {
    let at = |f: Function, x: &[f64], i: usize| {
        let x: Vec<Literal> = x.iter().map(|&x| array(&[x], ElementType::F64)).collect();
        let (forward, reverse) = derivatives(f, &x, i, &array(&[1.0], ElementType::F64));
        assert_eq!(forward[0].to_bits(), reverse[0].to_bits());
        forward[0]
    };
    let inf = f64::INFINITY;
    for (x, expected) in [
        ([1.0, 0.0], 1.0),
        ([0.5, 0.0], inf),
        ([2.0, 0.0], 0.0),
        ([2.0, inf], 0.0),
        ([inf, 2.0], 0.0),
        ([0.0, 2.0], 0.0),
    ] {
        assert_eq!(at(|x| x[0].igamma(x[1]), &x, 1), expected, "{x:?}");
        assert_eq!(at(|x| x[0].igammac(x[1]), &x, 1), -expected, "{x:?}");
    }
    let beta: Function = |x| x[0].regularized_incomplete_beta(x[1], x[2]);
    for (x, expected) in [
        ([1.0, 3.0, 0.0], 3.0),
        ([3.0, 1.0, 1.0], 3.0),
        ([0.5, 1.0, 0.0], inf),
        ([2.0, 2.0, 1.0], 0.0),
        ([0.0, 2.0, 0.5], 0.0),
        ([2.0, inf, 0.5], 0.0),
    ] {
        assert_eq!(at(beta, &x, 2), expected, "{x:?}");
    }
    for x in [[-1.0, 2.0, 0.5], [1.0, 2.0, 1.5], [f64::NAN, 2.0, 0.5], [0.0, 0.0, 0.5]] {
        assert!(at(beta, &x, 2).is_nan(), "{x:?}");
    }
    // DLMF 10.40.1: -(1 + 3/8x) / (2x sqrt(2 pi x)).
    let bessel: [Function; 2] = [|x| x[0].bessel_i0e(), |x| x[0].bessel_i1e()];
    for f in bessel {
        let expected = -0.5 / 1e12 / (2e12 * std::f64::consts::PI).sqrt();
        let found = [at(f, &[1e12], 0), at(f, &[499.0], 0), at(f, &[501.0], 0)];
        assert!((found[0] / expected - 1.0).abs() < 1e-11, "{found:?}");
        // No step where the formula changes.
        assert!((found[1] / found[2] / (501.0f64 / 499.0).powf(1.5) - 1.0).abs() < 1e-5);
    }
    // Below -16, by the reflection formula.
    let trigamma = |x: f64| {
        let b = Builder::new("trigamma");
        reals(&evaluate_on(&b, b.constant([1f64]).polygamma(b.constant([x])), &[]))[0]
    };
    let expected = std::f64::consts::PI.powi(2) - trigamma(21.5);
    assert!((at(|x| x[0].digamma(), &[-20.5], 0) - expected).abs() < 1e-13);
}

fn beta(x: Value<'_>) -> Value<'_> {
    x.full_like(2.5).regularized_incomplete_beta(1.5, x / 4.0)
}
/// Against differences, and again.
#[test]
fn derivatives_of_derivatives() {
    let one: [(&str, Function, f64, f64); 9] = [
        ("bessel_i0e", |x| x[0].bessel_i0e(), 0.3, 9.0),
        ("bessel_i1e", |x| x[0].bessel_i1e(), -9.0, -0.3),
        ("digamma", |x| x[0].digamma(), 0.5, 9.0),
        ("erf_inv", |x| x[0].erf_inv(), -0.8, 0.8),
        ("erfc", |x| x[0].erfc(), -1.0, 3.0),
        ("lgamma", |x| x[0].lgamma(), -0.9, -0.1),
        ("lgamma", |x| x[0].lgamma(), 0.5, 12.0),
        ("polygamma", |x| x[0].full_like(2).polygamma(x[0]), 0.5, 4.0),
        ("zeta", |x| x[0].full_like(3).zeta(x[0]), 0.5, 4.0),
    ];
    for (name, f, low, high) in one {
        let x = inputs(&["f64[5]"], low, high);
        check(name, &x, |_, x| f(x));
        twice(name, &x, |_, x| f(x).reduce_sum(&[0]));
    }
    let two: [(&str, Function); 3] = [
        ("igamma", |x| x[0].igamma(x[1])),
        ("igammac", |x| x[0].igammac(x[1])),
        ("zeta", |x| (x[0] + 1.0).zeta(x[1])),
    ];
    for (name, f) in two {
        check(name, &inputs(&["f64[5]", "f64[5]"], 0.5, 3.0), |_, x| f(x));
    }
    let x = inputs(&["f64[5]", "f64[5]"], 0.5, 3.0);
    twice("zeta", &x, |_, x| (x[0] + 1.0).zeta(x[1]).reduce_sum(&[0]));
    check("igamma_grad_a", &x[1..], |_, x| x[0].full_like(2.5).igamma_grad_a(x[0]));
    twice("igamma_x", &x[1..], |_, x| x[0].full_like(2.5).igamma(x[0]).reduce_sum(&[0]));
    check("beta", &x[1..], |_, x| beta(x[0]));
    twice("beta_x", &x[1..], |_, x| beta(x[0]).reduce_sum(&[0]));
    check("far", &inputs(&["f64[5]"], 30.0, 90.0), |_, x| {
        x[0].igamma(x[0] * 1.1) + x[0].igamma(x[0] * 4.0).log()
    });
}

#[test]
fn inside_of_loops_branches_calls_and_maps() {
    let x = inputs(&["f64[3]"], 1.5, 3.0);
    check("loop", &x, |b, x| {
        b.for_each_index(3, ElementType::S32, &[x[0]], |_, v| vec![v[0].lgamma() + 2.0])[0]
    });
    check("branch", &x, |b, x| {
        b.constant(false).conditional(x[0], |x| x.exp(), x[0], |x| x.digamma().erfc())
    });
    check("call", &x, |b, x| {
        let f = b.computation("f", &["f64[3]"], |p| p[0].zeta(2.0 + p[0]));
        b.call(f, &[x[0]]) + f.inline(&[x[0]])
    });
    check("map", &x, |b, x| b.map(&[x[0]], |p| p[0].lgamma(), &[0]));
    check("reduce", &inputs(&["f64[3]"], 0.1, 0.3), |b, x| {
        // Associative, as reductions may be done in any order.
        x[0].reduce(b.constant(0f64), |a, c| (a.erf_inv() + c.erf_inv()).erf(), &[0])
    });
    // Read back from text, the composites are still known.
    let b = Builder::new("text");
    let text = b.build(b.parameter(0, "f64[3]", "x").lgamma()).unwrap().module().to_string();
    let module = hlo::Module::parse(&text).unwrap().verify().unwrap();
    check("text", &x, |b, x| b.call(b.add_sub_computation(&module), &[x[0]]));
}

#[test]
fn derivatives_that_are_not_known_are_refused() {
    let all: [Refused; 5] = [
        (|x| x[0].polygamma(x[1]), 0, "operand 0: it is a function of whole numbers"),
        (|x| x[0].igamma_grad_a(x[1]), 0, "operand 0: it has no closed form"),
        (|x| x[0].random_gamma_grad(x[1]), 1, "operand 1: it has no closed form"),
        (|x| x[0].regularized_incomplete_beta(x[1], 0.5), 1, "operand 1: it has no closed form"),
        (|x| x[0].next_after(x[1]), 0, "operand 0: it is a function of the bits"),
    ];
    for (f, i, why) in all {
        let b = Builder::new("refused");
        let x = [b.parameter(0, "f64[2]", "x"), b.parameter(1, "f64[2]", "y")];
        let error = b.build(b.vjp(f(&x), &[x[i]], x[0])[0]).unwrap_err();
        assert_eq!(error.number(), "E0808");
        assert!(error.to_string().contains(why), "{error}");
        let b = Builder::new("refused");
        let x = [b.parameter(0, "f64[2]", "x"), b.parameter(1, "f64[2]", "y")];
        assert!(b.build(b.jvp(f(&x), &[x[i]], &[x[0]])).unwrap_err().to_string().contains(why));
    }
    // Integers and complex numbers have no such functions.
    for ty in ["s32[2]", "pred[2]", "c64[2]"] {
        let b = Builder::new("types");
        let error = b.build(b.parameter(0, ty, "x").lgamma()).unwrap_err();
        assert!(error.to_string().contains("expected real floats"), "{error}");
    }
}
