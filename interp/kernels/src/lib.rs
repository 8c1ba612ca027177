//! Kernels: the implementations of ops that the engines `exact` and `fast` run.
mod all_reduce;
mod batch_norm;
mod bitcast;
mod block;
mod cholesky;
mod concatenate;
mod contraction;
mod convolution;
mod cumulative;
pub mod data_movement;
mod dot;
mod dynamic_slice;
mod elementwise;
mod fft;
mod fold;
mod fused;
mod gather;
mod interface;
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
pub mod topk;
mod triangular_solve;
mod typed;
mod unpooling;
mod window_rows;
mod window_steps;

pub use all_reduce::{concatenated, folded, summed};
pub use bitcast::relabels;
pub use contraction::in_halves;
pub use contraction::{is_short, short_product};
pub use data_movement::keeps_order;
pub use dynamic_slice::dynamic_slice;
pub use fused::{Function, Fused, Operand, Output, Part, Read, Register};
use hlo::literal::Native;
use hlo::{ArrayShape, ElementType, Literal, Op, Scalar, Shape};
pub use interface::{Fusion, Kernel, Reuse};
pub use iota::Iota;
use num::array::fill;
use num::loops::convert_loop;
use num::parallel::{copy, parts};
use num::scalar_program::ScalarPrograms;
use num::{Arithmetic, Result, Scope};
pub use reduce_lines::Method;
use std::borrow::Cow;
pub use strided::Walk;

/// The kernel of an op that computes arrays from arrays of these shapes, in this arithmetic. `None` if its page in `spec` computes it: where
/// the result shares the memory of an operand, and where a kernel would gain nothing.
pub fn select(
    op: &Op,
    operands: &[&Shape],
    result: &Shape,
    programs: &ScalarPrograms,
    arithmetic: Arithmetic,
) -> Option<Box<dyn Kernel>> {
    let leaves = result.leaves();
    let results: Vec<&ArrayShape> = leaves.iter().map(|s| s.array()).collect::<Option<_>>()?;
    if results.iter().all(|array| array.element_count() == Some(0)) {
        return Some(writes(|_, _, _| Ok(())));
    }
    let operands: Vec<&ArrayShape> = operands.iter().map(|s| s.array()).collect::<Option<_>>()?;
    let (x, array) = (operands.as_slice(), *results.first()?);
    if let Some(kernel) = elementwise::kernel(op, x, array, arithmetic) {
        return Some(Box::new(kernel));
    }
    match op {
        Op::BatchNormGrad(op) => Some(batch_norm::gradient(op, x[0])),
        Op::BatchNormInference(op) => Some(batch_norm::inference(op, x[0])),
        Op::BatchNormTraining(op) => Some(batch_norm::training(op, x[0])),
        Op::Cholesky(op) => Some(cholesky::kernel(op, x[0], arithmetic)),
        Op::Convolution(op) => Some(convolution::kernel(op, x, array, arithmetic)),
        Op::Dot(op) => Some(dot::kernel(op, x, array, arithmetic)),
        Op::Fft(op) => Some(fft::kernel(op, x[0], array, arithmetic)),
        Op::Map(op) => map::kernel(op, array, programs),
        Op::RaggedDot(op) => Some(ragged_dot::kernel(op, x, array, arithmetic)),
        Op::Reduce(op) => reduce::kernel(op, x, &results, programs, arithmetic),
        Op::ReduceWindow(op) => reduce_window::kernel(op, x, &results, programs, arithmetic),
        Op::RngBitGenerator(op) => rng_bit_generator::kernel(op, &results),
        Op::ScaledDot(op) => scaled_dot::kernel(op, x, array, arithmetic),
        Op::Scatter(op) => scatter::kernel(op, x, programs),
        Op::SelectAndScatter(op) => select_and_scatter::kernel(op, x, array, programs),
        Op::Sort(op) => sort::kernel(op, x, programs),
        Op::TopK(op) => Some(topk::kernel(op, x)),
        Op::TriangularSolve(op) => Some(triangular_solve::kernel(op, x, arithmetic)),
        op => data_movement::kernel(op, x, array),
    }
}

/// A kernel that is a function of its inputs and outputs.
struct FunctionKernel<F> {
    function: F,
    reuse: Reuse,
    scratch: usize,
    arithmetic: Arithmetic,
}

