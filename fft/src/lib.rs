//! The transforms of `rustfft` and `realfft` for `f32` and `f64`.
//!
//! Their planners are generic and large: the crate that names the type of the numbers compiles every algorithm for it. This one
//! does so once; in the crate of the engines they would be a third of the machine code, compiled at each change and again for
//! its tests.
use realfft::RealFftPlanner;
pub use realfft::{ComplexToReal, FftNum, RealToComplex, num_complex, num_traits};
pub use rustfft::Fft;
use rustfft::FftPlanner;
use std::sync::Arc;

/// A type of numbers with transforms. None of them divides by the length.
///
/// ```
/// use fft::Number;
/// use fft::num_complex::Complex;
/// let mut line = [1.0f32, 2.0, 3.0, 4.0].map(Complex::from);
/// f32::forward(4).process(&mut line);
/// assert_eq!(line[0], Complex::new(10.0, 0.0));
/// assert_eq!(line[2], Complex::new(-2.0, 0.0));
/// ```
pub trait Number: FftNum {
    /// Returns the transform of lines of `n` complex numbers.
    fn forward(n: usize) -> Arc<dyn Fft<Self>>;
    /// Returns the inverse transform of lines of `n` complex numbers.
    fn inverse(n: usize) -> Arc<dyn Fft<Self>>;
    /// Returns the transform of lines of `n` real numbers to `n / 2 + 1` complex ones.
    fn half(n: usize) -> Arc<dyn RealToComplex<Self>>;
    /// Returns the inverse transform of `n / 2 + 1` complex numbers to lines of `n` real ones.
    fn whole(n: usize) -> Arc<dyn ComplexToReal<Self>>;
}

macro_rules! number {
    ($ty:ty) => {
        impl Number for $ty {
            fn forward(n: usize) -> Arc<dyn Fft<Self>> {
                FftPlanner::new().plan_fft_forward(n)
            }
            fn inverse(n: usize) -> Arc<dyn Fft<Self>> {
                FftPlanner::new().plan_fft_inverse(n)
            }
            fn half(n: usize) -> Arc<dyn RealToComplex<Self>> {
                RealFftPlanner::new().plan_fft_forward(n)
            }
            fn whole(n: usize) -> Arc<dyn ComplexToReal<Self>> {
                RealFftPlanner::new().plan_fft_inverse(n)
            }
        }
    };
}
number!(f32);
number!(f64);
