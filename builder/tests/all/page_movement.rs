//! The worked examples of XLA's page of operation semantics, of ops that move elements, with its
//! numbers.
use crate::support::{refuses_on, run};
use builder::options::GatherDimensionNumbers;
use builder::{Builder, Value};

/// `f32[4x2x3]` of the page's chapters Collapse and Reshape.
fn v(b: &Builder) -> Value<'_> {
    b.constant([
        [[10f32, 11., 12.], [15., 16., 17.]],
        [[20., 21., 22.], [25., 26., 27.]],
        [[30., 31., 32.], [35., 36., 37.]],
        [[40., 41., 42.], [45., 46., 47.]],
    ])
}

#[test]
fn broadcast() {
    let b = Builder::new("broadcast");
    let twos = b.constant(2f32).broadcast(&[2, 3]);
    assert_eq!(run(&b, twos, &[]), "f32[2,3]{1,0} { { 2, 2, 2 }, { 2, 2, 2 } }");
}

#[test]
fn clamp() {
    let b = Builder::new("clamp");
    let operand = b.constant([-1i32, 5, 9]);
    let clamped = operand.clamp(b.constant(0i32), b.constant(6i32));
    assert_eq!(run(&b, clamped, &[]), "s32[3]{0} {0, 5, 6}");
}

#[test]
fn collapse() {
    let b = Builder::new("collapse");
    let flat = "f32[24]{0} {10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27, 30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47}";
    assert_eq!(run(&b, v(&b).collapse(&[0, 1, 2]), &[]), flat);
    let eight = "f32[8,3]{1,0} { { 10, 11, 12 }, { 15, 16, 17 }, { 20, 21, 22 }, { 25, 26, 27 }, { 30, 31, 32 }, { 35, 36, 37 }, { 40, 41, 42 }, { 45, 46, 47 } }";
    assert_eq!(run(&b, v(&b).collapse(&[0, 1]), &[]), eight);
    let four = "f32[4,6]{1,0} { { 10, 11, 12, 15, 16, 17 }, { 20, 21, 22, 25, 26, 27 }, { 30, 31, 32, 35, 36, 37 }, { 40, 41, 42, 45, 46, 47 } }";
    // The page of 2018 has the names of these two the wrong way round: the shapes say which is
    // which.
    assert_eq!(run(&b, v(&b).collapse(&[1, 2]), &[]), four);
}

#[test]
fn concatenate() {
    let b = Builder::new("concatenate");
    let parts = [b.constant([2i32, 3]), b.constant([4i32, 5]), b.constant([6i32, 7])];
    assert_eq!(run(&b, b.concat_in_dim(&parts, 0), &[]), "s32[6]{0} {2, 3, 4, 5, 6, 7}");
    let (x, y) = (b.constant([[1i32, 2], [3, 4], [5, 6]]), b.constant([[7i32, 8]]));
    let both = b.concat_in_dim(&[x, y], 0);
    let expected = "s32[4,2]{1,0} { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } }";
    assert_eq!(run(&b, both, &[]), expected);
}

#[test]
fn convert_element_type() {
    let b = Builder::new("convert");
    let floats = b.constant([0i32, 1, 2]).convert_element_type(hlo::ElementType::F32);
    assert_eq!(run(&b, floats, &[]), "f32[3]{0} {0, 1, 2}");
}

/// The two arrays of chapters Slice, `DynamicSlice` and `DynamicUpdateSlice`.
fn rows(b: &Builder) -> (Value<'_>, Value<'_>) {
    let a = b.constant([0.0f32, 1.0, 2.0, 3.0, 4.0]);
    let rows = [[0.0f32, 1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0, 8.0], [9.0, 10.0, 11.0]];
    (a, b.constant(rows))
}

#[test]
fn slice() {
    let b = Builder::new("slice");
    let (a, m) = rows(&b);
    assert_eq!(run(&b, a.slice(&[2], &[4], &[1]), &[]), "f32[2]{0} {2, 3}");
    let corner = m.slice(&[2, 1], &[4, 3], &[1, 1]);
    assert_eq!(run(&b, corner, &[]), "f32[2,2]{1,0} { { 7, 8 }, { 10, 11 } }");
}

#[test]
fn dynamic_slice() {
    let b = Builder::new("dynamic_slice");
    let (a, m) = rows(&b);
    // The page has one vector of indices; scalars, one for each dimension, are today's way.
    let s = b.parameter(0, "s32[1]", "s");
    assert_eq!(run(&b, a.dynamic_slice(&[s], &[2]), &["s32[1] {2}"]), "f32[2]{0} {2, 3}");
    let at = [b.constant(2i32), b.constant(1i32)];
    let corner =
        m.dynamic_slice(&at, &[2, 2]) + s.reshape(&[]).convert_element_type(hlo::ElementType::F32);
    assert_eq!(run(&b, corner, &["s32[1] {0}"]), "f32[2,2]{1,0} { { 7, 8 }, { 10, 11 } }");
}

