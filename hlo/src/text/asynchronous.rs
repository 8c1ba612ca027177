//! The short form of asynchronous instructions: `<opcode>-start(...)` wraps the op in a
//! computation.
use super::Parser;
use crate::diag::Code;
use crate::ir::{Computation, ComputationId, Instruction, InstructionId};
use crate::op::{Arity, AsyncStart, AttrReader, OuterAsync};
use crate::{Error, Op, Opcode, Result, Shape, Span};
use smallvec::SmallVec;

impl<'a> Parser<'a> {
    /// Parses the attributes of `<opcode>-start`, which are those of `async-start` and of the
    /// wrapped op.
    pub(super) fn sugared_start(
        &mut self,
        word: &'a str,
        span: Span,
        wrapped: Opcode,
        stated: Option<Shape>,
        operands: SmallVec<[InstructionId; 3]>,
    ) -> Result<Instruction> {
        let stated =
            stated.ok_or_else(|| Error::from(Code::ShapeMissing { op: word.into() }).at(span))?;
        let inner_shape = match stated.tuple() {
            Some([Shape::Tuple(_), result, ..]) => result.clone(),
            _ => {
                let message = format!(
                    "expected `{word}` to have shape ((operand shapes), result, ...), found {stated}"
                );
                return Err(Error::from(Code::Async { message }).at(span));
            }
        };
        let mut attrs = AttrReader {
            p: self,
            opcode: wrapped,
            op_name: word,
            implied: "",
            common: None,
            positional: None,
            outer: Some(OuterAsync::default()),
        };
        let mut op = Op::parse(wrapped, &mut attrs)?;
        let (common, outer) = (attrs.common.take(), attrs.outer.take().unwrap_or_default());
        let scope = self.scopes.last().expect("instructions are read inside a computation");
        let shapes: SmallVec<[&Shape; 4]> =
            operands.iter().map(|&id| &scope.instruction(id).shape).collect();
        // Operands that an update binds complete the op there.
        let is_late = matches!(wrapped.arity(), Arity::Fixed(n) if operands.len() < n);
        if !is_late {
            op.complete(&shapes, Some(&inner_shape))?;
        }
        drop(shapes);
        let wrapped = Instruction {
            op,
            shape: inner_shape,
            operands: operands.clone(),
            common: common.clone(),
        };
        let computation = self.wrap(wrapped, span, &outer.thread)?;
        let start = AsyncStart {
            async_execution_thread: outer.thread,
            output_to_operand_aliasing: outer.aliasing,
            calls: computation,
        };
        Ok(Instruction { op: Op::AsyncStart(Box::new(start)), shape: stated, operands, common })
    }

    /// Returns the computation of the async chain of `operands`, if its start is in this
    /// computation. Fails unless it wraps the opcode `wrapped`.
    pub(super) fn check_chain(
        &mut self,
        operands: &[InstructionId],
        wrapped: Opcode,
        span: Span,
    ) -> Result<Option<ComputationId>> {
        let scope = self.scopes.last().expect("instructions are read inside a computation");
        let mut at = operands.first().copied();
        while let Some(id) = at {
            let instruction = scope.instruction(id);
            if let Op::AsyncStart(start) = &instruction.op {
                let called = self.finished_computation(start.calls);
                let found = called.map(Computation::root_opcode);
                if found.is_none_or(|found| found == wrapped) {
                    return Ok(Some(start.calls));
                }
                let found = found.map_or("", Opcode::name);
                let message = format!("the async chain starts with `{found}-start`");
                let start = scope.computation.span(id);
                let error = Error::from(Code::Async { message }).at(span);
                return Err(error.label(start, "started here"));
            }
            let opcode = instruction.opcode();
            // The start may be in another computation, from which loops and calls carry its value
            // here.
            if opcode.carries_values() && opcode != Opcode::Tuple {
                return Ok(None);
            }
            if opcode != Opcode::AsyncUpdate {
                break;
            }
            at = instruction.operands.first().copied();
        }
        let message = "the first operand is not an asynchronous instruction".to_owned();
        Err(Error::from(Code::Async { message }).at(span))
    }
}
