//! `convolution`: sums products of a window of the left operand with the kernel
//!
//! ```text
//! result[n, c, x] = sum over k, i of  lhs[n', g * I + i, p / lhs_dilate] * rhs[k', i, c]
//!   p  = x * stride + k * rhs_dilate - pad_low        left out unless lhs_dilate divides p and the element exists
//!   k' = k, or size - 1 - k where the window is reversed
//!   g  = c / (O / feature_group_count)                I, O: input and output features of the kernel
//!   n' = n + c / (O / batch_group_count) * (N / batch_group_count)
//! ```
//!
//! **Attributes.** `dim_labels` says which dimension of the three arrays is batch, feature or
//! spatial. `window` gives each spatial dimension its size (that of the kernel), `stride`, `pad`
//! (negative numbers take elements away), `lhs_dilate` and `rhs_dilate` (distance of the operands'
//! elements) and `rhs_reversal`. There may be no spatial dimension at all; a window that fits
//! nowhere gives a dimension of size 0. `feature_group_count` and `batch_group_count` divide
//! features and batch into groups that do not mix. `algorithm` is that of `dot`;
//! `operand_precision` permits less precise results and changes nothing here.
//!
//! `convolution_kind=dgrad` is the gradient with respect to the input: `window` is that of the
//! forward convolution, `lhs` its result's gradient, and each element is added at the places it was
//! read from: it is computed as a convolution with holes of the stride's size, the kernel reversed
//! and padded as much as makes the input's size. `wgrad` and `fprop` are computed as written.
//!
//! `sparsity_config` says that an operand keeps 1 element of each block of N in one dimension:
//! element j of the stored array is at N * j + index, `index` being the element of the index
//! operand at the same place, and what is not kept is 0. An index outside the block is an error.
//!
//! **Edges.** Padding and holes take no part: an infinity or NaN in the kernel does not meet them.
//! Types, wrapping and rounding are those of `dot`.
//!
//! **Differences.** XLA's evaluator converts the operands to the result's type first and saturates
//! integers, where XLA:CPU, and this engine, wraps.
mod lines;
mod runs;

use super::contraction::{
    Contraction, Extent, LhsOffsets, Lists, ResolvedDotAlgorithm, Sums, TermRun,
};
use super::strided::move_elements;
use super::window::{index_lists, source};
use crate::Kernel;
use crate::function::writes_in;
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use hlo::op::Convolution;
use hlo::op::value::{ConvSparsity, OperandSparsity, Window};
use hlo::{Array, ArrayShape, Dims};
use num::error::Code;
use num::index::{count, offset_list, offsets, saturating_count, strides, to_i64, to_usize};
use num::parallel::threads;
use num::scalar_program::ScalarPrograms;
use num::{Arithmetic, Error, Result};

impl ArrayOp for Convolution {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        Some(kernel(self, site.operands, site.result(), site.arithmetic))
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        let (lhs, rhs) = (site.operands[0], site.operands[1]);
        // Each element of the left operand meets at most all of the kernel's of its feature group.
        let features = to_usize(rhs.dims[to_usize(self.dim_labels.rhs_input_feature)]).max(1);
        let groups = to_usize(self.feature_group_count).max(1);
        let met = saturating_count(&rhs.dims) / features / groups;
        let scratch = match &self.sparsity_config {
            Some(ConvSparsity { lhs, rhs }) => {
                let block =
                    |sparse: &Option<OperandSparsity>| sparse.map_or(1, |s| to_usize(s.block));
                let bytes = site.operands.iter().map(|o| o.byte_count().unwrap_or(usize::MAX));
                bytes.fold(0, usize::saturating_add).saturating_mul(block(lhs).max(block(rhs)))
            }
            None => index_lists(&self.forward_window(), lhs),
        };
        Cost { steps: saturating_count(&lhs.dims).saturating_mul(met), scratch }
    }
    needs_whole_operands!();
}

