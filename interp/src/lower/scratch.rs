//! The memory that a function of whole operands works in, beside its operands and its result.
//!
//! A step reserves these bytes before it runs, and they are part of the planned peak. `interp/tests/memory` compares them
//! with what the allocator sees.
use crate::custom;
use hlo::ir::Instruction;
use hlo::op::Kind;
use hlo::op::value::Window;
use hlo::{ArrayShape, ElementType, Op, Shape};
use kernels::topk;
use num::index::{saturating_count, to_usize};
use num::parallel::threads;
use num::{Arithmetic, fourier};

/// Bytes that the page of an op in `spec`, a custom call or another source of values works in.
pub(super) fn of_function(
    instruction: &Instruction,
    operands: &[&Shape],
    arithmetic: Arithmetic,
) -> usize {
    let array = |i: usize| operands.get(i).and_then(|shape| shape.array());
    let elements = |i| array(i).map_or(0, count);
    let row = |i| array(i).map_or(0, last);
    let result = &instruction.shape;
    match &instruction.op {
        // A copy of the operands, runs of one element, and the merged ones.
        Op::Sort(op) => {
            let size = array(0).and_then(|a| a.dims.get(op.dimension(a.rank())).copied());
            sorted(size.map_or(1, to_usize))
        }
        Op::TopK(_) => sorted(row(0)),
        Op::CustomCall(call) if call.custom_call_target.0 == "TopK" => {
            let values = result.leaves().first().and_then(|shape| shape.array()).map_or(0, last);
            topk::scratch(row(0), values)
        }
        Op::CustomCall(call) => {
            custom::scratch(&call.custom_call_target.0, operands, result, arithmetic)
        }
        Op::Fft(op) => {
            // The numbers before and after a step, as one array and as lines, and the lines in work.
            let numbers = elements(0).max(result.array().map_or(0, count));
            let wide = result.array().is_some_and(|a| a.ty.component() == ElementType::F64);
            let longest = op.fft_length.iter().map(|&n| to_usize(n)).max().unwrap_or(0);
            let lines = array(0).map_or(0, |a| count(a) / longest.max(1) + 1);
            numbers
                .saturating_mul(3)
                .saturating_add(longest.saturating_mul(4 * threads()))
                .saturating_mul(fourier::number_bytes(wide))
                .saturating_add(lines.saturating_mul(4 * LIST))
        }
        Op::Cholesky(_) => matrix(row(0), array(0)),
        Op::TriangularSolve(_) => row(0).saturating_mul(2 * fourier::number_bytes(true)),
        Op::BatchNormGrad(_) | Op::BatchNormInference(_) | Op::BatchNormTraining(_) => {
            // A few numbers for each feature.
            let features = (1..operands.len()).map(elements).max().unwrap_or(0);
            features.saturating_mul(10 * 2 * size_of::<f64>())
        }
        Op::Bitcast(_) => 2 * bytes(operands).saturating_add(result.array().map_or(0, count) * 8),
        Op::Convolution(op) if op.sparsity_config.is_some() => {
            let block = op.sparsity_config.as_ref().map_or(1, |s| {
                let block = |o: &Option<hlo::op::value::OperandSparsity>| {
                    o.map_or(1, |o| to_usize(o.block))
                };
                block(&s.lhs).max(block(&s.rhs))
            });
            bytes(operands).saturating_mul(block)
        }
        Op::Convolution(op) => places(&op.forward_window(), array(0)),
        Op::ReduceWindow(op) => places(&op.window, array(0)),
        _ => 0,
    }
}

/// Bytes of a member of a group that exchanges values.
pub(super) fn of_exchange(instruction: &Instruction) -> usize {
    match &instruction.op {
        // The whole is reduced before it is split, and parts are cut before they are joined.
        Op::ReduceScatter(_) | Op::AllToAll(_) => bytes(&[&instruction.shape]),
        _ => 0,
    }
}

/// Bytes beyond those of the function itself where operands may be smaller than their bounds: what is cut from them, and the
/// result before it is put into an array of the bounds.
pub(super) fn of_resizing(instruction: &Instruction, operands: &[&Shape]) -> usize {
    let results = bytes(&[&instruction.shape]);
    match instruction.opcode().kind() {
        Kind::Array | Kind::Value => bytes(operands).saturating_add(results),
        Kind::Custom
        | Kind::Device
        | Kind::Host
        | Kind::Random
        | Kind::Transfer
        | Kind::Asynchronous
        | Kind::Collective
        | Kind::Control => 0,
    }
}

/// Bytes of the elements of an array under a window, dimension by dimension, in lists that grow.
fn places(window: &Window, array: Option<&ArrayShape>) -> usize {
    let sizes = window.dims.iter().map(|dim| to_usize(dim.size)).max();
    let elements = array.and_then(|array| array.dims.iter().copied().max()).map_or(0, to_usize);
    let list = sizes.unwrap_or(0).min(elements).next_power_of_two().saturating_mul(24);
    list.saturating_mul(threads())
}

/// Bytes of a list, without its elements.
const LIST: usize = 6 * size_of::<usize>();

/// Bytes of a merge sort of this many elements: a list for each run, the runs, and half as many that are merged.
fn sorted(size: usize) -> usize {
    size.saturating_mul(size_of::<i64>() + LIST)
}

/// Bytes of a factor of a matrix with this many rows.
fn matrix(rows: usize, array: Option<&ArrayShape>) -> usize {
    let number = array.map_or(0, |a| 2 * size_of::<f64>() * if a.ty.is_complex() { 2 } else { 1 });
    rows.saturating_add(2).saturating_mul(rows).saturating_mul(number)
}

fn count(array: &ArrayShape) -> usize {
    saturating_count(&array.dims)
}
fn last(array: &ArrayShape) -> usize {
    array.dims.last().map_or(1, |&size| to_usize(size))
}
fn bytes(shapes: &[&Shape]) -> usize {
    let leaves = shapes.iter().flat_map(|shape| shape.leaves());
    let arrays = leaves.filter_map(Shape::array);
    arrays.map(|a| a.byte_count().unwrap_or(usize::MAX)).fold(0, usize::saturating_add)
}
