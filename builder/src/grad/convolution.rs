//! Derivatives of convolution: linear in each operand, and both transposes are convolutions.
//!
//! With stride `s`, dilations `l` of the input and `r` of the kernel, and padding `p` in front,
//! place `o` of the result pairs element `k` of the kernel with element `j` of the input where
//! `o s + k r - p = j l`. The transposes solve that for the operand's index in place of `o`:
//! strides and dilations change places, and a window that ran forward runs backward.
use super::node::{Derivative, Node};
use super::ops;
use super::tangent::Tangent;
use crate::arguments::cast;
use crate::{Result, Value};
use hlo::op::Convolution;
use hlo::op::value::{ConvDims, ConvolutionKind, Window, WindowDim};
use hlo::{ArrayShape, Dims, Op};

/// Returns the attributes with the window of the forward convolution.
fn forward(op: &Convolution, node: &Node<'_>) -> Result<Convolution> {
    if op.sparsity_config.is_some() {
        return Err(node.refused("has no derivative rule here for sparse operands"));
    }
    if op.convolution_kind == ConvolutionKind::Wgrad {
        return Err(node.refused("has no derivative rule here for `convolution_kind=wgrad`"));
    }
    let window = op.forward_window();
    Ok(Convolution { window, convolution_kind: ConvolutionKind::Unset, ..op.clone() })
}

impl Derivative for Convolution {
    fn jvp<'b>(&self, node: &Node<'b>, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        ops::bilinear(node, tangents)
    }
    fn vjp_array<'b>(&self, node: &Node<'b>, c: Value<'b>) -> Result<Vec<Tangent<'b>>> {
        let op = forward(self, node)?;
        let (lhs, rhs, ty) = (node.operand(0)?, node.operand(1)?, c.element_type()?);
        let empty = [lhs.dims()?, rhs.dims()?, c.dims()?].concat().contains(&0);
        node.each_needed(|i| {
            if empty {
                return Ok(node.operand(i)?.zeros_like());
            }
            let transpose = if i == 0 { to_input } else { to_kernel };
            transpose(&op, c, cast(lhs, ty)?, cast(rhs, ty)?)
        })
    }
}

/// Returns the size of an array with `dilation - 1` holes between its elements.
fn dilated(size: i64, dilation: i64) -> i64 {
    (size - 1) * dilation + 1
}

/// Returns the input's cotangent: the result's, convolved with the kernel reversed.
fn to_input<'b>(
    op: &Convolution,
    c: Value<'b>,
    lhs: Value<'b>,
    rhs: Value<'b>,
) -> Result<Value<'b>> {
    let (labels, shape, out) = (&op.dim_labels, lhs.array()?, c.array()?);
    let dual = |((dim, &input), &output): ((&WindowDim, &i64), &i64)| {
        let (bases, places) = (extent(&shape, input), extent(&out, output));
        let pad_low = (dim.size - 1) * dim.rhs_dilation - dim.pad_low;
        let needed = (bases - 1) * dim.lhs_dilation + dilated(dim.size, dim.rhs_dilation);
        WindowDim {
            size: dim.size,
            stride: dim.lhs_dilation,
            pad_low,
            pad_high: needed - pad_low - dilated(places, dim.stride),
            lhs_dilation: dim.stride,
            rhs_dilation: dim.rhs_dilation,
            reversal: !dim.reversal,
        }
    };
    let dims = op.window.dims.iter().zip(&labels.lhs_spatial).zip(&labels.out_spatial);
    let groups = op.feature_group_count.max(op.batch_group_count);
    // Each group's output features are summed over, and all groups' input features come out.
    let kernel = moved(rhs, labels.rhs_output_feature, labels.rhs_input_feature, groups)?;
    let back = Convolution {
        window: Window { dims: dims.map(dual).collect() },
        dim_labels: ConvDims {
            lhs_batch: labels.out_batch,
            lhs_feature: labels.out_feature,
            lhs_spatial: labels.out_spatial.clone(),
            rhs_input_feature: labels.rhs_output_feature,
            rhs_output_feature: labels.rhs_input_feature,
            rhs_spatial: labels.rhs_spatial.clone(),
            out_batch: labels.lhs_batch,
            out_feature: labels.lhs_feature,
            out_spatial: labels.lhs_spatial.clone(),
        },
        feature_group_count: groups,
        batch_group_count: 1,
        ..op.clone()
    };
    // With groups of the batch the groups are still among the features.
    let mut sizes = shape.dims.clone();
    sizes[ops::at(labels.lhs_batch)] /= op.batch_group_count;
    sizes[ops::at(labels.lhs_feature)] *= op.batch_group_count;
    let pulled = emit(back, [c, kernel], sizes)?;
    moved(pulled, labels.lhs_feature, labels.lhs_batch, op.batch_group_count)
}

