//! `dot`, `ragged-dot`, `scaled-dot`: sums products over dimensions.
use super::value::{DotAlgorithm, Ignored, OperandPrecision};
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Sums products over the contracting dimensions.
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
        /// Of texts of 2024; refused at run time.
        pub sparsity: Ignored = "sparsity" or Ignored;
    }
}

impl ShapeRule for Dot {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
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

impl ShapeRule for RaggedDot {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
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

impl ShapeRule for ScaledDot {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
