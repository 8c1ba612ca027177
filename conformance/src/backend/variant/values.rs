//! Values that are inaccurate, flushed to zero, or a NaN of the other sign.
#![expect(clippy::wildcard_enum_match_arm, reason = "most ops have no variant")]
use super::edit::Edit;
use hlo::elem::Special;
use hlo::ir::{Instruction, InstructionId};
use hlo::op::value::Direction;
use hlo::op::{Accuracy, Binary, Unary};
use hlo::{ElementType, Op, Opcode};
use std::collections::BTreeMap;

/// Returns the accuracy of a function of floats of one type, in units in the last place.
fn ulps(edit: &Edit<'_>) -> Option<u32> {
    let instruction = edit.instruction();
    let function = match &instruction.op {
        Op::Unary(op) => *op != Unary::Sign,
        Op::Binary(_) => true,
        _ => false,
    };
    let Accuracy::Ulp(ulps) = instruction.opcode().accuracy() else { return None };
    let common = instruction.common.as_ref();
    let open = common.is_none_or(|common| common.result_accuracy.is_none());
    let ty = edit.arrays().map(|shape| shape.ty).filter(|ty| ty.is_float())?;
    let whole = ty.float_format().is_some_and(|f| f.special == Special::PowerOfTwo);
    let same = edit.operands().iter().all(|&x| edit.ty(x) == ty);
    (function && open && same && !whole).then_some(ulps)
}

/// Computes a reciprocal root as the reciprocal of the root.
pub(super) fn by_root(edit: &mut Edit<'_>) -> bool {
    let rsqrt = edit.instruction().op == Op::from(Unary::Rsqrt);
    if !rsqrt || ulps(edit).is_none() {
        return false;
    }
    let ty = computed(edit.ty(edit.at));
    let x = edit.convert(edit.operands()[0], ty);
    let root = edit.unary(Unary::Sqrt, x);
    let one = edit.filled(root, 1.0);
    let value = edit.binary(Binary::Divide, one, root);
    edit.set(value)
}

/// Returns the type in which a function is computed.
fn computed(ty: ElementType) -> ElementType {
    if ty.bits() < 32 { ElementType::F32 } else { ty }
}

/// Makes a function wrong by as many units in the last place as its op allows.
pub(super) fn inaccurate(edit: &mut Edit<'_>) -> bool {
    let Some(ulps) = ulps(edit) else { return false };
    let own = edit.ty(edit.at);
    if (8..32).contains(&own.bits()) && edit.random.bool() {
        // It is computed in its own type, of which it may lose one unit.
        let value = function(edit, own);
        return moved(edit, value, |edit, bits| neighbors(edit, bits, 1));
    }
    let most = i64::from(ulps);
    let ty = computed(own);
    let beyond = ty == ElementType::F32 && (most == 1 || edit.random.bool());
    if most == 1 && !beyond {
        return false;
    }
    let value = function(edit, ty);
    moved(edit, value, |edit, bits| match beyond {
        true => steps_beyond(edit, value, bits, most),
        // The value itself is half a unit off.
        false => neighbors(edit, bits, most - 1),
    })
}

/// Makes the parts of a complex function wrong by units in the last place of its absolute value.
pub(super) fn inaccurate_complex(edit: &mut Edit<'_>) -> bool {
    let op = &edit.instruction().op;
    let Accuracy::Ulp(ulps) = op.opcode().accuracy() else { return false };
    let function = matches!(op, Op::Unary(_) | Op::Binary(_));
    let Some(shape) = edit.arrays().filter(|shape| function && shape.ty.is_complex()) else {
        return false;
    };
    let part = shape.ty.component();
    let value = self::function(edit, shape.ty);
    let real = shape.with_type(part);
    let size = edit.add(Unary::Abs, real.clone(), [value]);
    // Half a unit of the smallest numbers of a binade; the rest is for rounding.
    let unit = if part == ElementType::F32 { -24f64 } else { -53f64 }.exp2();
    let parts = [Unary::Real, Unary::Imag].map(|op| {
        let own = edit.add(op, real.clone(), [value]);
        let units = f64::from(edit.random.i32(-1..=1)) * f64::from(ulps + 2);
        let step = edit.filled(size, units * unit);
        let step = edit.binary(Binary::Multiply, size, step);
        let moved = edit.binary(Binary::Add, own, step);
        let finite = edit.is_finite(moved);
        edit.select(finite, moved, own)
    });
    let value = edit.add(Binary::Complex, shape, parts);
    edit.set(value)
}

