//! Integers and booleans: the operations of `num` on integers, which are extended to 64 bits.
use super::emitter::Emitter;
use super::kind::Kind;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use hlo::ElementType;
use hlo::op::{Binary, Unary};

/// Emits the instructions of a function of a number of so many bits.
type Instructions = fn(&mut Emitter<'_, '_>, u32, Value) -> Value;

/// The functions of integers.
const UNARY: [(Unary, Instructions); 6] = [
    (Unary::Abs, |emitter, _, x| emitter.builder.ins().iabs(x)),
    (Unary::Negate, |emitter, _, x| emitter.builder.ins().ineg(x)),
    (Unary::Not, |emitter, _, x| emitter.builder.ins().bnot(x)),
    (Unary::Sign, |emitter, _, x| {
        let negative = emitter.builder.ins().sshr_imm(x, 63);
        let opposite = emitter.builder.ins().ineg(x);
        let positive = emitter.builder.ins().ushr_imm(opposite, 63);
        emitter.builder.ins().bor(negative, positive)
    }),
    (Unary::Popcnt, |emitter, bits, x| {
        let x = emitter.zero_extend(bits, x);
        emitter.builder.ins().popcnt(x)
    }),
    (Unary::CountLeadingZeros, |emitter, bits, x| {
        let x = emitter.zero_extend(bits, x);
        let zeros = emitter.builder.ins().clz(x);
        emitter.builder.ins().iadd_imm(zeros, i64::from(bits) - 64)
    }),
];

impl Emitter<'_, '_> {
    /// Returns the integer of type `ty` that is equal to `x` modulo 2^n.
    pub(super) fn wrap(&mut self, ty: ElementType, x: Value) -> Value {
        if let Kind::Signed(bits) = Kind::of(ty) {
            self.sign_extend(bits, x)
        } else {
            self.zero_extend(ty.bits(), x)
        }
    }
    fn sign_extend(&mut self, bits: u32, x: Value) -> Value {
        let ins = self.builder.ins();
        let narrow = match bits {
            64 => return x,
            32 => ins.ireduce(I32, x),
            16 => ins.ireduce(I16, x),
            8 => ins.ireduce(I8, x),
            _ => {
                let spare = 64 - i64::from(bits);
                let high = ins.ishl_imm(x, spare);
                return self.builder.ins().sshr_imm(high, spare);
            }
        };
        self.builder.ins().sextend(I64, narrow)
    }
    fn zero_extend(&mut self, bits: u32, x: Value) -> Value {
        if bits == 64 {
            return x;
        }
        if bits == 32 {
            let narrow = self.builder.ins().ireduce(I32, x);
            return self.builder.ins().uextend(I64, narrow);
        }
        self.builder.ins().band_imm(x, (1 << bits) - 1)
    }

    pub(super) fn integer_unary(&mut self, op: Unary, ty: ElementType, x: Value) -> Option<Value> {
        if Kind::of(ty) == Kind::Pred {
            return (op == Unary::Not).then(|| self.builder.ins().bxor_imm(x, 1));
        }
        let (_, instructions) = UNARY.iter().find(|(of, _)| *of == op)?;
        let result = instructions(self, ty.bits(), x);
        Some(self.wrap(ty, result))
    }

    pub(super) fn pred_binary(&mut self, op: Binary, a: Value, b: Value) -> Option<Value> {
        let ins = self.builder.ins();
        match op {
            Binary::Add | Binary::Maximum | Binary::Or => Some(ins.bor(a, b)),
            Binary::And | Binary::Minimum | Binary::Multiply => Some(ins.band(a, b)),
            Binary::Xor => Some(ins.bxor(a, b)),
            Binary::Atan2
            | Binary::Complex
            | Binary::Divide
            | Binary::Mulhi
            | Binary::Power
            | Binary::Remainder
            | Binary::ShiftLeft
            | Binary::ShiftRightArithmetic
            | Binary::ShiftRightLogical
            | Binary::Subtract => None,
        }
    }

