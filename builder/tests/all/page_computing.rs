//! The worked examples of XLA's page of operation semantics, of ops that compute, with its numbers.
use crate::support::run;
use builder::options::{DotDimensionNumbers, DotOptions, Padding};
use builder::{Builder, Value};

#[test]
fn dot() {
    // The table of ranks; numbers by hand.
    let b = Builder::new("dot");
    let (v, w) = (b.constant([1f32, 2., 3.]), b.constant([4f32, 5., 6.]));
    let m = b.constant([[1f32, 2., 3.], [4., 5., 6.]]);
    let n = b.constant([[1f32, 0.], [0., 1.], [2., 2.]]);
    let plain = DotOptions::default();
    assert_eq!(run(&b, v.dot_with(w, &plain), &[]), "f32[] 32");
    assert_eq!(run(&b, m.dot_with(v, &plain), &[]), "f32[2]{0} {14, 32}");
    assert_eq!(run(&b, m.dot_with(n, &plain), &[]), "f32[2,2]{1,0} { { 7, 8 }, { 16, 17 } }");
    assert_eq!(run(&b, v.dot_with(n, &plain), &[]), "f32[2]{0} {7, 8}");
}

#[test]
fn dot_general_contracting() {
    let b = Builder::new("dot_general");
    let lhs = b.constant([[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]]);
    let rhs = b.constant([[1.0f32, 1.0, 1.0], [2.0, 2.0, 2.0]]);
    let numbers = DotDimensionNumbers {
        lhs_contracting_dimensions: vec![1],
        rhs_contracting_dimensions: vec![1],
        ..Default::default()
    };
    let product = lhs.dot_general(rhs, &numbers, &DotOptions::default());
    assert_eq!(run(&b, product, &[]), "f32[2,2]{1,0} { { 6, 12 }, { 15, 30 } }");
}

#[test]
fn dot_general_batch() {
    let b = Builder::new("dot_general_batch");
    let lhs = b.constant([[[1.0f32, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]]);
    let rhs = b.constant([[[1.0f32, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]]);
    let numbers = DotDimensionNumbers {
        lhs_contracting_dimensions: vec![2],
        rhs_contracting_dimensions: vec![1],
        lhs_batch_dimensions: vec![0],
        rhs_batch_dimensions: vec![0],
    };
    let product = lhs.dot_general(rhs, &numbers, &DotOptions::default());
    let expected = "f32[2,2,2]{2,1,0} { { { 1, 2 }, { 3, 4 } }, { { 5, 6 }, { 7, 8 } } }";
    assert_eq!(run(&b, product, &[]), expected);
    // [b0, b1, m, k] dot [b0, b1, k, n] is [b0, b1, m, n].
    let (x, y) = (b.iota("f32[2,3,4,5]", 0), b.iota("f32[2,3,5,6]", 0));
    let numbers = DotDimensionNumbers {
        lhs_contracting_dimensions: vec![3],
        rhs_contracting_dimensions: vec![2],
        lhs_batch_dimensions: vec![0, 1],
        rhs_batch_dimensions: vec![0, 1],
    };
    let product = x.dot_general(y, &numbers, &DotOptions::default());
    assert_eq!(product.dims().unwrap(), [2, 3, 4, 6]);
}

#[test]
fn map() {
    let b = Builder::new("map");
    let (x, y, z) = (b.constant([1i32, 2]), b.constant([10i32, 20]), b.constant([7i32, 9]));
    let mapped = b.map(&[x, y, z], |p| p[0] * p[1] - p[2], &[0]);
    assert_eq!(run(&b, mapped, &[]), "s32[2]{0} {3, 31}");
}

fn sum<'b>(x: Value<'b>, dims: &[i64]) -> Value<'b> {
    x.reduce(0, |a, c| a + c, dims)
}

#[test]
fn reduce() {
    let b = Builder::new("reduce");
    assert_eq!(run(&b, sum(b.constant([10i32, 11, 12, 13]), &[0]), &[]), "s32[] 46");
    let matrix = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    assert_eq!(run(&b, sum(matrix, &[0]), &[]), "s32[3]{0} {5, 7, 9}");
    assert_eq!(run(&b, sum(matrix, &[1]), &[]), "s32[2]{0} {6, 15}");
    // The values 1 to 6, four times.
    let x = matrix.broadcast(&[4]);
    assert_eq!(run(&b, sum(x, &[0]), &[]), "s32[2,3]{1,0} { { 4, 8, 12 }, { 16, 20, 24 } }");
    let expected = "s32[4,2]{1,0} { { 6, 15 }, { 6, 15 }, { 6, 15 }, { 6, 15 } }";
    assert_eq!(run(&b, sum(x, &[2]), &[]), expected);
    assert_eq!(run(&b, sum(x, &[0, 1]), &[]), "s32[3]{0} {20, 28, 36}");
    assert_eq!(run(&b, sum(x, &[0, 1, 2]), &[]), "s32[] 84");
    assert_eq!(run(&b, x.reduce_all(0, |a, c| a + c), &[]), "s32[] 84");
}

