//! Matrices in the last two dimensions of arrays: products, triangles, adjoints, for the rules of linear algebra.
use super::ops;
use crate::{Result, Value};
use hlo::op::value::{DotAlgorithm, OperandPrecision, Precision, Transpose};
use hlo::op::{Dot, Iota, TriangularSolve};
use hlo::{ArrayShape, Dims, ElementType};

/// A matrix in a product.
#[derive(Debug, Clone, Copy)]
pub(super) enum Factor<'b> {
    Plain(Value<'b>),
    Turned(Value<'b>),
}

/// The products of the matrices of two batches.
pub(super) fn product<'b>(left: Factor<'b>, right: Factor<'b>) -> Result<Value<'b>> {
    let ((x, x_turned), (y, y_turned)) = (left.parts(), right.parts());
    let (x_shape, y_shape) = (x.array()?, y.array()?);
    let batch = x_shape.rank() - 2;
    let (x_free, x_sum) = if x_turned { (batch + 1, batch) } else { (batch, batch + 1) };
    let (y_free, y_sum) = if y_turned { (batch, batch + 1) } else { (batch + 1, batch) };
    let dot = Dot {
        lhs_batch_dims: ops::run(0, batch),
        lhs_contracting_dims: ops::run(x_sum, 1),
        rhs_batch_dims: ops::run(0, batch),
        rhs_contracting_dims: ops::run(y_sum, 1),
        operand_precision: OperandPrecision(vec![Precision::Highest; 2]),
        algorithm: DotAlgorithm::Unset,
    };
    let mut dims = Dims::from_slice(&x_shape.dims[..batch]);
    dims.extend([x_shape.dims[x_free], y_shape.dims[y_free]]);
    let shape = ArrayShape::new(x_shape.ty, dims);
    x.builder().emit(hlo::Op::Dot(Box::new(dot)), &[x, y], Some(shape.into()))
}
impl<'b> Factor<'b> {
    fn parts(self) -> (Value<'b>, bool) {
        match self {
            Self::Plain(value) => (value, false),
            Self::Turned(value) => (value, true),
        }
    }
}

pub(super) fn conjugate(value: Value<'_>) -> Result<Value<'_>> {
    Ok(if value.element_type()?.is_complex() { value.conj() } else { value })
}
pub(super) fn turned(value: Value<'_>) -> Result<Value<'_>> {
    let mut order = ops::run(0, value.rank()?);
    let last = order.len() - 1;
    order.swap(last, last - 1);
    Ok(ops::transposed(value, &order))
}
pub(super) fn adjoint(value: Value<'_>) -> Result<Value<'_>> {
    conjugate(turned(value)?)
}

/// Which elements of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Lower,
    Upper,
    BelowDiagonal,
    AboveDiagonal,
    Diagonal,
}
/// Whether each element of an array of matrices lies in this part.
pub(super) fn lies_in(value: Value<'_>, part: Part) -> Result<Value<'_>> {
    let shape = value.array()?.with_type(ElementType::S32);
    let last = ops::count(&shape.dims) - 1;
    let number = |d| {
        let iota = Iota { iota_dimension: Some(d) };
        value.builder().emit(iota, &[], Some(shape.clone().into()))
    };
    let (row, column) = (number(last - 1)?, number(last)?);
    Ok(match part {
        Part::Lower => row.ge(column),
        Part::Upper => row.le(column),
        Part::BelowDiagonal => row.gt(column),
        Part::AboveDiagonal => row.lt(column),
        Part::Diagonal => row.eq(column),
    })
}
/// The matrices with zeros in place of all elements but those of this part.
pub(super) fn only(value: Value<'_>, part: Part) -> Result<Value<'_>> {
    Ok(lies_in(value, part)?.select(value, ops::zeros_like(value)?))
}

/// `x` with `op(a) x = b`, or `x op(a) = b`.
pub(super) fn solve<'b>(op: &TriangularSolve, a: Value<'b>, b: Value<'b>) -> Result<Value<'b>> {
    a.builder().emit(op.clone(), &[a, b], None)
}
/// The same with the matrix transposed: of its adjoint, which has no transpose of its own, the conjugate.
pub(super) fn solve_turned<'b>(
    op: &TriangularSolve,
    a: Value<'b>,
    b: Value<'b>,
) -> Result<Value<'b>> {
    let (transpose_a, a) = match op.transpose_a {
        Transpose::None => (Transpose::Transpose, a),
        Transpose::Transpose => (Transpose::None, a),
        Transpose::Adjoint | Transpose::Invalid => (Transpose::None, conjugate(a)?),
    };
    solve(&TriangularSolve { transpose_a, ..op.clone() }, a, b)
}
