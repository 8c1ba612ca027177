//! `convolution`: sums products over a moving window.
use super::value::{ConvDims, ConvolutionKind, DotAlgorithm, OperandPrecision, SparsityConfig, Window};
use super::{Infer, ShapeRule};
use crate::{Result, Shape};

attrs! {
    /// Sums products of a window of the left operand with the right one.
    pub struct Convolution {
        /// The window over the operand.
        pub window: Window = "window" or Window::default();
        /// What each dimension is for.
        pub dim_labels: ConvDims = "dim_labels";
        /// Groups of features that do not mix.
        pub feature_group_count: i64 = "feature_group_count" or 1;
        /// Groups of the batch that become features.
        pub batch_group_count: i64 = "batch_group_count" or 1;
        /// Which of the gradients' shapes it has.
        pub convolution_kind: ConvolutionKind = "convolution_kind" or ConvolutionKind::Unset;
        /// How exactly each operand is to be read.
        pub operand_precision: OperandPrecision = "operand_precision" or OperandPrecision::default();
        /// How products are formed and added.
        pub algorithm: DotAlgorithm = "algorithm" or DotAlgorithm::Unset;
        /// Which operand leaves out zeros.
        pub sparsity_config: Option<SparsityConfig> = "sparsity_config" or None;
    }
}

impl ShapeRule for Convolution {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
