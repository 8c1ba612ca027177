//! Matrices: diagonals, triangles, products by label.
#![allow(clippy::unwrap_used, reason = "tests")]
use crate::support::{build, evaluate, near, reals, run};
use builder::matrix::{normalize_einsum, parse_einsum};
use builder::{Builder, Value};
use hlo::ElementType;

/// `s32[2,3]` 1 to 6.
fn counted(b: &Builder) -> Value<'_> {
    b.constant([[1i32, 2, 3], [4, 5, 6]])
}
#[track_caller]
fn whole(make: impl for<'b> FnOnce(&'b Builder, Value<'b>) -> Value<'b>) -> Vec<i64> {
    let b = Builder::new("matrix");
    let x = counted(&b);
    let result = evaluate(&b, make(&b, x), &[]);
    (0..result.len()).map(|i| result.get(i).as_i64().unwrap()).collect()
}

#[test]
fn diagonals() {
    assert_eq!(whole(|_, x| x.matrix_diagonal(0)), [1, 5]);
    assert_eq!(whole(|_, x| x.matrix_diagonal(1)), [2, 6]);
    assert_eq!(whole(|_, x| x.matrix_diagonal(2)), [3]);
    assert_eq!(whole(|_, x| x.matrix_diagonal(-1)), [4]);
    assert_eq!(whole(|_, x| x.transpose_in_minor_dims().matrix_diagonal(-1)), [2, 6]);
    for outside in [3, -2, i64::MAX, i64::MIN] {
        assert_eq!(whole(|_, x| x.matrix_diagonal(outside)), [0i64; 0], "{outside}");
        assert_eq!(whole(|_, x| x.matrix_diagonal_via_gather(outside)), [0i64; 0], "{outside}");
        assert_eq!(
            whole(|_, x| x.diagonal_mask(outside).convert_element_type(ElementType::S32)),
            [0; 6]
        );
    }
    for k in -1..=2 {
        let direct = whole(|_, x| x.matrix_diagonal(k));
        assert_eq!(whole(|_, x| x.matrix_diagonal_via_gather(k)), direct, "{k}");
    }
}
#[test]
fn diagonals_of_many_matrices() {
    let b = Builder::new("many");
    let x = b.constant([[[1i32, 2], [3, 4]], [[5, 6], [7, 8]]]);
    assert_eq!(run(&b, x.matrix_diagonal(0), &[]), "s32[2,2]{1,0} { { 1, 4 }, { 5, 8 } }");
    let y = x.matrix_diagonal_via_gather(-1);
    assert_eq!(run(&b, y, &[]), "s32[2,1]{1,0} { {3}, {7} }");
    let z = x.set_matrix_diagonal(b.constant([[9i32, 9], [0, 0]]), 0);
    assert_eq!(
        run(&b, z, &[]),
        "s32[2,2,2]{2,1,0} { { { 9, 2 }, { 3, 9 } }, { { 0, 6 }, { 7, 0 } } }"
    );
}
#[test]
fn diagonals_keep_nan_and_minus_zero() {
    let b = Builder::new("bits");
    let x = b.constant([[-0.0f32, 1.0], [2.0, f32::NAN]]);
    assert_eq!(run(&b, x.matrix_diagonal(0), &[]), "f32[2]{0} {-0, nan}");
}
#[test]
fn diagonals_are_set() {
    let set =
        |k, given: &'static [i32]| whole(move |b, x| x.set_matrix_diagonal(b.constant(given), k));
    assert_eq!(set(0, &[8, 9]), [8, 2, 3, 4, 9, 6]);
    assert_eq!(set(1, &[8, 9]), [1, 8, 3, 4, 5, 9]);
    assert_eq!(set(2, &[8]), [1, 2, 8, 4, 5, 6]);
    assert_eq!(set(-1, &[8]), [1, 2, 3, 8, 5, 6]);
    assert_eq!(set(3, &[]), [1, 2, 3, 4, 5, 6]);
    let b = Builder::new("m");
    let wrong = counted(&b).set_matrix_diagonal(b.constant([1i32, 2, 3]), 0);
    let error = b.build(wrong).unwrap_err();
    assert_eq!(error.number(), "E0801");
    assert!(error.help().unwrap().contains("s32[2]"), "{error}");
}
#[test]
fn triangles() {
    assert_eq!(whole(|_, x| x.lower_triangle()), [1, 0, 0, 4, 5, 0]);
    assert_eq!(whole(|_, x| x.upper_triangle()), [1, 2, 3, 0, 5, 6]);
    let mask = |k| whole(move |_, x| x.triangle_mask(k).convert_element_type(ElementType::S32));
    assert_eq!(mask(0), [1, 0, 0, 1, 1, 0]);
    assert_eq!(mask(1), [1, 1, 0, 1, 1, 1]);
    assert_eq!(mask(-1), [0, 0, 0, 1, 0, 0]);
    assert_eq!(whole(|b, _| b.identity_matrix(ElementType::S32, 3, 2)), [1, 0, 0, 1, 0, 0]);
    assert_eq!(whole(|_, x| x.maybe_transpose_in_minor_dims(true)), [1, 4, 2, 5, 3, 6]);
    assert_eq!(whole(|_, x| x.maybe_transpose_in_minor_dims(false)), [1, 2, 3, 4, 5, 6]);
}
#[test]
fn symmetric() {
    let b = Builder::new("symmetric");
    let x = b.constant([[1i32, 2], [3, 4]]);
    assert_eq!(run(&b, x.symmetrize(true), &[]), "s32[2,2]{1,0} { { 1, 3 }, { 3, 4 } }");
    assert_eq!(run(&b, x.symmetrize(false), &[]), "s32[2,2]{1,0} { { 1, 2 }, { 2, 4 } }");
    let b = Builder::new("hermitian");
    let (re, im) = (b.constant([[1f32, 2.], [3., 4.]]), b.constant([[5f32, 6.], [7., 8.]]));
    let y = re.complex(im).symmetrize(true);
    assert_eq!(run(&b, y.real(), &[]), "f32[2,2]{1,0} { { 1, 3 }, { 3, 4 } }");
    assert_eq!(run(&b, y.imag(), &[]), "f32[2,2]{1,0} { { 0, -7 }, { 7, 0 } }");
    let b = Builder::new("m");
    let wide = counted(&b).symmetrize(true);
    assert_eq!(b.build(wide).unwrap_err().number(), "E0801");
}

