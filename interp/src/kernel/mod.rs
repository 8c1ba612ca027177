//! Kernels: the implementations of ops that the engine `exact` runs.
mod all_reduce;
mod batch_norm;
mod bitcast;
mod cholesky;
mod concatenate;
mod contraction;
mod convolution;
pub(crate) mod cost;
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
mod scalar_loop;
mod scaled_dot;
mod scatter;
mod select;
mod select_and_scatter;
mod sort;
mod stochastic_convert;
pub(crate) mod topk;
mod triangular_solve;
mod typed;

use crate::context::RunContext;
use crate::error::Code;
use crate::executable::Engine;
use crate::index::to_usize;
use crate::lower::Site;
use crate::plan::{Kernel, Reuse};
pub(crate) use crate::value::pack;
use crate::value::{static_shape, with_layouts, zeros};
use crate::{Error, Result};
pub(crate) use all_reduce::{concatenated, folded, summed};
use hlo::ir::Instruction;
use hlo::literal::ConstantValue;
use hlo::op::Kind;
use hlo::{ArrayShape, Literal, Op, Scalar, Shape};
pub(crate) use rng::Streams;
pub(crate) use scalar_loop::ScalarLoop;

/// The kernel of an instruction, if it has one that writes into memory that is there.
pub(crate) fn select(instruction: &Instruction, operands: &[&Shape]) -> Option<Box<dyn Kernel>> {
    if is_empty(instruction) {
        return None;
    }
    let shape = instruction.shape.array()?;
    if let Some(kernel) = elementwise::kernel(&instruction.op, operands, shape) {
        return Some(Box::new(kernel));
    }
    data_movement::kernel(&instruction.op, operands, shape)
}

/// A kernel that is a function of its inputs and outputs.
struct FunctionKernel<F> {
    function: F,
    reuse: Reuse,
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
}

/// A kernel that writes every element of its output.
fn writes<F>(function: F) -> Box<dyn Kernel>
where
    F: Fn(&RunContext, &[&Literal], &mut [Literal]) -> Result<()> + Send + Sync + 'static,
{
    Box::new(FunctionKernel { function, reuse: Reuse::None })
}
/// A kernel that changes part of operand 0, which its output holds.
fn updates<F>(function: F) -> Box<dyn Kernel>
where
    F: Fn(&RunContext, &[&Literal], &mut [Literal]) -> Result<()> + Send + Sync + 'static,
{
    Box::new(FunctionKernel { function, reuse: Reuse::Update })
}

/// The value of an instruction, of which an operand may be smaller than its bounds.
pub(crate) fn evaluate(
    site: Site,
    instruction: &Instruction,
    operands: &[&Literal],
    engine: Engine,
    context: &RunContext,
) -> Result<Literal> {
    let fixed = |instruction: &Instruction, operands: &[&Literal]| match engine {
        Engine::Reference => reference(site, instruction, operands, context),
        Engine::Exact => exact(site, instruction, operands, context),
    };
    if dynamic::is_among(operands) {
        return dynamic::evaluate(instruction, operands, context, &fixed);
    }
    fixed(instruction, operands)
}

/// The value of an instruction by its page in `spec`.
pub(crate) fn reference(
    site: Site,
    instruction: &Instruction,
    operands: &[&Literal],
    context: &RunContext,
) -> Result<Literal> {
    if is_empty(instruction) {
        return Ok(zeros(&instruction.shape));
    }
    let computation = &context.module().computations[site.computation];
    let name = || computation.name(site.instruction).to_string();
    match crate::spec::evaluate(instruction, operands, context, &name)? {
        Some(value) => Ok(value),
        None => function(site, instruction, operands, context),
    }
}

