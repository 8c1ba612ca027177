//! What a derivative rule sees of an instruction.
use super::{Tangent, why};
use crate::{Code, Error, Result, Value};
use hlo::{Op, Shape};

/// An instruction of the computation that is differentiated.
#[derive(Debug, Clone)]
pub(crate) struct Node<'b> {
    /// What it gives.
    pub(crate) result: Value<'b>,
    /// What it computes.
    pub(crate) op: Op,
    /// What it takes.
    pub(crate) operands: Vec<Value<'b>>,
    /// Which of them derivatives flow through; nobody looks at the cotangents of the others.
    wanted: Vec<bool>,
    /// The same for each leaf of the operands, as far as can be seen.
    wanted_leaves: Vec<bool>,
}

impl<'b> Node<'b> {
    /// The instruction, with derivatives flowing through the operands that `flows` is true of.
    pub(crate) fn on_path(
        result: Value<'b>,
        flows: impl Fn(Value<'b>) -> Result<bool>,
    ) -> Result<Self> {
        let operands = result.operands()?;
        let wanted = operands.iter().map(|&operand| flows(operand)).collect::<Result<_>>()?;
        let mut wanted_leaves = Vec::new();
        for &operand in &operands {
            wanted_leaves.extend(flowing_leaves(operand, &flows)?);
        }
        Ok(Self { result, op: result.op()?, operands, wanted, wanted_leaves })
    }
    /// Operand `i`.
    pub(crate) fn operand(&self, i: usize) -> Result<Value<'b>> {
        self.operands.get(i).copied().ok_or_else(|| Code::Invalid {}.into())
    }
    /// Whether the cotangent of operand `i` is looked at.
    pub(crate) fn wants(&self, i: usize) -> bool {
        self.wanted.get(i).is_some_and(|&wanted| wanted)
    }
    /// Of the leaves of all operands, whose cotangents are looked at: of a tuple that is made right before, those of its
    /// elements that are.
    pub(crate) fn wanted_leaves(&self) -> Vec<bool> {
        self.wanted_leaves.clone()
    }
    pub(crate) fn any_wanted(&self) -> bool {
        self.wanted.contains(&true)
    }
    /// The same op on other operands, of the shape it has now: what a linear op does to a tangent.
    pub(crate) fn again(&self, operands: &[Value<'b>], stated: Option<Shape>) -> Result<Value<'b>> {
        let stated = match stated {
            Some(shape) => shape,
            None => self.result.shape()?,
        };
        self.result.builder().emit(self.op.clone(), operands, Some(stated))
    }
    /// The same op on the first operand's tangent and the other operands.
    pub(crate) fn again_first(&self, tangents: &[Tangent<'b>]) -> Result<Tangent<'b>> {
        let Some(t) = first(tangents)? else { return Ok(Tangent::Zero) };
        let rest = self.operands.get(1..).unwrap_or_default();
        Ok(Tangent::Array(self.again(&[&[t], rest].concat(), None)?))
    }
    /// The error of an op that has no derivative, or none that is known here.
    pub(crate) fn refused(&self, why: &str) -> Error {
        let message = format!("`{}` {why}", self.op.opcode());
        why::at_op(Error::from(Code::NotDifferentiable { message }), self.result, None)
    }
    /// Zero for every operand.
    pub(crate) fn zeros(&self) -> Vec<Tangent<'b>> {
        vec![Tangent::Zero; self.operands.len()]
    }
    /// The cotangents of all operands when only the first has one.
    pub(crate) fn first_only(&self, cotangent: Value<'b>) -> Vec<Tangent<'b>> {
        let mut cotangents = self.zeros();
        if let Some(first) = cotangents.first_mut() {
            *first = Tangent::Array(cotangent);
        }
        cotangents
    }
}

/// The first operand's tangent.
pub(crate) fn first<'b>(tangents: &[Tangent<'b>]) -> Result<Option<Value<'b>>> {
    tangents.first().map_or(Ok(None), Tangent::array)
}

/// Of the leaves of a value, through which derivatives flow.
fn flowing_leaves<'b>(
    value: Value<'b>,
    flows: &impl Fn(Value<'b>) -> Result<bool>,
) -> Result<Vec<bool>> {
    let shape = value.shape()?;
    if shape.tuple().is_some() && matches!(value.op()?, Op::Tuple(_)) {
        let elements = value.operands()?.into_iter().map(|element| flowing_leaves(element, flows));
        return Ok(elements.collect::<Result<Vec<_>>>()?.concat());
    }
    let all = flows(value)?;
    Ok(shape.leaves().into_iter().map(|leaf| all && super::tangent::varies(leaf)).collect())
}
