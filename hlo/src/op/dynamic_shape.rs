//! `dynamic-reshape`, `get-dimension-size`, `set-dimension-size`: sizes known only at run time.
//!
//! A dimension written `<=5` is dynamic: its size is at most 5, and known only at run time. The
//! data is always stored in an array of the bounds; the beginning of each dimension is valid. `<=5`
//! and `5` are compatible wherever shapes are compared, since a size of 5 is a size of at most 5.
use super::rules::only;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::diag::quantity;
use crate::{ArrayShape, ElementType, Result, Shape};

attrs! {
    /// Reshapes the valid elements, in row-major order, to dimensions whose sizes are operands.
    ///
    /// `dynamic-reshape(x, size0, size1, ...)`: one size per dimension of the result.
    ///
    /// # Shape
    ///
    /// The stated one.
    ///
    /// # Constraints
    ///
    /// - `dynamic_reshape_type`: the result has the operand's element type.
    /// - `dynamic_reshape_elements`: the bounds of both have the same number of elements.
    /// - `dynamic_reshape_sizes`: there is one `s32[]` per dimension of the result.
    pub struct DynamicReshape {
    }
}

impl ShapeRule for DynamicReshape {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(!cx.operands.is_empty(), "an operand and the sizes")?;
        let (operand, result) = (cx.array(0)?, cx.stated_array()?);
        check(operand.ty == result.ty, "dynamic_reshape_type", || {
            format!("a reshape of {} cannot return {}", operand.ty, result.ty)
        })
        .map_err(|e| e.on(Place::Shape))?;
        let (from, to) = (operand.element_count(), result.element_count());
        check(from.is_some() && from == to, "dynamic_reshape_elements", || {
            format!("{operand:#} and {result:#} have bounds for different numbers of elements")
        })
        .map_err(|e| e.on(Place::Shape))?;
        let sizes = cx.operands.len() - 1;
        check(sizes == result.rank(), "dynamic_reshape_sizes", || {
            format!("found {}, expected one per dimension of {result:#}", quantity(sizes, "size"))
        })?;
        for i in 1..cx.operands.len() {
            size(cx, i, "dynamic_reshape_sizes")?;
        }
        Ok(result.clone().into())
    }
}

attrs! {
    /// Returns the size of a dimension: for a dynamic one its size at run time.
    ///
    /// # Shape
    ///
    /// `s32[]`.
    ///
    /// # Constraints
    ///
    /// - `get_dimension_size_c1`: the operand has the dimension.
    /// - `get_dimension_size_bound`: its size fits in `s32`.
    pub struct GetDimensionSize {
        /// The dimension; one entry.
        pub dimensions: Vec<i64> = "dimensions" in dimensions;
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
    /// Sets the dynamic size of a dimension; the data stays the same.
    ///
    /// `set-dimension-size(x, size)`. A larger size than before makes padding valid again.
    ///
    /// # Shape
    ///
    /// The operand's, with the dimension dynamic. A stated shape may omit that, as XLA does if the
    /// size is the bound.
    ///
    /// # Constraints
    ///
    /// - `set_dimension_size_dimension`: the operand has the dimension.
    /// - `set_dimension_size_size`: the size is a scalar of type `s32`.
    pub struct SetDimensionSize {
        /// The dimension; one entry.
        pub dimensions: Vec<i64> = "dimensions" in dimensions;
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

/// Returns the dimension of an attribute with one entry.
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
        format!("expected s32[] as the size, found {found:#}")
    })
    .map_err(|e| e.on(Place::Operand(i)))
}
