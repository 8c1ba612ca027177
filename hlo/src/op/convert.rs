//! `convert`, `reduce-precision`, `stochastic-convert`: values in another type.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ElementType, Result, Shape};

attrs! {
    /// The values in another element type.
    ///
    /// To a float: rounded once, to the nearest, ties to even; what is too large becomes infinite, or what the type has in
    /// its place. From a float to an integer the fraction is cut off, the range saturates, and NaN gives 0. Between
    /// integers the low bits are kept. To `pred`: whether the value is not zero. From complex to real the real part is
    /// kept; from real to complex the imaginary part is 0.
    ///
    /// # Shape
    ///
    /// The stated element type, the operand's dimensions. Every type converts to every other.
    pub struct Convert {}
}
attrs! {
    /// Rounds to fewer bits and keeps the type.
    ///
    /// The value becomes the nearest that a float of so many bits of exponent and mantissa can hold, ties to even. What is
    /// too large becomes infinite, what is too small a zero of its sign. NaN stays NaN.
    ///
    /// # Shape
    ///
    /// The operand's.
    ///
    /// # Refused
    ///
    /// - `reduce_precision_c2`: less than one bit of exponent.
    /// - `reduce_precision_c3`: a negative number of bits of mantissa.
    /// - `E0303`: values that are no floats.
    pub struct ReducePrecision {
        /// Bits of the exponent kept.
        pub exponent_bits: i64 = "exponent_bits";
        /// Bits of the mantissa kept.
        pub mantissa_bits: i64 = "mantissa_bits";
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
            format!("{} exponent bits; the least is 1", self.exponent_bits)
        })
        .map_err(|e| e.on(Place::Attribute("exponent_bits")))?;
        check(self.mantissa_bits >= 0, "reduce_precision_c3", || {
            format!("{} mantissa bits; the least is 0", self.mantissa_bits)
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
            format!("random bits are {}, the operand {}", random.ty, operand.ty)
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        Ok(operand.with_type(cx.stated_array()?.ty).into())
    }
}
