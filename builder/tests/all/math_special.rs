//! Special functions against values computed with mpmath, and what their edges give.
#![allow(clippy::unwrap_used, clippy::float_cmp, reason = "tests; exact results are meant")]
use crate::math_values as values;
use crate::support::{evaluate_on, reals};
use builder::{Builder, IntoLiteral, Value};
use half::{bf16, f16};
use hlo::{ElementType, Literal};

/// The function of one, two or three arrays.
type Function<const N: usize> = for<'b> fn([Value<'b>; N]) -> Value<'b>;

/// The function's values, with arguments and computation of this type.
fn values_in<const N: usize>(
    name: &str,
    ty: ElementType,
    arguments: &[[f64; N]],
    function: Function<N>,
) -> Vec<f64> {
    let b = Builder::new(name);
    let shape = format!("f64[{}]", arguments.len());
    let arrays = std::array::from_fn(|_| {
        let array = b.input("", &shape);
        if ty == ElementType::F64 { array } else { array.convert_element_type(ty) }
    });
    let column = |i: usize| arguments.iter().map(|row| row[i]).collect::<Vec<f64>>();
    let columns: Vec<Literal> = (0..N).map(|i| column(i).into_literal().unwrap()).collect();
    let result: Literal = evaluate_on(&b, function(arrays), &columns);
    reals(&result)
}

/// The nearest number of a narrower type.
type Rounding = fn(f64) -> f64;

/// Checks `f64` within `bound` ULP of each value, and `f32`, `f16` and `bf16` to be the nearest
/// number.
#[track_caller]
fn check<const N: usize>(
    name: &str,
    rows: &[values::Row<N>],
    function: Function<N>,
    bound: impl Fn(f64) -> f64,
) {
    let arguments: Vec<[f64; N]> = rows.iter().map(|(row, _)| *row).collect();
    let found = values_in(name, ElementType::F64, &arguments, function);
    for ((row, expected), found) in rows.iter().zip(&found) {
        let ulps = (found - expected).abs() / ulp(*expected);
        assert!(
            found == expected || ulps <= bound(*expected),
            "{row:?}: {found:e}, expected {expected:e}: {ulps} ULP"
        );
    }
    let narrow: [(ElementType, Rounding); 3] = [
        (ElementType::F32, |x| f64::from(nearest_f32(x))),
        (ElementType::Bf16, |x| bf16::from_f64(x).to_f64()),
        (ElementType::F16, |x| f16::from_f64(x).to_f64()),
    ];
    for (ty, nearest) in narrow {
        let found = values_in(name, ty, &arguments, function);
        for ((row, expected), &found) in rows.iter().zip(&found) {
            // Arguments that f16 does not hold are another question.
            if row.iter().all(|&x| nearest(x) == x) {
                assert_eq!(found, nearest(*expected), "{ty} {row:?}, exactly {expected:e}");
            }
        }
    }
}
/// The distance to the next number, of subnormal ones the smallest number.
fn ulp(x: f64) -> f64 {
    let x = x.abs();
    f64::from_bits(x.to_bits() + 1) - x
}
#[expect(clippy::as_conversions, clippy::cast_possible_truncation, reason = "rounding is meant")]
fn nearest_f32(x: f64) -> f32 {
    x as f32
}
/// Checks values exactly, NaN and the sign of zero too, in `f64` and `f32`.
#[track_caller]
fn check_edges<const N: usize>(name: &str, rows: &[values::Row<N>], function: Function<N>) {
    let arguments: Vec<[f64; N]> = rows.iter().map(|(row, _)| *row).collect();
    for ty in [ElementType::F64, ElementType::F32] {
        for ((row, expected), found) in rows.iter().zip(values_in(name, ty, &arguments, function)) {
            let same =
                found == *expected && found.is_sign_negative() == expected.is_sign_negative();
            assert!(
                same || (found.is_nan() && expected.is_nan()),
                "{ty} {row:?}: {found}, expected {expected}"
            );
        }
    }
}
const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

#[test]
fn erfc() {
    check("erfc", values::ERFC, |[x]| x.erfc(), |_| 4.0);
    let edges = [
        ([INF], 0.0),
        ([-INF], 2.0),
        ([NAN], NAN),
        ([0.0], 1.0),
        ([-0.0], 1.0),
        ([28.0], 0.0),
        ([1e30], 0.0),
    ];
    check_edges("erfc", &edges, |[x]| x.erfc());
}

