//! Prints a computation: signature, instructions, closing brace.
use super::{Printer, order, push_indent, shape};
use crate::ir::ComputationId;
use crate::text::strings::print_string;

impl Printer<'_> {
    /// Prints computation `id` without the newline after it; `named` for one that is not printed in
    /// place.
    pub(super) fn computation(
        &self,
        out: &mut String,
        id: ComputationId,
        indent: usize,
        named: bool,
    ) {
        let computation = &self.module.computations[id];
        push_indent(out, indent);
        if named {
            if id == self.module.entry {
                out.push_str("ENTRY ");
            }
            self.name(out, &computation.name);
            out.push(' ');
            if self.options.signature {
                self.signature(out, id);
            }
        }
        out.push_str("{\n");
        if self.options.numbered_names {
            self.numbers.borrow_mut().push(vec![None; computation.instructions.len()]);
        }
        // A body in place has no schedule.
        let order = match named {
            true => self.order.instructions(id),
            false => order::post_order(computation),
        };
        for instruction in order {
            push_indent(out, indent + 1);
            self.instruction(out, id, instruction, indent + 1);
            out.push('\n');
        }
        if self.options.numbered_names {
            self.numbers.borrow_mut().pop();
        }
        push_indent(out, indent);
        out.push('}');
        if named && !computation.execution_thread.is_empty() {
            out.push_str(", execution_thread=");
            print_string(out, &computation.execution_thread);
        }
    }

    /// Prints `(p: shape, ...) -> shape `.
    fn signature(&self, out: &mut String, id: ComputationId) {
        let computation = &self.module.computations[id];
        out.push('(');
        for (i, parameter) in computation.parameters().into_iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            out.push_str(computation.name(parameter));
            out.push_str(": ");
            shape(out, &computation.instructions[parameter].shape, false);
        }
        out.push_str(") -> ");
        shape(out, computation.result_shape(), false);
        out.push(' ');
    }
}
