//! The instructions of each scalar operation, on inputs of one size.
use super::{ScalarOp, division};
use crate::cast;
use crate::pytensor::types::{is_discrete, upcast};
use builder::{Code, Result, Value};
use hlo::elem::Class;
use hlo::op::value::Direction;
use hlo::{ElementType, Literal, Scalar};
use std::f64::consts::{LN_2, LN_10};

/// Returns an array of one number, of this type and sized like `like`.
pub(crate) fn full(like: Value<'_>, ty: ElementType, value: Scalar) -> Result<Value<'_>> {
    let dims = like.dims()?;
    let scalar = like.builder().constant(Literal::scalar(ty, value));
    Ok(if dims.is_empty() { scalar } else { scalar.broadcast_in_dim(&dims, &[]) })
}

/// Returns the operation on inputs of one size, whose types it takes; `out` is the type of its
/// output.
pub(crate) fn build<'b>(op: ScalarOp, x: &[Value<'b>], out: ElementType) -> Result<Value<'b>> {
    match *x {
        [x] => unary(op, x, out),
        [x, y] if op.nin().is_some() => binary(op, x, y, out),
        [x, y, z] if op.nin().is_some() => ternary(op, x, y, z, out),
        _ => many(op, x, out),
    }
}

fn many<'b>(op: ScalarOp, x: &[Value<'b>], out: ElementType) -> Result<Value<'b>> {
    let mut inputs = x.iter().map(|&x| cast(x, out));
    let first = inputs.next().ok_or(Code::Invalid {})??;
    inputs.try_fold(first, |so_far, x| {
        let x = x?;
        Ok(if op == ScalarOp::Mul { so_far.mul(x) } else { so_far.add(x) })
    })
}

fn unary(op: ScalarOp, input: Value<'_>, out: ElementType) -> Result<Value<'_>> {
    let from = input.element_type()?;
    // What is computed in the type of the output; `abs`, `real` and `imag` leave complex numbers.
    let x = if from.is_complex() { input } else { cast(input, out)? };
    Ok(match op {
        ScalarOp::Abs => return magnitude(x),
        ScalarOp::ArcCos => x.acos(),
        ScalarOp::ArcCosh => x.acosh(),
        ScalarOp::ArcSin => x.asin(),
        ScalarOp::ArcSinh => x.asinh(),
        ScalarOp::ArcTan => arctan(x),
        ScalarOp::ArcTanh => x.atanh(),
        ScalarOp::Ceil => x.ceil(),
        ScalarOp::Conj => x.conj(),
        ScalarOp::Cos => x.cos(),
        ScalarOp::Cosh => x.cosh(),
        ScalarOp::Erf => x.erf(),
        ScalarOp::Exp => x.exp(),
        // The power is exact where the product `x * ln(2)` would be rounded before it is
        // exponentiated.
        ScalarOp::Exp2 => x.scalar_like(2.0).pow(x),
        ScalarOp::Expm1 => x.expm1(),
        ScalarOp::Floor => x.floor(),
        ScalarOp::Identity | ScalarOp::Cast(_) => return cast(input, out),
        ScalarOp::Imag if is_discrete(from) => full(input, out, zero_of(out))?,
        ScalarOp::Imag => x.imag(),
        ScalarOp::Invert => x.not(),
        ScalarOp::IsInf => return parts(input, |part| Ok(part.abs().eq(f64::INFINITY))),
        ScalarOp::IsNan => return parts(input, |part| Ok(part.ne(part))),
        ScalarOp::Log => x.log(),
        ScalarOp::Log10 => x.log() / LN_10,
        ScalarOp::Log1p => x.log1p(),
        ScalarOp::Log2 => x.log() / LN_2,
        ScalarOp::Neg => x.neg(),
        ScalarOp::Real if is_discrete(from) => x,
        ScalarOp::Real => x.real(),
        ScalarOp::Reciprocal => x.scalar_like(1.0).div(x),
        ScalarOp::RoundHalfAwayFromZero => x.round(),
        ScalarOp::RoundHalfToEven => x.round_nearest_even(),
        ScalarOp::Sigmoid => x.logistic(),
        ScalarOp::Sign if from.class() == Class::Unsigned => cast(x.ne(x.scalar_like(0)), out)?,
        // HLO keeps -0.
        ScalarOp::Sign => x.eq(x.scalar_like(0)).select(x.scalar_like(0), x.sign()),
        ScalarOp::Sin => x.sin(),
        ScalarOp::Sinh => x.sinh(),
        ScalarOp::Softplus => x.softplus(),
        ScalarOp::Sqr => x.mul(x),
        ScalarOp::Sqrt => x.sqrt(),
        ScalarOp::Tan => x.tan(),
        ScalarOp::Tanh => x.tanh(),
        // Both keep the sign of what becomes 0.
        ScalarOp::Trunc => x.lt(0.0).select(x.ceil(), x.floor()),
        ScalarOp::Add | ScalarOp::Mul => x,
        other => return Err(misfit(other)),
    })
}

fn binary<'b>(op: ScalarOp, x: Value<'b>, y: Value<'b>, out: ElementType) -> Result<Value<'b>> {
    let direction = match op {
        ScalarOp::Eq => Some(Direction::Eq),
        ScalarOp::Neq => Some(Direction::Ne),
        ScalarOp::Lt => Some(Direction::Lt),
        ScalarOp::Le => Some(Direction::Le),
        ScalarOp::Gt => Some(Direction::Gt),
        ScalarOp::Ge => Some(Direction::Ge),
        _ => None,
    };
    if let Some(direction) = direction {
        return compare(x, y, direction);
    }
    match op {
        ScalarOp::Second => return cast(y, out),
        ScalarOp::Complex => {
            return Ok(cast(x, out.component())?.complex(cast(y, out.component())?));
        }
        _ => {}
    }
    let (x, y) = (cast(x, out)?, cast(y, out)?);
    Ok(match op {
        ScalarOp::And => x.and(y),
        ScalarOp::ArcTan2 => x.atan2(y),
        ScalarOp::IntDiv => return division::quotient(x, y),
        ScalarOp::Maximum => x.max(y),
        ScalarOp::Minimum => x.min(y),
        ScalarOp::Mod => return division::modulo(x, y),
        ScalarOp::Or => x.or(y),
        ScalarOp::Pow => x.pow(y),
        ScalarOp::Sub => x.sub(y),
        ScalarOp::TrueDiv => x.div(y),
        ScalarOp::Xor => x.xor(y),
        other => return Err(misfit(other)),
    })
}

fn ternary<'b>(
    op: ScalarOp,
    x: Value<'b>,
    y: Value<'b>,
    z: Value<'b>,
    out: ElementType,
) -> Result<Value<'b>> {
    match op {
        ScalarOp::Switch => {
            let truth =
                if x.element_type()? == ElementType::Pred { x } else { x.ne(x.scalar_like(0)) };
            Ok(truth.select(cast(y, out)?, cast(z, out)?))
        }
        // Not `clamp`, which puts the bounds in another order and lets NaN win.
        ScalarOp::Clip => {
            let (x, min, max) = (cast(x, out)?, cast(y, out)?, cast(z, out)?);
            Ok(x.lt(min).select(min, x.gt(max).select(max, x)))
        }
        other => Err(misfit(other)),
    }
}

