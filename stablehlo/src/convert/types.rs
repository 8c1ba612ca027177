//! Types as shapes.
use crate::error::{Code, Error, Result};
use crate::ir::{Dim, Tensor, Type};
use hlo::{ArrayShape, Dims, ElementType, Shape};

/// Returns the shape of values of a type; an `index` has 64 bits.
pub(super) fn shape(ty: &Type) -> Result<Shape> {
    match ty {
        Type::Tensor(tensor) => array(tensor).map(Shape::Array),
        Type::Element(element) => Ok(Shape::scalar(*element)),
        Type::Token => Ok(Shape::Token),
        Type::Tuple(types) => types.iter().map(shape).collect::<Result<_>>().map(Shape::Tuple),
        Type::Index => Ok(Shape::scalar(ElementType::S64)),
        Type::Function(..) => Err(no_counterpart("a function type")),
        Type::Other(text) => Err(no_counterpart(text)),
    }
}

/// Returns the shape of a tensor: bounds as sizes, dimensions without a bound as
/// [`ArrayShape::UNBOUNDED`].
pub(super) fn array(tensor: &Tensor) -> Result<ArrayShape> {
    let element = match &tensor.element {
        Ok(element) => *element,
        Err(name) if name == "index" => ElementType::S64,
        Err(text) => return Err(no_counterpart(text)),
    };
    let size = |dim: &Dim| match dim {
        Dim::Static(size) | Dim::Dynamic(Some(size)) => i64::try_from(*size).map_err(|_| {
            let message = format!("a dimension of size {size} has more than 2^63 - 1 elements");
            Error::from(Code::Type { message })
        }),
        Dim::Dynamic(None) => Ok(ArrayShape::UNBOUNDED),
    };
    let sizes: Dims = tensor.dims.iter().map(size).collect::<Result<_>>()?;
    let mut shape = ArrayShape::new(element, sizes);
    let dynamic: Vec<bool> = tensor.dims.iter().map(|dim| matches!(dim, Dim::Dynamic(_))).collect();
    shape.dynamic = dynamic.contains(&true).then(|| dynamic.into());
    Ok(shape)
}

fn no_counterpart(text: &str) -> Error {
    let error = Error::from(Code::Type { message: format!("HLO has no type for `{text}`") });
    if text.contains("quant") {
        return error.with_help("convert the program to integers: `stablehlo-opt --stablehlo-legalize-quantized-op-to-qdq --stablehlo-legalize-quant-to-math`");
    }
    error
}

/// Returns whether the type has a dimension without a bound, whose size must follow from the
/// operands.
pub(super) fn is_unbounded(ty: &Type) -> bool {
    match ty {
        Type::Tensor(tensor) => tensor.dims.contains(&Dim::Dynamic(None)),
        Type::Tuple(types) => types.iter().any(is_unbounded),
        Type::Element(_) | Type::Index | Type::Token | Type::Function(..) | Type::Other(_) => false,
    }
}

/// Returns whether a size is unknown.
pub(super) fn is_open(shape: &Shape) -> bool {
    let open = |leaf: &Shape| {
        leaf.array().is_some_and(|array| array.dims.contains(&ArrayShape::UNBOUNDED))
    };
    match shape {
        Shape::Array(_) => open(shape),
        Shape::Tuple(_) => shape.leaves().into_iter().any(open),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => false,
    }
}

/// Returns whether a value of shape `found` can have the stated shape: sizes that one of them
/// leaves open agree.
pub(super) fn agrees(stated: &Shape, found: &Shape) -> bool {
    match (stated, found) {
        (Shape::Array(a), Shape::Array(b)) => {
            let open = ArrayShape::UNBOUNDED;
            let same = |(a, b): (&i64, &i64)| a == b || *a == open || *b == open;
            a.ty == b.ty && a.rank() == b.rank() && a.dims.iter().zip(&b.dims).all(same)
        }
        (Shape::Tuple(a), Shape::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| agrees(a, b))
        }
        (
            Shape::Array(_) | Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_),
            Shape::Array(_) | Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_),
        ) => stated.compatible(found),
    }
}
