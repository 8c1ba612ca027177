//! One element of any type, in a wide representation.
use crate::ElementType;
use crate::elem::{Class, FloatFormat};

/// One element, represented exactly: a 64-bit integer, an f64, or two f64.
///
/// ```
/// use hlo::{ElementType, Scalar};
/// let x = Scalar::Float(300.7).convert(ElementType::F32, ElementType::S8);
/// assert_eq!(x, Scalar::Signed(127));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scalar {
    /// Of `pred`.
    Pred(bool),
    /// Of `s1` to `s64`.
    Signed(i64),
    /// Of `u1` to `u64`.
    Unsigned(u64),
    /// Of a real float.
    Float(f64),
    /// Of `c64` and `c128`.
    Complex(f64, f64),
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "rounds to nearest even, as IEEE 754 says"
)]
pub(crate) const fn u64_to_f64(x: u64) -> f64 {
    x as f64
}
/// Truncates and saturates; NaN becomes 0.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "saturates, as XLA does"
)]
const fn f64_to_i64(x: f64) -> i64 {
    x as i64
}
/// Truncates and saturates; NaN becomes 0.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "saturates, as XLA does"
)]
const fn f64_to_u64(x: f64) -> u64 {
    x as u64
}
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "rounds to nearest even, as IEEE 754 says"
)]
const fn f64_to_f32(x: f64) -> f32 {
    x as f32
}

/// Returns the value of an f32. The processor's conversion would quiet a signaling NaN; this keeps
/// its bits.
#[inline]
fn from_f32_bits(bits: u32) -> f64 {
    let x = f32::from_bits(bits);
    if x.is_nan() { nan_of_f32(bits) } else { f64::from(x) }
}
#[cold]
fn nan_of_f32(bits: u32) -> f64 {
    float(ElementType::F32).decode(u64::from(bits))
}
/// Returns the bits of the nearest f32. A NaN keeps its sign and the leading bits of its payload.
#[inline]
fn to_f32_bits(x: f64) -> u32 {
    if x.is_nan() { f32_of_nan(x) } else { f64_to_f32(x).to_bits() }
}
#[cold]
fn f32_of_nan(x: f64) -> u32 {
    low_u32(float(ElementType::F32).encode(x))
}
#[inline]
fn round_to_f32(x: f64) -> f64 {
    if x.is_nan() { from_f32_bits(to_f32_bits(x)) } else { f64::from(f64_to_f32(x)) }
}
/// Returns `x`, with a NaN quiet.
fn quiet(x: f64) -> f64 {
    if x.is_nan() { f64::from_bits(x.to_bits() | 1 << 51) } else { x }
}

/// Returns the low `bits` of `x`, as two's complement.
#[inline]
const fn sign_extend(x: u64, bits: u32) -> i64 {
    let spare = 64 - bits;
    x.cast_signed() << spare >> spare
}
/// Returns the low `bits` of `x`.
#[inline]
const fn mask(x: u64, bits: u32) -> u64 {
    x & (u64::MAX >> (64 - bits))
}

impl Scalar {
    /// Returns 0, or false.
    pub const fn zero(ty: ElementType) -> Self {
        match ty.class() {
            Class::Pred => Self::Pred(false),
            Class::Signed => Self::Signed(0),
            Class::Unsigned => Self::Unsigned(0),
            Class::Float => Self::Float(0.0),
            Class::Complex => Self::Complex(0.0, 0.0),
        }
    }

    /// Returns the element stored in `bytes`, whose length is that of the type.
    #[inline]
    pub fn read(ty: ElementType, bytes: &[u8]) -> Self {
        // The most common types come first: the branch is predictable for a whole array.
        if let (ElementType::F32, &[a, b, c, d]) = (ty, bytes) {
            return Self::Float(from_f32_bits(u32::from_le_bytes([a, b, c, d])));
        }
        Self::from_bits(ty, wide_word(bytes))
    }

