//! Derivatives of two-operand ops, each written once: both directions multiply by it.
use super::node::Rule;
use super::node::{Derivative, Node};
use super::tangent::Tangent;
use crate::{Result, Value};
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

enum Slope {
    /// With respect to the first operand and to the second.
    Times(Times, Times),
    /// Integer functions have none.
    Integer,
    Complex,
}
use Slope::{Complex, Integer, Times as By};

fn slope(op: Binary) -> Slope {
    match op {
        Binary::Add => By(|_, t| t, |_, t| t),
        Binary::Atan2 => By(
            |At { x, y, .. }, t| t * (y / (x * x + y * y)),
            |At { x, y, .. }, t| -(t * (x / (x * x + y * y))),
        ),
        Binary::Complex => Complex,
        Binary::Divide => By(|at, t| t / at.y, |at, t| -(t * at.z / at.y)),
        // Of equals each gets half, as in JAX.
        Binary::Maximum | Binary::Minimum => {
            By(|at, t| chosen(at.x, at.y, at.z, t), |at, t| chosen(at.y, at.x, at.z, t))
        }
        Binary::Multiply => By(|at, t| t * at.y, |at, t| t * at.x),
        Binary::Power => By(power_by_base, power_by_exponent),
        // x - y * n, where n is the quotient cut off: an integer, which the quotient of x - z and y is but for rounding.
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
        | Binary::Xor => Integer,
    }
}

pub(super) fn rule(op: &Binary) -> Rule<'_> {
    match slope(*op) {
        By(..) | Complex => Rule::By(op),
        Integer => Rule::Zero,
    }
}

/// `t` where this operand is the result, half of it where the other is too.
fn chosen<'b>(this: Value<'b>, other: Value<'b>, z: Value<'b>, t: Value<'b>) -> Value<'b> {
    let share = other.eq(z).select(t * 0.5, t);
    this.eq(z).select(share, 0)
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

impl Derivative for Binary {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let By(by_x, by_y) = slope(*self) else { return node.again_all(tangents) };
        let (at, mut sum) = (At::of(node)?, Tangent::Zero);
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
        let at = At::of(node)?;
        node.each_needed(|i| Ok([by_x, by_y][i](at, c)))
    }
}
impl<'b> At<'b> {
    fn of(node: &Node<'b>) -> Result<Self> {
        Ok(Self { x: node.operand(0)?, y: node.operand(1)?, z: node.result })
    }
}
