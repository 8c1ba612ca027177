//! Values that are known when the program is converted: the sizes that `dynamic_*` ops take.
use super::attrs::{EnumWord, FromAttribute, integers_of};
use super::scope::Scope;
use crate::ir::{Op, ValueId};
use hlo::ir::InstructionId;
use hlo::{ArrayShape, ElementType, Literal, Scalar};

/// A small array of integers or booleans.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Folded {
    pub(super) ty: ElementType,
    pub(super) dims: Vec<i64>,
    pub(super) elements: Vec<i64>,
}

/// The most elements of a known value: many more than an array has dimensions.
const MOST: usize = 64;

impl Folded {
    /// Returns the value of a small array of integers.
    pub(super) fn of(literal: &Literal) -> Option<Self> {
        let shape = literal.array_shape().filter(|shape| is_countable(shape))?;
        let element = |i| match literal.get(i) {
            Scalar::Pred(value) => Some(i64::from(value)),
            Scalar::Signed(value) => Some(value),
            Scalar::Unsigned(value) => i64::try_from(value).ok(),
            Scalar::Float(_) | Scalar::Complex(..) => None,
        };
        let elements = (0..literal.len()).map(element).collect::<Option<_>>()?;
        Some(Self { ty: shape.ty, dims: shape.dims.to_vec(), elements })
    }
    /// Applies a function to each element of two values.
    fn zip(&self, other: &Self, f: impl Fn(i64, i64) -> Option<i64>) -> Option<Vec<i64>> {
        if self.dims != other.dims {
            return None;
        }
        self.elements.iter().zip(&other.elements).map(|(&a, &b)| f(a, b)).collect()
    }
}

impl Scope<'_, '_> {
    /// Returns the elements of a value, if they are known.
    pub(super) fn known_elements(&self, value: ValueId) -> Option<&[i64]> {
        self.folded.get(&value).map(|folded| folded.elements.as_slice())
    }

    /// Notes the value of an op's result, if it follows from those of its operands.
    pub(super) fn fold(&mut self, op: &Op) {
        let [result] = op.results.as_slice() else { return };
        if self.folded.contains_key(&result.id) {
            return;
        }
        let Some(id) = self.known(result.id) else { return };
        let Some(shape) = self.shape(id).array() else { return };
        if !is_countable(shape) {
            return;
        }
        let shape = shape.clone();
        if let Some(elements) = self.elements(op, &shape)
            && Some(elements.len()) == shape.element_count()
        {
            let elements = elements.into_iter().map(|element| wrap(shape.ty, element)).collect();
            let folded = Folded { ty: shape.ty, dims: shape.dims.to_vec(), elements };
            self.folded.insert(result.id, folded);
        }
    }

