//! Code of single steps: values of each element type in registers.
use super::emit::Emitter;
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::types::{F32, F64, I8, I8X16, I64};
use cranelift_codegen::ir::{AbiParam, InstBuilder, Signature, Type, Value};
use hlo::{Class, ElementType, Scalar};
use num::scalar_program::step::ScalarStep;

/// How a value of an element type lies in a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
    /// In memory alone; as a word where it is moved.
    Complex,
}

impl Kind {
    pub(super) fn of(ty: ElementType) -> Self {
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
    /// The type of the register.
    pub(super) fn register(self) -> Type {
        match self {
            Self::Pred => I8,
            Self::Signed(_) | Self::Unsigned(_) => I64,
            Self::Single => F32,
            Self::Double | Self::Narrow(_) => F64,
            Self::Complex => I8X16,
        }
    }
}

impl Emitter<'_, '_> {
    /// Emits a step with a result of type `ty`; `None` if it has to be called.
    pub(crate) fn step(
        &mut self,
        step: ScalarStep,
        ty: ElementType,
        operands: &[Value],
    ) -> Option<Value> {
        let value = |operand: usize| operands[operand];
        match step {
            ScalarStep::Constant(constant) => Some(self.constant(ty, constant)),
            ScalarStep::Select(p, a, b) => {
                Some(self.builder.ins().select(value(p), value(a), value(b)))
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
            ScalarStep::Convert(from, to, x) if from == to => Some(value(x)),
            ScalarStep::Convert(from, to, x) => self.convert(from, to, value(x)),
        }
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

    /// Emits a constant.
    pub(super) fn constant(&mut self, ty: ElementType, constant: Scalar) -> Value {
        let bits = constant.to_bits(ty);
        let ins = self.builder.ins();
        match constant {
            Scalar::Pred(x) => ins.iconst(I8, i64::from(x)),
            Scalar::Signed(x) => ins.iconst(I64, x),
            Scalar::Unsigned(x) => ins.iconst(I64, x.cast_signed()),
            Scalar::Float(_) if ty == ElementType::F32 => {
                let bits = u32::try_from(bits).expect("an f32 has 32 bits");
                ins.f32const(Ieee32::with_bits(bits))
            }
            Scalar::Float(x) => ins.f64const(Ieee64::with_bits(x.to_bits())),
            Scalar::Complex(..) => {
                let word = self.builder.func.dfg.constants.insert(bits.to_le_bytes()[..].into());
                self.builder.ins().vconst(I8X16, word)
            }
        }
    }

    /// Calls a function at an address.
    pub(super) fn call(
        &mut self,
        address: i64,
        result: Option<Type>,
        arguments: &[Value],
    ) -> Option<Value> {
        let types = arguments.iter().map(|&argument| self.builder.func.dfg.value_type(argument));
        let mut signature = Signature::new(self.convention);
        signature.params.extend(types.map(AbiParam::new));
        signature.returns.extend(result.map(AbiParam::new));
        let signature = self.builder.import_signature(signature);
        let address = self.builder.ins().iconst(I64, address);
        let call = self.builder.ins().call_indirect(signature, address, arguments);
        self.builder.inst_results(call).first().copied()
    }
}
