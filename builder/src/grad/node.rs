//! What a derivative rule sees of an instruction.
use super::Tangent;
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
}

impl<'b> Node<'b> {
    pub(crate) fn of(result: Value<'b>) -> Result<Self> {
        Ok(Self { result, op: result.op()?, operands: result.operands()? })
    }
    /// Operand `i`.
    pub(crate) fn operand(&self, i: usize) -> Result<Value<'b>> {
        self.operands.get(i).copied().ok_or_else(|| Code::Invalid {}.into())
    }
    /// The same op on other operands, of the shape it has now: what a linear op does to a tangent.
    pub(crate) fn again(&self, operands: &[Value<'b>], stated: Option<Shape>) -> Result<Value<'b>> {
        let stated = match stated {
            Some(shape) => shape,
            None => self.result.shape()?,
        };
        self.result.builder().emit(self.op.clone(), operands, Some(stated))
    }
    /// The error of an op that has no derivative, or none that is known here.
    pub(crate) fn refused(&self, why: &str) -> Error {
        let message = format!("`{}` {why}", self.op.opcode());
        Error::from(Code::NotDifferentiable { message })
    }
    /// Zero for every operand.
    pub(crate) fn zeros(&self) -> Vec<Tangent<'b>> {
        vec![Tangent::Zero; self.operands.len()]
    }
}
