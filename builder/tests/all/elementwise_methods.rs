//! Operators and elementwise methods, on values found by hand.
#![expect(clippy::unwrap_used, reason = "tests")]
use crate::support::{build, evaluate, evaluate_on, near, refuses_on, run};
use builder::{Builder, Value};
use hlo::op::value::{AccuracyMode, ComparisonType, Direction, ResultAccuracy};
use hlo::{Literal, Scalar};

/// The truths of several `pred` arrays, a row for each.
fn truths(b: &Builder, values: &[Value<'_>], arguments: &[&str]) -> Vec<String> {
    let row = |literal: &Literal| {
        let truth = |i| if literal.get(i) == Scalar::Pred(true) { 'T' } else { 'f' };
        (0..literal.len()).map(truth).collect()
    };
    evaluate(b, b.tuple(values), arguments).elements().unwrap().iter().map(row).collect()
}

#[test]
fn operators_are_methods() {
    let b = Builder::new("operators");
    let (x, y) = (b.parameter(0, "s32[2]", "x"), b.parameter(1, "s32[2]", "y"));
    let operators =
        [x + y, x - y, x * y, x / y, x % y, x & y, x | y, x ^ y, x << y, x >> y, -x, !x];
    let methods = [
        x.add(y),
        x.sub(y),
        x.mul(y),
        x.div(y),
        x.rem(y),
        x.and(y),
        x.or(y),
        x.xor(y),
        x.shift_left(y),
        x.shift_right_arithmetic(y),
        x.neg(),
        x.not(),
    ];
    let expected = [
        "{13, -9}",
        "{11, -13}",
        "{12, -22}",
        "{12, -5}",
        "{0, -1}",
        "{0, 0}",
        "{13, -9}",
        "{13, -9}",
        "{24, -44}",
        "{6, -3}",
        "{-12, 11}",
        "{-13, 10}",
    ];
    let expected: Vec<String> = expected.iter().map(|row| format!("s32[2]{{0}} {row}")).collect();
    let expected = format!("( {} )", expected.join(", "));
    for values in [operators, methods] {
        assert_eq!(run(&b, b.tuple(&values), &["s32[2] {12, -11}", "s32[2] {1, 2}"]), expected);
    }
    // Of unsigned numbers `>>` fills with zeros.
    let b = Builder::new("unsigned");
    assert_eq!(run(&b, b.constant(200u8) >> 1, &[]), "u8[] 100");
}

#[test]
fn arithmetic_of_two() {
    let b = Builder::new("arithmetic");
    let (x, y) = (b.parameter(0, "s32[2]", "x"), b.parameter(1, "s32[2]", "y"));
    let values = [x.add(y), x.sub(y), x.mul(y), x.div(y), x.rem(y), x.max(y), x.min(y), x.pow(y)];
    let expected =
        ["{9, -5}", "{5, -9}", "{14, -14}", "{3, -3}", "{1, -1}", "{7, 2}", "{2, -7}", "{49, 49}"];
    let expected: Vec<String> = expected.iter().map(|row| format!("s32[2]{{0}} {row}")).collect();
    let found = run(&b, b.tuple(&values), &["s32[2] {7, -7}", "s32[2] {2, 2}"]);
    assert_eq!(found, format!("( {} )", expected.join(", ")));
    let b = Builder::new("angles");
    let (y, x) = (b.constant([1f64, 1.0, -1.0]), b.constant([1f64, -1.0, 0.0]));
    let quarter = std::f64::consts::FRAC_PI_4;
    near(&evaluate(&b, y.atan2(x), &[]), &[quarter, 3.0 * quarter, -2.0 * quarter], 1e-15, 0.0);
}

#[test]
fn logical() {
    let b = Builder::new("logical");
    let (x, y) = (b.constant([true, true, false, false]), b.constant([true, false, true, false]));
    let all = b.tuple(&[x.logical_and(y), x.logical_or(y), x.logical_not()]);
    let expected = "( pred[4]{0} {1, 0, 0, 0}, pred[4]{0} {1, 1, 1, 0}, pred[4]{0} {0, 0, 1, 1} )";
    assert_eq!(run(&b, all, &[]), expected);
    refuses_on([1i32, 2], "`logical_and` takes pred, found s32[2]", |_, x| x.logical_and(x));
    refuses_on(1u8, "`logical_not` takes pred, found u8[]", |_, x| x.logical_not());
    refuses_on(true, "operands of `or`", |b, x| x.logical_or(b.constant(1i32)));
}

#[test]
fn bits_of_two() {
    let b = Builder::new("bits");
    let (x, y) = (b.constant(12u8), b.constant(10u8));
    let (high, low) = (b.constant(200u8), b.constant(-56i8));
    let values = [
        x.and(y),
        x.or(y),
        x.xor(y),
        x.and(y).and(9),
        x.or(y).or(1),
        high.shift_left(1),
        high.shift_right_logical(1),
        low.shift_right_arithmetic(1),
        // 2^31 times 4 is 2 times 2^32
        b.constant(0x8000_0000u32).mulhi(4),
    ];
    let expected =
        "( u8[] 8, u8[] 14, u8[] 6, u8[] 8, u8[] 15, u8[] 144, u8[] 100, s8[] -28, u32[] 2 )";
    assert_eq!(run(&b, b.tuple(&values), &[]), expected);
}

#[test]
fn bits_of_one() {
    let b = Builder::new("bits_of_one");
    let x = b.constant(12u8);
    let values = b.tuple(&[x.not(), x.population_count(), x.clz()]);
    assert_eq!(run(&b, values, &[]), "( u8[] 243, u8[] 2, u8[] 4 )");
    let b = Builder::new("truth");
    assert_eq!(truths(&b, &[b.constant([true, false]).not()], &[]), ["fT"]);
}

#[test]
fn signs_and_parts() {
    let b = Builder::new("signs");
    let x = b.parameter(0, "f32[3]", "x");
    let found = run(&b, b.tuple(&[x.abs(), x.neg(), x.sign()]), &["f32[3] {-2, 0, 3}"]);
    assert_eq!(found, "( f32[3]{0} {2, 0, 3}, f32[3]{0} {2, -0, -3}, f32[3]{0} {-1, 0, 1} )");
    assert_eq!(truths(&b, &[x.is_finite()], &["f32[3] {1, inf, nan}"]), ["Tff"]);
}

#[test]
fn roundings() {
    let b = Builder::new("roundings");
    let x = b.parameter(0, "f32[4]", "x");
    let values = b.tuple(&[x.floor(), x.ceil(), x.round(), x.round_nearest_even()]);
    let found = run(&b, values, &["f32[4] {-2.5, 0.5, 1.5, 2.5}"]);
    let rows = ["{-3, 0, 1, 2}", "{-2, 1, 2, 3}", "{-3, 1, 2, 3}", "{-2, 0, 2, 2}"];
    let expected: Vec<String> = rows.iter().map(|row| format!("f32[4]{{0}} {row}")).collect();
    assert_eq!(found, format!("( {} )", expected.join(", ")));
}

#[test]
fn complex_numbers() {
    let b = Builder::new("complex");
    let z = b.constant(3f32).complex(b.constant(4f32));
    let values = [z.real(), z.imag(), z.conj().imag(), z.abs(), (z * z).real()];
    let found = run(&b, b.tuple(&values), &[]);
    assert_eq!(found, "( f32[] 3, f32[] 4, f32[] -4, f32[] 5, f32[] -7 )");
}

/// Values at 1/2 from mpmath, as the nearest doubles.
#[test]
fn functions_of_one() {
    let b = Builder::new("functions");
    let x = b.constant(0.5f64);
    let cases = [
        (x.exp(), 1.648_721_270_700_128_2),
        (x.expm1(), 0.648_721_270_700_128_2),
        (x.log(), -std::f64::consts::LN_2),
        (x.log1p(), 0.405_465_108_108_164_4),
        (x.logistic(), 0.622_459_331_201_854_6),
        (x.cos(), 0.877_582_561_890_372_8),
        (x.sin(), 0.479_425_538_604_203),
        (x.tan(), 0.546_302_489_843_790_5),
        (x.tanh(), 0.462_117_157_260_009_74),
        (x.sqrt(), std::f64::consts::FRAC_1_SQRT_2),
        (x.rsqrt(), std::f64::consts::SQRT_2),
        (x.cbrt(), 0.793_700_525_984_099_8),
        (x.erf(), 0.520_499_877_813_046_5),
    ];
    for (value, expected) in cases {
        near(&evaluate_on(&b, value, &[]), &[expected], 2e-16, 0.0);
    }
}

#[test]
fn an_accuracy_can_be_asked_for() {
    let b = Builder::new("accuracy");
    let x = b.parameter(0, "f32[]", "x");
    let highest = x.exp().with_result_accuracy(ResultAccuracy::Mode(AccuracyMode::Highest));
    let bounded = ResultAccuracy::Tolerance { atol: 0.5, rtol: 0.0, ulps: 2 };
    let text = build(&b, highest.tanh().with_result_accuracy(bounded)).module().to_string();
    assert!(text.contains("exponential(%x), result_accuracy={mode=highest}"), "{text}");
    assert!(text.contains("result_accuracy={tolerance={atol=0.5,rtol=0,ulps=2}}"), "{text}");
    let error = b.build((x + 1).with_result_accuracy(bounded)).unwrap_err();
    assert!(error.to_string().contains("`add` has no `result_accuracy`"), "{error}");
}

#[test]
fn comparisons_follow_ieee() {
    let b = Builder::new("comparisons");
    let (x, y) = (b.parameter(0, "f32[4]", "x"), b.parameter(1, "f32[4]", "y"));
    let values = [x.eq(y), x.ne(y), x.ge(y), x.gt(y), x.le(y), x.lt(y)];
    let found = truths(&b, &values, &["f32[4] {1, 2, nan, -0}", "f32[4] {2, 2, nan, 0}"]);
    assert_eq!(found, ["fTfT", "TfTf", "fTfT", "ffff", "TTfT", "Tfff"]);
}

#[test]
fn total_order_distinguishes_zeros() {
    let b = Builder::new("total_order");
    let (x, y) = (b.parameter(0, "f32[3]", "x"), b.parameter(1, "f32[3]", "y"));
    let values = [
        x.eq_total_order(y),
        x.ne_total_order(y),
        x.ge_total_order(y),
        x.gt_total_order(y),
        x.le_total_order(y),
        x.lt_total_order(y),
    ];
    let found = truths(&b, &values, &["f32[3] {-0, nan, 1}", "f32[3] {0, nan, 2}"]);
    assert_eq!(found, ["fTf", "TfT", "fTf", "fff", "TTT", "TfT"]);
    // Integers are ordered as always.
    let b = Builder::new("total_order_of_integers");
    assert_eq!(truths(&b, &[b.constant([-1i32, 1]).lt_total_order(0)], &[]), ["Tf"]);
}

#[test]
fn compare_takes_direction_and_order() {
    let b = Builder::new("compare");
    let (x, y) = (b.constant([-0f32, 1.0]), b.constant([0f32, 1.0]));
    let total = x.compare(y, Direction::Lt, Some(ComparisonType::TotalOrder));
    let plain = x.compare(y, Direction::Ge, None);
    assert_eq!(truths(&b, &[total, plain], &[]), ["Tf", "TT"]);
}