/// Returns random numbers of units, up to `most` up or down.
fn neighbors(edit: &mut Edit<'_>, bits: InstructionId, most: i64) -> InstructionId {
    let count = edit.shape(bits).element_count().unwrap_or(0).clamp(2, 64);
    let numbers: Vec<i64> = (0..count).map(|_| edit.random.i64(-most..=most)).collect();
    edit.integers(bits, &numbers)
}

/// Sets the instruction to a value that is off by some units in the last place.
fn moved(
    edit: &mut Edit<'_>,
    value: InstructionId,
    steps: impl FnOnce(&mut Edit<'_>, InstructionId) -> InstructionId,
) -> bool {
    let bits = edit.bits(value);
    let steps = steps(edit, bits);
    let moved = edit.binary(Binary::Add, bits, steps);
    let allowed = may_move(edit, value, bits, moved);
    let moved = edit.of_bits(moved, edit.ty(value));
    let finite = edit.is_finite(moved);
    let allowed = edit.binary(Binary::And, allowed, finite);
    let value = edit.select(allowed, moved, value);
    edit.set(value)
}

/// Adds the function in another type.
fn function(edit: &mut Edit<'_>, ty: ElementType) -> InstructionId {
    let op = edit.op();
    let operands: Vec<InstructionId> =
        edit.operands().into_iter().map(|x| edit.convert(x, ty)).collect();
    let shape = edit.shape(edit.at);
    edit.add(op, shape.with_type(ty), operands)
}

/// Returns the steps from the `f32` that is nearest to the value of a function to the last one
/// beyond that value that is allowed.
fn steps_beyond(
    edit: &mut Edit<'_>,
    value: InstructionId,
    bits: InstructionId,
    most: i64,
) -> InstructionId {
    let real = function(edit, ElementType::F64);
    let real = edit.unary(Unary::Abs, real);
    let near = edit.unary(Unary::Abs, value);
    let near = edit.convert(near, ElementType::F64);
    let [above, below] =
        [Direction::Gt, Direction::Lt].map(|direction| edit.compare(direction, real, near));
    let [up, none, down] = [most, 0, -most].map(|n| edit.integers(bits, &[n]));
    let down = edit.select(below, down, none);
    edit.select(above, up, down)
}

/// Returns whether a value may have other bits: it is normal, finite and no power of two, and stays
/// in its binade.
fn may_move(
    edit: &mut Edit<'_>,
    value: InstructionId,
    bits: InstructionId,
    moved: InstructionId,
) -> InstructionId {
    let format = edit.ty(value).float_format().expect("a function of floats");
    let least = 1i64 << format.mantissa_bits;
    let [exponents, significands, zero, least] =
        [-least, least - 1, 0, least].map(|n| edit.integers(bits, &[n]));
    let changed = edit.binary(Binary::Xor, bits, moved);
    let changed = edit.binary(Binary::And, changed, exponents);
    let same = edit.compare(Direction::Eq, changed, zero);
    let significand = edit.binary(Binary::And, bits, significands);
    let no_power = edit.compare(Direction::Ne, significand, zero);
    let magnitude = edit.unary(Unary::Abs, value);
    let magnitude = edit.bits(magnitude);
    let normal = edit.compare(Direction::Ge, magnitude, least);
    let finite = edit.is_finite(value);
    [no_power, normal, finite]
        .into_iter()
        .fold(same, |all, choice| edit.binary(Binary::And, all, choice))
}

fn is_convert(instruction: &Instruction) -> bool {
    instruction.opcode() == Opcode::Convert
}

/// Returns whether an op computes with floats, or compares them, where it may flush denormals.
fn computes(op: &Op) -> bool {
    let opcode = op.opcode();
    match op {
        Op::Compare(_) | Op::Dot(_) | Op::Convolution(_) => true,
        _ => opcode.is_elementwise() && !opcode.moves_data(),
    }
}

/// Returns whether an op may round its result.
fn rounds(op: &Op) -> bool {
    match op {
        Op::Binary(Binary::Add | Binary::Subtract | Binary::Multiply | Binary::Divide) => true,
        Op::Convert(_) | Op::ReducePrecision(_) => true,
        _ => matches!(op.opcode().accuracy(), Accuracy::Ulp(_) | Accuracy::Order),
    }
}

/// Moves what an op may have rounded by a unit in the last place, up, down or not at all. Whole
/// numbers that their type holds stay: they count and choose.
pub(super) fn by_a_unit(edit: &mut Edit<'_>) -> bool {
    let op = edit.original.get(edit.at).map_or(&edit.instruction().op, |old| &old.op);
    let Some(shape) = edit.arrays().filter(|_| rounds(op)) else { return false };
    let part = shape.ty.component();
    let Some(format) = part.float_format().filter(|f| f.special != Special::PowerOfTwo) else {
        return false;
    };
    let unit = (-f64::from(format.mantissa_bits)).exp2();
    let count = shape.element_count().unwrap_or(0).clamp(2, 64);
    let value = edit.copied();
    let moved = |edit: &mut Edit<'_>, x: InstructionId| {
        let steps = (0..count).map(|_| 1.0 + f64::from(edit.random.i32(-1..=1)) * unit);
        let steps: Vec<f64> = steps.collect();
        let steps = edit.floats(x, &steps);
        let moved = edit.binary(Binary::Multiply, x, steps);
        let whole = edit.unary(Unary::RoundNearestEven, x);
        let whole = edit.compare(Direction::Eq, whole, x);
        let size = edit.unary(Unary::Abs, x);
        let most = edit.filled(x, unit.recip());
        let held = edit.compare(Direction::Le, size, most);
        let stays = edit.binary(Binary::And, whole, held);
        edit.select(stays, x, moved)
    };
    let value = if shape.ty.is_complex() {
        let real = shape.with_type(part);
        let parts = [Unary::Real, Unary::Imag].map(|op| {
            let own = edit.add(op, real.clone(), [value]);
            moved(edit, own)
        });
        edit.add(Binary::Complex, shape, parts)
    } else {
        moved(edit, value)
    };
    edit.set(value)
}

