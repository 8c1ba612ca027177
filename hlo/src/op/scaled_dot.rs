//! `scaled-dot`: a dot whose operands are scaled in blocks.
use super::dot::{algorithm_types, dot_attrs, result_type};
use super::value::{DotAlgorithm, OperandPrecision};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ElementType, Result, Shape};

dot_attrs! {
    /// A dot whose operands are scaled in blocks. Operands: left, right, scales of the left, scales
    /// of the right.
    ///
    /// An array of scales has the rank of its operand; each of its sizes divides the operand's, and
    /// each scale applies to a block of elements. A scalar of `bf16` scales all elements of a
    /// `bf16` operand.
    ScaledDot in dot_dimension_numbers {} {
        /// The precision of products and sums.
        pub algorithm: DotAlgorithm = "algorithm" in precision_config.algorithm or DotAlgorithm::Unset;
    }
}

impl ShapeRule for ScaledDot {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
        let pairing = self.pairing();
        pairing.check(lhs, rhs)?;
        algorithm_types(cx, self.algorithm)?;
        let contracting = self.lhs_contracting_dims.len();
        check(contracting == 1, "scaled_dot_contracting", || {
            format!("expected one contracting dimension, found {contracting}")
        })
        .map_err(|e| e.on(Place::Attribute("lhs_contracting_dims")))?;
        for i in [0, 1] {
            let (operand, scales) = (cx.array(i)?, cx.array(i + 2)?);
            for (place, shape) in [(i, operand), (i + 2, scales)] {
                check(shape.ty.is_float(), "scaled_dot_types", || {
                    format!(
                        "expected real floats as operands and scales, operand {place} is {}",
                        shape.ty
                    )
                })
                .map_err(|e| e.on(Place::Operand(place)))?;
            }
            let is_scalar = scales.rank() == 0 && [operand.ty, scales.ty] == [ElementType::Bf16; 2];
            check(is_scalar || scales.rank() == operand.rank(), "scaled_dot_rank", || {
                format!(
                    "expected scales of the rank of {operand:#}, found {scales:#}; only `bf16` has scalar scales"
                )
            })
            .map_err(|e| e.on(Place::Operand(i + 2)))?;
            let divides = |(&size, &blocks): (&i64, &i64)| blocks > 0 && size % blocks == 0;
            check(operand.dims.iter().zip(&scales.dims).all(divides), "scaled_dot_blocks", || {
                format!("{operand:#} cannot be divided into blocks for the scales {scales:#}")
            })
            .map_err(|e| e.on(Place::Operand(i + 2)))?;
        }
        let scalars = cx.array(2)?.rank() == 0 && cx.array(3)?.rank() == 0 && lhs.rank() > 0;
        check(!scalars, "scaled_dot_scalars", || {
            "at most one of the two scales can be a scalar".to_owned()
        })
        .map_err(|e| e.on(Place::Operand(3)))?;
        Ok(pairing.result(result_type(cx, lhs.ty, rhs.ty), lhs, rhs, &[]).into())
    }
}