#[test]
fn erf_inv() {
    check("erf_inv", values::ERF_INV, |[x]| x.erf_inv(), |_| 4.0);
    let edges = [
        ([1.0], INF),
        ([-1.0], -INF),
        ([1.5], NAN),
        ([-INF], NAN),
        ([NAN], NAN),
        ([0.0], 0.0),
        ([-0.0], -0.0),
    ];
    check_edges("erf_inv", &edges, |[x]| x.erf_inv());
    // The last number before 1: erfc(y) = 2^-53, by mpmath's findroot.
    let last =
        values_in("erf_inv", ElementType::F64, &[[1.0 - f64::EPSILON / 2.0]], |[x]| x.erf_inv());
    assert!((last[0] - 5.863_584_748_755_168).abs() < 4e-15, "{last:?}");
}

#[test]
fn lgamma() {
    check("lgamma", values::LGAMMA, |[x]| x.lgamma(), |_| 6.0);
    // Between the poles there are zeros, near which the error is that of the terms.
    check("lgamma", values::LGAMMA_NEGATIVE, |[x]| x.lgamma(), |v| 64.0 / v.abs().min(1.0));
    let edges = [
        ([0.0], INF),
        ([-0.0], INF),
        ([-1.0], INF),
        ([-2.0], INF),
        ([-1e20], INF),
        ([INF], INF),
        ([-INF], INF),
        ([NAN], NAN),
        ([1.0], 0.0),
        ([2.0], 0.0),
    ];
    check_edges("lgamma", &edges, |[x]| x.lgamma().abs());
}

#[test]
fn digamma() {
    check("digamma", values::DIGAMMA, |[x]| x.digamma(), |_| 6.0);
    check("digamma", values::DIGAMMA_NEGATIVE, |[x]| x.digamma(), |v| 64.0 / v.abs().min(1.0));
    let edges = [
        ([0.0], NAN),
        ([-0.0], NAN),
        ([-1.0], NAN),
        ([-30.0], NAN),
        ([INF], INF),
        ([-INF], NAN),
        ([NAN], NAN),
    ];
    check_edges("digamma", &edges, |[x]| x.digamma());
}

#[test]
fn bessel() {
    check("bessel_i0e", values::BESSEL_I0E, |[x]| x.bessel_i0e(), |_| 4.0);
    check("bessel_i1e", values::BESSEL_I1E, |[x]| x.bessel_i1e(), |_| 4.0);
    check_edges("bessel_i0e", &[([0.0], 1.0), ([INF], 0.0), ([-INF], 0.0), ([NAN], NAN)], |[x]| {
        x.bessel_i0e()
    });
    let edges = [([0.0], 0.0), ([-0.0], -0.0), ([INF], 0.0), ([-INF], -0.0), ([NAN], NAN)];
    check_edges("bessel_i1e", &edges, |[x]| x.bessel_i1e());
}

#[test]
fn igamma() {
    let bound = |v: f64| 16.0 + 8.0 * v.ln().abs();
    check("igamma", values::IGAMMA, |[a, x]| a.igamma(x), bound);
    check("igammac", values::IGAMMAC, |[a, x]| a.igammac(x), bound);
    // a, x, P. The limits are those of XLA.
    let edges = [
        ([1.0, 0.0], 0.0),
        ([0.0, 1.0], 1.0),
        ([1.0, INF], 1.0),
        ([INF, 1.0], 0.0),
        ([0.0, 0.0], NAN),
        ([INF, INF], NAN),
        ([-1.0, 1.0], NAN),
        ([1.0, -1.0], NAN),
        ([NAN, 1.0], NAN),
        ([1.0, NAN], NAN),
        ([1.0, 1e30], 1.0),
    ];
    check_edges("igamma", &edges, |[a, x]| a.igamma(x));
    check_edges("igammac", &edges.map(|(row, p)| (row, 1.0 - p)), |[a, x]| a.igammac(x));
    // Large arguments stay cheap: P(a, a) = 1/2 + 1/(3 sqrt(2 pi a)) + ..., DLMF 8.11.12.
    let large = values_in("igamma", ElementType::F64, &[[1e12, 1e12], [1e300, 1e300]], |[a, x]| {
        a.igamma(x)
    });
    assert!((large[0] - 0.500_000_132_980_760_2).abs() < 1e-15, "{large:?}");
    assert!((large[1] - 0.5).abs() < 1e-15, "{large:?}");
}

#[test]
fn igamma_gradients() {
    check(
        "igamma_grad_a",
        values::IGAMMA_GRAD_A,
        |[a, x]| a.igamma_grad_a(x),
        |v| 64.0 + 8.0 * v.abs().ln().abs(),
    );
    check(
        "random_gamma_grad",
        values::RANDOM_GAMMA_GRAD,
        |[a, x]| a.random_gamma_grad(x),
        |_| 128.0,
    );
    let edges = [
        ([1.0, 0.0], 0.0),
        ([0.0, 1.0], NAN),
        ([-1.0, 1.0], NAN),
        ([1.0, -1.0], NAN),
        ([1.0, NAN], NAN),
        ([INF, 1.0], NAN),
    ];
    check_edges("igamma_grad_a", &edges, |[a, x]| a.igamma_grad_a(x));
    check_edges("random_gamma_grad", &edges, |[a, x]| a.random_gamma_grad(x));
}