    /// Returns the element whose bits are the low bits of `bits`.
    #[inline]
    pub fn from_bits(ty: ElementType, bits: u128) -> Self {
        let [low, high] = halves(bits);
        match ty.class() {
            Class::Pred => Self::Pred(low & 0xff != 0),
            Class::Signed => Self::Signed(sign_extend(low, ty.bits())),
            Class::Unsigned => Self::Unsigned(mask(low, ty.bits())),
            Class::Float => Self::Float(float(ty).decode(mask(low, ty.bits()))),
            Class::Complex if ty.bits() == 64 => {
                let part = |bits: u64| from_f32_bits(low_u32(bits));
                Self::Complex(part(low), part(low >> 32))
            }
            Class::Complex => Self::Complex(f64::from_bits(low), f64::from_bits(high)),
        }
    }

    /// Returns the bits of the element in `ty`: integers wrap, floats are rounded once.
    #[inline]
    pub fn to_bits(self, ty: ElementType) -> u128 {
        match (self, ty.class()) {
            (Self::Pred(x), _) => u128::from(x),
            (Self::Signed(x), _) => u128::from(mask(x.cast_unsigned(), ty.bits())),
            (Self::Unsigned(x), _) => u128::from(mask(x, ty.bits())),
            (Self::Float(x), _) if ty.bits() == 32 => u128::from(to_f32_bits(x)),
            (Self::Float(x), Class::Float) => u128::from(float(ty).encode(x)),
            (Self::Float(x), _) => u128::from(x.to_bits()),
            (Self::Complex(re, im), _) if ty.bits() == 64 => {
                let part = |x: f64| u128::from(to_f32_bits(x));
                part(re) | part(im) << 32
            }
            (Self::Complex(re, im), _) => u128::from(re.to_bits()) | u128::from(im.to_bits()) << 64,
        }
    }

    /// Stores the element in `bytes`, whose length is that of the type.
    #[inline]
    pub fn write(self, ty: ElementType, bytes: &mut [u8]) {
        let bits = match self {
            // A byte holds a narrow signed integer sign-extended.
            Self::Signed(x) if ty.bits() < 8 => {
                u128::from(sign_extend(x.cast_unsigned(), ty.bits()).cast_unsigned())
            }
            Self::Pred(_)
            | Self::Signed(_)
            | Self::Unsigned(_)
            | Self::Float(_)
            | Self::Complex(..) => self.to_bits(ty),
        };
        let stored = bits.to_le_bytes();
        bytes.copy_from_slice(&stored[..bytes.len()]);
    }

    /// Returns the bits of the element stored in `bytes`, without those beyond the width of a
    /// narrow type.
    pub fn bits(ty: ElementType, bytes: &[u8]) -> u128 {
        low_bits(ty, wide_word(bytes))
    }
    /// Stores the element of these bits in `bytes`, without those beyond the width of a narrow type;
    /// a narrow signed integer is sign-extended, `pred` becomes 0 or 1.
    pub fn set_bits(ty: ElementType, bits: u128, bytes: &mut [u8]) {
        let stored = match ty.class() {
            Class::Signed if ty.bits() < 8 => {
                u128::from(sign_extend(halves(bits)[0], ty.bits()).cast_unsigned())
            }
            Class::Pred => u128::from(bits != 0),
            Class::Signed | Class::Unsigned | Class::Float | Class::Complex => low_bits(ty, bits),
        };
        bytes.copy_from_slice(&stored.to_le_bytes()[..bytes.len()]);
    }

    /// Returns the element rounded to `ty`: integers wrap, floats are rounded once.
    #[inline]
    #[must_use]
    pub fn round_to(self, ty: ElementType) -> Self {
        match (self, ty) {
            (Self::Float(_), ElementType::F64) | (Self::Complex(..), ElementType::C128) => self,
            (Self::Float(x), ElementType::F32) => Self::Float(round_to_f32(x)),
            (Self::Complex(re, im), _) => Self::Complex(round_to_f32(re), round_to_f32(im)),
            (Self::Pred(_) | Self::Signed(_) | Self::Unsigned(_) | Self::Float(_), _) => {
                Self::from_bits(ty, self.to_bits(ty))
            }
        }
    }

