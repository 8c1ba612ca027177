//! `pad`: adds a value around and between elements.
use super::value::PaddingConfig;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::diag::quantity;
use crate::{ArrayShape, Dims, Result, Shape};

attrs! {
    /// Adds the padding value around and between the elements.
    ///
    /// `pad(operand, value)`. First `interior` values are added between each two neighbors of a
    /// dimension, then `low` before the first and `high` after the last. A negative `low` or `high`
    /// removes elements instead, including interior padding.
    ///
    /// # Shape
    ///
    /// The operand's type; a dimension of size `n` becomes `low + n + (n - 1) * interior + high`,
    /// an empty one `low + high`.
    ///
    /// # Constraints
    ///
    /// - `pad_c1`: the value is a scalar of the operand's type.
    /// - `pad_c2`: `padding` has one entry per dimension.
    /// - `pad_c3`: `interior` is not negative.
    /// - `pad_c4`: no size is negative or overflows 64 bits.
    pub struct Pad {
        /// The padding of each dimension.
        pub padding: PaddingConfig = "padding" in padding_config;
    }
}

impl ShapeRule for Pad {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (operand, value) = (cx.array(0)?, cx.array(1)?);
        check(value.rank() == 0 && value.ty == operand.ty, "pad_c1", || {
            format!("the padding value is {value:#}, expected {}[]", operand.ty)
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        let given = self.padding.dims.len();
        check(given == operand.rank(), "pad_c2", || {
            format!(
                "`padding` covers {}, {operand:#} has {}",
                quantity(given, "dimension"),
                operand.rank()
            )
        })
        .map_err(|e| e.on(Place::Attribute("padding")))?;
        let mut dims = Dims::new();
        for (padding, &size) in self.padding.dims.iter().zip(&operand.dims) {
            check(padding.interior >= 0, "pad_c3", || {
                format!("interior padding {} is negative", padding.interior)
            })
            .map_err(|e| e.on(Place::Attribute("padding")))?;
            let holes = i128::from((size - 1).max(0)) * i128::from(padding.interior);
            let padded =
                i128::from(size) + i128::from(padding.low) + i128::from(padding.high) + holes;
            check((0..=i128::from(i64::MAX)).contains(&padded), "pad_c4", || {
                format!("padding changes size {size} to {padded}")
            })
            .map_err(|e| e.on(Place::Attribute("padding")))?;
            dims.push(i64::try_from(padded).expect("checked above"));
        }
        Ok(ArrayShape { dynamic: operand.dynamic.clone(), ..ArrayShape::new(operand.ty, dims) }
            .into())
    }
}
