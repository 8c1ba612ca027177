//! What a user meets first: operators, broadcasting, closures, mistakes.
use crate::support::run;
use builder::{Builder, Value};

#[test]
fn operators_take_values_and_numbers() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[3]", "x");
    let y = (1.0 - x) * 2.0 + x / 4 - -x;
    assert_eq!(run(&b, y, &["f32[3] {0, 4, 8}"]), "f32[3]{0} {2, -1, -4}");
    let n = b.constant([6u8, 7, 255]);
    let bits = ((n & 3) | (n << 1)) ^ (n >> 1);
    assert_eq!(run(&b, bits, &["f32[3] {0, 0, 0}"]), "u8[3]{0} {13, 12, 128}");
}

#[test]
fn broadcasting_is_xlas() {
    let b = Builder::new("m");
    let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    let (row, column) = (b.constant([10i32, 20, 30]), b.constant([100i32, 200]));
    let sum = x + row.along(&[1]) + column.along(&[0]);
    assert_eq!(run(&b, sum, &[]), "s32[2,3]{1,0} { { 111, 122, 133 }, { 214, 225, 236 } }");
    // The lower operand may stand on the left.
    let left = row.along(&[1]) - x;
    assert_eq!(run(&b, left, &[]), "s32[2,3]{1,0} { { 9, 18, 27 }, { 6, 15, 24 } }");
    // Of one rank, dimensions of size 1 stretch on both sides.
    let outer = column.reshape(&[2, 1]) + row.reshape(&[1, 3]);
    assert_eq!(run(&b, outer, &[]), "s32[2,3]{1,0} { { 110, 120, 130 }, { 210, 220, 230 } }");
}

#[test]
fn closures_become_computations() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[4]", "x");
    let sum = x.reduce(0.0, |a, b| a + b, &[0]);
    let top = x.reduce(f64::NEG_INFINITY, Value::max, &[0]);
    let again = (x * x).reduce(0.0, |a, b| a + b, &[0]);
    let steps = b.constant(0i32).while_loop(|n| n.lt(10), |n| n + 3);
    let all = b.tuple(&[sum, top, again, steps]);
    let result = run(&b, all, &["f32[4] {1, -2, 3, 5}"]);
    assert_eq!(result, "( f32[] 7, f32[] 5, f32[] 39, s32[] 12 )");
    // The two sums are one computation.
    assert_eq!(b.build(all).unwrap().module().computations.len(), 5);
}

#[test]
fn the_first_mistake_is_reported_with_its_line() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2]", "x");
    let y = b.parameter(1, "f32[3]", "y");
    let line = line!() + 1;
    let sum = x + y;
    let error = b.build((sum * sum).tanh()).unwrap_err();
    assert_eq!(error.location().map(|l| (l.file(), l.line())), Some((file!(), line)));
    assert!(error.to_string().contains("f32[2] and f32[3] do not fit"), "{error}");
    assert!(error.report().contains("let sum = x + y;"), "{}", error.report());
}

#[test]
fn lines_inside_closures_are_the_closures_own() {
    let b = Builder::new("m");
    let x = b.parameter(0, "f32[2]", "x");
    let sum = x.reduce(
        0.0,
        |a, _| a.and(a), // The line of the mistake.
        &[0],
    );
    let error = b.build(sum).unwrap_err();
    assert_eq!(error.location().map(std::panic::Location::line), Some(line!() - 4), "{error}");
}

#[test]
fn values_stay_where_they_belong() {
    let (b, other) = (Builder::new("one"), Builder::new("two"));
    let (x, y) = (b.constant(1f32), other.constant(2f32));
    let error = b.build(x + y).unwrap_err();
    assert!(
        error.to_string().contains("a value of builder `two` is used in builder `one`"),
        "{error}"
    );
    let b = Builder::new("m");
    let (x, y) = (b.parameter(0, "s32[2]", "x"), b.parameter(1, "s32[]", "y"));
    let error = b.build(x.reduce(0, |a, c| a + c * y, &[0])).unwrap_err();
    assert!(
        error.to_string().contains("a value of computation `main` is used in `reducer`"),
        "{error}"
    );
}
