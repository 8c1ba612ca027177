//! `broadcast`: repeats an array along new dimensions.
use super::rules::List;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{Result, Shape};

attrs! {
    /// Repeats the operand along new dimensions.
    ///
    /// Operand dimension `d` becomes result dimension `dimensions[d]`; along every result dimension
    /// not listed, all elements are the same. Element `o` of the result is element
    /// `(o[dimensions[0]], o[dimensions[1]], ...)` of the operand. The list need not be sorted:
    /// `dimensions={1,0}` transposes. No dimension is expanded: one of size 1 stays of size 1,
    /// unlike in `StableHLO`'s `broadcast_in_dim`.
    ///
    /// # Shape
    ///
    /// The stated one. If omitted, it is that of the operand.
    ///
    /// # Constraints
    ///
    /// - `broadcast_in_dim_c1`: the result has the operand's element type.
    /// - `broadcast_in_dim_c2`: `dimensions` has one entry per operand dimension. The list may be
    ///   omitted only
    /// for a scalar.
    /// - `broadcast_in_dim_c3`, `_c4`: its entries are dimensions of the result, without
    ///   duplicates.
    /// - `broadcast_in_dim_c5`: a dimension keeps its size.
    pub struct Broadcast {
        /// For each operand dimension, the result dimension it becomes.
        pub dimensions: Vec<i64> = "dimensions" in dimensions, always Vec::new();
    }
}

impl ShapeRule for Broadcast {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operand = cx.array(0)?;
        let list = List { attribute: "dimensions", dims: &self.dimensions };
        let each = || format!("one per dimension of {operand:#}");
        list.counts(operand.rank(), "broadcast_in_dim_c2", each)?;
        // Without a stated shape XLA uses that of the operand.
        let Some(stated) = cx.stated else { return Ok(operand.clone().into()) };
        let result = cx.stated_array()?;
        list.within(result, "broadcast_in_dim_c3")?;
        list.unique("broadcast_in_dim_c4")?;
        for (&dim, &size) in self.dimensions.iter().zip(&operand.dims) {
            check(result.dim(dim) == Some(size), "broadcast_in_dim_c5", || {
                format!("a dimension of size {size} cannot be broadcast to dimension {dim} of {result:#}")
            })
            .map_err(|e| e.on(Place::Attribute("dimensions")))?;
        }
        check(result.ty == operand.ty, "broadcast_in_dim_c1", || {
            format!("a broadcast of {} cannot return {}", operand.ty, result.ty)
        })
        .map_err(|e| e.on(Place::Shape))?;
        Ok(stated.clone())
    }
}
