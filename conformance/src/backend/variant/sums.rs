//! Sums in another order, and with other roundings of products and partial sums.
use super::edit::{Edit, Span};
use hlo::ir::InstructionId;
use hlo::op::value::{
    ConvolutionKind, DotAlgorithm, PaddingConfig, PaddingDim, Precision, SliceRange, SliceRanges,
    WindowDim,
};
use hlo::op::{Binary, Dot, Pad, Reduce, Slice};
use hlo::{ArrayShape, ElementType, Op};

/// The most terms that are added one by one.
const MOST_TERMS: i64 = 16;
/// How often a long sum is split into parts.
const DEPTH: usize = 3;

/// Adds the sum of some indices of each dimension: from the first to the one before the second.
type PartialSum<'a> = dyn Fn(&mut Edit<'_>, &[(i64, i64)]) -> InstructionId + 'a;

/// A sum over dimensions, of which parts can be computed.
struct Terms<'a> {
    /// The sizes of the dimensions.
    sizes: Vec<i64>,
    part: &'a PartialSum<'a>,
    op: Binary,
}

impl Terms<'_> {
    /// Returns the sum over a part, in some order.
    fn sum(&self, edit: &mut Edit<'_>, part: &[(i64, i64)], depth: usize) -> InstructionId {
        let count = part.iter().map(|(start, limit)| limit - start).product::<i64>();
        let widest = part.iter().enumerate().max_by_key(|(_, (start, limit))| limit - start);
        let Some((dim, &(start, limit))) = widest.filter(|_| count > 1) else {
            return (self.part)(edit, part);
        };
        if count > MOST_TERMS && depth == 0 {
            return (self.part)(edit, part);
        }
        let mut cuts = vec![start, limit];
        let pieces = if count > MOST_TERMS { 3 } else { limit - start };
        if count > MOST_TERMS {
            cuts.extend((1..pieces).map(|_| edit.random.i64(start..=limit)));
        } else {
            cuts.extend(start..limit);
        }
        cuts.sort_unstable();
        cuts.dedup();
        let mut terms = Vec::new();
        for ends in cuts.windows(2) {
            let mut piece = part.to_vec();
            piece[dim] = (ends[0], ends[1]);
            terms.push(self.sum(edit, &piece, depth.saturating_sub(1)));
        }
        tree(edit, self.op, terms)
    }
    fn total(&self, edit: &mut Edit<'_>) -> InstructionId {
        let whole: Vec<(i64, i64)> = self.sizes.iter().map(|&size| (0, size)).collect();
        self.sum(edit, &whole, DEPTH)
    }
}

/// Adds values in a random order.
pub(super) fn tree(
    edit: &mut Edit<'_>,
    op: Binary,
    mut terms: Vec<InstructionId>,
) -> InstructionId {
    while terms.len() > 1 {
        let [x, y] = [0; 2].map(|_| terms.swap_remove(edit.random.usize(..terms.len())));
        terms.push(edit.binary(op, x, y));
    }
    terms[0]
}

/// Returns the ranges of indices, each with its dimension.
fn spans(dims: &[i64], part: &[(i64, i64)]) -> Vec<Span> {
    dims.iter().zip(part).map(|(&dim, &(start, limit))| (dim, start, limit)).collect()
}

