//! PyTensor's elementwise operations: types, values, derivatives, reductions, C code.
//!
//! The `.txt` files beside this one hold what PyTensor 3.0.7 (with NumPy 2.4.6) gives, computed by
//! its Python linker without rewrites: a case a line, `operation | inputs | result`, arrays as HLO
//! text. Left out is what is wrong there: `softplus` of booleans, which is computed in `float16`,
//! and the derivatives of `log2` and `log10` by integers, whose constant is cut off to an integer,
//! and of `real` and `imag` by real numbers, which are complex or integers.
#![expect(clippy::unwrap_used, reason = "tests")]

mod api;
mod c_code;
mod derivatives;
mod dimshuffle;
mod numbers;
mod reductions;
mod type_tables;
mod types;
mod values;

use builder::{Builder, Value};
use hlo::{ElementType, Literal, Scalar};

/// Arrays written as HLO text, with `;` between.
fn literals(text: &str) -> Vec<Literal> {
    text.split(';').map(|array| array.trim().parse().unwrap()).collect()
}

/// A parameter for each array.
fn parameters<'b>(b: &'b Builder, arrays: &[Literal]) -> Vec<Value<'b>> {
    arrays.iter().map(|array| b.input("x", array.shape())).collect()
}

/// How many representable numbers lie between two, of their type; NaN is near NaN only. Numbers
/// that small differ by are counted in units of the least normal number's last place.
#[expect(clippy::float_cmp, reason = "equal numbers are no distance apart")]
fn ulps(x: f64, y: f64, ty: ElementType) -> f64 {
    if x == y || (x.is_nan() && y.is_nan()) {
        return 0.0;
    }
    if !(x.is_finite() && y.is_finite()) {
        return f64::INFINITY;
    }
    let (digits, least) = match ty.component() {
        ElementType::F16 => (10, 2f64.powi(-14)),
        ElementType::F32 => (23, f64::from(f32::MIN_POSITIVE)),
        _ => (52, f64::MIN_POSITIVE),
    };
    let size = x.abs().max(y.abs()).max(least);
    let unit = 2f64.powf(size.log2().floor() - f64::from(digits));
    (x - y).abs() / unit.max(f64::from_bits(1))
}

/// The parts of the elements of a float array; integers as they are.
fn parts(array: &Literal) -> Vec<Scalar> {
    (0..array.len())
        .flat_map(|i| match array.get(i) {
            Scalar::Complex(re, im) => vec![Scalar::Float(re), Scalar::Float(im)],
            other => vec![other],
        })
        .collect()
}

/// Fails unless both have one shape and each element is within `bound` units in the last place;
/// with a bound of 0 signs of zeros count too.
#[track_caller]
fn assert_near(found: &Literal, expected: &Literal, bound: f64, what: &str) {
    assert_eq!(format!("{:#}", found.shape()), format!("{:#}", expected.shape()), "{what}");
    let ty = expected.array_shape().unwrap().ty;
    for (i, (x, y)) in parts(found).into_iter().zip(parts(expected)).enumerate() {
        let near = match (x, y) {
            (Scalar::Float(x), Scalar::Float(y)) => {
                let signs =
                    bound > 0.0 || x.is_nan() || x.is_sign_negative() == y.is_sign_negative();
                signs && ulps(x, y, ty) <= bound
            }
            (x, y) => x == y,
        };
        assert!(
            near,
            "element {i} of {what}: {x:?}, expected {y:?}\nfound {found}\nwanted {expected}"
        );
    }
}
