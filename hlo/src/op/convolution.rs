//! `convolution`: sums products over a sliding window.
use super::dot::{algorithm_types, result_type};
use super::value::{
    ConvDims, ConvSparsity, ConvolutionKind, DotAlgorithm, OperandPrecision, OperandSparsity,
    Window,
};
use super::{Infer, ShapeRule, check, windows};
use crate::diag::Place;
use crate::{ArrayShape, Class, Dims, ElementType, Error, Result, Shape};

attrs! {
    /// Sums products of a sliding window of the left operand with the right operand, the kernel.
    pub struct Convolution {
        /// The window over the spatial dimensions.
        pub window: Window = "window" in window or Window::default();
        /// The role of each dimension.
        pub dim_labels: ConvDims = "dim_labels" in convolution_dimension_numbers;
        /// The number of feature groups.
        pub feature_group_count: i64 = "feature_group_count" in feature_group_count or 1;
        /// The number of batch groups.
        pub batch_group_count: i64 = "batch_group_count" in batch_group_count or 1;
        /// Whether it is the forward convolution or one of its gradients.
        pub convolution_kind: ConvolutionKind = "convolution_kind" in conv_kind or ConvolutionKind::Unset;
        /// The precision of each operand.
        pub operand_precision: OperandPrecision = "operand_precision" in precision_config.operand_precision or OperandPrecision::default();
        /// The precision of products and sums.
        pub algorithm: DotAlgorithm = "algorithm" in precision_config.algorithm or DotAlgorithm::Unset;
        /// Which operands are structured-sparse.
        pub sparsity_config: Option<ConvSparsity> = "sparsity_config" in sparsity_config or None;
    }
}

fn on(attribute: &'static str) -> impl Fn(Error) -> Error {
    move |e| e.on(Place::Attribute(attribute))
}

impl Convolution {
    /// Returns the window of an ordinary convolution that computes this one.
    ///
    /// For `dgrad` the stated window is that of the convolution whose input gradient is computed:
    /// its stride becomes a dilation of the operand, the kernel is reversed, and padding is not
    /// computed. Any other kind is already ordinary.
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

    /// Checks that the labels fit operands of this rank.
    fn labels(&self, lhs: &ArrayShape, rhs: &ArrayShape) -> Result<()> {
        let labels = &self.dim_labels;
        let rank = labels.lhs_spatial.len() + 2;
        for (shape, i) in [(lhs, 0), (rhs, 1)] {
            check(shape.rank() == rank, "convolution_c1", || {
                format!("the labels are for rank {rank}, operand {i} is {shape:#}")
            })
            .map_err(on("dim_labels"))?;
        }
        let sets = [
            (labels.lhs_batch, labels.lhs_feature, &labels.lhs_spatial, "convolution_c13"),
            (
                labels.rhs_input_feature,
                labels.rhs_output_feature,
                &labels.rhs_spatial,
                "convolution_c18",
            ),
            (labels.out_batch, labels.out_feature, &labels.out_spatial, "convolution_c20"),
        ];
        for (first, second, spatial, rule) in sets {
            let mut dims = vec![first, second];
            dims.extend(spatial.iter().copied());
            super::rules::unique_in_range(&dims, rank, rule, "dim_labels")?;
        }
        Ok(())
    }

