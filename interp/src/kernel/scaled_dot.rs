//! `scaled-dot`: `result[batch, lhs.., rhs..] = sum over contracting of lhs * lhs_scale * rhs * rhs_scale`
//!
//! **Operands.** Left, right, scales of the left, scales of the right: all real floats. Scales have the rank of their
//! operand, and each of their sizes divides the operand's: a scale counts for the block of elements whose indices divide
//! to its own. A scalar, or an array of one scale, counts for all. `bf16` ones in such an array are how frontends write
//! that an operand has no scales.
//!
//! **How exactly.** An element times its scale is exact, unless both have more than 26 digits: then it is rounded to
//! `f64`. Products and sums keep their rounding errors, and the sum is rounded once. NaN among the scales makes its whole
//! block NaN.
//!
//! **Attributes** are those of `dot`, with one contracting dimension. Algorithms that round their operands cannot be
//! run: no specification says whether an element is rounded before or after it is scaled.
//!
//! **Differences.** XLA:CPU refuses the op.
use super::contraction::{Numbers, Plan, Recipe, Rounding};
use super::dot::Offsets;
use crate::index::{indices, strides, to_usize};
use crate::{Error, Result};
use hlo::op::ScaledDot;
use hlo::{ArrayShape, Literal};

pub(super) fn scaled_dot(
    op: &ScaledDot,
    operands: &[&Literal],
    shape: &ArrayShape,
) -> Result<Literal> {
    let recipe = Recipe::of(op.algorithm);
    if recipe.rounds_operands() {
        let word = op.algorithm.name();
        let message = format!(
            "`{word}` does not say whether scaled operands are rounded before or after scaling"
        );
        return Err(Error::unsupported(message));
    }
    let array = |i: usize| operands[i].array_shape().expect("verified: an array");
    let l = Offsets::of(array(0), &op.lhs_batch_dims, &op.lhs_contracting_dims);
    let r = Offsets::of(array(1), &op.rhs_batch_dims, &op.rhs_contracting_dims);
    let plan = Plan {
        rows: l.free.len(),
        lhs: &|batch, row, places| l.row(batch, row, places),
        has_padding: false,
        rhs_batches: &r.batch,
        rhs_columns: &r.free,
        rhs_terms: &r.contracting,
    };
    let (lhs, rhs) = (scaled(operands[0], operands[2]), scaled(operands[1], operands[3]));
    let numbers = (Numbers::Double(lhs.into()), Numbers::Double(rhs.into()));
    let rounding = Rounding::new(array(0).ty, array(1).ty, None, shape.ty);
    Ok(recipe.contract_numbers(&plan, numbers, rounding, shape))
}

/// Each element times the scale of its block.
fn scaled(operand: &Literal, scales: &Literal) -> Vec<f64> {
    let shape = operand.array_shape().expect("verified: an array");
    let blocks = scales.array_shape().expect("verified: an array");
    let (elements, scales) = (Numbers::of(operand).doubles(), Numbers::of(scales).doubles());
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
    products
}
