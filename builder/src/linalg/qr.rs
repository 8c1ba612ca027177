//! QR decompositions.
use super::lapack::{GEQRF, ORGQR, call, part};
use crate::arguments::{inexact, matrix, size};
use crate::loops::exactly;
use crate::ops::movement::elements;
use crate::{Error, Result, Value};

/// The result of [`Value::qr`]: LAPACK's compact form.
#[derive(Debug, Clone, Copy)]
pub struct QrDecomposition<'b> {
    /// `[.., m, n]`: on and above the diagonal R, below it the Householder vectors, whose first
    /// element is 1.
    pub q_and_r: Value<'b>,
    /// `[.., min(m, n)]`: the factors of the reflections `H_i = I - tau_i v_i v_i^H`.
    pub taus: Value<'b>,
}

impl<'b> Value<'b> {
    /// Returns the QR decomposition as reflections: XLA's `Qr`. `a[.., m, n] = Q R`,
    /// `Q = H_0 H_1 ..`.
    ///
    /// It is LAPACK's `geqrf`; diagonal elements of R may be negative.
    #[track_caller]
    pub fn qr(self) -> QrDecomposition<'b> {
        let [q_and_r, taus] = self.record_all(|_| decompose(self));
        QrDecomposition { q_and_r, taus }
    }
    /// Returns the first `n` columns of the product of the reflections whose vectors are below the
    /// diagonal of `self`, `[.., m, n]` with `n <= m`: XLA's
    /// `ProductOfElementaryHouseholderReflectors`.
    ///
    /// `taus[.., k]` are their factors, `k <= n`. It is LAPACK's `orgqr`.
    #[track_caller]
    pub fn product_of_elementary_householder_reflectors(self, taus: Self) -> Self {
        self.record(|_| product(self, taus))
    }
    /// Returns `(q, r)` with `a = q r`, `q` with orthonormal columns, `r` upper triangular: XLA's
    /// `QrExplicit`.
    ///
    /// Of `a[.., m, n]`, with `p = min(m, n)`, they are `[.., m, p]` and `[.., p, n]`, with
    /// `full_matrices` `[.., m, m]` and `[.., m, n]`. Signs are LAPACK's: diagonal elements of `r`
    /// may be negative.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let a = b.constant([[3f64, 1.], [4., 2.]]);
    /// let (q, r) = a.qr_explicit(false);
    /// let product = interp::run(&b.build(q.batch_dot(r))?, &[])?;
    /// let expected = [3.0, 1.0, 4.0, 2.0];
    /// assert!((0..4).all(|i| (product.get(i).as_f64() - expected[i]).abs() < 1e-14));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if it is no matrix of floats; `E0811` if LAPACK has no routine
    /// for the type.
    #[track_caller]
    pub fn qr_explicit(self, full_matrices: bool) -> (Self, Self) {
        let invalid = Value::invalid(self.builder());
        self.builder().record_or((invalid, invalid), |b| {
            let (m, n) = matrix(&self.array()?)?;
            inexact(&self.array()?, "a QR decomposition")?;
            let columns = if full_matrices { m } else { m.min(n) };
            let decomposed = b.library("qr", &[self], |a| explicit(a[0], columns));
            let [q, r] = exactly(elements(decomposed)?)?;
            Ok((q, r))
        })
    }
}

/// Returns the tuple of this many columns of Q, and as many rows of R.
fn explicit(a: Value<'_>, columns: i64) -> Result<Value<'_>> {
    let (b, shape) = (a.builder(), a.array()?);
    let [q_and_r, taus] = decompose(a)?;
    let (n, row) = (matrix(&shape)?.1, size(shape.rank()) - 2);
    let vectors = match columns > n {
        true => q_and_r.pad_in_dim(b.zero(shape.ty), row + 1, 0, columns - n),
        false => q_and_r.slice_in_dim(0, columns, 1, row + 1),
    };
    let r = q_and_r.slice_in_dim(0, columns, 1, row);
    Ok(b.tuple(&[product(vectors, taus)?, r.upper_triangle()]))
}
fn decompose(a: Value<'_>) -> Result<[Value<'_>; 2]> {
    let shape = a.array()?;
    inexact(&shape, "a QR decomposition")?;
    let (m, n) = matrix(&shape)?;
    let batch = &shape.dims[..shape.rank() - 2];
    let results = [part(shape.ty, batch, &[m, n]), part(shape.ty, batch, &[m.min(n)])];
    let given = call(a.builder(), GEQRF, &[(a, 2)], &results, "{}")?;
    exactly(given)
}
fn product<'b>(vectors: Value<'b>, taus: Value<'b>) -> Result<Value<'b>> {
    let (shape, factors) = (vectors.array()?, taus.array()?);
    inexact(&shape, "a product of reflections")?;
    let (m, n) = matrix(&shape)?;
    let batch = &shape.dims[..shape.rank() - 2];
    let fits = factors.ty == shape.ty
        && n <= m
        && matches!(factors.dims.split_last(), Some((&k, front)) if k <= n && front == batch);
    if !fits {
        let message = format!("vectors {shape:#} and factors {factors:#} are no reflections");
        return Err(Error::argument(message)
            .with_help("vectors [.., m, n] and factors [.., k], with k <= n <= m"));
    }
    let results = [part(shape.ty, batch, &[m, n])];
    let given = call(vectors.builder(), ORGQR, &[(vectors, 2), (taus, 1)], &results, "{}")?;
    let [q] = exactly(given)?;
    Ok(q)
}
