//! Derivatives of one-operand ops, each written once: both directions multiply by it.
//!
//! Those of complex functions that are not holomorphic have two rules.
use super::node::first;
use super::rules::Rule;
use super::{Node, Tangent, ops};
use crate::{Result, Value};
use hlo::Op;
use hlo::op::Unary;
use std::f64::consts::FRAC_2_SQRT_PI;

/// A tangent or cotangent `t` times the derivative at `x`, where the op gives `y`.
type Times = for<'b> fn(Value<'b>, Value<'b>, Value<'b>) -> Value<'b>;

enum Derivative {
    Times(Times),
    /// Zero wherever there is one.
    Flat,
    /// Real or complex, not holomorphic.
    Own(super::rules::Push, super::rules::Pull),
}
use Derivative::{Flat, Own, Times as By};

/// The derivative of an op.
///
/// Forms are chosen so that nothing cancels: `1 - tanh(x)^2` is 0 long before the derivative is, `1 / cosh(x)^2` is not.
fn derivative(op: Unary) -> Derivative {
    match op {
        Unary::Abs => Own(push_abs, pull_abs),
        Unary::Acos => By(|x, _, t| -(t * ((x + 1) * (-x + 1)).rsqrt())),
        // Two roots: of a complex number the root of the product may be the other one.
        Unary::Acosh => By(|x, _, t| t * ((x - 1).rsqrt() * (x + 1).rsqrt())),
        Unary::Asin => By(|x, _, t| t * ((x + 1) * (-x + 1)).rsqrt()),
        Unary::Asinh => By(|x, _, t| t * (x * x + 1).rsqrt()),
        Unary::Atanh => By(|x, _, t| t / ((x + 1) * (-x + 1))),
        Unary::Cbrt => By(|_, y, t| t / (y * y * 3)),
        Unary::Cosine => By(|x, _, t| -(t * x.sin())),
        Unary::Cosh => By(|x, _, t| t * x.sinh()),
        Unary::Erf => By(|x, _, t| t * ((-(x * x)).exp() * FRAC_2_SQRT_PI)),
        Unary::Exponential => By(|_, y, t| t * y),
        Unary::ExponentialMinusOne => By(|x, _, t| t * x.exp()),
        Unary::Imag => Own(push_imag, pull_imag),
        Unary::Log => By(|x, _, t| t / x),
        Unary::LogPlusOne => By(|x, _, t| t / (x + 1)),
        Unary::Logistic => By(|x, y, t| t * (y * (-x).logistic())),
        Unary::Negate => By(|_, _, t| -t),
        Unary::Real => Own(push_real, pull_real),
        Unary::Rsqrt => By(|x, y, t| t * (y / x * -0.5)),
        Unary::Sign => Own(push_sign, pull_sign),
        Unary::Sine => By(|x, _, t| t * x.cos()),
        Unary::Sinh => By(|x, _, t| t * x.cosh()),
        Unary::Sqrt => By(|_, y, t| t * 0.5 / y),
        Unary::Tan => By(|_, y, t| t * (y * y + 1)),
        Unary::Tanh => By(|x, _, t| {
            let cosine = x.cosh();
            t / cosine / cosine
        }),
        Unary::Ceil
        | Unary::Floor
        | Unary::IsFinite
        | Unary::RoundNearestAfz
        | Unary::RoundNearestEven => Flat,
        // Of whole numbers.
        Unary::CountLeadingZeros | Unary::Not | Unary::Popcnt => Flat,
    }
}

pub(super) fn rule(op: Unary) -> Rule {
    match derivative(op) {
        By(_) => Rule::Both(push, pull),
        Flat => Rule::Flat,
        Own(push, pull) => Rule::Both(push, pull),
    }
}

