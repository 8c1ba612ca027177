//! `select-and-scatter`: finds one element in each window and combines the source's element there
use super::unpooling;
use super::window::under;
use crate::Kernel;
use crate::function::writes;
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use hlo::op::SelectAndScatter;
use hlo::{Array, ArrayShape, Scalar};
use num::array::fill;
use num::index::{indices, strides};
use num::scalar_program::{ScalarProgram, ScalarPrograms};
use num::{Result, Scope};

impl ArrayOp for SelectAndScatter {
    fn kernel(&self, site: &Site<'_>, programs: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        kernel(self, site.operands, site.result(), programs)
    }
    linear!();
    needs_whole_operands!();
}

fn kernel(
    op: &SelectAndScatter,
    operands: &[&ArrayShape],
    result: &ArrayShape,
    programs: &ScalarPrograms,
) -> Option<Box<dyn Kernel>> {
    let SelectAndScatter { window: _, select, scatter } = op; // The window is read by each kind of kernel.
    let (select, scatter) = (programs.get(*select)?, programs.get(*scatter)?);
    if let Some(kernel) = unpooling::kernel(op, operands, result, (&select, &scatter)) {
        return Some(kernel);
    }
    let op = op.clone();
    Some(writes(move |scope, inputs, outputs| {
        select_and_scatter(&op, inputs, &mut outputs[0], (&select, &scatter), scope)
    }))
}

fn select_and_scatter(
    op: &SelectAndScatter,
    operands: &[&Array],
    result: &mut Array,
    (select, scatter): (&ScalarProgram, &ScalarProgram),
    scope: &dyn Scope,
) -> Result<()> {
    let (operand, sources, init) = (operands[0], operands[1], operands[2]);
    let from = operand.shape();
    let source_shape = sources.shape();
    let strides = strides(&from.dims);
    let (mut select_scratch, mut scatter_scratch) = (select.scratch(), scatter.scratch());
    let init_type = init.shape().ty;
    let ty = result.shape().ty;
    let first = init.get(0).convert(init_type, ty);
    fill(result, |_| first);
    let mut failed = Ok(());
    let mut next = 0;
    indices(&source_shape.dims, |out| {
        let source = next;
        next += 1;
        if failed.is_err() {
            return;
        }
        let mut chosen = None;
        under(&op.window, from, &strides, out, |at| {
            let Some(current) = chosen else {
                chosen = Some(at);
                return;
            };
            let mut keep = [Scalar::Pred(true)];
            let arguments = [operand.get(current), operand.get(at)];
            if failed.is_ok() {
                failed = scope
                    .spend(1)
                    .and_then(|()| select.call(scope, &arguments, &mut select_scratch, &mut keep));
            }
            if keep != [Scalar::Pred(true)] {
                chosen = Some(at);
            }
        });
        // A window that lies wholly in padding has nothing to hand back to.
        let Some(at) = chosen else { return };
        let arguments = [
            result.get(at).convert(ty, scatter.parameters()[0]),
            sources.get(source).convert(source_shape.ty, scatter.parameters()[1]),
        ];
        let mut sum = [first];
        if failed.is_ok() {
            failed = scope
                .spend(1)
                .and_then(|()| scatter.call(scope, &arguments, &mut scatter_scratch, &mut sum));
        }
        let width = ty.storage_bytes();
        let slot = &mut result.bytes_mut()[at * width..(at + 1) * width];
        sum[0].convert(scatter.results()[0], ty).write(ty, slot);
    });
    failed
}
