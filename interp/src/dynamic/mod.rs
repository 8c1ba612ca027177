//! Arrays that are smaller than their bounds, in ops that are written for arrays of fixed size
//!
//! A literal knows how many of its elements count in each dimension; the others are padding, and
//! what they hold is of no influence. This module is the only one that knows what the sizes mean
//! for an op. Programs without dynamic shapes pay for it with one look at the operands.
//!
//! | ops | what is done |
//! |---|---|
//! | elementwise | computed on the padding, too; the result is as large as the operands, of which those of size 1 are broadcast and the others cut to the smallest |
//! | `broadcast`, `transpose`, `slice`, `dynamic-slice`, `dynamic-update-slice`, `gather`, `bitcast-convert` of one width | elements are moved within the bounds, the padding with them; sizes go where their dimensions go |
//! | `reshape`, `dynamic-reshape` | what counts is packed anew |
//! | `scatter` | only the updates that count are applied; the result is as large as the operand |
//! | `copy`, `tuple`, `while`, `call`, `conditional`, `scan` and others that hand on values | sizes are a part of the value |
//! | all others | operands are cut to what counts, the op's shape rule says how large the result is, and the result is put into an array of the bounds, with zeros behind it |
//!
//! So padding has no influence on `reduce`, `dot` or `convolution`, `concatenate` puts what counts
//! next to each other, and `sort` and `reverse` permute only the elements that count, as on
//! XLA:CPU. A part of a dynamic dimension (`slice={[0:2]}` of `<=5`, a `gather` of single rows) has
//! a fixed size, within the bound, and may see padding: also as on XLA:CPU.
//!
//! Dimensions that must agree, like those of two operands of `add` or the contracting ones of a
//! `dot`, may be full on one side and smaller on the other: the smaller size counts. Two different
//! smaller sizes stop the run with `E0408`, where XLA:CPU takes either, except in elementwise ops.
//! Collectives, `bitcast` and custom calls but annotations, `PadToStatic`, `SliceToDynamic` and
//! convolutions are `E0402`.
mod broadcast;
mod flow;
mod reshape;
mod sizes;

use crate::context::RunContext;
use crate::custom;
use crate::{Error, Result};
pub(crate) use flow::DynamicValues;
use hlo::ir::Instruction;
use hlo::op::{CustomCall, DynamicRule};
use hlo::{Dims, Literal, Op, Shape};
use num::array::checked_bytes;
use num::error::Code;
pub(crate) use sizes::common;
use sizes::{cut_updates, moved, tied, ties, updated, whole_update};

/// Returns the rule for an op with operands of these shapes.
pub(crate) fn rule(op: &Op, operands: &[&Shape]) -> DynamicRule {
    // A scalar selects a whole value, and with it its sizes.
    let selects_whole =
        || matches!(op, Op::Select(_)) && operands[0].array().is_some_and(|p| p.rank() == 0);
    let takes = |call: &CustomCall| custom::takes_sizes(&call.custom_call_target.0);
    let calls_forward = || matches!(op, Op::CustomCall(call) if takes(call));
    match selects_whole() || calls_forward() {
        true => DynamicRule::Forward,
        false => op.opcode().dynamic_rule(),
    }
}

/// Returns whether an operand is smaller than its bounds.
#[inline]
pub(crate) fn is_among(operands: &[&Literal]) -> bool {
    operands.iter().any(|operand| operand.dynamic_sizes().is_some())
}

/// Returns the error of an instruction of which no operand may be smaller than its bounds.
pub fn refused(instruction: &Instruction) -> Error {
    let opcode = instruction.opcode();
    Error::unsupported(format!("`{opcode}` of an array smaller than its bounds cannot be run yet"))
}

/// Returns the value of an instruction of which an operand is smaller than its bounds; `fixed`
/// computes it within the bounds. Operands that are [trimmed](trim) are not.
pub(crate) fn evaluate(
    rule: DynamicRule,
    instruction: &Instruction,
    (operands, shapes): (&[&Literal], &[&Shape]),
    fixed: &dyn Fn(&[&Literal]) -> Result<Literal>,
) -> Result<Literal> {
    let refs = operands;
    let mut operands: Vec<Literal> = operands.iter().map(|&operand| operand.clone()).collect();
    let sizes = match rule {
        DynamicRule::Forward => return fixed(refs),
        DynamicRule::Elementwise => {
            let (sizes, broadcast) = broadcast::broadcast(&operands, shapes);
            operands = broadcast;
            sizes
        }
        DynamicRule::Remap => moved(instruction, &operands)?,
        DynamicRule::Update => {
            let sizes = updated(&operands);
            whole_update(&mut operands);
            sizes
        }
        DynamicRule::Scatter => {
            let sizes = Dims::from_slice(operands[0].sizes());
            cut_updates(&instruction.op, &mut operands)?;
            sizes
        }
        DynamicRule::Reshape => return reshape::reshape(instruction, &operands[0]),
        DynamicRule::Trim => return Err(Error::internal("the operands are trimmed")),
        DynamicRule::Refuse => return Err(refused(instruction)),
    };
    let refs: Vec<&Literal> = operands.iter().collect();
    let result = fixed(&refs)?;
    Ok(match result.elements() {
        Some(all) => Literal::tuple(all.iter().map(|x| x.clone().with_sizes(&sizes)).collect()),
        None => result.with_sizes(&sizes),
    })
}

/// Runs the op on what counts, and puts the result into an array of the bounds. `compute` gets the
/// instruction with the shape that its result then has.
pub(crate) fn trim(
    instruction: &Instruction,
    operands: &[&Literal],
    context: &RunContext,
    compute: &dyn Fn(&Instruction, &[&Literal]) -> Result<Literal>,
) -> Result<Literal> {
    let operands: Vec<Literal> = operands.iter().map(|&operand| operand.clone()).collect();
    let sizes = tied(&operands, &ties(&instruction.op, &operands))?;
    let operands = operands.iter().zip(&sizes).map(|(o, s)| o.clone().with_sizes(s).to_static());
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
    let result = compute(&actual, &operands)?;
    widened(&result, &instruction.shape)
}

/// Returns the value in arrays of the bounds.
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
            Ok(value.to_bounded_dynamic(bounds))
        }
        _ => Ok(value.clone()),
    }
}

/// Returns whether a value of shape `found` may be given where `wanted` is expected: dynamic
/// dimensions may be smaller.
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

/// Returns the value in arrays of the shape's bounds; new ones are charged.
pub(crate) fn to_bounds(context: &RunContext, value: &Literal, shape: &Shape) -> Result<Literal> {
    match (shape, value) {
        (Shape::Tuple(shapes), Literal::Tuple(elements)) => {
            let elements = elements.iter().zip(shapes);
            let elements = elements.map(|(element, shape)| to_bounds(context, element, shape));
            Ok(Literal::tuple(elements.collect::<Result<_>>()?))
        }
        (Shape::Array(bounds), Literal::Array(array)) if array.shape().dims != bounds.dims => {
            let mut reservation = context.reserve(checked_bytes(bounds)?)?;
            Ok(reservation.hold(array.to_bounded_dynamic(bounds))?.into())
        }
        _ => Ok(value.clone()),
    }
}

/// Returns whether an op gives arrays smaller than their bounds in any module.
fn resizes(op: &Op) -> bool {
    let makes = |call: &CustomCall| custom::makes_sizes(&call.custom_call_target.0);
    op.opcode().sets_sizes() || matches!(op, Op::CustomCall(call) if makes(call))
}
