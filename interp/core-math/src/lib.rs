//! The correctly rounded functions of CORE-MATH that Etalon calls.
//!
//! Each is compiled for every processor of the target and, on x86-64, once more for processors with AVX2 and fused multiply-add, on which
//! functions of f64 take half the time or less. The first call finds out what the processor has. Both return the same bits, since both
//! are correctly rounded.
#![no_std]
#![expect(unsafe_code, reason = "calls functions in C")]

#[cfg(target_arch = "x86_64")]
extern crate std;

/// Declares the functions of a type, and what calls them.
macro_rules! functions {
    ($float:ident, $base:ident, $fma:ident: $($name:ident($($argument:ident),+);)+) => {
        mod $base {
            unsafe extern "C" {
                $(
                    #[link_name = concat!("etalon_cr_", stringify!($name))]
                    pub(super) fn $name($($argument: $float),+) -> $float;
                )+
            }
        }
        #[cfg(target_arch = "x86_64")]
        mod $fma {
            unsafe extern "C" {
                $(
                    #[link_name = concat!("etalon_cr_", stringify!($name), "_fma")]
                    pub(super) fn $name($($argument: $float),+) -> $float;
                )+
            }
        }
        $(
            #[doc = concat!("Returns the correctly rounded value of CORE-MATH's `cr_", stringify!($name), "`.")]
            #[inline]
            pub fn $name($($argument: $float),+) -> $float {
                #[cfg(target_arch = "x86_64")]
                if processor::has_fma() {
                    // SAFETY: the function reads its arguments and tables, and the processor has its instructions.
                    return unsafe { $fma::$name($($argument),+) };
                }
                // SAFETY: the function reads its arguments and tables.
                unsafe { $base::$name($($argument),+) }
            }
        )+
        #[cfg(all(test, target_arch = "x86_64"))]
        mod $float {
            /// Checks that both compilations of each function return the same bits for arguments.
            #[test]
            fn compilations_agree() {
                if !super::processor::has_fma() {
                    return;
                }
                $({
                    let mut random = fastrand::Rng::with_seed(7);
                    for case in 0..200_000 {
                        $(let $argument = super::tests::$float(&mut random, case);)+
                        // SAFETY: the functions read their arguments and tables, and the processor has their instructions.
                        let [base, fma] = unsafe {
                            [super::$base::$name($($argument),+), super::$fma::$name($($argument),+)]
                        };
                        // Which NaN is the result is not specified.
                        let is_same = base.to_bits() == fma.to_bits() || base.is_nan() && fma.is_nan();
                        assert!(is_same, "{}{:?}: {base:e} {fma:e}", stringify!($name), ($($argument,)+));
                    }
                })+
            }
        }
    };
}

functions! { f32, base_f32, fma_f32:
    acosf(x); acoshf(x); asinf(x); asinhf(x); atan2f(y, x); atanhf(x); cbrtf(x); cosf(x); coshf(x); erff(x);
    expf(x); expm1f(x); hypotf(x, y); log1pf(x); logf(x); powf(x, y); rsqrtf(x); sinf(x); sinhf(x); tanf(x);
    tanhf(x);
}

functions! { f64, base_f64, fma_f64:
    acos(x); acosh(x); asin(x); asinh(x); atan2(y, x); atan2pi(y, x); atanh(x); cbrt(x); cos(x); cosh(x);
    cospi(x); erf(x); exp(x); expm1(x); hypot(x, y); log(x); log1p(x); pow(x, y); rsqrt(x); sin(x); sinh(x);
    sinpi(x); tan(x); tanh(x);
}

#[cfg(target_arch = "x86_64")]
mod processor {
    use core::sync::atomic::{AtomicU8, Ordering};

    const UNKNOWN: u8 = 0;
    const BASE: u8 = 1;
    const FMA: u8 = 2;
    static FOUND: AtomicU8 = AtomicU8::new(UNKNOWN);

    /// Returns whether the processor has the instructions that build.rs names.
    #[inline]
    pub(super) fn has_fma() -> bool {
        match FOUND.load(Ordering::Relaxed) {
            UNKNOWN => look(),
            found => found == FMA,
        }
    }
    #[cold]
    fn look() -> bool {
        macro_rules! has {
            ($($feature:tt)+) => { $(std::arch::is_x86_feature_detected!($feature))&&+ };
        }
        let has_fma = has!("avx2" "fma" "bmi1" "bmi2" "lzcnt" "f16c" "movbe" "popcnt");
        FOUND.store(if has_fma { FMA } else { BASE }, Ordering::Relaxed);
        has_fma
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use fastrand::Rng;

    macro_rules! argument {
        ($float:ident, $random:ident) => {
            /// Returns an argument: special, of any bits, or near the numbers of everyday.
            pub(super) fn $float(random: &mut Rng, case: u32) -> $float {
                const SPECIAL: [$float; 8] = [
                    0.0,
                    -0.0,
                    1.0,
                    -1.0,
                    $float::NAN,
                    $float::INFINITY,
                    $float::MIN_POSITIVE,
                    $float::MAX,
                ];
                match case % 4 {
                    0 => SPECIAL[random.usize(..SPECIAL.len())],
                    1 => $float::from_bits(random.$random(..)),
                    2 => random.$float() * 2.0 - 1.0,
                    _ => random.$float() * 64.0 - 32.0,
                }
            }
        };
    }
    argument!(f32, u32);
    argument!(f64, u64);
}
