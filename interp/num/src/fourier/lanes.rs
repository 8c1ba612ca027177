//! Numbers at one index of several lines, each in a lane of vectors.
//!
//! A step of a transform computes with a few numbers, in a loop over the lanes: with copies of them,
//! so that the compiler knows that no lane changes another, and makes vectors of the loop.
use super::super::complex_of::{ComplexOf, Field};
use super::super::double_double::{DoubleDouble, Real};
use super::super::exact::{two_product, two_sum};
use super::super::single::Single;

/// A number that transforms compute with. Sums and products are not normalized.
pub trait LaneNumber: Real + Field + 'static {
    /// A number of each of `N` lines.
    type Many<const N: usize>: Copy + Send + Sync;
    /// Zeros.
    fn zeros<const N: usize>() -> Self::Many<N>;
    /// Returns the number in a lane.
    fn at<const N: usize>(many: &Self::Many<N>, lane: usize) -> Self;
    /// Sets the number in a lane.
    fn put<const N: usize>(self, many: &mut Self::Many<N>, lane: usize);
    /// Returns the sum.
    fn plus(self, other: Self) -> Self;
    /// Returns the product.
    fn times(self, other: Self) -> Self;
    /// Returns the half.
    fn half(self) -> Self;
}

macro_rules! native {
    ($number:ty, $half:expr) => {
        impl LaneNumber for $number {
            type Many<const N: usize> = [Self; N];
            #[inline(always)]
            fn zeros<const N: usize>() -> [Self; N] {
                [Self::ZERO; N]
            }
            #[inline(always)]
            fn at<const N: usize>(many: &[Self; N], lane: usize) -> Self {
                many[lane]
            }
            #[inline(always)]
            fn put<const N: usize>(self, many: &mut [Self; N], lane: usize) {
                many[lane] = self;
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn half(self) -> Self {
                self * $half
            }
        }
    };
}
native!(f64, 0.5);
native!(Single, Single(0.5));

/// Sums of two f64, of which the second may be some units in the last place of the first, or of
/// what the first lost to cancellation.
#[derive(Debug, Clone, Copy)]
pub struct Pairs<const N: usize> {
    hi: [f64; N],
    lo: [f64; N],
}

/// The error of a sum is at most `2 u^2` (u = 2^-53) times the magnitudes of all four parts, and
/// that of a product `5 u^2` times those of the factors, if one of them is normalized: as much as
/// of normalized numbers, relative to the largest numbers of a line, in a third of the operations
/// and without branches.
impl LaneNumber for DoubleDouble {
    type Many<const N: usize> = Pairs<N>;
    #[inline(always)]
    fn zeros<const N: usize>() -> Pairs<N> {
        Pairs { hi: [0.0; N], lo: [0.0; N] }
    }
    #[inline(always)]
    fn at<const N: usize>(many: &Pairs<N>, lane: usize) -> Self {
        Self { hi: many.hi[lane], lo: many.lo[lane] }
    }
    #[inline(always)]
    fn put<const N: usize>(self, many: &mut Pairs<N>, lane: usize) {
        (many.hi[lane], many.lo[lane]) = (self.hi, self.lo);
    }
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        let (sum, error) = two_sum(self.hi, other.hi);
        Self { hi: sum, lo: error + (self.lo + other.lo) }
    }
    #[inline(always)]
    fn times(self, other: Self) -> Self {
        let (product, error) = two_product(self.hi, other.hi);
        let error = self.lo.mul_add(other.hi, self.hi.mul_add(other.lo, error));
        Self { hi: product, lo: error }
    }
    #[inline(always)]
    fn half(self) -> Self {
        Self { hi: self.hi * 0.5, lo: self.lo * 0.5 }
    }
}

/// The steps of transforms, in numbers that are not normalized.
impl<R: LaneNumber> ComplexOf<R> {
    /// Returns the sum.
    #[inline(always)]
    pub fn plus(self, other: Self) -> Self {
        Self { re: self.re.plus(other.re), im: self.im.plus(other.im) }
    }
    /// Returns the difference.
    #[inline(always)]
    pub fn minus(self, other: Self) -> Self {
        Self { re: self.re.plus(-other.re), im: self.im.plus(-other.im) }
    }
    /// Returns the product.
    #[inline(always)]
    pub fn turned(self, factor: Self) -> Self {
        Self {
            re: self.re.times(factor.re).plus(-self.im.times(factor.im)),
            im: self.re.times(factor.im).plus(self.im.times(factor.re)),
        }
    }
    /// Returns the product with a real number.
    #[inline(always)]
    pub fn times(self, factor: R) -> Self {
        Self { re: self.re.times(factor), im: self.im.times(factor) }
    }
    /// Returns the half.
    #[inline(always)]
    pub fn half(self) -> Self {
        Self { re: self.re.half(), im: self.im.half() }
    }
    /// Returns the real part.
    #[inline(always)]
    pub fn real(self) -> Self {
        Self { re: self.re, im: R::ZERO }
    }
}

/// The complex numbers at one index of `N` lines.
#[derive(Debug, Clone, Copy)]
pub struct Lanes<R: LaneNumber, const N: usize> {
    /// The real parts.
    pub re: R::Many<N>,
    /// The imaginary parts.
    pub im: R::Many<N>,
}

impl<R: LaneNumber, const N: usize> Lanes<R, N> {
    /// Returns zeros.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { re: R::zeros(), im: R::zeros() }
    }
    /// Returns the number in a lane.
    #[inline(always)]
    pub fn at(&self, lane: usize) -> ComplexOf<R> {
        ComplexOf { re: R::at(&self.re, lane), im: R::at(&self.im, lane) }
    }
    /// Sets the number in a lane.
    #[inline(always)]
    pub fn put(&mut self, lane: usize, x: ComplexOf<R>) {
        x.re.put(&mut self.re, lane);
        x.im.put(&mut self.im, lane);
    }
}

/// `each_lane!(x = a, y = b => [x.plus(y)])`: numbers of `N` lines, from expressions in which the
/// names stand for the numbers of a line.
///
/// A closure would be a function of its own if it is large, and not compiled for the instruction
/// set.
#[macro_export]
macro_rules! each_lane {
    (@unit $result:expr) => { () };
    ($($name:ident = $lanes:expr),+ => [$($result:expr),+ $(,)?]) => {{
        $(let $name = $lanes;)+
        let mut results =
            [$crate::fourier::Lanes::zero(); <[()]>::len(&[$($crate::each_lane!(@unit $result)),+])];
        for lane in 0..N {
            $(let $name = $name.at(lane);)+
            for (result, number) in results.iter_mut().zip([$($result),+]) {
                result.put(lane, number);
            }
        }
        results
    }};
}
