//! Floor division and its remainder, as NumPy defines them.
//!
//! Integers: the quotient is rounded down, the remainder has the sign of the divisor, and division
//! by 0 gives 0, which is what NumPy's functions give (PyTensor's C code raises an error instead,
//! which no array operation can). Floats: the remainder is C's `fmod` brought to the sign of the
//! divisor, and the quotient is what is left, made whole.
use crate::cast;
use builder::{Result, Value};
use hlo::ElementType;
use hlo::elem::Class;

/// Returns `x // y`, of operands of one type.
pub(super) fn quotient<'b>(x: Value<'b>, y: Value<'b>) -> Result<Value<'b>> {
    match x.element_type()?.class() {
        Class::Pred => truths(x, y, quotient),
        Class::Unsigned => {
            let zero = y.scalar_like(0);
            Ok(y.eq(zero).select(zero, x.div(y)))
        }
        Class::Signed => {
            let zero = y.scalar_like(0);
            let (whole, rest) = (x.div(y), x.rem(y));
            let down = whole.sub(y.scalar_like(1));
            let rounded = differs(rest, y, zero).select(down, whole);
            Ok(y.eq(zero).select(zero, rounded))
        }
        Class::Float => Ok(float_quotient(x, y)),
        Class::Complex => Err(complex()),
    }
}

/// Returns `x % y`, of operands of one type.
pub(super) fn modulo<'b>(x: Value<'b>, y: Value<'b>) -> Result<Value<'b>> {
    match x.element_type()?.class() {
        Class::Pred => truths(x, y, modulo),
        Class::Unsigned => {
            let zero = y.scalar_like(0);
            Ok(y.eq(zero).select(zero, x.rem(y)))
        }
        Class::Signed => {
            let zero = y.scalar_like(0);
            let rest = x.rem(y);
            let turned = differs(rest, y, zero).select(rest.add(y), rest);
            Ok(y.eq(zero).select(zero, turned))
        }
        Class::Float => {
            let rest = x.rem(y);
            let turned = differs(rest, y, y.scalar_like(0.0)).select(rest + y, rest);
            let signed_zero = y.lt(0.0).select(y.scalar_like(-0.0), 0.0);
            Ok(rest.eq(0.0).select(signed_zero, turned))
        }
        Class::Complex => Err(complex()),
    }
}

/// Returns whether a remainder is not 0 and has not the sign of the divisor.
fn differs<'b>(rest: Value<'b>, y: Value<'b>, zero: Value<'b>) -> Value<'b> {
    rest.ne(zero).and(rest.lt(zero).xor(y.lt(zero)))
}

fn float_quotient<'b>(x: Value<'b>, y: Value<'b>) -> Value<'b> {
    let rest = x.rem(y);
    let exact = x.sub(rest).div(y);
    let whole = differs(rest, y, y.scalar_like(0.0)).select(exact - 1.0, exact);
    // The difference is within rounding of an integer, on either side of it.
    let floor = whole.floor();
    let nearest = whole.sub(floor).gt(0.5).select(floor + 1.0, floor);
    let ratio = x.div(y);
    let finished = whole.eq(0.0).select(ratio * 0.0, nearest);
    y.eq(0.0).select(ratio, finished)
}

/// Divides booleans, as numbers.
fn truths<'b>(
    x: Value<'b>,
    y: Value<'b>,
    divide: impl Fn(Value<'b>, Value<'b>) -> Result<Value<'b>>,
) -> Result<Value<'b>> {
    let (x, y) = (cast(x, ElementType::U8)?, cast(y, ElementType::U8)?);
    cast(divide(x, y)?, ElementType::Pred)
}

#[cold]
fn complex() -> builder::Error {
    crate::pytensor::types::refused("complex numbers have no floor division")
}
