//! Values of a run: arrays, tuples, tokens, and asynchronous operations.
use crate::memory::Reservation;
use crate::{Code, Error, Result};
use hlo::{Array, Literal, Shape};
use num::array::zeros;

/// The identity of an asynchronous operation: `async-start`, `all-gather-start` and the like.
///
/// Each execution of a start has its own number. It pairs a `-done` with its start, wherever the
/// value was passed in between.
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
/// The value of an asynchronous operation has the tuple shape of its `-start`; each leaf of it is
/// the [`AsyncId`].
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// An array.
    Array(Array),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A token.
    Token,
    /// An asynchronous operation.
    Async(AsyncId),
}

impl Value {
    /// Returns the value of a `recv` of this shape. Its data is that of an operation that is not
    /// done.
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
            Self::Array(array) => array.into(),
            Self::Tuple(elements) => {
                let elements = elements.into_iter().map(Self::into_literal);
                Literal::tuple(elements.collect::<Result<_>>()?)
            }
            Self::Token => Literal::token(),
            Self::Async(_) => return Err(not_done()),
        })
    }
    /// Returns whether it is a value of this shape inside a run, where a dynamic dimension takes
    /// its bound. An asynchronous operation fits any shape.
    pub(crate) fn fits(&self, shape: &Shape) -> bool {
        match (self, shape) {
            (Self::Array(array), Shape::Array(shape)) => {
                array.shape().ty == shape.ty && array.shape().dims == shape.dims
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
    /// Charges the memory of arrays that share it with nothing to a budget, from the bytes that are
    /// reserved.
    pub(crate) fn held(self, reserved: &mut Reservation) -> Result<Self> {
        Ok(match self {
            Self::Array(array) => Self::Array(reserved.hold(array)?),
            Self::Tuple(elements) => {
                let held = elements.into_iter().map(|element| element.held(reserved));
                Self::Tuple(held.collect::<Result<_>>()?)
            }
            Self::Token | Self::Async(_) => self,
        })
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
        match literal {
            Literal::Array(array) => Self::Array(array),
            Literal::Tuple(elements) => {
                Self::Tuple(elements.iter().cloned().map(Self::from).collect())
            }
            Literal::Token => Self::Token,
        }
    }
}

/// Returns the error of an instruction that reads the value of an asynchronous operation.
pub(crate) fn not_done() -> Error {
    let message = "this reads the value of an asynchronous operation that is not done";
    Error::from(Code::Trap { message: message.to_owned() })
        .with_help("use the value of its `-done`")
}
