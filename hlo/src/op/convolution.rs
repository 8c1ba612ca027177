//! `convolution`: sums products over a moving window.
use super::value::{
    ConvDims, ConvSparsity, ConvolutionKind, DotAlgorithm, OperandPrecision, Window,
};
use super::{Infer, ShapeRule, check, windows};
use crate::diag::Place;
use crate::{ArrayShape, Dims, Error, Result, Shape};

attrs! {
    /// Sums products of a moving window of the left operand with the right operand, the kernel.
    pub struct Convolution {
        /// The window over the spatial dimensions.
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
        pub sparsity_config: Option<ConvSparsity> = "sparsity_config" or None;
    }
}

fn on(attribute: &'static str) -> impl Fn(Error) -> Error {
    move |e| e.on(Place::Attribute(attribute))
}

impl Convolution {
    /// The window of an ordinary convolution that computes this one.
    ///
    /// Of `dgrad` the stated window is that of the convolution whose input's gradient is asked for: its stride becomes
    /// holes between the elements, the kernel is turned around, and what was padding is not computed. Any other kind
    /// is what it stands for.
    pub fn forward_window(&self) -> Window {
        let mut window = self.window.clone();
        if self.convolution_kind == ConvolutionKind::Dgrad {
            for dim in &mut window.dims {
                let reach = dim.rhs_dilation.saturating_mul((dim.size - 1).max(0));
                dim.lhs_dilation = dim.lhs_dilation.saturating_mul(dim.stride);
                dim.stride = 1;
                dim.pad_low = reach.saturating_sub(dim.pad_low);
                dim.pad_high = reach.saturating_sub(dim.pad_high);
                dim.reversal = !dim.reversal;
            }
        }
        window
    }

    /// The labels fit operands of this rank.
    fn labels(&self, lhs: &ArrayShape, rhs: &ArrayShape) -> Result<()> {
        let labels = &self.dim_labels;
        let rank = labels.lhs_spatial.len() + 2;
        for (shape, i) in [(lhs, 0), (rhs, 1)] {
            check(shape.rank() == rank, "convolution_c1", || {
                format!("the labels are for rank {rank}, operand {i} is {shape}")
            })
            .map_err(on("dim_labels"))?;
        }
        let sets = [
            (labels.lhs_batch, labels.lhs_feature, &labels.lhs_spatial),
            (labels.rhs_input_feature, labels.rhs_output_feature, &labels.rhs_spatial),
            (labels.out_batch, labels.out_feature, &labels.out_spatial),
        ];
        for (first, second, spatial) in sets {
            let mut dims = vec![first, second];
            dims.extend(spatial.iter().copied());
            super::rules::unique_in_range(&dims, rank, "convolution_c13", "dim_labels")?;
        }
        Ok(())
    }

    /// Features and batch divide into their groups.
    fn groups(&self, lhs: &ArrayShape, rhs: &ArrayShape) -> Result<()> {
        let (features, batches) = (self.feature_group_count, self.batch_group_count);
        check(features > 0, "convolution_c21", || format!("feature_group_count is {features}"))
            .map_err(on("feature_group_count"))?;
        check(batches > 0, "convolution_c22", || format!("batch_group_count is {batches}"))
            .map_err(on("batch_group_count"))?;
        check(features == 1 || batches == 1, "convolution_c23", || {
            "features and batch cannot both be grouped".to_owned()
        })
        .map_err(on("batch_group_count"))?;
        let labels = &self.dim_labels;
        let size = |shape: &ArrayShape, dim: i64| shape.dim(dim).unwrap_or(0);
        let (batch, feature) = (size(lhs, labels.lhs_batch), size(lhs, labels.lhs_feature));
        let (input, output) =
            (size(rhs, labels.rhs_input_feature), size(rhs, labels.rhs_output_feature));
        check(batch % batches == 0, "convolution_c10", || {
            format!("a batch of {batch} does not divide into {batches} groups")
        })
        .map_err(on("batch_group_count"))?;
        check(feature % features == 0 && feature / features == input, "convolution_c14", || {
            format!("{feature} features in {features} groups do not fit a kernel of {input} input features")
        })
        .map_err(on("dim_labels"))?;
        check(output % batches == 0, "convolution_c15", || {
            format!("{output} output features do not divide into {batches} batch groups")
        })
        .map_err(on("batch_group_count"))?;
        check(output % features == 0, "convolution_c16", || {
            format!("{output} output features do not divide into {features} groups")
        })
        .map_err(on("feature_group_count"))
    }
}

impl ShapeRule for Convolution {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.arity(cx.operands.len() >= 2, "2 operands")?;
        let (lhs, rhs) = (cx.array(0)?, cx.array(1)?);
        let plain =
            matches!(self.convolution_kind, ConvolutionKind::Unset | ConvolutionKind::Fprop);
        if !plain || cx.operands.len() > 2 || self.sparsity_config.is_some() {
            // Shapes of gradients and sparse operands follow other rules.
            return cx.stated().cloned();
        }
        self.labels(lhs, rhs)?;
        self.groups(lhs, rhs)?;
        let labels = &self.dim_labels;
        for (dim, &spatial) in self.window.dims.iter().zip(&labels.rhs_spatial) {
            check(rhs.dim(spatial) == Some(dim.size), "convolution_window", || {
                format!("the window has size {}, the kernel {rhs}", dim.size)
            })
            .map_err(on("window"))?;
        }
        let bases: Dims = labels.lhs_spatial.iter().filter_map(|&d| lhs.dim(d)).collect();
        let places = windows::places(&self.window, &bases, "convolution_c2")?;
        let mut dims = Dims::from_elem(0, lhs.rank());
        let mut set = |dim: i64, size: i64| {
            if let Some(slot) = usize::try_from(dim).ok().and_then(|d| dims.get_mut(d)) {
                *slot = size;
            }
        };
        set(labels.out_batch, lhs.dim(labels.lhs_batch).unwrap_or(0) / self.batch_group_count);
        set(labels.out_feature, rhs.dim(labels.rhs_output_feature).unwrap_or(0));
        for (&dim, &size) in labels.out_spatial.iter().zip(&places) {
            set(dim, size);
        }
        let ty = cx.stated.and_then(Shape::element_type).unwrap_or(lhs.ty);
        Ok(ArrayShape::new(ty, dims).into())
    }
}