    fn elements(&self, op: &Op, shape: &ArrayShape) -> Option<Vec<i64>> {
        let value = |i: usize| self.folded.get(op.operands.get(i)?);
        let list = |name: &str| Vec::<i64>::from_attribute(op.attributes.get(name)?);
        let binary = |f: fn(i64, i64) -> Option<i64>| value(0)?.zip(value(1)?, f);
        match op.name.strip_prefix("stablehlo.").unwrap_or(&op.name) {
            "constant" | "arith.constant" => {
                integers_of(<_>::from_attribute(op.attributes.get("value")?)?)
            }
            "add" => binary(i64::checked_add),
            "subtract" => binary(i64::checked_sub),
            "multiply" => binary(i64::checked_mul),
            "divide" => binary(i64::checked_div),
            "remainder" => binary(i64::checked_rem),
            "maximum" => binary(|a, b| Some(a.max(b))),
            "minimum" => binary(|a, b| Some(a.min(b))),
            "and" => binary(|a, b| Some(a & b)),
            "or" => binary(|a, b| Some(a | b)),
            "not" if shape.ty == ElementType::Pred => {
                Some(value(0)?.elements.iter().map(|&a| i64::from(a == 0)).collect())
            }
            "not" => Some(value(0)?.elements.iter().map(|&a| !a).collect()),
            "negate" => value(0)?.elements.iter().map(|a| a.checked_neg()).collect(),
            "abs" => value(0)?.elements.iter().map(|a| a.checked_abs()).collect(),
            "sign" => Some(value(0)?.elements.iter().map(|a| a.signum()).collect()),
            "convert" | "reshape" | "dynamic_reshape" | "tensor.cast" => {
                Some(value(0)?.elements.clone())
            }
            "concatenate" if shape.rank() == 1 => {
                let parts = (0..op.operands.len()).map(|i| Some(value(i)?.elements.clone()));
                Some(parts.collect::<Option<Vec<_>>>()?.concat())
            }
            "compare" => {
                let EnumWord(direction) =
                    <_>::from_attribute(op.attributes.get("comparison_direction")?)?;
                value(0)?.zip(value(1)?, compare(direction)?)
            }
            "select" => select(value(0)?, value(1)?, value(2)?),
            "slice" => {
                let (start, limit) = (list("start_indices")?, list("limit_indices")?);
                let (&[start], &[limit], &[step]) =
                    (start.as_slice(), limit.as_slice(), list("strides")?.as_slice())
                else {
                    return None;
                };
                let at = |n: i64| usize::try_from(n).ok();
                let part = value(0)?.elements.get(at(start)?..at(limit)?)?;
                Some(part.iter().step_by(at(step).filter(|&n| n > 0)?).copied().collect())
            }
            "broadcast_in_dim" | "dynamic_broadcast_in_dim" => {
                let [element] = value(0)?.elements.as_slice() else { return None };
                Some(vec![*element; shape.element_count()?])
            }
            _ => None,
        }
    }

    /// Notes that a value is a constant.
    pub(super) fn set_known(&mut self, value: ValueId, id: InstructionId, elements: Vec<i64>) {
        if let Some(shape) = self.shape(id).array() {
            let folded = Folded { ty: shape.ty, dims: shape.dims.to_vec(), elements };
            self.folded.insert(value, folded);
        }
    }
}

/// Returns whether values of this shape are followed.
fn is_countable(shape: &ArrayShape) -> bool {
    let counts = shape.ty.is_integral() || shape.ty == ElementType::Pred;
    counts && shape.element_count().is_some_and(|count| count <= MOST)
}

/// Returns the value in the range of the type.
pub(super) fn wrap(ty: ElementType, element: i64) -> i64 {
    let bits = ty.bits();
    if ty == ElementType::Pred {
        i64::from(element != 0)
    } else if bits >= 64 {
        element
    } else if ty.class() == hlo::Class::Unsigned {
        element & ((1 << bits) - 1)
    } else {
        element << (64 - bits) >> (64 - bits)
    }
}

fn compare(direction: &str) -> Option<fn(i64, i64) -> Option<i64>> {
    Some(match direction {
        "EQ" => |a, b| Some(i64::from(a == b)),
        "NE" => |a, b| Some(i64::from(a != b)),
        "LT" => |a, b| Some(i64::from(a < b)),
        "LE" => |a, b| Some(i64::from(a <= b)),
        "GT" => |a, b| Some(i64::from(a > b)),
        "GE" => |a, b| Some(i64::from(a >= b)),
        _ => return None,
    })
}

fn select(which: &Folded, on_true: &Folded, on_false: &Folded) -> Option<Vec<i64>> {
    if let [which] = which.elements.as_slice() {
        let chosen = if *which != 0 { on_true } else { on_false };
        return Some(chosen.elements.clone());
    }
    let both = on_true.elements.iter().zip(&on_false.elements);
    (which.dims == on_true.dims && on_true.dims == on_false.dims)
        .then(|| which.elements.iter().zip(both).map(|(&w, (&t, &f))| if w != 0 { t } else { f }))
        .map(Iterator::collect)
}