/// Adds or multiplies the elements of an array in another order.
pub(super) fn reduction(edit: &mut Edit<'_>) -> bool {
    let Op::Reduce(op) = edit.op() else { return false };
    let (Some(shape), Some(&combine)) = (edit.arrays(), edit.reducers.get(&op.to_apply)) else {
        return false;
    };
    let [x, initial] = edit.operands()[..] else { return false };
    let operand = edit.shape(x);
    let sizes: Vec<i64> = op.dimensions.iter().filter_map(|&dim| operand.dim(dim)).collect();
    if sizes.contains(&0) || operand.ty != shape.ty || edit.ty(initial) != shape.ty {
        return false;
    }
    let identity = edit.number(if combine == Binary::Add { 0.0 } else { 1.0 }, shape.ty);
    let dims = shape.dims.clone();
    let part = |edit: &mut Edit<'_>, part: &[(i64, i64)]| {
        let piece = edit.slice(x, &spans(&op.dimensions, part));
        if part.iter().all(|(start, limit)| limit - start == 1) {
            return edit.reshape(piece, &dims);
        }
        let reduce = Reduce { dimensions: op.dimensions.clone(), to_apply: op.to_apply };
        edit.add(reduce, ArrayShape::new(shape.ty, dims.clone()), [piece, identity])
    };
    let total = Terms { sizes, part: &part, op: combine }.total(edit);
    let first = edit.repeated(initial, &dims);
    let value = edit.binary(combine, first, total);
    edit.set(value)
}

/// Adds or multiplies the elements of small windows in another order.
pub(super) fn window(edit: &mut Edit<'_>) -> bool {
    let Op::ReduceWindow(op) = edit.op() else { return false };
    let (Some(shape), Some(&combine)) = (edit.arrays(), edit.reducers.get(&op.to_apply)) else {
        return false;
    };
    let [x, initial] = edit.operands()[..] else { return false };
    let (operand, window) = (edit.shape(x), &op.window.dims);
    let mut padded = ArrayShape::new(shape.ty, operand.dims.clone());
    for (size, dim) in padded.dims.iter_mut().zip(window) {
        *size = (*size - 1) * dim.lhs_dilation + 1 + dim.pad_low + dim.pad_high;
    }
    let count = window.iter().map(|dim| dim.size).product::<i64>();
    let empty = [&operand.dims, &padded.dims, &shape.dims]
        .iter()
        .any(|dims| dims.iter().any(|&size| size < 1));
    let same = [operand.ty, edit.ty(initial)] == [shape.ty; 2];
    let reversed = window.iter().any(|dim| dim.reversal);
    if !(1..=MOST_TERMS).contains(&count) || empty || reversed || !same {
        return false;
    }
    let padding = |dim: &WindowDim| PaddingDim {
        low: dim.pad_low,
        high: dim.pad_high,
        interior: dim.lhs_dilation - 1,
    };
    let padding = PaddingConfig { dims: window.iter().map(padding).collect() };
    let padded = edit.add(Pad { padding }, padded, [x, initial]);
    let sizes: Vec<i64> = window.iter().map(|dim| dim.size).collect();
    let mut terms = vec![edit.repeated(initial, &shape.dims)];
    for at in indices(&sizes) {
        let ranges = window.iter().zip(&shape.dims).zip(at).map(|((dim, size), (i, _))| {
            let start = i * dim.rhs_dilation;
            SliceRange { start, limit: start + (size - 1) * dim.stride + 1, stride: dim.stride }
        });
        let slice = Slice { ranges: SliceRanges(ranges.collect()) };
        terms.push(edit.add(slice, ArrayShape::new(shape.ty, shape.dims.clone()), [padded]));
    }
    let value = tree(edit, combine, terms);
    edit.set(value)
}

