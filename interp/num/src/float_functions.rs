//! Functions of f32 and of f64, under the names of the op table.
//!
//! Those of CORE-MATH are correctly rounded. The results of the platform's libm depend on the
//! machine; it is never used.
use super::complex::Complex;

/// Functions that CORE-MATH lacks, or defines differently.
macro_rules! functions {
    ($float:ident) => {
        /// Returns the absolute value.
        #[inline]
        pub fn abs(x: $float) -> $float {
            x.abs()
        }
        /// Rounds up.
        #[inline]
        pub fn ceil(x: $float) -> $float {
            x.ceil()
        }
        /// Rounds down.
        #[inline]
        pub fn floor(x: $float) -> $float {
            x.floor()
        }
        /// Returns the imaginary part of a real number: 0.
        #[inline]
        pub fn imag(_: $float) -> $float {
            0.0
        }
        /// Returns whether the number is neither infinite nor NaN.
        #[inline]
        pub fn is_finite(x: $float) -> bool {
            x.is_finite()
        }
        /// Returns the negative.
        #[inline]
        pub fn neg(x: $float) -> $float {
            -x
        }
        /// Returns the number itself.
        #[inline]
        pub fn real(x: $float) -> $float {
            x
        }
        /// Rounds to an integer, halves away from zero.
        #[inline]
        pub fn round(x: $float) -> $float {
            x.round()
        }
        /// Rounds to an integer, halves to even.
        #[inline]
        pub fn round_ties_even(x: $float) -> $float {
            x.round_ties_even()
        }
        /// Zeros and NaN are returned unchanged.
        #[inline]
        pub fn sign(x: $float) -> $float {
            if x == 0.0 || x.is_nan() { x } else { $float::copysign(1.0, x) }
        }
        /// Returns the square root.
        #[inline]
        pub fn sqrt(x: $float) -> $float {
            x.sqrt()
        }

        /// Returns the sum.
        #[inline]
        pub fn add(a: $float, b: $float) -> $float {
            a + b
        }
        /// Returns the difference.
        #[inline]
        pub fn sub(a: $float, b: $float) -> $float {
            a - b
        }
        /// Returns the product.
        #[inline]
        pub fn mul(a: $float, b: $float) -> $float {
            a * b
        }
        /// Returns the quotient.
        #[inline]
        pub fn div(a: $float, b: $float) -> $float {
            a / b
        }
        /// C's fmod, which is exact: the remainder is always a value of the type. Even where the
        /// compiler calls a library for it, there is only one right answer.
        #[inline]
        pub fn rem(a: $float, b: $float) -> $float {
            a % b
        }
        /// IEEE 754-2019 maximum: NaN propagates, and +0 is above -0. XLA:CPU does the same; XLA's
        /// evaluator returns either zero.
        #[inline]
        pub fn max(a: $float, b: $float) -> $float {
            // Most data would mispredict a branch.
            let larger = std::hint::select_unpredictable(a > b, a, b);
            let equal = $float::from_bits(a.to_bits() & b.to_bits());
            let larger = std::hint::select_unpredictable(a == b, equal, larger);
            std::hint::select_unpredictable(a.is_nan(), a, larger)
        }
        /// IEEE 754-2019 minimum: NaN propagates, and -0 is below +0.
        #[inline]
        pub fn min(a: $float, b: $float) -> $float {
            // Most data would mispredict a branch.
            let smaller = std::hint::select_unpredictable(a < b, a, b);
            let equal = $float::from_bits(a.to_bits() | b.to_bits());
            let smaller = std::hint::select_unpredictable(a == b, equal, smaller);
            std::hint::select_unpredictable(a.is_nan(), a, smaller)
        }
        /// The two cases hold for NaN as well; CORE-MATH distinguishes NaNs.
        #[inline]
        pub fn pow(x: $float, y: $float) -> $float {
            if y == 0.0 || x == 1.0 { 1.0 } else { core_pow(x, y) }
        }
        /// Returns the complex number of two parts.
        #[inline]
        pub fn complex(re: $float, im: $float) -> Complex {
            Complex { re: re.into(), im: im.into() }
        }
    };
}

/// Functions of f32.
#[expect(clippy::float_cmp, reason = "exact values are compared")]
pub mod single {
    use super::Complex;
    pub use crate::logistic::logistic_f32 as logistic;
    use core_math::powf as core_pow;
    pub use core_math::{
        acosf as acos, acoshf as acosh, asinf as asin, asinhf as asinh, atan2f as atan2,
        atanhf as atanh, cbrtf as cbrt, cosf as cos, coshf as cosh, erff as erf, expf as exp,
        expm1f as expm1, log1pf as log1p, logf as log, rsqrtf as rsqrt, sinf as sin, sinhf as sinh,
        tanf as tan, tanhf as tanh,
    };
    functions!(f32);
}

/// Functions of f64.
#[expect(clippy::float_cmp, reason = "exact values are compared")]
pub mod double {
    use super::Complex;
    pub use crate::angle::atan2;
    pub use crate::logistic::logistic_f64 as logistic;
    use core_math::pow as core_pow;
    pub use core_math::{
        acos, acosh, asin, asinh, atanh, cbrt, cos, cosh, erf, exp, expm1, log, log1p, rsqrt, sin,
        sinh, tan, tanh,
    };
    functions!(f64);
}
