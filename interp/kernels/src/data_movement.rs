//! Ops that only move elements: each result element is one operand element, its bits unchanged.
use super::iota::Iota;
use super::strided::{Move, Walk, move_elements};
use super::{updates_with, writes, writes_with};
use crate::Kernel;
use hlo::op::{Broadcast, Reverse, Slice, Transpose};
use hlo::{ArrayShape, Dims, Literal, Op};
use num::array::PART;
use num::clock::Stop;
use num::index::{saturating_count, strides, to_usize};
use num::parallel::copy;

/// A walk over an operand: the result's element at index i is the operand's at `base + sum of i[d] * strides[d]`.
#[derive(Debug)]
struct Affine {
    base: i64,
    strides: Dims,
}

impl Affine {
    /// The walk of an op that moves elements; `None` of any other.
    fn of(op: &Op, operand: &ArrayShape, shape: &ArrayShape) -> Option<Self> {
        match op {
            Op::Broadcast(op) => Some(broadcast(op, operand, shape)),
            Op::Transpose(op) => Some(transpose(op, operand)),
            Op::Reverse(op) => Some(reverse(op, operand)),
            Op::Slice(op) => Some(slice(op, operand)),
            _ => None,
        }
    }
    fn walk(&self, shape: &ArrayShape) -> Walk {
        Walk::merged(&shape.dims, self.base, &self.strides)
    }
}

/// Whether the result of an op has the elements of the operand in their order, as the transposition of a vector has.
pub fn keeps_order(op: &Op, operand: &ArrayShape, shape: &ArrayShape) -> bool {
    operand.element_count() == shape.element_count()
        && shape.element_count() != Some(0)
        && Affine::of(op, operand, shape).is_some_and(|affine| affine.walk(shape).keeps_order())
}

/// The kernel of an op that moves elements; `None` of any other.
pub(super) fn kernel(
    op: &Op,
    operands: &[&ArrayShape],
    shape: &ArrayShape,
) -> Option<Box<dyn Kernel>> {
    if let Some(affine) = operands.first().and_then(|operand| Affine::of(op, operand, shape)) {
        return Some(Box::new(Move::new(affine.walk(shape), shape.ty)));
    }
    Some(match op.clone() {
        Op::Bitcast(_) => return super::bitcast::kernel(operands[0], shape),
        Op::BitcastConvert(_) => writes(|_, inputs, outputs| {
            bitcast_convert(inputs[0], &mut outputs[0]);
            Ok(())
        }),
        Op::Iota(op) => Box::new(Iota::new(shape, op.iota_dimension.unwrap_or(0), 0, 1)),
        Op::Concatenate(op) => writes(move |_, inputs, outputs| {
            super::concatenate::concatenate_into(&op, inputs, &mut outputs[0]);
            Ok(())
        }),
        Op::Pad(op) => writes(move |_, inputs, outputs| {
            super::pad::pad_into(&op, inputs[0], inputs[1], &mut outputs[0]);
            Ok(())
        }),
        Op::Gather(op) => {
            // The offsets of a slice's elements in the operand and in the result.
            let scratch = saturating_count(&op.slice_sizes).saturating_mul(2 * size_of::<usize>());
            writes_with(scratch, move |_, inputs, outputs| {
                super::gather::gather_into(&op, inputs[0], inputs[1], &mut outputs[0])
            })
        }
        Op::DynamicSlice(_) => writes(move |_, inputs, outputs| {
            super::dynamic_slice::dynamic_slice_into(inputs[0], &inputs[1..], &mut outputs[0]);
            Ok(())
        }),
        Op::DynamicUpdateSlice(_) => updates_with(0, move |_, inputs, outputs| {
            super::dynamic_slice::update_in_place(&mut outputs[0], inputs[1], &inputs[2..]);
            Ok(())
        }),
        // A scalar selects a whole value, which is not copied.
        Op::Select(_) if operands[0].rank() > 0 => Box::new(super::select::kernel(shape)),
        _ => return None,
    })
}

/// Computes an op that only moves elements, whatever they are; `None` of any other op.
pub fn moves_into(op: &Op, operands: &[&Literal], result: &mut Literal) -> Option<()> {
    match op {
        Op::Concatenate(op) => super::concatenate::concatenate_into(op, operands, result),
        Op::Pad(op) => super::pad::pad_into(op, operands[0], operands[1], result),
        op => {
            let (operand, shape) = (operands.first()?, result.array_shape()?);
            let Affine { base, strides } = Affine::of(op, operand.array_shape()?, shape)?;
            affine_into(operand, result, base, &strides);
        }
    }
    Some(())
}

