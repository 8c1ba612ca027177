//! Arrays that are smaller than their bounds, in ops that are written for arrays of fixed size
//!
//! A literal knows how many of its elements count in each dimension; the others are padding, and what they hold is of no
//! influence. This page is the only one that knows what the sizes mean for an op. Programs without dynamic shapes pay
//! for it with one look at the operands.
//!
//! | ops | what is done |
//! |---|---|
//! | elementwise | computed on the padding, too; the result is as large as the operands |
//! | `broadcast`, `transpose`, `slice`, `dynamic-slice`, `dynamic-update-slice`, `gather`, `bitcast-convert` of one width | elements are moved within the bounds, the padding with them; sizes go where their dimensions go |
//! | `reshape`, `dynamic-reshape` | what counts is packed anew |
//! | `scatter` | only the updates that count are applied; the result is as large as the operand |
//! | `copy`, `tuple`, `while`, `call`, `conditional`, `scan` and others that hand on values | sizes are a part of the value |
//! | all others | operands are cut to what counts, the op's shape rule says how large the result is, and the result is put into an array of the bounds, with zeros behind it |
//!
//! So padding has no influence on `reduce`, `dot` or `convolution`, `concatenate` puts what counts next to each other, and
//! `sort` and `reverse` turn around what counts, as on XLA:CPU. A part of a dynamic dimension (`slice={[0:2]}` of `<=5`, a
//! `gather` of single rows) has a fixed size, within the bound, and may see padding: also as on XLA:CPU.
//!
//! Dimensions that must agree, like those of two operands of `add` or the contracting ones of a `dot`, may be full on one
//! side and smaller on the other: the smaller size counts. Two different smaller sizes stop the run with `E0408`, where
//! XLA:CPU takes either. Collectives, `bitcast` and custom calls but `Sharding`,
//! `PadToStatic` and `SliceToDynamic` are `E0402`.
mod sizes;

use crate::context::RunContext;
use crate::error::Code;
use crate::{Error, Result};
use hlo::ir::Instruction;
use hlo::{Dims, Literal, Module, Op, Shape};
pub(crate) use sizes::common;
use sizes::{agreed, cut_updates, moved, tied, ties, updated, whole_update};

/// What is done where an operand is smaller than its bounds; the table above explains it.
enum Way {
    Elementwise,
    Moved,
    Reshaped,
    Updated,
    Scattered,
    HandedOn,
    Cut,
    Refused,
}

