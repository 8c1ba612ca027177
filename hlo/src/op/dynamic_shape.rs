//! `dynamic-reshape`, `get-dimension-size`, `set-dimension-size`: sizes known only at run time.
//!
//! A dimension written `<=5` is dynamic: its size is 5 at most, and known only when the program runs. The data always lies
//! in an array of the bounds; what counts is its beginning in each dimension. `<=5` and `5` fit each other wherever shapes
//! are compared, since a size of 5 is a size of at most 5.
use super::rules::only;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, ElementType, Result, Shape};

attrs! {
    /// The elements that count, in row-major order, under other dimensions, whose sizes the operands give.
    ///
    /// `dynamic-reshape(x, size0, size1, ...)`: one size for each dimension of the result.
    ///
    /// # Shape
    ///
    /// The stated one.
    ///
    /// # Refused
    ///
    /// - `dynamic_reshape_type`: the result has the operand's element type.
    /// - `dynamic_reshape_elements`: within the bounds both have the same number of elements.
    /// - `dynamic_reshape_sizes`: there is one scalar of type `s32` for each dimension of the result.
    pub struct DynamicReshape {
    }
}

impl ShapeRule for DynamicReshape {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(!cx.operands.is_empty(), "an operand and the sizes")?;
        let (operand, result) = (cx.array(0)?, cx.stated_array()?);
        check(operand.ty == result.ty, "dynamic_reshape_type", || {
            format!("a reshape of {} cannot give {}", operand.ty, result.ty)
        })
        .map_err(|e| e.on(Place::Shape))?;
        let (from, to) = (operand.element_count(), result.element_count());
        check(from.is_some() && from == to, "dynamic_reshape_elements", || {
            format!("{operand:#} and {result:#} do not have room for the same number of elements")
        })
        .map_err(|e| e.on(Place::Shape))?;
        let sizes = cx.operands.len() - 1;
        check(sizes == result.rank(), "dynamic_reshape_sizes", || {
            format!("{sizes} sizes are given for {result:#}")
        })?;
        for i in 1..cx.operands.len() {
            size(cx, i, "dynamic_reshape_sizes")?;
        }
        Ok(result.clone().into())
    }
}

attrs! {
    /// The size of a dimension: for a dynamic one the size it has at run time.
    ///
    /// # Shape
    ///
    /// `s32[]`.
    ///
    /// # Refused
    ///
    /// - `get_dimension_size_c1`: the operand has the dimension.
    /// - `get_dimension_size_bound`: its size fits `s32`.
    pub struct GetDimensionSize {
        /// The dimension; one entry.
        pub dimensions: Vec<i64> = "dimensions";
    }
}

impl ShapeRule for GetDimensionSize {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operand = cx.array(0)?;
        let at = dimension(&self.dimensions, operand, "get_dimension_size_c1")?;
        check(i32::try_from(operand.dims[at]).is_ok(), "get_dimension_size_bound", || {
            format!("the size of dimension {at} of {operand:#} does not fit s32")
        })
        .map_err(|e| e.on(Place::Operand(0)))?;
        Ok(Shape::scalar(ElementType::S32))
    }
}

attrs! {
    /// The same data, of which only as much counts in one dimension as an operand says.
    ///
    /// `set-dimension-size(x, size)`. A larger size than before makes elements count again that did not.
    ///
    /// # Shape
    ///
    /// The operand's, with the dimension dynamic. A stated shape may leave that out, as XLA does where the size is the
    /// bound.
    ///
    /// # Refused
    ///
    /// - `set_dimension_size_dimension`: the operand has the dimension.
    /// - `set_dimension_size_size`: the size is a scalar of type `s32`.
    pub struct SetDimensionSize {
        /// The dimension; one entry.
        pub dimensions: Vec<i64> = "dimensions";
    }
}

impl ShapeRule for SetDimensionSize {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let mut result = cx.array(0)?.clone();
        let at = dimension(&self.dimensions, &result, "set_dimension_size_dimension")?;
        size(cx, 1, "set_dimension_size_size")?;
        let rank = result.rank();
        result.dynamic.get_or_insert_with(|| vec![false; rank].into())[at] = true;
        Ok(result.into())
    }
}

/// The one dimension an attribute names.
fn dimension(dims: &[i64], operand: &ArrayShape, rule: &'static str) -> Result<usize> {
    let dim = only(dims, "dimensions")?;
    check(operand.dim(dim).is_some(), rule, || {
        format!("dimension {dim} does not exist in {operand:#}")
    })
    .map_err(|e| e.on(Place::Attribute("dimensions")))?;
    Ok(usize::try_from(dim).expect("checked above"))
}

/// Fails unless operand `i` is a size.
fn size(cx: &Infer<'_>, i: usize, rule: &'static str) -> Result<()> {
    let found = cx.operands[i];
    check(found.is_scalar(ElementType::S32), rule, || {
        format!("a size is a scalar of type s32, found {found:#}")
    })
    .map_err(|e| e.on(Place::Operand(i)))
}
