//! Iota, filled constants and constants with a layout; logical ops of three and more operands.
use super::shapes::sizes;
use crate::arguments::{counted, size};
use crate::{Builder, Element, Error, IntoLiteral, IntoShape, Result, Value, implicit};
use hlo::layout::Layout;
use hlo::op::{Binary, Iota};
use hlo::{ArrayShape, ElementType, Literal, Op};

impl Builder {
    /// Counts from 0 along a dimension of this shape: XLA's `Iota` with a shape. The dimension may
    /// be counted from the end.
    ///
    /// A count that the element type does not hold wraps, or is rounded.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.iota("s32[2,3]", 1))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[2,3]{1,0} { { 0, 1, 2 }, { 0, 1, 2 } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` for a shape with dynamic dimensions; `E0301` for `pred`, and
    /// for a dimension that does not exist.
    #[track_caller]
    pub fn iota(&self, shape: impl IntoShape, iota_dimension: i64) -> Value<'_> {
        self.record(|b| {
            let shape = shape.into_shape()?;
            if shape.array().is_some_and(|array| array.dynamic.is_some()) {
                let message = format!("the dynamic sizes of {shape:#} are unknown");
                return Err(Error::argument(message)
                    .with_help("count up to the bound, then use `set_dimension_size`"));
            }
            let rank = shape.array().map_or(0, ArrayShape::rank);
            let found = counted(iota_dimension, rank);
            // A dimension that does not exist is named as it was given.
            let known = if (0..size(rank)).contains(&found) { found } else { iota_dimension };
            b.emit(Iota { iota_dimension: Some(known) }, &[], Some(shape))
        })
    }
    /// Returns the numbers from 0 to `size - 1`: XLA's `Iota` with a size.
    #[doc(alias = "arange")]
    #[track_caller]
    pub fn iota_1d(&self, ty: ElementType, size: i64) -> Value<'_> {
        self.record(|b| Ok(b.iota(ArrayShape::new(ty, sizes(&[size])?), 0)))
    }
    /// Returns a vector of one number over and over: XLA's `ConstantR1` with a length.
    #[track_caller]
    pub fn constant_r1_filled<T: Element>(&self, length: i64, value: T) -> Value<'_> {
        self.record(|b| {
            let shape = ArrayShape::new(T::TYPE, sizes(&[length])?);
            let scalar = Literal::scalar(T::TYPE, value.scalar());
            match length {
                0 => b.make_constant(Literal::zeros(shape)),
                1 => b.make_constant(scalar.with_shape(shape)),
                _ => implicit::splat(b.make_constant(scalar)?, &shape),
            }
        })
    }
    /// Returns a constant in a layout of its own, the dimension that varies fastest first: XLA's
    /// `ConstantFromArrayWithLayout`.
    ///
    /// The layout says how the elements lie in memory; it changes no value.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` unless `minor_to_major` has each dimension once; as
    /// [`Builder::constant`].
    #[track_caller]
    pub fn constant_with_layout(
        &self,
        value: impl IntoLiteral,
        minor_to_major: &[i64],
    ) -> Value<'_> {
        self.record(|b| {
            let literal = value.into_literal()?;
            let Some(shape) = literal.array_shape() else {
                return Err(Error::argument("a tuple has no layout of its own"));
            };
            let layout =
                Layout { minor_to_major: minor_to_major.iter().copied().collect(), tail: None };
            if !layout.is_permutation(shape.rank()) {
                let message = format!(
                    "the layout {minor_to_major:?} does not order the dimensions of {shape:#}"
                );
                return Err(Error::argument(message)
                    .with_help("name each dimension once, the one that varies fastest first"));
            }
            let shape = ArrayShape { layout, ..shape.clone() };
            b.make_constant(literal.with_shape(shape))
        })
    }
    /// Returns the bits set in all of them, or whether all are true: XLA's `And` of three and more,
    /// `a & (b & c)`.
    #[track_caller]
    pub fn and_all<'b>(&'b self, operands: &[Value<'b>]) -> Value<'b> {
        self.record(|b| fold(b, Binary::And, operands))
    }
    /// Returns the bits set in any of them, or whether any is true: XLA's `Or` of three and more,
    /// `a | (b | c)`.
    #[track_caller]
    pub fn or_all<'b>(&'b self, operands: &[Value<'b>]) -> Value<'b> {
        self.record(|b| fold(b, Binary::Or, operands))
    }
}

fn fold<'b>(b: &'b Builder, op: Binary, operands: &[Value<'b>]) -> Result<Value<'b>> {
    let Some((&last, others)) = operands.split_last() else {
        let message = format!("`{}` of an empty list", Op::from(op).opcode());
        return Err(Error::argument(message).with_help("give one value or more"));
    };
    b.owns(last)?;
    others
        .iter()
        .rev()
        .try_fold(last, |folded, &value| crate::elementwise::binary(op, value, folded, value))
}