#[expect(clippy::too_many_lines, reason = "one line an op")]
fn way(op: &Op, operands: &[&Literal]) -> Way {
    match op {
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Clamp(_)
        | Op::Compare(_)
        | Op::Convert(_)
        | Op::ReducePrecision(_)
        | Op::StochasticConvert(_) => Way::Elementwise,
        // A scalar chooses a whole value, and with it its size.
        Op::Select(_) if operands[0].sizes().is_empty() => Way::HandedOn,
        Op::Select(_) => Way::Elementwise,
        Op::BitcastConvert(_)
        | Op::Broadcast(_)
        | Op::DynamicSlice(_)
        | Op::Gather(_)
        | Op::Slice(_)
        | Op::Transpose(_) => Way::Moved,
        Op::Reshape(_) => Way::Reshaped,
        Op::DynamicUpdateSlice(_) => Way::Updated,
        Op::Scatter(_) => Way::Scattered,
        Op::CustomCall(call) => match call.custom_call_target.0.as_str() {
            "PadToStatic" | "Sharding" => Way::HandedOn,
            _ => Way::Refused,
        },
        Op::AddDependency(_)
        | Op::AfterAll(_)
        | Op::Copy(_)
        | Op::CopyDone(_)
        | Op::CopyStart(_)
        | Op::Domain(_)
        | Op::DynamicReshape(_)
        | Op::GetDimensionSize(_)
        | Op::GetTupleElement(_)
        | Op::OptBarrier(_)
        | Op::Outfeed(_)
        | Op::Send(_)
        | Op::SetDimensionSize(_)
        | Op::Tuple(_) => Way::HandedOn,
        Op::BatchNormGrad(_)
        | Op::BatchNormInference(_)
        | Op::BatchNormTraining(_)
        | Op::Cholesky(_)
        | Op::Concatenate(_)
        | Op::Convolution(_)
        | Op::Dot(_)
        | Op::Fft(_)
        | Op::Map(_)
        | Op::Pad(_)
        | Op::RaggedDot(_)
        | Op::Reduce(_)
        | Op::ReduceWindow(_)
        | Op::Reverse(_)
        | Op::ScaledDot(_)
        | Op::SelectAndScatter(_)
        | Op::Sort(_)
        | Op::TopK(_)
        | Op::TriangularSolve(_) => Way::Cut,
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
        | Op::Bitcast(_)
        | Op::Call(_)
        | Op::CollectiveBroadcast(_)
        | Op::CollectivePermute(_)
        | Op::CollectivePermuteDone(_)
        | Op::CollectivePermuteStart(_)
        | Op::Conditional(_)
        | Op::Constant(_)
        | Op::Fusion(_)
        | Op::Infeed(_)
        | Op::Iota(_)
        | Op::Parameter(_)
        | Op::PartitionId(_)
        | Op::RaggedAllToAll(_)
        | Op::Recv(_)
        | Op::RecvDone(_)
        | Op::ReduceScatter(_)
        | Op::ReplicaId(_)
        | Op::Rng(_)
        | Op::RngBitGenerator(_)
        | Op::RngGetAndUpdateState(_)
        | Op::Scan(_)
        | Op::SendDone(_)
        | Op::While(_) => Way::Refused,
    }
}

/// Whether an operand is smaller than its bounds.
#[inline]
pub(super) fn is_among(operands: &[&Literal]) -> bool {
    operands.iter().any(|operand| operand.dynamic_sizes().is_some())
}

/// Computes an instruction whose operands are as large as their bounds.
type Fixed<'a> = &'a dyn Fn(&Instruction, &[&Literal]) -> Result<Literal>;

/// The value of an instruction of which an operand is smaller than its bounds.
pub(super) fn evaluate(
    instruction: &Instruction,
    operands: &[&Literal],
    context: &RunContext,
    fixed: Fixed<'_>,
) -> Result<Literal> {
    let mut operands: Vec<Literal> = operands.iter().map(|&operand| operand.clone()).collect();
    let refs: Vec<&Literal> = operands.iter().collect();
    let sizes = match way(&instruction.op, &refs) {
        Way::HandedOn => return fixed(instruction, &refs),
        Way::Elementwise => agreed(&operands)?,
        Way::Moved => moved(instruction, &operands)?,
        Way::Updated => {
            let sizes = updated(&operands);
            whole_update(&mut operands);
            sizes
        }
        Way::Scattered => {
            let sizes = Dims::from_slice(operands[0].sizes());
            cut_updates(&instruction.op, &mut operands)?;
            sizes
        }
        Way::Reshaped => return super::dynamic_shape::reshape(instruction, &operands[0]),
        Way::Cut => return cut(instruction, &operands, context, fixed),
        Way::Refused => {
            let opcode = instruction.opcode();
            let message =
                format!("`{opcode}` of an array smaller than its bounds cannot be run yet");
            return Err(Error::unsupported(message));
        }
    };
    let refs: Vec<&Literal> = operands.iter().collect();
    let result = fixed(instruction, &refs)?;
    Ok(match result.elements() {
        Some(all) => Literal::tuple(all.iter().map(|x| x.clone().with_sizes(&sizes)).collect()),
        None => result.with_sizes(&sizes),
    })
}

