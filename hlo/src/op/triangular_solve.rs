//! `triangular-solve`: solves triangular systems of equations.
use super::cholesky::matrix;
use super::value::Transpose;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, Error, Result, Shape};

attrs! {
    /// Solves systems of equations with a triangular matrix.
    pub struct TriangularSolve {
        /// Whether the matrix is on the left.
        pub left_side: bool = "left_side" in triangular_solve_options.left_side or false;
        /// Whether the lower triangle is read.
        pub lower: bool = "lower" in triangular_solve_options.lower or false;
        /// Whether the diagonal is assumed to be 1.
        pub unit_diagonal: bool = "unit_diagonal" in triangular_solve_options.unit_diagonal or false;
        /// Whether the matrix is transposed.
        pub transpose_a: Transpose = "transpose_a" in triangular_solve_options.transpose_a or Transpose::Invalid;
    }
}

impl TriangularSolve {
    /// Checks that the matrices fit each other, and that the batch dimensions agree.
    fn sizes(&self, a: &ArrayShape, b: &ArrayShape) -> Result<()> {
        let (Some([rows, columns]), Some([b_rows, b_columns])) = (matrix(a), matrix(b)) else {
            return check(false, "triangular_solve_c2", || {
                format!("operands are {a:#} and {b:#}, expected two dimensions or more")
            });
        };
        check(a.rank() == b.rank(), "triangular_solve_c2", || {
            format!("operands {a:#} and {b:#} differ in rank")
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        check(rows == columns, "triangular_solve_square", || {
            format!("the matrices of {a:#} are not square")
        })
        .map_err(|e| e.on(Place::Operand(0)))?;
        let (size, name) = if self.left_side { (b_rows, "rows") } else { (b_columns, "columns") };
        let batch = |shape: &ArrayShape| shape.dims.split_at(shape.rank() - 2).0.to_vec();
        let fits = rows == size && batch(a) == batch(b);
        check(fits, "triangular_solve_c3", || {
            format!(
                "{b:#} does not fit {a:#}: expected the same batch dimensions, and {rows} {name}"
            )
        })
        .map_err(|e| {
            let side = if self.left_side { "right" } else { "left" };
            e.on(Place::Operand(1)).with_help(format!(
                "write `left_side={}` to put the matrix on the {side} of the unknown",
                !self.left_side
            ))
        })
    }
}

impl ShapeRule for TriangularSolve {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (a, b) = (cx.array(0)?, cx.array(1)?);
        cx.types(0, |ty| ty.is_float() || ty.is_complex(), "float, complex")?;
        check(a.ty == b.ty, "triangular_solve_c1", || {
            format!("operands are of types {} and {}", a.ty, b.ty)
        })
        .map_err(|e| e.on(Place::Operand(1)))?;
        self.sizes(a, b)?;
        check(self.transpose_a != Transpose::Invalid, "triangular_solve_transpose", || {
            "`triangular-solve` needs `transpose_a`".to_owned()
        })
        .map_err(|e: Error| {
            e.on(Place::Attribute("transpose_a"))
                .with_help("write `transpose_a=NO_TRANSPOSE`, `TRANSPOSE` or `ADJOINT`")
        })?;
        Ok(b.clone().into())
    }
}
