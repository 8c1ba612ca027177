//! The types of complex numbers.
use crate::complex::Complex;
use crate::single::to_f32;
use bytemuck::Pod;
use hlo::literal::Native;

/// A complex number in memory: its real and its imaginary part.
pub(super) trait ComplexElement: Native {
    type Part: Pod;
    fn wide(self) -> Complex;
    /// Rounds both parts.
    fn of(z: Complex) -> Self;
    fn part(x: f64) -> Self::Part;
}

macro_rules! complex_elements {
    ($($part:ident $round:expr;)*) => {$(
        impl ComplexElement for [$part; 2] {
            type Part = $part;
            #[inline(always)]
            fn wide(self) -> Complex {
                Complex { re: self[0].into(), im: self[1].into() }
            }
            #[inline(always)]
            fn of(z: Complex) -> Self {
                [Self::part(z.re), Self::part(z.im)]
            }
            #[inline(always)]
            fn part(x: f64) -> $part {
                $round(x)
            }
        }
    )*};
}
complex_elements! {
    f32 to_f32;
    f64 std::convert::identity;
}
