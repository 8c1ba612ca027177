//! Systems of equations, inverses, determinants.
use super::lu::{factors, parity, permuted};
use crate::arguments::{inexact, size, square};
use crate::options::TriangularSolveOptions;
use crate::{Error, Result, Value};
use hlo::op::Unary;

impl Value<'_> {
    /// Returns the solution `x` of `self x = rhs`: of `a[.., n, n]` and `rhs[.., n, k]` it is
    /// `[.., n, k]`, of `a[n, n]` and `rhs[n]` it is `[n]`.
    ///
    /// By an LU decomposition with partial pivoting. Of a singular matrix the result has infinities
    /// and NaN.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let a = b.constant([[2f64, 0.], [0., 4.]]);
    /// assert_eq!(interp::run(&b.build(a.solve(b.constant([1f64, 1.])))?, &[])?.to_string(), "f64[2]{0} {0.5, 0.25}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if matrices are not square or right sides do not fit; `E0811`
    /// if LAPACK has no routine for the type.
    #[track_caller]
    pub fn solve(self, rhs: Self) -> Self {
        self.record(|_| {
            let (shape, sides) = (self.array()?, rhs.array()?);
            let n = square(&shape)?;
            if sides.rank() == 1 && shape.rank() == 2 {
                let count = sides.dims[0];
                return Ok(self.solve(rhs.reshape(&[count, 1])).reshape(&[count]));
            }
            let front = shape.rank() - 2;
            let fits = sides.rank() == shape.rank()
                && sides.ty == shape.ty
                && sides.dims[..front] == shape.dims[..front]
                && sides.dims[front] == n;
            if !fits {
                let message = format!("right sides {sides:#} do not fit matrices {shape:#}");
                return Err(Error::argument(message)
                    .with_help("matrices [.., n, n], right sides [.., n, k] of the same type"));
            }
            let decomposed = self.lu_decomposition();
            let ordered = permuted(rhs, decomposed.permutation)?;
            let upper =
                TriangularSolveOptions { lower: false, ..TriangularSolveOptions::default() };
            let lower =
                TriangularSolveOptions { unit_diagonal: true, ..TriangularSolveOptions::default() };
            let half = decomposed.lu.triangular_solve(ordered, &lower);
            Ok(decomposed.lu.triangular_solve(half, &upper))
        })
    }
    /// Returns the inverses of square matrices, by [`Value::solve`].
    #[doc(alias = "inverse")]
    #[track_caller]
    pub fn inv(self) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            inexact(&shape, "an inverse")?;
            let n = square(&shape)?;
            let identity = b.identity_matrix(shape.ty, n, n);
            Ok(self.solve(identity.broadcast_to(&shape.dims)))
        })
    }
    /// Returns the determinants of square matrices: `[..]` of `[.., n, n]`.
    ///
    /// The product of the diagonal of an LU decomposition, which may overflow where
    /// [`Value::slog_det`] does not.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let a = b.constant([[1f64, 2.], [4., 4.]]);
    /// assert_eq!(interp::run(&b.build(a.det())?, &[])?.to_string(), "f64[] -4");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn det(self) -> Self {
        self.record(|_| {
            let (diagonal, parity, last) = diagonal(self)?;
            Ok(diagonal.reduce_prod(&[last]) * parity)
        })
    }
    /// Returns `(sign, log)` of the determinants, whose values are `sign * exp(log)`: XLA's
    /// `SLogDet`.
    ///
    /// The sign is 1, -1 or 0, of complex matrices a number of modulus 1; the logarithm, which is
    /// real, is minus infinity where the determinant is 0.
    #[track_caller]
    pub fn slog_det(self) -> (Self, Self) {
        let invalid = Value::invalid(self.builder());
        self.builder().record_or((invalid, invalid), |b| {
            let (diagonal, parity, last) = diagonal(self)?;
            let signs = b.emit(Unary::Sign, &[diagonal], None)?;
            Ok((signs.reduce_prod(&[last]) * parity, diagonal.abs().log().reduce_sum(&[last])))
        })
    }
    /// Returns the logarithms of the determinants of real matrices, NaN where they are negative:
    /// XLA's `LogDet`.
    #[track_caller]
    pub fn log_det(self) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            if shape.ty.is_complex() {
                let message = format!("`log_det` takes real matrices, found {shape:#}");
                return Err(Error::argument(message).with_help("use `slog_det`"));
            }
            let (sign, log) = self.slog_det();
            let nan = b.constant_r0_with_type(shape.ty, f64::NAN);
            Ok(sign.ge(b.zero(shape.ty)).select(log, crate::implicit::splat(nan, &log.array()?)?))
        })
    }
}

/// Returns the diagonal of U, 1 or -1 for each problem, and the number of the diagonal's dimension.
fn diagonal(a: Value<'_>) -> Result<(Value<'_>, Value<'_>, i64)> {
    let shape = a.array()?;
    square(&shape)?;
    let [lu, pivots] = factors(a)?;
    Ok((lu.matrix_diagonal(0), parity(pivots, shape.ty)?, size(shape.rank()) - 2))
}