    /// Returns the value as f64: integers are rounded, complex numbers lose their imaginary part.
    #[inline]
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Pred(x) => f64::from(u8::from(x)),
            #[expect(
                clippy::as_conversions,
                clippy::cast_precision_loss,
                reason = "rounds to nearest even"
            )]
            Self::Signed(x) => x as f64,
            Self::Unsigned(x) => u64_to_f64(x),
            Self::Float(x) | Self::Complex(x, _) => x,
        }
    }

    /// Returns the value as an index, if it is an integer that fits.
    #[inline]
    pub fn as_i64(self) -> Option<i64> {
        match self {
            Self::Signed(x) => Some(x),
            Self::Unsigned(x) => i64::try_from(x).ok(),
            Self::Pred(x) => Some(i64::from(x)),
            Self::Float(_) | Self::Complex(..) => None,
        }
    }

    /// Returns the low 64 bits of an integer, for arithmetic modulo 2^64.
    #[inline]
    pub fn as_wrapping(self) -> i64 {
        match self {
            Self::Signed(x) => x,
            Self::Unsigned(x) => x.cast_signed(),
            Self::Pred(x) => i64::from(x),
            Self::Float(x) | Self::Complex(x, _) => f64_to_i64(x),
        }
    }

    /// Converts the value to another type as HLO's `convert` does, rounding once.
    ///
    /// A float is truncated to an integer, saturating; NaN becomes 0. Anything but 0 is true.
    /// The real part of a complex number is kept. A NaN is quiet.
    #[must_use]
    pub fn convert(self, from: ElementType, to: ElementType) -> Self {
        if from == to {
            return self;
        }
        let quiet = match self {
            Self::Float(x) => Self::Float(quiet(x)),
            Self::Complex(re, im) => Self::Complex(quiet(re), quiet(im)),
            Self::Pred(_) | Self::Signed(_) | Self::Unsigned(_) => self,
        };
        let real = match quiet {
            Self::Complex(re, _) if to.class() != Class::Complex => Self::Float(re),
            Self::Pred(_)
            | Self::Signed(_)
            | Self::Unsigned(_)
            | Self::Float(_)
            | Self::Complex(..) => quiet,
        };
        match to.class() {
            Class::Pred => Self::Pred(match real {
                Self::Pred(x) => x,
                Self::Signed(x) => x != 0,
                Self::Unsigned(x) => x != 0,
                Self::Float(x) => x != 0.0,
                Self::Complex(re, _) => re != 0.0,
            }),
            Class::Signed => {
                let x = match real {
                    Self::Float(x) => {
                        let most = i64::MAX >> (64 - to.bits());
                        f64_to_i64(x).clamp(-most - 1, most)
                    }
                    Self::Pred(_) | Self::Signed(_) | Self::Unsigned(_) | Self::Complex(..) => {
                        real.as_wrapping()
                    }
                };
                Self::Signed(sign_extend(x.cast_unsigned(), to.bits()))
            }
            Class::Unsigned => {
                let x = match real {
                    Self::Float(x) => f64_to_u64(x).min(u64::MAX >> (64 - to.bits())),
                    Self::Pred(_) | Self::Signed(_) | Self::Unsigned(_) | Self::Complex(..) => {
                        real.as_wrapping().cast_unsigned()
                    }
                };
                Self::Unsigned(mask(x, to.bits()))
            }
            Class::Float => real.to_float(to),
            Class::Complex => {
                let (re, im) = match quiet {
                    Self::Complex(re, im) => (re, im),
                    // An integer is rounded once, to the type of the real part.
                    Self::Pred(_) | Self::Signed(_) | Self::Unsigned(_) | Self::Float(_) => {
                        (quiet.to_float(to.component()).as_f64(), 0.0)
                    }
                };
                Self::Complex(re, im).round_to(to)
            }
        }
    }

    fn to_float(self, to: ElementType) -> Self {
        let format = float(to);
        let code = match self {
            Self::Pred(x) => format.encode(f64::from(u8::from(x))),
            Self::Signed(x) => format.encode_integer(x < 0, x.unsigned_abs()),
            Self::Unsigned(x) => format.encode_integer(false, x),
            Self::Float(_) | Self::Complex(..) => return Self::Float(self.as_f64()).round_to(to),
        };
        Self::Float(format.decode(code))
    }
}

