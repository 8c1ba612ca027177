//! Tangents and cotangents of values.
use crate::{Builder, Code, Error, Result, Value};
use hlo::Shape;

/// The tangent or cotangent of a value, with the structure of the value. Those of integer arrays
/// and tokens are always zero.
#[derive(Debug, Clone)]
pub(super) enum Tangent<'b> {
    /// Nothing flows here.
    Zero,
    /// The tangent of an array.
    Array(Value<'b>),
    /// The tangents of a tuple, one for each element.
    Tuple(Vec<Tangent<'b>>),
}

impl<'b> Tangent<'b> {
    pub(super) fn is_zero(&self) -> bool {
        match self {
            Self::Zero => true,
            Self::Array(_) => false,
            Self::Tuple(elements) => elements.iter().all(Self::is_zero),
        }
    }
    /// Returns the array's tangent; nothing if it is zero.
    pub(super) fn array(&self) -> Result<Option<Value<'b>>> {
        match self {
            Self::Zero => Ok(None),
            Self::Array(value) => Ok(Some(*value)),
            Self::Tuple(_) => Err(Error::argument("the tangent of a tuple is used as an array")),
        }
    }
    /// Returns the tangent of element `index` of a tuple.
    pub(super) fn element(&self, index: usize) -> Self {
        match self {
            Self::Zero | Self::Array(_) => Self::Zero,
            Self::Tuple(elements) => elements.get(index).cloned().unwrap_or(Self::Zero),
        }
    }
    /// Returns the tangent with this done to each array.
    pub(super) fn map(&self, f: &impl Fn(Value<'b>) -> Result<Value<'b>>) -> Result<Self> {
        Ok(match self {
            Self::Zero => Self::Zero,
            Self::Array(value) => Self::Array(f(*value)?),
            Self::Tuple(elements) => {
                Self::Tuple(elements.iter().map(|t| t.map(f)).collect::<Result<_>>()?)
            }
        })
    }
    /// Returns the tangent in the element type of its value: operands of different precision may
    /// meet in one op.
    pub(super) fn fitted(self, like: Value<'b>) -> Result<Self> {
        let (Self::Array(value), Shape::Array(shape)) = (&self, like.shape()?) else {
            return Ok(self);
        };
        if value.element_type()? == shape.ty {
            return Ok(self);
        }
        Ok(Self::Array(value.convert_element_type(shape.ty)))
    }
    /// Returns the sum of two tangents of one value.
    pub(super) fn plus(self, other: Self) -> Result<Self> {
        Ok(match (self, other) {
            (Self::Zero, other) | (other, Self::Zero) => other,
            (Self::Array(a), Self::Array(b)) => Self::Array(a + b),
            (Self::Tuple(a), Self::Tuple(b)) if a.len() == b.len() => {
                let sums: Result<Vec<_>> = a.into_iter().zip(b).map(|(a, b)| a.plus(b)).collect();
                Self::Tuple(sums?)
            }
            (Self::Array(_) | Self::Tuple(_), Self::Array(_) | Self::Tuple(_)) => {
                return Err(Error::argument("tangents of different structure are added"));
            }
        })
    }
    /// Returns the tangent as a value of this shape, with zeros where nothing flows.
    pub(super) fn filled(&self, like: Value<'b>) -> Result<Value<'b>> {
        match (self, like.shape()?) {
            (Self::Array(value), Shape::Array(_)) => Ok(*value),
            (Self::Zero, shape @ (Shape::Array(_) | Shape::Tuple(_))) => {
                zeros(like.builder(), &shape)
            }
            (Self::Tuple(elements), Shape::Tuple(shapes)) if elements.len() == shapes.len() => {
                let parts = crate::ops::movement::elements(like)?;
                let filled: Result<Vec<_>> =
                    elements.iter().zip(parts).map(|(t, part)| t.filled(part)).collect();
                Ok(like.builder().tuple(&filled?))
            }
            (_, shape) => {
                Err(Error::argument(format!("{shape:#} has no tangent of this structure")))
            }
        }
    }
    /// Returns the tangent given by a value with its structure.
    pub(super) fn of(value: Value<'b>) -> Result<Self> {
        Ok(match value.shape()? {
            Shape::Array(array) if is_inexact(array.ty) => Self::Array(value),
            Shape::Tuple(_) => {
                let parts = crate::ops::movement::elements(value)?;
                Self::Tuple(parts.into_iter().map(Self::of).collect::<Result<_>>()?)
            }
            Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => Self::Zero,
        })
    }
}

/// Returns whether elements of the type have derivatives.
fn is_inexact(ty: hlo::ElementType) -> bool {
    ty.is_float() || ty.is_complex()
}
/// Returns whether a value of this shape has an array with derivatives.
pub(super) fn varies(shape: &Shape) -> bool {
    match shape {
        Shape::Array(array) => is_inexact(array.ty),
        Shape::Tuple(elements) => elements.iter().any(varies),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => false,
    }
}

/// Zeros of a shape.
pub(super) fn zeros<'b>(b: &'b Builder, shape: &Shape) -> Result<Value<'b>> {
    match shape {
        Shape::Array(array) => Ok(b.zeros(array.clone())),
        Shape::Tuple(shapes) => {
            let parts: Result<Vec<_>> = shapes.iter().map(|shape| zeros(b, shape)).collect();
            Ok(b.tuple(&parts?))
        }
        Shape::Token => b.emit(hlo::op::AfterAll {}, &[], None),
        Shape::Opaque | Shape::Buffer(_) => {
            let message = format!("{shape:#} has no zero");
            Err(Code::Argument { message }.into())
        }
    }
}
