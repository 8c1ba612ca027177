//! Quantiles, norms and functions that array libraries have and XLA's builder has not, against
//! values of NumPy and mpmath.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests; exact results are meant")]
use crate::support::{evaluate_on, reals, refused, run};
use builder::{Builder, Value};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

fn numbers(make: impl for<'b> FnOnce(&'b Builder) -> Value<'b>) -> Vec<f64> {
    let b = Builder::new("numbers");
    let made = make(&b);
    reals(&evaluate_on(&b, made, &[]))
}
#[track_caller]
fn near(found: &[f64], expected: &[f64], relative: f64) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let gap = (found - expected).abs();
        assert!(found == expected || gap <= relative * expected.abs(), "{found:e}, {expected:e}");
    }
}

#[test]
fn quantiles() {
    let of = |q: f64| numbers(|b| b.constant([3f64, 1.0, 4.0, 1.0, 5.0, 9.0]).quantile(q, 0))[0];
    near(&[0.0, 0.1, 0.25, 0.5, 0.9, 1.0].map(of), &[1.0, 1.0, 1.5, 3.5, 7.0, 9.0], f64::EPSILON);
    let rows = [[3f64, 1.0, 4.0, 1.0], [5.0, 9.0, 2.0, 6.0]];
    assert_eq!(numbers(|b| b.constant(rows).quantile(0.25, 1)), [1.0, 4.25]);
    assert_eq!(numbers(|b| b.constant(rows).quantile(0.5, -2)), [4.0, 5.0, 3.0, 3.5]);
    assert_eq!(numbers(|b| b.constant([7f64]).quantile(0.3, 0)), [7.0]);
    assert!(numbers(|b| b.constant([3.0, NAN, 1.0]).quantile(0.5, 0))[0].is_nan());
    assert!(numbers(|b| b.constant([3.0, -NAN, 1.0]).quantile(1.0, 0))[0].is_nan());
    assert_eq!(numbers(|b| b.constant([INF, INF, 1.0]).quantile(0.75, 0)), [INF]);
}

#[test]
fn quantiles_that_are_refused() {
    let b = Builder::new("refused");
    refused(&b, b.constant([1f32]).quantile(1.5, 0), "is not from 0 to 1");
    let b = Builder::new("refused");
    refused(&b, b.constant([1f32]).quantile(NAN, 0), "is not from 0 to 1");
    let b = Builder::new("refused");
    refused(&b, b.parameter(0, "f32[2,0]", "x").quantile(0.5, 1), "has no elements");
    let b = Builder::new("refused");
    refused(&b, b.constant([1i32]).quantile(0.5, 0), "E0801");
    let b = Builder::new("refused");
    refused(&b, b.constant([1f32]).quantile(0.5, 1), "does not exist");
}

#[test]
fn norms() {
    let rows = [[3f64, -4.0, 0.0], [1.0, 2.0, -2.0]];
    let of = |order: f64| numbers(|b| b.constant(rows).vector_norm(order, &[1]));
    let expected = [
        (0.0, [2.0, 3.0]),
        (1.0, [7.0, 5.0]),
        (2.0, [5.0, 3.0]),
        (INF, [4.0, 2.0]),
        (-INF, [0.0, 1.0]),
        (3.0, [4.497_941_445_275_415, 2.571_281_590_658_235]),
        (0.5, [13.928_203_230_275_509, 14.656_854_249_492_38]),
        (-1.0, [0.0, 0.5]),
    ];
    for (order, norms) in expected {
        near(&of(order), &norms, 4.0 * f64::EPSILON);
    }
    assert_eq!(
        numbers(|b| b.constant([[3f64, 0.0], [0.0, -4.0]]).vector_norm(2.0, &[0, 1])),
        [5.0]
    );
    let b = Builder::new("complex");
    let x = b.parameter(0, "c64[2]", "x");
    let found = run(&b, x.vector_norm(2.0, &[0]), &["c64[2] {(3, 0), (0, 4)}"]);
    assert_eq!(found, "f32[] 5");
    let b = Builder::new("refused");
    refused(&b, b.constant([1f32]).vector_norm(NAN, &[0]), "is NaN");
    let b = Builder::new("refused");
    refused(&b, b.constant([1i32]).vector_norm(2.0, &[0]), "E0801");
    let b = Builder::new("refused");
    refused(&b, b.constant([1f32]).vector_norm(2.0, &[0, -1]), "twice");
}

#[test]
fn bessel_of_order_0() {
    let x = [0.0, -1.5, 0.5, 3.0, 8.0, 9.0, 30.5, -100.0];
    let expected = [
        1.0,
        1.646_723_189_772_891,
        1.063_483_370_741_323_6,
        4.880_792_585_865_024_5,
        427.564_115_721_804_74,
        1_093.588_354_511_374_7,
        1_278_062_138_712.566_4,
        1.073_751_707_131_073_8e42,
    ];
    near(&numbers(|b| b.constant(x).bessel_i0()), &expected, 8.0 * f64::EPSILON);
    let large = numbers(|b| b.constant([700.0, 713.5, 800.0, INF, -INF]).bessel_i0());
    let expected = [1.529_593_347_671_873_7e302, 1.105_101_208_117_827_9e308, INF, INF, INF];
    near(&large, &expected, 16.0 * f64::EPSILON);
    assert!(numbers(|b| b.constant([NAN]).bessel_i0())[0].is_nan());
}

#[test]
fn logs_of_complements() {
    let x = [1e-300, 1e-10, 0.5, 0.6875, 0.75, 2.0, 40.0];
    let expected = [
        -690.775_527_898_213_7,
        -23.025_850_929_990_458,
        -0.932_752_129_567_188_6,
        -0.698_826_432_969_408_9,
        -0.639_353_465_040_354,
        -0.145_413_457_868_859_06,
        -4.248_354_255_291_589e-18,
    ];
    near(&numbers(|b| b.constant(x).log1mexp()), &expected, 4.0 * f64::EPSILON);
    let ends = numbers(|b| b.constant([0.0, INF, -1.0, NAN]).log1mexp());
    assert_eq!(ends[..2], [-INF, 0.0]);
    assert!(ends[2].is_nan() && ends[3].is_nan());
}

#[test]
fn derivative_of_bessel_of_order_0() {
    let b = Builder::new("slopes");
    let x = b.constant([0.0, -1.5, 0.5, 9.0]);
    let slopes = b.grad(x.bessel_i0().reduce_sum(&[0]), &[x])[0];
    // I1, of the same sign as its argument.
    let expected =
        [0.0, -0.981_666_428_577_907_6, 0.257_894_305_390_896_3, 1_030.914_722_516_956_4];
    near(&reals(&evaluate_on(&b, slopes, &[])), &expected, 16.0 * f64::EPSILON);
}
