//! The elementwise functions of MAX Graph, with its promotion and broadcasting.
//!
//! Source: module `elementwise` of the MAX Graph API, "`DType` Promotion Rules" and "Broadcasting
//! Rules"; where that page says nothing of what a function computes, the reference of
//! `max.graph.ops`; where both are silent, the function's own page here says what was chosen.
//!
//! # Element types
//!
//! `bool < unsigned < signed < float` are categories. Two types become the type of the higher
//! category and the larger width, [`promote`], if it holds every value of both; both operands are
//! cast to it. Types are `pred`, which needs 1 bit, `u8` to `u64`, `s8` to `s64` and all floats;
//! integers of less than 8 bits and complex numbers are refused, `E0810`. A plain number has no
//! type of its own, and becomes one of the other operand's type.
//!
//! # Shapes
//!
//! The one of fewer dimensions gets static 1s in front. A static 1 takes the size of the other's
//! dimension; all others must be equal, `E0802`. A dimension whose size is known only at run time
//! is no static 1, even if it can only be 0 or 1.
//!
//! ```
//! use builder_compat::max_graph;
//! let b = builder::Builder::new("m");
//! let (x, y) = (b.constant([[1u8], [2]]), b.constant([10i16, -10]));
//! let result = interp::run(&b.build(max_graph::sub(x, y))?, &[])?;
//! assert_eq!(result.to_string(), "s16[2,2]{1,0} { { -9, 11 }, { -8, 12 } }");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod binary;
mod dtype;
mod softmax;
mod unary;

pub use binary::{
    add, div, equal, greater, greater_equal, max, min, mod_, mul, not_equal, pow, sub,
};
pub use dtype::promote;
pub use softmax::{logsoftmax, softmax};
pub use unary::{
    abs, cos, erf, exp, floor, gelu, is_inf, is_nan, log, log1p, relu, round, roundeven, rsqrt,
    sigmoid, silu, sin, sqrt, tanh, trunc,
};

use crate::align::{Clash, Dim, aligned, stretched};
use crate::cast;
use builder::{Code, Error, Operand, Result, Value};
use hlo::{ArrayShape, ElementType};

/// Returns the type and sizes of the result of two operands: [`promote`] of their types, and their
/// shapes broadcast.
///
/// Source: "`DType` Promotion Rules", "Broadcasting Rules".
///
/// # Errors
/// `E0810` if the types do not promote, `E0802` if two dimensions differ and neither is a static 1.
///
/// ```
/// use builder_compat::max_graph::result_shape;
/// let shape = |text: &str| text.parse::<hlo::Shape>().unwrap().array().unwrap().clone();
/// let both = result_shape(&shape("u8[2,1]"), &shape("f32[<=5]"))?;
/// assert_eq!(format!("{both:#}"), "f32[2,<=5]");
/// # Ok::<(), builder::Error>(())
/// ```
pub fn result_shape(lhs: &ArrayShape, rhs: &ArrayShape) -> Result<ArrayShape> {
    Ok(Dim::shape(promote(lhs.ty, rhs.ty)?, &broadcast(lhs, rhs)?))
}

fn broadcast(lhs: &ArrayShape, rhs: &ArrayShape) -> Result<Vec<Dim>> {
    aligned(&Dim::list(lhs), &Dim::list(rhs)).map_err(|Clash { at, lhs: l, rhs: r }| {
        let message =
            format!("{lhs:#} and {rhs:#} do not broadcast: dimension {at} is {l} and {r}");
        let help = match l.dynamic || r.dynamic {
            true => "a size known only at run time equals nothing but the same size",
            false => "only static dimensions of size 1 are repeated; all others must be equal",
        };
        Error::from(Code::Broadcast { message }).with_help(help)
    })
}

/// Returns the second operand as a value. A plain number is weak: it gets the type of the other.
fn strong<'b>(lhs: Value<'b>, rhs: impl Operand<'b>) -> Result<Value<'b>> {
    let rhs = rhs.beside(lhs)?;
    let b = lhs.builder();
    b.owns(lhs)?;
    b.owns(rhs.value)?;
    if rhs.dims().is_empty() {
        return Ok(rhs.value);
    }
    let message =
        format!("MAX Graph does not broadcast along chosen dimensions, found {:?}", rhs.dims());
    Err(Error::from(Code::Broadcast { message })
        .with_help("trailing dimensions are aligned; reshape the operand if others are meant"))
}

/// Returns both operands in the type they promote to, and of one shape.
fn promoted<'b>(lhs: Value<'b>, rhs: Value<'b>) -> Result<(Value<'b>, Value<'b>)> {
    let ty = promote(lhs.element_type()?, rhs.element_type()?)?;
    let (lhs, rhs) = (cast(lhs, ty)?, cast(rhs, ty)?);
    let dims = broadcast(&lhs.array()?, &rhs.array()?)?;
    Ok((stretched(lhs, &dims, &[rhs])?, stretched(rhs, &dims, &[lhs])?))
}

/// Returns the type that formulas of several steps are computed in, since narrower floats would
/// lose too much precision.
fn widened(ty: ElementType) -> ElementType {
    if ty.is_float() && ty.bits() < 32 { ElementType::F32 } else { ty }
}

/// Runs a formula in [`widened`] and gives its result in the operand's type.
fn through_wide<'b>(
    x: Value<'b>,
    formula: impl FnOnce(Value<'b>) -> Result<Value<'b>>,
) -> Result<Value<'b>> {
    let ty = x.element_type()?;
    cast(formula(cast(x, widened(ty))?)?, ty)
}

/// The element types of a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Domain {
    /// All that promote.
    All,
    /// Integers and floats.
    Numbers,
    Floats,
}

/// Fails unless the function takes operands of this type.
fn admit(function: &str, ty: ElementType, domain: Domain) -> Result<()> {
    // Of the types that do not promote at all the rule says so.
    promote(ty, ty)?;
    let (taken, expected, other) = match domain {
        Domain::All => return Ok(()),
        Domain::Numbers => (ty != ElementType::Pred, "numbers", "an integer or float type"),
        Domain::Floats => (ty.is_float(), "floating-point tensors", "the float type you want"),
    };
    if taken {
        return Ok(());
    }
    let message = format!("`{function}` takes {expected}, this is {ty}");
    Err(Error::from(Code::Promotion { message })
        .with_help(format!("cast it to {other} first: `x.convert_element_type(...)`")))
}