/// Runs the op on what counts, and puts the result into an array of the bounds.
fn cut(
    instruction: &Instruction,
    operands: &[Literal],
    context: &RunContext,
    fixed: Fixed<'_>,
) -> Result<Literal> {
    let sizes = tied(operands, &ties(&instruction.op, operands))?;
    let operands = operands.iter().zip(&sizes).map(|(o, s)| o.clone().with_sizes(s).cut());
    let operands: Vec<Literal> = operands.collect();
    let shapes: Vec<Shape> = operands.iter().map(Literal::shape).collect();
    let shapes: Vec<&Shape> = shapes.iter().collect();
    let shape = instruction.op.shape(&shapes, Some(&instruction.shape), context.module());
    let shape = shape.map_err(|error| {
        let message = format!("`{}` cannot take its operands as they are", instruction.opcode());
        let shapes: Vec<String> = shapes.iter().map(|shape| format!("{shape:#}")).collect();
        Error::from(Code::Trap { message: format!("{message}: {error}") })
            .with_help(format!("at run time they are {}", shapes.join(", ")))
    })?;
    let actual = Instruction { shape, ..instruction.clone() };
    let operands: Vec<&Literal> = operands.iter().collect();
    let result = fixed(&actual, &operands)?;
    widened(&result, &instruction.shape)
}

/// The value in arrays of the bounds.
fn widened(value: &Literal, shape: &Shape) -> Result<Literal> {
    match (shape, value.elements()) {
        (Shape::Tuple(shapes), Some(elements)) => {
            let elements = elements.iter().zip(shapes).map(|(e, s)| widened(e, s));
            Ok(Literal::tuple(elements.collect::<Result<_>>()?))
        }
        (Shape::Array(bounds), None) => {
            if value.sizes().iter().zip(&bounds.dims).any(|(size, bound)| size > bound) {
                let message =
                    format!("the result has sizes {:?}, above those of {bounds:#}", value.sizes());
                return Err(Code::Trap { message }.into());
            }
            Ok(value.widened(bounds))
        }
        _ => Ok(value.clone()),
    }
}

/// Whether a value of shape `found` may be given where `wanted` is expected: dynamic dimensions may be smaller.
pub(crate) fn fits(found: &Shape, wanted: &Shape) -> bool {
    match (found, wanted) {
        (Shape::Array(found), Shape::Array(wanted)) => {
            found.ty == wanted.ty && {
                let size = |d| {
                    found.dims[d] == wanted.dims[d]
                        || (wanted.is_dynamic(d) && (0..wanted.dims[d]).contains(&found.dims[d]))
                };
                found.rank() == wanted.rank() && (0..found.rank()).all(size)
            }
        }
        (Shape::Tuple(found), Shape::Tuple(wanted)) => {
            found.len() == wanted.len() && found.iter().zip(wanted).all(|(f, w)| fits(f, w))
        }
        _ => found.compatible(wanted),
    }
}

/// The value in arrays of the shape's bounds, if any is smaller.
pub(crate) fn to_bounds(value: &Literal, shape: &Shape) -> Literal {
    match (shape, value.elements()) {
        (Shape::Tuple(shapes), Some(elements)) => {
            Literal::tuple(elements.iter().zip(shapes).map(|(e, s)| to_bounds(e, s)).collect())
        }
        (Shape::Array(bounds), None)
            if value.array_shape().is_some_and(|v| v.dims != bounds.dims) =>
        {
            value.widened(bounds)
        }
        _ => value.clone(),
    }
}

/// Whether an array of the module may be smaller than its bounds.
pub(crate) fn is_dynamic(module: &Module) -> bool {
    let is_smaller = |shape: &Shape| {
        shape.leaves().iter().any(|leaf| leaf.array().is_some_and(|a| a.dynamic.is_some()))
    };
    let instructions = module.computations.iter().flat_map(|(_, c)| c.instructions.iter());
    let mut instructions = instructions.map(|(_, instruction)| instruction);
    instructions.any(|instruction| {
        is_smaller(&instruction.shape)
            || match &instruction.op {
                Op::SetDimensionSize(_) | Op::DynamicReshape(_) => true,
                Op::CustomCall(call) => call.custom_call_target.0 == "SliceToDynamic",
                _ => false,
            }
    })
}
