//! Ops that StableHLO lacks, as HLO that it has: built for the shapes of an instruction, and
//! converted in its place.
use super::exporter::{At, Exporter, Leaves};
use crate::error::{Code, Error, Result};
use builder::options::{DotDimensionNumbers, DotOptions};
use builder::{Builder, Value};
use hlo::elem::Special;
use hlo::op::value::{DotAlgorithm, OperandPrecision, Precision};
use hlo::op::{RaggedDot, RaggedMode, ScaledDot, TopK};
use hlo::{ArrayShape, ElementType};

impl Exporter<'_> {
    /// Converts what is built of the operands of an instruction.
    pub(super) fn expand(
        &mut self,
        at: At<'_, '_>,
        build: impl for<'b> FnOnce(&[Value<'b>]) -> Value<'b>,
    ) -> Result<Leaves> {
        self.expansion(&at.operands(), build)
    }
    /// Converts what is built of these values.
    pub(super) fn expansion(
        &mut self,
        operands: &Leaves,
        build: impl for<'b> FnOnce(&[Value<'b>]) -> Value<'b>,
    ) -> Result<Leaves> {
        let b = Builder::new("expansion");
        let shapes = operands.iter().map(|&id| self.shape(id));
        let parameters: Vec<_> =
            (0..).zip(shapes).map(|(i, shape)| b.parameter(i, shape, "x")).collect();
        let built = b.build(build(&parameters));
        let module =
            built.map_err(|error| Error::from(Code::Unsupported { message: error.to_string() }))?;
        let arguments = operands.iter().map(|&id| super::structured::one(id)).collect();
        self.inline(module.module(), arguments)
    }
}

pub(super) fn top_k<'b>(op: &TopK, x: &[Value<'b>]) -> Value<'b> {
    let TopK { k, largest, is_stable: _ } = op;
    let x = x[0];
    let (b, Ok(shape)) = (x.builder(), x.array()) else { return x };
    let last = i64::try_from(shape.rank()).unwrap_or(1) - 1;
    let places = b.iota(shape.with_type(ElementType::S32), last);
    let is_float = shape.ty.is_float();
    let sorted = b.sort(
        &[x, places],
        |v| match (largest, is_float) {
            (true, true) => v[0].gt_total_order(v[1]),
            (true, false) => v[0].gt(v[1]),
            (false, true) => v[0].lt_total_order(v[1]),
            (false, false) => v[0].lt(v[1]),
        },
        last,
        true,
    );
    let best = [0, 1].map(|i| sorted.get_tuple_element(i).slice_in_dim(0, *k, 1, last));
    b.tuple(&best)
}
/// Returns floats as integers of this type, away from zero where the random number is below the
/// fraction times 2 to the power of its width.
pub(super) fn stochastic_convert<'b>(x: &[Value<'b>], ty: ElementType) -> Value<'b> {
    let (value, random) = (x[0], x[1]);
    let (Ok(from), Ok(bits)) = (value.element_type(), random.element_type()) else { return value };
    let value = if from.bits() < 32 { value.convert_element_type(ElementType::F32) } else { value };
    let magnitude = value.abs();
    let whole = magnitude.floor();
    let power = |exponent: u32| f64::from(exponent).exp2();
    let threshold = ((magnitude - whole) * power(bits.bits())).ceil();
    let is_up = random.lt(threshold.convert_element_type(bits));
    let rounded = is_up.select(whole + 1.0, whole);
    let rounded = value.lt(0.0).select(-rounded, rounded);
    let limit = power(ty.bits() - 1);
    let (b, converted) = (value.builder(), rounded.convert_element_type(ty));
    let above = rounded.ge(limit).select(converted.full_like(b.max_value(ty)), converted);
    let inside = rounded.lt(-limit).select(converted.full_like(b.min_value(ty)), above);
    value.ne(value).select(inside.zeros_like(), inside)
}
/// Returns arrays sorted by the first.
pub(super) fn ascending<'b>(x: &[Value<'b>], dim: usize, is_stable: bool) -> Value<'b> {
    let dim = i64::try_from(dim).unwrap_or(0);
    x[0].builder().sort_by_first(x, dim, is_stable)
}
/// Returns arrays of one shape as the rows of one array.
pub(super) fn stack<'b>(x: &[Value<'b>]) -> Value<'b> {
    let row = |value: &Value<'b>| {
        let dims = value.dims().unwrap_or_default();
        value.reshape(&[&[1], dims.as_slice()].concat())
    };
    let rows: Vec<_> = x.iter().map(row).collect();
    x[0].builder().concat_in_dim(&rows, 0)
}
/// Returns the rows of an array, each of this shape.
pub(super) fn unstack<'b>(x: Value<'b>, row: &ArrayShape) -> Value<'b> {
    let count = x.dims().ok().and_then(|dims| dims.first().copied()).unwrap_or(0);
    let rows = (0..count).map(|i| x.slice_in_dim(i, i + 1, 1, 0).reshape(&row.dims));
    x.builder().tuple(&rows.collect::<Vec<_>>())
}

