//! `dynamic-slice` and `dynamic-update-slice`: slices with start indices known only at run time.
use super::rules::List;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, Result, Shape};

attrs! {
    /// Returns a slice of an array, with start indices known only at run time.
    ///
    /// `dynamic-slice(operand, i, j, ...)`: one scalar index per dimension, or, as in older texts,
    /// one vector of them all. Each index is clamped to `0..=size - slice size`, so that the slice
    /// is in bounds.
    ///
    /// # Shape
    ///
    /// The operand's type, `dynamic_slice_sizes`.
    ///
    /// # Constraints
    ///
    /// - `dynamic_slice_c2`: there are as many sizes, and as many indices (`E0202`), as dimensions.
    /// - `dynamic_slice_c3`: all indices have the same type. `dynamic_slice_index`: each is a
    ///   scalar.
    /// - `dynamic_slice_c4`: no size is negative or larger than the operand's.
    /// - `E0303`: indices are integers.
    pub struct DynamicSlice {
        /// Sizes of the slice.
        pub dynamic_slice_sizes: Vec<i64> = "dynamic_slice_sizes" in dynamic_slice_sizes;
    }
}
attrs! {
    /// Overwrites a slice of an array, with start indices known only at run time.
    ///
    /// `dynamic-update-slice(operand, update, i, j, ...)`: the operand, with the update in the
    /// slice of the same size that starts at the indices, which are clamped as in [`DynamicSlice`].
    ///
    /// # Shape
    ///
    /// The operand's.
    ///
    /// # Constraints
    ///
    /// - `dynamic_update_slice_c2`, `_c3`: operand and update have the same element type and rank.
    /// - `dynamic_update_slice_c4`: there are as many indices as dimensions (`E0202`).
    /// - `dynamic_update_slice_c5`: all indices have the same type. `dynamic_update_slice_index`:
    ///   each is a scalar.
    /// - `dynamic_update_slice_c6`: the update is not larger than the operand.
    /// - `E0303`: indices are integers.
    pub struct DynamicUpdateSlice {}
}

/// The labels of the rules for indices: one per dimension, scalars, of the same type.
struct SliceRules {
    count: &'static str,
    scalar: &'static str,
    same: &'static str,
}
const SLICE: SliceRules = SliceRules {
    count: "dynamic_slice_c2",
    scalar: "dynamic_slice_index",
    same: "dynamic_slice_c3",
};
const UPDATE: SliceRules = SliceRules {
    count: "dynamic_update_slice_c4",
    scalar: "dynamic_update_slice_index",
    same: "dynamic_update_slice_c5",
};

/// Checks that operands from `first` on are start indices for `operand`.
fn indices(cx: &Infer<'_>, first: usize, operand: &ArrayShape, rules: &SliceRules) -> Result<()> {
    let given = cx.operands.len().saturating_sub(first);
    let rank = operand.rank();
    let vector = given == 1 && cx.array(first)?.rank() == 1;
    if vector {
        let index = cx.array(first)?;
        check(index.dims[0] == i64::try_from(rank).unwrap_or(i64::MAX), rules.count, || {
            format!("{index:#} does not hold one index per dimension of {operand:#}")
        })
        .map_err(|e| e.on(Place::Operand(first)))?;
    } else {
        let array = if first == 1 { "an operand" } else { "an operand, an update" };
        cx.arity(given == rank, &format!("{array} and {rank} indices, one per dimension"))?;
    }
    for i in first..cx.operands.len() {
        let index = cx.array(i)?;
        cx.types(i, crate::ElementType::is_integral, "signed, unsigned")?;
        check(vector || index.rank() == 0, rules.scalar, || {
            format!("the index {index:#} is not a scalar")
        })
        .map_err(|e| e.on(Place::Operand(i)))?;
        let ty = cx.array(first)?.ty;
        check(index.ty == ty, rules.same, || format!("indices are {ty} and {}", index.ty))
            .map_err(|e| e.on(Place::Operand(i)))?;
    }
    Ok(())
}

impl ShapeRule for DynamicSlice {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(!cx.operands.is_empty(), "an operand and its indices")?;
        let operand = cx.array(0)?;
        indices(cx, 1, operand, &SLICE)?;
        let sizes = &self.dynamic_slice_sizes;
        List { attribute: "dynamic_slice_sizes", dims: sizes }.counts(
            operand.rank(),
            "dynamic_slice_c2",
            || format!("one per dimension of {operand:#}"),
        )?;
        for (&size, &dim) in sizes.iter().zip(&operand.dims) {
            check((0..=dim).contains(&size), "dynamic_slice_c4", || {
                format!("a slice of size {size} does not fit in a dimension of size {dim}")
            })
            .map_err(|e| e.on(Place::Attribute("dynamic_slice_sizes")))?;
        }
        // A slice of a dynamic dimension has a static size, as in XLA.
        let dims = sizes.iter().enumerate();
        let dims = dims.map(|(d, &size)| (size, operand.is_dynamic(d) && size == operand.dims[d]));
        Ok(super::rule::with_dims(operand.ty, dims).into())
    }
}
impl ShapeRule for DynamicUpdateSlice {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(cx.operands.len() >= 2, "an operand, an update and its indices")?;
        let (operand, update) = (cx.array(0)?, cx.array(1)?);
        indices(cx, 2, operand, &UPDATE)?;
        check(update.ty == operand.ty, "dynamic_update_slice_c2", || {
            format!("the update is {}, the operand is {}", update.ty, operand.ty)
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        check(update.rank() == operand.rank(), "dynamic_update_slice_c3", || {
            format!("the update {update:#} and the operand {operand:#} differ in rank")
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        let fits = update.dims.iter().zip(&operand.dims).all(|(u, o)| u <= o);
        check(fits, "dynamic_update_slice_c6", || {
            format!("the update {update:#} does not fit in {operand:#}")
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        Ok(operand.clone().into())
    }
}
