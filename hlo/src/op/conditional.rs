//! `conditional`: calls one of several computations.
use super::rules::parameters;
use super::{AttrReader, AttrWriter, Attrs, Field, Infer, ShapeRule, check};
use crate::diag::{Code, Place};
use crate::ir::ComputationId;
use crate::proto::{ProtoField, message::Instruction};
use crate::{ElementType, Error, Result, Shape};

/// Calls one of several computations, each of which has its own operand.
///
/// `conditional(selector, operand of the first branch, ...)`. Only the selected branch runs. A
/// `pred[]` selector selects between `true_computation` and `false_computation`; an `s32[]`
/// selector is an index into `branch_computations`, and an index out of range selects the last.
///
/// # Shape
///
/// The result of the first branch.
///
/// # Constraints
///
/// - `E0202`: there is a selector and one operand per branch.
/// - `if_selector`, `case_selector`: the selector is `pred[]`, or `s32[]`.
/// - `if_c1`, `case_c2`: each branch has one parameter, of its operand's shape.
/// - `if_c2`, `case_c3`: all branches return the same shape.
/// - `case_c1`: there is a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conditional {
    /// The computations. For a `pred` selector, the first is for true.
    pub branches: Vec<ComputationId>,
    /// Whether they are written as `true_computation` and `false_computation`.
    pub on_pred: bool,
}

// Without `attrs!`: the two spellings are mutually exclusive.
impl Attrs for Conditional {
    const NAMES: &'static [&'static str] =
        &["branch_computations", "true_computation", "false_computation"];
    fn parse(attrs: &mut AttrReader<'_, '_>) -> Result<Self> {
        let (mut on_true, mut on_false, mut branches) = (None, None, None);
        attrs.each(&mut |key, p| {
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
                               `false_computation`; write one or the other"
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
    fn encode(&self, proto: &mut Instruction) -> Result<()> {
        ProtoField::encode(&self.branches, &mut proto.called_computation_ids)
    }
    fn decode(proto: &mut Instruction) -> Result<Self> {
        let branches = ProtoField::decode(&mut proto.called_computation_ids, None)?;
        Ok(Self { branches, on_pred: false })
    }
}

impl ShapeRule for Conditional {
    fn decoded(&mut self, operands: &[&Shape]) {
        self.on_pred =
            operands.first().is_some_and(|selector| selector.is_scalar(ElementType::Pred));
    }
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        const TWO: [&str; 2] = ["true_computation", "false_computation"];
        let count = self.branches.len();
        check(count > 0, "case_c1", || "a conditional has at least one branch".to_owned())
            .map_err(|e| e.on(Place::Attribute("branch_computations")))?;
        let expected = format!("a selector and an operand for each of {count} branches");
        cx.arity(cx.operands.len() == count + 1, &expected)?;
        let selector = cx.operands[0];
        let (ty, rule) = match self.on_pred {
            true => (ElementType::Pred, "if_selector"),
            false => (ElementType::S32, "case_selector"),
        };
        check(selector.is_scalar(ty), rule, || {
            format!("the selector is {selector:#}, expected {ty}[]")
        })
        .map_err(|e| e.on(Place::Operand(0)))?;
        let first = cx.callee(self.branches[0])?.result.clone();
        for (i, (&branch, &operand)) in self.branches.iter().zip(&cx.operands[1..]).enumerate() {
            let callee = cx.callee(branch)?;
            let (attribute, takes, gives) = match self.on_pred {
                true => (TWO[i], "if_c1", "if_c2"),
                false => ("branch_computations", "case_c2", "case_c3"),
            };
            parameters(&callee, &[operand], takes, attribute)?;
            if !callee.result.compatible(&first) {
                let message =
                    format!("branch {i} returns {:#}, branch 0 returns {first:#}", callee.result);
                let error = Error::from(Code::Callee { rule: gives, message });
                return Err(error.on(Place::Attribute(attribute)));
            }
        }
        Ok(first)
    }
}
