//! `gesdd` and `gesvd`.
use super::super::number::LapackFloat;
use super::element::divided;
use super::{Element, finite, memory, power};
use faer::diag::DiagMut;
use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::svd::{ComputeSvdVectors, svd as decompose, svd_scratch};
use faer::{Mat, Par, Spec};

/// Returns the memory for all vectors.
pub(super) fn request<S: Element>(m: usize, n: usize) -> StackReq {
    let full = ComputeSvdVectors::Full;
    svd_scratch::<S>(m, n, full, full, Par::Seq, Spec::default())
}

/// `u` and `v`.
pub(super) type Vectors<S> = (Mat<S>, Mat<S>);

/// Returns the singular values in descending order, and as many columns of `u` and `v`.
pub(super) fn svd<S: Element>(
    rows: &[S],
    (m, n): (usize, usize),
    counts: Option<(usize, usize)>,
) -> Option<(Vec<f64>, Option<Vectors<S>>)> {
    let power = power(rows);
    let a: Mat<S> = divided(rows, (m, n), power);
    let mut values = vec![S::zero_impl(); m.min(n)];
    let (mut u, mut v) = match counts {
        Some((us, vs)) => (Some(Mat::zeros(m, us)), Some(Mat::zeros(n, vs))),
        None => (None, None),
    };
    let mut memory = memory(request::<S>(m, n));
    decompose(
        a.as_ref(),
        DiagMut::from_slice_mut(&mut values),
        u.as_mut().map(Mat::as_mut),
        v.as_mut().map(Mat::as_mut),
        Par::Seq,
        MemStack::new(&mut memory),
        Spec::default(),
    )
    .ok()?;
    let values: Vec<f64> = values.iter().map(|x| x.wide().re() * power).collect();
    if !values.iter().all(|x| x.is_finite()) {
        return None;
    }
    let vectors = match (u, v) {
        (Some(u), Some(v)) => Some((finite(u)?, finite(v)?)),
        _ => None,
    };
    Some((values, vectors))
}
