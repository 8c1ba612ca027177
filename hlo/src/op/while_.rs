//! `while`: repeats a computation while a condition holds.
use super::rules::{parameters, result};
use super::{AttrReader, AttrValue, AttrWriter, Attrs, Field, Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::proto::{ProtoField, message::Instruction};
use crate::{ElementType, Result, Shape};

/// Repeats a computation while a condition holds.
///
/// The value starts as the operand. While `condition` returns true for it, `body` returns the next
/// one; the result is the value for which it returns false. Several values are carried as a tuple.
///
/// # Shape
///
/// The operand's.
///
/// # Constraints
///
/// - `while_c1`: `condition` takes the operand's shape and returns `pred[]`.
/// - `while_c2`: `body` takes the operand's shape and returns it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct While {
    /// Returns `pred[]` for the current value.
    pub condition: ComputationId,
    /// Returns the next value.
    pub body: ComputationId,
}

// Without `attrs!`: the text has the condition first, XLA stores the body first.
impl Attrs for While {
    const NAMES: &'static [&'static str] = &["condition", "body"];
    fn parse(attrs: &mut AttrReader<'_, '_>) -> Result<Self> {
        let (mut condition, mut body) = (None, None);
        attrs.each(&mut |key, p| {
            let field = match key {
                "condition" => &mut condition,
                "body" => &mut body,
                _ => return Ok(Field::Unknown),
            };
            if field.is_some() {
                return Ok(Field::Twice);
            }
            *field = Some(p.computation_ref()?);
            Ok(Field::Taken)
        })?;
        let condition = condition.ok_or_else(|| attrs.missing("condition"))?;
        let body = body.ok_or_else(|| attrs.missing("body"))?;
        Ok(Self { condition, body })
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        out.field("condition", &self.condition);
        out.field("body", &self.body);
    }
    fn each_callee(&self, visit: &mut dyn FnMut(ComputationId)) {
        self.body.each_callee(visit);
        self.condition.each_callee(visit);
    }
    fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
        visit(&mut self.body);
        visit(&mut self.condition);
    }
    fn encode(&self, proto: &mut Instruction) -> Result<()> {
        ProtoField::encode(&vec![self.body, self.condition], &mut proto.called_computation_ids)
    }
    fn decode(proto: &mut Instruction) -> Result<Self> {
        let body = ProtoField::decode(&mut proto.called_computation_ids, None)?;
        let condition = ProtoField::decode(&mut proto.called_computation_ids, None)?;
        Ok(Self { condition, body })
    }
}

impl ShapeRule for While {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let value = cx.operands[0];
        let (condition, body) = (cx.callee(self.condition)?, cx.callee(self.body)?);
        parameters(&condition, &[value], "while_c1", "condition")?;
        result(&condition, &Shape::scalar(ElementType::Pred), "while_c1", "condition")?;
        parameters(&body, &[value], "while_c2", "body")?;
        result(&body, value, "while_c2", "body")?;
        Ok(value.clone())
    }
}
