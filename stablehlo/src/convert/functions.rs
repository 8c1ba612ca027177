//! Functions that HLO lacks: computations of one element, applied by `map`.
use super::scope::Scope;
use crate::error::Result;
use crate::ir::Op;
use hlo::elem::Special;
use hlo::ir::{Computation, ComputationId, InstructionId};
use hlo::op::value::Direction;
use hlo::op::{Binary, BitcastConvert, Compare, Map, Select};
use hlo::{Dims, ElementType, Literal, Module};
use rustc_hash::FxHashMap;
use std::sync::LazyLock;

/// The functions of f64: those of the package `etalon-builder`, as text.
pub(super) const TEXT: &str = include_str!("functions.hlo");

static MODULE: LazyLock<Module> = LazyLock::new(|| Module::parse(TEXT).expect("tested below"));

/// `chlo.lgamma`, ...: the function of the name after the dialect.
pub(super) fn call(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let operands = scope.operands(op)?;
    let name = op.name.rsplit('.').next().unwrap_or_default();
    let id = apply(scope, op, name, &operands)?;
    scope.bind(op, id)
}

/// Applies a function to each element: in f64, the result rounded to the type of the operands.
pub(super) fn apply(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    name: &str,
    operands: &[InstructionId],
) -> Result<InstructionId> {
    let found = MODULE.computations.iter().find(|(_, computation)| computation.name == name);
    let Some((function, _)) = found else {
        return Err(scope.unsupported(op, format!("`{}` has no conversion to HLO", op.name)));
    };
    let Some(&first) = operands.first() else {
        return Err(scope.malformed(op, format!("`{}` needs an operand", op.name)));
    };
    let shape = scope.array(op, first)?;
    if !shape.ty.is_float() {
        return Err(
            scope.unsupported(op, format!("`{}` of {}, expected real floats", op.name, shape.ty))
        );
    }
    let mut wide = Vec::with_capacity(operands.len());
    for &x in operands {
        wide.push(super::moves::convert_to(scope, op, x, ElementType::F64)?);
    }
    let to_apply = scope.import(function);
    let dimensions = (0i64..).take(shape.rank()).collect();
    let id = scope.emit(op, Map { dimensions, to_apply }, &wide)?;
    super::moves::convert_to(scope, op, id, shape.ty)
}

impl Scope<'_, '_> {
    /// Copies a function and those that it calls, unless that was done.
    fn import(&mut self, function: ComputationId) -> ComputationId {
        if let Some(known) = self.cx.imported.get(&function) {
            return *known;
        }
        let mut computation: Computation = MODULE.computations[function].clone();
        for (_, instruction) in computation.instructions.iter_mut() {
            instruction.op.each_callee_mut(&mut |callee| *callee = self.import(*callee));
        }
        let id = self.cx.finish(computation);
        self.cx.imported.insert(function, id);
        id
    }
}

/// Returns whether this is the name of one of the functions.
#[cfg(test)]
pub(super) fn is_function(name: &str) -> bool {
    MODULE.computations.iter().any(|(id, function)| id != MODULE.entry && function.name == name)
}

/// The computations that were copied from this text.
pub(super) type Imported = FxHashMap<ComputationId, ComputationId>;

/// `chlo.next_after`.
pub(super) fn next_after(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [from, to] = scope.exactly(op)?;
    let id = next_after_of(scope, op, from, to)?;
    scope.bind(op, id)
}

/// Returns the number next to `from` on the way to `to`. On the bits: magnitudes count up from 0 without gaps, and the sign
/// bit is above them.
pub(super) fn next_after_of(
    scope: &mut Scope<'_, '_>,
    op: &Op,
    from: InstructionId,
    to: InstructionId,
) -> Result<InstructionId> {
    let shape = scope.array(op, from)?;
    let unsigned = match shape.ty.bits() {
        8 => ElementType::U8,
        16 => ElementType::U16,
        32 => ElementType::U32,
        _ => ElementType::U64,
    };
    let is_ieee = shape.ty.float_format().is_some_and(|format| format.special == Special::Ieee);
    if !is_ieee || unsigned.bits() != shape.ty.bits() {
        return Err(scope.unsupported(op, format!("`{}` of {}", op.name, shape.ty)));
    }
    let words = shape.with_type(unsigned);
    let word = |scope: &mut Scope<'_, '_>, bits: u64| -> Result<InstructionId> {
        let bytes = &bits.to_le_bytes()[..unsigned.storage_bytes()];
        let literal = Literal::from_bytes(hlo::ArrayShape::new(unsigned, Dims::new()), bytes);
        let one =
            super::moves::literal_constant(scope, op, literal.expect("the bytes of one word"))?;
        super::moves::broadcast_to(scope, op, one, &[], &words)
    };
    let sign_bit = 1u64 << (unsigned.bits() - 1);
    let (magnitudes, signs) = (word(scope, sign_bit - 1)?, word(scope, sign_bit)?);
    let (zero, one) = (word(scope, 0)?, word(scope, 1)?);
    let of = |scope: &mut Scope<'_, '_>, direction, x, y| {
        scope.emit(op, Compare::new(direction), &[x, y])
    };
    let bits = scope.emit_as(op, BitcastConvert {}, &[from], words.clone())?;
    let to_bits = scope.emit_as(op, BitcastConvert {}, &[to], words.clone())?;
    let magnitude = scope.emit(op, Binary::And, &[bits, magnitudes])?;
    let sign = scope.emit(op, Binary::And, &[bits, signs])?;
    let to_magnitude = scope.emit(op, Binary::And, &[to_bits, magnitudes])?;
    let to_sign = scope.emit(op, Binary::And, &[to_bits, signs])?;

    let other_side = of(scope, Direction::Ne, sign, to_sign)?;
    let beyond = of(scope, Direction::Gt, magnitude, to_magnitude)?;
    let inward = scope.emit(op, Binary::Or, &[other_side, beyond])?;
    let down = scope.emit(op, Binary::Subtract, &[magnitude, one])?;
    let up = scope.emit(op, Binary::Add, &[magnitude, one])?;
    let moved = scope.emit(op, Select {}, &[inward, down, up])?;
    let from_zero = of(scope, Direction::Eq, magnitude, zero)?;
    let smallest = scope.emit(op, Binary::Or, &[to_sign, one])?;
    let moved = scope.emit(op, Binary::Or, &[sign, moved])?;
    let step = scope.emit(op, Select {}, &[from_zero, smallest, moved])?;
    let next = scope.emit_as(op, BitcastConvert {}, &[step], shape)?;

    let same = of(scope, Direction::Eq, from, to)?;
    let next = scope.emit(op, Select {}, &[same, to, next])?;
    let (left, right) = (of(scope, Direction::Ne, from, from)?, of(scope, Direction::Ne, to, to)?);
    let is_nan = scope.emit(op, Binary::Or, &[left, right])?;
    let nan = scope.emit(op, Binary::Add, &[from, to])?;
    scope.emit(op, Select {}, &[is_nan, nan, next])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_a_module() {
        assert!(MODULE.clone().verify().is_ok());
    }
}
