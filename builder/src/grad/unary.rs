//! Derivatives of one-operand ops, each written once: both directions multiply by it.
//!
//! Those of complex functions that are not holomorphic have two rules.
use super::node::Rule;
use super::node::{Derivative, Node, first};
use super::tangent::Tangent;
use crate::{Result, Value};
use hlo::op::Unary;
use std::f64::consts::FRAC_2_SQRT_PI;

/// A tangent or cotangent `t` times the derivative at `x`, where the op gives `y`.
type DerivativeProduct = for<'b> fn(Value<'b>, Value<'b>, Value<'b>) -> Value<'b>;

enum UnaryDerivative {
    Times(DerivativeProduct),
    /// Zero wherever it exists.
    Zero,
    /// Not holomorphic, so that JVP and VJP differ.
    Own(&'static dyn Derivative),
}
use UnaryDerivative::{Own, Times as By, Zero};

/// Returns the derivative of an op.
///
/// Forms are chosen so that nothing cancels: `1 - tanh(x)^2` is 0 long before the derivative is,
/// `1 / cosh(x)^2` is not.
fn slope(op: Unary) -> UnaryDerivative {
    match op {
        Unary::Abs => Own(&Abs),
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
        Unary::Imag => Own(&Imag),
        Unary::Log => By(|x, _, t| t / x),
        Unary::LogPlusOne => By(|x, _, t| t / (x + 1)),
        Unary::Logistic => By(|x, y, t| t * (y * (-x).logistic())),
        Unary::Negate => By(|_, _, t| -t),
        Unary::Real => Own(&Real),
        Unary::Rsqrt => By(|x, y, t| t * (y / x * -0.5)),
        Unary::Sign => Own(&Sign),
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
        | Unary::RoundNearestEven => Zero,
        // Integer functions.
        Unary::CountLeadingZeros | Unary::Not | Unary::Popcnt => Zero,
    }
}

pub(super) fn rule(op: &Unary) -> Rule<'_> {
    match slope(*op) {
        By(_) => Rule::By(op),
        Zero => Rule::Zero,
        Own(rule) => Rule::By(rule),
    }
}

impl Derivative for Unary {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let Some(t) = first(tangents)? else { return Ok(Tangent::Zero) };
        times(*self, node, t).map(Tangent::Array)
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        Ok(node.first_only(times(*self, node, c)?))
    }
}
/// Returns the tangent or cotangent times the derivative.
fn times<'b>(op: Unary, node: &Node<'b>, t: Value<'b>) -> Result<Value<'b>> {
    match slope(op) {
        By(times) => Ok(times(node.operand(0)?, node.result, t)),
        Zero | Own(_) => Err(node.refused("has a rule of its own")),
    }
}

/// Returns `real(a * b)` of complex numbers.
fn real_product<'b>(a: Value<'b>, b: Value<'b>) -> Value<'b> {
    a.real() * b.real() - a.imag() * b.imag()
}
/// Returns the real numbers as complex ones.
fn to_complex<'b>(real: Value<'b>, like: Value<'b>) -> Result<Value<'b>> {
    Ok(real.convert_element_type(like.element_type()?))
}
fn is_complex(node: &Node<'_>) -> Result<bool> {
    Ok(node.operand(0)?.element_type()?.is_complex())
}

/// Returns the conjugate of `x / abs(x)`, which is 0 where `x` is.
fn conjugate_direction<'b>(node: &Node<'b>) -> Result<Value<'b>> {
    let (x, r) = (node.operand(0)?, node.result);
    let length = r.eq(0).select(1, r);
    Ok(x.conj() / to_complex(length, x)?)
}
/// Returns the sign of a real number, which is 1 at 0 as in JAX.
fn by_sign<'b>(x: Value<'b>, t: Value<'b>) -> Value<'b> {
    x.ge(0).select(t, -t)
}
struct Abs;
impl Derivative for Abs {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let Some(t) = first(tangents)? else { return Ok(Tangent::Zero) };
        Ok(Tangent::Array(match is_complex(node)? {
            true => real_product(conjugate_direction(node)?, t),
            false => by_sign(node.operand(0)?, t),
        }))
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let x = node.operand(0)?;
        Ok(vec![Tangent::Array(match is_complex(node)? {
            true => to_complex(c, x)? * conjugate_direction(node)?,
            false => by_sign(x, c),
        })])
    }
}

struct Real;
impl Derivative for Real {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        node.again_first(tangents)
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        Ok(vec![Tangent::Array(to_complex(c, node.operand(0)?)?)])
    }
}
struct Imag;
impl Derivative for Imag {
    /// Returns the tangent: the imaginary part of a real number is 0 whatever it is.
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        if is_complex(node)? { node.again_first(tangents) } else { Ok(Tangent::Zero) }
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        let c = cotangent.array()?.filter(|_| is_complex(node).unwrap_or(false));
        let Some(c) = c else { return Ok(node.zeros()) };
        Ok(node.first_only(c.zeros_like().complex(-c)))
    }
}

struct Sign;
impl Derivative for Sign {
    /// Returns the tangent: for a complex number `y = x / abs(x)`: along `t` it turns by
    /// `(t - y real(conj(y) t)) / abs(x)`, and at 0 not at all. For a real number it is a step.
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let t = first(tangents)?.filter(|_| is_complex(node).unwrap_or(false));
        let Some(t) = t else { return Ok(Tangent::Zero) };
        let (x, y) = (node.operand(0)?, node.result);
        let along = to_complex(real_product(y.conj(), t), x)?;
        turned(x, t - y * along).map(Tangent::Array)
    }
    fn vjp<'b>(&self, node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
        let c = cotangent.array()?.filter(|_| is_complex(node).unwrap_or(false));
        let Some(c) = c else { return Ok(node.zeros()) };
        let (x, y) = (node.operand(0)?, node.result);
        let along = to_complex(real_product(y, c), x)?;
        Ok(vec![Tangent::Array(turned(x, c - y.conj() * along)?)])
    }
}
/// Returns `t / abs(x)`, 0 where `x` is.
fn turned<'b>(x: Value<'b>, t: Value<'b>) -> Result<Value<'b>> {
    let radius = x.abs();
    let at_zero = radius.eq(0);
    let radius = to_complex(at_zero.select(1, radius), x)?;
    Ok(at_zero.select(0, t / radius))
}
