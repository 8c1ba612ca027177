//! Ops that only move elements: each result element is one operand element, its bits unchanged.
use crate::Kernel;
use crate::function::writes;
use crate::move_kernel::Move;
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use crate::slicing::{Region, SliceDim, Sliced};
use crate::strided::{Walk, move_elements};
use hlo::op::{BitcastConvert, Broadcast, Reshape, Reverse, Slice, Transpose};
use hlo::{Array, ArrayShape, Dims, ElementType, Op};
use num::array::PART;
use num::clock::Stop;
use num::index::{strides, to_usize};
use num::scalar_program::ScalarPrograms;

/// Returns the kernel whose result at index i is the operand's element at
/// `base + sum of i[d] * strides[d]`.
fn affine_kernel(site: &Site<'_>, base: i64, strides: &[i64]) -> Box<dyn Kernel> {
    let (from, to) = (site.operands[0], site.result());
    Box::new(Move::new(Walk::merged(&to.dims, base, strides), from, to))
}

impl ArrayOp for Broadcast {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { dimensions } = self;
        // `result[i] = operand[i[dimensions[0]], i[dimensions[1]], ...]`
        let mut moved = Dims::from_elem(0, site.result().rank());
        for (&dim, &stride) in dimensions.iter().zip(&strides(&site.operands[0].dims)) {
            moved[to_usize(dim)] += stride;
        }
        Some(affine_kernel(site, 0, &moved))
    }
    linear!();
    fn slice(&self, _: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        let inner = self.dimensions.iter().map(|&d| region[to_usize(d)]).collect();
        Some(Sliced::Op(Op::Broadcast(self.clone()), vec![(0, inner)]))
    }
}

impl ArrayOp for Transpose {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { dimensions } = self;
        // `result[i] = operand[j]` with `j[permutation[d]] = i[d]`
        let from = strides(&site.operands[0].dims);
        let moved: Dims = dimensions.iter().map(|&d| from[to_usize(d)]).collect();
        Some(affine_kernel(site, 0, &moved))
    }
    linear!();
    fn slice(&self, _: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        let mut inner = Region::from(region);
        for (&d, &extent) in self.dimensions.iter().zip(region) {
            inner[to_usize(d)] = extent;
        }
        Some(Sliced::Op(Op::Transpose(self.clone()), vec![(0, inner)]))
    }
}

impl ArrayOp for Reverse {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { dimensions } = self;
        // `result[i] = operand[j]` with `j[d] = size[d] - 1 - i[d]` for the dimensions that are
        // reversed
        let operand = site.operands[0];
        let mut strides = strides(&operand.dims);
        let mut base = 0;
        for d in dimensions.iter().map(|&d| to_usize(d)) {
            base += strides[d] * (operand.dims[d] - 1).max(0);
            strides[d] = -strides[d];
        }
        Some(affine_kernel(site, base, &strides))
    }
    linear!();
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        let mut inner = Region::from(region);
        for d in self.dimensions.iter().map(|&d| to_usize(d)) {
            inner[d].start = site.result().dims[d] - 1 - region[d].last();
        }
        Some(Sliced::Op(Op::Reverse(self.clone()), vec![(0, inner)]))
    }
}

impl ArrayOp for Slice {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { ranges } = self;
        // `result[i] = operand[start + i * stride]`
        let mut strides = strides(&site.operands[0].dims);
        let mut base = 0;
        for (range, stride) in ranges.0.iter().zip(&mut strides) {
            base += range.start * *stride;
            // A stride beyond the dimension takes one element, so its size never matters.
            *stride = stride.saturating_mul(range.stride);
        }
        Some(affine_kernel(site, base, &strides))
    }
    linear!();
    fn slice(&self, _: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        let outer = self.ranges.0.iter().map(SliceDim::of);
        let inner = outer.zip(region).map(|(outer, &inner)| Some(outer?.select(inner)));
        inner.collect::<Option<_>>().map(|inner| Sliced::Operand(0, inner))
    }
}

impl ArrayOp for Reshape {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self { inferred_dimension: _ } = self; // The shape of the result has its size.
        Some(Move::bitcast(site.operands[0], site.result()))
    }
    linear!();
    needs_whole_operands!();
}

impl ArrayOp for BitcastConvert {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let Self {} = self;
        let (from, to) = (site.operands[0], site.result());
        if from.ty.bits() == to.ty.bits() && from.ty.bits() >= 8 && to.ty != ElementType::Pred {
            return Some(Move::bitcast(from, to));
        }
        Some(writes(|_, inputs, outputs| {
            bitcast_convert(inputs[0], &mut outputs[0]);
            Ok(())
        }))
    }
    linear!();
    needs_whole_operands!();
}

/// Returns the array whose element at index i is the operand's element at
/// `base + sum of i[d] * strides[d]`.
pub fn affine(operand: &Array, shape: &ArrayShape, base: i64, strides: &[i64]) -> Array {
    let mut result = Array::zeros(shape.clone());
    affine_into(operand, &mut result, base, strides);
    result
}

/// Writes the array whose element at index i is the operand's element at
/// `base + sum of i[d] * strides[d]`.
pub(super) fn affine_into(operand: &Array, result: &mut Array, base: i64, strides: &[i64]) {
    let shape = result.shape();
    let (width, dims) = (shape.ty.storage_bytes(), shape.dims.clone());
    move_elements(operand.bytes(), result.bytes_mut(), width, &dims, base, strides);
}

/// Writes the operand's bits as another type, the least significant part first.
fn bitcast_convert(operand: &Array, result: &mut Array) {
    let ty = |array: &Array| array.shape().ty;
    let (from, to) = (ty(operand), ty(result));
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
