//! The bit formats of floating-point types: exact decoding, and encoding that rounds once.
use super::ElementType;

/// The bits of a floating-point type of up to 64 bits: sign, exponent, mantissa.
///
/// ```
/// let f8 = hlo::ElementType::F8E4M3Fn.float_format().unwrap();
/// assert_eq!(f8.decode(0x7e), 448.0);
/// assert_eq!(f8.encode(464.0), 0x7e); // a tie goes to the even neighbor
/// assert!(f8.decode(f8.encode(465.0)).is_nan()); // there is no infinity
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FloatFormat {
    /// Bits of the exponent.
    pub exponent_bits: u32,
    /// Bits of the mantissa, without the one that is not stored.
    pub mantissa_bits: u32,
    /// The bias of the stored exponent.
    pub bias: i32,
    /// The meaning of the largest codes.
    pub special: Special,
}

/// The meaning of the largest codes of a format, and of values that do not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Special {
    /// As in IEEE 754: the largest exponent encodes infinities and NaNs.
    Ieee,
    /// `fn`: no infinity; all bits set is NaN, and values that are too large become NaN.
    Fn,
    /// `fnuz`: no infinity, no -0; the code of -0 is the only NaN, and values that are too large
    /// become NaN.
    Fnuz,
    /// No infinity, no NaN: values that are too large become the largest value.
    Finite,
    /// `e8m0fnu`: powers of two; no sign, no zero; all bits set is NaN.
    PowerOfTwo,
}

const fn format(
    exponent_bits: u32,
    mantissa_bits: u32,
    bias: i32,
    special: Special,
) -> FloatFormat {
    FloatFormat { exponent_bits, mantissa_bits, bias, special }
}

impl ElementType {
    /// Returns the format of a real floating-point type.
    #[inline]
    pub const fn float_format(self) -> Option<FloatFormat> {
        Some(match self {
            Self::F16 => format(5, 10, 15, Special::Ieee),
            Self::Bf16 => format(8, 7, 127, Special::Ieee),
            Self::F32 => format(8, 23, 127, Special::Ieee),
            Self::F64 => format(11, 52, 1023, Special::Ieee),
            Self::F8E5M2 => format(5, 2, 15, Special::Ieee),
            Self::F8E4M3 => format(4, 3, 7, Special::Ieee),
            Self::F8E3M4 => format(3, 4, 3, Special::Ieee),
            Self::F8E4M3Fn => format(4, 3, 7, Special::Fn),
            Self::F8E4M3B11Fnuz => format(4, 3, 11, Special::Fnuz),
            Self::F8E5M2Fnuz => format(5, 2, 16, Special::Fnuz),
            Self::F8E4M3Fnuz => format(4, 3, 8, Special::Fnuz),
            Self::F8E8M0Fnu => format(8, 0, 127, Special::PowerOfTwo),
            Self::F6E3M2Fn => format(3, 2, 3, Special::Finite),
            Self::F6E2M3Fn => format(2, 3, 1, Special::Finite),
            Self::F4E2M1Fn => format(2, 1, 1, Special::Finite),
            Self::Pred
            | Self::S1
            | Self::S2
            | Self::S4
            | Self::S8
            | Self::S16
            | Self::S32
            | Self::S64
            | Self::U1
            | Self::U2
            | Self::U4
            | Self::U8
            | Self::U16
            | Self::U32
            | Self::U64
            | Self::C64
            | Self::C128 => return None,
        })
    }
}

/// Returns `2^exponent`, for exponents of normal f64 values.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(u64::try_from(exponent + 1023).unwrap_or(0) << 52)
}

impl FloatFormat {
    const fn sign_bit(self) -> u64 {
        match self.special {
            Special::PowerOfTwo => 0,
            Special::Ieee | Special::Fn | Special::Fnuz | Special::Finite => {
                1 << (self.exponent_bits + self.mantissa_bits)
            }
        }
    }
    /// Returns the code whose exponent and mantissa are all ones.
    const fn all_ones(self) -> u64 {
        (1 << (self.exponent_bits + self.mantissa_bits)) - 1
    }
    /// Returns the code of infinity, in formats that have one.
    const fn infinity(self) -> u64 {
        ((1 << self.exponent_bits) - 1) << self.mantissa_bits
    }
    /// Returns the code of the largest finite value.
    pub const fn largest(self) -> u64 {
        match self.special {
            Special::Ieee => self.infinity() - 1,
            Special::Fn | Special::PowerOfTwo => self.all_ones() - 1,
            Special::Fnuz | Special::Finite => self.all_ones(),
        }
    }
    /// Returns the largest finite value.
    pub fn max_finite(self) -> f64 {
        self.decode(self.largest())
    }

