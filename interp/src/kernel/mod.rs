//! The executable specification: one function for each op, over elements in wide form.
mod all_reduce;
mod batch_norm;
mod bitcast;
mod broadcast;
mod cholesky;
mod concatenate;
mod contraction;
mod convolution;
mod cost;
mod custom_call;
pub(crate) mod data_movement;
mod dot;
pub(crate) mod dynamic;
mod dynamic_shape;
mod dynamic_slice;
mod elementwise;
mod fft;
mod fold;
mod gather;
mod iota;
mod map;
mod pad;
mod ragged_dot;
mod reduce;
mod reduce_window;
mod rng;
mod rng_bit_generator;
mod scaled_dot;
mod scatter;
mod select_and_scatter;
mod sort;
mod stochastic_convert;
pub(crate) mod topk;
mod triangular_solve;

use crate::context::Context;
use crate::error::Code;
use crate::index::to_usize;
use crate::interpreter::static_shape;
use crate::{Error, Result};
pub(crate) use all_reduce::{concatenated, folded, summed};
pub(crate) use dynamic_slice::{dynamic_slice, dynamic_update_slice};
use hlo::ir::Instruction;
use hlo::{ArrayShape, ConstantValue, Literal, Op, Scalar, Shape};
use smallvec::SmallVec;

pub(crate) use crate::host::Channels;
pub(crate) use rng::Streams;

/// The value of an instruction that is no control flow. `name` is asked for only by errors.
pub(crate) fn evaluate(
    instruction: &Instruction,
    operands: &mut [Literal],
    context: &Context<'_>,
    name: &dyn Fn() -> String,
) -> Result<Literal> {
    if dynamic::is_among(operands) {
        return dynamic::evaluate(instruction, operands, context, name);
    }
    fixed(instruction, operands, context, name)
}

