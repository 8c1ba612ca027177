//! Properties of decompositions that are not unique: factors multiply to the matrix, and bases are
//! orthonormal.
mod singular;

use super::direct::getrf;
use super::geev;
use super::jacobi::{eigh, svd};
use super::number::{Complex, LapackFloat, Matrix, Plain, hypot};
use super::reflect;
use super::schur::{HasSchur, eigenvalues};

/// Returns pseudorandom numbers from -1 to 1.
pub(super) fn drawn<N: LapackFloat>(rows: usize, cols: usize, seed: u64) -> Matrix<N> {
    let mut state = seed;
    let mut next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        f64::from(u32::try_from(state >> 33).unwrap()) / f64::from(1u32 << 30) - 1.0
    };
    let data = (0..rows * cols).map(|_| N::of(next(), next())).collect();
    Matrix { rows, cols, data }
}

/// Matrices that are difficult for the algorithms.
fn squares<N: LapackFloat>() -> Vec<Matrix<N>> {
    let mut all: Vec<_> = (0..9).map(|n| drawn(n, n, 7)).collect();
    all.push(drawn(30, 30, 1));
    all.push(drawn(67, 67, 2));
    all.push(Matrix::zeros(4, 4));
    all.push(Matrix::identity(5, 5));
    // Of rank 2.
    all.push(drawn::<N>(6, 2, 3).product(&drawn(2, 6, 4)));
    // A cyclic permutation, whose eigenvalues all have magnitude 1.
    let mut circle = Matrix::zeros(6, 6);
    (0..6).for_each(|i| circle[(i, (i + 1) % 6)] = N::ONE);
    all.push(circle);
    // A Jordan block: one eigenvector.
    let mut jordan = Matrix::identity(5, 5);
    (0..4).for_each(|i| jordan[(i, i + 1)] = N::ONE);
    all.push(jordan);
    // Rows of very different size.
    let mut graded: Matrix<N> = drawn(5, 5, 9);
    for i in 0..5 {
        (0..5).for_each(|j| {
            graded[(i, j)] = graded[(i, j)].times(1e-6f64.powi(i32::try_from(i).unwrap()));
        });
    }
    all.push(graded);
    all
}

fn close<N: LapackFloat>(found: &Matrix<N>, expected: &Matrix<N>) {
    assert_eq!((found.rows, found.cols), (expected.rows, expected.cols));
    let bound = 1e-13 * expected.largest().max(f64::MIN_POSITIVE);
    for (x, y) in found.data.iter().zip(&expected.data) {
        assert!((*x - *y).abs() <= bound, "{x:?} is not {y:?}");
    }
}
fn orthonormal<N: LapackFloat>(columns: &Matrix<N>) {
    close(&columns.adjoint().product(columns), &Matrix::identity(columns.cols, columns.cols));
}
fn diagonal<N: LapackFloat>(values: &[f64]) -> Matrix<N> {
    let mut result = Matrix::zeros(values.len(), values.len());
    values.iter().enumerate().for_each(|(i, &x)| result[(i, i)] = N::real(x));
    result
}

fn hermitian_multiplies_back<N: LapackFloat>() {
    for a in squares::<N>() {
        let a = reflect::hermitian(&a, true);
        let (values, vectors) = eigh(&a, true).unwrap();
        assert!(values.is_sorted());
        orthonormal(&vectors);
        close(&vectors.product(&diagonal(&values)).product(&vectors.adjoint()), &a);
    }
}

fn singular_values_multiply_back<N: LapackFloat>() {
    let mut all = squares::<N>();
    all.extend([drawn(7, 3, 5), drawn(3, 7, 5), drawn(4, 0, 5), Matrix::zeros(5, 2)]);
    for a in all {
        for full in [false, true] {
            let (u, values, vh) = svd(&a, full).unwrap();
            let small = a.rows.min(a.cols);
            assert!(values.is_sorted_by(|x, y| x >= y) && values.len() == small);
            assert_eq!(u.cols, if full { a.rows } else { small });
            assert_eq!(vh.rows, if full { a.cols } else { small });
            orthonormal(&u);
            orthonormal(&vh.adjoint());
            let v = vh.adjoint().columns(small);
            close(&u.columns(small).product(&diagonal(&values)).product(&v.adjoint()), &a);
        }
    }
}

fn schur_multiplies_back<N: HasSchur>() {
    for a in squares::<N>() {
        let (t, z) = N::schur(a.clone()).unwrap();
        orthonormal(&z);
        close(&z.product(&t).product(&z.adjoint()), &a);
        for i in 1..t.rows {
            assert!((0..i - 1).all(|j| t[(i, j)] == N::ZERO), "below the subdiagonal");
            if t[(i, i - 1)] == N::ZERO {
                continue;
            }
            assert!(N::of(0.0, 1.0) == N::ZERO, "a complex form is triangular");
            assert_eq!(t[(i, i)], t[(i - 1, i - 1)], "a block has equal diagonal elements");
            assert!(
                t[(i, i - 1)].re() * t[(i - 1, i)].re() < 0.0,
                "and off-diagonal elements of opposite signs"
            );
            assert!(i < 2 || t[(i - 1, i - 2)] == N::ZERO, "and does not touch the next one");
        }
    }
}