#[inline]
fn float(ty: ElementType) -> FloatFormat {
    ty.float_format().expect("the type is a float")
}
#[inline]
fn halves(bits: u128) -> [u64; 2] {
    let b = bits.to_le_bytes();
    let half = |at: usize| {
        u64::from_le_bytes([
            b[at],
            b[at + 1],
            b[at + 2],
            b[at + 3],
            b[at + 4],
            b[at + 5],
            b[at + 6],
            b[at + 7],
        ])
    };
    [half(0), half(8)]
}
#[inline]
fn low_u32(bits: u64) -> u32 {
    let b = bits.to_le_bytes();
    u32::from_le_bytes([b[0], b[1], b[2], b[3]])
}
/// Returns the bits of an element without those beyond the width of its type.
#[inline]
fn low_bits(ty: ElementType, bits: u128) -> u128 {
    if ty.bits() >= 128 { bits } else { bits & ((1 << ty.bits()) - 1) }
}
#[inline]
fn wide_word(bytes: &[u8]) -> u128 {
    match *bytes {
        [a] => u128::from(a),
        [a, b] => u128::from(u16::from_le_bytes([a, b])),
        [a, b, c, d] => u128::from(u32::from_le_bytes([a, b, c, d])),
        [a, b, c, d, e, f, g, h] => u128::from(u64::from_le_bytes([a, b, c, d, e, f, g, h])),
        _ => {
            let mut word = [0; 16];
            word[..bytes.len().min(16)].copy_from_slice(&bytes[..bytes.len().min(16)]);
            u128::from_le_bytes(word)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ElementType as E;

    fn from_f32(values: &[f64], to: E) -> Vec<Scalar> {
        values.iter().map(|&x| Scalar::Float(x).convert(E::F32, to)).collect()
    }

    #[test]
    fn floats_saturate_into_integers() {
        let x = [-1.5, 300.7, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e20];
        assert_eq!(from_f32(&x, E::S8), [-1, 127, 0, 127, -128, 127].map(Scalar::Signed));
        assert_eq!(from_f32(&x, E::U8), [0, 255, 0, 255, 0, 255].map(Scalar::Unsigned));
        let x = [-1.5, 7.9, f64::NAN, -100.0];
        assert_eq!(from_f32(&x, E::S4), [-1, 7, 0, -8].map(Scalar::Signed));
        let x = [9.9e18, 1e20, -1.0];
        assert_eq!(
            from_f32(&x, E::U64),
            [9_900_000_000_000_000_000, u64::MAX, 0].map(Scalar::Unsigned)
        );
    }

    #[test]
    fn integers_wrap_and_round() {
        let wrap = |x: i64, to| Scalar::Signed(x).convert(E::S32, to);
        assert_eq!([9, -9, 16].map(|x| wrap(x, E::S4)), [-7, 7, 0].map(Scalar::Signed));
        assert_eq!(Scalar::Signed(-1).convert(E::S8, E::U32), Scalar::Unsigned(u32::MAX.into()));
        assert_eq!(wrap(65519, E::F16), Scalar::Float(65504.0));
        assert_eq!(wrap(70000, E::F16), Scalar::Float(f64::INFINITY));
        assert_eq!(wrap(16_777_217, E::F32), Scalar::Float(16_777_216.0));
        let big = Scalar::Unsigned(u64::MAX).convert(E::U64, E::F64);
        assert_eq!(big, Scalar::Float(18_446_744_073_709_552_000.0));
        assert_eq!(
            Scalar::Unsigned((1 << 53) + 1).convert(E::U64, E::C128),
            Scalar::Complex(9_007_199_254_740_992.0, 0.0)
        );
    }

    #[test]
    fn truth_is_not_zero() {
        let truth = |x| Scalar::Float(x).convert(E::F64, E::Pred);
        assert_eq!(
            [f64::NAN, -0.0, 256.0, 5e-324].map(truth),
            [true, false, true, true].map(Scalar::Pred)
        );
    }

    #[test]
    fn storage_round_trips() {
        for &ty in E::ALL {
            let mut bytes = vec![0; ty.storage_bytes()];
            for code in 0..256u128 {
                let code = if ty.bits() < 8 { code & ((1 << ty.bits()) - 1) } else { code };
                let x = Scalar::from_bits(ty, code);
                if matches!(x, Scalar::Float(x) if x.is_nan()) {
                    continue;
                }
                x.write(ty, &mut bytes);
                assert_eq!(Scalar::read(ty, &bytes), x, "{ty} {code}");
                if ty != E::Pred {
                    assert_eq!(Scalar::bits(ty, &bytes), code, "{ty} {code}");
                }
            }
        }
    }
}
