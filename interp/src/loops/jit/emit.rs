//! Code of one step after another.
use super::code::{self, StepCall};
use super::word::{WORD_BYTES, f32_bits};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::types::{F32, F64, I8, I64};
use cranelift_codegen::ir::{
    AbiParam, InstBuilder, MemFlags, Signature, StackSlot, StackSlotData, StackSlotKind, Type,
    Value,
};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use hlo::{Class, ElementType, Scalar};
use num::scalar_program::RegisterProgram;
use num::scalar_program::step::ScalarStep;
use std::sync::Arc;

/// The words of a step that is called: its operands, the first of which becomes its result.
pub(super) const CALL_WORDS: usize = 3;

/// How a value of an element type lies in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// 0 or 1 in 8 bits.
    Pred,
    /// Of this many bits, sign-extended to 64.
    Signed(u32),
    /// Of this many bits, zero-extended to 64.
    Unsigned(u32),
    Single,
    Double,
    /// A narrower float, as f64.
    Narrow(ElementType),
    /// Two f64.
    Complex,
}

impl Kind {
    pub(crate) fn of(ty: ElementType) -> Self {
        match ty.class() {
            Class::Pred => Self::Pred,
            Class::Signed => Self::Signed(ty.bits()),
            Class::Unsigned => Self::Unsigned(ty.bits()),
            Class::Float if ty == ElementType::F32 => Self::Single,
            Class::Float if ty == ElementType::F64 => Self::Double,
            Class::Float => Self::Narrow(ty),
            Class::Complex => Self::Complex,
        }
    }
    /// The type of each part.
    pub(crate) fn part(self) -> Type {
        match self {
            Self::Pred => I8,
            Self::Signed(_) | Self::Unsigned(_) => I64,
            Self::Single => F32,
            Self::Double | Self::Narrow(_) | Self::Complex => F64,
        }
    }
    /// The number of parts.
    pub(super) fn parts(self) -> usize {
        if self == Self::Complex { 2 } else { 1 }
    }
}

/// A value: a second part only of complex numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand {
    pub(crate) first: Value,
    second: Option<Value>,
}

impl From<Value> for Operand {
    fn from(first: Value) -> Self {
        Self { first, second: None }
    }
}

impl Operand {
    /// Returns the value with these parts.
    pub(super) fn from_parts(parts: &[Value]) -> Self {
        Self { first: parts[0], second: parts.get(1).copied() }
    }
    pub(super) fn parts(self) -> impl Iterator<Item = Value> {
        std::iter::once(self.first).chain(self.second)
    }
}

/// The code of a function while it is made.
pub(crate) struct Emitter<'a, 'b> {
    pub(crate) builder: &'a mut FunctionBuilder<'b>,
    pub(super) convention: CallConv,
    /// What the code calls steps with; the code has their addresses.
    pub(super) calls: &'a mut Vec<Arc<StepCall>>,
    /// The memory of [`CALL_WORDS`] words.
    pub(super) slot: Option<StackSlot>,
}

impl Emitter<'_, '_> {
    /// Emits the steps of a program; returns its results.
    pub(super) fn program(
        &mut self,
        program: &RegisterProgram,
        arguments: &[Operand],
    ) -> Vec<Operand> {
        let mut registers = arguments.to_vec();
        for &step in &program.steps {
            let ty = program.types[registers.len()];
            let emitted = self.step(step, ty, &registers);
            let result = emitted.unwrap_or_else(|| self.call_step(step, ty, &registers, program));
            registers.push(result);
        }
        program.results.iter().map(|&register| registers[register]).collect()
    }

    /// Emits a step with a result of type `ty`; `None` if it has to be called.
    pub(crate) fn step(
        &mut self,
        step: ScalarStep,
        ty: ElementType,
        registers: &[Operand],
    ) -> Option<Operand> {
        let value = |register: usize| registers[register].first;
        let result = match step {
            ScalarStep::Constant(constant) => return Some(self.constant(ty, constant)),
            ScalarStep::Select(p, a, b) => {
                return Some(self.select(value(p), registers[a], registers[b]));
            }
            ScalarStep::Unary(op, ty, x) => match Kind::of(ty) {
                Kind::Pred | Kind::Signed(_) | Kind::Unsigned(_) => {
                    self.integer_unary(op, ty, value(x))
                }
                Kind::Single | Kind::Double | Kind::Narrow(_) => self.float_unary(op, ty, value(x)),
                Kind::Complex => None,
            },
            ScalarStep::Binary(op, ty, a, b) => self.binary(op, ty, value(a), value(b)),
            ScalarStep::Clamp(ty, low, x, high) => {
                let (low, x, high) = (value(low), value(x), value(high));
                self.binary(hlo::op::Binary::Maximum, ty, x, low)
                    .and_then(|x| self.binary(hlo::op::Binary::Minimum, ty, high, x))
            }
            ScalarStep::Compare(direction, order, ty, a, b) => {
                self.compare(direction, order, ty, value(a), value(b))
            }
            ScalarStep::Convert(from, to, x) if from == to => return Some(registers[x]),
            ScalarStep::Convert(from, to, x) => self.convert(from, to, value(x)),
        };
        result.map(Operand::from)
    }