#[test]
fn zeta() {
    check("zeta", values::ZETA, |[s, q]| s.zeta(q), |_| 8.0);
    check("zeta", values::ZETA_NEGATIVE, |[s, q]| s.zeta(q), |_| 64.0);
    let edges = [
        ([1.0, 2.0], INF),
        ([0.5, 1.0], NAN),
        ([2.0, 0.0], INF),
        ([2.0, -3.0], INF),
        ([3.0, -3.0], NAN),
        ([2.5, -0.5], NAN),
        ([2.0, INF], 0.0),
        ([NAN, 1.0], NAN),
        ([2.0, NAN], NAN),
        ([INF, 2.0], 0.0),
        ([INF, 1.0], 1.0),
        ([2.0, -INF], NAN),
    ];
    check_edges("zeta", &edges, |[s, q]| s.zeta(q));
}

#[test]
fn polygamma() {
    check("polygamma", values::POLYGAMMA, |[n, x]| n.polygamma(x), |_| 24.0);
    check("polygamma", values::POLYGAMMA_BEYOND, |[n, x]| n.polygamma(x), |_| 2.0 * 151.0);
    let edges = [
        ([1.0, 0.0], INF),
        ([1.0, -1.0], INF),
        ([2.0, 0.0], NAN),
        ([-1.0, 1.0], NAN),
        ([0.5, 1.0], NAN),
        ([NAN, 1.0], NAN),
        ([1.0, NAN], NAN),
        ([1.0, INF], 0.0),
        ([INF, 1.0], NAN),
    ];
    check_edges("polygamma", &edges, |[n, x]| n.polygamma(x));
}

#[test]
fn incomplete_beta() {
    let function: Function<3> = |[a, b, x]| a.regularized_incomplete_beta(b, x);
    check("incomplete_beta", values::INCOMPLETE_BETA, function, |v| {
        (32.0 + 8.0 * v.ln().abs()) / (1.0 - v).max(1e-3)
    });
    let edges = [
        ([2.0, 3.0, 0.0], 0.0),
        ([2.0, 3.0, 1.0], 1.0),
        ([0.0, 1.0, 0.5], 1.0),
        ([1.0, 0.0, 0.5], 0.0),
        ([0.0, 0.0, 0.5], NAN),
        ([INF, 1.0, 0.5], 0.0),
        ([1.0, INF, 0.5], 1.0),
        ([INF, INF, 0.5], NAN),
        ([1.0, 1.0, -0.5], NAN),
        ([1.0, 1.0, 1.5], NAN),
        ([-1.0, 1.0, 0.5], NAN),
        ([NAN, 1.0, 0.5], NAN),
        ([1.0, 1.0, NAN], NAN),
    ];
    check_edges("incomplete_beta", &edges, function);
    // Of a symmetric distribution half lies below the middle.
    let large = values_in("incomplete_beta", ElementType::F64, &[[1e7, 1e7, 0.5]], function);
    assert!((large[0] - 0.5).abs() < 1e-12, "{large:?}");
}

#[test]
fn operands_are_broadcast_and_checked() {
    let b = Builder::new("m");
    let a = b.constant([0.5f32, 1.0, 2.0]);
    assert_eq!(a.igamma(1.0).dims().unwrap(), [3]);
    assert_eq!(b.constant(2.0f32).zeta(a).dims().unwrap(), [3]);
    assert_eq!(a.regularized_incomplete_beta(2.0, 0.5).dims().unwrap(), [3]);
    let b = Builder::new("m");
    let error = b.build(b.constant(1i32).lgamma()).unwrap_err();
    assert!(error.to_string().contains("expected real floats, found s32"), "{error}");
    let b = Builder::new("m");
    let error = b.build(b.constant(1f32).igamma(b.constant(1f64))).unwrap_err();
    assert!(error.to_string().contains("the operands are f32 and f64"), "{error}");
}

/// An element's value does not depend on what stands beside it.
#[test]
fn neighbors_do_not_matter() {
    let alone = values_in("igammac", ElementType::F64, &[[2.0, 4.0]], |[a, x]| a.igammac(x));
    let beside = values_in(
        "igammac",
        ElementType::F64,
        &[[0.5, 1.25], [2.0, 4.0], [20.0, 22.0]],
        |[a, x]| a.igammac(x),
    );
    assert_eq!(alone[0].to_bits(), beside[1].to_bits());
}
