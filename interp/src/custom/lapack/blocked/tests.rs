//! Residuals of the decompositions, and their agreement with those of `exact`.
use super::super::number::{Complex, LapackFloat, Matrix};
use super::super::{direct, jacobi, reflect};
use super::{Element, elimination, general, hermitian, reflections, singular};
use faer::{Mat, MatRef, c32, c64};

/// The rounding error of an element type.
fn unit<S: Element>() -> f64 {
    if S::narrow(S::Wide::real(1.0 + 1e-10)) == S::one_impl() {
        2f64.powi(-24)
    } else {
        2f64.powi(-53)
    }
}

fn rounded<S: Element>(a: &Matrix<S::Wide>) -> Vec<S> {
    a.data.iter().map(|&x| S::narrow(x)).collect()
}

fn matrix<S: Element>(a: MatRef<'_, S>) -> Mat<c64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| {
        let x = a[(i, j)].wide();
        c64::new(x.re(), x.im())
    })
}
fn of_rows<S: Element>(rows: &[S], (m, n): (usize, usize)) -> Mat<c64> {
    matrix(MatRef::from_row_major_slice(rows, m, n))
}
fn diagonal(values: &[f64]) -> Mat<c64> {
    let n = values.len();
    Mat::from_fn(n, n, |i, j| if i == j { c64::new(values[i], 0.0) } else { c64::default() })
}

/// Checks that two matrices agree within `bound` units of the largest element.
fn close<S: Element>(found: &Mat<c64>, expected: &Mat<c64>, what: &str) {
    assert_eq!(found.shape(), expected.shape(), "{what}");
    let (m, n) = found.shape();
    let sizes = || (0..n).flat_map(|j| (0..m).map(move |i| (i, j)));
    let largest = sizes().map(|at| expected[at].norm()).fold(0.0, f64::max);
    let error = sizes().map(|at| (found[at] - expected[at]).norm()).fold(0.0, f64::max);
    let size = f64::from(u32::try_from(m.max(n)).unwrap());
    let bound = 8.0 * size * unit::<S>() * largest;
    assert!(error <= bound, "{what} {m} x {n}: {error:e}, at most {bound:e}");
}
fn orthonormal<S: Element>(columns: &Mat<c64>, what: &str) {
    let product = columns.adjoint() * columns;
    close::<S>(&product, &Mat::identity(columns.ncols(), columns.ncols()), what);
}

/// Random, graded and rank-deficient matrices, and one with equal columns of zeros.
fn cases<N: LapackFloat>(m: usize, n: usize) -> Vec<(&'static str, Matrix<N>)> {
    let random: Matrix<N> = super::super::tests::drawn(m, n, 5);
    let mut graded = random.clone();
    for i in 0..m {
        let factor = 10f64.powf(
            -6.0 * f64::from(u32::try_from(i).unwrap()) / f64::from(u32::try_from(m).unwrap()),
        );
        (0..n).for_each(|j| graded[(i, j)] = graded[(i, j)].times(factor));
    }
    let left = super::super::tests::drawn::<N>(m, 3, 8);
    let deficient = left.product(&super::super::tests::drawn(3, n, 9));
    let mut small = random.clone();
    small.scale(1e-30);
    let mut large = random.clone();
    large.scale(1e30);
    vec![
        ("random", random),
        ("graded", graded),
        ("of rank 3", deficient),
        ("identity", Matrix::identity(m, n)),
        ("zero", Matrix::zeros(m, n)),
        ("small", small),
        ("large", large),
    ]
}

const SIZES: [(usize, usize); 7] =
    [(1, 1), (2, 2), (63, 63), (64, 64), (65, 65), (100, 70), (70, 100)];