/// The value of an instruction by its kernel, which is chosen here.
fn exact(
    site: Site,
    instruction: &Instruction,
    operands: &[&Literal],
    context: &RunContext,
) -> Result<Literal> {
    if is_empty(instruction) {
        return Ok(zeros(&instruction.shape));
    }
    let shapes: Vec<Shape> = operands.iter().map(|operand| operand.shape()).collect();
    let shapes: Vec<&Shape> = shapes.iter().collect();
    let (Some(kernel), Some(array)) = (select(instruction, &shapes), instruction.shape.array())
    else {
        return function(site, instruction, operands, context);
    };
    let result = match (kernel.reuse(), operands) {
        (Reuse::Update, [first, ..]) => (*first).clone().with_shape(static_shape(array)),
        _ => Literal::zeros(static_shape(array)),
    };
    let mut outputs = [result];
    kernel.run(context, operands, &mut outputs)?;
    let [result] = outputs;
    Ok(result)
}

/// The value of an instruction without a kernel of its own, whose operands are as large as their bounds.
#[expect(clippy::too_many_lines, reason = "one arm an op")]
pub(crate) fn function(
    site: Site,
    instruction: &Instruction,
    operands: &[&Literal],
    context: &RunContext,
) -> Result<Literal> {
    let shape = &instruction.shape;
    let array = || shape.array().ok_or_else(|| Error::internal("the result is an array"));
    Ok(match &instruction.op {
        Op::Select(_) => select::whole(operands[0], operands[1], operands[2], shape),
        Op::Constant(constant) => match &*constant.value {
            ConstantValue::Literal(value) => with_layouts(value.clone(), shape),
            ConstantValue::Elided(_) => {
                let computation = &context.module().computations[site.computation];
                let name = computation.name(site.instruction).to_string();
                return Err(Error::from(Code::Elided { name })
                    .with_help("dump the module with large constants printed"));
            }
        },
        Op::Reshape(_) => operands[0].with_shape(array()?.clone()),
        Op::Bitcast(_) => bitcast::bitcast(operands[0], array()?)?,
        Op::BitcastConvert(_) => data_movement::bitcast_convert(operands[0], array()?),
        Op::Copy(_) => with_layouts(operands[0].clone(), shape),
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
        Op::Scatter(op) => scatter::scatter(op, operands, shape, context)?,
        Op::Binary(_)
        | Op::Broadcast(_)
        | Op::Clamp(_)
        | Op::Compare(_)
        | Op::Concatenate(_)
        | Op::Convert(_)
        | Op::DynamicSlice(_)
        | Op::DynamicUpdateSlice(_)
        | Op::Gather(_)
        | Op::Iota(_)
        | Op::Pad(_)
        | Op::ReducePrecision(_)
        | Op::Reverse(_)
        | Op::Slice(_)
        | Op::Transpose(_)
        | Op::Unary(_) => {
            return Err(Error::internal("the op has a kernel"));
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
        Op::Rng(op) => rng::rng(site, op, operands, array()?, context)?,
        Op::RngBitGenerator(op) => rng_bit_generator::rng_bit_generator(op, operands[0], shape)?,
        Op::RngGetAndUpdateState(op) => rng::get_and_update_state(site, op, context)?,
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
        | Op::ReduceScatter(_) => {
            return Err(Error::internal("a collective op is a step of its own"));
        }
        Op::Infeed(_) => crate::host::infeed(operands, shape, context)?,
        Op::Outfeed(_) => crate::host::outfeed(operands[0], context)?,
        Op::Send(op) => crate::host::send(op, operands, context)?,
        Op::SendDone(_) => crate::host::send_done(shape),
        Op::Recv(_) => crate::host::recv(shape),
        Op::RecvDone(op) => crate::host::recv_done(op, shape, context)?,
    })
}

/// Whether the result is known without a look at the operands, as it has no elements: arrays that have none may be so
/// large in their other dimensions that a loop over these would not end.
pub(crate) fn is_empty(instruction: &Instruction) -> bool {
    let is_empty = |leaf: &&Shape| leaf.array().is_some_and(|a| a.element_count() == Some(0));
    instruction.opcode().kind() == Kind::Array && instruction.shape.leaves().iter().all(is_empty)
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