fn kernel(
    op: &Convolution,
    operands: &[&ArrayShape],
    result: &ArrayShape,
    arithmetic: Arithmetic,
) -> Box<dyn Kernel> {
    let Convolution {
        window: _,           // Read by `forward_window`, with `convolution_kind`.
        convolution_kind: _, // Likewise.
        dim_labels: _,       // Read by `Setting`, with the numbers of groups.
        feature_group_count: _,
        batch_group_count: _,
        operand_precision: _, // Permits backends to round the operands. They are never rounded here.
        algorithm,
        sparsity_config,
    } = op;
    let sparsity = sparsity_config.as_ref();
    let [sparse_lhs, sparse_rhs] = [sparsity.and_then(|s| s.lhs), sparsity.and_then(|s| s.rhs)];
    let (lhs, rhs) = (dense_shape(operands[0], sparse_lhs), dense_shape(operands[1], sparse_rhs));
    let (algorithm, to) = (ResolvedDotAlgorithm::of(*algorithm, arithmetic), result.ty);
    let setting = Setting::new(op, &lhs, &rhs, result);
    let lines = setting.line_shape().filter(|_| algorithm.has_lines((lhs.ty, rhs.ty), to));
    let order = if lines.is_none() { setting.order(result) } else { None };
    let scratch = [
        algorithm.scratch((&lhs, &rhs), to, setting.extent()),
        // The places of groups, columns and terms in the kernel, and of a window along each
        // dimension for each thread.
        [setting.groups, setting.group_outputs, setting.terms()]
            .into_iter()
            .chain(
                setting.window.dims.iter().map(|w| to_usize(w.size).saturating_mul(2 * threads())),
            )
            .fold(0, usize::saturating_add)
            .saturating_mul(size_of::<usize>()),
        setting.run_table_bytes(),
        sparse_lhs.and_then(|_| lhs.byte_count()).unwrap_or(0),
        sparse_rhs.and_then(|_| rhs.byte_count()).unwrap_or(0),
        order.as_ref().and_then(|_| result.byte_count()).unwrap_or(0),
        lines.map_or(0, |lines| lines.scratch(to.storage_bytes())),
    ];
    writes_in(
        algorithm.arithmetic(result.ty),
        scratch.into_iter().fold(0, usize::saturating_add),
        move |_, inputs, outputs| {
            let lhs = dense(inputs[0], sparse_lhs, inputs)?;
            let rhs = dense(inputs[1], sparse_rhs, inputs)?;
            let [columns, terms] = setting.rhs_offsets(array(&rhs));
            let bases = |block: usize, bases: &mut Vec<[usize; 2]>| {
                if let Some(lines) = lines {
                    setting.bases(lines, block, bases);
                }
            };
            let table = setting.run_table();
            let runs = |group: usize, row: usize, runs: &mut Vec<TermRun>| {
                setting.runs(&table, group, row, runs);
            };
            let batches = setting.group_offsets();
            let lines = lines.map(|lines| setting.lines(lines, &bases));
            let sums = match &lines {
                Some(lines) => Sums::Lines(lines),
                None => Sums::Matrix(Contraction {
                    rows: count(&setting.row_sizes),
                    lhs: LhsOffsets::Runs {
                        step: table.step(),
                        has_padding: setting.has_padding(),
                        of: &runs,
                    },
                    rhs: Lists::new(&batches, &columns, &terms),
                }),
            };
            let out = outputs[0].bytes_mut();
            match &order {
                None => algorithm.contract(sums, (&lhs, &rhs), to, out),
                Some((sizes, strides)) => {
                    let mut ordered = vec![0; out.len()];
                    algorithm.contract(sums, (&lhs, &rhs), to, &mut ordered);
                    move_elements(&ordered, out, to.storage_bytes(), sizes, 0, strides);
                }
            }
            Ok(())
        },
    )
}

fn array(literal: &Array) -> &ArrayShape {
    literal.shape()
}

/// The parameters that the places of the operands follow from; the names are those of the dimension
/// labels.
struct Setting {
    op: Convolution,
    window: Window,
    lhs_sizes: Dims,
    lhs_strides: Dims,
    rhs_strides: Dims,
    /// Feature groups or batch groups: there are not both.
    groups: usize,
    /// Output features of a group.
    group_outputs: usize,
    /// Input features of the kernel.
    inputs: usize,
    /// Sizes of the result's batch and spatial dimensions.
    row_sizes: Dims,
    /// Sizes of the result.
    result_sizes: Dims,
}

impl Setting {
    fn new(op: &Convolution, lhs: &ArrayShape, rhs: &ArrayShape, shape: &ArrayShape) -> Self {
        let labels = &op.dim_labels;
        let groups = to_usize(op.feature_group_count * op.batch_group_count);
        let mut row_sizes = Dims::from_elem(shape.dims[to_usize(labels.out_batch)], 1);
        row_sizes.extend(labels.out_spatial.iter().map(|&d| shape.dims[to_usize(d)]));
        Self {
            op: op.clone(),
            window: op.forward_window(),
            lhs_sizes: lhs.dims.clone(),
            lhs_strides: strides(&lhs.dims),
            rhs_strides: strides(&rhs.dims),
            groups,
            group_outputs: to_usize(rhs.dims[to_usize(labels.rhs_output_feature)]) / groups,
            inputs: to_usize(rhs.dims[to_usize(labels.rhs_input_feature)]),
            row_sizes,
            result_sizes: shape.dims.clone(),
        }
    }
    fn lhs_stride(&self, dim: i64) -> usize {
        to_usize(self.lhs_strides[to_usize(dim)])
    }
    fn rhs_stride(&self, dim: i64) -> usize {
        to_usize(self.rhs_strides[to_usize(dim)])
    }

    /// Returns whether some place of the window can lie on no element.
    fn has_padding(&self) -> bool {
        self.window.dims.iter().any(|w| w.lhs_dilation > 1 || w.pad_low > 0 || w.pad_high > 0)
    }

