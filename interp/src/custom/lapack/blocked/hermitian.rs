//! `syevd` and `heevd`.
use super::super::number::LapackFloat;
use super::{Element, finite, memory, power};
use faer::diag::DiagMut;
use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par, Spec};

/// Returns the memory for `n` rows.
pub(super) fn request<S: Element>(n: usize) -> StackReq {
    self_adjoint_evd_scratch::<S>(n, ComputeEigenvectors::Yes, Par::Seq, Spec::default())
}

/// Returns the eigenvalues of a Hermitian matrix, of which one triangle is read, in ascending
/// order, and the eigenvectors if they are wanted.
pub(super) fn eigh<S: Element>(
    rows: &[S],
    n: usize,
    lower: bool,
    vectors_too: bool,
) -> Option<(Vec<f64>, Option<Mat<S>>)> {
    let power = power(rows);
    let a = Mat::from_fn(n, n, |i, j| {
        let x = if lower { rows[i * n + j] } else { rows[j * n + i].conjugate() };
        // LAPACK takes the diagonal to be real.
        let x = if i == j { S::narrow(S::Wide::real(x.wide().re())) } else { x };
        if i < j { S::zero_impl() } else { x.times(1.0 / power) }
    });
    let mut values = vec![S::zero_impl(); n];
    let mut vectors = vectors_too.then(|| Mat::zeros(n, n));
    let mut memory = memory(request::<S>(n));
    self_adjoint_evd(
        a.as_ref(),
        DiagMut::from_slice_mut(&mut values),
        vectors.as_mut().map(Mat::as_mut),
        Par::Seq,
        MemStack::new(&mut memory),
        Spec::default(),
    )
    .ok()?;
    let values: Vec<f64> = values.iter().map(|x| x.wide().re() * power).collect();
    let vectors = match vectors {
        Some(vectors) => Some(finite(vectors)?),
        None => None,
    };
    values.iter().all(|x| x.is_finite()).then_some((values, vectors))
}
