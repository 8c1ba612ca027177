//! JVPs of the scalar operations.
use super::ScalarOp;
use super::build::{build, full, zero_of};
use super::gradient::Partial::{self, Disconnected, Unknown, Zero};
use super::gradient::pull;
use crate::cast;
use crate::pytensor::types::is_discrete;
use builder::{Result, Value};
use hlo::Scalar;

/// Returns the tangent of the output `z` from those of the inputs `x`, which are there for the
/// inputs that vary.
pub(crate) fn push<'b>(
    op: ScalarOp,
    x: &[Value<'b>],
    z: Value<'b>,
    tangents: &[Option<Value<'b>>],
) -> Result<Partial<'b>> {
    let out = z.element_type()?;
    if out.is_complex() {
        return push_complex(op, x, z, tangents);
    }
    let seed = if is_discrete(out) { z } else { full(z, out, Scalar::Float(1.0))? };
    let mut sum = Disconnected;
    for (partial, tangent) in pull(op, x, z, seed)?.into_iter().zip(tangents) {
        let Some(tangent) = *tangent else { continue };
        let step = match partial {
            Partial::Value(d) if tangent.element_type()?.is_complex() => {
                // The real part of the product with the conjugate.
                let d = cast(d, tangent.element_type()?)?;
                Partial::Value(cast(d.conj().mul(tangent).real(), out)?)
            }
            Partial::Value(d) => Partial::Value(d.mul(cast(tangent, out)?)),
            other @ (Zero | Disconnected | Unknown(_)) => other,
        };
        sum = plus(sum, step);
    }
    Ok(sum)
}

fn plus<'b>(sum: Partial<'b>, step: Partial<'b>) -> Partial<'b> {
    match (sum, step) {
        (Unknown(why), _) | (_, Unknown(why)) => Unknown(why),
        (Disconnected, step) => step,
        (sum, Disconnected) => sum,
        (Zero, other) | (other, Zero) => other,
        (Partial::Value(a), Partial::Value(b)) => Partial::Value(a + b),
    }
}

/// Operations that are linear in each input push tangents by themselves.
fn push_complex<'b>(
    op: ScalarOp,
    x: &[Value<'b>],
    z: Value<'b>,
    tangents: &[Option<Value<'b>>],
) -> Result<Partial<'b>> {
    let out = z.element_type()?;
    let known = matches!(
        op,
        ScalarOp::Mul
            | ScalarOp::Add
            | ScalarOp::Sub
            | ScalarOp::Neg
            | ScalarOp::Identity
            | ScalarOp::Cast(_)
            | ScalarOp::Second
            | ScalarOp::Switch
            | ScalarOp::Conj
            | ScalarOp::Complex
    );
    if !known {
        return Ok(Unknown(format!("the derivative of `{op}` is not known for complex numbers")));
    }
    let mut sum = Disconnected;
    for (i, tangent) in tangents.iter().enumerate() {
        let Some(tangent) = *tangent else { continue };
        let step = match (op, i) {
            (ScalarOp::Second, 0) => Disconnected,
            (ScalarOp::Switch, 0) => Zero,
            _ => {
                // The same operation, with the other terms 0 and the other factors as they are.
                let mut inputs = x.to_vec();
                for (j, input) in inputs.iter_mut().enumerate() {
                    let kept = op == ScalarOp::Mul || (op == ScalarOp::Switch && j == 0);
                    if j == i {
                        *input = tangent;
                    } else if !kept {
                        let ty = input.element_type()?;
                        *input = full(*input, ty, zero_of(ty))?;
                    }
                }
                Partial::Value(build(op, &inputs, out)?)
            }
        };
        sum = plus(sum, step);
    }
    Ok(sum)
}