fn eliminates<S: Element>() {
    for (m, n) in SIZES {
        for (what, a) in cases::<S::Wide>(m, n) {
            let rows = rounded::<S>(&a);
            let is_singular = ["of rank 3", "zero"].contains(&what) && m > 3 || what == "zero";
            let Some((factors, pivots)) = elimination::getrf(&rows, (m, n)) else {
                assert!(is_singular, "{what} {m} x {n}");
                continue;
            };
            let p = m.min(n);
            let factors = matrix(factors.as_ref());
            let lower = Mat::from_fn(m, p, |i, j| match i.cmp(&j) {
                std::cmp::Ordering::Less => c64::default(),
                std::cmp::Ordering::Equal => c64::new(1.0, 0.0),
                std::cmp::Ordering::Greater => factors[(i, j)],
            });
            let upper =
                Mat::from_fn(p, n, |i, j| if i <= j { factors[(i, j)] } else { c64::default() });
            let mut order: Vec<usize> = (0..m).collect();
            for (i, &pivot) in pivots.iter().enumerate() {
                order.swap(i, usize::try_from(pivot - 1).unwrap());
            }
            let a = of_rows(&rows, (m, n));
            let exchanged = Mat::from_fn(m, n, |i, j| a[(order[i], j)]);
            close::<S>(&(lower * upper), &exchanged, what);
            if what == "random" && unit::<S>() < 1e-10 {
                let mut exact =
                    Matrix { rows: m, cols: n, data: rows.iter().map(|x| x.wide()).collect() };
                assert_eq!(direct::getrf(&mut exact), (pivots, 0), "{m} x {n}");
            }
        }
    }
}

fn reflects<S: Element>() {
    for (m, n) in SIZES {
        for (what, a) in cases::<S::Wide>(m, n) {
            let rows = rounded::<S>(&a);
            let (factors, taus) = reflections::geqrf(&rows, (m, n)).unwrap();
            let p = m.min(n);
            let stored: Vec<S> = (0..m * p).map(|k| factors[(k / p, k % p)]).collect();
            let q = matrix(reflections::orgqr(&stored, (m, p), &taus).unwrap().as_ref());
            orthonormal::<S>(&q, what);
            let factors = matrix(factors.as_ref());
            let r =
                Mat::from_fn(p, n, |i, j| if i <= j { factors[(i, j)] } else { c64::default() });
            close::<S>(&(q * r), &of_rows(&rows, (m, n)), what);
            if ["random", "graded", "identity", "zero", "small", "large"].contains(&what) {
                let mut exact =
                    Matrix { rows: m, cols: n, data: rows.iter().map(|x| x.wide()).collect() };
                reflect::geqrf(&mut exact);
                let exact =
                    Mat::from_fn(m, n, |i, j| c64::new(exact[(i, j)].re(), exact[(i, j)].im()));
                let diagonal = |a: &Mat<c64>| Mat::from_fn(p, 1, |i, _| a[(i, i)]);
                // A short column at the end is what remains of a long one.
                if what != "graded" {
                    close_after::<S>(&diagonal(&factors), &diagonal(&exact), what);
                }
            }
        }
    }
}
/// As [`close`], for values that are as sensitive as the matrix is ill-conditioned.
fn close_after<S: Element>(found: &Mat<c64>, expected: &Mat<c64>, what: &str) {
    let wide = Mat::from_fn(found.nrows() * 40, 1, |i, _| {
        if i < found.nrows() { found[(i, 0)] } else { c64::default() }
    });
    let other = Mat::from_fn(found.nrows() * 40, 1, |i, _| {
        if i < found.nrows() { expected[(i, 0)] } else { c64::default() }
    });
    close::<S>(&wide, &other, what);
}

fn is_hermitian<S: Element>() {
    for n in [1, 2, 63, 64, 65, 200] {
        for (what, a) in cases::<S::Wide>(n, n) {
            let a = reflect::hermitian(&a, true);
            let rows = rounded::<S>(&a);
            let a = Matrix { rows: n, cols: n, data: rows.iter().map(|x| x.wide()).collect() };
            for lower in [true, false] {
                let (values, vectors) = hermitian::eigh(&rows, n, lower, true).unwrap();
                assert!(values.is_sorted(), "{what}");
                let vectors = matrix(vectors.unwrap().as_ref());
                orthonormal::<S>(&vectors, what);
                let product = &vectors * diagonal(&values) * vectors.adjoint();
                close::<S>(&product, &of_rows(&rows, (n, n)), what);
                let alone = hermitian::eigh(&rows, n, lower, false).unwrap().0;
                close::<S>(&diagonal(&alone), &diagonal(&values), what);
            }
            if n <= 65 {
                let (values, _) = hermitian::eigh(&rows, n, true, false).unwrap();
                let (exact, _) = jacobi::eigh(&a, true).unwrap();
                close::<S>(&diagonal(&values), &diagonal(&exact), what);
            }
        }
    }
}

