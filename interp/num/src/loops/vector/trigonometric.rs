//! Sine, cosine, tangent and their inverses.
use super::exponential::TO_INTEGER;
use super::polynomial;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_2, FRAC_PI_4, PI};

/// -pi/2 in two parts; the first has 33 bits, so that products with integers below 2^20 are exact.
/// With these signs -0 is reduced to -0.
const MINUS_HALF_PI: [f64; 2] = [-1.570_796_326_734_125_6, -6.077_100_506_506_192e-11];

/// 2^20.
const LARGE: f64 = 1_048_576.0;

/// Returns the sine and cosine of `r = x - k pi/2`, at most pi/4 in size, and the bits of `k`.
///
/// NaN where `r` is not known well enough: for large `x`, and next to multiples of pi/2.
#[inline(always)]
fn reduced(x: f64) -> (f64, f64, u64) {
    let k = x.mul_add(FRAC_2_PI, TO_INTEGER);
    let n = k - TO_INTEGER;
    let r = n.mul_add(MINUS_HALF_PI[1], n.mul_add(MINUS_HALF_PI[0], x));
    let is_known = x.abs() < LARGE && (r.abs() > 1.0 / LARGE || n == 0.0);
    let r = if is_known { r } else { f64::NAN };
    let square = r * r;
    let sine = polynomial(
        square,
        const {
            &[
                -2.475_527_831_078_583_3e-8,
                2.755_525_214_826_052e-6,
                -0.000_198_412_631_917_580_08,
                0.008_333_333_323_642_89,
                -0.166_666_666_666_148_66,
                0.999_999_999_999_995_4,
            ]
        },
    );
    let cosine = polynomial(
        square,
        const {
            &[
                2.062_742_228_396_645_7e-9,
                -2.755_517_754_670_792e-7,
                2.480_157_814_561_212e-5,
                -0.001_388_888_886_871_364_1,
                0.041_666_666_666_453_86,
                -0.499_999_999_999_991_5,
                0.999_999_999_999_999_9,
            ]
        },
    );
    (r * sine, cosine, k.to_bits())
}
/// Returns `x` with its sign changed if bit 1 of `k` is set.
#[inline(always)]
fn signed(x: f64, k: u64) -> f64 {
    f64::from_bits(x.to_bits() ^ ((k & 2) << 62))
}
#[inline(always)]
pub(super) fn sin(x: f64) -> f64 {
    let (sine, cosine, k) = reduced(x);
    signed(if k & 1 == 0 { sine } else { cosine }, k)
}
#[inline(always)]
pub(super) fn cos(x: f64) -> f64 {
    let (sine, cosine, k) = reduced(x);
    signed(if k & 1 == 0 { cosine } else { sine }, k.wrapping_add(1))
}
#[inline(always)]
pub(super) fn tan(x: f64) -> f64 {
    let (sine, cosine, k) = reduced(x);
    let (top, bottom) = if k & 1 == 0 { (sine, cosine) } else { (-cosine, sine) };
    top / bottom
}

/// Returns the angle of the point `(x, y)` of the first quadrant.
#[inline(always)]
fn angle(y: f64, x: f64) -> f64 {
    let is_steep = y > x;
    let (low, high) = if is_steep { (x, y) } else { (y, x) };
    // Above pi/8 the angle to the diagonal is smaller.
    let is_far = low > 0.414_213_562_373_095_1 * high;
    let (top, bottom) = if is_far { (low - high, low + high) } else { (low, high) };
    let t = top / bottom;
    let p = polynomial(
        t * t,
        const {
            &[
                -0.025_356_150_439_556_486,
                0.050_278_381_246_442_65,
                -0.065_069_769_781_683_02,
                0.076_737_086_954_339_77,
                -0.090_895_475_651_584_18,
                0.111_110_499_054_169_49,
                -0.142_857_126_969_890_17,
                0.199_999_999_789_868_63,
                -0.333_333_333_332_252_9,
                0.999_999_999_999_999_1,
            ]
        },
    );
    let angle = t.mul_add(p, if is_far { FRAC_PI_4 } else { 0.0 });
    if is_steep { FRAC_PI_2 - angle } else { angle }
}
#[inline(always)]
pub(super) fn atan2(y: f64, x: f64) -> f64 {
    let angle = angle(y.abs(), x.abs());
    (if x < 0.0 { PI - angle } else { angle }).copysign(y)
}
#[inline(always)]
pub(super) fn asin(x: f64) -> f64 {
    angle(x.abs(), ((1.0 - x) * (1.0 + x)).sqrt()).copysign(x)
}
#[inline(always)]
pub(super) fn acos(x: f64) -> f64 {
    atan2(((1.0 - x) * (1.0 + x)).sqrt(), x)
}
