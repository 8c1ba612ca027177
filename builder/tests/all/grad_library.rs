//! Derivatives of the library's functions of each element: reverse mode is forward mode, and both are JAX's.
#![expect(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "tests")]
use crate::support::{evaluate_on, reals};
use builder::{Builder, IntoLiteral, Value};
use hlo::{ElementType, Literal};

type Function = for<'b> fn(&[Value<'b>]) -> Value<'b>;

/// The functions of the table.
const FUNCTIONS: &[(&str, Function)] = &[
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
fn array(numbers: &[f64], ty: ElementType) -> Literal {
    match ty == ElementType::F64 {
        true => numbers.into_literal().unwrap(),
        false => numbers.iter().map(|&x| x as f32).collect::<Vec<f32>>().into_literal().unwrap(),
    }
}
/// Whether it is what JAX says; where JAX says NaN, a limit may be known.
fn agrees(found: f64, expected: f64, ty: ElementType) -> bool {
    let bound = if ty == ElementType::F64 { 1e-10 } else { 1e-6 };
    let least = if ty == ElementType::F64 { 1e-300 } else { f64::from(f32::MIN_POSITIVE) };
    let overflows = ty == ElementType::F32 && expected.abs() > f64::from(f32::MAX);
    expected.is_nan()
        || found == expected
        || (overflows && found.is_infinite())
        || (found - expected).abs() <= (bound * expected.abs()).max(least)
}

#[test]
fn both_directions_are_those_of_jax() {
    let mut wrong = Vec::new();
    for &(name, f) in FUNCTIONS {
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
                    let expected = line[count + 1 + i].unwrap();
                    for (way, found) in [("jvp", forward[k]), ("vjp", reverse[k])] {
                        if !agrees(found, expected, ty) {
                            let at = &line[..count];
                            wrong.push(format!(
                                "{name} {ty} {way} {i} at {at:?}: {found:e}, JAX {expected:e}"
                            ));
                        }
                    }
                    let same = forward[k] == reverse[k]
                        || (forward[k] - reverse[k]).abs() <= 1e-6 * forward[k].abs();
                    if !same && !(forward[k].is_nan() && reverse[k].is_nan()) {
                        wrong.push(format!(
                            "{name} {ty} at {:?}: jvp {} vjp {}",
                            &line[..count],
                            forward[k],
                            reverse[k]
                        ));
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
