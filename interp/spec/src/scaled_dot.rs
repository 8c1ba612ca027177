//! `scaled-dot`: a `dot` of operands that have a scale for each block of elements
//!
//! `result[b.., l.., r..] = sum over k of (lhs[b.., l.., k] * lhs_scale[..]) * (rhs[b.., r.., k] *
//! rhs_scale[..])`
//!
//! - Scales have the rank of their operand, and each of their sizes divides the operand's: the
//!   scale of an element is that of its block: the one at its index divided by the block sizes. A
//!   scalar is the scale of all elements. Frontends write a `bf16` array of ones for an operand
//!   without scales.
//! - An element times its scale is exact, unless both have more than 26 digits: then it is rounded
//!   to `f64`.
//! - Algorithms that round their operands are unsupported: the order of rounding and scaling is not
//!   specified.
//!
//! Dimensions, sums and types are those of [`dot`](super::dot). XLA:CPU rejects the op.
//!
//! Source: XLA operation semantics, `ScaledDot`.
use super::dot::{Side, parts};
use super::products::Products;
use super::{Operand, build};
use hlo::op::ScaledDot;
use hlo::{ArrayShape, Dims, ElementType, Literal, Scalar};
use num::{Error, Result};

pub(super) fn scaled_dot(
    op: &ScaledDot,
    [lhs, rhs, lhs_scale, rhs_scale]: [&Operand<'_>; 4],
    shape: &ArrayShape,
) -> Result<Literal> {
    let ScaledDot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision: _, // Permits backends to round the operands. They are never rounded here.
        algorithm,
    } = op;
    // A scaled element is an f64.
    let products = Products::new(ElementType::F64, ElementType::F64, *algorithm, shape.ty);
    if products.rounds_operands() {
        let word = algorithm.name();
        let message = format!(
            "`{word}` does not say whether scaled operands are rounded before or after scaling"
        );
        return Err(Error::unsupported(message));
    }
    let left = Side::new(lhs, lhs_batch_dims, lhs_contracting_dims, &[]);
    let right = Side::new(rhs, rhs_batch_dims, rhs_contracting_dims, &[]);
    Ok(build(shape, |index| {
        let (batch, l, r) = parts(index, &left);
        products.sum(left.terms().map(|k| {
            let (l, r) = (left.index(batch, l, &k), right.index(batch, r, &k));
            (scaled(lhs, lhs_scale, &l), scaled(rhs, rhs_scale, &r))
        }))
    }))
}

/// Returns an element times the scale of its block.
fn scaled(operand: &Operand<'_>, scales: &Operand<'_>, index: &[i64]) -> Scalar {
    let sizes = operand.shape.dims.iter().zip(&scales.shape.dims);
    let block: Dims =
        index.iter().zip(sizes).map(|(i, (size, blocks))| i / (size / blocks)).collect();
    Scalar::Float(operand.at(index).as_f64() * scales.at(&block).as_f64())
}
