//! Values of a run: arrays, tuples, tokens, and asynchronous operations.
use crate::clock::Stop;
use crate::memory::Reservation;
use crate::{Code, Error, Result};
use hlo::{ArrayShape, Literal, Scalar, Shape};
use std::fmt::Display;
use std::sync::Arc;

/// The identity of an asynchronous operation: `async-start`, `all-gather-start` and the like.
///
/// Each execution of a start has its own number. It pairs a `-done` with its start, wherever the value was
/// passed in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AsyncId(u64);

impl AsyncId {
    /// Returns the id with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }
    /// Returns the number of the id.
    pub const fn number(self) -> u64 {
        self.0
    }
}

/// A value inside a run.
///
/// The value of an asynchronous operation has the tuple shape of its `-start`; each leaf of it is the [`AsyncId`].
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An array.
    Array(Literal),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A token.
    Token,
    /// An asynchronous operation.
    Async(AsyncId),
}

impl Value {
    /// Returns the value of a `recv` of this shape. Its data is that of an operation that is not done.
    pub fn receiving(shape: &Shape) -> Self {
        match shape {
            Shape::Tuple(parts) => {
                let rest = parts.iter().skip(1).map(|part| Self::from(zeros(part)));
                let data = parts.first().map(Self::awaited);
                Self::Tuple(data.into_iter().chain(rest).collect())
            }
            Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
                Self::awaited(shape)
            }
        }
    }
    /// Returns a value of this shape that nothing may read.
    fn awaited(shape: &Shape) -> Self {
        match shape {
            Shape::Tuple(parts) => Self::Tuple(parts.iter().map(Self::awaited).collect()),
            Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
                Self::Async(AsyncId::new(u64::MAX))
            }
        }
    }
    /// Returns the asynchronous operation, if this is the value of one.
    pub fn async_id(&self) -> Option<AsyncId> {
        match self {
            Self::Async(id) => Some(*id),
            Self::Tuple(elements) => elements.iter().find_map(Self::async_id),
            Self::Array(_) | Self::Token => None,
        }
    }
    /// Returns the value as a literal.
    ///
    /// # Errors
    /// `E0408` if part of it is an asynchronous operation in progress.
    pub fn into_literal(self) -> Result<Literal> {
        Ok(match self {
            Self::Array(array) => array,
            Self::Tuple(elements) => {
                let elements = elements.into_iter().map(Self::into_literal);
                Literal::tuple(elements.collect::<Result<_>>()?)
            }
            Self::Token => Literal::token(),
            Self::Async(_) => return Err(not_done()),
        })
    }
    /// Returns whether it is a value of this shape inside a run, where a dynamic dimension takes its bound. An
    /// asynchronous operation fits any shape.
    pub(crate) fn fits(&self, shape: &Shape) -> bool {
        match (self, shape) {
            (Self::Array(array), Shape::Array(shape)) => {
                array.array_shape().is_some_and(|a| a.ty == shape.ty && a.dims == shape.dims)
            }
            (Self::Tuple(elements), Shape::Tuple(shapes)) => {
                elements.len() == shapes.len()
                    && elements.iter().zip(shapes.iter()).all(|(e, shape)| e.fits(shape))
            }
            (Self::Token, Shape::Token | Shape::Opaque | Shape::Buffer(_))
            | (Self::Async(_), _) => true,
            (Self::Array(_) | Self::Tuple(_) | Self::Token, _) => false,
        }
    }
    /// Charges the memory of arrays that share it with nothing to a budget, from the bytes that are reserved.
    pub(crate) fn attach(&mut self, reserved: &mut Reservation) {
        match self {
            Self::Array(array) => reserved.attach(array),
            Self::Tuple(elements) => {
                for element in elements {
                    element.attach(reserved);
                }
            }
            Self::Token | Self::Async(_) => {}
        }
    }
    /// Appends the leaves from left to right.
    pub(crate) fn flatten(self, leaves: &mut Vec<Self>) {
        match self {
            Self::Tuple(elements) => elements.into_iter().for_each(|e| e.flatten(leaves)),
            Self::Array(_) | Self::Token | Self::Async(_) => leaves.push(self),
        }
    }
    /// Returns the value of this shape, taking its leaves from the iterator.
    ///
    /// # Panics
    /// If there are fewer.
    pub(crate) fn unflatten(shape: &Shape, leaves: &mut impl Iterator<Item = Self>) -> Self {
        match shape {
            Shape::Tuple(elements) => {
                Self::Tuple(elements.iter().map(|e| Self::unflatten(e, leaves)).collect())
            }
            Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
                leaves.next().expect("as many leaves as the shape has")
            }
        }
    }
}

