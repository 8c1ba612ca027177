//! Derivatives of two-operand ops, each written once: both directions multiply by it.
use super::rules::{Pull, Push, Rule};
use super::{Node, Tangent, ops};
use crate::{Result, Value};
use hlo::Op;
use hlo::op::Binary;

/// Where the derivative is taken: the operands and the result.
#[derive(Clone, Copy)]
struct At<'b> {
    x: Value<'b>,
    y: Value<'b>,
    z: Value<'b>,
}
/// A tangent or cotangent times the derivative by one operand.
type Times = for<'b> fn(At<'b>, Value<'b>) -> Value<'b>;

enum Derivative {
    /// By the first operand and by the second.
    Times(Times, Times),
    /// Whole numbers have none.
    Whole,
    Own(Push, Pull),
}
use Derivative::{Own, Times as By, Whole};

fn derivative(op: Binary) -> Derivative {
    match op {
        Binary::Add => By(|_, t| t, |_, t| t),
        Binary::Atan2 => By(
            |At { x, y, .. }, t| t * (y / (x * x + y * y)),
            |At { x, y, .. }, t| -(t * (x / (x * x + y * y))),
        ),
        Binary::Complex => Own(push_complex, pull_complex),
        Binary::Divide => By(|at, t| t / at.y, |at, t| -(t * at.z / at.y)),
        // Of equals each gets half, as in JAX.
        Binary::Maximum | Binary::Minimum => {
            By(|at, t| chosen(at.x, at.y, at.z, t), |at, t| chosen(at.y, at.x, at.z, t))
        }
        Binary::Multiply => By(|at, t| t * at.y, |at, t| t * at.x),
        Binary::Power => By(power_by_base, power_by_exponent),
        // x - y * n, where n is the quotient cut off: a whole number, which the quotient of x - z and y is but for rounding.
        Binary::Remainder => {
            By(|_, t| t, |At { x, y, z }, t| -(t * ((x - z) / y).round_nearest_even()))
        }
        Binary::Subtract => By(|_, t| t, |_, t| -t),
        Binary::And
        | Binary::Mulhi
        | Binary::Or
        | Binary::ShiftLeft
        | Binary::ShiftRightArithmetic
        | Binary::ShiftRightLogical
        | Binary::Xor => Whole,
    }
}

pub(super) fn rule(op: Binary) -> Rule {
    match derivative(op) {
        By(..) => Rule::Both(push, pull),
        Whole => Rule::Flat,
        Own(push, pull) => Rule::Both(push, pull),
    }
}

/// `t` where this operand is the result, half of it where the other is too.
fn chosen<'b>(this: Value<'b>, other: Value<'b>, z: Value<'b>, t: Value<'b>) -> Value<'b> {
    let share = other.eq(z).select(t * 0.5, t);
    this.builder().record(|_| Ok(this.eq(z).select(share, ops::zeros_like(t)?)))
}
/// `y x^(y-1)`, and 0 where both are 0: the exponent is left at 0 there, since `0^-1` is infinite.
fn power_by_base<'b>(At { x, y, .. }: At<'b>, t: Value<'b>) -> Value<'b> {
    let both_zero = x.eq(0) & y.eq(0);
    t * (y * x.pow(both_zero.select(y, y - 1)))
}
/// `log(x) x^y`; at `x = 0` that is 0, not `-inf * 0`.
fn power_by_exponent<'b>(At { x, z, .. }: At<'b>, t: Value<'b>) -> Value<'b> {
    t * (x.eq(0).select(1, x).log() * z)
}

fn parts(node: &Node<'_>) -> Result<(Times, Times)> {
    let Op::Binary(op) = node.op else { return Err(node.refused("is no op of two operands")) };
    match derivative(op) {
        By(by_x, by_y) => Ok((by_x, by_y)),
        Whole | Own(..) => Err(node.refused("has a rule of its own")),
    }
}
fn point<'b>(node: &Node<'b>) -> Result<At<'b>> {
    Ok(At { x: node.operand(0)?, y: node.operand(1)?, z: node.result })
}
fn push<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    let ((by_x, by_y), at) = (parts(node)?, point(node)?);
    let mut sum = Tangent::Zero;
    for (tangent, times) in tangents.iter().zip([by_x, by_y]) {
        if let Some(t) = tangent.array()? {
            sum = sum.plus(Tangent::Array(times(at, t)))?;
        }
    }
    Ok(sum)
}
fn pull<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    let ((by_x, by_y), at) = (parts(node)?, point(node)?);
    let of = |(i, times): (usize, Times)| match node.wants(i) {
        true => Tangent::Array(times(at, c)),
        false => Tangent::Zero,
    };
    Ok([by_x, by_y].into_iter().enumerate().map(of).collect())
}

fn push_complex<'b>(node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
    Ok(Tangent::Array(node.again(&ops::filled(node, tangents)?, None)?))
}
fn pull_complex<'b>(node: &Node<'b>, cotangent: &Tangent<'b>) -> Result<Vec<Tangent<'b>>> {
    let Some(c) = cotangent.array()? else { return Ok(node.zeros()) };
    Ok(vec![Tangent::Array(c.real()), Tangent::Array(-c.imag())])
}
