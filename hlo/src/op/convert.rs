//! `convert`, `reduce-precision`, `stochastic-convert`: values in another type.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// The value in another element type.
    pub struct Convert {
    }
}

impl ShapeRule for Convert {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Rounds to fewer bits and keeps the type.
    pub struct ReducePrecision {
        /// Bits of the exponent kept.
        pub exponent_bits: i64 = "exponent_bits";
        /// Bits of the mantissa kept.
        pub mantissa_bits: i64 = "mantissa_bits";
    }
}

impl ShapeRule for ReducePrecision {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Rounds up or down by a random number.
    pub struct StochasticConvert {
    }
}

impl ShapeRule for StochasticConvert {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