#[test]
fn dynamic_update_slice() {
    let b = Builder::new("dynamic_update_slice");
    let (a, m) = rows(&b);
    let u = b.constant([5.0f32, 6.0]);
    let updated = a.dynamic_update_slice(u, &[b.constant([2i32])]);
    assert_eq!(run(&b, updated, &[]), "f32[5]{0} {0, 1, 5, 6, 4}");
    let u = b.constant([[12.0f32, 13.0], [14.0, 15.0], [16.0, 17.0]]);
    let updated = m.dynamic_update_slice(u, &[b.constant(1i32), b.constant(1i32)]);
    let expected = "f32[4,3]{1,0} { { 0, 1, 2 }, { 3, 12, 13 }, { 6, 14, 15 }, { 9, 16, 17 } }";
    assert_eq!(run(&b, updated, &[]), expected);
}

#[test]
fn gather_boxes() {
    // Five boxes [8,6] of [16,11]; the element at row i, column j is 100 i + j.
    let b = Builder::new("gather");
    let operand = b.iota("s32[16,11]", 0) * 100 + b.iota("s32[16,11]", 1);
    let places = b.constant([[0i64, 0], [8, 5], [3, 2], [1, 4], [7, 0]]);
    let numbers = GatherDimensionNumbers {
        offset_dims: vec![1, 2],
        start_index_map: vec![0, 1],
        index_vector_dim: 1,
        ..Default::default()
    };
    let boxes = operand.gather(places, &numbers, &[8, 6]);
    assert_eq!(boxes.dims().unwrap(), [5, 8, 6]);
    let first = boxes.slice(&[0, 0, 0], &[5, 1, 1], &[1, 1, 1]).reshape(&[5]);
    let last = boxes.slice(&[0, 7, 5], &[5, 8, 6], &[1, 1, 1]).reshape(&[5]);
    // First element [X, Y], last [X + 7, Y + 5].
    assert_eq!(run(&b, first, &[]), "s32[5]{0} {0, 805, 302, 104, 700}");
    assert_eq!(run(&b, last, &[]), "s32[5]{0} {705, 1510, 1007, 809, 1405}");
    // The same by indices of two batch dimensions.
    let numbers =
        GatherDimensionNumbers { offset_dims: vec![2, 3], index_vector_dim: 2, ..numbers };
    let boxes = operand.gather(places.broadcast(&[4]), &numbers, &[8, 6]);
    assert_eq!(boxes.dims().unwrap(), [4, 5, 8, 6]);
}

#[test]
fn gather_nd() {
    // Every index picks a whole row: boxes [1,11], whose first dimension is left out.
    let b = Builder::new("gather_nd");
    let operand = b.iota("s32[16,11]", 0) * 100 + b.iota("s32[16,11]", 1);
    let rows = b.constant([[[15i64], [2]], [[0], [7]]]);
    let numbers = GatherDimensionNumbers {
        offset_dims: vec![2],
        collapsed_slice_dims: vec![0],
        start_index_map: vec![0],
        index_vector_dim: 2,
        ..Default::default()
    };
    let picked = operand.gather(rows, &numbers, &[1, 11]);
    assert_eq!(picked.dims().unwrap(), [2, 2, 11]);
    let column = picked.slice_in_dim(10, 11, 1, 2).reshape(&[2, 2]);
    assert_eq!(run(&b, column, &[]), "s32[2,2]{1,0} { { 1510, 210 }, { 10, 710 } }");
}

#[test]
fn tuples() {
    let b = Builder::new("tuples");
    let v = b.constant([0f32, 1., 2., 3., 4., 5., 6., 7., 8., 9.]);
    let t = b.tuple(&[v, b.constant(5i32)]);
    assert_eq!(t.shape().unwrap().to_string(), "(f32[10]{0}, s32[])");
    assert_eq!(run(&b, t.get_tuple_element(1), &[]), "s32[] 5");
}

