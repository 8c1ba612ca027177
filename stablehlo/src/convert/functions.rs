//! Functions that HLO lacks: computations of one element, applied by `map`.
use super::scope::Scope;
use crate::error::Result;
use crate::ir::Op;
use builder::Builder;
use hlo::elem::Special;
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::value::Direction;
use hlo::op::{Binary, BitcastConvert, Compare, Map, Select};
use hlo::{Dims, ElementType, Literal, Module};

/// Builds a function of f64: that of the library of the package `etalon-builder`, as a module that
/// calls it.
pub(super) fn build(name: &str) -> Option<Module> {
    let b = Builder::new(name);
    let x = b.parameter(0, "f64[]", "x");
    let y = || b.parameter(1, "f64[]", "y");
    let root = match name {
        "bessel_i1e" => x.bessel_i1e(),
        "digamma" => x.digamma(),
        "erf_inv" => x.erf_inv(),
        "erfc" => x.erfc(),
        "lgamma" => x.lgamma(),
        "polygamma" => x.polygamma(y()),
        "zeta" => x.zeta(y()),
        _ => return None,
    };
    Some(
        b.build(root).expect("a function of the library, of the type it is made for").into_module(),
    )
}

/// Converts `chlo.lgamma`, ...: the function of the name after the dialect.
pub(crate) fn call(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
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
        wide.push(super::emit::convert_to(scope, op, x, ElementType::F64)?);
    }
    let Some(to_apply) = scope.function(name) else {
        return Err(scope.unsupported(op, format!("`{}` has no conversion to HLO", op.name)));
    };
    let dimensions = (0i64..).take(shape.rank()).collect();
    let id = scope.emit(op, Map { dimensions, to_apply }, &wide)?;
    super::emit::convert_to(scope, op, id, shape.ty)
}

impl Scope<'_, '_> {
    /// Returns the computation of a function, which is added once.
    fn function(&mut self, name: &str) -> Option<ComputationId> {
        if let Some(known) = self.cx.library.get(name) {
            return Some(*known);
        }
        let module = build(name)?;
        let function = module.computations.iter().find(|(_, function)| function.name == name);
        let (function, _) = function.expect("the functions of the library are computations");
        let id = self.import(&module, function);
        self.cx.library.insert(name.into(), id);
        Some(id)
    }
    /// Copies a computation of another module, and those that it calls.
    fn import(&mut self, module: &Module, id: ComputationId) -> ComputationId {
        let mut computation = module.computations[id].clone();
        for (_, instruction) in computation.instructions.iter_mut() {
            // Their source is in the library.
            instruction.common = None;
            instruction.op.each_callee_mut(&mut |callee| *callee = self.import(module, *callee));
        }
        self.cx.finish(computation)
    }
}

/// Converts `chlo.next_after`.
pub(crate) fn next_after(scope: &mut Scope<'_, '_>, op: &Op) -> Result<()> {
    let [from, to] = scope.exactly(op)?;
    let id = next_after_of(scope, op, from, to)?;
    scope.bind(op, id)
}

/// Returns the number next to `from` on the way to `to`. On the bits: magnitudes count up from 0
/// without gaps, and the sign bit is above them.
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
            super::emit::literal_constant(scope, op, literal.expect("the bytes of one word"))?;
        super::emit::broadcast_to(scope, op, one, &[], &words)
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