    /// Checks that features and batch can be divided into their groups.
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
            format!("batch_group_count={batches} does not divide {batch}, the batch size")
        })
        .map_err(on("batch_group_count"))?;
        check(feature % features == 0, "convolution_c11", || {
            format!(
                "feature_group_count={features} does not divide {feature}, the number of features"
            )
        })
        .map_err(on("feature_group_count"))?;
        check(feature / features == input, "convolution_c14", || {
            let each = feature / features;
            format!("the kernel has input feature size {input:#}, expected {each:#}, the features of a group")
        })
        .map_err(on("dim_labels"))?;
        check(output % batches == 0, "convolution_c15", || {
            format!("batch_group_count={batches} does not divide {output:#}, the number of output features")
        })
        .map_err(on("batch_group_count"))?;
        check(output % features == 0, "convolution_c16", || {
            format!("feature_group_count={features} does not divide {output:#}, the number of output features")
        })
        .map_err(on("feature_group_count"))
    }

    /// Checks that the window has the kernel's sizes and positive strides.
    fn window(&self, rhs: &ArrayShape) -> Result<()> {
        let (found, expected) = (self.window.dims.len(), self.dim_labels.rhs_spatial.len());
        check(found == expected, "convolution_c2", || {
            format!("the window has {found:#} dimensions, the labels {expected:#} spatial ones")
        })
        .map_err(on("window"))?;
        for (dim, &spatial) in self.window.dims.iter().zip(&self.dim_labels.rhs_spatial) {
            let positive = [
                ("stride", dim.stride, "convolution_c3"),
                ("lhs_dilate", dim.lhs_dilation, "convolution_c6"),
                ("rhs_dilate", dim.rhs_dilation, "convolution_c8"),
            ];
            for (name, value, rule) in positive {
                check(value > 0, rule, || {
                    format!("{name} {value:#} of the window is not positive")
                })
                .map_err(on("window"))?;
            }
            check(rhs.dim(spatial) == Some(dim.size), "convolution_window", || {
                format!("the window has size {}, the kernel {rhs:#}", dim.size)
            })
            .map_err(on("window"))?;
        }
        Ok(())
    }

    /// Returns the shape of operand `i` with the elements its sparsity omits.
    fn dense(&self, cx: &Infer<'_>, i: usize) -> Result<ArrayShape> {
        let mut shape = cx.array(i)?.clone();
        let config = self.sparsity_config.as_ref();
        let Some(sparsity) = config.and_then(|c| if i == 0 { c.lhs } else { c.rhs }) else {
            return Ok(shape);
        };
        let OperandSparsity { kept, block, dimension, stride, idx } = sparsity;
        check(
            kept == 1 && block > 0 && stride.is_none_or(|s| s == 1),
            "convolution_sparsity",
            || format!("sparsity {kept}x{block} is not supported: expected 1 value of each contiguous block"),
        )
        .map_err(on("sparsity_config"))?;
        let slot = dimension.and_then(|d| shape.dims.get_mut(usize::try_from(d).ok()?));
        let size = slot.and_then(|size| {
            *size = size.checked_mul(block)?;
            Some(())
        });
        check(size.is_some(), "convolution_sparse_dimension", || {
            format!("operand {i} does not have the sparse dimension")
        })
        .map_err(on("sparsity_config"))?;
        let stored = cx.array(i)?;
        let place = idx.and_then(|idx| usize::try_from(idx).ok());
        let index = place.filter(|&p| (2..cx.operands.len()).contains(&p));
        let index = index.map(|p| cx.array(p)).transpose()?;
        let fits = index.is_some_and(|x| x.ty.is_integral() && x.dims == stored.dims);
        check(fits, "convolution_sparse_index", || {
            format!("no integer operand holds the indices of {stored:#}")
        })
        .map_err(on("sparsity_config"))?;
        Ok(shape)
    }

    /// Returns the number of window positions in each spatial dimension.
    fn positions(&self, bases: &[i64]) -> Result<Dims> {
        windows::positions(&self.forward_window(), bases, "convolution_c2")
    }

    /// Checks that one operand's type represents every value of the other's, and that the algorithm
    /// accepts both.
    fn types(&self, cx: &Infer<'_>, lhs: ElementType, rhs: ElementType) -> Result<()> {
        check(holds_all(lhs, rhs) || holds_all(rhs, lhs), "convolution_c27", || {
            format!("neither {lhs:#} nor {rhs:#} can represent all values of the other")
        })
        .map_err(|e| e.on(Place::Operand(1)).with_help("convert one of the operands"))?;
        algorithm_types(cx, self.algorithm)
    }
}

