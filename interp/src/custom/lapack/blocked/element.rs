//! The types of elements.
use super::super::number::{Complex, LapackFloat};
use super::super::schur::HasSchur;
use super::memory;
use bytemuck::Pod;
use faer::diag::DiagMut;
use faer::dyn_stack::{MemStack, StackReq};
use faer::linalg::evd::{ComputeEigenvectors, EvdError, evd_cplx, evd_real, evd_scratch};
use faer::traits::ComplexField;
use faer::{Mat, MatMut, MatRef, Par, c32, c64};
use hlo::literal::Native;
use num::single::to_f32;

/// Real and imaginary parts of eigenvalues.
pub(super) type Values = (Vec<f64>, Vec<f64>);

/// An element of a matrix.
pub(in super::super) trait Element: ComplexField<Real: Into<f64>> + Pod {
    /// The element as literals have it.
    type Stored: Native;
    /// The number that the algorithms of `exact` compute with.
    type Wide: HasSchur;
    /// The element with parts of f64.
    type Double: HasEigen<Wide = Self::Wide>;
    fn wide(self) -> Self::Wide;
    fn narrow(x: Self::Wide) -> Self;

    fn conjugate(self) -> Self {
        Self::narrow(self.wide().conj())
    }
    fn times(self, by: f64) -> Self {
        Self::narrow(self.wide().times(by))
    }
    fn is_complex() -> bool {
        Self::Wide::of(0.0, 1.0) != Self::Wide::ZERO
    }
}

/// An element of the matrices whose eigenvalues are computed.
pub(in super::super) trait HasEigen: Element {
    /// Returns the eigenvalues, and stores the eigenvectors in columns of any length. For a pair of
    /// complex eigenvalues of a real matrix, two columns hold the real and the imaginary part of
    /// the vector of the first.
    fn eigen(
        a: MatRef<'_, Self>,
        left: Option<MatMut<'_, Self>>,
        right: Option<MatMut<'_, Self>>,
    ) -> Result<Values, EvdError>;
    /// Returns the memory that `eigen` works in.
    fn request(n: usize) -> StackReq {
        let yes = ComputeEigenvectors::Yes;
        evd_scratch::<Self>(n, yes, yes, Par::Seq, faer::Spec::default())
    }
}

macro_rules! element {
    ($ty:ident, $stored:ty, $wide:ty, $double:ident, $from:expr, $to:expr) => {
        impl Element for $ty {
            type Stored = $stored;
            type Wide = $wide;
            type Double = $double;
            fn wide(self) -> $wide {
                $from(self)
            }
            fn narrow(x: $wide) -> Self {
                $to(x)
            }
        }
    };
}
element! { f32, Self, f64, f64, f64::from, to_f32 }
element! { f64, Self, f64, f64, f64::from, f64::from }
element! {
    c32, [f32; 2], Complex, c64,
    |x: Self| Complex::of(x.re.into(), x.im.into()),
    |x: Complex| Self::new(to_f32(x.re()), to_f32(x.im()))
}
element! {
    c64, [f64; 2], Complex, Self,
    |x: Self| Complex::of(x.re, x.im),
    |x: Complex| Self::new(x.re(), x.im())
}

impl HasEigen for f64 {
    fn eigen(
        a: MatRef<'_, Self>,
        left: Option<MatMut<'_, Self>>,
        right: Option<MatMut<'_, Self>>,
    ) -> Result<Values, EvdError> {
        let (mut re, mut im) = (vec![0.0; a.nrows()], vec![0.0; a.nrows()]);
        let mut memory = memory(Self::request(a.nrows()));
        evd_real(
            a,
            DiagMut::from_slice_mut(&mut re),
            DiagMut::from_slice_mut(&mut im),
            left,
            right,
            Par::Seq,
            MemStack::new(&mut memory),
            faer::Spec::default(),
        )?;
        Ok((re, im))
    }
}

impl HasEigen for c64 {
    fn eigen(
        a: MatRef<'_, Self>,
        left: Option<MatMut<'_, Self>>,
        right: Option<MatMut<'_, Self>>,
    ) -> Result<Values, EvdError> {
        let mut values = vec![Self::default(); a.nrows()];
        let mut memory = memory(Self::request(a.nrows()));
        evd_cplx(
            a,
            DiagMut::from_slice_mut(&mut values),
            left,
            right,
            Par::Seq,
            MemStack::new(&mut memory),
            faer::Spec::default(),
        )?;
        Ok(values.iter().map(|x| (x.re, x.im)).unzip())
    }
}

/// Returns the matrix in columns, divided by a power of two.
pub(super) fn divided<S: Element, T: Element<Wide = S::Wide>>(
    rows: &[S],
    (m, n): (usize, usize),
    power: f64,
) -> Mat<T> {
    Mat::from_fn(m, n, |i, j| T::narrow(rows[i * n + j].wide().times(1.0 / power)))
}