    /// Returns the numbers of sums and of terms.
    fn extent(&self) -> Extent {
        let rows = saturating_count(&self.row_sizes);
        Extent { batches: self.groups, rows, columns: self.group_outputs, terms: self.terms() }
    }
    /// Returns the terms of a sum.
    fn terms(&self) -> usize {
        let window = self.window.dims.iter().map(|dim| to_usize(dim.size));
        window.fold(self.inputs, usize::saturating_mul)
    }

    /// Offsets of the groups in the kernel.
    fn group_offsets(&self) -> Vec<usize> {
        let feature = self.rhs_stride(self.op.dim_labels.rhs_output_feature);
        (0..self.groups).map(|group| group * self.group_outputs * feature).collect()
    }

    /// Places in the kernel: of a group's output features, and of the terms of a sum.
    fn rhs_offsets(&self, rhs: &ArrayShape) -> [Vec<usize>; 2] {
        let labels = &self.op.dim_labels;
        let feature = self.rhs_stride(labels.rhs_output_feature);
        let columns = (0..self.group_outputs).map(|c| c * feature).collect();
        let (mut sizes, mut strides, mut start) = (Dims::new(), Dims::new(), 0);
        for (&d, window) in labels.rhs_spatial.iter().zip(&self.window.dims) {
            let (size, stride) = (rhs.dims[to_usize(d)], self.rhs_strides[to_usize(d)]);
            sizes.push(size);
            strides.push(if window.reversal { -stride } else { stride });
            start += if window.reversal { (size - 1).max(0) * stride } else { 0 };
        }
        sizes.push(to_i64(self.inputs));
        strides.push(self.rhs_strides[to_usize(labels.rhs_input_feature)]);
        let mut terms = Vec::with_capacity(count(&sizes));
        offsets(&sizes, start, &strides, |at| terms.push(to_usize(at)));
        [columns, terms]
    }

    /// The sums come in the order of groups, rows, and a group's features. Returns the sizes and
    /// strides of a walk over them in the order of the result's dimensions; `None` if the orders
    /// are the same.
    fn order(&self, shape: &ArrayShape) -> Option<(Dims, Dims)> {
        let labels = &self.op.dim_labels;
        let mut flat = Dims::from_elem(to_i64(self.groups), 1);
        flat.extend(self.row_sizes.iter().copied());
        flat.push(to_i64(self.group_outputs));
        let flat = strides(&flat);
        // The feature dimension is taken apart into groups and what is in them.
        let (mut sizes, mut strides) = (Dims::new(), Dims::new());
        for d in 0..to_i64(shape.rank()) {
            let row = if d == labels.out_batch {
                Some(0)
            } else {
                labels.out_spatial.iter().position(|&s| s == d).map(|s| s + 1)
            };
            if let Some(row) = row {
                sizes.push(self.row_sizes[row]);
                strides.push(flat[row + 1]);
            } else {
                sizes.extend([to_i64(self.groups), to_i64(self.group_outputs)]);
                strides.extend([flat[0], 1]);
            }
        }
        let natural = num::index::strides(&sizes);
        let is_natural = (0..sizes.len()).all(|d| sizes[d] == 1 || natural[d] == strides[d]);
        (!is_natural).then_some((sizes, strides))
    }
}

/// Returns the shape of an operand with the zeros that are not stored.
fn dense_shape(stored: &ArrayShape, sparsity: Option<OperandSparsity>) -> ArrayShape {
    let mut shape = stored.clone();
    if let Some(sparsity) = sparsity {
        let dim = to_usize(sparsity.dimension.expect("verified: a dimension"));
        shape.dims[dim] = shape.dims[dim].saturating_mul(sparsity.block);
    }
    shape
}

/// Returns a sparse operand with its zeros; any other as it is.
fn dense(stored: &Array, sparsity: Option<OperandSparsity>, operands: &[&Array]) -> Result<Array> {
    let Some(sparsity) = sparsity else { return Ok(stored.clone()) };
    let dim = to_usize(sparsity.dimension.expect("verified: a dimension"));
    let idx = operands[to_usize(sparsity.idx.expect("verified: an index operand"))];
    let old = array(stored);
    let shape = dense_shape(old, Some(sparsity));
    let strides = strides(&shape.dims);
    let mut places = offset_list(&old.dims, &{
        let mut strides = strides.clone();
        strides[dim] *= sparsity.block;
        strides
    });
    for (i, place) in places.iter_mut().enumerate() {
        let index = idx.get(i).as_i64().filter(|index| (0..sparsity.block).contains(index));
        let Some(index) = index else {
            let (found, block) = (idx.get(i), sparsity.block);
            let message =
                format!("index {found:?} of a sparse operand is outside its block of {block}");
            return Err(Error::from(Code::Invalid { message }));
        };
        *place += to_usize(index * strides[dim]);
    }
    let width = shape.ty.storage_bytes();
    let mut result = Array::zeros(shape);
    let bytes = result.bytes_mut();
    for (place, element) in places.into_iter().zip(stored.bytes().chunks_exact(width)) {
        bytes[place * width..(place + 1) * width].copy_from_slice(element);
    }
    Ok(result)
}
