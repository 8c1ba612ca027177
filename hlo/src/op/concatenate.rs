//! `concatenate`: concatenates arrays.
use super::rules::only;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{Result, Shape};

attrs! {
    /// Concatenates the operands along a dimension.
    ///
    /// # Shape
    ///
    /// The first operand's, with the sum of all sizes in the dimension.
    ///
    /// # Constraints
    ///
    /// - `E0202`: there is an operand. `E0107`: there is exactly one dimension.
    /// - `concatenate_c1`: all operands have the same element type.
    /// - `concatenate_c2`: they have the same sizes in all other dimensions.
    /// - `concatenate_c4`: the dimension is one of the operands'.
    /// - `concatenate_c6`: the sum fits in 64 bits.
    pub struct Concatenate {
        /// The dimension; one entry.
        pub dimensions: Vec<i64> = "dimensions" in dimensions;
    }
}

impl ShapeRule for Concatenate {
    fn complete(&mut self, _: &[&Shape], _: Option<&Shape>) -> Result<()> {
        only(&self.dimensions, "dimensions").map(drop)
    }
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(!cx.operands.is_empty(), "at least 1 operand")?;
        let first = cx.array(0)?;
        let dim = only(&self.dimensions, "dimensions")?;
        check(first.dim(dim).is_some(), "concatenate_c4", || {
            format!("dimension {dim} does not exist in {first:#}")
        })
        .map_err(|e| e.on(Place::Attribute("dimensions")))?;
        let at = usize::try_from(dim).expect("checked above");
        let mut result = first.clone();
        for (i, operand) in cx.arrays()?.into_iter().enumerate().skip(1) {
            check(operand.ty == first.ty, "concatenate_c1", || {
                format!("operands are {} and {}", first.ty, operand.ty)
            })
            .map_err(|e| e.on(Place::Operand(i)))?;
            let same = operand.rank() == first.rank()
                && (0..first.rank()).all(|d| d == at || operand.dims[d] == first.dims[d]);
            check(same, "concatenate_c2", || {
                format!("{first:#} and {operand:#} differ in dimensions other than {dim}")
            })
            .map_err(|e| e.on(Place::Operand(i)))?;
            let sum = result.dims[at].checked_add(operand.dims[at]);
            check(sum.is_some(), "concatenate_c6", || {
                format!(
                    "the sum of the sizes {} and {} overflows 64 bits",
                    result.dims[at], operand.dims[at]
                )
            })
            .map_err(|e| e.on(Place::Operand(i)))?;
            result.dims[at] = sum.expect("checked above");
            result = super::rule::merge_dynamic(result, operand);
        }
        Ok(result.into())
    }
}