/// Returns a scaled operand.
fn scaled<'b>(x: Value<'b>, scale: Value<'b>) -> Value<'b> {
    let (sizes, blocks) = (x.dims().unwrap_or_default(), scale.dims().unwrap_or_default());
    let (mut split, mut dims) = (Vec::new(), Vec::new());
    for (&size, &count) in sizes.iter().zip(&blocks) {
        dims.push(i64::try_from(split.len()).unwrap_or(0));
        split.extend([count, size.checked_div(count).unwrap_or(0)]);
    }
    let scale = match blocks.is_empty() {
        true => scale.broadcast_in_dim(&sizes, &[]),
        false => scale.broadcast_in_dim(&split, &dims).reshape(&sizes),
    };
    x.convert_element_type(ElementType::F64) * scale.convert_element_type(ElementType::F64)
}
/// Returns the options of a dot.
fn options(precision: &OperandPrecision, ty: ElementType) -> DotOptions {
    let one = |i: usize| precision.0.get(i).copied().unwrap_or(Precision::Default);
    DotOptions {
        precision: [one(0), one(1)],
        preferred_element_type: Some(ty),
        algorithm: DotAlgorithm::Unset,
    }
}
/// Returns a dot of operands that are scaled first. Powers of two that scale them may exceed f32
/// and cancel each other.
pub(super) fn scaled_dot<'b>(op: &ScaledDot, x: &[Value<'b>], result: &ArrayShape) -> Value<'b> {
    let ScaledDot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        operand_precision,
        algorithm: _,
    } = op;
    let numbers = DotDimensionNumbers {
        lhs_contracting_dimensions: lhs_contracting_dims.clone(),
        rhs_contracting_dimensions: rhs_contracting_dims.clone(),
        lhs_batch_dimensions: lhs_batch_dims.clone(),
        rhs_batch_dimensions: rhs_batch_dims.clone(),
    };
    let options = options(operand_precision, result.ty);
    scaled(x[0], x[2]).dot_general(scaled(x[1], x[3]), &numbers, &options)
}

