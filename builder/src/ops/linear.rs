//! Fourier transforms, triangular systems, Cholesky factors.
use crate::Value;
use hlo::op::value::{FftType, Transpose};
use hlo::op::{Cholesky, Fft, TriangularSolve};

/// Options of a triangular solve: XLA's `TriangularSolveOptions`.
///
/// The default solves `a x = b` with the lower triangle of `a` as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriangularSolveOptions {
    /// The matrix is on the left of the unknown: `a x = b`; otherwise `x a = b`.
    pub left_side: bool,
    /// The lower triangle is read; otherwise the upper.
    pub lower: bool,
    /// The diagonal is assumed to be 1 and is not read.
    pub unit_diagonal: bool,
    /// Whether the matrix is transposed.
    pub transpose_a: Transpose,
}

impl Default for TriangularSolveOptions {
    fn default() -> Self {
        Self { left_side: true, lower: true, unit_diagonal: false, transpose_a: Transpose::None }
    }
}

impl Value<'_> {
    /// Returns the Fourier transform of the last dimensions, one to three, whose sizes are
    /// `fft_length`: XLA's `Fft`.
    ///
    /// `Fft` sums `x[j] * exp(-2 pi i j k / n)`; `Ifft` is its inverse; `Rfft` gives the first
    /// `n / 2 + 1` numbers of the spectrum of real values, and `Irfft` goes back from those.
    ///
    /// ```
    /// use hlo::op::value::FftType;
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([1f32, 0.0, 0.0, 0.0]).fft(FftType::Rfft, &[4]))?, &[])?;
    /// assert_eq!(result.to_string(), "c64[3]{0} {(1, 0), (1, 0), (1, 0)}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn fft(self, fft_type: FftType, fft_length: &[i64]) -> Self {
        let op = Fft { fft_type, fft_length: fft_length.to_vec() };
        self.record(|b| b.emit(op, &[self], None))
    }
    /// Returns the solutions of triangular systems with matrices `self` and right-hand sides `rhs`:
    /// XLA's `TriangularSolve`.
    ///
    /// Both have matrices in their last two dimensions, in batches of the same sizes. The other
    /// triangle is not read. A zero on the diagonal gives infinities and NaN.
    ///
    /// ```
    /// use builder::options::TriangularSolveOptions;
    /// let b = builder::Builder::new("m");
    /// let (a, rhs) = (b.constant([[2f32, 0.0], [3.0, 4.0]]), b.constant([[2f32], [11.0]]));
    /// let result = interp::run(&b.build(a.triangular_solve(rhs, &TriangularSolveOptions::default()))?, &[])?;
    /// assert_eq!(result.to_string(), "f32[2,1]{1,0} { {1}, {2} }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn triangular_solve(self, rhs: Self, options: &TriangularSolveOptions) -> Self {
        let op = TriangularSolve {
            left_side: options.left_side,
            lower: options.lower,
            unit_diagonal: options.unit_diagonal,
            transpose_a: options.transpose_a,
        };
        self.record(|b| b.emit(op, &[self, rhs], None))
    }
    /// Returns the Cholesky factor of each matrix in the last two dimensions: XLA's `Cholesky`.
    ///
    /// With `lower` the lower triangle is read, and `l` with `a = l * adjoint(l)` is given;
    /// otherwise the upper one, and `u` with `a = adjoint(u) * u`. The other triangle of the result
    /// is 0. A matrix that is not positive definite gives NaN.
    #[track_caller]
    pub fn cholesky(self, lower: bool) -> Self {
        self.record(|b| b.emit(Cholesky { lower }, &[self], None))
    }
}
