//! `convolution`: sums of products of the elements under a window with a kernel
//!
//! ```text
//! result[n, c, x..] = sum over k.., i of  lhs[n', g * I + i, e..] * rhs[k'.., i, c]
//!   e lies under position k of the window at x (see `window`); positions in padding and in holes have no term
//!   k' = k, or size - 1 - k in the dimensions in which the window is reversed
//!   g  = c / (O / feature_group_count)
//!   n' = n + c / (O / batch_group_count) * (N / batch_group_count)
//! ```
//!
//! I and O are the numbers of input and output features of the kernel, N the batch size of `lhs`.
//!
//! - `dim_labels` says which dimension of the three arrays is batch (n), feature (i, c) and spatial
//!   (e, k, x). There may be no spatial dimension.
//! - `feature_group_count` or `batch_group_count` divides features or batch into groups that do not
//!   mix.
//! - `convolution_kind=dgrad`: the gradient with respect to the input of the convolution that
//!   `window` describes, and `lhs` the gradient of its result. That is a convolution with a
//!   reversed window: `Convolution::forward_window`. `wgrad` and `fprop` are computed as stated.
//! - `sparsity_config`: an operand stores 1 element of each block of N along one dimension. Element
//!   j of the stored array is at `N * j + index`, where `index` is the corresponding element of the
//!   index operand, and must lie in `0..N`. Elements that are not stored are 0.
//! - Types, sums and `algorithm` are those of [`products`](super::products): integers wrap. (XLA's
//!   evaluator saturates them.)
//! - Padding and holes have no terms: an infinity or NaN of the kernel is not multiplied by 0.
//!
//! Source: StableHLO, `convolution`; XLA operation semantics, `Conv`.
use super::products::Products;
use super::window::under;
use super::{Operand, Output, build, indices, set};
use hlo::op::Convolution;
use hlo::op::value::{ConvDims, OperandSparsity};
use hlo::{ArrayShape, Dims, Literal};
use num::error::Code;
use num::index::to_usize;
use num::{Error, Result};
use std::borrow::Cow;

/// Returns the convolution of two arrays.
pub fn convolution(op: &Convolution, operands: &[&Literal], shape: &ArrayShape) -> Result<Literal> {
    let Convolution {
        window: _,           // Read by `forward_window`, with `convolution_kind`.
        convolution_kind: _, // Likewise.
        dim_labels,
        feature_group_count,
        batch_group_count,
        operand_precision: _, // Permits backends to round the operands. They are never rounded here.
        algorithm,
        sparsity_config,
    } = op;
    let ConvDims {
        lhs_batch,
        lhs_feature,
        lhs_spatial,
        rhs_input_feature,
        rhs_output_feature,
        rhs_spatial,
        out_batch,
        out_feature,
        out_spatial,
    } = dim_labels;
    let sparsity = sparsity_config.as_ref();
    let lhs = dense(operands[0], sparsity.and_then(|s| s.lhs), operands)?;
    let rhs = dense(operands[1], sparsity.and_then(|s| s.rhs), operands)?;
    let (lhs, rhs) = (Operand::of(&lhs), Operand::of(&rhs));

    let window = op.forward_window();
    let products = Products::new(lhs.shape.ty, rhs.shape.ty, *algorithm, shape.ty);
    let (inputs, outputs) = (rhs.size(*rhs_input_feature), rhs.size(*rhs_output_feature));
    let batch_group_size = lhs.size(*lhs_batch) / batch_group_count;
    let lhs_sizes: Dims = lhs_spatial.iter().map(|&dim| lhs.size(dim)).collect();
    Ok(build(shape, |index| {
        let output = index[to_usize(*out_feature)];
        let first_input = output / (outputs / feature_group_count) * inputs;
        let batch_group = output / (outputs / batch_group_count);
        let batch = index[to_usize(*out_batch)] + batch_group * batch_group_size;
        let x: Dims = out_spatial.iter().map(|&dim| index[to_usize(dim)]).collect();
        let pairs = under(&window.dims, &x, &lhs_sizes);
        products.sum(pairs.flat_map(|(mut k, element)| {
            for (k, dim) in k.iter_mut().zip(&window.dims) {
                *k = if dim.reversal { dim.size - 1 - *k } else { *k };
            }
            let mut l = Dims::from_elem(0, lhs.rank());
            set(&mut l, &[*lhs_batch], &[batch]);
            set(&mut l, lhs_spatial, &element);
            let mut r = Dims::from_elem(0, rhs.rank());
            set(&mut r, &[*rhs_output_feature], &[output]);
            set(&mut r, rhs_spatial, &k);
            let (lhs, rhs) = (&lhs, &rhs);
            (0..inputs).map(move |input| {
                l[to_usize(*lhs_feature)] = first_input + input;
                r[to_usize(*rhs_input_feature)] = input;
                (lhs.at(&l), rhs.at(&r))
            })
        }))
    }))
}

/// Returns the dense form of a sparse operand, any other operand unchanged.
fn dense<'a>(
    stored: &'a Literal,
    sparsity: Option<OperandSparsity>,
    operands: &[&Literal],
) -> Result<Cow<'a, Literal>> {
    let Some(sparsity) = sparsity else { return Ok(Cow::Borrowed(stored)) };
    let OperandSparsity {
        kept: _, // 1, as the verifier checks.
        block,
        dimension,
        stride: _, // 1, as the verifier checks.
        idx,
    } = sparsity;
    let dim = to_usize(dimension.expect("verified: a dimension"));
    let positions = Operand::of(operands[to_usize(idx.expect("verified: an index operand"))]);
    let stored = Operand::of(stored);
    let mut shape = stored.shape.clone();
    shape.dims[dim] *= block;
    let mut result = Output::zeros(&shape);
    for index in indices(&stored.shape.dims) {
        let found = positions.at(&index);
        let position = found.as_i64().filter(|position| (0..block).contains(position));
        let Some(position) = position else {
            let message =
                format!("index {found:?} of a sparse operand is outside its block of {block}");
            return Err(Error::from(Code::Invalid { message }));
        };
        let mut target = index.clone();
        target[dim] = index[dim] * block + position;
        result.set(&target, stored.at(&index));
    }
    Ok(Cow::Owned(result.into_literal()))
}