/// The array whose element at index i is the operand's element at `base + sum of i[d] * strides[d]`.
pub fn affine(operand: &Literal, shape: &ArrayShape, base: i64, strides: &[i64]) -> Literal {
    let mut result = Literal::zeros(shape.clone());
    affine_into(operand, &mut result, base, strides);
    result
}

/// The same, into memory that is there.
pub(super) fn affine_into(operand: &Literal, result: &mut Literal, base: i64, strides: &[i64]) {
    let shape = result.array_shape().expect("a kernel computes arrays");
    let (width, dims) = (shape.ty.storage_bytes(), shape.dims.clone());
    move_elements(operand.bytes(), result.bytes_mut(), width, &dims, base, strides);
}

fn dims(operand: &Literal) -> &ArrayShape {
    operand.array_shape().expect("verified: an array")
}

/// `result[i] = operand[i[dimensions[0]], i[dimensions[1]], ...]`
fn broadcast(op: &Broadcast, operand: &ArrayShape, shape: &ArrayShape) -> Affine {
    let mut moved = Dims::from_elem(0, shape.rank());
    for (&dim, &stride) in op.dimensions.iter().zip(&strides(&operand.dims)) {
        moved[to_usize(dim)] += stride;
    }
    Affine { base: 0, strides: moved }
}

/// `result[i] = operand[j]` with `j[permutation[d]] = i[d]`
fn transpose(op: &Transpose, operand: &ArrayShape) -> Affine {
    let from = strides(&operand.dims);
    Affine { base: 0, strides: op.dimensions.iter().map(|&d| from[to_usize(d)]).collect() }
}

/// `result[i] = operand[j]` with `j[d] = size[d] - 1 - i[d]` for the dimensions that are reversed
fn reverse(op: &Reverse, operand: &ArrayShape) -> Affine {
    let mut strides = strides(&operand.dims);
    let mut base = 0;
    for &d in &op.dimensions {
        let d = to_usize(d);
        base += strides[d] * (operand.dims[d] - 1).max(0);
        strides[d] = -strides[d];
    }
    Affine { base, strides }
}

/// `result[i] = operand[start + i * stride]`
fn slice(op: &Slice, operand: &ArrayShape) -> Affine {
    let mut strides = strides(&operand.dims);
    let mut base = 0;
    for (range, stride) in op.ranges.0.iter().zip(&mut strides) {
        base += range.start * *stride;
        // A stride beyond the dimension takes one element, so its size never matters.
        *stride = stride.saturating_mul(range.stride);
    }
    Affine { base, strides }
}

/// The operand's bits as another type, the least significant part first.
fn bitcast_convert(operand: &Literal, result: &mut Literal) {
    let from = dims(operand).ty;
    let to = dims(result).ty;
    if from.bits() == to.bits() && from.bits() >= 8 && to != hlo::ElementType::Pred {
        return copy(operand.bytes(), result.bytes_mut());
    }
    // Through one string of bits: narrow types are packed as they count, not as they are stored.
    let (from_bits, to_bits) = (from.bits(), to.bits());
    let (from_width, to_width) = (from.storage_bytes(), to.storage_bytes());
    let mut parts =
        operand.bytes().chunks_exact(from_width).map(|bytes| hlo::Scalar::bits(from, bytes));
    let mut pending = (0u128, 0u32);
    let stop = Stop::current();
    for slots in result.bytes_mut().chunks_mut(to_width * PART).take_while(|_| !stop.is_set()) {
        for slot in slots.chunks_exact_mut(to_width) {
            while pending.1 < to_bits {
                let part = parts.next().unwrap_or(0);
                pending.0 |= part << pending.1;
                pending.1 += from_bits;
            }
            let mask = if to_bits == 128 { u128::MAX } else { (1 << to_bits) - 1 };
            hlo::Scalar::set_bits(to, pending.0 & mask, slot);
            pending.0 = if to_bits == 128 { 0 } else { pending.0 >> to_bits };
            pending.1 -= to_bits;
        }
    }
}
