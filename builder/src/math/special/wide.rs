//! Helpers of the special functions: computation in f64, polynomials, loops with a mask per
//! element.
use crate::arguments::cast;
use crate::loops::exactly;
use crate::math::bits;
use crate::{Error, Operand, Result, Value, implicit};
use hlo::ElementType;

/// Calls the function of the library of this name, on operands broadcast to one shape: it computes
/// in f64, and rounds the result once to their type.
pub(super) fn in_f64<'b, const N: usize>(
    name: &str,
    operands: [Value<'b>; N],
    compute: impl FnOnce([Value<'b>; N]) -> Value<'b>,
) -> Result<Value<'b>> {
    let (ty, operands) = alike(operands)?;
    Ok(operands[0].builder().library(name, &operands, |operands| {
        let mut wide: [Value<'b>; N] = exactly(operands.to_vec())?;
        for operand in &mut wide {
            *operand = cast(*operand, ElementType::F64)?;
        }
        cast(compute(wide), ty)
    }))
}

/// Returns the operands' type, which is a float, and the operands broadcast to one shape.
pub(super) fn alike<const N: usize>(
    mut operands: [Value<'_>; N],
) -> Result<(ElementType, [Value<'_>; N])> {
    let ty = operands[0].element_type()?;
    for operand in operands {
        let other = operand.element_type()?;
        if !other.is_float() {
            return Err(Error::argument(format!("expected real floats, found {other}"))
                .with_help("convert it first: `x.convert_element_type(ElementType::F32)`"));
        }
        if other != ty {
            return Err(Error::argument(format!("the operands are {ty} and {other}"))
                .with_help("convert them to one type first"));
        }
    }
    let mut widest = operands[0];
    for operand in &operands[1..] {
        widest = implicit::pair(widest, *operand, widest)?.0;
    }
    for operand in &mut operands {
        *operand = implicit::pair(*operand, widest, widest)?.0;
    }
    Ok((ty, operands))
}

/// As [`in_f64`], of a value and a second operand of its shape or a scalar.
pub(super) fn with_operand<'b>(
    name: &str,
    first: Value<'b>,
    second: impl Operand<'b>,
    compute: impl FnOnce([Value<'b>; 2]) -> Value<'b>,
) -> Result<Value<'b>> {
    let second = second.beside(first)?;
    in_f64(name, [first, implicit::pair(second, first, first)?.0], compute)
}

/// Returns `coefficients[0] + coefficients[1] x + ...`, by Horner's rule.
pub(super) fn polynomial<'b>(x: Value<'b>, coefficients: &[f64]) -> Value<'b> {
    let mut rest = coefficients.iter().rev();
    let (Some(&highest), Some(&next)) = (rest.next(), rest.next()) else {
        return x.full_like(coefficients.first().copied().unwrap_or(0.0));
    };
    rest.fold(x * highest + next, |sum, &coefficient| sum * x + coefficient)
}

/// Returns the state after `step` was applied until no element is active, or `limit` times.
///
/// `step` takes the state and the number of the step, from 1 on, as an f64 scalar; it returns the
/// new state and which elements go on. Elements that have stopped keep their state. The second
/// result is what is still active at the end.
pub(super) fn iterate<'b>(
    active: Value<'b>,
    state: &[Value<'b>],
    limit: f64,
    step: impl FnOnce(&[Value<'b>], Value<'b>) -> (Vec<Value<'b>>, Value<'b>),
) -> (Vec<Value<'b>>, Value<'b>) {
    let b = active.builder();
    let whole = |tuple: Value<'b>| -> Vec<Value<'b>> {
        (0i64..).take(state.len() + 2).map(|i| tuple.get_tuple_element(i)).collect()
    };
    let start = b.tuple(&[&[b.constant(1.0f64), active], state].concat());
    let end = start.while_loop(
        |tuple| {
            let (n, active) = (tuple.get_tuple_element(0), tuple.get_tuple_element(1));
            active.any() & n.le(limit)
        },
        |tuple| {
            let parts = whole(tuple);
            let (n, active, old) = (parts[0], parts[1], &parts[2..]);
            let (new, going) = step(old, n);
            let kept = new.iter().zip(old).map(|(&new, &old)| active.select(new, old));
            let next: Vec<Value<'b>> = [n + 1.0, active & going].into_iter().chain(kept).collect();
            tuple.builder().tuple(&next)
        },
    );
    let parts = whole(end);
    (parts[2..].to_vec(), parts[1])
}

/// Broadcasts a scalar to an array of the same computation.
pub(super) fn like<'b>(scalar: Value<'b>, array: Value<'b>) -> Value<'b> {
    array.record(|_| Ok(implicit::pair(scalar, array, array)?.0))
}

/// Returns `exp(-x*x)` of an f64, as exact as `exp`: the square is taken in two parts, so that its
/// rounding error, which `exp` would magnify by `x*x`, is not lost.
pub(super) fn exp_of_minus_square(x: Value<'_>) -> Value<'_> {
    let bits = x.bitcast_convert_type(ElementType::U64);
    // Half of the bits: their square is exact.
    let kept = (bits & bits::word(x, 0xFFFF_FFFF_F800_0000)).bitcast_convert_type(ElementType::F64);
    (-(kept * kept)).exp() * (-((x - kept) * (x + kept))).exp()
}

/// Returns `x` minus the nearest integer: exact, from -1/2 to 1/2.
pub(super) fn offset_from_whole(x: Value<'_>) -> Value<'_> {
    x - x.round_nearest_even()
}

/// Returns whether `x` is an integer.
pub(super) fn is_whole(x: Value<'_>) -> Value<'_> {
    x.floor().eq(x)
}

/// Returns `-1` where `x` is below zero, `1` elsewhere.
pub(super) fn sign_of(x: Value<'_>) -> Value<'_> {
    x.lt(0.0).select(x.full_like(-1.0), 1.0)
}

/// Returns `log(ratio) - rest` where `rest = ratio - 1`, which is given since it is known more
/// exactly: accurate near `ratio = 1`.
pub(super) fn log_minus_rest<'b>(ratio: Value<'b>, rest: Value<'b>) -> Value<'b> {
    let near = rest * rest * log1p_rest(rest);
    log1p_rest_holds(rest).select(near, ratio.log() - rest)
}
/// Returns where [`log1p_rest`] may be used.
pub(super) fn log1p_rest_holds(x: Value<'_>) -> Value<'_> {
    x.gt(-0.4) & x.lt(0.6)
}
/// Returns `(log1p(x) - x) / (x*x)` for x from -0.4 to 0.6.
pub(super) fn log1p_rest(x: Value<'_>) -> Value<'_> {
    polynomial(x * 2.0 - 0.2, super::tables::LOG1P_REST)
}
