//! `map`: `result[i] = to_apply(operands[0][i], operands[1][i], ...)`
//!
//! Source: StableHLO, `map`.
use super::{Computations, Operand, try_build};
use hlo::op::Map;
use hlo::{ArrayShape, Literal, Scalar};
use num::Result;
use smallvec::SmallVec;

pub(super) fn map(
    op: &Map,
    operands: &[Operand<'_>],
    shape: &ArrayShape,
    call: Computations<'_>,
) -> Result<Literal> {
    let Map {
        dimensions: _, // All dimensions in order, as the verifier checks.
        to_apply,
    } = op;
    let function = call.function(*to_apply)?;
    try_build(shape, |index| {
        let arguments: SmallVec<[Scalar; 4]> =
            operands.iter().map(|operand| operand.at(index)).collect();
        Ok(function.call(&arguments)?[0])
    })
}
