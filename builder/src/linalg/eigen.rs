//! Eigenvalues of self-adjoint matrices, singular values.
use super::lapack::{GESDD, SYEVD, call, or_nan, part};
use crate::arguments::{inexact, matrix, square};
use crate::loops::exactly;
use crate::ops::movement::elements;
use crate::{Result, Value};
use hlo::ElementType;

/// The result of [`Value::self_adjoint_eig`]: `a = v diag(w) v^H`.
#[derive(Debug, Clone, Copy)]
pub struct SelfAdjointEig<'b> {
    /// `[.., n, n]`: the eigenvectors, as columns, of length 1.
    pub v: Value<'b>,
    /// `[.., n]`: the eigenvalues, real, the smallest first.
    pub w: Value<'b>,
}

/// The result of [`Value::svd`]: `a = u diag(d) v^H`.
#[derive(Debug, Clone, Copy)]
pub struct Svd<'b> {
    /// `[.., m, min(m, n)]`, if full `[.., m, m]`: columns of length 1 that are orthogonal.
    pub u: Value<'b>,
    /// `[.., min(m, n)]`: the singular values, the largest first.
    pub d: Value<'b>,
    /// `[.., n, min(m, n)]`, if full `[.., n, n]`: columns of length 1 that are orthogonal.
    pub v: Value<'b>,
}

impl<'b> Value<'b> {
    /// Eigenvalues and eigenvectors of symmetric, or Hermitian, matrices: XLA's `SelfAdjointEig`.
    ///
    /// Of `a[.., n, n]` only the lower triangle (else the upper one) is read. It is LAPACK's
    /// `syevd` or `heevd`; signs and phases of the vectors are determined by nothing.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let a = b.constant([[2f64, 1.], [1., 2.]]);
    /// let values = interp::run(&b.build(a.self_adjoint_eig(true).w)?, &[])?;
    /// assert!((values.get(0).as_f64() - 1.0).abs() < 1e-14);
    /// assert!((values.get(1).as_f64() - 3.0).abs() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if matrices are not square or not of floats; `E0811` if LAPACK
    /// has no routine for the type.
    #[doc(alias = "eigh")]
    #[track_caller]
    pub fn self_adjoint_eig(self, lower: bool) -> SelfAdjointEig<'b> {
        let [v, w] = self.record_all(|b| {
            let shape = self.array()?;
            inexact(&shape, "an eigendecomposition")?;
            let n = square(&shape)?;
            let batch = &shape.dims[..shape.rank() - 2];
            let results = [
                part(shape.ty, batch, &[n, n]),
                part(shape.ty.component(), batch, &[n]),
                part(ElementType::S32, batch, &[]),
            ];
            let config = format!("{{mode = {} : ui8, uplo = {} : ui8}}", b'V', side(lower));
            let name = if lower { "eigh_lower" } else { "eigh_upper" };
            let decomposed = b.library(name, &[self], |a| {
                let [v, w, info] = exactly(call(b, SYEVD, &[(a[0], 2)], &results, &config)?)?;
                let fine = info.eq(0);
                Ok(b.tuple(&[or_nan(v, fine)?, or_nan(w, fine)?]))
            });
            exactly(elements(decomposed)?)
        });
        SelfAdjointEig { v, w }
    }
    /// Returns the singular value decomposition: XLA's `SVD`. `a[.., m, n] = u diag(d) v^H`.
    ///
    /// It is LAPACK's `gesdd`. With `full_matrices` `u` and `v` are square. Signs and phases of the
    /// vectors are determined by nothing.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let a = b.constant([[3f64, 0.], [0., -4.], [0., 0.]]);
    /// let values = interp::run(&b.build(a.svd(false).d)?, &[])?;
    /// assert!((values.get(0).as_f64() - 4.0).abs() < 1e-14);
    /// assert!((values.get(1).as_f64() - 3.0).abs() < 1e-14);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if it is no matrix of floats; `E0811` if LAPACK has no routine
    /// for the type.
    #[track_caller]
    pub fn svd(self, full_matrices: bool) -> Svd<'b> {
        let mode = if full_matrices { b'A' } else { b'S' };
        let [u, d, v] = self.record_all(|b| {
            checked(self)?;
            let decomposed = b.library("svd", &[self], |a| {
                let [u, d, vh, info] = gesdd(a[0], mode)?;
                let fine = info.eq(0);
                let v = vh.transpose_in_minor_dims().conj();
                Ok(b.tuple(&[or_nan(u, fine)?, or_nan(d, fine)?, or_nan(v, fine)?]))
            });
            exactly(elements(decomposed)?)
        });
        Svd { u, d, v }
    }
    /// Returns the singular values alone, the largest first: `[.., min(m, n)]` of `[.., m, n]`.
    #[track_caller]
    pub fn singular_values(self) -> Self {
        self.record(|b| {
            checked(self)?;
            Ok(b.library("singular_values", &[self], |a| {
                let [_, d, _, info] = gesdd(a[0], b'N')?;
                or_nan(d, info.eq(0))
            }))
        })
    }
}

/// Returns LAPACK's letter for a triangle.
fn side(lower: bool) -> u8 {
    if lower { b'L' } else { b'U' }
}
/// Fails unless it has singular values.
fn checked(a: Value<'_>) -> Result<()> {
    let shape = a.array()?;
    inexact(&shape, "a singular value decomposition")?;
    matrix(&shape).map(|_| ())
}
/// Returns `u`, the singular values, `v^H` and whether it went well. Mode `A` is all of `u` and
/// `v`, `S` what belongs to a singular value, `N` none, which are there nevertheless.
fn gesdd(a: Value<'_>, mode: u8) -> Result<[Value<'_>; 4]> {
    let shape = a.array()?;
    let (m, n) = matrix(&shape)?;
    let p = m.min(n);
    let (left, right) = if mode == b'S' { (p, p) } else { (m, n) };
    let batch = &shape.dims[..shape.rank() - 2];
    let results = [
        part(shape.ty, batch, &[m, n]),
        part(shape.ty.component(), batch, &[p]),
        part(shape.ty, batch, &[m, left]),
        part(shape.ty, batch, &[right, n]),
        part(ElementType::S32, batch, &[]),
    ];
    let config = format!("{{mode = {mode} : ui8}}");
    let [_, d, u, vh, info] = exactly(call(a.builder(), GESDD, &[(a, 2)], &results, &config)?)?;
    Ok([u, d, vh, info])
}
