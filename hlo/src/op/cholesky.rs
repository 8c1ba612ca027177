//! `cholesky`: the triangular square root of a matrix.
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Factors each matrix into a triangle times its adjoint.
    pub struct Cholesky {
        /// The lower triangle is read and written.
        pub lower: bool = "lower" or false;
    }
}

impl ShapeRule for Cholesky {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