fn eigenvectors_are_ones<N: HasSchur>() {
    for a in squares::<N>() {
        let (t, z) = N::schur(a.clone()).unwrap();
        let values = eigenvalues(&t);
        let data = a.data.iter().map(|x| Complex::of(x.re(), x.im())).collect();
        let a = Matrix { rows: a.rows, cols: a.cols, data };
        let bound = 1e-13 * (1.0 + a.largest());
        let check = |a: &Matrix<Complex>, vectors: &Matrix<Complex>, conjugate: bool| {
            let image = a.product(vectors);
            for (k, &value) in values.iter().enumerate() {
                let value = if conjugate { value.conj() } else { value };
                let size = super::number::length(vectors.column(k));
                assert!((size - 1.0).abs() < 1e-13, "a length of {size}");
                for i in 0..a.rows {
                    let error = (image[(i, k)] - vectors[(i, k)] * value).abs();
                    assert!(error <= bound, "off by {error}");
                }
            }
        };
        check(&a, &geev::right(&t, &z), false);
        check(&a.adjoint(), &geev::left(&t, &z), true);
    }
}

#[test]
fn eigenvalues_of_hermitian_matrices() {
    hermitian_multiplies_back::<f64>();
    hermitian_multiplies_back::<Complex>();
    hermitian_multiplies_back::<Plain<f64>>();
    hermitian_multiplies_back::<Plain<Complex>>();
}

#[test]
fn singular_values() {
    singular_values_multiply_back::<f64>();
    singular_values_multiply_back::<Complex>();
    singular_values_multiply_back::<Plain<f64>>();
    singular_values_multiply_back::<Plain<Complex>>();
}

/// Returns the pivots.
fn factors_multiply_back<N: LapackFloat>((m, n): (usize, usize)) -> Vec<i32> {
    let a: Matrix<N> = drawn(m, n, 21);
    let (mut factors, size) = (a.clone(), m.min(n));
    let (pivots, info) = getrf(&mut factors);
    assert_eq!(info, 0);
    let (mut lower, mut upper) = (Matrix::identity(m, size), Matrix::zeros(size, n));
    for i in 0..m {
        (0..i.min(size)).for_each(|j| lower[(i, j)] = factors[(i, j)]);
        (i..n).for_each(|j| upper[(i.min(size - 1), j)] = factors[(i, j)]);
    }
    let mut exchanged = a;
    for (i, &pivot) in pivots.iter().enumerate() {
        exchanged.swap_rows(i, usize::try_from(pivot - 1).unwrap());
    }
    close(&lower.product(&upper), &exchanged);
    pivots
}

#[test]
fn factors_of_eliminations() {
    for sides in [(1, 1), (3, 3), (5, 2), (2, 5), (32, 32), (33, 33), (70, 100), (100, 70)] {
        let pivots = factors_multiply_back::<f64>(sides);
        assert_eq!(factors_multiply_back::<Plain<f64>>(sides), pivots);
        let pivots = factors_multiply_back::<Complex>(sides);
        assert_eq!(factors_multiply_back::<Plain<Complex>>(sides), pivots);
    }
}

#[test]
fn schur_forms() {
    schur_multiplies_back::<f64>();
    schur_multiplies_back::<Complex>();
}

#[test]
fn eigenvectors() {
    eigenvectors_are_ones::<f64>();
    eigenvectors_are_ones::<Complex>();
}

#[test]
fn sizes_far_from_one_neither_overflow_nor_vanish() {
    for scale in [1e-300, 1e-200, 1e200, 1e300] {
        let a = Matrix { rows: 2, cols: 2, data: vec![2.0 * scale, scale, scale, 2.0 * scale] };
        let (values, _) = eigh(&a, true).unwrap();
        assert!((values[1] / scale - 3.0).abs() < 1e-14, "{values:?}");
        let (_, values, _) = svd(&a, false).unwrap();
        assert!((values[0] / scale - 3.0).abs() < 1e-14, "{values:?}");
    }
}

#[test]
fn matrices_that_are_not_finite_have_no_decomposition() {
    let a = Matrix { rows: 1, cols: 1, data: vec![f64::NAN] };
    assert!(eigh(&a, true).is_none());
    assert!(svd(&a, true).is_none());
}

/// The elements that are NaN, row by row.
fn nans<N: LapackFloat>(a: &Matrix<N>) -> Vec<bool> {
    a.data.iter().map(|x| x.re().is_nan() || x.im().is_nan()).collect()
}

