//! Decompositions of singular matrices, also of very small and very large elements.
use super::super::geev;
use super::super::jacobi::{eigh, svd};
use super::super::number::{Complex, LapackFloat, Matrix, Plain, length};
use super::super::reflect;
use super::super::schur::{HasSchur, eigenvalues, schur};
use super::{diagonal, drawn, orthonormal};

/// Singular matrices, of which the first are integers.
fn singular<N: LapackFloat>(n: usize) -> Vec<Matrix<N>> {
    let of = |f: &dyn Fn(usize, usize) -> usize| {
        let data = (0..n * n).map(|at| f(at / n, at % n));
        let data = data.map(|x| N::real(f64::from(u32::try_from(x).unwrap()))).collect();
        Matrix::<N> { rows: n, cols: n, data }
    };
    let thin = |rows, cols, seed| {
        let mut a: Matrix<N> = drawn(rows, cols, seed);
        a.data.iter_mut().for_each(|x| *x = N::of((x.re() * 3.0).trunc(), (x.im() * 3.0).trunc()));
        a
    };
    let mut ones_times_small = of(&|_, _| 1);
    ones_times_small.scale(0.1);
    vec![
        of(&|_, _| 1),
        thin(n, 2, 3).product(&thin(2, n, 4)),
        thin(n, 1, 5).product(&thin(1, n, 6)),
        of(&|i, j| usize::from(2 * i / n == 2 * j / n)),
        of(&|i, j| (i + j) % 2),
        of(&|i, j| (i * j) % 3),
        of(&|i, j| i + j),
        of(&|i, j| usize::from(i < j)),
        of(&|i, j| usize::from(j == (i + 1) % n) * (1 + i % 3)),
        ones_times_small,
        drawn::<N>(n, 2, 8).product(&drawn(2, n, 9)),
        // One part is far smaller than the other.
        {
            let mut a = of(&|i, j| usize::from(2 * i / n == 2 * j / n));
            (0..n * n / 2).for_each(|at| a.data[at] = a.data[at].times(1e-200));
            a
        },
    ]
}

/// Calls `check` with singular matrices, as they are and scaled, and with the factors that take the
/// scale away, so that the products of the check neither overflow nor underflow.
fn each_singular<N: LapackFloat>(check: impl Fn(&Matrix<N>, &[f64])) {
    for n in 1..=45 {
        check(&Matrix { rows: n, cols: n, data: vec![N::ONE; n * n] }, &[]);
    }
    for n in [1, 2, 3, 4, 5, 6, 7, 8, 12, 20, 22, 29, 40] {
        for a in singular::<N>(n) {
            check(&a, &[]);
        }
    }
    for n in [1, 2, 5, 20] {
        for mut a in singular::<N>(n) {
            let mut tiny = a.clone();
            tiny.scale(1e-310);
            check(&tiny, &[2f64.powi(1000), 2f64.powi(29)]);
            a.scale(1e305);
            check(&a, &[2f64.powi(-1013)]);
        }
    }
}

fn rescaled<N: LapackFloat>(a: &Matrix<N>, factors: &[f64]) -> Matrix<N> {
    let mut a = a.clone();
    for &by in factors {
        a.scale(by);
    }
    a
}

/// Checks that two matrices differ by rounding errors, relative to all of the second and to one.
fn near<N: LapackFloat>(found: &Matrix<N>, expected: &Matrix<N>) {
    let size = length(expected.data.iter().copied());
    let count = f64::from(u32::try_from(expected.rows).unwrap());
    for (x, y) in found.data.iter().zip(&expected.data) {
        assert!((*x - *y).abs() <= 1e-13 * (size + count), "{x:?} is not {y:?}: {expected:?}");
    }
}

fn as_complex<N: LapackFloat>(a: &Matrix<N>) -> Matrix<Complex> {
    let data = a.data.iter().map(|x| Complex::of(x.re(), x.im())).collect();
    Matrix { rows: a.rows, cols: a.cols, data }
}

fn singular_matrices_have_singular_values<N: LapackFloat>() {
    each_singular::<N>(|a, factors| {
        for a in [a.clone(), a.columns(a.cols.div_ceil(2)), a.columns(a.cols / 2).adjoint()] {
            let (u, values, vh) = svd(&a, true).unwrap();
            assert!(values.is_sorted_by(|x, y| x >= y));
            orthonormal(&u);
            orthonormal(&vh.adjoint());
            let s = rescaled(&diagonal(&values), factors);
            let (u, v) = (u.columns(values.len()), vh.adjoint().columns(values.len()));
            near(&u.product(&s).product(&v.adjoint()), &rescaled(&a, factors));
        }
    });
}