/// The value of an instruction whose operands are as large as their bounds.
#[expect(clippy::too_many_lines, reason = "one arm an op")]
fn fixed(
    instruction: &Instruction,
    operands: &mut [Literal],
    context: &Context<'_>,
    name: &dyn Fn() -> String,
) -> Result<Literal> {
    let shape = &instruction.shape;
    if is_empty(instruction) {
        return Ok(zeros(shape));
    }
    context.spend(cost::steps(&instruction.op, operands))?;
    if context.options().engine == crate::Engine::Reference {
        let operands: SmallVec<[&Literal; 4]> = operands.iter().collect();
        if let Some(value) = crate::spec::evaluate(instruction, &operands, context, name)? {
            return Ok(value);
        }
    }
    match &instruction.op {
        // These write into operand 0, which is theirs if nobody else needs it.
        Op::DynamicUpdateSlice(_) => {
            let (first, rest) = operands.split_first_mut().expect("verified: operands");
            let operand = std::mem::replace(first, Literal::token());
            return Ok(dynamic_update_slice(operand, &rest[0], &rest[1..]));
        }
        Op::Scatter(op) => return scatter::scatter(op, operands, shape, context),
        _ => {}
    }
    let operands: SmallVec<[&Literal; 4]> = operands.iter().collect();
    let operands = operands.as_slice();
    let array = || shape.array().ok_or_else(|| Error::internal("the result is an array"));
    Ok(match &instruction.op {
        Op::Unary(op) => elementwise::unary(*op, operands[0], array()?),
        Op::Binary(op) => elementwise::binary(*op, operands[0], operands[1], array()?),
        Op::Compare(op) => elementwise::compare(op, operands[0], operands[1], array()?),
        Op::Clamp(_) => elementwise::clamp(operands[0], operands[1], operands[2], array()?),
        Op::Select(_) => elementwise::select(operands[0], operands[1], operands[2], shape),
        Op::Convert(_) => elementwise::convert(operands[0], array()?),
        Op::ReducePrecision(op) => elementwise::reduce_precision(op, operands[0], array()?),
        Op::Constant(constant) => match &*constant.value {
            ConstantValue::Literal(value) => crate::interpreter::with_layouts(value, shape),
            ConstantValue::Elided(_) => {
                return Err(Error::from(Code::Elided { name: name() })
                    .with_help("dump the module with large constants printed"));
            }
        },
        Op::Iota(op) => iota::iota(op, array()?),
        Op::Broadcast(op) => broadcast::broadcast(op, operands[0], array()?),
        Op::Reshape(_) => operands[0].with_shape(array()?.clone()),
        Op::Bitcast(_) => bitcast::bitcast(operands[0], array()?)?,
        Op::BitcastConvert(_) => data_movement::bitcast_convert(operands[0], array()?),
        Op::Transpose(op) => data_movement::transpose(op, operands[0], array()?),
        Op::Reverse(op) => data_movement::reverse(op, operands[0], array()?),
        Op::Slice(op) => data_movement::slice(op, operands[0], array()?),
        Op::Copy(_) => crate::interpreter::with_layouts(operands[0], shape),
        Op::Concatenate(op) => concatenate::concatenate(op, operands, array()?),
        Op::Pad(op) => pad::pad(op, operands[0], operands[1], array()?),
        Op::DynamicSlice(_) => dynamic_slice(operands[0], &operands[1..], array()?),
        Op::Gather(op) => gather::gather(op, operands[0], operands[1], array()?)?,
        Op::Dot(op) => dot::dot(op, operands[0], operands[1], array()?),
        Op::Convolution(op) => convolution::convolution(op, operands, array()?)?,
        Op::Reduce(op) => reduce::reduce(op, operands, shape, context)?,
        Op::ReduceWindow(op) => reduce_window::reduce_window(op, operands, shape, context)?,
        Op::SelectAndScatter(op) => {
            select_and_scatter::select_and_scatter(op, operands, array()?, context)?
        }
        Op::Sort(op) => sort::sort(op, operands, shape, context)?,
        Op::TopK(op) => topk::topk(op, operands[0], shape),
        Op::Map(op) => map::map(op, operands, array()?, context)?,
        Op::CustomCall(op) => custom_call::custom_call(op, instruction, operands, context)?,
        Op::Tuple(_) => Literal::tuple(operands.iter().map(|&o| o.clone()).collect()),
        Op::GetTupleElement(op) => {
            let elements = operands[0].elements().expect("verified: a tuple");
            elements[to_usize(op.index)].clone()
        }
        Op::AfterAll(_) => Literal::token(),
        Op::OptBarrier(_) | Op::AddDependency(_) | Op::Domain(_) => operands[0].clone(),
        Op::CopyStart(_) => {
            let context = Literal::scalar(hlo::ElementType::U32, Scalar::Unsigned(0));
            Literal::tuple(vec![operands[0].clone(), operands[0].clone(), context])
        }
        Op::CopyDone(_) => operands[0].elements().expect("verified: a tuple")[0].clone(),
        Op::PartitionId(_) | Op::ReplicaId(_) => {
            crate::collective::device_id(instruction, context)?
        }
        Op::DynamicUpdateSlice(_) | Op::Scatter(_) => {
            return Err(Error::internal("written in place above"));
        }
        Op::Parameter(_)
        | Op::Call(_)
        | Op::Fusion(_)
        | Op::While(_)
        | Op::Conditional(_)
        | Op::Scan(_)
        | Op::AsyncDone(_)
        | Op::AsyncStart(_)
        | Op::AsyncUpdate(_) => {
            return Err(Error::internal("control flow is the machine's"));
        }
        Op::BatchNormGrad(op) => batch_norm::grad(op, operands, shape)?,
        Op::BatchNormInference(op) => batch_norm::inference(op, operands, array()?)?,
        Op::BatchNormTraining(op) => batch_norm::training(op, operands, shape)?,
        Op::Cholesky(op) => cholesky::cholesky(op, operands[0], array()?)?,
        Op::DynamicReshape(_) => dynamic_shape::dynamic_reshape(operands, array()?)?,
        Op::Fft(op) => fft::fft(op, operands[0], array()?)?,
        Op::GetDimensionSize(op) => dynamic_shape::get_dimension_size(op, operands[0]),
        Op::RaggedDot(op) => ragged_dot::ragged_dot(op, operands, array()?),
        Op::Rng(op) => rng::rng(instruction, op, operands, context)?,
        Op::RngBitGenerator(op) => rng_bit_generator::rng_bit_generator(op, operands[0], shape)?,
        Op::RngGetAndUpdateState(op) => rng::get_and_update_state(instruction, op, context)?,
        Op::ScaledDot(op) => scaled_dot::scaled_dot(op, operands, array()?)?,
        Op::SetDimensionSize(op) => {
            dynamic_shape::set_dimension_size(op, operands[0], operands[1], array()?)?
        }
        Op::StochasticConvert(_) => {
            stochastic_convert::stochastic_convert(operands[0], operands[1], array()?)?
        }
        Op::TriangularSolve(op) => {
            triangular_solve::triangular_solve(op, operands[0], operands[1], array()?)?
        }
        Op::AllGather(_)
        | Op::AllGatherDone(_)
        | Op::AllGatherStart(_)
        | Op::AllReduce(_)
        | Op::AllReduceDone(_)
        | Op::AllReduceStart(_)
        | Op::AllToAll(_)
        | Op::CollectiveBroadcast(_)
        | Op::CollectivePermute(_)
        | Op::CollectivePermuteDone(_)
        | Op::CollectivePermuteStart(_)
        | Op::RaggedAllToAll(_)
        | Op::ReduceScatter(_) => crate::collective::alone(instruction, operands, context)?,
        Op::Infeed(_) => crate::host::infeed(operands, shape, context)?,
        Op::Outfeed(_) => crate::host::outfeed(operands[0], context)?,
        Op::Send(op) => crate::host::send(op, operands, context)?,
        Op::SendDone(_) => crate::host::send_done(shape),
        Op::Recv(_) => crate::host::recv(shape),
        Op::RecvDone(op) => crate::host::recv_done(op, shape, context)?,
    })
}

