//! Ops that copy, compare and select elements.
use super::emit::{broadcast_to, compare_of, convert_to, literal_constant, pad_with, slice_of};
use super::scope::Scope;
use super::types;
use crate::error::Result;
use crate::ir::{Dense, Op};
use hlo::ir::InstructionId;
use hlo::op::{
    BitcastConvert, Broadcast, Clamp, Concatenate, Copy, DynamicSlice, DynamicUpdateSlice,
    GetTupleElement, Iota, ReducePrecision, Reshape, Reverse, Select, Transpose,
};
use hlo::{ArrayShape, Dims, ElementType, Literal};

/// Converts `stablehlo.constant`: a scalar that is broadcast, if all elements are the same.
pub(crate) fn constant(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
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

/// Converts `stablehlo.broadcast_in_dim`.
pub(crate) fn broadcast_in_dim(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let dims = scope.list(op, "broadcast_dimensions")?;
    let result = scope.stated_array(op, 0)?;
    let id = broadcast_to(scope, op, x, &dims, &result)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.broadcast`: new dimensions in front.
pub(crate) fn broadcast(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let new = scope.list(op, "broadcast_sizes")?;
    let rank = scope.array(op, x)?.rank();
    let dims: Vec<i64> = (0i64..).skip(new.len()).take(rank).collect();
    let result = scope.stated_array(op, 0)?;
    let id = broadcast_to(scope, op, x, &dims, &result)?;
    scope.bind(op, id)
}

/// Converts `stablehlo.reshape`.
pub(crate) fn reshape(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let result = scope.stated(op, 0)?;
    let id = scope.emit_as(op, Reshape::default(), &[x], result)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.transpose`.
pub(crate) fn transpose(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let dimensions = scope.required(op, "permutation")?;
    let id = scope.emit(op, Transpose { dimensions }, &[x])?;
    scope.bind(op, id)
}
/// Converts `stablehlo.reverse`.
pub(crate) fn reverse(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let dimensions = scope.required(op, "dimensions")?;
    let id = scope.emit(op, Reverse { dimensions }, &[x])?;
    scope.bind(op, id)
}
/// Converts `stablehlo.concatenate`.
pub(crate) fn concatenate(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let dimensions = vec![scope.required(op, "dimension")?];
    let id = scope.emit(op, Concatenate { dimensions }, &operands)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.iota`.
pub(crate) fn iota(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let iota_dimension = Some(scope.required(op, "iota_dimension")?);
    let result = scope.stated(op, 0)?;
    let id = scope.emit_as(op, Iota { iota_dimension }, &[], result)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.slice`.
pub(crate) fn slice(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let starts: Vec<i64> = scope.required(op, "start_indices")?;
    let limits: Vec<i64> = scope.required(op, "limit_indices")?;
    let strides: Vec<i64> = scope.required(op, "strides")?;
    let id = slice_of(scope, op, x, &starts, &limits, &strides)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.pad`.
pub(crate) fn pad(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x, value] = scope.exactly(op)?;
    let low: Vec<i64> = scope.required(op, "edge_padding_low")?;
    let high: Vec<i64> = scope.required(op, "edge_padding_high")?;
    let interior: Vec<i64> = scope.required(op, "interior_padding")?;
    let id = pad_with(scope, op, [x, value], &low, &high, &interior)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.dynamic_slice`.
pub(crate) fn dynamic_slice(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let dynamic_slice_sizes = scope.required(op, "slice_sizes")?;
    let id = scope.emit(op, DynamicSlice { dynamic_slice_sizes }, &operands)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.dynamic_update_slice`.
pub(crate) fn dynamic_update_slice(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let id = scope.emit(op, DynamicUpdateSlice {}, &operands)?;
    scope.bind(op, id)
}

/// Converts `stablehlo.convert`: of a complex number to a real one, its real part.
pub(crate) fn convert(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let to = scope.stated_array(op, 0)?.ty;
    let id = convert_to(scope, op, x, to)?;
    scope.bind(op, id)
}
/// Converts `mhlo.copy`.
pub(crate) fn copy(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let id = scope.emit(op, Copy {}, &[x])?;
    scope.bind(op, id)
}
/// Converts `stablehlo.bitcast_convert`: the dimension that it adds or removes counts an `i1` as
/// one bit, and HLO a `pred` as eight.
pub(crate) fn bitcast_convert(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
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
/// Converts `stablehlo.reduce_precision`.
pub(crate) fn reduce_precision(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let exponent_bits = scope.required(op, "exponent_bits")?;
    let mantissa_bits = scope.required(op, "mantissa_bits")?;
    let shape = scope.shape(x).clone();
    let id = scope.emit_as(op, ReducePrecision { exponent_bits, mantissa_bits }, &[x], shape)?;
    scope.bind(op, id)
}

/// Converts `stablehlo.compare`.
pub(crate) fn compare(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x, y] = scope.exactly(op)?;
    let id = compare_of(scope, op, [x, y])?;
    scope.bind(op, id)
}
/// Converts `stablehlo.select`: a scalar predicate is broadcast.
pub(crate) fn select(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [which, on_true, on_false] = scope.exactly(op)?;
    let (pred, result) = (scope.array(op, which)?, scope.array(op, on_true)?);
    let which = match pred.rank() == 0 && result.rank() > 0 {
        true => broadcast_to(scope, op, which, &[], &result.with_type(pred.ty))?,
        false => which,
    };
    let id = scope.emit(op, Select {}, &[which, on_true, on_false])?;
    scope.bind(op, id)
}
/// Converts `stablehlo.clamp`: scalar bounds are broadcast.
pub(crate) fn clamp(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
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

/// Converts `stablehlo.tuple`.
pub(crate) fn tuple(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let id = scope.tuple(op, &operands)?;
    scope.bind(op, id)
}
/// Converts `stablehlo.get_tuple_element`.
pub(crate) fn get_tuple_element(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [tuple] = scope.exactly(op)?;
    let index = scope.required(op, "index")?;
    let id = scope.emit(op, GetTupleElement { index }, &[tuple])?;
    scope.bind(op, id)
}
