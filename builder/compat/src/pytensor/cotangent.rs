//! Cotangents: a value, disconnected, or not implemented.
use super::scalar::{Partial, full};
use super::types::is_discrete;
use crate::cast;
use builder::{Error, Result, Value};
use hlo::{ElementType, Scalar};

/// The cotangent of an input, or the tangent of an output.
///
/// A zero is a value: the output depends on the input by steps only.
/// [`Disconnected`](Cotangent::Disconnected) says that it does not depend on it at all, which is
/// PyTensor's `DisconnectedType`.
#[derive(Debug, Clone)]
pub enum Cotangent<'b> {
    /// The derivative, an array.
    Value(Value<'b>),
    /// The output does not depend on the input's elements.
    Disconnected,
    /// There is a derivative, but it is not known here: PyTensor's `NullType`, with the reason.
    NotImplemented {
        /// Why.
        why: String,
    },
}

impl<'b> Cotangent<'b> {
    /// Returns the array, if there is one.
    pub fn value(&self) -> Option<Value<'b>> {
        match self {
            Self::Value(value) => Some(*value),
            Self::Disconnected | Self::NotImplemented { .. } => None,
        }
    }
    /// Returns whether the output does not depend on the input.
    pub fn is_disconnected(&self) -> bool {
        matches!(self, Self::Disconnected)
    }
}

impl<'b> From<Value<'b>> for Cotangent<'b> {
    fn from(value: Value<'b>) -> Self {
        Self::Value(value)
    }
}
impl<'b> From<&Cotangent<'b>> for Cotangent<'b> {
    fn from(cotangent: &Cotangent<'b>) -> Self {
        cotangent.clone()
    }
}

/// Runs a call that makes a derivative from the one given for `value`; anything that is not a value
/// is returned unchanged.
#[track_caller]
pub(super) fn derived<'b>(
    value: Value<'b>,
    given: impl Into<Cotangent<'b>>,
    derive: impl FnOnce(Value<'b>) -> Result<Cotangent<'b>>,
) -> Cotangent<'b> {
    let invalid = Cotangent::Value(Value::invalid(value.builder()));
    value.builder().record_or(invalid, |_| {
        let given = given.into();
        let Some(found) = given.value() else { return Ok(given) };
        derive(seed(value, found)?)
    })
}

/// Returns a cotangent or tangent given for `value`: of its sizes, in its type if that is
/// continuous.
pub(super) fn seed<'b>(value: Value<'b>, given: Value<'b>) -> Result<Value<'b>> {
    let (expected, found) = (value.array()?, given.array()?);
    if !expected.same_dims(&found) {
        let message = format!("expected a derivative of shape {expected:#}, found {found:#}");
        return Err(Error::argument(message).with_help("it has the sizes of its value"));
    }
    if is_discrete(expected.ty) { Ok(given) } else { cast(given, expected.ty) }
}

/// Returns a derivative brought to the sizes of its value, by sums over what was stretched, and to
/// its type if that is continuous.
pub(super) fn finished<'b>(
    partial: Partial<'b>,
    value: Value<'b>,
    float_x: ElementType,
) -> Result<Cotangent<'b>> {
    let ty = value.element_type()?;
    let discrete = is_discrete(ty);
    Ok(match partial {
        Partial::Disconnected => Cotangent::Disconnected,
        Partial::Unknown(why) => Cotangent::NotImplemented { why },
        Partial::Zero => {
            let ty = if discrete { float_x } else { ty };
            Cotangent::Value(full(value, ty, Scalar::Float(0.0).convert(ElementType::F64, ty))?)
        }
        Partial::Value(found) => {
            let found = summed(found, &value.dims()?)?;
            let real = discrete && found.element_type()?.is_complex();
            let ty = match discrete {
                false => ty,
                true if real => found.element_type()?.component(),
                true => found.element_type()?,
            };
            Cotangent::Value(cast(found, ty)?)
        }
    })
}

/// Returns the sum over the dimensions in which an array of these sizes was stretched.
fn summed<'b>(found: Value<'b>, expected: &[i64]) -> Result<Value<'b>> {
    let dims = found.dims()?;
    if dims == expected {
        return Ok(found);
    }
    let missing = dims.len().saturating_sub(expected.len());
    let kept = |dim: usize| dim >= missing && expected.get(dim - missing) == dims.get(dim);
    let numbered = (0i64..).zip(0..dims.len());
    let stretched: Vec<i64> =
        numbered.filter(|(_, dim)| !kept(*dim)).map(|(number, _)| number).collect();
    let zero = found.scalar_like(0.0);
    Ok(found.reduce(zero, |a, b| a + b, &stretched).reshape(expected))
}