fn singular_hermitian_matrices_have_eigenvalues<N: LapackFloat>() {
    each_singular::<N>(|a, factors| {
        let a = reflect::hermitian(a, true);
        let (values, vectors) = eigh(&a, true).unwrap();
        assert!(values.is_sorted());
        orthonormal(&vectors);
        let values = rescaled(&diagonal(&values), factors);
        near(&vectors.product(&values).product(&vectors.adjoint()), &rescaled(&a, factors));
    });
}

fn singular_matrices_have_schur_forms<N: HasSchur>() {
    each_singular::<N>(|a, factors| {
        let (mut t, z, power) = schur(a.clone()).unwrap();
        let (left, right) = (geev::left(&t, &z), geev::right(&t, &z));
        let mut values = Matrix::<Complex>::zeros(a.rows, a.rows);
        for (i, value) in eigenvalues(&t).into_iter().enumerate() {
            values[(i, i)] = value.times(power);
        }
        t.scale(power);
        let (t, values) = (rescaled(&t, factors), rescaled(&values, factors));
        let a = rescaled(a, factors);
        orthonormal(&z);
        near(&z.product(&t).product(&z.adjoint()), &a);
        let a = as_complex(&a);
        near(&a.product(&right), &right.product(&values));
        near(&a.adjoint().product(&left), &left.product(&values.adjoint()));
        for vectors in [left, right] {
            for k in 0..a.rows {
                assert!((length(vectors.column(k)) - 1.0).abs() < 1e-13);
            }
        }
    });
}

fn singular_matrices_are_reflected<N: LapackFloat>() {
    each_singular::<N>(|a, factors| {
        let mut h = a.clone();
        let taus = reflect::gehrd(&mut h, 0, a.rows - 1);
        let q = reflect::hessenberg_basis(&h, &taus);
        (0..a.rows).for_each(|j| (j + 2..a.rows).for_each(|i| h[(i, j)] = N::ZERO));
        orthonormal(&q);
        near(&q.product(&rescaled(&h, factors)).product(&q.adjoint()), &rescaled(a, factors));
        let mut r = a.clone();
        let taus = reflect::geqrf(&mut r);
        let q = reflect::orgqr(&r, &taus);
        (0..a.rows).for_each(|j| (j + 1..a.rows).for_each(|i| r[(i, j)] = N::ZERO));
        orthonormal(&q);
        near(&q.product(&rescaled(&r, factors)), &rescaled(a, factors));
    });
}

#[test]
fn blocks_far_smaller_than_the_matrix_have_eigenvectors() {
    let a =
        Matrix { rows: 3, cols: 3, data: vec![0.0, 1e-44, 1.0, -1e-28, 0.0, 1.0, 0.0, 0.0, 0.0] };
    let (t, z, _) = schur(a.clone()).unwrap();
    assert!(eigenvalues(&t)[0].im() > 0.0);
    for (a, vectors) in [(a.clone(), geev::right(&t, &z)), (a.adjoint(), geev::left(&t, &z))] {
        let image = as_complex(&a).product(&vectors);
        assert!(image.largest() < 1e-15, "all eigenvalues are tiny: {image:?}");
    }
}

#[test]
fn singular_matrices_real() {
    singular_matrices_have_singular_values::<f64>();
    singular_hermitian_matrices_have_eigenvalues::<f64>();
    singular_matrices_have_schur_forms::<f64>();
    singular_matrices_are_reflected::<f64>();
}
#[test]
fn singular_matrices_in_plain_sums() {
    singular_matrices_have_singular_values::<Plain<f64>>();
    singular_hermitian_matrices_have_eigenvalues::<Plain<f64>>();
    singular_matrices_are_reflected::<Plain<f64>>();
    singular_matrices_have_singular_values::<Plain<Complex>>();
    singular_hermitian_matrices_have_eigenvalues::<Plain<Complex>>();
    singular_matrices_are_reflected::<Plain<Complex>>();
}
#[test]
fn singular_matrices_complex() {
    singular_matrices_have_singular_values::<Complex>();
    singular_hermitian_matrices_have_eigenvalues::<Complex>();
    singular_matrices_have_schur_forms::<Complex>();
    singular_matrices_are_reflected::<Complex>();
}
