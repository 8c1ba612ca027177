//! `concatenate`: puts arrays end to end.
use super::rules::only;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{Result, Shape};

attrs! {
    /// Puts the operands end to end.
    pub struct Concatenate {
        /// The dimension along which; one entry.
        pub dimensions: Vec<i64> = "dimensions";
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
            format!("dimension {dim} does not exist in {first}")
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
                format!("{operand} and {first} differ in more than dimension {dim}")
            })
            .map_err(|e| e.on(Place::Operand(i)))?;
            result.dims[at] = result.dims[at].saturating_add(operand.dims[at]);
            result = super::rule::merge_dynamic(result, operand);
        }
        Ok(result.into())
    }
}
