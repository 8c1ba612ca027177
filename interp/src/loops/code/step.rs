//! Code of single steps: values of each element type in registers.
use super::emitter::Emitter;
use super::kind::Kind;
use cranelift_codegen::ir::{InstBuilder, Value};
use hlo::ElementType;
use num::scalar_program::step::ScalarStep;

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
}
