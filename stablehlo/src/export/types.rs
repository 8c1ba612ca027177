//! Shapes as types.
use crate::dense;
use crate::element;
use crate::error::{Error, Result};
use crate::ir::{Dense, Dim, Tensor, Type};
use hlo::{Array, ArrayShape, Shape};

/// Returns the type of values of a shape.
pub(super) fn of_shape(shape: &Shape) -> Result<Type> {
    match shape {
        Shape::Array(array) => of_array(array).map(Type::Tensor),
        Shape::Token => Ok(Type::Token),
        Shape::Tuple(parts) => parts.iter().map(of_shape).collect::<Result<_>>().map(Type::Tuple),
        Shape::Opaque | Shape::Buffer(_) => {
            Err(Error::unsupported(format!("StableHLO has no type for `{shape:#}`")))
        }
    }
}
/// Returns the type of arrays of a shape.
pub(super) fn of_array(shape: &ArrayShape) -> Result<Tensor> {
    if element::element(element::name(shape.ty)).is_none() {
        return Err(Error::unsupported(format!("StableHLO has no type for `{}`", shape.ty)));
    }
    let dim = |(i, &size): (usize, &i64)| {
        let known = u64::try_from(size).ok();
        if shape.is_dynamic(i) { Dim::Dynamic(known) } else { Dim::Static(known.unwrap_or(0)) }
    };
    let dims = shape.dims.iter().enumerate().map(dim).collect();
    Ok(Tensor { dims, element: Ok(shape.ty) })
}
/// Returns an array as the value of a constant.
pub(super) fn of_literal(array: &Array) -> Result<Dense> {
    let ty = of_array(array.shape())?;
    dense::from_bytes(ty, array.bytes())
        .ok_or_else(|| Error::internal("an array has other bytes than its shape"))
}
