//! Linear algebra: values of `jax.numpy.linalg` and `jax.lax.linalg` of jax 0.10.2 with 64-bit
//! floats, and defining equations.
#![allow(
    clippy::unwrap_used,
    clippy::unreadable_literal,
    reason = "tests; values as JAX prints them"
)]
use crate::support::{build, evaluate, near, run};
use builder::linalg::Tridiagonal;
use builder::{Builder, Value};

const A: [[f64; 3]; 3] = [[4., -2., 1.], [3., 6., -4.], [2., 1., 8.]];
const TALL: [[f64; 2]; 3] = [[1., 2.], [3., 4.], [5., 6.]];

/// Fails unless two arrays of one shape are as near as this.
#[track_caller]
fn same<'b>(b: &'b Builder, x: Value<'b>, y: Value<'b>, absolute: f64) {
    let apart = (x - y).abs();
    let all: Vec<i64> = (0i64..).take(apart.rank().unwrap()).collect();
    let most = evaluate(b, apart.reduce_max(&all), &[]).get(0).as_f64();
    assert!(most <= absolute, "{most:e}");
}

/// `jnp.linalg.qr(a)`, `jnp.linalg.qr(a, mode="complete")`
#[test]
fn qr() {
    let b = Builder::new("qr");
    let (q, r) = b.constant(TALL).qr_explicit(false);
    let expected = [
        -0.16903085094570325,
        0.8970852271450607,
        -0.50709255283711,
        0.27602622373694136,
        -0.8451542547285166,
        -0.34503277967117696,
    ];
    near(&evaluate(&b, q, &[]), &expected, 1e-13, 0.0);
    let expected = [-5.916079783099616, -7.437357441610946, 0.0, 0.828078671210825];
    near(&evaluate(&b, r, &[]), &expected, 1e-13, 0.0);
    let (q, r) = b.constant(TALL).qr_explicit(true);
    assert_eq!((q.dims().unwrap(), r.dims().unwrap()), (vec![3, 3], vec![3, 2]));
    let expected = [
        -0.16903085094570325,
        0.8970852271450607,
        0.4082482904638627,
        -0.50709255283711,
        0.27602622373694136,
        -0.8164965809277263,
        -0.8451542547285166,
        -0.34503277967117696,
        0.40824829046386313,
    ];
    near(&evaluate(&b, q, &[]), &expected, 1e-13, 0.0);
    same(&b, q.batch_dot(r), b.constant(TALL), 1e-14);
}
#[test]
fn qr_of_wide_and_many() {
    let b = Builder::new("qr_wide");
    let wide = b.constant([[[1., 3., 5.], [2., 4., 6.]], [[0., 1., 2.], [5., -1., 3.]]]);
    for full in [false, true] {
        let (q, r) = wide.qr_explicit(full);
        assert_eq!((q.dims().unwrap(), r.dims().unwrap()), (vec![2, 2, 2], vec![2, 2, 3]));
        same(&b, q.batch_dot(r), wide, 1e-14);
        let gram = q.batch_dot_transposed(true, q, false);
        same(
            &b,
            gram,
            b.identity_matrix(hlo::ElementType::F64, 2, 2).broadcast_to(&[2, 2, 2]),
            1e-15,
        );
    }
    let compact = wide.qr();
    let square = compact.q_and_r.slice_in_minor_dims(&[0, 0], &[2, 2]);
    let q = square.product_of_elementary_householder_reflectors(compact.taus);
    same(&b, q, wide.qr_explicit(false).0, 0.0);
    let wrong = wide.product_of_elementary_householder_reflectors(compact.taus);
    assert_eq!(b.build(wrong).unwrap_err().number(), "E0801");
}
/// `jax.lax.linalg.lu(a)` of two matrices at once, and of a tall one.
#[test]
fn lu() {
    let b = Builder::new("lu");
    let both = b.constant([A, [[0., 1., 2.], [1., 0., 3.], [4., -3., 8.]]]);
    let found = both.lu_decomposition();
    let expected = [
        4.0,
        -2.0,
        1.0,
        0.75,
        7.5,
        -4.75,
        0.5,
        0.26666666666666666,
        8.766666666666666,
        4.0,
        -3.0,
        8.0,
        0.0,
        1.0,
        2.0,
        0.25,
        0.75,
        -0.5,
    ];
    near(&evaluate(&b, found.lu, &[]), &expected, 1e-14, 0.0);
    assert_eq!(run(&b, found.pivots, &[]), "s32[2,3]{1,0} { { 0, 1, 2 }, { 2, 2, 2 } }");
    assert_eq!(run(&b, found.permutation, &[]), "s32[2,3]{1,0} { { 0, 1, 2 }, { 2, 0, 1 } }");
    let b = Builder::new("lu_tall");
    let tall = b.constant([[1., 2.], [5., 4.], [3., 7.]]).lu_decomposition();
    let expected = [5.0, 4.0, 0.6, 4.6, 0.2, 0.2608695652173913];
    near(&evaluate(&b, tall.lu, &[]), &expected, 1e-14, 0.0);
    assert_eq!(run(&b, tall.pivots, &[]), "s32[2]{0} {1, 2}");
    assert_eq!(run(&b, tall.permutation, &[]), "s32[3]{0} {1, 2, 0}");
}
/// `jnp.linalg.solve`, `inv`, `det`, `slogdet`
#[test]
fn systems() {
    let b = Builder::new("systems");
    let a = b.constant(A);
    let x = a.solve(b.constant([1., 2., 3.]));
    let expected = [0.34980988593155893, 0.32319391634980993, 0.24714828897338406];
    near(&evaluate(&b, x, &[]), &expected, 1e-14, 0.0);
    let expected = [
        0.19771863117870722,
        0.06463878326996197,
        0.007604562737642592,
        -0.12167300380228137,
        0.11406844106463877,
        0.07224334600760458,
        -0.034220532319391636,
        -0.030418250950570346,
        0.1140684410646388,
    ];
    near(&evaluate(&b, a.inv(), &[]), &expected, 1e-14, 1e-16);
    near(&evaluate(&b, a.det(), &[]), &[263.0], 1e-14, 0.0);
    near(&evaluate(&b, a.log_det(), &[]), &[5.572154032177764], 1e-14, 0.0);
}
#[test]
fn determinants_of_many() {
    let b = Builder::new("determinants");
    // 263 with two rows exchanged; 0; 10^400, which f64 does not hold, has a logarithm.
    let exchanged = [A[2], A[1], A[0]];
    let singular = [[1., 2., 3.], [2., 4., 6.], [0., 1., 1.]];
    let huge = [[1e200, 0., 0.], [0., 1e100, 0.], [0., 0., 1e100]];
    let a = b.constant([exchanged, singular, huge]);
    let (sign, log) = a.slog_det();
    near(&evaluate(&b, sign, &[]), &[-1.0, 0.0, 1.0], 0.0, 0.0);
    let far = 400.0 * std::f64::consts::LN_10;
    near(&evaluate(&b, log, &[]), &[5.572154032177764, f64::NEG_INFINITY, far], 1e-14, 0.0);
    let found = evaluate(&b, a.log_det(), &[]);
    near(&found, &[f64::NAN, f64::NEG_INFINITY, far], 1e-14, 0.0);
    near(&evaluate(&b, a.det(), &[]), &[-263.0, 0.0, f64::INFINITY], 1e-14, 0.0);
}
/// `jnp.linalg.solve`, `slogdet`, `eigh` of complex matrices.
#[test]
fn complex() {
    let b = Builder::new("complex");
    let a = b.constant([[1., 2.], [0., 3.]]).complex(b.constant([[1., 0.], [0.5, -1.]]));
    let x = a.solve(b.constant([1., 0.]).complex(b.constant([0., 1.])));
    near(&evaluate(&b, x.real(), &[]), &[9.0 / 17.0, -3.5 / 17.0], 1e-14, 0.0);
    near(&evaluate(&b, x.imag(), &[]), &[-15.0 / 17.0, 3.0 / 17.0], 1e-14, 0.0);
    let (sign, log) = a.slog_det();
    near(&evaluate(&b, sign.real(), &[]), &[0.9701425001453319], 1e-14, 0.0);
    near(&evaluate(&b, sign.imag(), &[]), &[0.24253562503633297], 1e-14, 0.0);
    near(&evaluate(&b, log, &[]), &[1.416606672028108], 1e-14, 0.0);
    let h = b.constant([[2., 0.], [0., 3.]]).complex(b.constant([[0., 1.], [-1., 0.]]));
    let eig = h.self_adjoint_eig(true);
    let root = 5f64.sqrt() / 2.0;
    near(&evaluate(&b, eig.w, &[]), &[2.5 - root, 2.5 + root], 1e-14, 0.0);
    let scaled = eig.v * eig.w.convert_element_type(hlo::ElementType::C128).along(&[1]);
    same(&b, scaled.batch_dot(eig.v.transpose_in_minor_dims().conj()), h, 1e-14);
    let svd = a.svd(true);
    let scaled = svd.u * svd.d.convert_element_type(hlo::ElementType::C128).along(&[1]);
    same(&b, scaled.batch_dot(svd.v.transpose_in_minor_dims().conj()), a, 1e-14);
    let (q, r) = a.qr_explicit(false);
    same(&b, q.batch_dot(r), a, 1e-14);
    assert_eq!(b.build(a.log_det()).unwrap_err().number(), "E0801");
}
/// `jnp.linalg.eigh`: 3 - sqrt 3, 3, 3 + sqrt 3.
#[test]
fn eigenvalues() {
    let b = Builder::new("eigh");
    let a = b.constant([[2., 1., 0.], [1., 3., 1.], [0., 1., 4.]]);
    let root = 3f64.sqrt();
    for lower in [true, false] {
        // What is not read may be anything.
        let half = a.triangle(lower) + a.triangle(!lower) * 0.0;
        let eig = half.self_adjoint_eig(lower);
        near(&evaluate(&b, eig.w, &[]), &[3.0 - root, 3.0, 3.0 + root], 1e-14, 0.0);
        let back = (eig.v * eig.w.along(&[1])).batch_dot_transposed(false, eig.v, true);
        same(&b, back, a, 1e-14);
    }
}
/// `jnp.linalg.svd`
#[test]
fn singular_values() {
    let b = Builder::new("svd");
    let a = b.constant([TALL, [[0., 0.], [2., 0.], [0., 0.]]]);
    let expected = [9.525518091565107, 0.5143005806586443, 2.0, 0.0];
    near(&evaluate(&b, a.singular_values(), &[]), &expected, 1e-14, 0.0);
    let thin = a.svd(false);
    near(&evaluate(&b, thin.d, &[]), &expected, 1e-14, 0.0);
    let scaled = thin.u * thin.d.along(&[0, 2]);
    same(&b, scaled.batch_dot_transposed(false, thin.v, true), a, 1e-14);
    let full = a.svd(true);
    assert_eq!((full.u.dims().unwrap(), full.v.dims().unwrap()), (vec![2, 3, 3], vec![2, 2, 2]));
    let gram = full.u.batch_dot_transposed(true, full.u, false);
    let identity = b.identity_matrix(hlo::ElementType::F64, 3, 3);
    same(&b, gram, identity.broadcast_to(&[2, 3, 3]), 1e-14);
    let wide = a.transpose_in_minor_dims().svd(false);
    assert_eq!((wide.u.dims().unwrap(), wide.v.dims().unwrap()), (vec![2, 2, 2], vec![2, 3, 2]));
    near(&evaluate(&b, wide.d, &[]), &expected, 1e-14, 0.0);
}
#[test]
fn nothing_at_all() {
    let b = Builder::new("empty");
    let a = b.parameter(0, "f64[0,0]", "a");
    let none = ["f64[0,0] {}"];
    assert_eq!(run(&b, a.det(), &none), "f64[] 1");
    assert_eq!(evaluate(&b, a.inv(), &none).len(), 0);
    assert_eq!(evaluate(&b, a.self_adjoint_eig(true).w, &none).len(), 0);
    let many = b.parameter(1, "f64[0,2,2]", "many");
    let both = ["f64[0,0] {}", "f64[0,2,2] {}"];
    assert_eq!(evaluate(&b, many.solve(many), &both).len(), 0);
    assert_eq!(evaluate(&b, many.svd(false).d, &both).len(), 0);
}
#[test]
fn calls_are_those_of_jax() {
    let b = Builder::new("call");
    let a = b.parameter(0, "f32[2,4,3]", "a");
    let text = build(&b, a.singular_values()).module().to_string();
    let expected = "custom_call_target=\"lapack_sgesdd_ffi\", operand_layout_constraints={f32[2,4,3]{1,2,0}}, api_version=API_VERSION_TYPED_FFI";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("backend_config={mode = 78 : ui8}"), "{text}");
    assert!(
        text.contains(
            "(f32[2,4,3]{1,2,0}, f32[2,3]{1,0}, f32[2,4,4]{1,2,0}, f32[2,3,3]{1,2,0}, s32[2]{0})"
        ),
        "{text}"
    );
}
#[test]
fn refusals() {
    let number = |shape: &str, make: fn(Value<'_>) -> Value<'_>| {
        let b = Builder::new("wrong");
        b.build(make(b.parameter(0, shape, "a"))).unwrap_err().number()
    };
    assert_eq!(number("f32[2,3]", |a| a.self_adjoint_eig(true).v), "E0801");
    assert_eq!(number("f32[2,3]", |a| a.inv()), "E0801");
    assert_eq!(number("f32[2,3]", |a| a.det()), "E0801");
    assert_eq!(number("f32[3]", |a| a.qr().taus), "E0801");
    assert_eq!(number("s32[2,2]", |a| a.svd(false).d), "E0801");
    assert_eq!(number("bf16[2,2]", |a| a.svd(false).d), "E0811");
    assert_eq!(
        number("f32[4,4]", |a| a.solve(a.slice_in_minor_dims(&[0], &[2]).reshape(&[2, 4]))),
        "E0801"
    );
}

/// The matrices of these three diagonals, whole.
#[test]
fn tridiagonal() {
    let b = Builder::new("tridiagonal");
    let nan = f64::NAN;
    let lower = b.constant([[[nan, 1., -1., 2.]], [[nan, 0., 3., 1.]]]);
    let main = b.constant([[[4., 5., 6., 7.]], [[2., -3., 8., 5.]]]);
    let upper = b.constant([[[1., 2., -2., nan]], [[1., 1., 1., nan]]]);
    let diagonals = Tridiagonal { lower, main, upper };
    // Row i: lower[i] x[i-1] + main[i] x[i] + upper[i] x[i+1], by hand, of x = 1, 2, 3, 4 and 1, 0,
    // -1, 2.
    let sides = b.constant([
        [[6., 17., 8., 34.], [4., -1., -10., 12.]],
        [[4., -3., 34., 23.], [2., -1., -6., 9.]],
    ]);
    let x = b.tridiagonal_solver(diagonals, sides);
    let expected = [1., 2., 3., 4., 1., 0., -1., 2.];
    near(&evaluate(&b, x, &[]), &[expected, expected].concat(), 1e-13, 1e-14);
    let back = b.tridiagonal_mat_mul(diagonals, x.transpose_in_minor_dims());
    same(&b, back.transpose_in_minor_dims(), sides, 1e-12);
    let rows = [upper, main, lower].map(|d| d.reshape(&[2, 4]));
    let stacked = rows.map(|d| d.broadcast_in_dim(&[2, 1, 4], &[0, 2]));
    let mask = b.constant([0i32, 1, 2]).broadcast_in_dim(&[2, 3, 4], &[1]);
    let spread = stacked.map(|d| d.broadcast_to(&[2, 3, 4]));
    let stacked = mask.eq(0).select(spread[0], mask.eq(1).select(spread[1], spread[2]));
    same(&b, b.tridiagonal_solver_stacked(stacked, sides), x, 0.0);
    let wrong = b.tridiagonal_solver_stacked(main, sides);
    assert_eq!(b.build(wrong).unwrap_err().number(), "E0801");
}
#[test]
fn tridiagonal_of_one_equation() {
    let b = Builder::new("tridiagonal_one");
    let (two, nan) = (b.constant([[2f32]]), b.constant([[f32::NAN]]));
    let diagonals = Tridiagonal { lower: nan, main: two, upper: nan };
    let x = b.tridiagonal_solver(diagonals, b.constant([[6f32], [8.]]));
    assert_eq!(run(&b, x, &[]), "f32[2,1]{1,0} { {3}, {4} }");
    let y = b.tridiagonal_mat_mul(diagonals, b.constant([[5f32, 7.]]));
    assert_eq!(run(&b, y, &[]), "f32[1,2]{1,0} { { 10, 14 } }");
    let wrong = b.tridiagonal_solver(diagonals, b.constant([[6f64]]));
    assert_eq!(b.build(wrong).unwrap_err().number(), "E0801");
}