impl<F> Kernel for FunctionKernel<F>
where
    F: Fn(&dyn Scope, &[&Literal], &mut [Literal]) -> Result<()> + Send + Sync,
{
    fn run(&self, scope: &dyn Scope, inputs: &[&Literal], outputs: &mut [Literal]) -> Result<()> {
        (self.function)(scope, inputs, outputs)
    }
    fn reuse(&self) -> Reuse {
        self.reuse
    }
    fn scratch(&self) -> usize {
        self.scratch
    }
    fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }
}

/// A kernel that writes every element of its outputs.
fn writes<F>(function: F) -> Box<dyn Kernel>
where
    F: Fn(&dyn Scope, &[&Literal], &mut [Literal]) -> Result<()> + Send + Sync + 'static,
{
    writes_with(0, function)
}
/// A kernel that writes every element of its outputs and takes `scratch` bytes beside them.
fn writes_with<F>(scratch: usize, function: F) -> Box<dyn Kernel>
where
    F: Fn(&dyn Scope, &[&Literal], &mut [Literal]) -> Result<()> + Send + Sync + 'static,
{
    writes_in(Arithmetic::Exact, scratch, function)
}
/// The same for a kernel that has more than one arithmetic.
fn writes_in<F>(arithmetic: Arithmetic, scratch: usize, function: F) -> Box<dyn Kernel>
where
    F: Fn(&dyn Scope, &[&Literal], &mut [Literal]) -> Result<()> + Send + Sync + 'static,
{
    Box::new(FunctionKernel { function, reuse: Reuse::None, scratch, arithmetic })
}
/// A kernel that changes part of operand 0, which its first output holds, and takes `scratch` bytes beside its arrays.
fn updates_with<F>(scratch: usize, function: F) -> Box<dyn Kernel>
where
    F: Fn(&dyn Scope, &[&Literal], &mut [Literal]) -> Result<()> + Send + Sync + 'static,
{
    let arithmetic = Arithmetic::Exact;
    Box::new(FunctionKernel { function, reuse: Reuse::Update, scratch, arithmetic })
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
/// Elements that are converted at a time: worth a thread.
const CONVERTED: usize = 1 << 16;

/// Returns the elements of an array of such a type in a type of floats.
fn converted<R: Native + Send>(array: &Literal) -> Cow<'_, [R]> {
    let ty = array.array_shape().expect("a kernel computes arrays").ty;
    if ty == R::TYPE {
        return Cow::Borrowed(bytemuck::cast_slice(array.bytes()));
    }
    let mut numbers = vec![R::zeroed(); array.len()];
    match convert_loop(ty, R::TYPE) {
        Some(function) => parts(&mut numbers, (CONVERTED, 1), |number, part| {
            let from = array.bytes().chunks(CONVERTED * ty.storage_bytes()).nth(number);
            function(&[from.unwrap_or_default()], bytemuck::cast_slice_mut(part));
        }),
        None => parts(&mut numbers, (CONVERTED, 1), |number, part| {
            let slots = bytemuck::cast_slice_mut::<R, u8>(part);
            for (i, slot) in slots.chunks_exact_mut(size_of::<R>()).enumerate() {
                array.get(number * CONVERTED + i).convert(ty, R::TYPE).write(R::TYPE, slot);
            }
        }),
    }
    Cow::Owned(numbers)
}
/// Converts numbers to the elements of an array.
fn store<R: Native>(numbers: &[R], array: &mut Literal) {
    let ty = array.array_shape().expect("a kernel computes arrays").ty;
    let numbers: &[u8] = bytemuck::cast_slice(numbers);
    match convert_loop(R::TYPE, ty) {
        _ if ty == R::TYPE => copy(numbers, array.bytes_mut()),
        Some(function) => {
            parts(array.bytes_mut(), (CONVERTED * ty.storage_bytes(), 1), |number, part| {
                let from = numbers.chunks(CONVERTED * size_of::<R>()).nth(number);
                function(&[from.unwrap_or_default()], part);
            });
        }
        None => {
            let width = size_of::<R>();
            fill(array, |i| {
                let number = Scalar::read(R::TYPE, &numbers[i * width..(i + 1) * width]);
                number.convert(R::TYPE, ty)
            });
        }
    }
}
