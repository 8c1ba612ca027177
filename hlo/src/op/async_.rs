//! `async-start`, `async-update`, `async-done`: an op that runs beside others.
use super::value::{Ignored, OutputOperandAliasing};
use super::{Infer, ShapeRule};
use crate::ir::ComputationId;
use crate::{Result, Shape};
use smol_str::SmolStr;

attrs! {
    /// Starts the op its computation wraps.
    pub struct AsyncStart {
        /// The thread it runs in; `main` if empty.
        pub async_execution_thread: SmolStr = "async_execution_thread" or SmolStr::default();
        /// Results that lie in an operand's memory.
        pub output_to_operand_aliasing: OutputOperandAliasing = "output_to_operand_aliasing" or OutputOperandAliasing::default();
        /// The computation that is run.
        pub calls: ComputationId = "calls";
    }
}

impl AsyncStart {
    /// Prints the attributes of `<opcode>-start`: its own, then those of the op it wraps.
    pub(crate) fn print_sugared(&self, wrapped: &super::Op, out: &mut super::AttrWriter<'_>) {
        if !self.async_execution_thread.is_empty() {
            out.field("async_execution_thread", &self.async_execution_thread);
        }
        wrapped.print(out);
        if self.output_to_operand_aliasing != OutputOperandAliasing::default() {
            out.field("output_to_operand_aliasing", &self.output_to_operand_aliasing);
        }
    }
}

impl ShapeRule for AsyncStart {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Goes on with an op that was started.
    pub struct AsyncUpdate {
        /// Read and left out: the start says it.
        pub async_execution_thread: Ignored = "async_execution_thread" or Ignored;
        /// Read and left out: the start says it.
        pub calls: Ignored = "calls" or Ignored;
        /// Results that lie in an operand's memory.
        pub output_to_operand_aliasing: OutputOperandAliasing = "output_to_operand_aliasing" or OutputOperandAliasing::default();
    }
}

impl ShapeRule for AsyncUpdate {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}

attrs! {
    /// Waits for an op that was started.
    pub struct AsyncDone {
        /// Read and left out: the start says it.
        pub async_execution_thread: Ignored = "async_execution_thread" or Ignored;
        /// Read and left out: the start says it.
        pub calls: Ignored = "calls" or Ignored;
    }
}

impl ShapeRule for AsyncDone {
    const CHECKED: bool = false;
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        cx.stated().cloned()
    }
}
