//! `map`: `result[i] = computation(operands[0][i], operands[1][i], ...)`
use crate::Kernel;
use crate::cost_model::COMPUTED;
use crate::function::{writes, writes_in};
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use hlo::op::Map;
use hlo::{Array, ArrayShape, ElementType, Scalar};
use num::array::fill;
use num::index::saturating_count;
use num::parallel::{parts_with, threads};
use num::scalar_program::{BLOCK, BlockProgram, ScalarPrograms};

impl ArrayOp for Map {
    fn kernel(&self, site: &Site<'_>, programs: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        kernel(self, site, programs)
    }
    linear!();
    needs_whole_operands!();
}

fn kernel(op: &Map, site: &Site<'_>, programs: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
    let Map { dimensions: _, to_apply } = op; // All dimensions, in their order.
    let applied = programs.get(*to_apply)?;
    let result: &ArrayShape = site.result();
    let (count, ty) = (saturating_count(&result.dims), result.ty);
    let operands: Vec<ElementType> = site.operands.iter().map(|operand| operand.ty).collect();
    let converts = applied.parameters() != operands || applied.results() != [ty];
    let blocks = applied.results_in_blocks(site.arithmetic).filter(|_| !converts && count > 1);
    if let Some(program) = blocks {
        let steps = u64::try_from(count).unwrap_or(u64::MAX);
        let scratch = program.bytes().saturating_mul(threads());
        return Some(writes_in(site.arithmetic, scratch, move |scope, inputs, outputs| {
            scope.spend(steps)?;
            in_blocks(&program, inputs, &mut outputs[0]);
            Ok(())
        }));
    }
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

/// Applies a program to a block of elements at a time.
fn in_blocks(program: &BlockProgram, inputs: &[&Array], output: &mut Array) {
    let width = output.shape().ty.storage_bytes();
    let sizes = (BLOCK * width, COMPUTED / BLOCK);
    parts_with(
        output.bytes_mut(),
        sizes,
        || program.registers(),
        |registers, block, part| {
            let count = part.len() / width;
            let argument = |k: usize| {
                let width = inputs[k].shape().ty.storage_bytes();
                &inputs[k].bytes()[block * BLOCK * width..][..count * width]
            };
            part.copy_from_slice(program.run(registers, argument, count));
        },
    );
}
