//! What XLA expands or runs itself on a CPU.
//!
//! | target | value |
//! |---|---|
//! | `TopK` | `(values, places)`: the largest of the last dimension, or the smallest if the computation it calls compares with `LT` |
//! | `Qr` | `(a, taus)`: as LAPACK's `geqrf` |
//! | `ProductOfElementaryHouseholderReflectors` | `q`: as LAPACK's `orgqr` |
//! | `Eigh` | `(v, w)`: as LAPACK's `syevd`; the config `1,1,100,1e-6` is: lower triangle, sorted, and how XLA iterates |
//! | `GetRngSeed` | 0: there is no chance without a seed |
//! | `SetBound` | the operand: a bound changes no value |
use super::lapack;
use crate::hooks::Call;
use crate::index::to_usize;
use crate::reference::topk;
use crate::{Error, Result};
use hlo::op::value::Direction;
use hlo::{ElementType, Literal, Op, Scalar};

/// The targets.
pub(super) const TARGETS: [&str; 6] =
    ["Eigh", "GetRngSeed", "ProductOfElementaryHouseholderReflectors", "Qr", "SetBound", "TopK"];

/// Runs the call if its target is one of these.
pub(super) fn run(call: &Call<'_>) -> Option<Result<Literal>> {
    Some(match call.op.custom_call_target.0.as_str() {
        "TopK" => top_k(call),
        "Qr" => lapack::reflections(call),
        "ProductOfElementaryHouseholderReflectors" => lapack::basis(call),
        "Eigh" => eigh(call),
        "GetRngSeed" => seed(call),
        "SetBound" => match call.operands {
            [operand] => Ok((*operand).clone()),
            _ => Err(wanted(call, "one operand")),
        },
        _ => return None,
    })
}

/// The error of a call that does not fit.
pub(super) fn wanted(call: &Call<'_>, what: &str) -> Error {
    let found: Vec<String> = call.operands.iter().map(|o| o.shape().to_string()).collect();
    let (target, found) = (&call.op.custom_call_target.0, found.join(", "));
    let shape = call.shape;
    Error::unsupported(format!("custom call `{target}` wants {what}, found ({found}) -> {shape}"))
}

fn top_k(call: &Call<'_>) -> Result<Literal> {
    let what = "an array and gives (values, s32 places), alike but for the last dimension, which is not longer";
    let fits = || {
        let [operand] = call.operands else { return None };
        let from = operand.array_shape()?;
        let [values, places] = call.shape.tuple()? else { return None };
        let (values, places) = (values.array()?, places.array()?);
        let ((&k, batch), (&size, rows)) = (values.dims.split_last()?, from.dims.split_last()?);
        let alike = values.ty == from.ty && places.ty == ElementType::S32;
        let fits = alike && values.dims == places.dims && batch == rows && k <= size;
        (fits && !from.ty.is_complex()).then_some((*operand, to_usize(k)))
    };
    let (operand, k) = fits().ok_or_else(|| wanted(call, what))?;
    let mut called = call.op.called_computations.iter().chain(&call.op.to_apply);
    let largest = match called.next() {
        None => true,
        Some(&id) => {
            let computation = &call.module.computations[id];
            match &computation.instructions[computation.root].op {
                Op::Compare(compare) if compare.direction == Direction::Gt => true,
                Op::Compare(compare) if compare.direction == Direction::Lt => false,
                _ => return Err(wanted(call, "a computation that compares with GT or LT")),
            }
        }
    };
    Ok(topk::largest(operand, k, largest, call.shape))
}

fn eigh(call: &Call<'_>) -> Result<Literal> {
    let opaque = call.op.opaque.as_ref().map(|text| text.0.as_str());
    let config = call.backend_config.map(|config| config.0.as_str()).or(opaque).unwrap_or_default();
    let lower = match config.split(',').next().map(str::trim) {
        Some("1") => true,
        Some("0") => false,
        _ => {
            let what = format!("a config like `1,1,100,1e-6`, not `{config}`,");
            return Err(wanted(call, &what));
        }
    };
    lapack::eigh(call, lower)
}

fn seed(call: &Call<'_>) -> Result<Literal> {
    if !call.operands.is_empty() || !call.shape.is_scalar(ElementType::U64) {
        return Err(wanted(call, "no operand and gives u64[]"));
    }
    Ok(Literal::scalar(ElementType::U64, Scalar::Unsigned(0)))
}
