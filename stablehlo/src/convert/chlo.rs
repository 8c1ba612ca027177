//! CHLO: ops of clients. Those that HLO has become its ops, others a few instructions or a call of
//! a function.
use super::emit::{broadcast_to, compare_of, literal_constant};
use super::functions;
use super::scope::Scope;
use super::shape;
use crate::error::Result;
use crate::ir::{Attribute, Op};
use hlo::ir::InstructionId;
use hlo::op::value::Direction;
use hlo::op::{Binary, Compare, Scan, Select, TopK, Unary};
use hlo::{ArrayShape, Class, Dims, Literal, Scalar};

pub(crate) fn square(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let id = scope.emit(op, Binary::Multiply, &[x, x])?;
    scope.bind(op, id)
}
pub(crate) fn conj(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    if !scope.array(op, x)?.ty.is_complex() {
        return scope.bind(op, x);
    }
    let (re, im) = (scope.emit(op, Unary::Real, &[x])?, scope.emit(op, Unary::Imag, &[x])?);
    let im = scope.emit(op, Unary::Negate, &[im])?;
    let id = scope.emit(op, Binary::Complex, &[re, im])?;
    scope.bind(op, id)
}
pub(crate) fn atan(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let one = scope.full(op, &scope.array(op, x)?, 1.0)?;
    let id = scope.emit(op, Binary::Atan2, &[x, one])?;
    scope.bind(op, id)
}

pub(crate) fn is_inf(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let magnitude = scope.emit(op, Unary::Abs, &[x])?;
    equals(scope, op, magnitude, f64::INFINITY)
}
pub(crate) fn is_pos_inf(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    equals(scope, op, x, f64::INFINITY)
}
pub(crate) fn is_neg_inf(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    equals(scope, op, x, f64::NEG_INFINITY)
}
fn equals(scope: &mut Scope<'_, '_>, op: &Op, x: InstructionId, value: f64) -> Result<()> {
    let value = scope.full(op, &scope.array(op, x)?, value)?;
    let id = scope.emit(op, Compare::new(Direction::Eq), &[x, value])?;
    scope.bind(op, id)
}

/// Converts `chlo.constant_like`: a number, as an array of the operand's shape.
pub(crate) fn constant_like(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let shape = scope.array(op, x)?;
    let scalar = match op.attributes.get("value") {
        Some(Attribute::Float(value, _)) => Scalar::Float(*value),
        Some(Attribute::Integer(value, _)) => match i64::try_from(*value) {
            Ok(value) if shape.ty.class() == Class::Signed => Scalar::Signed(value),
            Ok(value) => Scalar::Signed(value).convert(hlo::ElementType::S64, shape.ty),
            Err(_) => return Err(scope.missing(op, "value")),
        },
        _ => return Err(scope.missing(op, "value")),
    };
    let one = literal_constant(scope, op, Literal::scalar(shape.ty, scalar))?;
    let id = broadcast_to(scope, op, one, &[], &shape)?;
    scope.bind(op, id)
}

/// Converts `chlo.top_k`.
pub(crate) fn top_k(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [x] = scope.exactly(op)?;
    let k = scope.required(op, "k")?;
    top_k_of(scope, op, x, k)
}
/// Adds a `topk` of these many elements.
pub(super) fn top_k_of(scope: &mut Scope<'_, '_>, op: &Op, x: InstructionId, k: i64) -> Result<()> {
    let mut made = TopK::new(k);
    made.largest = scope.optional(op, "largest")?.unwrap_or(true);
    let id = scope.emit(op, made, &[x])?;
    scope.bind_tuple(op, id)
}

