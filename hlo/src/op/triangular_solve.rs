//! `triangular-solve`: solves a triangular system.
use super::value::Transpose;
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Solves with a triangular matrix.
    pub struct TriangularSolve {
        /// The matrix stands on the left.
        pub left_side: bool = "left_side" or false;
        /// The lower triangle is read.
        pub lower: bool = "lower" or false;
        /// The diagonal is taken to be 1.
        pub unit_diagonal: bool = "unit_diagonal" or false;
        /// The matrix is transposed first.
        pub transpose_a: Transpose = "transpose_a" or Transpose::Invalid;
    }
}

impl ShapeRule for TriangularSolve {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