/// Whether the result is known without a look at the operands, as it has no elements: arrays that have none may be so
/// large in their other dimensions that nobody can walk over these.
fn is_empty(instruction: &Instruction) -> bool {
    let computed = matches!(
        instruction.op,
        Op::Unary(_)
            | Op::Binary(_)
            | Op::Compare(_)
            | Op::Clamp(_)
            | Op::Select(_)
            | Op::Convert(_)
            | Op::ReducePrecision(_)
            | Op::StochasticConvert(_)
            | Op::Iota(_)
            | Op::Broadcast(_)
            | Op::Reshape(_)
            | Op::BitcastConvert(_)
            | Op::Transpose(_)
            | Op::Reverse(_)
            | Op::Slice(_)
            | Op::Concatenate(_)
            | Op::Pad(_)
            | Op::DynamicSlice(_)
            | Op::DynamicUpdateSlice(_)
            | Op::Gather(_)
            | Op::Scatter(_)
            | Op::Dot(_)
            | Op::RaggedDot(_)
            | Op::ScaledDot(_)
            | Op::Convolution(_)
            | Op::Reduce(_)
            | Op::ReduceWindow(_)
            | Op::SelectAndScatter(_)
            | Op::Sort(_)
            | Op::TopK(_)
            | Op::Map(_)
            | Op::BatchNormGrad(_)
            | Op::BatchNormInference(_)
            | Op::BatchNormTraining(_)
            | Op::Cholesky(_)
            | Op::TriangularSolve(_)
            | Op::Fft(_)
    );
    computed
        && instruction
            .shape
            .leaves()
            .iter()
            .all(|leaf| leaf.array().is_some_and(|array| array.element_count() == Some(0)))
}

/// A value of this shape in which nothing is set.
pub(crate) fn zeros(shape: &Shape) -> Literal {
    match shape {
        Shape::Array(array) => Literal::zeros(static_shape(array)),
        Shape::Tuple(elements) => Literal::tuple(elements.iter().map(zeros).collect()),
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => Literal::token(),
    }
}

/// An array whose elements `element` gives, in row-major order.
pub(crate) fn build(shape: &ArrayShape, mut element: impl FnMut(usize) -> Scalar) -> Literal {
    let width = shape.ty.storage_bytes();
    let mut result = Literal::zeros(shape.clone());
    for (i, slot) in result.bytes_mut().chunks_exact_mut(width).enumerate() {
        element(i).write(shape.ty, slot);
    }
    result
}

/// The arrays of a result: itself, or the elements of the tuple.
pub(crate) fn array_shapes(shape: &Shape) -> Vec<&ArrayShape> {
    shape.leaves().into_iter().filter_map(Shape::array).collect()
}

/// One array as it is, several as a tuple; `shape` says which.
pub(crate) fn pack(shape: &Shape, mut arrays: Vec<Literal>) -> Literal {
    match shape {
        Shape::Tuple(_) => Literal::tuple(arrays),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => arrays.swap_remove(0),
    }
}
