//! ONNX's multidirectional and unidirectional broadcasting, and the operators that use them.
//!
//! Source: "Broadcasting in ONNX" (docs/Broadcasting.md of ONNX), which lists fifteen operators
//! with the first and two with the second; types and attributes are those of the operator's newest
//! version ("Operator Schemas").
//!
//! ONNX converts nothing by itself: all inputs of an operator have one element type, `E0810` if
//! not. The exponent of [`pow`](pow()) is the one exception.
//!
//! A dimension of size 1 is repeated if that size is written in the shape. ONNX also repeats one
//! that turns out to be 1 when the model runs; HLO has no such broadcast, so that a dynamic
//! dimension stands only beside the same one and beside a static 1 (`E0811`).
//!
//! ```
//! use builder_compat::onnx;
//! let b = builder::Builder::new("m");
//! let (x, y) = (b.constant([[1f32], [2.0]]), b.constant([10f32, 20.0]));
//! assert_eq!(interp::run(&b.build(onnx::add(x, y))?, &[])?.to_string(), "f32[2,2]{1,0} { { 11, 21 }, { 12, 22 } }");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod multidirectional;
mod pow;
mod types;
mod unidirectional;
mod variadic;

pub use multidirectional::{add, and, div, equal, greater, less, mul, or, sub, xor};
pub use pow::pow;
pub use unidirectional::{Gemm, gemm, prelu};
pub use variadic::{max, mean, min, sum};

use super::align::{Clash, Dim, aligned, stretched};
use builder::{Code, Error, Result, Value};
use types::{Types, one_type};

/// Returns the shape that tensors of these shapes are broadcast to, all to each other.
///
/// Source: "Multidirectional Broadcasting". Shapes with fewer dimensions get 1s in front; each
/// dimension has one common length, or length 1.
///
/// # Errors
/// `E0802` if a dimension has two lengths that are not 1; `E0801` if there is no shape, or a
/// negative length.
///
/// ```
/// use builder_compat::onnx::multidirectional;
/// assert_eq!(multidirectional(&[&[3, 4, 5], &[2, 1, 1, 1]])?, [2, 3, 4, 5]);
/// assert!(multidirectional(&[&[2, 3], &[4, 3]]).is_err());
/// # Ok::<(), builder::Error>(())
/// ```
pub fn multidirectional(shapes: &[&[i64]]) -> Result<Vec<i64>> {
    let shapes: Result<Vec<Vec<Dim>>> = shapes.iter().map(|shape| lengths(shape)).collect();
    Ok(sizes(&common("", &shapes?)?))
}

/// Returns the shape that a tensor of shape `b` is broadcast to by one of shape `a`, which is `a`.
///
/// Source: "Unidirectional Broadcasting". If `b` has fewer dimensions it gets 1s in front; each of
/// its dimensions has the length of that of `a`, or length 1.
///
/// # Errors
/// `E0802` if `b` has more dimensions, or one of another length that is not 1; `E0801` if a length
/// is negative.
///
/// ```
/// use builder_compat::onnx::unidirectional;
/// assert_eq!(unidirectional(&[2, 3, 4, 5], &[1, 3, 1, 5])?, [2, 3, 4, 5]);
/// assert!(unidirectional(&[4, 5], &[2, 3, 4, 5]).is_err());
/// # Ok::<(), builder::Error>(())
/// ```
pub fn unidirectional(a: &[i64], b: &[i64]) -> Result<Vec<i64>> {
    let (a, b) = (lengths(a)?, lengths(b)?);
    onto("", ("A", &a), ("B", &b))?;
    Ok(sizes(&a))
}

fn lengths(shape: &[i64]) -> Result<Vec<Dim>> {
    match shape.iter().find(|&&length| length < 0) {
        Some(length) => {
            Err(Error::argument(format!("{length} is not a valid length of a dimension")))
        }
        None => Ok(shape.iter().map(|&length| length.into()).collect()),
    }
}
fn sizes(dims: &[Dim]) -> Vec<i64> {
    dims.iter().map(|dim| dim.size).collect()
}

/// Returns a shape as ONNX's pages write it: `(2, 3)`, `(5,)`, `()`.
fn shown(dims: &[Dim]) -> String {
    let sizes: Vec<String> = dims.iter().map(Dim::to_string).collect();
    let comma = if dims.len() == 1 { "," } else { "" };
    format!("({}{comma})", sizes.join(", "))
}

#[cold]
fn refused(who: &str, message: &str, clash: Option<&Clash>, help: &str) -> Error {
    let message = match clash {
        Some(Clash { at, lhs, rhs }) => {
            format!("{who}{message}: dimension {at} has lengths {lhs} and {rhs}")
        }
        None => format!("{who}{message}"),
    };
    if clash.is_some_and(|clash| clash.lhs.dynamic || clash.rhs.dynamic) {
        let help = "whether a length is 1 is known only when the model runs, and HLO's broadcasts are fixed before";
        return Error::unsupported(message).with_help(help);
    }
    Error::from(Code::Broadcast { message }).with_help(help)
}

/// Broadcasts the dimensions of all inputs; `who` prefixes the error.
fn common(who: &str, shapes: &[Vec<Dim>]) -> Result<Vec<Dim>> {
    let Some((first, rest)) = shapes.split_first() else {
        let message =
            format!("{who}between 1 and 2147483647 tensors are broadcast together, there is none");
        return Err(Error::argument(message));
    };
    rest.iter().try_fold(first.clone(), |so_far, next| {
        aligned(&so_far, next).map_err(|clash| {
            let all: Vec<String> = shapes.iter().map(|shape| shown(shape)).collect();
            let message = format!("{} are not multidirectional broadcastable", all.join(", "));
            refused(
                who,
                &message,
                Some(&clash),
                "each dimension has one common length, or length 1",
            )
        })
    })
}

/// Fails unless the second is unidirectional broadcastable to the first.
fn onto(who: &str, (to, a): (&str, &[Dim]), (from, b): (&str, &[Dim])) -> Result<()> {
    let message = || {
        let (a, b) = (shown(a), shown(b));
        format!("{from} of shape {b} is not unidirectional broadcastable to {to} of shape {a}")
    };
    let help = "it may have fewer dimensions, and ones of length 1, but is never larger";
    match aligned(a, b) {
        Ok(dims) if dims == a => Ok(()),
        Ok(_) => Err(refused(who, &message(), None, help)),
        Err(clash) => Err(refused(who, &message(), Some(&clash), help)),
    }
}

/// Returns the inputs of an operator, which are of one type, broadcast to each other.
fn together<'b>(
    operator: &str,
    inputs: &[(&str, Value<'b>)],
    types: Types,
) -> Result<Vec<Value<'b>>> {
    one_type(operator, inputs, types)?;
    let values: Vec<Value<'b>> = inputs.iter().map(|(_, value)| *value).collect();
    broadcast_all(operator, &values)
}

/// Values of any types broadcast to each other.
fn broadcast_all<'b>(operator: &str, values: &[Value<'b>]) -> Result<Vec<Value<'b>>> {
    let shapes: Result<Vec<Vec<Dim>>> =
        values.iter().map(|value| Ok(Dim::list(&value.array()?))).collect();
    let dims = common(&format!("{operator}: "), &shapes?)?;
    values.iter().map(|value| stretched(*value, &dims, values)).collect()
}
