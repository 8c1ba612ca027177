//! `cholesky`: the Cholesky decomposition of matrices.
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, Result, Shape};

attrs! {
    /// Factors each matrix into a triangular matrix times its adjoint.
    pub struct Cholesky {
        /// Whether the lower triangle is read and written.
        pub lower: bool = "lower" in cholesky_options.lower or false;
    }
}

/// Returns sizes of the last two dimensions: rows and columns of each matrix.
pub(super) fn matrix(shape: &ArrayShape) -> Option<[i64; 2]> {
    match shape.dims.as_slice() {
        [.., rows, columns] => Some([*rows, *columns]),
        [] | [_] => None,
    }
}

impl ShapeRule for Cholesky {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let a = cx.array(0)?;
        cx.types(0, |ty| ty.is_float() || ty.is_complex(), "float, complex")?;
        let on_a = |e: crate::Error| e.on(Place::Operand(0));
        let sizes = matrix(a);
        check(sizes.is_some(), "cholesky_c2", || {
            format!("{a:#} is not a matrix: expected two dimensions or more")
        })
        .map_err(on_a)?;
        check(sizes.is_some_and(|[rows, columns]| rows == columns), "cholesky_c3", || {
            format!("the matrices of {a:#} are not square")
        })
        .map_err(on_a)?;
        Ok(a.clone().into())
    }
}