/// Returns whether `to` represents every value of `from`.
fn holds_all(from: ElementType, to: ElementType) -> bool {
    let digits = |ty: ElementType| ty.bits() - u32::from(ty.class() == Class::Signed);
    if from == to || from == ElementType::Pred {
        return true;
    }
    match (from.class(), to.class()) {
        (Class::Signed | Class::Unsigned, Class::Signed) | (Class::Unsigned, Class::Unsigned) => {
            digits(from) <= digits(to)
        }
        (Class::Signed | Class::Unsigned, Class::Float) => {
            // The leading digit of a float is not stored. Only in tiny floats is the range smaller
            // than the digits.
            to.float_format().is_some_and(|f| digits(from) <= f.mantissa_bits + 1 && to.bits() > 8)
        }
        (Class::Float, Class::Float) => to.bits() > from.bits() && float_holds_all(from, to),
        (Class::Float, Class::Complex) => holds_all(from, to.component()),
        (Class::Complex, Class::Complex) => holds_all(from.component(), to.component()),
        (Class::Signed, Class::Unsigned | Class::Pred | Class::Complex)
        | (Class::Unsigned, Class::Pred | Class::Complex)
        | (Class::Float, Class::Pred | Class::Signed | Class::Unsigned)
        | (Class::Complex, Class::Pred | Class::Signed | Class::Unsigned | Class::Float)
        | (Class::Pred, _) => false,
    }
}

/// Returns whether a float type has the digits and the range of another, at both ends.
fn float_holds_all(from: ElementType, to: ElementType) -> bool {
    let (Some(f), Some(t)) = (from.float_format(), to.float_format()) else { return false };
    let least = |f: crate::elem::FloatFormat| i64::from(f.bias) + i64::from(f.mantissa_bits);
    f.mantissa_bits <= t.mantissa_bits && f.max_finite() <= t.max_finite() && least(f) <= least(t)
}

impl ShapeRule for Convolution {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let config = self.sparsity_config.as_ref();
        let sparse =
            config.map_or(0, |c| usize::from(c.lhs.is_some()) + usize::from(c.rhs.is_some()));
        let expected =
            if sparse == 0 { "2 operands" } else { "2 operands and one for each sparse one" };
        cx.arity(cx.operands.len() == 2 + sparse, expected)?;
        let (lhs, rhs) = (&self.dense(cx, 0)?, &self.dense(cx, 1)?);
        self.labels(lhs, rhs)?;
        self.groups(lhs, rhs)?;
        self.window(rhs)?;
        self.types(cx, lhs.ty, rhs.ty)?;
        let precisions = self.operand_precision.0.len();
        check(matches!(precisions, 0 | 2), "convolution_c24", || {
            format!("expected one precision for each of 2 operands, found {precisions}")
        })
        .map_err(on("operand_precision"))?;
        let labels = &self.dim_labels;
        let bases: Dims = labels.lhs_spatial.iter().filter_map(|&d| lhs.dim(d)).collect();
        let positions = self.positions(&bases)?;
        let mut dims = Dims::from_elem(0, lhs.rank());
        let mut dynamic = vec![false; lhs.rank()];
        let flag =
            |shape: &ArrayShape, d: i64| usize::try_from(d).is_ok_and(|d| shape.is_dynamic(d));
        let mut set = |dim: i64, size: i64, is_dynamic: bool| {
            if let Some(d) = usize::try_from(dim).ok().filter(|&d| d < dims.len()) {
                (dims[d], dynamic[d]) = (size, is_dynamic);
            }
        };
        let batch = lhs.dim(labels.lhs_batch).unwrap_or(0) / self.batch_group_count;
        set(labels.out_batch, batch, flag(lhs, labels.lhs_batch));
        set(labels.out_feature, rhs.dim(labels.rhs_output_feature).unwrap_or(0), false);
        for (i, (&dim, &size)) in labels.out_spatial.iter().zip(&positions).enumerate() {
            set(dim, size, flag(lhs, labels.lhs_spatial[i]) || flag(rhs, labels.rhs_spatial[i]));
        }
        let mut result = ArrayShape::new(result_type(cx, lhs.ty, rhs.ty), dims);
        result.dynamic = dynamic.contains(&true).then(|| dynamic.into());
        Ok(result.into())
    }
}