/// Returns the kernel's cotangent: the input, convolved with the result's cotangent.
fn to_kernel<'b>(
    op: &Convolution,
    c: Value<'b>,
    lhs: Value<'b>,
    rhs: Value<'b>,
) -> Result<Value<'b>> {
    let (labels, shape, out) = (&op.dim_labels, lhs.array()?, c.array()?);
    let dual = |((dim, &input), &output): ((&WindowDim, &i64), &i64)| {
        let (bases, places) = (extent(&shape, input), extent(&out, output));
        let needed = (dim.size - 1) * dim.rhs_dilation + dilated(places, dim.stride);
        WindowDim {
            size: places,
            stride: dim.rhs_dilation,
            pad_low: dim.pad_low,
            pad_high: needed - dim.pad_low - dilated(bases, dim.lhs_dilation),
            lhs_dilation: dim.lhs_dilation,
            rhs_dilation: dim.stride,
            reversal: false,
        }
    };
    let dims = op.window.dims.iter().zip(&labels.lhs_spatial).zip(&labels.out_spatial);
    let back = Convolution {
        window: Window { dims: dims.map(dual).collect() },
        // What was the batch is summed over.
        dim_labels: ConvDims {
            lhs_batch: labels.lhs_feature,
            lhs_feature: labels.lhs_batch,
            lhs_spatial: labels.lhs_spatial.clone(),
            rhs_input_feature: labels.out_batch,
            rhs_output_feature: labels.out_feature,
            rhs_spatial: labels.out_spatial.clone(),
            out_batch: labels.rhs_input_feature,
            out_feature: labels.rhs_output_feature,
            out_spatial: labels.rhs_spatial.clone(),
        },
        feature_group_count: op.batch_group_count,
        batch_group_count: op.feature_group_count,
        ..op.clone()
    };
    let pulled = emit(back, [lhs, c], rhs.array()?.dims)?;
    let reversed = op.window.dims.iter().zip(&labels.rhs_spatial);
    let dimensions: Vec<i64> =
        reversed.filter(|(dim, _)| dim.reversal).map(|(_, &spatial)| spatial).collect();
    Ok(if dimensions.is_empty() { pulled } else { pulled.rev(&dimensions) })
}

fn extent(shape: &ArrayShape, dim: i64) -> i64 {
    shape.dim(dim).unwrap_or(0)
}
fn emit(op: Convolution, operands: [Value<'_>; 2], dims: Dims) -> Result<Value<'_>> {
    let b = operands[0].builder();
    let shape = ArrayShape::new(operands[0].element_type()?, dims);
    b.emit(Op::Convolution(Box::new(op)), &operands, Some(shape.into()))
}

/// Moves the first part of dimension `from`, of this many parts, into dimension `to`.
fn moved(value: Value<'_>, from: i64, to: i64, parts: i64) -> Result<Value<'_>> {
    if parts == 1 {
        return Ok(value);
    }
    let mut sizes = value.dims()?;
    let (from, to) = (ops::at(from), ops::at(to));
    let mut split = sizes.clone();
    split[from] /= parts;
    split.insert(from, parts);
    // Where the dimensions are once the parts stand before `from`.
    let place = |d: usize| if d < from { d } else { d + 1 };
    let mut order: Vec<usize> = (0..sizes.len()).map(place).collect();
    order.insert(to, from);
    let order: Vec<i64> = order.into_iter().flat_map(|d| ops::run(d, 1)).collect();
    sizes[from] /= parts;
    sizes[to] *= parts;
    Ok(ops::transposed(value.reshape(&split), &order).reshape(&sizes))
}
