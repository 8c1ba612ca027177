//! Calls that XLA expands or runs itself on a CPU.
//!
//! | target | value |
//! |---|---|
//! | `TopK` | `(values, indices)`: the largest of the last dimension, or the smallest if the computation it calls compares with `LT` |
//! | `Qr` | `(a, taus)`: as LAPACK's `geqrf` |
//! | `ProductOfElementaryHouseholderReflectors` | `q`: as LAPACK's `orgqr` |
//! | `Eigh` | `(v, w)`: as LAPACK's `syevd`; the config `1,1,100,1e-6` means: lower triangle, sorted, at most 100 sweeps, tolerance |
//! | `LuDecomposition` | `(lu, pivots, permutation)`: as LAPACK's `getrf`, pivots from 0, and the row of the operand that each row is |
//! | `GetRngSeed` | 0: without a seed there is no randomness |
//! | `PadToStatic` | `(x, sizes...)`: the data within the bounds, and the size of each dimension |
//! | `SliceToDynamic` | `x`, with the dynamic sizes `sizes...` |
//! | `SetBound` | the operand, whose value a bound does not change |
//! | `tridiagonal_solve_perturbed_ffi` | the solution of a tridiagonal system that may be singular: JAX's |
use super::Call;
use super::lapack;
use crate::Result;
use hlo::op::value::Direction;
use hlo::{ElementType, Literal, Op, Scalar};
use kernels::topk;
use num::index::to_usize;

/// The targets.
pub(super) const TARGETS: [&str; 10] = [
    "Eigh",
    "GetRngSeed",
    "PadToStatic",
    "ProductOfElementaryHouseholderReflectors",
    "Qr",
    "SetBound",
    "SliceToDynamic",
    "TopK",
    lapack::LU,
    lapack::PERTURBED,
];

/// Returns whether a target is linear algebra.
pub(super) fn is_cubic(target: &str) -> bool {
    ["Eigh", lapack::LU, "ProductOfElementaryHouseholderReflectors", "Qr"].contains(&target)
}

/// Runs the call if its target is one of these.
pub(super) fn run(call: &Call<'_>) -> Option<Result<Literal>> {
    Some(match call.op.custom_call_target.0.as_str() {
        "TopK" => top_k(call),
        "GetRngSeed" => seed(call),
        "PadToStatic" => padded(call),
        "SliceToDynamic" => sliced(call),
        "SetBound" => match call.operands {
            [operand] => Ok((*operand).clone()),
            _ => Err(call.mismatch("one operand")),
        },
        _ => return None,
    })
}

fn top_k(call: &Call<'_>) -> Result<Literal> {
    let what = "an array and the result (values, s32 indices), equal except for a last dimension that is not longer";
    let fits = || {
        let [operand] = call.operands else { return None };
        let from = operand.array_shape()?;
        let [values, indices] = call.shape.tuple()? else { return None };
        let (values, indices) = (values.array()?, indices.array()?);
        let ((&k, batch), (&size, rows)) = (values.dims.split_last()?, from.dims.split_last()?);
        let alike = values.ty == from.ty && indices.ty == ElementType::S32;
        let fits = alike && values.dims == indices.dims && batch == rows && k <= size;
        let shapes = [values, indices];
        (fits && !from.ty.is_complex()).then_some((operand.array()?, to_usize(k), shapes))
    };
    let (operand, k, shapes) = fits().ok_or_else(|| call.mismatch(what))?;
    let mut called = call.op.called_computations.iter().chain(&call.op.to_apply);
    let largest = match called.next() {
        None => true,
        Some(&id) => {
            let computation = &call.module.computations[id];
            let unfit = || call.mismatch("a computation that compares with GT or LT");
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
    Ok(Literal::tuple(topk::largest(operand, k, largest, shapes).map(Literal::from).into()))
}

fn padded(call: &Call<'_>) -> Result<Literal> {
    let [operand] = call.operands else { return Err(call.mismatch("one array")) };
    let Some(shape) = operand.array_shape() else { return Err(call.mismatch("one array")) };
    let size = |&size| Literal::scalar(ElementType::S32, Scalar::Signed(size));
    let sizes = operand.sizes().iter().map(size);
    let whole = (*operand).clone().with_sizes(&shape.dims);
    Ok(Literal::tuple(std::iter::once(whole).chain(sizes).collect()))
}

fn sliced(call: &Call<'_>) -> Result<Literal> {
    let what = "an array, and for each dimension a size of s32[] within it";
    let (operand, sizes) = call.operands.split_first().ok_or_else(|| call.mismatch(what))?;
    let bounds = operand.array_shape().map_or(&[][..], |shape| &shape.dims);
    let scalars = sizes.iter().all(|size| size.shape().is_scalar(ElementType::S32));
    if !scalars {
        return Err(call.mismatch(what));
    }
    let sizes: Vec<i64> = sizes.iter().filter_map(|size| size.get(0).as_i64()).collect();
    let within = sizes.iter().zip(bounds).all(|(size, bound)| (0..=*bound).contains(size));
    if sizes.len() != bounds.len() || !within {
        return Err(call.mismatch(what));
    }
    Ok((*operand).clone().with_sizes(&sizes))
}

fn seed(call: &Call<'_>) -> Result<Literal> {
    if !call.operands.is_empty() || !call.shape.is_scalar(ElementType::U64) {
        return Err(call.mismatch("no operand and the result u64[]"));
    }
    Ok(Literal::scalar(ElementType::U64, Scalar::Unsigned(0)))
}
