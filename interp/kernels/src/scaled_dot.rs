//! `scaled-dot`: `result[batch, lhs.., rhs..] = sum over contracting of lhs * lhs_scale * rhs *
//! rhs_scale`
//!
//! **Operands.** Left, right, scales of the left, scales of the right: all real floats. Scales have
//! the rank of their operand, and each of their sizes divides the operand's: a scale counts for the
//! block of elements whose indices divide to its own. A scalar, or an array of one scale, counts
//! for all. `bf16` ones in such an array are how frontends write that an operand has no scales.
//!
//! **How exactly.** An element times its scale is exact, unless both have more than 26 digits: then
//! it is rounded to `f64`. Products and sums keep their rounding errors, and the sum is rounded
//! once. NaN among the scales makes its whole block NaN.
//!
//! **Attributes** are those of `dot`, with one contracting dimension. Algorithms that round their
//! operands cannot be run: no specification says whether an element is rounded before or after it
//! is scaled.
//!
//! **Differences.** XLA:CPU refuses the op.
use super::contraction::{LosslessElements, ResolvedDotAlgorithm, Rounding, Sums};
use super::dot::{Axes, product};
use crate::Kernel;
use crate::function::writes_in;
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use hlo::op::ScaledDot;
use hlo::{Array, ArrayShape, ElementType};
use num::Arithmetic;
use num::index::{indices, saturating_count, strides, to_usize};
use num::scalar_program::ScalarPrograms;
use num::single::to_f32;

impl ArrayOp for ScaledDot {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        kernel(self, site.operands, site.result(), site.arithmetic)
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        product(site, &[&self.rhs_batch_dims[..], &self.rhs_contracting_dims].concat())
    }
    needs_whole_operands!();
}

fn kernel(
    op: &ScaledDot,
    operands: &[&ArrayShape],
    result: &ArrayShape,
    arithmetic: Arithmetic,
) -> Option<Box<dyn Kernel>> {
    let ScaledDot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision: _, // Permits backends to round the operands. They are never rounded here.
        algorithm,
    } = op;
    let algorithm = ResolvedDotAlgorithm::of(*algorithm, arithmetic);
    if algorithm.rounds_operands() {
        return None;
    }
    let l = Axes::of(operands[0], lhs_batch_dims, lhs_contracting_dims);
    let r = Axes::of(operands[1], rhs_batch_dims, rhs_contracting_dims);
    let rounding = Rounding::new(operands[0].ty, operands[1].ty, None, result.ty);
    let sums = algorithm.scratch((operands[0], operands[1]), ElementType::F64, l.extent(&r));
    // Elements as f64, and times their scales.
    let scaled = operands[..2].iter().map(|operand| saturating_count(&operand.dims));
    let scaled = scaled.fold(0, usize::saturating_add).saturating_mul(3 * size_of::<f64>());
    let scratch = scaled.saturating_add(sums).saturating_add(l.bytes()).saturating_add(r.bytes());
    Some(writes_in(algorithm.arithmetic(result.ty), scratch, move |_, inputs, outputs| {
        let (l, r) = (l.offsets(), r.offsets());
        let (lhs, rhs) =
            (scaled_elements(inputs[0], inputs[2]), scaled_elements(inputs[1], inputs[3]));
        let sums = Sums::Matrix(l.contraction(&r));
        algorithm.contract_elements(sums, (lhs, rhs), rounding, outputs[0].bytes_mut());
        Ok(())
    }))
}

/// Each element times the scale of its block, as f32 if that holds all of them.
fn scaled_elements<'a>(operand: &Array, scales: &Array) -> LosslessElements<'a> {
    let products = scaled_doubles(operand, scales);
    let singles: Vec<f32> = products.iter().map(|&x| to_f32(x)).collect();
    let are_exact = products
        .iter()
        .zip(&singles)
        .fold(true, |all, (&x, &single)| all & (x.to_bits() == f64::from(single).to_bits()));
    match are_exact {
        true => LosslessElements::Single(singles.into()),
        false => LosslessElements::Double(products.into()),
    }
}
fn scaled_doubles(operand: &Array, scales: &Array) -> Vec<f64> {
    let shape = operand.shape();
    let blocks = scales.shape();
    let (elements, scales) =
        (LosslessElements::of(operand).doubles(), LosslessElements::of(scales).doubles());
    if blocks.rank() == 0 {
        return elements.iter().map(|x| x * scales[0]).collect();
    }
    let strides = strides(&blocks.dims);
    let sizes: Vec<i64> = shape.dims.iter().zip(&blocks.dims).map(|(&n, &b)| n / b).collect();
    let mut products = Vec::with_capacity(elements.len());
    indices(&shape.dims, |index| {
        let places = index.iter().zip(&sizes).zip(&strides);
        let scale: i64 = places.map(|((&i, &size), &stride)| i / size * stride).sum();
        products.push(elements[products.len()] * scales[to_usize(scale)]);
    });
    // The walk ends early when the time is over.
    products.resize(elements.len(), 0.0);
    products
}
