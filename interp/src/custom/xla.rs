//! What XLA expands or runs itself on a CPU.
//!
//! | target | value |
//! |---|---|
//! | `TopK` | `(values, places)`: the largest of the last dimension, or the smallest if the computation it calls compares with `LT` |
//! | `Qr` | `(a, taus)`: as LAPACK's `geqrf` |
//! | `ProductOfElementaryHouseholderReflectors` | `q`: as LAPACK's `orgqr` |
//! | `Eigh` | `(v, w)`: as LAPACK's `syevd`; the config `1,1,100,1e-6` is: lower triangle, sorted, and how XLA iterates |
//! | `GetRngSeed` | 0: there is no chance without a seed |
//! | `PadToStatic` | `(x, sizes...)`: the data within the bounds, and how much of it counts in each dimension |
//! | `SliceToDynamic` | `x`, of which only as much counts as the operands `sizes...` say |
//! | `SetBound` | the operand: a bound changes no value |
use super::lapack;
use crate::hooks::Call;
use crate::index::to_usize;
use crate::kernel::topk;
use crate::{Error, Result};
use hlo::op::value::Direction;
use hlo::{ElementType, Literal, Op, Scalar};

/// The targets.
pub(super) const TARGETS: [&str; 8] = [
    "Eigh",
    "GetRngSeed",
    "PadToStatic",
    "ProductOfElementaryHouseholderReflectors",
    "Qr",
    "SetBound",
    "SliceToDynamic",
    "TopK",
];

/// Whether a target is linear algebra.
pub(super) fn is_cubic(target: &str) -> bool {
    ["Eigh", "ProductOfElementaryHouseholderReflectors", "Qr"].contains(&target)
}

/// Runs the call if its target is one of these.
pub(super) fn run(call: &Call<'_>) -> Option<Result<Literal>> {
    Some(match call.op.custom_call_target.0.as_str() {
        "TopK" => top_k(call),
        "Qr" => lapack::reflections(call),
        "ProductOfElementaryHouseholderReflectors" => lapack::basis(call),
        "Eigh" => eigh(call),
        "GetRngSeed" => seed(call),
        "PadToStatic" => padded(call),
        "SliceToDynamic" => sliced(call),
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
            let unfit = || wanted(call, "a computation that compares with GT or LT");
            let Op::Compare(compare) = &computation.instructions[computation.root].op else {
                return Err(unfit());
            };
            match compare.direction {
                Direction::Gt => true,
                Direction::Lt => false,
                Direction::Eq | Direction::Ne | Direction::Ge | Direction::Le => {
                    return Err(unfit());
                }
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

fn padded(call: &Call<'_>) -> Result<Literal> {
    let [operand] = call.operands else { return Err(wanted(call, "one array")) };
    let Some(shape) = operand.array_shape() else { return Err(wanted(call, "one array")) };
    let size = |&size| Literal::scalar(ElementType::S32, Scalar::Signed(size));
    let sizes = operand.sizes().iter().map(size);
    let whole = (*operand).clone().with_sizes(&shape.dims);
    Ok(Literal::tuple(std::iter::once(whole).chain(sizes).collect()))
}

fn sliced(call: &Call<'_>) -> Result<Literal> {
    let what = "an array, and for each dimension a size of s32[] within it";
    let (operand, sizes) = call.operands.split_first().ok_or_else(|| wanted(call, what))?;
    let bounds = operand.array_shape().map_or(&[][..], |shape| &shape.dims);
    let scalars = sizes.iter().all(|size| size.shape().is_scalar(ElementType::S32));
    if !scalars {
        return Err(wanted(call, what));
    }
    let sizes: Vec<i64> = sizes.iter().filter_map(|size| size.get(0).as_i64()).collect();
    let within = sizes.iter().zip(bounds).all(|(size, bound)| (0..=*bound).contains(size));
    if sizes.len() != bounds.len() || !within {
        return Err(wanted(call, what));
    }
    Ok((*operand).clone().with_sizes(&sizes))
}

fn seed(call: &Call<'_>) -> Result<Literal> {
    if !call.operands.is_empty() || !call.shape.is_scalar(ElementType::U64) {
        return Err(wanted(call, "no operand and gives u64[]"));
    }
    Ok(Literal::scalar(ElementType::U64, Scalar::Unsigned(0)))
}
