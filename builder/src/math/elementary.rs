//! Simple functions of real and complex numbers.
use super::bits;
use crate::{Error, Operand, Result, Value};
use hlo::ElementType;
use hlo::elem::{FloatFormat, Special};

impl<'b> Value<'b> {
    /// Returns whether it is `inf`: XLA's `IsPosInf`. False in types without infinity. `E0801`
    /// unless a real float.
    #[track_caller]
    pub fn is_pos_inf(self) -> Self {
        self.record(|_| is_value(self, f64::INFINITY))
    }
    /// Returns whether it is `-inf`: XLA's `IsNegInf`. False in types without infinity. `E0801`
    /// unless a real float.
    #[track_caller]
    pub fn is_neg_inf(self) -> Self {
        self.record(|_| is_value(self, f64::NEG_INFINITY))
    }
    /// Returns whether it is `inf` or `-inf`: XLA's `IsInf`. False in types without infinity.
    /// `E0801` unless a real float.
    #[doc(alias = "isinf")]
    #[track_caller]
    pub fn is_inf(self) -> Self {
        self.record(|_| {
            real_format(self)?;
            is_value(self.abs(), f64::INFINITY)
        })
    }
    /// Returns whether it is NaN: XLA's `IsNan`. `E0801` unless a real float.
    #[doc(alias = "isnan")]
    #[track_caller]
    pub fn is_nan(self) -> Self {
        self.record(|_| {
            real_format(self)?;
            Ok(self.ne(self))
        })
    }
    /// Returns whether it is `-0`: XLA's `IsNegZero`. The bits are compared, so engines that take
    /// subnormal numbers for zero agree. `E0801` unless a real float.
    #[track_caller]
    pub fn is_neg_zero(self) -> Self {
        self.record(|_| {
            real_format(self)?;
            // Types whose width no integer has widen exactly.
            let (x, unsigned) = match bits::unsigned(self.element_type()?.bits()) {
                Some(unsigned) => (self, unsigned),
                None => (self.convert_element_type(ElementType::F32), ElementType::U32),
            };
            let format = real_format(x)?;
            Ok(match format.special {
                Special::Ieee | Special::Fn | Special::Finite => {
                    let sign = 1u64 << (format.exponent_bits + format.mantissa_bits);
                    x.bitcast_convert_type(unsigned).eq(bits::word(x, sign))
                }
                // No -0: no element is.
                Special::Fnuz | Special::PowerOfTwo => x.ne(x) & x.eq(x),
            })
        })
    }
    /// Returns `x * x`: XLA's `Square`.
    #[track_caller]
    pub fn square(self) -> Self {
        self * self
    }
    /// Returns `1 / x`: XLA's `Reciprocal`.
    #[track_caller]
    pub fn reciprocal(self) -> Self {
        self.record(|_| Ok(self.scalar_like(1) / self))
    }
    /// Returns the angle whose tangent it is, from -pi/2 to pi/2: XLA's `Atan`, `atan2(x, 1)`.
    #[track_caller]
    pub fn atan(self) -> Self {
        self.atan2(1)
    }
    /// Returns the nearest integer, halves to the even one: XLA's `RoundToEven`.
    #[track_caller]
    pub fn round_to_even(self) -> Self {
        self.round_nearest_even()
    }
    /// Returns the complex conjugate if `conjugate` and the type is complex, else the value itself:
    /// XLA's `MaybeConjugate`.
    #[track_caller]
    pub fn maybe_conjugate(self, conjugate: bool) -> Self {
        if conjugate { self.conj() } else { self }
    }
    /// Returns the value next to `self = from` on the way to `to`: XLA's `NextAfter`.
    ///
    /// `to` itself where both are equal, NaN if either is; from 0 the smallest number of `to`'s
    /// sign, from the largest finite number `inf` (IEEE 754 `nextUp` and `nextDown`). Exact, for
    /// every real float type of 8 bits or more with a sign; `E0801` for others.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([1.0f64, 0.0]).next_after(2.0))?, &[])?;
    /// assert_eq!(result.to_string(), "f64[2]{0} {1.0000000000000002, 4.94065645841247e-324}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn next_after(self, to: impl Operand<'b>) -> Self {
        self.record(|b| {
            let (from, to) = crate::implicit::pair(self, to, self)?;
            bits_of(from)?;
            Ok(b.library("next_after", &[from, to], |x| next_after(x[0], x[1])))
        })
    }
}

fn real_format(x: Value<'_>) -> Result<FloatFormat> {
    let ty = x.element_type()?;
    ty.float_format().ok_or_else(|| {
        Error::argument(format!("expected real floats, found {ty}"))
            .with_help("convert it first: `x.convert_element_type(ElementType::F32)`")
    })
}

/// Returns whether it is this infinity.
fn is_value(x: Value<'_>, infinity: f64) -> Result<Value<'_>> {
    Ok(match real_format(x)?.special {
        Special::Ieee => x.eq(infinity),
        Special::Fn | Special::Fnuz | Special::Finite | Special::PowerOfTwo => x.ne(x) & x.eq(x),
    })
}

/// Returns the type of the bits of floats that have a sign.
fn bits_of(x: Value<'_>) -> Result<ElementType> {
    let (ty, format) = (x.element_type()?, real_format(x)?);
    let unsigned = bits::unsigned(ty.bits()).filter(|_| format.special != Special::PowerOfTwo);
    unsigned.ok_or_else(|| {
        Error::argument(format!("`next_after` is not defined for {ty}"))
            .with_help("it takes real floats of 8 bits or more with a sign")
    })
}
/// Returns the next number, by the bits: magnitudes count up from 0 without gaps, the sign bit
/// stands above them.
fn next_after<'b>(from: Value<'b>, to: Value<'b>) -> Result<Value<'b>> {
    let (ty, format, unsigned) = (from.element_type()?, real_format(from)?, bits_of(from)?);
    let sign_bit = 1u64 << (format.exponent_bits + format.mantissa_bits);
    let word = |bits| bits::word(from, bits);
    let (bits, to_bits) = (from.bitcast_convert_type(unsigned), to.bitcast_convert_type(unsigned));
    let (magnitude, sign) = (bits & word(sign_bit - 1), bits & word(sign_bit));
    let (to_magnitude, to_sign) = (to_bits & word(sign_bit - 1), to_bits & word(sign_bit));
    let inward = sign.ne(to_sign) | magnitude.gt(to_magnitude);
    let moved = inward.select(magnitude - word(1), magnitude + word(1));
    // The code of -0 is NaN in types that have no -0.
    let sign = match format.special {
        Special::Fnuz => moved.eq(word(0)).select(word(0), sign),
        Special::Ieee | Special::Fn | Special::Finite | Special::PowerOfTwo => sign,
    };
    let step = magnitude.eq(word(0)).select(to_sign | word(1), sign | moved);
    let next = step.bitcast_convert_type(ty);
    let is_nan = from.ne(from) | to.ne(to);
    Ok(is_nan.select(from + to, from.eq(to).select(to, next)))
}