fn nan_spreads_as_in_lapack<N: LapackFloat>(bad: N) {
    for (i, j) in (0..4).flat_map(|i| (0..3).map(move |j| (i, j))) {
        let mut a: Matrix<N> = drawn(4, 3, 11);
        a[(i, j)] = bad;
        let taus = reflect::geqrf(&mut a);
        // The column of the NaN is eliminated to NaN, as is what later reflections reach.
        let expected = (0..12).map(|at| (at / 3, at % 3));
        let expected: Vec<bool> = expected.map(|(r, c)| c == j || c > j && r >= j).collect();
        assert_eq!(nans(&a), expected, "({i}, {j}): {a:?}");
        let taus = Matrix::vector(taus);
        assert_eq!(nans(&taus), [j == 0, j <= 1, true], "({i}, {j})");
    }
    let mut a: Matrix<N> = drawn(4, 4, 12);
    a[(2, 0)] = bad;
    let taus = reflect::gehrd(&mut a, 0, 3);
    assert!(!a[(0, 0)].re().is_nan() && a[(1, 0)].re().is_nan());
    // The last reflection has one element.
    assert_eq!(nans(&Matrix::vector(taus))[..2], [true; 2]);
    let mut a: Matrix<N> = drawn(4, 3, 13);
    a[(1, 1)] = bad;
    let taus = reflect::geqp3(&mut a, &mut [0, 0, 0]);
    assert!(nans(&Matrix::vector(taus)).contains(&true));
    for lower in [true, false] {
        // The corner where the elimination ends, and where it starts.
        let (last, first) = if lower { (0, 3) } else { (3, 0) };
        for at in [last, first] {
            let mut a = drawn::<N>(4, 4, 14);
            a = a.product(&a.adjoint());
            a[(at, at)] = N::real(f64::NAN);
            let (d, _, _) = reflect::sytrd(&mut a, lower);
            let found = d.iter().filter(|x| x.is_nan()).count();
            assert_eq!(found, if at == last { 1 } else { 3 }, "{lower} {at}: {d:?}");
            assert!(d[at].is_nan());
        }
        let mut a = drawn::<N>(4, 4, 15);
        let (i, j) = if lower { (2, 0) } else { (1, 3) };
        a[(i, j)] = bad;
        let (d, e, taus) = reflect::sytrd(&mut a, lower);
        assert_eq!(d.iter().filter(|x| x.is_nan()).count(), 3, "{d:?}");
        assert!(e.iter().all(|x| x.is_nan()));
        assert!(nans(&Matrix::vector(taus)).iter().filter(|&&nan| nan).count() >= 2);
    }
}

#[test]
fn nan_spreads_as_in_lapack_real() {
    nan_spreads_as_in_lapack(f64::NAN);
    nan_spreads_as_in_lapack(Plain(f64::NAN));
    assert!(hypot(f64::NAN, 1.0).is_nan() && hypot(1.0, f64::NAN).is_nan());
    assert!(hypot(f64::INFINITY, f64::NAN).is_nan());
}
#[test]
fn nan_spreads_as_in_lapack_complex() {
    nan_spreads_as_in_lapack(Complex::of(1.0, f64::NAN));
    nan_spreads_as_in_lapack(Complex::of(f64::NAN, 0.0));
    nan_spreads_as_in_lapack(Plain(Complex::of(1.0, f64::NAN)));
}
#[test]
fn infinities_end_in_nan() {
    // `tau` is infinity over infinity; rows at which nothing is reflected keep their values.
    let mut a: Matrix<f64> = drawn(4, 3, 11);
    a[(0, 0)] = f64::INFINITY;
    let taus = reflect::geqrf(&mut a);
    assert!(taus[0].is_nan() && !taus[1].is_nan());
    assert!(a[(0, 0)].is_infinite() && a[(0, 0)].is_sign_negative());
    assert_eq!(nans(&a), (0..12).map(|at| at == 1 || at == 2).collect::<Vec<_>>());
}

#[test]
fn complex_infinities_reflect_one_row() {
    // `beta` is infinite, so that all elements below are scaled by zero: the reflection changes
    // only the first row.
    for (i, bad) in
        [(0, (f64::INFINITY, 1.0)), (2, (f64::INFINITY, 0.0)), (3, (1.0, f64::INFINITY))]
    {
        let mut a: Matrix<Complex> = drawn(4, 3, 11);
        a[(i, 0)] = Complex::of(bad.0, bad.1);
        let taus = reflect::geqrf(&mut a);
        assert!(taus[0].re().is_nan() && taus[1].is_finite() && taus[2].is_finite());
        assert!((1..4).all(|i| a[(i, 0)] == Complex::ZERO), "{a:?}");
        assert!(a[(0, 0)].re().is_infinite());
        assert_eq!(nans(&a), (0..12).map(|at| at == 1 || at == 2).collect::<Vec<_>>());
    }
    let mut a: Matrix<Complex> = drawn(4, 4, 12);
    a[(3, 0)] = Complex::of(f64::INFINITY, 1.0);
    let taus = reflect::gehrd(&mut a, 0, 3);
    assert!(taus[0].re().is_nan() && a[(1, 0)].re().is_infinite());
    assert_eq!((a[(2, 0)], a[(3, 0)]), (Complex::ZERO, Complex::ZERO));
    assert!(!nans(&a)[0] && nans(&a)[1]);
}

#[test]
fn columns_of_nan_are_not_the_longest() {
    let mut a: Matrix<f64> = drawn(4, 3, 13);
    a[(1, 2)] = f64::NAN;
    let mut pivots = [0; 3];
    reflect::geqp3(&mut a, &mut pivots);
    assert_eq!(pivots[2], 3);
}
