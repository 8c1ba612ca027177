//! The cube root and the reciprocal of the square root.

#[inline(always)]
pub(super) fn rsqrt(x: f64) -> f64 {
    1.0 / x.sqrt()
}
/// Halley's iteration, which triples the correct bits: from 5, by a division of the exponent,
/// to 46.
#[inline(always)]
pub(super) fn cbrt(x: f64) -> f64 {
    // Division by 3 of the upper half, and the bias of the exponent that it loses.
    let upper = ((x.abs().to_bits() >> 32) * 0xaaaa_aaab) >> 33;
    let mut root = f64::from_bits((upper + 0x2a9f_7893) << 32);
    for _ in 0..2 {
        let cube = root * root * root;
        root = root * (cube + 2.0 * x.abs()) / (2.0 * cube + x.abs());
    }
    root.copysign(x)
}