    /// Returns the exact value of a code. Payloads of NaNs keep their leading bits.
    #[inline]
    pub fn decode(self, code: u64) -> f64 {
        if self.mantissa_bits == 52 {
            return f64::from_bits(code);
        }
        let negative = code & self.sign_bit() != 0;
        let magnitude = code & self.all_ones();
        let mantissa = magnitude & ((1 << self.mantissa_bits) - 1);
        let exponent = i32::try_from(magnitude >> self.mantissa_bits).unwrap_or(i32::MAX);
        let sign = u64::from(negative) << 63;
        let is_nan = match self.special {
            Special::Ieee => magnitude > self.infinity(),
            Special::Fn | Special::PowerOfTwo => magnitude == self.all_ones(),
            Special::Fnuz => negative && magnitude == 0,
            Special::Finite => false,
        };
        if is_nan {
            let payload = if self.special == Special::Ieee {
                mantissa << (52 - self.mantissa_bits)
            } else {
                1 << 51
            };
            return f64::from_bits(sign | 0x7ff0_0000_0000_0000 | payload);
        }
        if self.special == Special::Ieee && magnitude == self.infinity() {
            return f64::from_bits(sign | 0x7ff0_0000_0000_0000);
        }
        if self.special == Special::PowerOfTwo {
            return power_of_two(exponent - self.bias);
        }
        if exponent == 0 {
            let unit = power_of_two(1 - self.bias - i32::try_from(self.mantissa_bits).unwrap_or(0));
            // Fewer than 2^24 units: the product is exact.
            let value = f64::from(u32::try_from(mantissa).unwrap_or(0)) * unit;
            return f64::from_bits(value.to_bits() | sign);
        }
        let wide = u64::try_from(exponent - self.bias + 1023).unwrap_or(0);
        f64::from_bits(sign | wide << 52 | mantissa << (52 - self.mantissa_bits))
    }

    /// Returns the code nearest to `x`; a tie goes to the even one.
    #[inline]
    pub fn encode(self, x: f64) -> u64 {
        if self.mantissa_bits == 52 {
            return x.to_bits();
        }
        if self.special == Special::PowerOfTwo {
            return self.encode_power(x);
        }
        let sign = if x.is_sign_negative() { self.sign_bit() } else { 0 };
        if x.is_nan() {
            return self.encode_nan(x, sign);
        }
        let code = self.round(x.abs());
        if code > self.largest() {
            return match self.special {
                Special::Ieee => sign | self.infinity(),
                Special::Fn => sign | self.all_ones(),
                Special::Fnuz => self.sign_bit(),
                Special::Finite | Special::PowerOfTwo => sign | self.largest(),
            };
        }
        // Formats without -0 have one zero.
        if code == 0 && self.special == Special::Fnuz { 0 } else { sign | code }
    }

    fn encode_nan(self, x: f64, sign: u64) -> u64 {
        match self.special {
            Special::Ieee => {
                let payload = (x.to_bits() & ((1 << 52) - 1)) >> (52 - self.mantissa_bits);
                // Without a payload it would be infinity. A signaling NaN stays signaling:
                // `convert` quiets it.
                let quiet = 1 << (self.mantissa_bits - 1);
                sign | self.infinity() | if payload == 0 { quiet } else { payload }
            }
            Special::Fn => sign | self.all_ones(),
            // Finite formats have no NaN; XLA:CPU gives -0, whatever the NaN's sign.
            Special::Fnuz | Special::Finite => self.sign_bit(),
            Special::PowerOfTwo => self.all_ones(),
        }
    }

    /// Returns the exponent and mantissa of a value that is not negative and not NaN, rounded to
    /// nearest even; past the largest code where it does not fit.
    fn round(self, x: f64) -> u64 {
        let bits = x.to_bits();
        let stored = i32::try_from(bits >> 52).unwrap_or(0);
        if stored == 0x7ff {
            return u64::MAX;
        }
        // f64's own subnormals are below half the smallest value of every narrower format.
        if stored == 0 {
            return 0;
        }
        let exponent = stored - 1023;
        let mantissa = bits & ((1 << 52) - 1) | 1 << 52;
        let least = 1 - self.bias;
        let below = u32::try_from((least - exponent).max(0)).unwrap_or(0);
        let drop = 52 - self.mantissa_bits + below;
        if drop > 53 {
            return 0;
        }
        let kept = mantissa >> drop;
        let rest = mantissa & ((1 << drop) - 1);
        let half = 1u64 << (drop - 1);
        let up = rest > half || (rest == half && kept & 1 == 1);
        let kept = kept + u64::from(up);
        if below > 0 {
            return kept;
        }
        let Ok(biased) = u64::try_from(exponent + self.bias) else { return kept };
        // A carry out of the mantissa increments the exponent.
        (biased << self.mantissa_bits) + (kept - (1 << self.mantissa_bits))
    }

