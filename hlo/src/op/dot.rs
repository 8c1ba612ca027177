//! `dot`, `ragged-dot`, `scaled-dot`: sums products over dimensions.
use super::rules::{dims_of, without};
use super::value::{DotAlgorithm, OperandPrecision};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::{ArrayShape, Dims, ElementType, Result, Shape};

attrs! {
    /// Sums products over the contracting dimensions.
    ///
    /// The result has the batch dimensions, then what is left of the left operand, then of the right one. Its stated
    /// element type is the type the sums are rounded to.
    pub struct Dot {
        /// Left dimensions shared with the right operand and kept.
        pub lhs_batch_dims: Vec<i64> = "lhs_batch_dims" or Vec::<i64>::new();
        /// Left dimensions summed over.
        pub lhs_contracting_dims: Vec<i64> = "lhs_contracting_dims", always Vec::new();
        /// Right dimensions paired with `lhs_batch_dims`.
        pub rhs_batch_dims: Vec<i64> = "rhs_batch_dims" or Vec::<i64>::new();
        /// Right dimensions paired with `lhs_contracting_dims`.
        pub rhs_contracting_dims: Vec<i64> = "rhs_contracting_dims", always Vec::new();
        /// How exactly each operand is to be read.
        pub operand_precision: OperandPrecision = "operand_precision" or OperandPrecision::default();
        /// How products are formed and added.
        pub algorithm: DotAlgorithm = "algorithm" or DotAlgorithm::Unset;
    }
}
attrs! {
    /// A dot whose groups have sizes of their own.
    pub struct RaggedDot {
        /// Left dimensions shared with the right operand and kept.
        pub lhs_batch_dims: Vec<i64> = "lhs_batch_dims" or Vec::<i64>::new();
        /// Left dimensions summed over.
        pub lhs_contracting_dims: Vec<i64> = "lhs_contracting_dims", always Vec::new();
        /// Right dimensions paired with `lhs_batch_dims`.
        pub rhs_batch_dims: Vec<i64> = "rhs_batch_dims" or Vec::<i64>::new();
        /// Right dimensions paired with `lhs_contracting_dims`.
        pub rhs_contracting_dims: Vec<i64> = "rhs_contracting_dims", always Vec::new();
        /// The left dimension that is divided into groups.
        pub lhs_ragged_dims: Vec<i64> = "lhs_ragged_dims" or Vec::<i64>::new();
        /// The right dimension that holds one slice a group.
        pub rhs_group_dims: Vec<i64> = "rhs_group_dims" or Vec::<i64>::new();
        /// How exactly each operand is to be read.
        pub operand_precision: OperandPrecision = "operand_precision" or OperandPrecision::default();
    }
}
attrs! {
    /// A dot whose operands are scaled block by block.
    pub struct ScaledDot {
        /// Left dimensions shared with the right operand and kept.
        pub lhs_batch_dims: Vec<i64> = "lhs_batch_dims" or Vec::<i64>::new();
        /// Left dimensions summed over.
        pub lhs_contracting_dims: Vec<i64> = "lhs_contracting_dims", always Vec::new();
        /// Right dimensions paired with `lhs_batch_dims`.
        pub rhs_batch_dims: Vec<i64> = "rhs_batch_dims" or Vec::<i64>::new();
        /// Right dimensions paired with `lhs_contracting_dims`.
        pub rhs_contracting_dims: Vec<i64> = "rhs_contracting_dims", always Vec::new();
        /// How exactly each operand is to be read.
        pub operand_precision: OperandPrecision = "operand_precision" or OperandPrecision::default();
        /// How products are formed and added.
        pub algorithm: DotAlgorithm = "algorithm" or DotAlgorithm::Unset;
    }
}

/// Which dimensions of the two operands belong together.
struct Pairing<'a> {
    lhs_batch: &'a [i64],
    lhs_contracting: &'a [i64],
    rhs_batch: &'a [i64],
    rhs_contracting: &'a [i64],
}

impl Pairing<'_> {
    /// Sizes of the result: batch, left, right.
    fn dims(&self, lhs: &ArrayShape, rhs: &ArrayShape) -> Result<Dims> {
        let pairs = [
            (self.lhs_batch, self.rhs_batch, "dot_general_c1", "dot_general_c9", "lhs_batch_dims"),
            (
                self.lhs_contracting,
                self.rhs_contracting,
                "dot_general_c2",
                "dot_general_c10",
                "lhs_contracting_dims",
            ),
        ];
        let left = [self.lhs_batch, self.lhs_contracting].concat();
        let right = [self.rhs_batch, self.rhs_contracting].concat();
        dims_of(&left, lhs, "dot_general_c3", "lhs_contracting_dims")?;
        dims_of(&right, rhs, "dot_general_c4", "rhs_contracting_dims")?;
        for (l, r, number, size, attribute) in pairs {
            check(l.len() == r.len(), number, || {
                format!(
                    "{} dimensions of the left operand are paired with {} of the right",
                    l.len(),
                    r.len()
                )
            })
            .map_err(|e| e.on(Place::Attribute(attribute)))?;
            for (&l, &r) in l.iter().zip(r) {
                check(lhs.dim(l) == rhs.dim(r), size, || {
                    format!("dimension {l} of {lhs} and dimension {r} of {rhs} differ in size")
                })
                .map_err(|e| e.on(Place::Attribute(attribute)))?;
            }
        }
        let mut dims: Dims = self.lhs_batch.iter().filter_map(|&d| lhs.dim(d)).collect();
        dims.extend(without(lhs, &left));
        dims.extend(without(rhs, &right));
        Ok(dims)
    }
}

/// The type sums are rounded to: what is stated, or the wider of the operands' types.
fn result_type(cx: &Infer<'_>, lhs: ElementType, rhs: ElementType) -> ElementType {
    let stated = cx.stated.and_then(Shape::element_type);
    let wider =
        if (rhs.is_complex(), rhs.bits()) > (lhs.is_complex(), lhs.bits()) { rhs } else { lhs };
    stated.unwrap_or(wider)
}

impl ShapeRule for Dot {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
        let pairing = Pairing {
            lhs_batch: &self.lhs_batch_dims,
            lhs_contracting: &self.lhs_contracting_dims,
            rhs_batch: &self.rhs_batch_dims,
            rhs_contracting: &self.rhs_contracting_dims,
        };
        let dims = pairing.dims(lhs, rhs)?;
        Ok(ArrayShape::new(result_type(cx, lhs.ty, rhs.ty), dims).into())
    }
}
impl ShapeRule for RaggedDot {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
impl ShapeRule for ScaledDot {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
        let pairing = Pairing {
            lhs_batch: &self.lhs_batch_dims,
            lhs_contracting: &self.lhs_contracting_dims,
            rhs_batch: &self.rhs_batch_dims,
            rhs_contracting: &self.rhs_contracting_dims,
        };
        let dims = pairing.dims(lhs, rhs)?;
        Ok(ArrayShape::new(result_type(cx, lhs.ty, rhs.ty), dims).into())
    }
}
