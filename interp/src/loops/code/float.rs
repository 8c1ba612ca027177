//! Floats: f32 and f64 as the processor has them; narrower types in f64, with each result rounded
//! to the type.
use super::address;
use super::emitter::Emitter;
use super::functions;
use super::kind::{Kind, is_narrow};
use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::types::{F64, I32, I64};
use cranelift_codegen::ir::{InstBuilder, MemFlags, Value};
use hlo::ElementType;
use hlo::op::value::{ComparisonType, Direction};
use hlo::op::{Binary, Unary};

/// Emits the instructions of a function of an element of this type.
type Instructions = fn(&mut Emitter<'_, '_>, ElementType, Value) -> Value;

/// The functions that the processor has instructions for; the others are called.
const UNARY: [(Unary, Instructions); 9] = [
    (Unary::Abs, |emitter, _, x| emitter.builder.ins().fabs(x)),
    (Unary::Ceil, |emitter, _, x| emitter.builder.ins().ceil(x)),
    (Unary::Floor, |emitter, _, x| emitter.builder.ins().floor(x)),
    (Unary::Negate, |emitter, _, x| emitter.builder.ins().fneg(x)),
    (Unary::RoundNearestEven, |emitter, _, x| emitter.builder.ins().nearest(x)),
    (Unary::Sqrt, |emitter, _, x| emitter.builder.ins().sqrt(x)),
    (Unary::Real, |_, _, x| x),
    (Unary::Imag, |emitter, ty, _| emitter.float(ty == ElementType::F32, 0.0)),
    (Unary::Sign, |emitter, ty, x| {
        let is_single = ty == ElementType::F32;
        let (zero, one) = (emitter.float(is_single, 0.0), emitter.float(is_single, 1.0));
        let sign = emitter.builder.ins().fcopysign(one, x);
        let is_signed = emitter.builder.ins().fcmp(FloatCC::OrderedNotEqual, x, zero);
        emitter.builder.ins().select(is_signed, sign, x)
    }),
];

impl Emitter<'_, '_> {
    pub(super) fn float_unary(&mut self, op: Unary, ty: ElementType, x: Value) -> Option<Value> {
        let is_single = ty == ElementType::F32;
        if op == Unary::IsFinite {
            let infinity = self.float(is_single, f32::INFINITY);
            let size = self.builder.ins().fabs(x);
            return Some(self.builder.ins().fcmp(FloatCC::LessThan, size, infinity));
        }
        let result = if let Some((_, instructions)) = UNARY.iter().find(|(of, _)| *of == op) {
            instructions(self, ty, x)
        } else {
            let function = functions::unary(op, is_single)?;
            self.call(function, Some(Kind::of(ty).register()), &[x])?
        };
        self.rounded(ty, result)
    }

    pub(super) fn float_binary(
        &mut self,
        op: Binary,
        ty: ElementType,
        a: Value,
        b: Value,
    ) -> Option<Value> {
        let ins = self.builder.ins();
        let result = match op {
            Binary::Add => ins.fadd(a, b),
            Binary::Subtract => ins.fsub(a, b),
            Binary::Multiply => ins.fmul(a, b),
            Binary::Divide => ins.fdiv(a, b),
            Binary::Maximum => ins.fmax(a, b),
            Binary::Minimum => ins.fmin(a, b),
            // `num` adjusts some narrower results before it rounds them.
            Binary::Atan2 | Binary::Power | Binary::Remainder if is_narrow(ty) => return None,
            Binary::Atan2 | Binary::Power | Binary::Remainder => {
                let function = functions::binary(op, ty == ElementType::F32)?;
                self.call(function, Some(Kind::of(ty).register()), &[a, b])?
            }
            Binary::And
            | Binary::Complex
            | Binary::Mulhi
            | Binary::Or
            | Binary::ShiftLeft
            | Binary::ShiftRightArithmetic
            | Binary::ShiftRightLogical
            | Binary::Xor => return None,
        };
        self.rounded(ty, result)
    }

    /// Returns an f64 rounded to a narrower float type; a value of another type as it is.
    pub(super) fn rounded(&mut self, ty: ElementType, x: Value) -> Option<Value> {
        let Kind::Narrow(ty) = Kind::of(ty) else { return Some(x) };
        let number = self.builder.ins().iconst(I64, functions::number(ty));
        self.call(address::of_round_to(), Some(F64), &[number, x])
    }

    fn float(&mut self, is_single: bool, x: f32) -> Value {
        if is_single {
            self.builder.ins().f32const(x)
        } else {
            self.builder.ins().f64const(f64::from(x))
        }
    }

    pub(super) fn compare(
        &mut self,
        direction: Direction,
        order: ComparisonType,
        ty: ElementType,
        a: Value,
        b: Value,
    ) -> Option<Value> {
        match (order, Kind::of(ty)) {
            (ComparisonType::Float, Kind::Single | Kind::Double | Kind::Narrow(_)) => {
                let condition = match direction {
                    Direction::Eq => FloatCC::Equal,
                    Direction::Ne => FloatCC::NotEqual,
                    Direction::Ge => FloatCC::GreaterThanOrEqual,
                    Direction::Gt => FloatCC::GreaterThan,
                    Direction::Le => FloatCC::LessThanOrEqual,
                    Direction::Lt => FloatCC::LessThan,
                };
                Some(self.builder.ins().fcmp(condition, a, b))
            }
            (ComparisonType::TotalOrder, kind @ (Kind::Single | Kind::Double)) => {
                let (a, b) = (self.total_order_key(kind, a), self.total_order_key(kind, b));
                Some(self.builder.ins().icmp(signed_condition(direction), a, b))
            }
            (ComparisonType::Signed, Kind::Signed(_)) => {
                Some(self.builder.ins().icmp(signed_condition(direction), a, b))
            }
            (ComparisonType::Unsigned, Kind::Unsigned(_) | Kind::Pred) => {
                let condition = signed_condition(direction).unsigned();
                Some(self.builder.ins().icmp(condition, a, b))
            }
            _ => None,
        }
    }

    /// The bits, with those of the magnitude inverted in a negative number: integers in the total
    /// order.
    fn total_order_key(&mut self, kind: Kind, x: Value) -> Value {
        let (ty, last) = if kind == Kind::Single { (I32, 31) } else { (I64, 63) };
        let bits = self.builder.ins().bitcast(ty, MemFlags::new(), x);
        let sign = self.builder.ins().sshr_imm(bits, last);
        let magnitude = self.builder.ins().ushr_imm(sign, 1);
        self.builder.ins().bxor(bits, magnitude)
    }
}

fn signed_condition(direction: Direction) -> IntCC {
    match direction {
        Direction::Eq => IntCC::Equal,
        Direction::Ne => IntCC::NotEqual,
        Direction::Ge => IntCC::SignedGreaterThanOrEqual,
        Direction::Gt => IntCC::SignedGreaterThan,
        Direction::Le => IntCC::SignedLessThanOrEqual,
        Direction::Lt => IntCC::SignedLessThan,
    }
}
