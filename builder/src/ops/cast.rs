//! Bitcasts and roundings to fewer bits.
use super::shapes::emit_of_type;
use crate::Value;
use hlo::ElementType;
use hlo::op::{BitcastConvert, ReducePrecision, StochasticConvert};

impl Value<'_> {
    /// Returns the bits as another element type: XLA's `BitcastConvertType`.
    ///
    /// To a narrower type each element becomes several, along a new last dimension, the least
    /// significant first; to a wider one the last dimension is taken away, and must be as long as
    /// one element takes.
    ///
    /// ```
    /// use hlo::ElementType;
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant(1.0f32).bitcast_convert_type(ElementType::U16))?, &[])?;
    /// assert_eq!(result.to_string(), "u16[2]{0} {0, 16256}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "view")]
    #[track_caller]
    pub fn bitcast_convert_type(self, ty: ElementType) -> Self {
        self.record(|b| emit_of_type(b, BitcastConvert {}, &[self], Some(ty)))
    }
    /// Floats as integers, rounded up or down by chance: XLA's `StochasticConvertType`.
    ///
    /// `random` has unsigned integers of the width of the values and of their dimensions. A value
    /// goes away from zero where the number is below its fraction times `2^width`. XLA defines
    /// results of signed integers only; any other type can be built, and is `E0402` when it runs.
    #[track_caller]
    pub fn stochastic_convert_type(self, random: Self, ty: ElementType) -> Self {
        self.record(|b| emit_of_type(b, StochasticConvert {}, &[self, random], Some(ty)))
    }
    /// Floats rounded to the precision of a narrower format, in their own type: XLA's
    /// `ReducePrecision`.
    ///
    /// # Errors
    /// Kept by the builder: `E0301` for less than 1 bit of exponent or 0 of mantissa; `E0303` for
    /// values that are no floats.
    #[track_caller]
    pub fn reduce_precision(self, exponent_bits: i64, mantissa_bits: i64) -> Self {
        self.record(|b| b.emit(ReducePrecision { exponent_bits, mantissa_bits }, &[self], None))
    }
}