/// The tangent or cotangent times the derivative.
fn times<'b>(node: &Node<'b>, t: Value<'b>) -> Result<Value<'b>> {
    let Op::Unary(op) = node.op else { return Err(node.refused("is no op of one operand")) };
    match derivative(op) {
        By(times) => Ok(times(node.operand(0)?, node.result, t)),
        Flat | Own(..) => Err(node.refused("has a rule of its own")),
    }
}
fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let Some(t) = first(tangents)? else { return Ok(Tangent::Zero) };
    times(node, t).map(Tangent::Array)
}
fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    Ok(vec![Tangent::Array(times(node, c)?)])
}

/// `real(a * b)` of complex numbers.
fn real_product<'b>(a: Value<'b>, b: Value<'b>) -> Value<'b> {
    a.real() * b.real() - a.imag() * b.imag()
}
/// The real numbers as complex ones.
fn to_complex<'b>(real: Value<'b>, like: Value<'b>) -> Result<Value<'b>> {
    Ok(real.convert_element_type(like.element_type()?))
}
fn is_complex(node: &Node<'_>) -> Result<bool> {
    Ok(node.operand(0)?.element_type()?.is_complex())
}

/// The conjugate of `x / abs(x)`, which is 0 where `x` is.
fn conjugate_direction<'b>(node: &Node<'b>) -> Result<Value<'b>> {
    let (x, r) = (node.operand(0)?, node.result);
    let length = r.eq(0).select(1, r);
    Ok(x.conj() / to_complex(length, x)?)
}
/// Of a real number the sign, which is 1 at 0 as in JAX.
fn by_sign<'b>(x: Value<'b>, t: Value<'b>) -> Value<'b> {
    x.ge(0).select(t, -t)
}
fn push_abs<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let Some(t) = first(tangents)? else { return Ok(Tangent::Zero) };
    Ok(Tangent::Array(match is_complex(node)? {
        true => real_product(conjugate_direction(node)?, t),
        false => by_sign(node.operand(0)?, t),
    }))
}
fn pull_abs<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let x = node.operand(0)?;
    Ok(vec![Tangent::Array(match is_complex(node)? {
        true => to_complex(c, x)? * conjugate_direction(node)?,
        false => by_sign(x, c),
    })])
}

fn push_real<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    node.again_first(tangents)
}
fn pull_real<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    Ok(vec![Tangent::Array(to_complex(c, node.operand(0)?)?)])
}
/// The imaginary part of a real number is 0 whatever it is.
fn push_imag<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    if is_complex(node)? { node.again_first(tangents) } else { Ok(Tangent::Zero) }
}
fn pull_imag<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let c = cotangent.array()?.filter(|_| is_complex(node).unwrap_or(false));
    let Some(c) = c else { return Ok(node.zeros()) };
    let zero = ops::zeros_like(c)?;
    Ok(vec![Tangent::Array(zero.complex(-c))])
}

/// Of a complex number `y = x / abs(x)`: along `t` it turns by `(t - y real(conj(y) t)) / abs(x)`, and at 0 not at all. Of a
/// real number it is a step.
fn push_sign<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let t = first(tangents)?.filter(|_| is_complex(node).unwrap_or(false));
    let Some(t) = t else { return Ok(Tangent::Zero) };
    let (x, y) = (node.operand(0)?, node.result);
    let along = to_complex(real_product(y.conj(), t), x)?;
    turned(x, t - y * along).map(Tangent::Array)
}
fn pull_sign<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let c = cotangent.array()?.filter(|_| is_complex(node).unwrap_or(false));
    let Some(c) = c else { return Ok(node.zeros()) };
    let (x, y) = (node.operand(0)?, node.result);
    let along = to_complex(real_product(y, c), x)?;
    Ok(vec![Tangent::Array(turned(x, c - y.conj() * along)?)])
}
/// `t / abs(x)`, 0 where `x` is.
fn turned<'b>(x: Value<'b>, t: Value<'b>) -> Result<Value<'b>> {
    let radius = x.abs();
    let at_zero = radius.eq(0);
    let radius = to_complex(at_zero.select(1, radius), x)?;
    Ok(at_zero.select(ops::zeros_like(t)?, t / radius))
}
