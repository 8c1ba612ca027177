//! Kernels: the implementations of ops that the engine `exact` runs.
mod all_reduce;
mod batch_norm;
mod bitcast;
mod cholesky;
mod concatenate;
mod contraction;
mod convolution;
mod cumulative;
pub(crate) mod data_movement;
mod dot;
mod dynamic_slice;
mod elementwise;
mod fft;
mod fold;
mod fused;
mod gather;
mod iota;
mod map;
mod pad;
mod partial_sum;
mod pooling;
mod ragged_dot;
mod reduce;
mod reduce_lines;
mod reduce_window;
mod rng_bit_generator;
mod row_fold;
mod scaled_dot;
mod scatter;
mod select;
mod select_and_scatter;
mod sliding;
mod sort;
mod strided;
pub(crate) mod topk;
mod triangular_solve;
mod typed;
mod unpooling;
mod window_rows;

use crate::Result;
use crate::context::RunContext;
use crate::num::loops::convert_loop;
use crate::plan::{Kernel, Reuse};
use crate::scalar_program::ScalarPrograms;
use crate::value::fill;
pub(crate) use all_reduce::{concatenated, folded, summed};
pub(crate) use bitcast::relabels;
pub(crate) use data_movement::keeps_order;
pub(crate) use dynamic_slice::dynamic_slice;
pub(crate) use fused::{Fused, Operand, Output, Part, Read, Register};
use hlo::{ArrayShape, ElementType, Literal, Op, Scalar, Shape};
pub(crate) use iota::iota_into;
pub(crate) use reduce_lines::Method;
pub(crate) use strided::Walk;

/// The kernel of an op that computes arrays from arrays of these shapes. `None` if its page in `spec` computes it: where
/// the result shares the memory of an operand, and where a kernel would gain nothing.
pub(crate) fn select(
    op: &Op,
    operands: &[&Shape],
    result: &Shape,
    programs: &ScalarPrograms,
) -> Option<Box<dyn Kernel>> {
    let leaves = result.leaves();
    let results: Vec<&ArrayShape> = leaves.iter().map(|s| s.array()).collect::<Option<_>>()?;
    if results.iter().all(|array| array.element_count() == Some(0)) {
        return Some(writes(|_, _, _| Ok(())));
    }
    let operands: Vec<&ArrayShape> = operands.iter().map(|s| s.array()).collect::<Option<_>>()?;
    let (x, array) = (operands.as_slice(), *results.first()?);
    if let Some(kernel) = elementwise::kernel(op, x, array) {
        return Some(Box::new(kernel));
    }
    match op {
        Op::BatchNormGrad(op) => Some(batch_norm::gradient(op, x[0])),
        Op::BatchNormInference(op) => Some(batch_norm::inference(op, x[0])),
        Op::BatchNormTraining(op) => Some(batch_norm::training(op, x[0])),
        Op::Cholesky(op) => Some(cholesky::kernel(op, x[0])),
        Op::Convolution(op) => Some(convolution::kernel(op, x, array)),
        Op::Dot(op) => Some(dot::kernel(op, x, array)),
        Op::Fft(op) => Some(fft::kernel(op, x[0], array)),
        Op::Map(op) => map::kernel(op, array, programs),
        Op::RaggedDot(op) => Some(ragged_dot::kernel(op, x, array)),
        Op::Reduce(op) => reduce::kernel(op, x, &results, programs),
        Op::ReduceWindow(op) => reduce_window::kernel(op, x, &results, programs),
        Op::RngBitGenerator(op) => rng_bit_generator::kernel(op, &results),
        Op::ScaledDot(op) => scaled_dot::kernel(op, x, array),
        Op::Scatter(op) => scatter::kernel(op, x, programs),
        Op::SelectAndScatter(op) => select_and_scatter::kernel(op, x, array, programs),
        Op::Sort(op) => sort::kernel(op, x, programs),
        Op::TopK(op) => Some(topk::kernel(op, x)),
        Op::TriangularSolve(op) => Some(triangular_solve::kernel(op, x)),
        op => data_movement::kernel(op, x, array),
    }
}

/// A kernel that is a function of its inputs and outputs.
struct FunctionKernel<F> {
    function: F,
    reuse: Reuse,
    scratch: usize,
}

impl<F> Kernel for FunctionKernel<F>
where
    F: Fn(&RunContext, &[&Literal], &mut [Literal]) -> Result<()> + Send + Sync,
{
    fn run(
        &self,
        context: &RunContext,
        inputs: &[&Literal],
        outputs: &mut [Literal],
    ) -> Result<()> {
        (self.function)(context, inputs, outputs)
    }
    fn reuse(&self) -> Reuse {
        self.reuse
    }
    fn scratch(&self) -> usize {
        self.scratch
    }
}

/// A kernel that writes every element of its outputs.
fn writes<F>(function: F) -> Box<dyn Kernel>
where
    F: Fn(&RunContext, &[&Literal], &mut [Literal]) -> Result<()> + Send + Sync + 'static,
{
    writes_with(0, function)
}
/// A kernel that writes every element of its outputs and takes `scratch` bytes beside them.
fn writes_with<F>(scratch: usize, function: F) -> Box<dyn Kernel>
where
    F: Fn(&RunContext, &[&Literal], &mut [Literal]) -> Result<()> + Send + Sync + 'static,
{
    Box::new(FunctionKernel { function, reuse: Reuse::None, scratch })
}
/// A kernel that changes part of operand 0, which its first output holds, and takes `scratch` bytes beside its arrays.
fn updates_with<F>(scratch: usize, function: F) -> Box<dyn Kernel>
where
    F: Fn(&RunContext, &[&Literal], &mut [Literal]) -> Result<()> + Send + Sync + 'static,
{
    Box::new(FunctionKernel { function, reuse: Reuse::Update, scratch })
}

/// Bytes of a number that is wide enough to compute with elements of this type.
fn number_bytes(ty: ElementType) -> usize {
    let parts = if ty.is_complex() { 2 } else { 1 };
    parts * if ty.component() == ElementType::F64 { 2 * size_of::<f64>() } else { size_of::<f64>() }
}

/// Whether f64 is wide enough to compute with elements of this type, and they are real.
fn is_narrow(ty: ElementType) -> bool {
    !ty.is_complex() && ty != ElementType::F64
}
/// Returns the elements of an array of such a type in f64.
fn wide(array: &Literal) -> Vec<f64> {
    let ty = array.array_shape().expect("a kernel computes arrays").ty;
    match convert_loop(ty, ElementType::F64) {
        Some(function) => {
            let mut numbers = vec![0.0; array.len()];
            function(&[array.bytes()], bytemuck::cast_slice_mut(&mut numbers));
            numbers
        }
        None => (0..array.len()).map(|i| array.get(i).as_f64()).collect(),
    }
}
/// Rounds numbers to the elements of an array.
fn store(numbers: &[f64], array: &mut Literal) {
    let ty = array.array_shape().expect("a kernel computes arrays").ty;
    match convert_loop(ElementType::F64, ty) {
        Some(function) => function(&[bytemuck::cast_slice(numbers)], array.bytes_mut()),
        None => fill(array, |i| Scalar::Float(numbers[i])),
    }
}