/// Returns a value with a zero in place of each denormal.
fn flushed(edit: &mut Edit<'_>, x: InstructionId) -> InstructionId {
    let least = edit.ty(x).float_format().map_or(0.0, |f| f64::from(1 - f.bias).exp2());
    let magnitude = edit.unary(Unary::Abs, x);
    let [least, zero] = [least, 0.0].map(|y| edit.filled(x, y));
    let tiny = edit.compare(Direction::Lt, magnitude, least);
    let zero = edit.binary(Binary::Multiply, x, zero);
    edit.select(tiny, zero, x)
}

/// Returns whether hardware flushes the denormals of a type.
fn flushes(ty: ElementType) -> bool {
    [ElementType::F32, ElementType::Bf16, ElementType::F64].contains(&ty)
}

/// Reads denormals as zeros.
pub(super) fn flushed_operands(edit: &mut Edit<'_>) -> bool {
    // A conversion of another variant only holds a value.
    let holds =
        is_convert(edit.instruction()) && !edit.original.get(edit.at).is_some_and(is_convert);
    if holds || !computes(&edit.instruction().op) || edit.arrays().is_none() {
        return false;
    }
    let operands = edit.operands();
    let mut read = BTreeMap::new();
    for (i, x) in operands.into_iter().enumerate() {
        if !flushes(edit.ty(x)) {
            continue;
        }
        let value = *read.entry(x).or_insert_with(|| flushed(edit, x));
        edit.computation.instruction_mut(edit.at).operands[i] = value;
    }
    !read.is_empty()
}

/// Writes denormals as zeros.
pub(super) fn flushed_result(edit: &mut Edit<'_>) -> bool {
    let shape = edit.arrays().filter(|shape| flushes(shape.ty));
    let computes = match edit.original.get(edit.at) {
        Some(old) => computes(&old.op),
        None => computes(&edit.instruction().op) && !is_convert(edit.instruction()),
    };
    if !computes || shape.is_none() {
        return false;
    }
    let value = edit.copied();
    let value = flushed(edit, value);
    edit.set(value)
}

/// Gives a computed NaN the other sign.
pub(super) fn negative_nan(edit: &mut Edit<'_>) -> bool {
    let computed = match &edit.original().op {
        Op::Unary(op) => *op != Unary::Abs && !op.opcode().moves_data(),
        Op::Binary(op) => !op.opcode().moves_data(),
        Op::Clamp(_) | Op::Dot(_) | Op::Convolution(_) => true,
        Op::Reduce(op) => edit.reducers.contains_key(&op.to_apply),
        _ => false,
    };
    let signed = |ty: ElementType| flushes(ty) || ty == ElementType::F16;
    if !computed || edit.arrays().is_none_or(|shape| !signed(shape.ty)) {
        return false;
    }
    let value = edit.copied();
    let nan = edit.compare(Direction::Ne, value, value);
    let negative = edit.unary(Unary::Negate, value);
    let value = edit.select(nan, negative, value);
    edit.set(value)
}
