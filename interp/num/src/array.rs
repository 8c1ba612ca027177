//! Arrays as operands and results: sizes, filling, packing.
use crate::clock::Stop;
use crate::{Code, Error, Result};
use hlo::layout::LayoutTail;
use hlo::{Array, ArrayShape, Literal, Scalar, Shape};
use std::fmt::Display;
use std::sync::Arc;

/// Returns the shape of the stored data, where a dynamic dimension has its bound.
#[inline]
pub fn static_shape(shape: &ArrayShape) -> ArrayShape {
    ArrayShape { dynamic: None, ..shape.clone() }
}

/// Returns a value of this shape whose elements are zero.
#[inline]
pub fn zeros(shape: &Shape) -> Literal {
    match shape {
        Shape::Array(array) => Literal::zeros(static_shape(array)),
        Shape::Tuple(elements) => Literal::tuple(elements.iter().map(zeros).collect()),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => Literal::token(),
    }
}

/// Returns the total bytes of the arrays of a shape; `None` if they cannot be addressed.
pub fn bytes_of(shape: &Shape) -> Option<usize> {
    let mut bytes = 0usize;
    for leaf in shape.leaves() {
        if let Shape::Array(array) = leaf {
            let size = array.byte_count().filter(|&b| isize::try_from(b).is_ok())?;
            bytes = bytes.checked_add(size)?;
        }
    }
    Some(bytes)
}

/// Returns the bytes of an array.
///
/// # Errors
/// `E0405` if its elements cannot be addressed.
#[inline]
pub fn checked_bytes(shape: &ArrayShape) -> Result<usize> {
    let bytes = shape.byte_count().filter(|&b| isize::try_from(b).is_ok());
    bytes.ok_or_else(|| too_large(shape))
}

/// Returns the error of a shape whose elements cannot be addressed.
#[inline]
pub fn too_large(shape: &impl Display) -> Error {
    let message = format!("{shape} has more bytes than can be addressed");
    Code::OutOfMemory { message }.into()
}

/// Elements between two looks at whether a run is to stop, where an element takes some nanoseconds.
pub const PART: usize = 1 << 12;

/// Fills an array with the elements that `element` gives, in row-major order, or until the run is
/// to stop.
pub fn fill(array: &mut Array, mut element: impl FnMut(usize) -> Scalar) {
    let ty = array.shape().ty;
    let (width, stop) = (ty.storage_bytes(), Stop::current());
    let parts = array.bytes_mut().chunks_mut(PART * width).enumerate();
    for (number, part) in parts.take_while(|_| !stop.is_set()) {
        for (i, slot) in part.chunks_exact_mut(width).enumerate() {
            element(number * PART + i).write(ty, slot);
        }
    }
}

/// Returns an array whose elements `element` gives, in row-major order.
#[inline]
pub fn build(shape: &ArrayShape, element: impl FnMut(usize) -> Scalar) -> Array {
    let mut result = Array::zeros(shape.clone());
    fill(&mut result, element);
    result
}

/// Returns the arrays of a result: itself, or the elements of the tuple.
#[inline]
pub fn array_shapes(shape: &Shape) -> Vec<&ArrayShape> {
    shape.leaves().into_iter().filter_map(Shape::array).collect()
}

/// Packs the arrays of a result: one as it is, several as a tuple; `shape` says which.
#[inline]
pub fn pack(shape: &Shape, mut arrays: Vec<impl Into<Literal>>) -> Literal {
    match shape {
        Shape::Tuple(_) => Literal::tuple(arrays.into_iter().map(Into::into).collect()),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            arrays.swap_remove(0).into()
        }
    }
}

/// Returns the same value under the layouts of `shape`; nothing is copied.
pub fn with_layouts(value: Literal, shape: &Shape) -> Literal {
    if has_layouts(&value, shape) {
        return value;
    }
    match (shape, value.elements()) {
        (Shape::Array(array), _) => value.with_shape(Arc::new(static_shape(array))),
        (Shape::Tuple(shapes), Some(elements)) => {
            let elements = elements.iter().zip(shapes).map(|(e, s)| with_layouts(e.clone(), s));
            Literal::tuple(elements.collect())
        }
        _ => value,
    }
}

fn has_layouts(value: &Literal, shape: &Shape) -> bool {
    match (shape, value.elements()) {
        (Shape::Array(array), _) => value.array_shape().is_some_and(|found| {
            array.dynamic.is_none() && found.dims == array.dims && found.layout == array.layout
        }),
        (Shape::Tuple(shapes), Some(elements)) => {
            elements.iter().zip(shapes).all(|(e, s)| has_layouts(e, s))
        }
        _ => true,
    }
}

/// Returns whether the layout only orders the dimensions: the elements of an array follow each
/// other in memory.
#[inline]
pub fn only_orders(shape: &ArrayShape) -> bool {
    shape.layout.tail.as_deref().is_none_or(|tail| {
        tail.tiles.is_empty() && tail.element_size_in_bits == 0 && undefined_layout(tail).is_none()
    })
}

/// Returns the reason why a layout does not define the offsets of elements.
pub fn undefined_layout(tail: &LayoutTail) -> Option<&'static str> {
    let LayoutTail {
        tiles: _,                  // Defines offsets,
        element_size_in_bits: _,   // as this does.
        tail_padding_alignment: _, // Padding at the end moves no element,
        memory_space: _,           // nor does the name of the memory.
        index_type,
        pointer_type,
        split_configs,
        physical_shape,
        dynamic_shape_metadata_prefix_bytes,
    } = tail;
    if !split_configs.is_empty() {
        Some("is split over memories")
    } else if index_type.is_some() || pointer_type.is_some() {
        Some("holds indices or pointers")
    } else if physical_shape.is_some() {
        Some("has a physical shape of its own")
    } else if *dynamic_shape_metadata_prefix_bytes != 0 {
        Some("begins with its sizes")
    } else {
        None
    }
}
