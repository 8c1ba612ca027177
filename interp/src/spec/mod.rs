//! The specification of HLO: one page per op, `result[index] = f(index)` over [`Scalar`].
//!
//! The engine `reference` runs these pages; the kernels of the engine `exact` are checked against them. A page uses
//! [`build`], which computes the elements of an array in parallel, [`Array::at`], which reads one, the arithmetic of
//! [`num`](crate::num), and [`Call::call`] where the op applies a computation. It uses nothing that exists for speed.
//!
//! A page destructures the attributes of its op completely: a new attribute does not compile until it has a meaning.
mod array;
mod batch_norm;
mod call;
mod cholesky;
mod convolution;
mod dot;
mod fft;
mod fold;
mod gather;
mod map;
mod products;
mod ragged_dot;
mod reduce;
mod reduce_window;
mod reverse;
mod rng_bit_generator;
mod scaled_dot;
mod scatter;
mod select_and_scatter;
mod sort;
mod topk;
mod triangular_solve;
mod window;

pub(crate) use array::{Array, Output, build, indices, set, try_build, try_build_all};
pub(crate) use call::{Call, Function, Results};

use crate::Result;
use crate::context::Context;
use hlo::ir::Instruction;
use hlo::{Literal, Op, Shape};

/// Returns the value of an instruction by its page; `None` for an op that has no page yet.
pub(crate) fn evaluate(
    instruction: &Instruction,
    operands: &[&Literal],
    context: &Context<'_>,
) -> Result<Option<Literal>> {
    let call = Call::new(context);
    let array = |i: usize| Array::of(operands[i]);
    let arrays = |range: std::ops::Range<usize>| range.map(array).collect::<Vec<_>>();
    let (count, half) = (operands.len(), operands.len() / 2);
    let whole = &instruction.shape;
    let shape = || instruction.shape.array().expect("verified: the result is an array");
    #[expect(clippy::wildcard_enum_match_arm, reason = "the pages are being written")]
    Ok(Some(match &instruction.op {
        Op::BatchNormGrad(op) => {
            let operands = [&array(0), &array(1), &array(2), &array(3), &array(4)];
            batch_norm::grad(op, operands, whole)
        }
        Op::BatchNormInference(op) => {
            let operands = [&array(0), &array(1), &array(2), &array(3), &array(4)];
            batch_norm::inference(op, operands, shape())
        }
        Op::BatchNormTraining(op) => {
            batch_norm::training(op, [&array(0), &array(1), &array(2)], whole)
        }
        Op::Cholesky(op) => cholesky::cholesky(op, &array(0), shape()),
        Op::Convolution(op) => convolution::convolution(op, operands, shape())?,
        Op::Dot(op) => dot::dot(op, &array(0), &array(1), shape()),
        Op::Fft(op) => fft::fft(op, &array(0), shape()),
        Op::Gather(op) => gather::gather(op, &array(0), &array(1), shape()),
        Op::Map(op) => map::map(op, &arrays(0..count), shape(), call)?,
        Op::RaggedDot(op) => ragged_dot::ragged_dot(op, &array(0), &array(1), &array(2), shape()),
        Op::Reduce(op) => reduce::reduce(op, &arrays(0..half), &arrays(half..count), whole, call)?,
        Op::ReduceWindow(op) => {
            let (inputs, initial) = (arrays(0..half), arrays(half..count));
            reduce_window::reduce_window(op, &inputs, &initial, whole, call)?
        }
        Op::Reverse(op) => reverse::reverse(op, &array(0), shape()),
        Op::RngBitGenerator(op) => rng_bit_generator::rng_bit_generator(op, &array(0), whole)?,
        Op::ScaledDot(op) => {
            let operands = [&array(0), &array(1), &array(2), &array(3)];
            scaled_dot::scaled_dot(op, operands, shape())?
        }
        Op::Scatter(op) => {
            let (inputs, updates) = (arrays(0..half), arrays(half + 1..count));
            scatter::scatter(op, &inputs, &array(half), &updates, whole, call)?
        }
        Op::SelectAndScatter(op) => select_and_scatter::select_and_scatter(
            op,
            &array(0),
            &array(1),
            &array(2),
            shape(),
            call,
        )?,
        Op::Sort(op) => sort::sort(op, &arrays(0..count), whole, call)?,
        Op::TopK(op) => topk::topk(op, &array(0), whole)?,
        Op::TriangularSolve(op) => {
            triangular_solve::triangular_solve(op, &array(0), &array(1), shape())
        }
        _ => return Ok(None),
    }))
}

/// Packs the arrays of a result: one as it is, several as a tuple; `shape` says which.
pub(crate) fn pack(shape: &Shape, mut arrays: Vec<Literal>) -> Literal {
    match shape {
        Shape::Tuple(_) => Literal::tuple(arrays),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => arrays.swap_remove(0),
    }
}
