//! The instructions that the conversions of several ops share.
use super::attrs::EnumWord;
use super::scope::Scope;
use crate::error::Result;
use crate::ir::Op;
use hlo::ir::InstructionId;
use hlo::literal::ConstantValue;
use hlo::op::value::{
    ComparisonType, Direction, PaddingConfig, PaddingDim, SliceRange, SliceRanges,
};
use hlo::op::{Broadcast, Compare, Constant, Convert, Pad, Reshape, Slice, Unary};
use hlo::{ArrayShape, Class, Dims, ElementType, Literal, Scalar};

/// Adds a constant.
pub(super) fn literal_constant(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    literal: Literal,
) -> Result<InstructionId> {
    scope.emit(op, Constant { value: Box::new(ConstantValue::Literal(literal)) }, &[])
}

/// Broadcasts an array; dimension i becomes `dims[i]` of the result, and its size may be 1. A
/// `broadcast` of HLO expands no dimension, so that those of size 1 are removed first; new ones of
/// size 1 are a `reshape`.
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
        x = scope.emit(op, Unary::Real, &[x])?;
        from = scope.array(op, x)?;
    }
    scope.emit_as(op, Convert {}, &[x], from.with_type(to))
}

impl Scope<'_, '_> {
    /// Adds a number as an array of this shape.
    pub(super) fn full(
        &mut self,
        op: &Op,
        shape: &ArrayShape,
        value: f64,
    ) -> Result<InstructionId> {
        let scalar = match shape.ty.class() {
            Class::Complex => Scalar::Complex(value, 0.0),
            Class::Float => Scalar::Float(value),
            Class::Pred | Class::Signed | Class::Unsigned => {
                Scalar::Float(value).convert(ElementType::F64, shape.ty)
            }
        };
        let one = literal_constant(self, op, Literal::scalar(shape.ty, scalar.round_to(shape.ty)))?;
        match shape.rank() {
            0 => Ok(one),
            _ => self.emit_as(op, Broadcast::default(), &[one], shape.clone()),
        }
    }
}

/// Adds a comparison with the attributes of the op.
pub(super) fn compare_of(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    operands: [InstructionId; 2],
) -> Result<InstructionId> {
    let direction = scope.word(op, "comparison_direction", Direction::ALL, Direction::name)?;
    let direction = direction.ok_or_else(|| scope.missing(op, "comparison_direction"))?;
    let is_stated = match scope.optional::<EnumWord<'_>>(op, "compare_type")? {
        Some(word) => word.0 != "NOTYPE",
        None => false,
    };
    let ty = match is_stated {
        true => scope.word(op, "compare_type", ComparisonType::ALL, ComparisonType::name)?,
        false => None,
    };
    scope.emit(op, Compare { direction, ty }, &operands)
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
