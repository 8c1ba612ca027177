//! `potrf` and `trsm` of f32, in sums of f64 that are not compensated: 29 bits more than the result has are enough.
use super::direct::{Triangle, order};
use super::number::{Matrix, Number};
use crate::num::triangle::Panels;

/// As [`super::direct::potrf`].
pub(super) fn potrf<N: Number>(a: &mut Matrix<N>, lower: bool) -> i32 {
    let n = a.rows;
    // The upper factor is the transpose of the lower.
    let place = |i: usize, j: usize| if lower { (j, i) } else { (i, j) };
    let mut factor = Panels::new(n, n, |i, j| if i <= j { a[place(i, j)].re() } else { 0.0 });
    // A NaN is not positive either.
    let (done, info) = match factor.factor(n, |pivot| pivot > 0.0) {
        Ok(()) => (n, 0),
        Err((i, pivot)) => {
            a[(i, i)] = N::real(pivot);
            (i, order(i))
        }
    };
    for i in 0..done {
        for j in i..n {
            a[place(i, j)] = N::real(factor.at(i, j));
        }
    }
    info
}

/// As [`super::direct::trsm`].
pub(super) fn trsm<N: Number>(a: &Matrix<N>, b: &mut Matrix<N>, how: Triangle, right: bool) {
    // `x op(a) = b` is `op(a)^T x^T = b^T`.
    let transpose = how.transpose != right;
    let forward = how.lower != transpose;
    let (n, systems) = if right { (b.cols, b.rows) } else { (b.rows, b.cols) };
    // An upper triangle is a lower one, upside down.
    let row = |i: usize| if forward { i } else { n - 1 - i };
    let place = |i: usize, s: usize| if right { (s, row(i)) } else { (row(i), s) };
    let mut x = Panels::new(n, systems, |i, s| b[place(i, s)].re());
    x.solve(n, how.unit, |i, k| {
        let (i, k) = (row(i), row(k));
        if transpose { a[(k, i)].re() } else { a[(i, k)].re() }
    });
    for i in 0..n {
        for s in 0..systems {
            b[place(i, s)] = N::real(x.at(i, s));
        }
    }
}
