//! Values as lists of their leaves: the arrays and tokens in their tuples.
use super::tangent::Tangent;
use crate::{Builder, Code, Result, Value};
use hlo::{Opcode, Shape};

/// Returns the leaves of a value, from left to right.
pub(super) fn of(value: Value<'_>) -> Result<Vec<Value<'_>>> {
    if value.shape()?.tuple().is_none() {
        return Ok(vec![value]);
    }
    let elements = match value.opcode()? == Opcode::Tuple {
        true => value.operands()?,
        false => crate::ops::movement::elements(value)?,
    };
    Ok(elements.into_iter().map(of).collect::<Result<Vec<_>>>()?.concat())
}

/// Returns the leaves of several values.
pub(super) fn of_all<'b>(values: &[Value<'b>]) -> Result<Vec<Value<'b>>> {
    Ok(values.iter().map(|&value| of(value)).collect::<Result<Vec<_>>>()?.concat())
}

/// Returns the value of this shape that has these leaves; it takes no more of them than it has.
pub(super) fn value<'b>(
    b: &'b Builder,
    shape: &Shape,
    leaves: &mut impl Iterator<Item = Value<'b>>,
) -> Result<Value<'b>> {
    match shape {
        Shape::Tuple(elements) => {
            let elements: Result<Vec<_>> = elements.iter().map(|e| value(b, e, leaves)).collect();
            Ok(b.tuple(&elements?))
        }
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            leaves.next().ok_or_else(|| Code::Invalid {}.into())
        }
    }
}

/// Tangents of the leaves of a value of this shape.
pub(super) fn of_tangent<'b>(tangent: &Tangent<'b>, shape: &Shape) -> Vec<Option<Value<'b>>> {
    match (tangent, shape) {
        (_, Shape::Tuple(elements)) => {
            let parts = elements.iter().enumerate();
            parts.flat_map(|(i, shape)| of_tangent(&tangent.element(i), shape)).collect()
        }
        (Tangent::Array(value), _) => vec![Some(*value)],
        (Tangent::Zero | Tangent::Tuple(_), _) => vec![None],
    }
}

/// Returns the tangent of a value of this shape whose leaves have these tangents.
pub(super) fn tangent<'b>(
    shape: &Shape,
    leaves: &mut impl Iterator<Item = Option<Value<'b>>>,
) -> Tangent<'b> {
    match shape {
        Shape::Tuple(elements) => {
            let elements: Vec<_> = elements.iter().map(|shape| tangent(shape, leaves)).collect();
            match elements.iter().all(Tangent::is_zero) {
                true => Tangent::Zero,
                false => Tangent::Tuple(elements),
            }
        }
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
            leaves.next().flatten().map_or(Tangent::Zero, Tangent::Array)
        }
    }
}

/// Returns which of a list are there.
pub(super) fn present<T>(all: &[Option<T>]) -> Vec<bool> {
    all.iter().map(Option::is_some).collect()
}
/// Returns the leaves that are there.
pub(super) fn kept<T: Copy>(all: &[Option<T>]) -> Vec<T> {
    all.iter().copied().flatten().collect()
}
/// Returns the items that are marked.
pub(super) fn marked<T: Clone>(all: &[T], marks: &[bool]) -> Vec<T> {
    all.iter().zip(marks).filter(|(_, mark)| **mark).map(|(item, _)| item.clone()).collect()
}
/// Returns the next item for each mark that is set.
pub(super) fn dealt<T>(marks: &[bool], items: impl IntoIterator<Item = T>) -> Vec<Option<T>> {
    let mut items = items.into_iter();
    marks.iter().map(|&mark| if mark { items.next() } else { None }).collect()
}
/// Returns the marks of either list.
pub(super) fn either(a: &[bool], b: &[bool]) -> Vec<bool> {
    a.iter().zip(b).map(|(a, b)| a | b).collect()
}
