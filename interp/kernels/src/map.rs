//! `map`: `result[i] = computation(operands[0][i], operands[1][i], ...)`
use crate::Kernel;
use crate::function::writes;
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use hlo::op::Map;
use hlo::{ArrayShape, Scalar};
use num::array::fill;
use num::index::saturating_count;
use num::scalar_program::ScalarPrograms;

impl ArrayOp for Map {
    fn kernel(&self, site: &Site<'_>, programs: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        kernel(self, site.result(), programs)
    }
    linear!();
    needs_whole_operands!();
}

fn kernel(op: &Map, result: &ArrayShape, programs: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
    let Map { dimensions: _, to_apply } = op; // All dimensions, in their order.
    let (applied, ty) = (programs.get(*to_apply)?, result.ty);
    let count = saturating_count(&result.dims);
    Some(writes(move |scope, inputs, outputs| {
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
                result = scope
                    .spend(1)
                    .and_then(|()| applied.call(scope, &arguments, &mut scratch, &mut out));
            }
            out[0]
        });
        result
    }))
}
