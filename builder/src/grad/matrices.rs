//! Matrices in the last two dimensions of arrays: products, triangles, adjoints, for the rules of
//! linear algebra.
use super::ops;
use crate::options::{DotDimensionNumbers, DotOptions};
use crate::{Result, Value};
use hlo::ElementType;
use hlo::op::TriangularSolve;
use hlo::op::value::{Precision, Transpose};

/// A matrix in a product.
#[derive(Debug, Clone, Copy)]
pub(super) enum Factor<'b> {
    Plain(Value<'b>),
    Transposed(Value<'b>),
}

/// Returns the products of the matrices of two batches.
pub(super) fn product<'b>(left: Factor<'b>, right: Factor<'b>) -> Result<Value<'b>> {
    let ((x, x_transposed), (y, y_transposed)) = (left.parts(), right.parts());
    let batch = x.rank()? - 2;
    let x_sum = if x_transposed { batch } else { batch + 1 };
    let y_sum = if y_transposed { batch + 1 } else { batch };
    let numbers = DotDimensionNumbers {
        lhs_batch_dimensions: ops::run(0, batch),
        lhs_contracting_dimensions: ops::run(x_sum, 1),
        rhs_batch_dimensions: ops::run(0, batch),
        rhs_contracting_dimensions: ops::run(y_sum, 1),
    };
    let options = DotOptions { precision: [Precision::Highest; 2], ..DotOptions::default() };
    Ok(x.dot_general(y, &numbers, &options))
}
impl<'b> Factor<'b> {
    fn parts(self) -> (Value<'b>, bool) {
        match self {
            Self::Plain(value) => (value, false),
            Self::Transposed(value) => (value, true),
        }
    }
}

pub(super) fn conjugate(value: Value<'_>) -> Value<'_> {
    value.conj()
}
pub(super) fn transposed(value: Value<'_>) -> Value<'_> {
    value.transpose_in_minor_dims()
}
pub(super) fn adjoint(value: Value<'_>) -> Value<'_> {
    conjugate(transposed(value))
}

/// Which elements of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MatrixPart {
    Lower,
    Upper,
    BelowDiagonal,
    AboveDiagonal,
    Diagonal,
}
/// Returns a mask of the elements in this part of each matrix.
pub(super) fn lies_in(value: Value<'_>, part: MatrixPart) -> Result<Value<'_>> {
    let (b, shape) = (value.builder(), value.array()?.with_type(ElementType::S32));
    let (row, column) = (b.iota(shape.clone(), -2), b.iota(shape, -1));
    Ok(match part {
        MatrixPart::Lower => row.ge(column),
        MatrixPart::Upper => row.le(column),
        MatrixPart::BelowDiagonal => row.gt(column),
        MatrixPart::AboveDiagonal => row.lt(column),
        MatrixPart::Diagonal => row.eq(column),
    })
}
/// Returns the matrices with zeros in place of all elements but those of this part.
pub(super) fn only(value: Value<'_>, part: MatrixPart) -> Result<Value<'_>> {
    Ok(lies_in(value, part)?.select(value, 0))
}

/// Returns the diagonal made real of complex matrices.
pub(super) fn real_diagonal(value: Value<'_>) -> Result<Value<'_>> {
    let ty = value.element_type()?;
    if !ty.is_complex() {
        return Ok(value);
    }
    let real = value.real().convert_element_type(ty);
    Ok(lies_in(value, MatrixPart::Diagonal)?.select(real, value))
}
/// Returns the Hermitian matrices that have this lower triangle, or upper one.
pub(super) fn hermitian(value: Value<'_>, lower: bool) -> Result<Value<'_>> {
    let value = if lower { value } else { adjoint(value) };
    let below = only(value, MatrixPart::BelowDiagonal)?;
    Ok(real_diagonal(only(value, MatrixPart::Lower)?)? + adjoint(below))
}

/// Returns `x` with `op(a) x = b`, or `x op(a) = b`.
pub(super) fn solve<'b>(op: &TriangularSolve, a: Value<'b>, b: Value<'b>) -> Result<Value<'b>> {
    a.builder().emit(op.clone(), &[a, b], None)
}
/// Solves with the transposed matrix: of its adjoint, which has no transpose of its own, the
/// conjugate.
pub(super) fn solve_transposed<'b>(
    op: &TriangularSolve,
    a: Value<'b>,
    b: Value<'b>,
) -> Result<Value<'b>> {
    let (transpose_a, a) = match op.transpose_a {
        Transpose::None => (Transpose::Transpose, a),
        Transpose::Transpose => (Transpose::None, a),
        Transpose::Adjoint | Transpose::Invalid => (Transpose::None, conjugate(a)),
    };
    solve(&TriangularSolve { transpose_a, ..op.clone() }, a, b)
}
