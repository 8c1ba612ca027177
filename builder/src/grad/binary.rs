//! Derivatives of two-operand ops, each written once: both directions multiply by it.
use super::node::Rule;
use super::node::{Derivative, Node};
use super::tangent::Tangent;
use crate::{Result, Value};
use hlo::op::Binary;

/// Where the derivative is taken: the operands and the result.
#[derive(Clone, Copy)]
struct Point<'b> {
    x: Value<'b>,
    y: Value<'b>,
    z: Value<'b>,
}
/// A tangent or cotangent times the derivative by one operand.
type PartialProduct = for<'b> fn(Point<'b>, Value<'b>) -> Value<'b>;

enum BinaryDerivative {
    /// With respect to the first operand and to the second.
    Times(PartialProduct, PartialProduct),
    /// Integer functions have none.
    Integer,
    Complex,
}
use BinaryDerivative::{Complex, Integer, Times as By};

fn slope(op: Binary) -> BinaryDerivative {
    match op {
        Binary::Add => By(|_, t| t, |_, t| t),
        Binary::Atan2 => By(
            |Point { x, y, .. }, t| t * (y / (x * x + y * y)),
            |Point { x, y, .. }, t| -(t * (x / (x * x + y * y))),
        ),
        Binary::Complex => Complex,
        Binary::Divide => By(|at, t| t / at.y, |at, t| -(t * at.z / at.y)),
        // Of equals each gets half, as in JAX.
        Binary::Maximum | Binary::Minimum => {
            By(|at, t| chosen(at.x, at.y, at.z, t), |at, t| chosen(at.y, at.x, at.z, t))
        }
        Binary::Multiply => By(|at, t| t * at.y, |at, t| t * at.x),
        Binary::Power => By(power_by_base, power_by_exponent),
        // x - y * n, where n is the quotient cut off: an integer, which the quotient of x - z and y
        // is but for rounding.
        Binary::Remainder => {
            By(|_, t| t, |Point { x, y, z }, t| -(t * ((x - z) / y).round_nearest_even()))
        }
        Binary::Subtract => By(|_, t| t, |_, t| -t),
        Binary::And
        | Binary::Mulhi
        | Binary::Or
        | Binary::ShiftLeft
        | Binary::ShiftRightArithmetic
        | Binary::ShiftRightLogical
        | Binary::Xor => Integer,
    }
}

pub(super) fn rule(op: &Binary) -> Rule<'_> {
    match slope(*op) {
        By(..) | Complex => Rule::By(op),
        Integer => Rule::Zero,
    }
}

/// Returns `t` where this operand is the result, half of it where the other is too.
fn chosen<'b>(this: Value<'b>, other: Value<'b>, z: Value<'b>, t: Value<'b>) -> Value<'b> {
    let share = other.eq(z).select(t * 0.5, t);
    this.eq(z).select(share, 0)
}
/// Returns `y x^(y-1)`, and 0 where both are 0: the exponent is left at 0 there, since `0^-1` is
/// infinite.
fn power_by_base<'b>(Point { x, y, .. }: Point<'b>, t: Value<'b>) -> Value<'b> {
    let both_zero = x.eq(0) & y.eq(0);
    t * (y * x.pow(both_zero.select(y, y - 1)))
}
/// Returns `log(x) x^y`; at `x = 0` that is 0, not `-inf * 0`.
fn power_by_exponent<'b>(Point { x, z, .. }: Point<'b>, t: Value<'b>) -> Value<'b> {
    t * (x.eq(0).select(1, x).log() * z)
}

impl Derivative for Binary {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let By(by_x, by_y) = slope(*self) else { return node.again_all(tangents) };
        let (at, mut sum) = (Point::of(node)?, Tangent::Zero);
        for (tangent, times) in tangents.iter().zip([by_x, by_y]) {
            if let Some(t) = tangent.array()? {
                sum = sum.plus(Tangent::Array(times(at, t)))?;
            }
        }
        Ok(sum)
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let By(by_x, by_y) = slope(*self) else {
            return Ok(vec![Tangent::Array(c.real()), Tangent::Array(-c.imag())]);
        };
        let at = Point::of(node)?;
        node.each_needed(|i| Ok([by_x, by_y][i](at, c)))
    }
}
impl<'b> Point<'b> {
    fn of(node: &Node<'b>) -> Result<Self> {
        Ok(Self { x: node.operand(0)?, y: node.operand(1)?, z: node.result })
    }
}