    pub(super) fn integer_binary(
        &mut self,
        op: Binary,
        ty: ElementType,
        a: Value,
        b: Value,
    ) -> Option<Value> {
        let signed = is_signed(ty);
        let ins = self.builder.ins();
        let result = match op {
            Binary::Add => ins.iadd(a, b),
            Binary::Subtract => ins.isub(a, b),
            Binary::Multiply => ins.imul(a, b),
            Binary::And => return Some(ins.band(a, b)),
            Binary::Or => return Some(ins.bor(a, b)),
            Binary::Xor => return Some(ins.bxor(a, b)),
            Binary::Maximum if signed => return Some(ins.smax(a, b)),
            Binary::Maximum => return Some(ins.umax(a, b)),
            Binary::Minimum if signed => return Some(ins.smin(a, b)),
            Binary::Minimum => return Some(ins.umin(a, b)),
            Binary::Divide => self.divide(signed, a, b),
            Binary::Remainder => return Some(self.remainder(signed, a, b)),
            Binary::Mulhi => self.high_product(ty, a, b),
            Binary::ShiftLeft => {
                let shifted = |this: &mut Self, by| this.builder.ins().ishl(a, by);
                self.shift(ty.bits(), b, shifted)
            }
            Binary::ShiftRightLogical => {
                let x = self.zero_extend(ty.bits(), a);
                self.shift(ty.bits(), b, |this, by| this.builder.ins().ushr(x, by))
            }
            Binary::ShiftRightArithmetic => {
                let x = self.sign_extend(ty.bits(), a);
                let by = self.zero_extend(ty.bits(), b);
                let most = self.builder.ins().iconst(I64, i64::from(ty.bits()) - 1);
                let by = self.builder.ins().umin(by, most);
                self.builder.ins().sshr(x, by)
            }
            Binary::Atan2 | Binary::Complex | Binary::Power => return None,
        };
        Some(self.wrap(ty, result))
    }

    /// A shift by an unsigned amount; 0 where that is at least the width.
    fn shift(
        &mut self,
        bits: u32,
        by: Value,
        shifted: impl FnOnce(&mut Self, Value) -> Value,
    ) -> Value {
        let by = self.zero_extend(bits, by);
        let shifted = shifted(self, by);
        let fits = self.builder.ins().icmp_imm(IntCC::UnsignedLessThan, by, i64::from(bits));
        let zero = self.builder.ins().iconst(I64, 0);
        self.builder.ins().select(fits, shifted, zero)
    }

    /// x / 0 is all ones; x / -1 is -x, which wraps.
    fn divide(&mut self, signed: bool, a: Value, b: Value) -> Value {
        let (is_zero, divisor) = self.divisor(signed, b);
        let quotient = if signed {
            let quotient = self.builder.ins().sdiv(a, divisor);
            let opposite = self.builder.ins().ineg(a);
            let is_minus_one = self.builder.ins().icmp_imm(IntCC::Equal, b, -1);
            self.builder.ins().select(is_minus_one, opposite, quotient)
        } else {
            self.builder.ins().udiv(a, divisor)
        };
        let ones = self.builder.ins().iconst(I64, -1);
        self.builder.ins().select(is_zero, ones, quotient)
    }
    /// x rem 0 is x; x rem -1 is 0, as x rem 1.
    fn remainder(&mut self, signed: bool, a: Value, b: Value) -> Value {
        let (is_zero, divisor) = self.divisor(signed, b);
        let ins = self.builder.ins();
        let rest = if signed { ins.srem(a, divisor) } else { ins.urem(a, divisor) };
        self.builder.ins().select(is_zero, a, rest)
    }
    /// Whether a divisor is 0, and the divisor, or 1 where the processor would trap.
    fn divisor(&mut self, signed: bool, b: Value) -> (Value, Value) {
        let is_zero = self.builder.ins().icmp_imm(IntCC::Equal, b, 0);
        let one = self.builder.ins().iconst(I64, 1);
        let traps = if signed {
            // 0 and -1 are the two for which b + 1 is at most 1.
            let next = self.builder.ins().iadd_imm(b, 1);
            self.builder.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, next, 1)
        } else {
            is_zero
        };
        (is_zero, self.builder.ins().select(traps, one, b))
    }

    fn high_product(&mut self, ty: ElementType, a: Value, b: Value) -> Value {
        let (ins, bits) = (self.builder.ins(), i64::from(ty.bits()));
        match (is_signed(ty), ty.bits() == 64) {
            (true, true) => ins.smulhi(a, b),
            (false, true) => ins.umulhi(a, b),
            (true, false) => {
                let product = ins.imul(a, b);
                self.builder.ins().sshr_imm(product, bits)
            }
            (false, false) => {
                let product = ins.imul(a, b);
                self.builder.ins().ushr_imm(product, bits)
            }
        }
    }
}

fn is_signed(ty: ElementType) -> bool {
    ty.class() == hlo::Class::Signed
}