    /// Rounds half up to a power of two, as XLA does; zero, negative and too large values become
    /// NaN.
    fn encode_power(self, x: f64) -> u64 {
        if x.is_nan() || x <= 0.0 || x.is_infinite() {
            return self.all_ones();
        }
        let stored = i32::try_from(x.to_bits() >> 52).unwrap_or(0);
        let half = x.to_bits() & 1 << 51 != 0;
        let exponent = stored - 1023 + i32::from(half && stored > 0);
        let code = u64::try_from(exponent + self.bias).unwrap_or(0);
        code.min(self.all_ones())
    }

    /// Returns the code nearest to an integer, rounded once even where f64 cannot represent it.
    pub fn encode_integer(self, negative: bool, magnitude: u64) -> u64 {
        self.encode(self.to_f64_rounding_to_odd(negative, magnitude))
    }
    /// Returns the integer as f64; where it does not fit, rounded to odd so that rounding again is
    /// exact: truncated, with the last bit set if anything was lost.
    fn to_f64_rounding_to_odd(self, negative: bool, magnitude: u64) -> f64 {
        let spare = 11u32.saturating_sub(magnitude.leading_zeros());
        let kept = magnitude >> spare;
        let lost = kept << spare != magnitude;
        let exact = self.mantissa_bits == 52;
        let value = match exact {
            true => crate::scalar::u64_to_f64(magnitude),
            false => {
                let whole = crate::scalar::u64_to_f64(kept | u64::from(lost));
                whole * power_of_two(i32::try_from(spare).unwrap_or(0))
            }
        };
        if negative { -value } else { value }
    }

    /// Returns the bits of a NaN's payload that the text can have, in the formats for which XLA
    /// writes them.
    pub fn payload_bits(self) -> Option<u32> {
        (self.special == Special::Ieee).then_some(self.mantissa_bits)
    }
    /// Returns the NaN of this payload; `None` if the payload is 0 or does not fit.
    pub fn nan_with_payload(self, negative: bool, payload: u64) -> Option<u64> {
        let bits = self.payload_bits()?;
        let sign = if negative { self.sign_bit() } else { 0 };
        (payload != 0 && payload >> bits == 0).then_some(sign | self.infinity() | payload)
    }
    /// Returns the sign and payload of a NaN; no payload where it is the default one.
    pub fn nan_parts(self, code: u64) -> Option<(bool, Option<u64>)> {
        let negative = code & self.sign_bit() != 0;
        if !self.decode(code).is_nan() {
            return None;
        }
        let payload = code & ((1 << self.mantissa_bits) - 1);
        let usual = self.special != Special::Ieee || payload == 1 << (self.mantissa_bits - 1);
        Some((negative, (!usual).then_some(payload)))
    }
}

#[cfg(test)]
#[expect(
    clippy::float_cmp,
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::too_many_lines,
    reason = "exact values are compared, and tables are long"
)]
mod tests {
    use super::*;

    fn formats() -> impl Iterator<Item = (ElementType, FloatFormat)> {
        ElementType::ALL.iter().filter_map(|&ty| Some((ty, ty.float_format()?)))
    }

    #[test]
    fn every_code_of_up_to_16_bits_survives() {
        for (ty, format) in formats().filter(|(ty, _)| ty.bits() <= 16) {
            for code in 0..1u64 << ty.bits() {
                let value = format.decode(code);
                if !value.is_nan() {
                    assert_eq!(format.encode(value), code, "{ty} {code:#x} {value}");
                }
            }
        }
    }

