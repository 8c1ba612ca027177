//! Linear algebra: decompositions, systems of equations, determinants. The last two dimensions are
//! rows and columns, those before count independent problems.
//!
//! Decompositions are calls of LAPACK, as JAX makes them on a CPU, since XLA has no op for them:
//! the module runs on Etalon and on any XLA whose process has these functions. They are there for
//! `f32`, `f64`, `c64` and `c128`. Where LAPACK finds no solution the results are NaN.
//!
//! LU, `qr_explicit`, `self_adjoint_eig`, `svd` and `singular_values` have derivatives, as
//! composite calls that are known by name. They exist where JAX has them: where eigenvalues or
//! singular values are equal, their vectors have none.
mod eigen;
mod lapack;
pub(crate) mod lu;
mod qr;
mod solve;
mod tridiagonal;

pub use eigen::{SelfAdjointEig, Svd};
pub use lu::LuDecomposition;
pub use qr::QrDecomposition;
pub use tridiagonal::Tridiagonal;
