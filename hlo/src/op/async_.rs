//! `async-start`, `async-update`, `async-done`: an op that runs asynchronously.
//!
//! `async-start` returns `((operands), result, ...)`: the shapes of its operands, that of the
//! wrapped computation's result, and whatever the backend needs. `async-update` forwards this.
//! Operands that are not known at the start can be passed to an update or to the end: each of them
//! adds to the first element. A result that is not allocated yet is `()`, or the first elements of
//! a tuple, until an update or the done states the rest of it. `async-done` returns the result.
//!
//! The rules here are those of one instruction. The verifier compares an update or a done with the
//! computation that its start calls.
use super::value::{Ignored, OutputOperandAliasing, ShapeIndex};
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::ir::ComputationId;
use crate::{Result, Shape};
use smol_str::SmolStr;

attrs! {
    /// Starts the op that its computation wraps.
    pub struct AsyncStart {
        /// The thread it runs in; `main` if empty.
        pub async_execution_thread: SmolStr = "async_execution_thread" in async_execution_thread or SmolStr::default();
        /// Results that alias an operand.
        pub output_to_operand_aliasing: OutputOperandAliasing = "output_to_operand_aliasing" in output_operand_aliasing or OutputOperandAliasing::default();
        /// The wrapped computation.
        pub calls: ComputationId = "calls" in called_computation_ids;
    }
}

impl AsyncStart {
    /// Returns the thread that the computation runs on, as
    /// [`Computation::execution_thread`](crate::ir::Computation): empty for `main`.
    pub(crate) fn thread(&self) -> &str {
        if self.async_execution_thread == "main" { "" } else { &self.async_execution_thread }
    }
    /// Prints the attributes of `<opcode>-start`: its own, then those of the op it wraps.
    pub(crate) fn print_sugared(&self, wrapped: &super::Op, out: &mut super::AttrWriter<'_>) {
        if !self.thread().is_empty() {
            out.field("async_execution_thread", &self.async_execution_thread);
        }
        wrapped.print(out);
        if self.output_to_operand_aliasing != OutputOperandAliasing::default() {
            out.field("output_to_operand_aliasing", &self.output_to_operand_aliasing);
        }
    }
}

impl ShapeRule for AsyncStart {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let callee = cx.callee(self.calls)?;
        let stated = cx.stated()?;
        let operands: Vec<_> = cx.operands.iter().map(|&o| o.clone()).collect();
        let parameters: Vec<_> = callee.parameters.iter().map(|&p| p.clone()).collect();
        let (found, expected) = (Shape::Tuple(operands), Shape::Tuple(parameters));
        check(found.is_prefix_of(&expected), "async_start_operands", || {
            format!("the computation takes {expected:#}, but the instruction passes {found:#}")
        })
        .map_err(|e| e.on(Place::Attribute("calls")))?;
        let parts = stated.tuple().unwrap_or_default();
        let context = parts.get(2..).unwrap_or_default();
        let whole = [&[expected, callee.result.clone()], context].concat();
        let whole = Shape::Tuple(whole);
        self.output_to_operand_aliasing.check(&callee.parameters, &whole, "async_aliasing")?;
        let bound = parts.get(1).filter(|part| part.is_prefix_of(callee.result));
        let result = bound.unwrap_or(callee.result).clone();
        Ok(Shape::Tuple([&[found, result], context].concat()))
    }
}

attrs! {
    /// Updates an op that was started.
    pub struct AsyncUpdate {
        /// Parsed and dropped: the start has it.
        pub async_execution_thread: Ignored = "async_execution_thread" in async_execution_thread or Ignored;
        /// Parsed and dropped: the start has it.
        pub calls: Ignored = "calls" in called_computation_ids or Ignored;
        /// Results that alias an operand.
        pub output_to_operand_aliasing: OutputOperandAliasing = "output_to_operand_aliasing" in output_operand_aliasing or OutputOperandAliasing::default();
    }
}

impl ShapeRule for AsyncUpdate {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (bound, rest) = state(cx)?;
        let mut operands = bound.to_vec();
        operands.extend(cx.operands[1..].iter().map(|&o| o.clone()));
        // The context is up to the backend, and may change.
        let stated = cx.stated.and_then(Shape::tuple).and_then(|parts| parts.split_first());
        let rest = match stated {
            Some((_, stated)) if !stated.is_empty() && rest[0].is_prefix_of(&stated[0]) => stated,
            Some(_) | None => rest,
        };
        let inferred = Shape::Tuple([&[Shape::Tuple(operands)], rest].concat());
        for alias in &self.output_to_operand_aliasing.0 {
            let is_context = |index: &ShapeIndex| index.0.first() == Some(&2);
            let fits = is_context(&alias.output_index) && is_context(&alias.operand_index);
            check(fits && alias.operand == 0, "async_update_aliasing", || {
                "an update aliases parts of the context of its operand only: {2, ..}: (0, {2, ..})"
                    .to_owned()
            })
            .map_err(|e| e.on(Place::Attribute("output_to_operand_aliasing")))?;
        }
        let aliasing = &self.output_to_operand_aliasing;
        aliasing.check(&cx.operands[..1], &inferred, "async_update_aliasing")?;
        Ok(inferred)
    }
}

attrs! {
    /// Waits for an op that was started.
    pub struct AsyncDone {
        /// Parsed and dropped: the start has it.
        pub async_execution_thread: Ignored = "async_execution_thread" in async_execution_thread or Ignored;
        /// Parsed and dropped: the start has it.
        pub calls: Ignored = "calls" in called_computation_ids or Ignored;
    }
}

impl ShapeRule for AsyncDone {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let (_, rest) = state(cx)?;
        let stated = cx.stated.filter(|stated| rest[0].is_prefix_of(stated));
        Ok(stated.unwrap_or(&rest[0]).clone())
    }
}

/// Returns the parts of the first operand, an asynchronous op: shapes of the operands so far; the
/// result's shape, and the rest.
fn state<'a>(cx: &Infer<'a>) -> Result<(&'a [Shape], &'a [Shape])> {
    cx.arity(!cx.operands.is_empty(), "at least 1 operand")?;
    let found = match cx.operands[0].tuple() {
        Some([Shape::Tuple(bound), rest @ ..]) if !rest.is_empty() => {
            Some((bound.as_slice(), rest))
        }
        _ => None,
    };
    check(found.is_some(), "async_state", || {
        format!(
            "expected the operand of `{}` to have shape ((operands), result, ...), found {:#}",
            cx.opcode, cx.operands[0]
        )
    })
    .map_err(|e| e.on(Place::Operand(0)))?;
    Ok(found.expect("checked above"))
}