    #[test]
    fn narrow_floats_agree_with_xla() {
        let inputs = [
            1.0,
            1.0625,
            1.125,
            3.3,
            15.6,
            15.75,
            17.0,
            100.0,
            240.0,
            247.9,
            248.0,
            449.0,
            463.9,
            464.0,
            464.1,
            57344.0,
            61439.0,
            61440.0,
            f64::INFINITY,
            f64::NAN,
            -0.0,
            0.001,
            -1e-5,
        ];
        let rows: [(ElementType, [u64; 23]); 8] = [
            (
                ElementType::F8E5M2,
                [
                    60, 60, 60, 67, 76, 76, 76, 86, 92, 92, 92, 95, 95, 95, 95, 123, 123, 124, 124,
                    126, 128, 20, 129,
                ],
            ),
            (
                ElementType::F8E4M3,
                [
                    56, 56, 57, 69, 88, 88, 88, 108, 119, 119, 120, 120, 120, 120, 120, 120, 120,
                    120, 120, 124, 128, 1, 128,
                ],
            ),
            (
                ElementType::F8E3M4,
                [
                    48, 49, 50, 74, 111, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112, 112,
                    112, 112, 112, 120, 128, 0, 128,
                ],
            ),
            (
                ElementType::F8E4M3Fn,
                [
                    56, 56, 57, 69, 88, 88, 88, 108, 119, 119, 120, 126, 126, 126, 127, 127, 127,
                    127, 127, 127, 128, 1, 128,
                ],
            ),
            (
                ElementType::F8E4M3Fnuz,
                [
                    64, 64, 65, 77, 96, 96, 96, 116, 127, 127, 128, 128, 128, 128, 128, 128, 128,
                    128, 128, 128, 0, 1, 0,
                ],
            ),
            (
                ElementType::F8E5M2Fnuz,
                [
                    64, 64, 64, 71, 80, 80, 80, 90, 96, 96, 96, 99, 99, 99, 99, 127, 127, 128, 128,
                    128, 0, 24, 129,
                ],
            ),
            (
                ElementType::F8E4M3B11Fnuz,
                [
                    88, 88, 89, 101, 120, 120, 120, 128, 128, 128, 128, 128, 128, 128, 128, 128,
                    128, 128, 128, 128, 0, 8, 0,
                ],
            ),
            (
                ElementType::F8E8M0Fnu,
                [
                    127, 127, 127, 129, 131, 131, 131, 134, 135, 135, 135, 136, 136, 136, 136, 143,
                    143, 143, 255, 255, 255, 117, 255,
                ],
            ),
        ];
        for (ty, codes) in rows {
            let format = ty.float_format().unwrap();
            for (x, code) in inputs.into_iter().zip(codes) {
                assert_eq!(format.encode(x), code, "{ty} of {x}");
            }
        }
        let f4 = ElementType::F4E2M1Fn.float_format().unwrap();
        let pairs = [
            (0.25, 0.0),
            (0.26, 0.5),
            (0.75, 1.0),
            (1.25, 1.0),
            (1.75, 2.0),
            (2.5, 2.0),
            (3.5, 4.0),
            (5.0, 4.0),
            (5.01, 6.0),
            (f64::INFINITY, 6.0),
            (f64::NEG_INFINITY, -6.0),
        ];
        for (x, y) in pairs {
            assert_eq!(f4.decode(f4.encode(x)), y, "{x}");
        }
        assert_eq!(f4.encode(f64::NAN), 8);
        assert_eq!(f4.encode(-0.1), 8);
    }

    #[test]
    fn rounds_once() {
        let (f16, bf16) =
            (ElementType::F16.float_format().unwrap(), ElementType::Bf16.float_format().unwrap());
        // Just above a tie: through f32 it would become the tie and fall to the even side.
        let x = 1.0 + 1.0 / 256.0 + 2f64.powi(-40);
        assert_eq!(bf16.decode(bf16.encode(x)), 1.0 + 1.0 / 128.0);
        assert_eq!(bf16.decode(bf16.encode_integer(false, 16_842_753)), 16_908_288.0);
        assert_eq!(
            bf16.decode(bf16.encode_integer(true, (1 << 63) + (1 << 55) + 1)),
            -(2f64.powi(63) + 2f64.powi(56))
        );
        assert_eq!(f16.decode(f16.encode(65519.0)), 65504.0);
        assert_eq!(f16.encode(65520.0), 0x7c00);
        let f32 = ElementType::F32.float_format().unwrap();
        for x in [0.1, 1e-40, 3.5e38, 1e-46, 16_777_217.0, -2.5e-45] {
            assert_eq!(f32.encode(x), u64::from((x as f32).to_bits()), "{x}");
        }
        for code in 0..=u16::MAX {
            let x = half::f16::from_bits(code);
            if !x.is_nan() {
                assert_eq!(f16.decode(code.into()), x.to_f64());
            }
        }
    }
}
