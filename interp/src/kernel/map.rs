//! `map`: `result[i] = computation(operands[0][i], operands[1][i], ...)`
use super::{fill, writes};
use crate::index::saturating_count;
use crate::plan::Kernel;
use crate::scalar_program::ScalarPrograms;
use hlo::op::Map;
use hlo::{ArrayShape, Scalar};

pub(super) fn kernel(
    op: &Map,
    result: &ArrayShape,
    programs: &ScalarPrograms,
) -> Option<Box<dyn Kernel>> {
    let (applied, ty) = (programs.get(op.to_apply)?, result.ty);
    let count = saturating_count(&result.dims);
    Some(writes(move |context, inputs, outputs| {
        applied.prepare(count);
        let mut scratch = applied.scratch();
        let mut result = Ok(());
        let mut out = [Scalar::zero(ty)];
        let mut arguments = vec![Scalar::zero(ty); inputs.len()];
        fill(&mut outputs[0], |i| {
            for (argument, input) in arguments.iter_mut().zip(inputs) {
                *argument = input.get(i);
            }
            if result.is_ok() {
                result = context
                    .spend(1)
                    .and_then(|()| applied.call(context, &arguments, &mut scratch, &mut out));
            }
            out[0]
        });
        result
    }))
}
