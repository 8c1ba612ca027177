//! `convert`, `reduce-precision`, `stochastic-convert`: conversion to another type.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ElementType, Result, Shape};

attrs! {
    /// Converts the values to another element type.
    ///
    /// To a float: rounded once, to the nearest, ties to even; values that are too large become
    /// infinite, or what the type has in its place. From a float to an integer the fraction is
    /// truncated, the range saturates, and NaN becomes 0. Between integers the low bits are kept.
    /// To `pred`: whether the value is not zero. From complex to real the real part is kept; from
    /// real to complex the imaginary part is 0.
    ///
    /// # Shape
    ///
    /// The stated element type, the operand's dimensions. Every type converts to every other.
    pub struct Convert {}
}
attrs! {
    /// Rounds to fewer bits of exponent and mantissa, and keeps the type.
    ///
    /// The value is rounded to the nearest that a float of this many bits of exponent and mantissa
    /// can represent, ties to even. Too large values become infinite, too small ones a zero of the
    /// same sign. NaN stays NaN.
    ///
    /// # Shape
    ///
    /// The operand's.
    ///
    /// # Constraints
    ///
    /// - `reduce_precision_c2`: there is at least one exponent bit.
    /// - `reduce_precision_c3`: the number of mantissa bits is not negative.
    /// - `E0303`: the operand is an array of floats.
    pub struct ReducePrecision {
        /// Bits of the exponent kept.
        pub exponent_bits: i64 = "exponent_bits" in exponent_bits;
        /// Bits of the mantissa kept.
        pub mantissa_bits: i64 = "mantissa_bits" in mantissa_bits;
    }
}
attrs! {
    /// Rounds up or down by a random number.
    pub struct StochasticConvert {}
}

impl ShapeRule for Convert {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (operand, result) = (cx.array(0)?, cx.stated_array()?);
        Ok(operand.with_type(result.ty).into())
    }
}
impl ShapeRule for ReducePrecision {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.types(0, ElementType::is_float, "float")?;
        check(self.exponent_bits >= 1, "reduce_precision_c2", || {
            format!("expected at least 1 exponent bit, found {}", self.exponent_bits)
        })
        .map_err(|e| e.on(Place::Attribute("exponent_bits")))?;
        check(self.mantissa_bits >= 0, "reduce_precision_c3", || {
            format!("expected at least 0 mantissa bits, found {}", self.mantissa_bits)
        })
        .map_err(|e| e.on(Place::Attribute("mantissa_bits")))?;
        Ok(cx.array(0)?.clone().into())
    }
}
impl ShapeRule for StochasticConvert {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.types(0, ElementType::is_float, "float")?;
        cx.types(1, |ty| ty.class() == crate::Class::Unsigned, "unsigned")?;
        let (operand, random) = (cx.array(0)?, cx.array(1)?);
        super::rule::same_dims(cx, operand, random, 1)?;
        check(operand.ty.bits() == random.ty.bits(), "stochastic_convert_random", || {
            format!(
                "the random numbers are {}, expected the {} bits of {}",
                random.ty,
                operand.ty.bits(),
                operand.ty
            )
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        Ok(operand.with_type(cx.stated_array()?.ty).into())
    }
}
