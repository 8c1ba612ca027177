//! `dynamic-slice` and `dynamic-update-slice`: a box at a place known only at run time.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, Result, Shape};

attrs! {
    /// Takes a box whose place is given by operands: one scalar index a dimension, or one vector of them all.
    ///
    /// Each index is limited so that the box lies inside the operand.
    pub struct DynamicSlice {
        /// Sizes of the box.
        pub dynamic_slice_sizes: Vec<i64> = "dynamic_slice_sizes";
    }
}
attrs! {
    /// Overwrites a box whose place is given by operands.
    pub struct DynamicUpdateSlice {}
}

/// Operands from `first` on are start indices for `operand`.
fn indices(cx: &Infer<'_>, first: usize, operand: &ArrayShape, rule: &'static str) -> Result<()> {
    let given = cx.operands.len().saturating_sub(first);
    let rank = operand.rank();
    let vector = given == 1 && cx.array(first)?.rank() == 1;
    if vector {
        let index = cx.array(first)?;
        check(index.dims[0] == i64::try_from(rank).unwrap_or(i64::MAX), rule, || {
            format!("{} indices are given for an operand of rank {rank}", index.dims[0])
        })
        .map_err(|e| e.on(Place::Operand(first)))?;
    } else {
        cx.arity(given == rank, &format!("{first} operands and an index for each dimension"))?;
    }
    for i in first..cx.operands.len() {
        let index = cx.array(i)?;
        cx.types(i, crate::ElementType::is_integral, "signed, unsigned")?;
        check(vector || index.rank() == 0, rule, || format!("index {index} is no scalar"))
            .map_err(|e| e.on(Place::Operand(i)))?;
        let ty = cx.array(first)?.ty;
        check(index.ty == ty, rule, || format!("indices are {ty} and {}", index.ty))
            .map_err(|e| e.on(Place::Operand(i)))?;
    }
    Ok(())
}

impl ShapeRule for DynamicSlice {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(!cx.operands.is_empty(), "an operand and its indices")?;
        let operand = cx.array(0)?;
        indices(cx, 1, operand, "dynamic_slice_c3")?;
        let sizes = &self.dynamic_slice_sizes;
        check(sizes.len() == operand.rank(), "dynamic_slice_c2", || {
            format!("{} sizes are given for an operand of rank {}", sizes.len(), operand.rank())
        })
        .map_err(|e| e.on(Place::Attribute("dynamic_slice_sizes")))?;
        for (&size, &dim) in sizes.iter().zip(&operand.dims) {
            check((0..=dim).contains(&size), "dynamic_slice_c4", || {
                format!("a slice of size {size} does not fit a dimension of size {dim}")
            })
            .map_err(|e| e.on(Place::Attribute("dynamic_slice_sizes")))?;
        }
        Ok(ArrayShape::new(operand.ty, sizes.as_slice()).into())
    }
}
impl ShapeRule for DynamicUpdateSlice {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(cx.operands.len() >= 2, "an operand, an update and its indices")?;
        let (operand, update) = (cx.array(0)?, cx.array(1)?);
        indices(cx, 2, operand, "dynamic_update_slice_c4")?;
        check(update.ty == operand.ty, "dynamic_update_slice_c2", || {
            format!("the update is {}, the operand {}", update.ty, operand.ty)
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        let fits = update.rank() == operand.rank()
            && update.dims.iter().zip(&operand.dims).all(|(u, o)| u <= o);
        check(fits, "dynamic_update_slice_c6", || {
            format!("the update {update} does not fit into {operand}")
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        Ok(operand.clone().into())
    }
}