/// Adds the products of a `dot` in another order, or without rounding them.
pub(super) fn product(edit: &mut Edit<'_>) -> bool {
    let Op::Dot(op) = edit.op() else { return false };
    let Some(shape) = edit.arrays().filter(|_| op.algorithm == DotAlgorithm::Unset) else {
        return false;
    };
    let [x, y] = edit.operands()[..] else { return false };
    let types = [edit.ty(x), edit.ty(y)];
    let floats = types.iter().all(|ty| ty.is_float()) && shape.ty.is_float();
    if !floats && types != [shape.ty; 2] {
        return false;
    }
    if !floats && !shape.ty.is_complex() {
        return false;
    }
    let left = edit.shape(x);
    let sizes: Vec<i64> = op.lhs_contracting_dims.iter().filter_map(|&d| left.dim(d)).collect();
    let count = sizes.iter().product::<i64>();
    if count < 1 {
        return false;
    }
    // In the type of the result, or at least f32.
    let single = shape.ty.bits() < 32 && edit.random.bool();
    let ty = if single { ElementType::F32 } else { shape.ty };
    let dims = shape.dims.clone();
    let product = |edit: &mut Edit<'_>, ty: ElementType, part: &[(i64, i64)]| {
        let x = edit.slice(x, &spans(&op.lhs_contracting_dims, part));
        let y = edit.slice(y, &spans(&op.rhs_contracting_dims, part));
        let dot: Dot = (*op).clone();
        edit.add(dot, ArrayShape::new(ty, dims.clone()), [x, y])
    };
    let part = |edit: &mut Edit<'_>, part: &[(i64, i64)]| product(edit, ty, part);
    let narrow = types.iter().all(|ty| ty.bits() <= 8);
    let highest = op.operand_precision.0.contains(&Precision::Highest);
    if narrow && !highest && ty == ElementType::F32 && count <= MOST_TERMS && edit.random.bool() {
        let mut terms = indices(&sizes);
        edit.random.shuffle(&mut terms);
        let mut sum = product(edit, ty, &terms[0]);
        for term in &terms[1..] {
            let next = product(edit, ty, term);
            let next = edit.binary(Binary::Add, sum, next);
            sum = edit.rounded(next, 13);
        }
        return edit.set(sum);
    }
    let fused = ty == ElementType::F32 && count <= MOST_TERMS && edit.random.bool();
    let value = if fused {
        let mut terms = indices(&sizes);
        edit.random.shuffle(&mut terms);
        let mut sum = product(edit, ty, &terms[0]);
        for term in &terms[1..] {
            // The product of two f32 is exact.
            let wide = product(edit, ElementType::F64, term);
            let sum_so_far = edit.convert(sum, ElementType::F64);
            let next = edit.binary(Binary::Add, sum_so_far, wide);
            sum = edit.convert(next, ty);
        }
        sum
    } else {
        Terms { sizes, part: &part, op: Binary::Add }.total(edit)
    };
    edit.set(value)
}

/// Returns the parts of one index.
fn indices(sizes: &[i64]) -> Vec<Vec<(i64, i64)>> {
    let mut all = vec![Vec::new()];
    for &size in sizes {
        let longer = |part: &Vec<(i64, i64)>| {
            let part = part.clone();
            (0..size).map(move |i| [part.as_slice(), &[(i, i + 1)]].concat()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// Adds the features of a convolution in another order.
pub(super) fn convolution(edit: &mut Edit<'_>) -> bool {
    let Op::Convolution(op) = edit.op() else { return false };
    let plain = op.algorithm == DotAlgorithm::Unset
        && op.sparsity_config.is_none()
        && op.convolution_kind == ConvolutionKind::Unset
        && (op.feature_group_count, op.batch_group_count) == (1, 1);
    let Some(shape) = edit.arrays().filter(|_| plain) else { return false };
    let [x, y] = edit.operands()[..] else { return false };
    if !shape.ty.is_float() || ![x, y].iter().all(|&x| edit.ty(x).is_float()) {
        return false;
    }
    let labels = &op.dim_labels;
    let features = edit.shape(x).dim(labels.lhs_feature).unwrap_or(0);
    if features < 1 {
        return false;
    }
    let single = shape.ty.bits() < 32 && edit.random.bool();
    let ty = if single { ElementType::F32 } else { shape.ty };
    let part = |edit: &mut Edit<'_>, part: &[(i64, i64)]| {
        let x = edit.slice(x, &spans(&[labels.lhs_feature], part));
        let y = edit.slice(y, &spans(&[labels.rhs_input_feature], part));
        edit.add(Op::Convolution(op.clone()), ArrayShape::new(ty, shape.dims.clone()), [x, y])
    };
    let value = Terms { sizes: vec![features], part: &part, op: Binary::Add }.total(edit);
    edit.set(value)
}
