//! Conversions, each rounded once.
use super::emitter::Emitter;
use super::kind::Kind;
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F32, F64, I64};
use cranelift_codegen::ir::{InstBuilder, Type, Value};
use hlo::ElementType;

impl Emitter<'_, '_> {
    /// Converts between different types; `None` where the step has to be called.
    pub(super) fn convert(
        &mut self,
        from: ElementType,
        to: ElementType,
        x: Value,
    ) -> Option<Value> {
        match Kind::of(from) {
            Kind::Pred => {
                let x = self.builder.ins().uextend(I64, x);
                self.convert_integer(true, to, x)
            }
            // An unsigned integer of less than 64 bits is the same number as a signed one.
            Kind::Signed(_) => self.convert_integer(true, to, x),
            Kind::Unsigned(bits) => self.convert_integer(bits < 64, to, x),
            kind @ (Kind::Single | Kind::Double | Kind::Narrow(_)) => {
                self.convert_float(kind, to, x)
            }
            Kind::Complex => None,
        }
    }

    fn convert_integer(&mut self, signed: bool, to: ElementType, x: Value) -> Option<Value> {
        let float: Type = match Kind::of(to) {
            Kind::Pred => return Some(self.builder.ins().icmp_imm(IntCC::NotEqual, x, 0)),
            Kind::Signed(_) | Kind::Unsigned(_) => return Some(self.wrap(to, x)),
            Kind::Single => F32,
            Kind::Double => F64,
            // Rounding to f64 first would round twice.
            Kind::Narrow(_) | Kind::Complex => return None,
        };
        let ins = self.builder.ins();
        Some(if signed { ins.fcvt_from_sint(float, x) } else { ins.fcvt_from_uint(float, x) })
    }

    fn convert_float(&mut self, from: Kind, to: ElementType, x: Value) -> Option<Value> {
        let is_single = from == Kind::Single;
        let ins = self.builder.ins();
        match Kind::of(to) {
            Kind::Pred => {
                let zero = if is_single { ins.f32const(0.0) } else { ins.f64const(0.0) };
                Some(self.builder.ins().fcmp(FloatCC::NotEqual, x, zero))
            }
            Kind::Signed(bits) => {
                let x = ins.fcvt_to_sint_sat(I64, x);
                if bits == 64 {
                    return Some(x);
                }
                let most = i64::MAX >> (64 - bits);
                let low = self.builder.ins().iconst(I64, -most - 1);
                let high = self.builder.ins().iconst(I64, most);
                let x = self.builder.ins().smax(x, low);
                Some(self.builder.ins().smin(x, high))
            }
            Kind::Unsigned(bits) => {
                let x = ins.fcvt_to_uint_sat(I64, x);
                if bits == 64 {
                    return Some(x);
                }
                let high = self.builder.ins().iconst(I64, i64::MAX >> (63 - bits));
                Some(self.builder.ins().umin(x, high))
            }
            Kind::Single => Some(ins.fdemote(F32, x)),
            Kind::Double | Kind::Narrow(_) => {
                let x = if is_single { ins.fpromote(F64, x) } else { x };
                self.rounded(to, x)
            }
            Kind::Complex => None,
        }
    }
}
