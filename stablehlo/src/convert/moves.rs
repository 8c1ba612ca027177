//! Ops that copy, compare and select elements.
use super::scope::Scope;
use super::types;
use crate::error::Result;
use crate::ir::{Dense, Op};
use hlo::ir::InstructionId;
use hlo::literal::ConstantValue;
use hlo::op::value::{
    ComparisonType, Direction, PaddingConfig, PaddingDim, SliceRange, SliceRanges,
};
use hlo::op::{
    BitcastConvert, Broadcast, Clamp, Compare, Concatenate, Constant, Convert, DynamicSlice,
    DynamicUpdateSlice, GetTupleElement, Iota, Pad, ReducePrecision, Reshape, Reverse, Select,
    Slice, Transpose,
};
use hlo::{ArrayShape, Dims, ElementType, Literal};

/// `stablehlo.constant`: a scalar that is broadcast, if all elements are the same.
pub(super) fn constant(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let dense = scope.optional::<&Dense>(op, "value")?;
    let Some(dense) = dense else {
        return Err(
            scope.unsupported(op, format!("the value of `{}` is not an array of numbers", op.name))
        );
    };
    let shape = types::array(&dense.ty).map_err(|error| scope.cx.placed(op, error))?;
    let stored = match dense.splat {
        true => ArrayShape::new(shape.ty, Dims::new()),
        false => shape.clone(),
    };
    let Some(literal) = Literal::from_bytes(stored, &dense.bytes) else {
        return Err(scope.malformed(op, "a constant has another number of elements than its type"));
    };
    let id = literal_constant(scope, op, literal)?;
    let id = match dense.splat && shape.rank() > 0 {
        true => scope.emit_as(op, Broadcast::default(), &[id], shape)?,
        false => id,
    };
    scope.bind(op, id)
}

/// Adds a constant.
pub(super) fn literal_constant(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    literal: Literal,
) -> Result<InstructionId> {
    scope.emit(op, Constant { value: Box::new(ConstantValue::Literal(literal)) }, &[])
}

/// `stablehlo.broadcast_in_dim`.
pub(super) fn broadcast_in_dim(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let dims = scope.list(op, "broadcast_dimensions")?;
    let result = scope.stated_array(op, 0)?;
    let id = broadcast_to(scope, op, x, &dims, &result)?;
    scope.bind(op, id)
}
/// `stablehlo.broadcast`: new dimensions in front.
pub(super) fn broadcast(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let new = scope.list(op, "broadcast_sizes")?;
    let rank = scope.array(op, x)?.rank();
    let dims: Vec<i64> = (0i64..).skip(new.len()).take(rank).collect();
    let result = scope.stated_array(op, 0)?;
    let id = broadcast_to(scope, op, x, &dims, &result)?;
    scope.bind(op, id)
}

/// Broadcasts an array; dimension i becomes `dims[i]` of the result, and its size may be 1. A `broadcast` of HLO expands no
/// dimension, so that those of size 1 are removed first; new ones of size 1 are a `reshape`.
pub(super) fn broadcast_to(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    x: InstructionId,
    dims: &[i64],
    result: &ArrayShape,
) -> Result<InstructionId> {
    let from = scope.array(op, x)?;
    let target = |i: usize| dims.get(i).and_then(|&dim| result.dim(dim));
    let fits = |(i, &size): (usize, &i64)| target(i).is_some_and(|to| size == to || size == 1);
    if from.rank() != dims.len() || from.ty != result.ty || !from.dims.iter().enumerate().all(fits)
    {
        let message =
            format!("{from:#} with the dimensions {dims:?} cannot be broadcast to {result:#}");
        return Err(scope.malformed(op, message));
    }
    let ascending = dims.is_sorted_by(|a, b| a < b);
    let same_count = from.dynamic.is_none()
        && result.dynamic.is_none()
        && from.element_count() == result.element_count();
    if ascending && same_count {
        return match from.dims == result.dims {
            true => Ok(x),
            false => scope.emit_as(op, Reshape::default(), &[x], result.clone()),
        };
    }
    let kept: Vec<usize> = (0..from.rank()).filter(|&i| Some(from.dims[i]) == target(i)).collect();
    let mut x = x;
    if kept.len() < from.rank() {
        let mut reshaped =
            ArrayShape::new(from.ty, kept.iter().map(|&i| from.dims[i]).collect::<Dims>());
        let dynamic: Vec<bool> = kept.iter().map(|&i| from.is_dynamic(i)).collect();
        reshaped.dynamic = dynamic.contains(&true).then(|| dynamic.into());
        x = scope.emit_as(op, Reshape::default(), &[x], reshaped)?;
    }
    let dimensions = kept.iter().map(|&i| dims[i]).collect();
    scope.emit_as(op, Broadcast { dimensions }, &[x], result.clone())
}