fn has_singular_values<S: Element>() {
    for (m, n) in SIZES.into_iter().chain([(200, 200), (200, 65), (65, 200)]) {
        for (what, a) in cases::<S::Wide>(m, n) {
            let rows = rounded::<S>(&a);
            let p = m.min(n);
            for (us, vs) in [(p, p), (m, n)] {
                let (values, vectors) = singular::svd(&rows, (m, n), Some((us, vs))).unwrap();
                assert!(values.is_sorted_by(|x, y| x >= y) && values.len() == p, "{what}");
                let (u, v) = vectors.unwrap();
                let (u, v) = (matrix(u.as_ref()), matrix(v.as_ref()));
                assert_eq!((u.shape(), v.shape()), ((m, us), (n, vs)));
                orthonormal::<S>(&u, what);
                orthonormal::<S>(&v, what);
                let thin = |a: &Mat<c64>| a.as_ref().get(.., ..p).to_owned();
                let product = thin(&u) * diagonal(&values) * thin(&v).adjoint();
                close::<S>(&product, &of_rows(&rows, (m, n)), what);
            }
            if m * n <= 65 * 65 {
                let (values, _) = singular::svd(&rows, (m, n), None).unwrap();
                let a = Matrix { rows: m, cols: n, data: rows.iter().map(|x| x.wide()).collect() };
                let (_, exact, _) = jacobi::svd(&a, false).unwrap();
                close::<S>(&diagonal(&values), &diagonal(&exact), what);
            }
        }
    }
}

fn has_eigenvectors<S: Element>() {
    for n in [1, 2, 63, 64, 65, 200] {
        for (what, a) in cases::<S::Wide>(n, n) {
            let rows = rounded::<S>(&a);
            let a = of_rows(&rows, (n, n));
            let (values, left, right) = general::eig(&rows, n, true, true).unwrap();
            let complex = |a: Matrix<Complex>| {
                Mat::from_fn(n, n, |i, j| c64::new(a[(i, j)].re(), a[(i, j)].im()))
            };
            let (left, right) = (complex(left.unwrap()), complex(right.unwrap()));
            let values = Mat::from_fn(n, n, |i, j| match i == j {
                true => c64::new(values[i].re(), values[i].im()),
                false => c64::default(),
            });
            // A residual is as large as the matrix, though the values may all be small.
            let scaled = |x: Mat<c64>| x + &a;
            close::<S>(&scaled(&a * &right), &scaled(&right * &values), what);
            close::<S>(&scaled(a.adjoint() * &left), &scaled(&left * values.adjoint()), what);
            for vectors in [&left, &right] {
                for k in 0..n {
                    let length = vectors.as_ref().col(k).norm_l2();
                    assert!((length - 1.0).abs() < 8.0 * unit::<S>(), "{what}: {length}");
                }
            }
            for k in 0..n.saturating_sub(1) {
                let pair = !S::is_complex() && values[(k, k)].im > 0.0;
                assert!(!pair || values[(k + 1, k + 1)] == values[(k, k)].conj(), "{what}");
            }
        }
    }
}

macro_rules! for_all_types {
    ($($name:ident = $check:ident;)*) => {
        $(#[test]
        fn $name() {
            $check::<f32>();
            $check::<f64>();
            $check::<c32>();
            $check::<c64>();
        })*
    };
}
for_all_types! {
    factors_multiply_back = eliminates;
    reflections_multiply_back = reflects;
    hermitian_matrices = is_hermitian;
    singular_values = has_singular_values;
    eigenvectors = has_eigenvectors;
}
