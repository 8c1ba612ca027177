//! `reduce-window`: `acc = computation(acc, element)` over the window in row-major order
use super::convolution::source;
use super::reduce::{Fold, sums};
use super::wide::Sum;
use super::{array_shapes, pack};
use crate::Result;
use crate::context::Context;
use crate::index::{indices, strides, to_usize};
use hlo::op::ReduceWindow;
use hlo::op::value::Window;
use hlo::{ArrayShape, Literal, Scalar, Shape};

/// Calls `visit` with the offset of each element under the window at `out`, in row-major order. Padding and holes are
/// skipped.
pub(super) fn under(
    window: &Window,
    from: &ArrayShape,
    steps: &[i64],
    out: &[i64],
    mut visit: impl FnMut(usize),
) {
    // For each dimension the elements it reaches: usually few, and all combinations are wanted.
    let reached: Vec<Vec<i64>> = window
        .dims
        .iter()
        .enumerate()
        .map(|(d, dim)| {
            let elements = (0..dim.size).filter_map(|k| source(dim, out[d], k, from.dims[d]));
            elements.map(|i| i * steps[d]).collect()
        })
        .collect();
    let sizes: Vec<i64> = reached.iter().map(|r| crate::index::to_i64(r.len())).collect();
    indices(&sizes, |index| {
        let at: i64 = index.iter().zip(&reached).map(|(&i, r)| r[to_usize(i)]).sum();
        visit(to_usize(at));
    });
}

pub(super) fn reduce_window(
    op: &ReduceWindow,
    operands: &[&Literal],
    shape: &Shape,
    context: &Context<'_>,
) -> Result<Literal> {
    let (inputs, inits) = operands.split_at(operands.len() / 2);
    let from = inputs[0].array_shape().expect("verified: an array");
    let steps = strides(&from.dims);
    let applied = context.applied(op.to_apply)?;
    let results = array_shapes(shape);
    let mut values: Vec<Literal> = results.iter().map(|&s| Literal::zeros(s.clone())).collect();
    let summed = sums(&applied, inputs[0]) && results.len() == 1;
    let first = if summed { inits[0].get(0).as_f64() } else { 0.0 };
    let mut fold = Fold::new(&applied, context, inputs, inits);
    let mut at = 0;
    let mut failed = Ok(());
    indices(&results[0].dims, |out| {
        if failed.is_err() {
            return;
        }
        if summed {
            let mut sum = Sum::new(first);
            under(&op.window, from, &steps, out, |i| sum.add(inputs[0].get(i).as_f64()));
            let width = results[0].ty.storage_bytes();
            let slot = &mut values[0].bytes_mut()[at * width..(at + 1) * width];
            Scalar::Float(sum.value()).write(results[0].ty, slot);
        } else {
            fold.restart();
            let mut steps_taken = 0;
            under(&op.window, from, &steps, out, |i| {
                steps_taken += 1;
                if failed.is_ok() {
                    failed = fold.add(i);
                }
            });
            if failed.is_ok() {
                failed = context.spend(steps_taken);
            }
            fold.store(&mut values, &results, at);
        }
        at += 1;
    });
    failed.map(|()| pack(shape, values))
}