/// `stablehlo.reshape`.
pub(super) fn reshape(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let result = scope.stated(op, 0)?;
    let id = scope.emit_as(op, Reshape::default(), &[x], result)?;
    scope.bind(op, id)
}
/// `stablehlo.transpose`.
pub(super) fn transpose(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let dimensions = scope.required(op, "permutation")?;
    let id = scope.emit(op, Transpose { dimensions }, &[x])?;
    scope.bind(op, id)
}
/// `stablehlo.reverse`.
pub(super) fn reverse(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let dimensions = scope.required(op, "dimensions")?;
    let id = scope.emit(op, Reverse { dimensions }, &[x])?;
    scope.bind(op, id)
}
/// `stablehlo.concatenate`.
pub(super) fn concatenate(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let dimensions = vec![scope.required(op, "dimension")?];
    let id = scope.emit(op, Concatenate { dimensions }, &operands)?;
    scope.bind(op, id)
}
/// `stablehlo.iota`.
pub(super) fn iota(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let iota_dimension = Some(scope.required(op, "iota_dimension")?);
    let result = scope.stated(op, 0)?;
    let id = scope.emit_as(op, Iota { iota_dimension }, &[], result)?;
    scope.bind(op, id)
}
/// `stablehlo.slice`.
pub(super) fn slice(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let starts: Vec<i64> = scope.required(op, "start_indices")?;
    let limits: Vec<i64> = scope.required(op, "limit_indices")?;
    let strides: Vec<i64> = scope.required(op, "strides")?;
    let id = slice_of(scope, op, x, &starts, &limits, &strides)?;
    scope.bind(op, id)
}
/// Adds a slice.
pub(super) fn slice_of(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    x: InstructionId,
    starts: &[i64],
    limits: &[i64],
    strides: &[i64],
) -> Result<InstructionId> {
    if starts.len() != limits.len() || starts.len() != strides.len() {
        return Err(
            scope.malformed(op, "a slice needs a start, a limit and a stride for each dimension")
        );
    }
    let ranges = starts.iter().zip(limits).zip(strides);
    let ranges = ranges.map(|((&start, &limit), &stride)| SliceRange { start, limit, stride });
    scope.emit(op, Slice { ranges: SliceRanges(ranges.collect()) }, &[x])
}
/// `stablehlo.pad`.
pub(super) fn pad(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x, value] = scope.exactly(op)?;
    let low: Vec<i64> = scope.required(op, "edge_padding_low")?;
    let high: Vec<i64> = scope.required(op, "edge_padding_high")?;
    let interior: Vec<i64> = scope.required(op, "interior_padding")?;
    let id = pad_with(scope, op, [x, value], &low, &high, &interior)?;
    scope.bind(op, id)
}
/// Adds a pad.
pub(super) fn pad_with(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    operands: [InstructionId; 2],
    low: &[i64],
    high: &[i64],
    interior: &[i64],
) -> Result<InstructionId> {
    if low.len() != high.len() || low.len() != interior.len() {
        return Err(
            scope.malformed(op, "a pad needs low, high and interior padding for each dimension")
        );
    }
    let dims = low.iter().zip(high).zip(interior);
    let dims = dims.map(|((&low, &high), &interior)| PaddingDim { low, high, interior }).collect();
    scope.emit(op, Pad { padding: PaddingConfig { dims } }, &operands)
}
/// `stablehlo.dynamic_slice`.
pub(super) fn dynamic_slice(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let dynamic_slice_sizes = scope.required(op, "slice_sizes")?;
    let id = scope.emit(op, DynamicSlice { dynamic_slice_sizes }, &operands)?;
    scope.bind(op, id)
}
/// `stablehlo.dynamic_update_slice`.
pub(super) fn dynamic_update_slice(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let id = scope.emit(op, DynamicUpdateSlice {}, &operands)?;
    scope.bind(op, id)
}