#[test]
fn reshape() {
    let b = Builder::new("reshape");
    let flat = "f32[24]{0} {10, 11, 12, 15, 16, 17, 20, 21, 22, 25, 26, 27, 30, 31, 32, 35, 36, 37, 40, 41, 42, 45, 46, 47}";
    assert_eq!(run(&b, v(&b).reshape(&[24]), &[]), flat);
    let eight = "f32[8,3]{1,0} { { 10, 11, 12 }, { 15, 16, 17 }, { 20, 21, 22 }, { 25, 26, 27 }, { 30, 31, 32 }, { 35, 36, 37 }, { 40, 41, 42 }, { 45, 46, 47 } }";
    assert_eq!(run(&b, v(&b).reshape(&[8, 3]), &[]), eight);
    // The page's list of dimensions is a transpose before the reshape.
    let turned = v(&b).transpose(&[1, 2, 0]);
    let flat = "f32[24]{0} {10, 20, 30, 40, 11, 21, 31, 41, 12, 22, 32, 42, 15, 25, 35, 45, 16, 26, 36, 46, 17, 27, 37, 47}";
    assert_eq!(run(&b, turned.reshape(&[24]), &[]), flat);
    let eight = "f32[8,3]{1,0} { { 10, 20, 30 }, { 40, 11, 21 }, { 31, 41, 12 }, { 22, 32, 42 }, { 15, 25, 35 }, { 45, 16, 26 }, { 36, 46, 17 }, { 27, 37, 47 } }";
    assert_eq!(run(&b, turned.reshape(&[8, 3]), &[]), eight);
    let six = "f32[2,6,2]{2,1,0} { { { 10, 20 }, { 30, 40 }, { 11, 21 }, { 31, 41 }, { 12, 22 }, { 32, 42 } }, { { 15, 25 }, { 35, 45 }, { 16, 26 }, { 36, 46 }, { 17, 27 }, { 37, 47 } } }";
    assert_eq!(run(&b, turned.reshape(&[2, 6, 2]), &[]), six);
    // One element is a scalar, and back.
    assert_eq!(run(&b, b.constant([[5f32]]).reshape(&[]), &[]), "f32[] 5");
    assert_eq!(run(&b, b.constant(5f32).reshape(&[1, 1]), &[]), "f32[1,1]{1,0} { {5} }");
}

#[test]
fn reshape_in_another_order() {
    let b = Builder::new("reshape_in_order");
    let flat = v(&b).reshape_in_order(&[0, 1, 2], &[24]);
    assert_eq!(run(&b, flat, &[]), run(&b, v(&b).reshape(&[24]), &[]));
    let turned = v(&b).reshape_in_order(&[1, 2, 0], &[24]);
    let expected = "f32[24]{0} {10, 20, 30, 40, 11, 21, 31, 41, 12, 22, 32, 42, 15, 25, 35, 45, 16, 26, 36, 46, 17, 27, 37, 47}";
    assert_eq!(run(&b, turned, &[]), expected);
    let turned = v(&b).reshape_in_order(&[1, 2, 0], &[2, 6, 2]);
    let expected = "f32[2,6,2]{2,1,0} { { { 10, 20 }, { 30, 40 }, { 11, 21 }, { 31, 41 }, { 12, 22 }, { 32, 42 } }, { { 15, 25 }, { 35, 45 }, { 16, 26 }, { 36, 46 }, { 17, 27 }, { 37, 47 } } }";
    assert_eq!(run(&b, turned, &[]), expected);
    assert_eq!(run(&b, b.constant([[5f32]]).reshape_in_order(&[0, 1], &[]), &[]), "f32[] 5");
    let one = b.constant(5f32).reshape_in_order(&[], &[1, 1]);
    assert_eq!(run(&b, one, &[]), "f32[1,1]{1,0} { {5} }");
    refuses_on([[1f32, 2.0]], "transpose", |_, x| x.reshape_in_order(&[0, 0], &[2]));
}

#[test]
fn rev() {
    let b = Builder::new("rev");
    let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    assert_eq!(run(&b, x.rev(&[1]), &[]), "s32[2,3]{1,0} { { 3, 2, 1 }, { 6, 5, 4 } }");
    assert_eq!(run(&b, x.rev(&[0, -1]), &[]), "s32[2,3]{1,0} { { 6, 5, 4 }, { 3, 2, 1 } }");
    assert_eq!(run(&b, x.rev(&[]), &[]), "s32[2,3]{1,0} { { 1, 2, 3 }, { 4, 5, 6 } }");
}

#[test]
fn select() {
    let b = Builder::new("select");
    let (v1, v2) = (b.constant([1i32, 2, 3, 4]), b.constant([100i32, 200, 300, 400]));
    let chosen = b.constant([true, false, false, true]).select(v1, v2);
    assert_eq!(run(&b, chosen, &[]), "s32[4]{0} {1, 200, 300, 4}");
    assert_eq!(run(&b, b.constant(true).select(v1, v2), &[]), "s32[4]{0} {1, 2, 3, 4}");
    let (t1, t2) = (b.tuple(&[v1, v2]), b.tuple(&[v2, v1]));
    let tuple = b.constant(false).select(t1, t2).get_tuple_element(0);
    assert_eq!(run(&b, tuple, &[]), "s32[4]{0} {100, 200, 300, 400}");
}

#[test]
fn transpose() {
    // input_dimensions[permutation[i]] = output_dimensions[i]
    let b = Builder::new("transpose");
    let turned = v(&b).transpose(&[1, 2, 0]);
    assert_eq!(turned.dims().unwrap(), [2, 3, 4]);
    let row = turned.slice(&[1, 2, 0], &[2, 3, 4], &[1, 1, 1]).reshape(&[4]);
    assert_eq!(run(&b, row, &[]), "f32[4]{0} {17, 27, 37, 47}");
}
