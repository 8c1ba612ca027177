//! Values of floats, changed array by array.
use crate::element::{Element, read, write};
use crate::kernels::{Number as _, is_number};
use crate::pair::Pair;
use hlo::{Array, ArrayShape, Literal, Shape};

/// Returns a value with its arrays of floats and complex numbers changed. `f` takes an array with the
/// shape that it has in a module.
pub(crate) fn each_array(
    shape: &Shape,
    value: &Literal,
    f: &impl Fn(&ArrayShape, &Array) -> Array,
) -> Literal {
    match (shape, value) {
        (Shape::Array(shape), Literal::Array(held)) if is_number(shape.ty) => {
            Literal::from(f(shape, held))
        }
        (Shape::Tuple(shapes), Literal::Tuple(_)) => {
            let parts = shapes.iter().zip(value.elements().unwrap_or_default());
            Literal::tuple(parts.map(|(shape, part)| each_array(shape, part, f)).collect())
        }
        _ => value.clone(),
    }
}

/// Returns an array with its elements changed, or the parts of its complex numbers.
pub(crate) fn each_element(
    shape: &ArrayShape,
    held: &Array,
    f: impl Fn(Element) -> Element,
) -> Array {
    match shape.ty.is_complex() {
        true => {
            let pairs = Pair::read(held).into_iter();
            Pair::write(shape, pairs.map(|Pair(re, im)| Pair(f(re), f(im))))
        }
        false => write(shape, read(held).into_iter().map(f)),
    }
}