/// `stablehlo.convert`: of a complex number to a real one, its real part.
pub(super) fn convert(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let to = scope.stated_array(op, 0)?.ty;
    let id = convert_to(scope, op, x, to)?;
    scope.bind(op, id)
}
/// Converts an array to another element type.
pub(super) fn convert_to(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    x: InstructionId,
    to: ElementType,
) -> Result<InstructionId> {
    let from = scope.array(op, x)?;
    if from.ty == to {
        return Ok(x);
    }
    let mut x = x;
    let mut from = from;
    if from.ty.is_complex() && !to.is_complex() {
        x = scope.emit(op, hlo::op::Unary::Real, &[x])?;
        from = scope.array(op, x)?;
    }
    scope.emit_as(op, Convert {}, &[x], from.with_type(to))
}
/// `stablehlo.bitcast_convert`: the dimension that it adds or removes counts an `i1` as one bit, and HLO a `pred` as eight.
pub(super) fn bitcast_convert(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [mut x] = scope.exactly(op)?;
    let (from, result) = (scope.array(op, x)?, scope.stated_array(op, 0)?);
    let bits = |shape: &ArrayShape| (shape.ty == ElementType::Pred).then_some(ElementType::U1);
    if from.rank() > result.rank()
        && let Some(bit) = bits(&from)
    {
        x = convert_to(scope, op, x, bit)?;
    }
    match bits(&result).filter(|_| from.rank() < result.rank()) {
        Some(bit) => {
            x = scope.emit_as(op, BitcastConvert {}, &[x], result.with_type(bit))?;
            x = convert_to(scope, op, x, result.ty)?;
        }
        None => x = scope.emit_as(op, BitcastConvert {}, &[x], result)?,
    }
    scope.bind(op, x)
}
/// `stablehlo.reduce_precision`.
pub(super) fn reduce_precision(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let exponent_bits = scope.required(op, "exponent_bits")?;
    let mantissa_bits = scope.required(op, "mantissa_bits")?;
    let shape = scope.shape(x).clone();
    let id = scope.emit_as(op, ReducePrecision { exponent_bits, mantissa_bits }, &[x], shape)?;
    scope.bind(op, id)
}

/// `stablehlo.compare`.
pub(super) fn compare(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x, y] = scope.exactly(op)?;
    let id = compare_of(scope, op, [x, y])?;
    scope.bind(op, id)
}
/// Adds a comparison with the attributes of the op.
pub(super) fn compare_of(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    operands: [InstructionId; 2],
) -> Result<InstructionId> {
    let direction = scope.word(op, "comparison_direction", Direction::ALL, Direction::name)?;
    let direction = direction.ok_or_else(|| scope.missing(op, "comparison_direction"))?;
    let is_stated = match scope.optional::<super::attrs::Word<'_>>(op, "compare_type")? {
        Some(word) => word.0 != "NOTYPE",
        None => false,
    };
    let ty = match is_stated {
        true => scope.word(op, "compare_type", ComparisonType::ALL, ComparisonType::name)?,
        false => None,
    };
    scope.emit(op, Compare { direction, ty }, &operands)
}
/// `stablehlo.select`: a scalar predicate is broadcast.
pub(super) fn select(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [which, on_true, on_false] = scope.exactly(op)?;
    let (pred, result) = (scope.array(op, which)?, scope.array(op, on_true)?);
    let which = match pred.rank() == 0 && result.rank() > 0 {
        true => broadcast_to(scope, op, which, &[], &result.with_type(pred.ty))?,
        false => which,
    };
    let id = scope.emit(op, Select {}, &[which, on_true, on_false])?;
    scope.bind(op, id)
}
/// `stablehlo.clamp`: scalar bounds are broadcast.
pub(super) fn clamp(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [low, x, high] = scope.exactly(op)?;
    let shape = scope.array(op, x)?;
    let mut bound = |id: InstructionId| match scope.array(op, id)?.rank() == 0 && shape.rank() > 0 {
        true => broadcast_to(scope, op, id, &[], &shape),
        false => Ok(id),
    };
    let (low, high) = (bound(low)?, bound(high)?);
    let id = scope.emit(op, Clamp {}, &[low, x, high])?;
    scope.bind(op, id)
}

/// `stablehlo.tuple`.
pub(super) fn tuple(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let id = scope.tuple(op, &operands)?;
    scope.bind(op, id)
}
/// `stablehlo.get_tuple_element`.
pub(super) fn get_tuple_element(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [tuple] = scope.exactly(op)?;
    let index = scope.required(op, "index")?;
    let id = scope.emit(op, GetTupleElement { index }, &[tuple])?;
    scope.bind(op, id)
}
