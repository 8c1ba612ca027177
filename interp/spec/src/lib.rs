//! The specification of HLO: one reference function per op, `result[index] = f(index)` over
//! [`Scalar`](hlo::Scalar).
//!
//! The engine `reference` runs these functions; the kernels of the engine `exact` are checked
//! against them. A reference function uses [`build`], which computes the elements of an array in
//! parallel; [`Operand::at`], which reads an element; the arithmetic of [`num`]; and
//! [`Computations`] where the op applies a computation. It contains no optimizations.
//!
//! A reference function destructures the attributes of its op completely: a new attribute does not
//! compile until it has a meaning.
//!
//! | ops | modules |
//! |---|---|
//! | elementwise | [`unary`], [`binary`], [`compare`], [`clamp`], [`select`], [`convert`], [`reduce_precision`], [`stochastic_convert`], [`map`] |
//! | arrays without operands | [`constant`], [`iota`], [`rng`], [`rng_bit_generator`] |
//! | elements moved | [`broadcast`], [`reshape`], [`transpose`], [`reverse`], [`slice`](mod@slice), [`concatenate`], [`pad`], [`bitcast`], [`bitcast_convert`], [`copy`] |
//! | elements moved by values | [`dynamic_slice`], [`dynamic_update_slice`], [`gather`], [`scatter`], [`sort`], [`topk`] |
//! | reductions | [`reduce`], [`reduce_window`], [`select_and_scatter`], [`batch_norm`] |
//! | products | [`dot`], [`ragged_dot`], [`scaled_dot`], [`convolution`], [`fft`], [`cholesky`], [`triangular_solve`] |
//! | sizes | [`get_dimension_size`], [`set_dimension_size`], [`dynamic_reshape`] |
//! | several devices | [`all_gather`], [`all_reduce`], [`all_to_all`], [`collective_broadcast`], [`collective_permute`], [`ragged_all_to_all`], [`reduce_scatter`] |
//! | tuples, tokens | [`tuple`](mod@tuple), [`token`] |
//!
//! Modules that reference functions share: [`array`](mod@array), [`call`], [`fold`],
//! [`index_space`], [`layout`], [`output`], [`products`], [`window`].
#![warn(clippy::wildcard_enum_match_arm)]
pub mod all_gather;
pub mod all_reduce;
pub mod all_to_all;
pub mod array;
pub mod batch_norm;
pub mod binary;
pub mod bitcast;
pub mod bitcast_convert;
pub mod broadcast;
pub mod call;
pub mod cholesky;
pub mod clamp;
pub mod collective_broadcast;
pub mod collective_permute;
pub mod compare;
pub mod concatenate;
pub mod constant;
pub mod convert;
pub mod convolution;
pub mod copy;
pub mod dot;
pub mod dynamic_reshape;
pub mod dynamic_slice;
pub mod dynamic_update_slice;
pub mod fft;
pub mod fold;
pub mod gather;
pub mod get_dimension_size;
pub mod index_space;
pub mod iota;
pub mod layout;
pub mod map;
pub mod output;
pub mod pad;
pub mod products;
pub mod ragged_all_to_all;
pub mod ragged_dot;
pub mod reduce;
pub mod reduce_precision;
pub mod reduce_scatter;
pub mod reduce_window;
pub mod reshape;
pub mod reverse;
pub mod rng;
pub mod rng_bit_generator;
pub mod scaled_dot;
pub mod scatter;
pub mod select;
pub mod select_and_scatter;
pub mod set_dimension_size;
pub mod slice;
pub mod sort;
pub mod stochastic_convert;
pub mod token;
pub mod topk;
pub mod transpose;
pub mod triangular_solve;
pub mod tuple;
pub mod unary;
pub mod window;

pub use array::{Operand, build, index_of, position, try_build, with_layout};
pub use call::{Computations, Results, ScalarComputation};
pub use index_space::{indices, set};
pub use output::{Output, try_build_all};
pub use reshape::result_sizes;

pub use num::array::pack;