/// Returns whether an index along dimension `ragged` of an array of these sizes is in group `g`.
/// The sizes of groups are those of the indices along `prefix` too.
fn in_group<'b>(sizes: Value<'b>, g: i64, dims: &[i64], ragged: i64, prefix: &[i64]) -> Value<'b> {
    let b = sizes.builder();
    let last = i64::try_from(prefix.len()).unwrap_or(0);
    let sizes = sizes.convert_element_type(ElementType::S64);
    let sizes = sizes.max(0i64);
    let end_of = |count: i64| {
        let sum = sizes.slice_in_dim(0, count, 1, last).reduce(0i64, |a, c| a + c, &[last]);
        sum.broadcast_in_dim(dims, prefix)
    };
    let index = b.iota((ElementType::S64, dims), ragged);
    index.ge(end_of(g)).and(index.lt(end_of(g + 1)))
}
/// Returns the dot of each group. Types without zero, which is the sum of no group, are widened.
pub(super) fn ragged_dot<'b>(op: &RaggedDot, x: &[Value<'b>], result: &ArrayShape) -> Value<'b> {
    let types = x[..2].iter().map(|x| x.element_type()).collect::<Vec<_>>();
    let types = types.into_iter().flatten().chain([result.ty]);
    let lacks_zero =
        |ty: ElementType| ty.float_format().is_some_and(|f| f.special == Special::PowerOfTwo);
    if !types.clone().any(lacks_zero) {
        return grouped_dots(op, x, result);
    }
    let is_double = types.clone().any(|ty| ty == ElementType::F64);
    let wide = if is_double { ElementType::F64 } else { ElementType::F32 };
    let operands = [x[0].convert_element_type(wide), x[1].convert_element_type(wide), x[2]];
    grouped_dots(op, &operands, &result.with_type(wide)).convert_element_type(result.ty)
}
/// Returns a dot for each group, of which each element is used where it belongs to the group.
fn grouped_dots<'b>(op: &RaggedDot, x: &[Value<'b>], result: &ArrayShape) -> Value<'b> {
    let RaggedDot {
        lhs_batch_dims,
        lhs_contracting_dims,
        rhs_batch_dims,
        rhs_contracting_dims,
        lhs_ragged_dims,
        rhs_group_dims,
        operand_precision,
    } = op;
    let (lhs, rhs, sizes) = (x[0], x[1], x[2]);
    let (Ok(l), Ok(r), Ok(s)) = (lhs.dims(), rhs.dims(), sizes.dims()) else { return lhs };
    let prefix = if s.len() > 1 { op.prefix(l.len()) } else { Vec::new() };
    let (ragged, groups) = (lhs_ragged_dims[0], s[s.len() - 1]);
    let options = options(operand_precision, result.ty);
    let numbers = DotDimensionNumbers {
        lhs_contracting_dimensions: lhs_contracting_dims.clone(),
        rhs_contracting_dimensions: rhs_contracting_dims.clone(),
        lhs_batch_dimensions: lhs_batch_dims.clone(),
        rhs_batch_dimensions: rhs_batch_dims.clone(),
    };
    let dot = |lhs: Value<'b>, rhs: Value<'b>, numbers: &DotDimensionNumbers| {
        lhs.dot_general(rhs, numbers, &options)
    };
    let place =
        |dims: &[i64], dim: i64| dims.iter().zip(0i64..).find(|(d, _)| **d == dim).map(|(_, i)| i);
    // The dimension of the result that one of the left operand becomes.
    let free: Vec<i64> = (0..i64::try_from(l.len()).unwrap_or(0))
        .filter(|dim| !lhs_batch_dims.contains(dim) && !lhs_contracting_dims.contains(dim))
        .collect();
    let batches = i64::try_from(lhs_batch_dims.len()).unwrap_or(0);
    let result_dim = |dim: i64| {
        place(lhs_batch_dims, dim).or_else(|| place(&free, dim).map(|i| i + batches)).unwrap_or(0)
    };
    let in_result: Vec<i64> = prefix.iter().map(|&dim| result_dim(dim)).collect();
    let mut all: Option<Value<'b>> = None;
    let mut parts = Vec::new();
    for g in 0..groups {
        match op.mode() {
            RaggedMode::Free | RaggedMode::Batch => {
                // Without the dimension of groups, the others of the right operand move up.
                let (mut rhs, mut numbers) = (rhs, numbers.clone());
                if let Some(&group) = rhs_group_dims.first() {
                    let mut rest = r.clone();
                    rest.remove(usize::try_from(group).unwrap_or(0));
                    rhs = rhs.slice_in_dim(g, g + 1, 1, group).reshape(&rest);
                    let lists = [
                        &mut numbers.rhs_contracting_dimensions,
                        &mut numbers.rhs_batch_dimensions,
                    ];
                    for dim in lists.into_iter().flatten().filter(|dim| **dim > group) {
                        *dim -= 1;
                    }
                }
                let product = dot(lhs, rhs, &numbers);
                let dims = product.dims().unwrap_or_default();
                let own = in_group(sizes, g, &dims, result_dim(ragged), &in_result);
                let rest = all.unwrap_or_else(|| product.zeros_like());
                all = Some(own.select(product, rest));
            }
            RaggedMode::Contracting => {
                let own = in_group(sizes, g, &l, ragged, &prefix);
                let paired = |dim: i64| {
                    let contracting =
                        place(lhs_contracting_dims, dim).map(|i| (rhs_contracting_dims, i));
                    let pair = contracting
                        .or_else(|| place(lhs_batch_dims, dim).map(|i| (rhs_batch_dims, i)));
                    pair.map_or(0, |(dims, i)| dims[usize::try_from(i).unwrap_or(0)])
                };
                let of_rhs: Vec<i64> = prefix.iter().map(|&dim| paired(dim)).collect();
                let other = in_group(sizes, g, &r, paired(ragged), &of_rhs);
                let lhs = own.select(lhs, lhs.zeros_like());
                let rhs = other.select(rhs, rhs.zeros_like());
                parts.push(dot(lhs, rhs, &numbers));
            }
        }
    }
    match all {
        Some(all) => all,
        None if parts.is_empty() => lhs.builder().zeros(result.clone()),
        None => stack(&parts),
    }
}
