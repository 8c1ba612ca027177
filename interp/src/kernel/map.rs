//! `map`: `result[i] = computation(operands[0][i], operands[1][i], ...)`
use super::build;
use crate::Result;
use crate::context::RunContext;
use hlo::op::Map;
use hlo::{ArrayShape, Literal, Scalar};

pub(super) fn map(
    op: &Map,
    operands: &[&Literal],
    shape: &ArrayShape,
    context: &RunContext,
) -> Result<Literal> {
    let applied = context.scalar_program(op.to_apply)?;
    let mut scratch = applied.scratch();
    let mut result = Ok(());
    let mut out = [Scalar::zero(shape.ty)];
    let mut arguments = vec![Scalar::zero(shape.ty); operands.len()];
    let value = build(shape, |i| {
        for (argument, operand) in arguments.iter_mut().zip(operands) {
            *argument = operand.get(i);
        }
        if result.is_ok() {
            result = context
                .spend(1)
                .and_then(|()| applied.call(context, &arguments, &mut scratch, &mut out));
        }
        out[0]
    });
    result.map(|()| value)
}