use hlo::ir::Instruction;
use hlo::{Literal, Op};
use num::{Error, Result, Scope};
use smallvec::SmallVec;

/// Returns the value of an instruction by its reference function. `name` is asked for only by
/// errors.
///
/// # Errors
/// Fails with the error of the reference function. An op that is not a function of its operands
/// alone, as its [`Kind`](hlo::op::Kind) says, has no reference function that could be applied
/// here.
#[expect(clippy::too_many_lines, reason = "one arm an op")]
pub fn evaluate(
    instruction: &Instruction,
    operands: &[&Literal],
    scope: &dyn Scope,
    name: &dyn Fn() -> String,
) -> Result<Literal> {
    let call = Computations::new(scope);
    let array = |i: usize| Operand::of(operands[i]);
    let arrays = |from: usize, to: usize| -> SmallVec<[Operand<'_>; 4]> {
        operands[from..to].iter().map(|&operand| Operand::of(operand)).collect()
    };
    let (count, half) = (operands.len(), operands.len() / 2);
    let result = &instruction.shape;
    let shape = || result.array().expect("verified: the result is an array");
    Ok(match &instruction.op {
        Op::AddDependency(op) => token::add_dependency(op, operands[0]),
        Op::AfterAll(op) => token::after_all(op),
        Op::BatchNormGrad(op) => {
            let operands = [&array(0), &array(1), &array(2), &array(3), &array(4)];
            batch_norm::grad(op, operands, result)
        }
        Op::BatchNormInference(op) => {
            let operands = [&array(0), &array(1), &array(2), &array(3), &array(4)];
            batch_norm::inference(op, operands, shape())
        }
        Op::BatchNormTraining(op) => {
            batch_norm::training(op, [&array(0), &array(1), &array(2)], result)
        }
        Op::Binary(op) => binary::binary(*op, &array(0), &array(1), shape()),
        Op::Bitcast(op) => bitcast::bitcast(op, &array(0), shape())?,
        Op::BitcastConvert(op) => bitcast_convert::bitcast_convert(op, &array(0), shape()),
        Op::Broadcast(op) => broadcast::broadcast(op, &array(0), shape()),
        Op::Cholesky(op) => cholesky::cholesky(op, &array(0), shape()),
        Op::Clamp(op) => clamp::clamp(op, &array(0), &array(1), &array(2), shape()),
        Op::Compare(op) => compare::compare(op, &array(0), &array(1), shape()),
        Op::Concatenate(op) => concatenate::concatenate(op, &arrays(0, count), shape()),
        Op::Constant(op) => constant::constant(op, name, result)?,
        Op::Convert(op) => convert::convert(op, &array(0), shape()),
        Op::Convolution(op) => convolution::convolution(op, operands, shape())?,
        Op::Copy(op) => copy::copy(op, operands[0], result),
        Op::CopyDone(op) => copy::copy_done(op, operands[0], result),
        Op::CopyStart(op) => copy::copy_start(op, operands[0], result),
        Op::Domain(op) => token::domain(op, operands[0]),
        Op::Dot(op) => dot::dot(op, &array(0), &array(1), shape()),
        Op::DynamicReshape(op) => {
            dynamic_reshape::dynamic_reshape(op, &array(0), &arrays(1, count), shape())?
        }
        Op::DynamicSlice(op) => {
            dynamic_slice::dynamic_slice(op, &array(0), &arrays(1, count), shape())
        }
        Op::DynamicUpdateSlice(op) => dynamic_update_slice::dynamic_update_slice(
            op,
            &array(0),
            &array(1),
            &arrays(2, count),
            shape(),
        ),
        Op::Fft(op) => fft::fft(op, &array(0), shape()),
        Op::Gather(op) => gather::gather(op, &array(0), &array(1), shape())?,
        Op::GetDimensionSize(op) => get_dimension_size::get_dimension_size(op, &array(0), shape()),
        Op::GetTupleElement(op) => tuple::get_tuple_element(op, operands[0]),
        Op::Iota(op) => iota::iota(op, shape()),
        Op::Map(op) => map::map(op, &arrays(0, count), shape(), call)?,
        Op::OptBarrier(op) => token::opt_barrier(op, operands[0]),
        Op::Pad(op) => pad::pad(op, &array(0), &array(1), shape()),
        Op::RaggedDot(op) => ragged_dot::ragged_dot(op, &array(0), &array(1), &array(2), shape()),
        Op::Reduce(op) => reduce::reduce(op, &arrays(0, half), &arrays(half, count), result, call)?,
        Op::ReducePrecision(op) => reduce_precision::reduce_precision(op, &array(0), shape()),
        Op::ReduceWindow(op) => {
            let (inputs, initial) = (arrays(0, half), arrays(half, count));
            reduce_window::reduce_window(op, &inputs, &initial, result, call)?
        }
        Op::Reshape(op) => reshape::reshape(op, &array(0), shape())?,
        Op::Reverse(op) => reverse::reverse(op, &array(0), shape()),
        Op::RngBitGenerator(op) => rng_bit_generator::rng_bit_generator(op, &array(0), result)?,
        Op::ScaledDot(op) => {
            let operands = [&array(0), &array(1), &array(2), &array(3)];
            scaled_dot::scaled_dot(op, operands, shape())?
        }
        Op::Scatter(op) => {
            let (inputs, updates) = (arrays(0, half), arrays(half + 1, count));
            scatter::scatter(op, &inputs, &array(half), &updates, result, call)?
        }
        Op::Select(op) => select::select(op, &array(0), operands[1], operands[2], result),
        Op::SelectAndScatter(op) => select_and_scatter::select_and_scatter(
            op,
            &array(0),
            &array(1),
            &array(2),
            shape(),
            call,
        )?,
        Op::SetDimensionSize(op) => {
            set_dimension_size::set_dimension_size(op, &array(0), &array(1), shape())?
        }
        Op::Slice(op) => slice::slice(op, &array(0), shape()),
        Op::Sort(op) => sort::sort(op, &arrays(0, count), result, call)?,
        Op::StochasticConvert(op) => {
            stochastic_convert::stochastic_convert(op, &array(0), &array(1), shape())?
        }
        Op::TopK(op) => topk::topk(op, &array(0), result)?,
        Op::Transpose(op) => transpose::transpose(op, &array(0), shape()),
        Op::TriangularSolve(op) => {
            triangular_solve::triangular_solve(op, &array(0), &array(1), shape())
        }
        Op::Tuple(op) => tuple::tuple(op, operands),
        Op::Unary(op) => unary::unary(*op, &array(0), shape()),
        // Not functions of the operands alone: control flow, several devices, the host, random
        // numbers. The machine runs them; those with a reference function get their other inputs as
        // parameters.
        Op::AllGather(_)
        | Op::AllGatherDone(_)
        | Op::AllGatherStart(_)
        | Op::AllReduce(_)
        | Op::AllReduceDone(_)
        | Op::AllReduceStart(_)
        | Op::AllToAll(_)
        | Op::AsyncDone(_)
        | Op::AsyncStart(_)
        | Op::AsyncUpdate(_)
        | Op::Call(_)
        | Op::CollectiveBroadcast(_)
        | Op::CollectivePermute(_)
        | Op::CollectivePermuteDone(_)
        | Op::CollectivePermuteStart(_)
        | Op::Conditional(_)
        | Op::CustomCall(_)
        | Op::Fusion(_)
        | Op::Infeed(_)
        | Op::Outfeed(_)
        | Op::Parameter(_)
        | Op::PartitionId(_)
        | Op::RaggedAllToAll(_)
        | Op::Recv(_)
        | Op::RecvDone(_)
        | Op::ReduceScatter(_)
        | Op::ReplicaId(_)
        | Op::Rng(_)
        | Op::RngGetAndUpdateState(_)
        | Op::Scan(_)
        | Op::Send(_)
        | Op::SendDone(_)
        | Op::While(_) => {
            return Err(Error::internal("the value does not follow from the operands alone"));
        }
    })
}