/// The einsum of some of `0: a[2,3]`, `1: c[3,2]`, `2: v[3]` and `3: s[2,2]`.
#[track_caller]
fn einsum(config: &str, which: &[usize]) -> String {
    let b = Builder::new("einsum");
    let arrays = [
        counted(&b),
        b.constant([[1i32, 0], [2, -1], [0, 3]]),
        b.constant([1i32, 10, 100]),
        b.constant([[1i32, 2], [3, 4]]),
    ];
    let operands: Vec<Value<'_>> = which.iter().map(|&i| arrays[i]).collect();
    run(&b, b.einsum(config, &operands), &[])
}
/// Expected: `numpy.einsum` of the same arrays.
#[test]
fn einsum_is_numpys() {
    assert_eq!(einsum("ij,jk->ik", &[0, 1]), "s32[2,2]{1,0} { { 5, 7 }, { 14, 13 } }");
    assert_eq!(einsum("ij, jk", &[0, 1]), "s32[2,2]{1,0} { { 5, 7 }, { 14, 13 } }");
    assert_eq!(einsum("ij,jk->ki", &[0, 1]), "s32[2,2]{1,0} { { 5, 14 }, { 7, 13 } }");
    assert_eq!(einsum("ij->ji", &[0]), "s32[3,2]{1,0} { { 1, 4 }, { 2, 5 }, { 3, 6 } }");
    assert_eq!(einsum("ba", &[0]), "s32[3,2]{1,0} { { 1, 4 }, { 2, 5 }, { 3, 6 } }");
    assert_eq!(einsum("ij->", &[0]), "s32[] 21");
    assert_eq!(einsum("ij->j", &[0]), "s32[3]{0} {5, 7, 9}");
    assert_eq!(einsum("ii->i", &[3]), "s32[2]{0} {1, 4}");
    assert_eq!(einsum("ii", &[3]), "s32[] 5");
    assert_eq!(einsum("ij,j->i", &[0, 2]), "s32[2]{0} {321, 654}");
    assert_eq!(einsum("ij,j->ij", &[0, 2]), "s32[2,3]{1,0} { { 1, 20, 300 }, { 4, 50, 600 } }");
    assert_eq!(einsum("j,j", &[2, 2]), "s32[] 10101");
    assert_eq!(einsum("j,i->", &[2, 2]), "s32[] 12321");
    assert_eq!(einsum("ij,k->jk", &[3, 2]), "s32[2,3]{1,0} { { 4, 40, 400 }, { 6, 60, 600 } }");
    assert_eq!(einsum("ij,jk,k->i", &[3, 0, 2]), "s32[2]{0} {1629, 3579}");
    assert_eq!(einsum("ij,jk,kl->il", &[3, 0, 1]), "s32[2,2]{1,0} { { 33, 33 }, { 71, 73 } }");
    assert_eq!(einsum("...j,...j->...", &[0, 0]), "s32[2]{0} {14, 77}");
    assert_eq!(einsum("...i,i->...", &[0, 2]), "s32[2]{0} {321, 654}");
}
/// Not numpy's: XLA's einsum fills diagonals of the result.
#[test]
fn einsum_fills_diagonals() {
    assert_eq!(einsum("i->ii", &[2]), "s32[3,3]{1,0} { { 1, 0, 0 }, { 0, 10, 0 }, { 0, 0, 100 } }");
    assert_eq!(
        einsum("ij->iji", &[3]),
        "s32[2,2,2]{2,1,0} { { { 1, 0 }, { 2, 0 } }, { { 0, 3 }, { 0, 4 } } }"
    );
}
/// Expected: `numpy.einsum`, which repeats dimensions of size 1 too.
#[test]
fn einsum_repeats_size_1() {
    let b = Builder::new("einsum_one");
    let (x, one) = (counted(&b), b.constant([[7i32, 8, 9]]));
    let y = b.einsum("ij,ij->ij", &[x, one]);
    assert_eq!(run(&b, y, &[]), "s32[2,3]{1,0} { { 7, 16, 27 }, { 28, 40, 54 } }");
    let y = b.einsum("...j,...j->...", &[one, x]);
    assert_eq!(run(&b, y, &[]), "s32[2]{0} {50, 122}");
    let y = b.einsum("ij,kj->", &[b.constant([[2i32], [3]]), x]);
    assert_eq!(run(&b, y, &[]), "s32[] 105");
    let (x, y) = (b.parameter(0, "f32[5,1,2,3]", "x"), b.parameter(1, "f32[4,3,2]", "y"));
    assert_eq!(x.batch_dot(y).dims().unwrap(), [5, 4, 2, 2]);
}
#[test]
fn einsum_of_floats_and_batches() {
    let b = Builder::new("batches");
    let x = b.constant([[[1f64, 2.], [3., 4.]], [[0., 1.], [-1., 0.]]]);
    let y = b.constant([[[1f64, 0.], [1., 1.]], [[2., 0.], [0., 2.]]]);
    let expected = [3.0, 2.0, 7.0, 4.0, 0.0, 2.0, -2.0, 0.0];
    near(&evaluate(&b, x.batch_dot(y), &[]), &expected, 0.0, 0.0);
    // x y^T, x^T y, by hand.
    let right = x.batch_dot_transposed(false, y, true);
    let found = reals(&evaluate(&b, right, &[]));
    assert_eq!(found, [1.0, 3.0, 3.0, 7.0, 0.0, 2.0, -2.0, 0.0]);
    let left = x.batch_dot_transposed(true, y, false);
    let found = reals(&evaluate(&b, left, &[]));
    assert_eq!(found, [4.0, 3.0, 6.0, 4.0, 0.0, -2.0, 2.0, 0.0]);
}
#[test]
fn einsum_by_label_numbers() {
    let b = Builder::new("labels");
    let dims = parse_einsum("ij,j->i", &[2, 1]).unwrap();
    let y = b.einsum_dims(&dims, &[counted(&b), b.constant([1i32, 1, 1])]);
    assert_eq!(run(&b, y, &[]), "s32[2]{0} {6, 15}");
}
/// What people get wrong, and what they are told.
#[test]
fn einsum_errors() {
    let told = |config: &str, ranks: &[usize], message: &str, help: &str| {
        let error = parse_einsum(config, ranks).unwrap_err();
        assert_eq!(error.number(), "E0801", "{error}");
        assert!(error.to_string().contains(message), "{config}: {error}");
        assert!(error.help().unwrap().contains(help), "{config}: {error}");
    };
    told("ij,jk->ik", &[2], "2 operands in the text, found 1", "commas");
    told("ijjk->ik", &[2, 2], "1 operand in the text, found 2", "commas");
    told("ij,jk->il", &[2, 2], "the result has `l`, which no operand has", "each label");
    told("ij,jk->ik->i", &[2, 2], "more than one `->`", "once");
    told("ij->i,j", &[2], "comma", "result");
    told("ij,jk>ik", &[2, 2], "`>` names no dimension", "`->`");
    told("ij,jk-ik", &[2, 2], "`-` names no dimension", "`->`");
    told("ij;jk->ik", &[2], "`;` names no dimension", "commas");
    told("..ij->ij", &[3], "`.` names no dimension", "three dots");
    told("i1->i", &[2], "`1` names no dimension", "letters");
    told("ijk,jk->i", &[2, 2], "`ijk` names 3 dimensions, operand 0 has 2", "one dimension");
    told("i,jk->ik", &[2, 2], "`i` names 1 dimension, operand 0 has 2", "`...`");
    told("...i...->i", &[3], "more than one `...`", "one");
    told("ij->...", &[2], "only the result has `...`", "operand");
    told("...ijk->i", &[2], "names 3 dimensions", "one dimension");
    let b = Builder::new("m");
    let y = b.einsum("ij,jk->ik", &[counted(&b), counted(&b)]);
    let error = b.build(y).unwrap_err();
    assert!(error.to_string().contains("`j` has the sizes 3 and 2"), "{error}");
}
#[test]
fn einsum_normal_form() {
    assert_eq!(normalize_einsum("ij,jk"), "ij,jk->ik");
    assert_eq!(normalize_einsum("zy,yx"), "zy,yx->xz");
    assert_eq!(normalize_einsum("...ij,...jk"), "...ij,...jk->...ik");
    assert_eq!(normalize_einsum(" i j -> j "), "ij->j");
    assert_eq!(normalize_einsum("ii"), "ii->");
}
#[test]
fn modules_of_matrices_are_valid_for_any_type() {
    for ty in ["bf16[3,3]", "c64[3,3]", "u8[3,3]", "pred[3,3]", "f8e4m3fn[3,3]"] {
        let b = Builder::new("types");
        let x = b.parameter(0, ty, "x");
        let parts = [x.matrix_diagonal(1), x.upper_triangle(), x.symmetrize(false)];
        build(&b, b.tuple(&parts));
    }
}