    fn binary(
        &mut self,
        op: hlo::op::Binary,
        ty: ElementType,
        a: Value,
        b: Value,
    ) -> Option<Value> {
        match Kind::of(ty) {
            Kind::Pred => self.pred_binary(op, a, b),
            Kind::Signed(_) | Kind::Unsigned(_) => self.integer_binary(op, ty, a, b),
            Kind::Single | Kind::Double | Kind::Narrow(_) => self.float_binary(op, ty, a, b),
            Kind::Complex => None,
        }
    }

    fn constant(&mut self, ty: ElementType, constant: Scalar) -> Operand {
        let mut double = |x: f64| self.builder.ins().f64const(Ieee64::with_bits(x.to_bits()));
        match constant {
            Scalar::Pred(x) => self.builder.ins().iconst(I8, i64::from(x)).into(),
            Scalar::Signed(x) => self.builder.ins().iconst(I64, x).into(),
            Scalar::Unsigned(x) => self.builder.ins().iconst(I64, x.cast_signed()).into(),
            Scalar::Float(x) if ty == ElementType::F32 => {
                let bits = u32::try_from(f32_bits(x)).unwrap_or_default();
                self.builder.ins().f32const(Ieee32::with_bits(bits)).into()
            }
            Scalar::Float(x) => double(x).into(),
            Scalar::Complex(re, im) => Operand { first: double(re), second: Some(double(im)) },
        }
    }

    fn select(&mut self, p: Value, a: Operand, b: Operand) -> Operand {
        let mut select = |a, b| self.builder.ins().select(p, a, b);
        let first = select(a.first, b.first);
        Operand { first, second: a.second.zip(b.second).map(|(a, b)| select(a, b)) }
    }

    /// Loads the value in a word.
    pub(super) fn load(&mut self, ty: ElementType, address: Value, word: usize) -> Operand {
        let kind = Kind::of(ty);
        let offset = offset(word);
        let mut part = |at| self.builder.ins().load(kind.part(), MemFlags::trusted(), address, at);
        let first = part(offset);
        Operand { first, second: (kind.parts() == 2).then(|| part(offset + WORD_BYTES / 2)) }
    }
    /// Stores a value in a word.
    pub(super) fn store(&mut self, value: Operand, address: Value, word: usize) {
        for (part, at) in value.parts().zip([0, WORD_BYTES / 2]) {
            self.builder.ins().store(MemFlags::trusted(), part, address, offset(word) + at);
        }
    }

    /// Calls a function at an address.
    pub(crate) fn call(
        &mut self,
        address: i64,
        parameters: &[Type],
        result: Option<Type>,
        arguments: &[Value],
    ) -> Option<Value> {
        let mut signature = Signature::new(self.convention);
        signature.params.extend(parameters.iter().map(|&ty| AbiParam::new(ty)));
        signature.returns.extend(result.map(AbiParam::new));
        let signature = self.builder.import_signature(signature);
        let address = self.builder.ins().iconst(I64, address);
        let call = self.builder.ins().call_indirect(signature, address, arguments);
        self.builder.inst_results(call).first().copied()
    }

    /// Calls the function that applies a step to values in memory.
    fn call_step(
        &mut self,
        step: ScalarStep,
        ty: ElementType,
        registers: &[Operand],
        program: &RegisterProgram,
    ) -> Operand {
        let bytes = u32::try_from(CALL_WORDS).unwrap_or_default() * WORD_BYTES.unsigned_abs();
        let slot = *self.slot.get_or_insert_with(|| {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 4);
            self.builder.create_sized_stack_slot(data)
        });
        let words = self.builder.ins().stack_addr(I64, slot, 0);
        let operands = step.operands();
        for (word, &register) in operands.iter().enumerate() {
            self.store(registers[register], words, word);
        }
        let types = operands.iter().map(|&register| program.types[register]).collect();
        let call = Arc::new(StepCall { step: step.renumbered(), types, result: ty });
        let data = self.builder.ins().iconst(I64, code::address_of(&call));
        self.calls.push(call);
        self.call(code::call_step_address(), &[I64, I64], None, &[data, words]);
        self.load(ty, words, 0)
    }
}

fn offset(word: usize) -> i32 {
    i32::try_from(word).expect("a program has few parameters and results") * WORD_BYTES
}
