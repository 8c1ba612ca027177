//! `geqrf`, `orgqr` and `ungqr` in blocks of columns, with the reflections of `exact`.
use super::super::number::LapackFloat;
use super::super::reflect::reflection;
use super::{Element, columns, finite};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use num::clock::Stop;

/// Columns of a block.
const BLOCK: usize = 32;

/// Returns the bytes of the blocks.
pub(super) fn bytes<S: Element>(m: usize, n: usize) -> usize {
    // `v`, its products with the matrix, and lists.
    (m + 2 * n + 4 * BLOCK).saturating_mul((BLOCK + 2) * size_of::<S>())
}

/// Returns `r` with the reflections below its diagonal, and their `tau`.
pub(super) fn geqrf<S: Element>(rows: &[S], (m, n): (usize, usize)) -> Option<(Mat<S>, Vec<S>)> {
    let mut a = columns(rows, (m, n));
    let steps = m.min(n);
    let mut taus = vec![S::zero_impl(); steps];
    let stop = Stop::current();
    for first in (0..steps).step_by(BLOCK).take_while(|_| !stop.is_set()) {
        let end = steps.min(first + BLOCK);
        let (left, right) = a.as_mut().split_at_col_mut(end);
        let mut panel = left.submatrix_mut(first, first, m - first, end - first);
        eliminate(panel.as_mut(), &mut taus[first..end]);
        let block = BlockReflector::new(panel.as_ref(), &taus[first..end]);
        block.apply(right.subrows_mut(first, m - first), true);
    }
    let a = finite(a)?;
    taus.iter().all(|x| x.wide().is_finite()).then_some((a, taus))
}

/// Returns the first columns of the product of the reflections.
pub(super) fn orgqr<S: Element>(rows: &[S], (m, n): (usize, usize), taus: &[S]) -> Option<Mat<S>> {
    let a = columns(rows, (m, n));
    let mut basis = Mat::<S>::identity(m, n);
    let stop = Stop::current();
    for first in (0..taus.len()).step_by(BLOCK).rev().take_while(|_| !stop.is_set()) {
        let taus = &taus[first..taus.len().min(first + BLOCK)];
        let block =
            BlockReflector::new(a.as_ref().submatrix(first, first, m - first, taus.len()), taus);
        block.apply(basis.as_mut().submatrix_mut(first, first, m - first, n - first), false);
    }
    finite(basis)
}

/// Eliminates the columns of a block one after another.
fn eliminate<S: Element>(mut a: MatMut<'_, S>, taus: &mut [S]) {
    let rows = a.nrows();
    for (k, tau) in taus.iter_mut().enumerate() {
        let below = (k + 1..rows).map(|i| a[(i, k)].wide());
        let found = reflection(a[(k, k)].wide(), below.clone());
        let (beta, turned) = (S::narrow(found.beta), S::narrow(found.tau));
        let mut v = Mat::<S>::zeros(rows - k, 1);
        v[(0, 0)] = S::one_impl();
        if found.tau != S::Wide::ZERO {
            below.enumerate().for_each(|(i, x)| v[(i + 1, 0)] = S::narrow(found.scaled(x)));
        }
        a[(k, k)] = beta;
        (k + 1..rows).for_each(|i| a[(i, k)] = v[(i - k, 0)]);
        *tau = turned;
        let rest = a.as_mut().get_mut(k.., k + 1..);
        let mut shares = Mat::<S>::zeros(1, rest.ncols());
        let one = S::one_impl();
        matmul(shares.as_mut(), Accum::Replace, v.adjoint(), rest.as_ref(), one, Par::Seq);
        let factor = S::narrow(-turned.wide().conj());
        matmul(rest, Accum::Add, v.as_ref(), shares.as_ref(), factor, Par::Seq);
    }
}

/// The product of reflections, `I - v t v^H`.
struct BlockReflector<S> {
    v: Mat<S>,
    t: Mat<S>,
}

impl<S: Element> BlockReflector<S> {
    /// `v` is below the diagonal of `a`.
    fn new(a: MatRef<'_, S>, taus: &[S]) -> Self {
        let (rows, cols) = a.shape();
        let v = Mat::from_fn(rows, cols, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => S::zero_impl(),
            std::cmp::Ordering::Equal => S::one_impl(),
            std::cmp::Ordering::Greater => a[(i, j)],
        });
        let mut inner = Mat::<S>::zeros(cols, cols);
        matmul(inner.as_mut(), Accum::Replace, v.adjoint(), v.as_ref(), S::one_impl(), Par::Seq);
        let mut t = Mat::<S>::zeros(cols, cols);
        for (j, tau) in taus.iter().enumerate() {
            t[(j, j)] = *tau;
            for i in 0..j {
                let terms = (i..j).map(|k| (t[(i, k)].wide(), inner[(k, j)].wide()));
                let sum = S::Wide::ZERO.minus_products(terms);
                t[(i, j)] = S::narrow(sum * tau.wide());
            }
        }
        Self { v, t }
    }
    /// Multiplies a matrix by it, or by its adjoint, from the left.
    fn apply(&self, a: MatMut<'_, S>, adjoint: bool) {
        let one = S::one_impl();
        let mut shares = Mat::<S>::zeros(self.v.ncols(), a.ncols());
        let mut turned = shares.clone();
        matmul(shares.as_mut(), Accum::Replace, self.v.adjoint(), a.as_ref(), one, Par::Seq);
        let (to, from) = (turned.as_mut(), shares.as_ref());
        match adjoint {
            true => matmul(to, Accum::Replace, self.t.adjoint(), from, one, Par::Seq),
            false => matmul(to, Accum::Replace, self.t.as_ref(), from, one, Par::Seq),
        }
        let minus = S::narrow(-S::Wide::ONE);
        matmul(a, Accum::Add, self.v.as_ref(), turned.as_ref(), minus, Par::Seq);
    }
}