#[test]
fn reduce_window() {
    // The page's program; the input counts from 0, so that each maximum is the last element under
    // its window.
    let b = Builder::new("reduce_window_2x3");
    let input = b.iota("f32[24]", 0).reshape(&[4, 6]);
    let top = |strides: &[i64]| {
        input.reduce_window(f64::NEG_INFINITY, Value::max, &[2, 3], strides, Padding::Valid)
    };
    assert_eq!(run(&b, top(&[2, 3]), &[]), "f32[2,2]{1,0} { { 8, 11 }, { 20, 23 } }");
    let expected = "f32[3,4]{1,0} { { 8, 9, 10, 11 }, { 14, 15, 16, 17 }, { 20, 21, 22, 23 } }";
    assert_eq!(run(&b, top(&[1, 1]), &[]), expected);
}

#[test]
fn select_and_scatter() {
    let b = Builder::new("select_and_scatter");
    let source = b.constant([[2f32, 6.], [3., 1.]]);
    // Figure 1: windows side by side.
    let x = b.constant([
        [7f32, 2., 5., 3., 10., 2.],
        [3., 8., 9., 3., 4., 2.],
        [1., 5., 7., 5., 6., 1.],
        [0., 6., 2., 7., 2., 8.],
    ]);
    let spread = x.select_and_scatter(
        |a, c| a.ge(c),
        &[2, 3],
        &[2, 3],
        Padding::Valid,
        source,
        0.0,
        |a, c| a + c,
    );
    let expected = "f32[4,6]{1,0} { { 0, 0, 0, 0, 6, 0 }, { 0, 0, 2, 0, 0, 0 }, { 0, 0, 3, 0, 0, 0 }, { 0, 0, 0, 0, 0, 1 } }";
    assert_eq!(run(&b, spread, &[]), expected);
    // Figure 2: windows overlap, and the 9 is selected by both above: 2 + 6.
    let x = b.constant([
        [7f32, 2., 5., 3., 8.],
        [3., 8., 9., 3., 4.],
        [1., 5., 7., 5., 6.],
        [0., 6., 2., 10., 2.],
    ]);
    let spread = x.select_and_scatter(
        |a, c| a.ge(c),
        &[2, 3],
        &[2, 2],
        Padding::Valid,
        source,
        0.0,
        |a, c| a + c,
    );
    let expected = "f32[4,5]{1,0} { { 0, 0, 0, 0, 0 }, { 0, 0, 8, 0, 0 }, { 0, 0, 3, 0, 0 }, { 0, 0, 0, 1, 0 } }";
    assert_eq!(run(&b, spread, &[]), expected);
}

#[test]
fn sort() {
    let b = Builder::new("sort");
    let (keys, values) = (b.constant([3i32, 1]), b.constant([42i32, 50]));
    let sorted = b.sort_by_first(&[keys, values], 0, false);
    assert_eq!(run(&b, sorted, &[]), "( s32[2]{0} {1, 3}, s32[2]{0} {50, 42} )");
    // Each column by itself, each row by itself.
    let x = b.constant([[3f32, 1., 2.], [2., 5., 1.]]);
    assert_eq!(run(&b, x.sort(0), &[]), "f32[2,3]{1,0} { { 2, 1, 1 }, { 3, 5, 2 } }");
    assert_eq!(run(&b, x.sort(1), &[]), "f32[2,3]{1,0} { { 1, 2, 3 }, { 1, 2, 5 } }");
}

#[test]
fn while_loop() {
    // A thousand times a constant vector.
    let b = Builder::new("while");
    let init = b.tuple(&[b.constant(0i32), b.constant([0f32; 10])]);
    let result = init.while_loop(
        |state| state.get_tuple_element(0).lt(1000),
        |state| {
            let b = state.builder();
            let iteration = state.get_tuple_element(0) + 1;
            let vector = state.get_tuple_element(1) + b.constant([0.5f32; 10]);
            b.tuple(&[iteration, vector])
        },
    );
    let expected = "( s32[] 1000, f32[10]{0} {500, 500, 500, 500, 500, 500, 500, 500, 500, 500} )";
    assert_eq!(run(&b, result, &[]), expected);
}

#[test]
fn call_and_conditional() {
    let b = Builder::new("call");
    let sum = b.computation("sum", &["s32[]", "s32[2]"], |p| p[1] + p[0]);
    let called = b.call(sum, &[b.constant(5i32), b.constant([1i32, 2])]);
    assert_eq!(run(&b, called, &[]), "s32[2]{0} {6, 7}");
    let pred = b.parameter(0, "pred[]", "chosen");
    let (one, two) = (b.constant(2f32), b.constant([1f32, 2., 3.]));
    let result = pred.conditional(one, |x| x * 10.0, two, |x| x.reduce(0.0, |a, c| a + c, &[0]));
    assert_eq!(run(&b, result, &["pred[] true"]), "f32[] 20");
    assert_eq!(run(&b, result, &["pred[] false"]), "f32[] 6");
}
