//! Broadcasting of trailing dimensions, as in `NumPy`: the part that MAX Graph and ONNX share.
use crate::size;
use builder::{Code, Error, Result, Value};
use hlo::op::{GetDimensionSize, SetDimensionSize};
use hlo::{ArrayShape, Dims};
use std::fmt;

/// A dimension: its size, or a bound of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Dim {
    pub(crate) size: i64,
    /// Whether the size is only a bound.
    pub(crate) dynamic: bool,
}

impl Dim {
    const ONE: Self = Self { size: 1, dynamic: false };

    /// Returns the dimensions of an array.
    pub(crate) fn list(shape: &ArrayShape) -> Vec<Self> {
        let dims = shape.dims.iter().enumerate();
        dims.map(|(d, &size)| Self { size, dynamic: shape.is_dynamic(d) }).collect()
    }
    /// Returns an array of these dimensions.
    pub(crate) fn shape(ty: hlo::ElementType, dims: &[Self]) -> ArrayShape {
        let mut shape = ArrayShape::new(ty, dims.iter().map(|dim| dim.size).collect::<Dims>());
        if dims.iter().any(|dim| dim.dynamic) {
            shape.dynamic = Some(dims.iter().map(|dim| dim.dynamic).collect());
        }
        shape
    }
}
impl From<i64> for Dim {
    fn from(size: i64) -> Self {
        Self { size, dynamic: false }
    }
}
impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.size, self.dynamic) {
            (ArrayShape::UNBOUNDED, _) => f.write_str("?"),
            (size, true) => write!(f, "<={size}"),
            (size, false) => write!(f, "{size}"),
        }
    }
}

/// Two dimensions that cannot be one.
#[derive(Debug)]
pub(crate) struct Clash {
    /// Which dimension of the result.
    pub(crate) at: usize,
    pub(crate) lhs: Dim,
    pub(crate) rhs: Dim,
}

/// Broadcasts two lists of dimensions: missing leading dimensions count as 1, a static 1 takes what
/// the other has, others must be equal.
pub(crate) fn aligned(lhs: &[Dim], rhs: &[Dim]) -> Result<Vec<Dim>, Clash> {
    let rank = lhs.len().max(rhs.len());
    let dim = |dims: &[Dim], at: usize| {
        (at + dims.len()).checked_sub(rank).map_or(Dim::ONE, |own| dims[own])
    };
    let pairs = (0..rank).map(|at| (at, dim(lhs, at), dim(rhs, at)));
    pairs
        .map(|(at, lhs, rhs)| match (lhs, rhs) {
            (Dim::ONE, other) | (other, Dim::ONE) => Ok(other),
            (lhs, rhs) if lhs == rhs => Ok(lhs),
            (lhs, rhs) => Err(Clash { at, lhs, rhs }),
        })
        .collect()
}

/// Returns the value repeated to dimensions that [`aligned`] gave for it and `others`.
pub(crate) fn stretched<'b>(
    value: Value<'b>,
    dims: &[Dim],
    others: &[Value<'b>],
) -> Result<Value<'b>> {
    let first = dims.len().saturating_sub(value.rank()?);
    let places: Vec<usize> = (first..dims.len()).collect();
    laid(value, &places, dims, others)
}

/// Returns the value under these dimensions, of which its own become those at `places`. A dynamic
/// size that is not its own is that of the one of `others` that has it.
pub(crate) fn laid<'b>(
    value: Value<'b>,
    places: &[usize],
    dims: &[Dim],
    others: &[Value<'b>],
) -> Result<Value<'b>> {
    let b = value.builder();
    let shape = value.array()?;
    let own = Dim::list(&shape);
    if own == dims {
        return Ok(value);
    }
    if dims.iter().any(|dim| dim.size == ArrayShape::UNBOUNDED) {
        let text = Dim::shape(shape.ty, dims);
        let message = format!("{shape:#} is to be repeated to {text:#}, which has no bound");
        return Err(Error::from(Code::Unsupported { message })
            .with_help("give the dimension a bound: `<=8`"));
    }
    // A broadcast gives sizes that are written in the module; the others are set after it.
    let mut known: Vec<Dim> = dims.iter().map(|dim| dim.size.into()).collect();
    for (&place, &dim) in places.iter().zip(&own) {
        known[place].dynamic = dim.dynamic;
    }
    let numbers: Vec<i64> = places.iter().map(|&place| size(place)).collect();
    let sizes: Vec<i64> = dims.iter().map(|dim| dim.size).collect();
    let mut result = value.broadcast_in_dim(&sizes, &numbers);
    for (at, (expected, known)) in dims.iter().zip(&known).enumerate() {
        if expected == known {
            continue;
        }
        let count = others.iter().find_map(|other| size_of(*other, dims.len() - at));
        let count = count.ok_or(Code::Invalid {})??;
        let op = SetDimensionSize { dimensions: vec![size(at)] };
        result = b.emit(op, &[result, count], None)?;
    }
    Ok(result)
}

/// Returns the size, at run time, of a dimension counted from the end; nothing if it is not
/// dynamic.
fn size_of(value: Value<'_>, from_end: usize) -> Option<Result<Value<'_>>> {
    let shape = value.array().ok()?;
    let at = shape.rank().checked_sub(from_end)?;
    let op = GetDimensionSize { dimensions: vec![size(at)] };
    shape.is_dynamic(at).then(|| value.builder().emit(op, &[value], None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dims(sizes: &[i64]) -> Vec<Dim> {
        sizes.iter().map(|&size| size.into()).collect()
    }

    #[test]
    fn a_dynamic_one_is_no_one() {
        let bound = Dim { size: 1, dynamic: true };
        assert_eq!(aligned(&[bound], &dims(&[1])).ok(), Some(vec![bound]));
        let clash = aligned(&[bound], &dims(&[5, 3])).unwrap_err();
        assert_eq!((clash.at, clash.lhs.to_string()), (1, "<=1".to_owned()));
        assert_eq!(clash.rhs, 3.into());
    }
    #[test]
    fn nothing_is_stretched_to_nothing() {
        assert_eq!(aligned(&dims(&[1, 3]), &dims(&[0, 1])).ok(), Some(dims(&[0, 3])));
        assert!(aligned(&dims(&[2]), &dims(&[0])).is_err());
    }
}