/// Converts `chlo.broadcast_add`, ...: the op of the name after `broadcast_`, of operands that are
/// broadcast to each other.
pub(crate) fn broadcast_binary(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 2] = scope.exactly(op)?;
    let dims: Option<Vec<i64>> = scope.optional(op, "broadcast_dimensions")?;
    let [x, y] = broadcast_together(scope, op, operands, dims.as_deref())?;
    let name = op.name.strip_prefix("chlo.broadcast_").unwrap_or(&op.name);
    let known = Binary::ALL.iter().find(|binary| binary.opcode().name().replace('-', "_") == name);
    let id = match known {
        Some(binary) => scope.emit(op, *binary, &[x, y])?,
        None if name == "compare" => compare_of(scope, op, [x, y])?,
        None if name == "next_after" => functions::next_after_of(scope, op, x, y)?,
        None => functions::apply(scope, op, name, &[x, y])?,
    };
    scope.bind(op, id)
}
pub(crate) fn broadcast_select(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands: [_; 3] = scope.exactly(op)?;
    let operands = broadcast_together(scope, op, operands, None)?;
    let id = scope.emit(op, Select {}, &operands)?;
    scope.bind(op, id)
}
/// Broadcasts arrays to their common shape. `dims` are the dimensions that the array of the lower
/// rank becomes, by default the last ones.
fn broadcast_together<const N: usize>(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    operands: [InstructionId; N],
    dims: Option<&[i64]>,
) -> Result<[InstructionId; N]> {
    let mut shapes = Vec::with_capacity(N);
    for id in operands {
        shapes.push(scope.array(op, id)?);
    }
    let rank = shapes.iter().map(ArrayShape::rank).max().unwrap_or(0);
    let places: Vec<Vec<i64>> = shapes
        .iter()
        .map(|shape| match dims {
            Some(dims) if shape.rank() < rank && dims.len() == shape.rank() => dims.to_vec(),
            _ => (0i64..).skip(rank - shape.rank()).take(shape.rank()).collect(),
        })
        .collect();
    // Each shape, with size 1 where it has no dimension.
    let mut aligned = Vec::with_capacity(N);
    for (shape, places) in shapes.iter().zip(&places) {
        let mut sizes = vec![1; rank];
        for (&place, &size) in places.iter().zip(&shape.dims) {
            match usize::try_from(place).ok().and_then(|place| sizes.get_mut(place)) {
                Some(slot) => *slot = size,
                None => return Err(scope.malformed(op, format!("there is no dimension {place}"))),
            }
        }
        aligned.push(sizes);
    }
    let all: Vec<&[i64]> = aligned.iter().map(Vec::as_slice).collect();
    let Some(sizes) = shape::broadcast(&all) else {
        let shown: Vec<_> = shapes.iter().map(|shape| format!("{shape:#}")).collect();
        return Err(scope.malformed(op, format!("{} have no common shape", shown.join(", "))));
    };
    let mut result = operands;
    for ((id, shape), places) in result.iter_mut().zip(&shapes).zip(&places) {
        let target = ArrayShape::new(shape.ty, Dims::from_slice(&sizes));
        if shape.dims.as_slice() != sizes {
            *id = broadcast_to(scope, op, *id, places, &target)?;
        }
    }
    Ok(result)
}

/// Converts `chlo.scan`: its operands are the arrays and then the initial carries; its results the
/// outputs and then the carries.
pub(crate) fn scan<'p>(scope: &mut Scope<'_, 'p>, op: &'p Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let segments = scope.required::<Vec<i64>>(op, "operandSegmentSizes")?;
    let &[_, carries] = segments.as_slice() else {
        return Err(scope.missing(op, "operandSegmentSizes"));
    };
    let dimension: i64 = scope.required(op, "dimension")?;
    let to_apply = scope.applied(op, 0)?;
    let mut made = Scan::new(vec![dimension], carries, to_apply);
    made.is_reverse = scope.flag(op, "is_reverse")?;
    made.is_associative = scope.flag(op, "is_associative")?;
    let mut shapes =
        (0..op.results.len()).map(|i| scope.stated(op, i)).collect::<Result<Vec<_>>>()?;
    let shape = if shapes.len() == 1 { shapes.remove(0) } else { hlo::Shape::Tuple(shapes) };
    let id = scope.emit_as(op, made, &operands, shape)?;
    scope.bind_all(op, id)
}
