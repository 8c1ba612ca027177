//! `convolution`: sums products of a window of the left operand with the kernel
use super::build;
use super::wide::{Products, Wide};
use crate::index::{strides, to_i64, to_usize};
use crate::{Error, Result};
use hlo::op::Convolution;
use hlo::op::value::{ConvolutionKind, WindowDim};
use hlo::{ArrayShape, Literal};

/// What one place of the result needs to know; the names are those of the dimension labels.
struct Setting<'a> {
    op: &'a Convolution,
    lhs: &'a ArrayShape,
    lhs_strides: Vec<usize>,
    rhs_strides: Vec<usize>,
    /// For each spatial place of the kernel its index.
    kernel: Vec<Vec<i64>>,
    /// Input features of the kernel.
    inputs: usize,
    /// Output features in a feature group, and in a batch group.
    group_outputs: i64,
    batch_outputs: i64,
    /// Size of the result's batch.
    batch: i64,
}

pub(super) fn convolution(
    op: &Convolution,
    operands: &[&Literal],
    shape: &ArrayShape,
) -> Result<Literal> {
    let plain = matches!(op.convolution_kind, ConvolutionKind::Unset | ConvolutionKind::Fprop);
    if !plain || operands.len() != 2 || op.sparsity_config.is_some() {
        return Err(Error::unsupported(
            "gradient kinds and sparse operands of `convolution` cannot be run yet",
        ));
    }
    let (lhs, rhs) = (
        operands[0].array_shape().expect("verified"),
        operands[1].array_shape().expect("verified"),
    );
    let labels = &op.dim_labels;
    let outputs = rhs.dims[to_usize(labels.rhs_output_feature)];
    let mut kernel = Vec::new();
    let sizes: Vec<i64> = labels.rhs_spatial.iter().map(|&d| rhs.dims[to_usize(d)]).collect();
    crate::index::indices(&sizes, |index| kernel.push(index.to_vec()));
    let usizes = |dims: &[i64]| strides(dims).iter().map(|&s| to_usize(s)).collect();
    let setting = Setting {
        op,
        lhs,
        lhs_strides: usizes(&lhs.dims),
        rhs_strides: usizes(&rhs.dims),
        kernel,
        inputs: to_usize(rhs.dims[to_usize(labels.rhs_input_feature)]),
        group_outputs: (outputs / op.feature_group_count).max(1),
        batch_outputs: (outputs / op.batch_group_count).max(1),
        batch: shape.dims[to_usize(labels.out_batch)],
    };
    let products = Products::new(Wide::of(operands[0]), Wide::of(operands[1]));
    let steps = strides(&shape.dims);
    let mut index = vec![0; shape.rank()];
    let mut terms = Vec::new();
    Ok(build(shape, |at| {
        let mut rest = to_i64(at);
        for (slot, &step) in index.iter_mut().zip(&steps) {
            *slot = rest / step;
            rest %= step;
        }
        terms.clear();
        setting.terms(&index, &mut terms);
        products.sum(terms.iter().copied(), shape.ty)
    }))
}

impl Setting<'_> {
    /// Offsets of the pairs that are multiplied for the result at `index`.
    fn terms(&self, index: &[i64], terms: &mut Vec<(usize, usize)>) {
        let labels = &self.op.dim_labels;
        let feature = index[to_usize(labels.out_feature)];
        let group = feature / self.group_outputs;
        let batch_group = feature / self.batch_outputs;
        let batch = index[to_usize(labels.out_batch)] + batch_group * self.batch;
        let lhs_step = |dim: i64| self.lhs_strides[to_usize(dim)];
        let rhs_step = |dim: i64| self.rhs_strides[to_usize(dim)];
        let lhs_base = to_usize(batch) * lhs_step(labels.lhs_batch)
            + to_usize(group) * self.inputs * lhs_step(labels.lhs_feature);
        let rhs_base = to_usize(feature) * rhs_step(labels.rhs_output_feature);
        let (lhs_feature, rhs_feature) =
            (lhs_step(labels.lhs_feature), rhs_step(labels.rhs_input_feature));
        'places: for place in &self.kernel {
            let (mut from_lhs, mut from_rhs) = (lhs_base, rhs_base);
            for (d, &k) in place.iter().enumerate() {
                let window = &self.op.window.dims[d];
                let lhs_dim = labels.lhs_spatial[d];
                let out = index[to_usize(labels.out_spatial[d])];
                let Some(at) = source(window, out, k, self.lhs.dims[to_usize(lhs_dim)]) else {
                    continue 'places;
                };
                let k = if window.reversal { window.size - 1 - k } else { k };
                from_lhs += to_usize(at) * lhs_step(lhs_dim);
                from_rhs += to_usize(k) * rhs_step(labels.rhs_spatial[d]);
            }
            let features =
                (0..self.inputs).map(|i| (from_lhs + i * lhs_feature, from_rhs + i * rhs_feature));
            terms.extend(features);
        }
    }
}

/// The element under place `k` of a window at `out`: none in padding and in holes.
pub(super) fn source(window: &WindowDim, out: i64, k: i64, size: i64) -> Option<i64> {
    let at = i128::from(out) * i128::from(window.stride)
        + i128::from(k) * i128::from(window.rhs_dilation)
        - i128::from(window.pad_low);
    let dilation = i128::from(window.lhs_dilation);
    if at < 0 || at % dilation != 0 {
        return None;
    }
    i64::try_from(at / dilation).ok().filter(|&i| i < size)
}