fn magnitude(x: Value<'_>) -> Result<Value<'_>> {
    Ok(match x.element_type()?.class() {
        Class::Pred | Class::Unsigned => x,
        Class::Signed | Class::Float | Class::Complex => x.abs(),
    })
}

/// Returns the arc tangent: HLO has the two-operand arc tangent only.
fn arctan(x: Value<'_>) -> Value<'_> {
    x.atan2(x.scalar_like(1.0))
}

/// Returns a test of floats, of either part of complex numbers; integers fail it.
fn parts<'b>(x: Value<'b>, test: impl Fn(Value<'b>) -> Result<Value<'b>>) -> Result<Value<'b>> {
    match x.element_type()?.class() {
        Class::Pred | Class::Signed | Class::Unsigned => {
            full(x, ElementType::Pred, Scalar::Pred(false))
        }
        Class::Float => test(x),
        Class::Complex => Ok(test(x.real())?.or(test(x.imag())?)),
    }
}

pub(super) fn zero_of(ty: ElementType) -> Scalar {
    Scalar::Float(0.0).convert(ElementType::F64, ty)
}

/// Compares by value: of 64-bit integers of both kinds no type holds all, so the negative ones are
/// distinguished first.
fn compare<'b>(x: Value<'b>, y: Value<'b>, direction: Direction) -> Result<Value<'b>> {
    let (left, right) = (x.element_type()?, y.element_type()?);
    let common = upcast([left, right])?;
    if common.is_integral() || !(left.is_integral() && right.is_integral()) {
        return Ok(cast(x, common)?.compare(cast(y, common)?, direction, None));
    }
    let (signed, unsigned) = match left.class() {
        Class::Signed => (x, y),
        _ => (y, x),
    };
    // The truth of `-1 direction 0` or `0 direction -1`.
    let below = matches!(direction, Direction::Lt | Direction::Le | Direction::Ne);
    let above = matches!(direction, Direction::Gt | Direction::Ge | Direction::Ne);
    let outcome = if left.class() == Class::Signed { below } else { above };
    let outcome = full(x, ElementType::Pred, Scalar::Pred(outcome))?;
    let (wide, other) = (cast(signed, ElementType::U64)?, cast(unsigned, ElementType::U64)?);
    let same = match left.class() {
        Class::Signed => wide.compare(other, direction, None),
        _ => other.compare(wide, direction, None),
    };
    Ok(signed.lt(signed.scalar_like(0)).select(outcome, same))
}

/// Returns the error of an impossible case: the operation does not take so many inputs, which is
/// checked before.
#[cold]
fn misfit(op: ScalarOp) -> builder::Error {
    builder::Error::argument(format!("`{op}` does not take so many inputs"))
}
