//! Every elementwise method and every operator, on numbers by hand.
use crate::support::{evaluate, near, run};
use builder::{Builder, Value};

/// A value of one operand, and the same function of Rust's library.
type Row<'b> = (Value<'b>, fn(f64) -> f64);

#[test]
fn one_operand_on_floats() {
    let b = Builder::new("unary");
    let x = b.constant([0.5f64, -0.25, 1.0]);
    // Values of Rust's own library, and those that are exact.
    let table: [Row<'_>; 26] = [
        (x.abs(), f64::abs),
        (x.acos(), f64::acos),
        (x.asin(), f64::asin),
        (x.asinh(), f64::asinh),
        (x.cbrt(), f64::cbrt),
        (x.ceil(), f64::ceil),
        (x.cos(), f64::cos),
        (x.cosh(), f64::cosh),
        (x.exp(), f64::exp),
        (x.expm1(), f64::exp_m1),
        (x.floor(), f64::floor),
        (x.log1p(), f64::ln_1p),
        (x.logistic(), |x| 1.0 / (1.0 + (-x).exp())),
        (x.neg(), |x| -x),
        (x.round(), f64::round),
        (x.round_nearest_even(), f64::round_ties_even),
        (x.abs().rsqrt(), |x| 1.0 / x.abs().sqrt()),
        (x.sign(), f64::signum),
        (x.sin(), f64::sin),
        (x.sinh(), f64::sinh),
        (x.abs().sqrt(), |x| x.abs().sqrt()),
        (x.tan(), f64::tan),
        (x.tanh(), f64::tanh),
        (x.abs().log(), |x| x.abs().ln()),
        ((x + 1.0).acosh().abs(), |x| if x < 0.0 { f64::NAN } else { (x + 1.0).acosh() }),
        ((x / 2).atanh(), |x| (x / 2.0).atanh()),
    ];
    for (i, (value, function)) in table.into_iter().enumerate() {
        let expected = [0.5, -0.25, 1.0].map(function);
        let found = evaluate(&b, value, &[]);
        assert_eq!(found.len(), 3, "{i}");
        near(&found, &expected, 1e-15, 1e-16);
    }
    // erf(0.5) to 16 digits.
    near(&evaluate(&b, b.constant(0.5f64).erf(), &[]), &[0.520_499_877_813_046_5], 1e-15, 0.0);
    let wild = b.constant([f32::NAN, f32::INFINITY, 3.0]).is_finite();
    assert_eq!(run(&b, wild, &[]), "pred[3]{0} {0, 0, 1}");
}

#[test]
fn one_operand_on_others() {
    let b = Builder::new("unary_others");
    let n = b.constant([0u8, 6, 255]);
    assert_eq!(run(&b, n.clz(), &[]), "u8[3]{0} {8, 5, 0}");
    assert_eq!(run(&b, n.population_count(), &[]), "u8[3]{0} {0, 2, 8}");
    assert_eq!(run(&b, n.not(), &[]), "u8[3]{0} {255, 249, 0}");
    assert_eq!(run(&b, b.constant([true, false]).not(), &[]), "pred[2]{0} {0, 1}");
    assert_eq!(run(&b, b.constant([-5i32, 0, 7]).sign(), &[]), "s32[3]{0} {-1, 0, 1}");
    let z = b.constant([3f32, -1.0]).complex(b.constant([4f32, 2.0]));
    assert_eq!(run(&b, z, &[]), "c64[2]{0} {(3, 4), (-1, 2)}");
    assert_eq!(run(&b, z.real(), &[]), "f32[2]{0} {3, -1}");
    assert_eq!(run(&b, z.imag(), &[]), "f32[2]{0} {4, 2}");
    assert_eq!(run(&b, z.conj(), &[]), "c64[2]{0} {(3, -4), (-1, -2)}");
    assert_eq!(run(&b, z.slice(&[0], &[1], &[1]).abs(), &[]), "f32[1]{0} {5}");
}

#[test]
fn two_operands() {
    let b = Builder::new("binary");
    let (x, y) = (b.constant([-7i32, 7, 12]), b.constant([2i32, -2, 10]));
    for (value, expected) in [
        (x.add(y), "-5, 5, 22"),
        (x.sub(y), "-9, 9, 2"),
        (x.mul(y), "-14, -14, 120"),
        (x.div(y), "-3, -3, 1"),
        (x.rem(y), "-1, 1, 2"),
        (x.max(y), "2, 7, 12"),
        (x.min(y), "-7, -2, 10"),
        (x.and(y), "0, 6, 8"),
        (x.or(y), "-5, -1, 14"),
        (x.xor(y), "-5, -7, 6"),
        (x.pow(b.constant(2i32)), "49, 49, 144"),
        (x.shift_left(1), "-14, 14, 24"),
        (x.shift_right_arithmetic(1), "-4, 3, 6"),
        (x.shift_right_logical(28), "15, 0, 0"),
        (x.mulhi(y), "-1, -1, 0"),
    ] {
        assert_eq!(run(&b, value, &[]), format!("s32[3]{{0}} {{{expected}}}"));
    }
    let quarter = b.constant(1f64).atan2(b.constant(1f64));
    near(&evaluate(&b, quarter, &[]), &[std::f64::consts::FRAC_PI_4], 1e-15, 0.0);
    near(&evaluate(&b, b.constant(2f64).pow(0.5), &[]), &[std::f64::consts::SQRT_2], 1e-15, 0.0);
}

#[test]
fn operators() {
    let b = Builder::new("operators");
    let (x, y) = (b.constant([13i32, -8]), b.constant([5i32, 3]));
    for (value, expected) in [
        (x + y, "18, -5"),
        (x - y, "8, -11"),
        (-x, "-13, 8"),
        (x * y, "65, -24"),
        (x / y, "2, -2"),
        (x % y, "3, -2"),
        (!x, "-14, 7"),
        (x & y, "5, 0"),
        (x | y, "13, -5"),
        (x ^ y, "8, -5"),
        (x << y, "416, -64"),
        (x >> 2, "3, -2"),
    ] {
        assert_eq!(run(&b, value, &[]), format!("s32[2]{{0}} {{{expected}}}"));
    }
    // Unsigned numbers are filled with zeros; floats are not shifted.
    assert_eq!(run(&b, b.constant([255u8]) >> 7, &[]), "u8[1]{0} {1}");
    let message = b.build(b.constant(1f32) >> b.constant(1f32)).unwrap_err().to_string();
    assert!(message.contains("`>>` shifts integers, found f32"), "{message}");
}

#[test]
fn clamp_stretches_scalars() {
    let b = Builder::new("clamp");
    let x = b.constant([1i32, 5, 9]);
    assert_eq!(run(&b, x.clamp(3, b.constant([4i32, 4, 7])), &[]), "s32[3]{0} {3, 4, 7}");
    let spread = b.constant(5i32).clamp(b.constant([0i32, 6]), b.constant([3i32, 9]));
    assert_eq!(run(&b, spread, &[]), "s32[2]{0} {3, 6}");
    let message = b.build(x.clamp(b.constant([1i32, 2]), 7)).unwrap_err().to_string();
    assert!(message.contains("s32[2]") && message.contains("s32[3]"), "{message}");
}
