//! `conditional`: runs one of several computations.
use super::rules::{parameters, result};
use super::{AttrReader, AttrWriter, Attrs, Field, Infer, ShapeRule, check};
use crate::diag::{Code, Place};
use crate::ir::ComputationId;
use crate::{ElementType, Result, Shape};

/// Runs one of several computations, each on an operand of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditional {
    /// The computations. Of two chosen by a `pred`, the first is for true.
    pub branches: Vec<ComputationId>,
    /// Whether they are written as `true_computation` and `false_computation`.
    pub on_pred: bool,
}

// By hand: the two spellings exclude each other.
impl Attrs for Conditional {
    const NAMES: &'static [&'static str] =
        &["branch_computations", "true_computation", "false_computation"];
    fn parse(attrs: &mut AttrReader<'_, '_>) -> Result<Self> {
        let (mut on_true, mut on_false, mut branches) = (None, None, None);
        attrs.each(|key, p| {
            let field = match key {
                "true_computation" => &mut on_true,
                "false_computation" => &mut on_false,
                "branch_computations" if branches.is_some() => return Ok(Field::Twice),
                "branch_computations" => {
                    branches = Some(super::AttrValue::parse(p)?);
                    return Ok(Field::Taken);
                }
                _ => return Ok(Field::Unknown),
            };
            if field.is_some() {
                return Ok(Field::Twice);
            }
            *field = Some(p.computation_ref()?);
            Ok(Field::Taken)
        })?;
        match (branches, on_true, on_false) {
            (Some(branches), None, None) => Ok(Self { branches, on_pred: false }),
            (None, Some(a), Some(b)) => Ok(Self { branches: vec![a, b], on_pred: true }),
            (None, None, None) => Err(attrs.missing("branch_computations")),
            (None, None, Some(_)) => Err(attrs.missing("true_computation")),
            (None, Some(_), None) => Err(attrs.missing("false_computation")),
            (Some(_), _, _) => {
                let message = "`branch_computations` stands for `true_computation` and \
                               `false_computation`; give one or the other"
                    .to_owned();
                Err(Code::AttributeValue { message }.into())
            }
        }
    }
    fn print(&self, out: &mut AttrWriter<'_>) {
        match (self.on_pred, self.branches.as_slice()) {
            (true, [on_true, on_false]) => {
                out.field("true_computation", on_true);
                out.field("false_computation", on_false);
            }
            _ => out.field("branch_computations", &self.branches),
        }
    }
    fn each_callee(&self, visit: &mut dyn FnMut(ComputationId)) {
        self.branches.iter().copied().for_each(visit);
    }
    fn each_callee_mut(&mut self, visit: &mut dyn FnMut(&mut ComputationId)) {
        self.branches.iter_mut().for_each(visit);
    }
}

impl ShapeRule for Conditional {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let count = self.branches.len();
        cx.arity(
            count > 0 && cx.operands.len() == count + 1,
            "a selector and an operand for each branch",
        )?;
        let selector = cx.operands[0];
        let wanted = if self.on_pred { ElementType::Pred } else { ElementType::S32 };
        check(selector.is_scalar(wanted), "case_selector", || {
            format!("the selector is {selector}, wanted {wanted}[]")
        })
        .map_err(|e| e.on(Place::Operand(0)))?;
        let attribute = if self.on_pred { "true_computation" } else { "branch_computations" };
        let first = cx.callee(self.branches[0])?.result.clone();
        for (&branch, &operand) in self.branches.iter().zip(&cx.operands[1..]) {
            let callee = cx.callee(branch)?;
            parameters(&callee, &[operand], "case_c2", attribute)?;
            result(&callee, &first, "case_c3", attribute)?;
        }
        Ok(first)
    }
}