impl From<Literal> for Value {
    fn from(literal: Literal) -> Self {
        match literal.elements() {
            Some(elements) => Self::Tuple(elements.iter().cloned().map(Self::from).collect()),
            None if literal.array_shape().is_some() => Self::Array(literal),
            None => Self::Token,
        }
    }
}

/// Returns the error of an instruction that reads the value of an asynchronous operation.
pub(crate) fn not_done() -> Error {
    let message = "this reads the value of an asynchronous operation that is not done";
    Error::from(Code::Trap { message: message.to_owned() })
        .with_help("use the value of its `-done`")
}

/// Returns the shape of the stored data, where a dynamic dimension has its bound.
pub(crate) fn static_shape(shape: &ArrayShape) -> ArrayShape {
    ArrayShape { dynamic: None, ..shape.clone() }
}

/// Returns a value of this shape whose elements are zero.
pub(crate) fn zeros(shape: &Shape) -> Literal {
    match shape {
        Shape::Array(array) => Literal::zeros(static_shape(array)),
        Shape::Tuple(elements) => Literal::tuple(elements.iter().map(zeros).collect()),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => Literal::token(),
    }
}

/// Returns the total bytes of the arrays of a shape; `None` if they cannot be addressed.
pub(crate) fn bytes_of(shape: &Shape) -> Option<usize> {
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
pub(crate) fn checked_bytes(shape: &ArrayShape) -> Result<usize> {
    let bytes = shape.byte_count().filter(|&b| isize::try_from(b).is_ok());
    bytes.ok_or_else(|| too_large(shape))
}

/// Returns the error of a shape whose elements cannot be addressed.
pub(crate) fn too_large(shape: &impl Display) -> Error {
    let message = format!("{shape} has more bytes than can be addressed");
    Code::OutOfMemory { message }.into()
}

/// Elements between two looks at whether a run is to stop, where an element takes some nanoseconds.
pub(crate) const PART: usize = 1 << 12;

/// Fills an array with the elements that `element` gives, in row-major order, or until the run is to stop.
pub(crate) fn fill(array: &mut Literal, mut element: impl FnMut(usize) -> Scalar) {
    let Some(ty) = array.array_shape().map(|shape| shape.ty) else { return };
    let (width, stop) = (ty.storage_bytes(), Stop::current());
    let parts = array.bytes_mut().chunks_mut(PART * width).enumerate();
    for (number, part) in parts.take_while(|_| !stop.is_set()) {
        for (i, slot) in part.chunks_exact_mut(width).enumerate() {
            element(number * PART + i).write(ty, slot);
        }
    }
}

/// An array whose elements `element` gives, in row-major order.
pub(crate) fn build(shape: &ArrayShape, element: impl FnMut(usize) -> Scalar) -> Literal {
    let mut result = Literal::zeros(shape.clone());
    fill(&mut result, element);
    result
}

/// The arrays of a result: itself, or the elements of the tuple.
pub(crate) fn array_shapes(shape: &Shape) -> Vec<&ArrayShape> {
    shape.leaves().into_iter().filter_map(Shape::array).collect()
}

/// Packs the arrays of a result: one as it is, several as a tuple; `shape` says which.
pub(crate) fn pack(shape: &Shape, mut arrays: Vec<Literal>) -> Literal {
    match shape {
        Shape::Tuple(_) => Literal::tuple(arrays),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => arrays.swap_remove(0),
    }
}

/// Returns the same value under the layouts of `shape`; nothing is copied.
pub(crate) fn with_layouts(value: Literal, shape: &Shape) -> Literal {
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
