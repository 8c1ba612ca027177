//! `custom-call`: functions known by name
use crate::hooks::{Call, Hooks};
use crate::index::to_usize;
use crate::{Error, Result};
use hlo::op::CustomCall;
use hlo::{Literal, Shape};

/// Targets that can be run.
const KNOWN: [&str; 2] = ["TopK", "Sharding"];

pub(super) fn custom_call(
    op: &CustomCall,
    operands: &[&Literal],
    shape: &Shape,
    hooks: &Hooks,
) -> Result<Literal> {
    let target = op.custom_call_target.0.as_str();
    if let Some(function) = hooks.custom_call_target(target) {
        return function(&Call { op, operands, shape });
    }
    match (target, operands) {
        ("TopK", [operand]) => {
            let k = shape.tuple().and_then(|t| t.first()?.array()?.dims.last().copied());
            let k = k.ok_or_else(|| {
                Error::unsupported(format!(
                    "custom call `TopK` gives (values, places), not {shape}"
                ))
            })?;
            Ok(super::topk::largest(operand, to_usize(k), true, shape))
        }
        ("Sharding", [operand]) => Ok((*operand).clone()),
        _ => Err(Error::unsupported(format!(
            "custom call target `{target}` is not known; known are {}",
            KNOWN.join(", ")
        ))),
    }
}
