//! Instructions: name, shape, opcode, operands, attributes.
use super::{Printer, literal, push_int, shape};
use crate::Opcode;
use crate::ir::{CommonAttrs, ComputationId, Instruction, InstructionId};
use crate::literal::ConstantValue;
use crate::op::{AttrWriter, Kind, Op};
use crate::text::{common, is_single_op};

/// A constant of more elements is elided where large constants are not printed.
const SMALL_CONSTANT: usize = 10;

impl Printer<'_> {
    /// Prints an instruction, without indent and newline.
    pub(super) fn instruction(
        &self,
        out: &mut String,
        computation: ComputationId,
        id: InstructionId,
        indent: usize,
    ) {
        let holder = &self.module.computations[computation];
        let instruction = &holder.instructions[id];
        if holder.root == id {
            out.push_str("ROOT ");
        }
        self.instruction_name(out, computation, id);
        out.push_str(" = ");
        shape(out, &instruction.shape, true);
        out.push(' ');
        let wrapped = self.wrapped(computation, instruction);
        Self::opcode(out, instruction, wrapped.map(Instruction::opcode));
        out.push('(');
        if let Op::Parameter(parameter) = &instruction.op {
            push_int(out, parameter.number);
        } else if let Op::Constant(constant) = &instruction.op {
            self.constant(out, &constant.value);
        } else {
            self.operands(out, computation, instruction);
        }
        out.push(')');
        let mut writer = AttrWriter { out, printer: self, indent };
        if let (Op::AsyncStart(start), Some(inner)) = (&instruction.op, wrapped) {
            start.print_sugared(&inner.op, &mut writer);
        } else {
            instruction.op.print(&mut writer);
        }
        if let Some(attrs) = &instruction.common {
            self.common(&mut writer, attrs, computation);
        }
    }

    /// Returns the wrapped op of an asynchronous instruction that is printed in its short form.
    fn wrapped(
        &self,
        computation: ComputationId,
        instruction: &Instruction,
    ) -> Option<&Instruction> {
        let holder = &self.module.computations[computation];
        let mut at = instruction;
        loop {
            if let Op::AsyncStart(start) = &at.op {
                let called = &self.module.computations[start.calls];
                let bound = at.operands.len() + 1 == called.instructions.len();
                return (bound && is_single_op(called)).then(|| &called.instructions[called.root]);
            }
            if at.opcode().kind() != Kind::Asynchronous {
                return None;
            }
            at = &holder.instructions[*at.operands.first()?];
        }
    }

    fn opcode(out: &mut String, instruction: &Instruction, wrapped: Option<Opcode>) {
        let opcode = instruction.opcode();
        let Some(wrapped) = wrapped else {
            out.push_str(opcode.name());
            return;
        };
        out.push_str(wrapped.name());
        out.push_str(opcode.name().trim_start_matches("async"));
    }

    fn operands(&self, out: &mut String, computation: ComputationId, instruction: &Instruction) {
        let holder = &self.module.computations[computation];
        for (i, &operand) in instruction.operands.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
                if self.options.operand_index && i % 5 == 0 {
                    out.push_str("/*index=");
                    push_int(out, i64::try_from(i).expect("an operand number is small"));
                    out.push_str("*/");
                }
            }
            if self.options.operand_shapes {
                shape(out, &holder.instructions[operand].shape, true);
                out.push(' ');
            }
            self.instruction_name(out, computation, operand);
        }
    }

    fn constant(&self, out: &mut String, value: &ConstantValue) {
        let shown = |value: &crate::Literal| {
            let small = value.array_shape().is_some() && value.len() <= SMALL_CONSTANT;
            self.options.large_constants || small
        };
        match value {
            ConstantValue::Literal(value) if shown(value) => literal(out, value),
            ConstantValue::Literal(_) | ConstantValue::Elided(_) => out.push_str("{...}"),
        }
    }

    /// Prints the attributes every opcode may have, in XLA's order.
    fn common(&self, out: &mut AttrWriter<'_>, attrs: &CommonAttrs, computation: ComputationId) {
        common::print_before_control(out.out, attrs, self.options.metadata);
        let control = attrs.control_predecessors();
        if self.options.control_predecessors && !control.is_empty() {
            out.out.push_str(", control-predecessors={");
            for (i, &predecessor) in control.iter().enumerate() {
                if i > 0 {
                    out.out.push_str(", ");
                }
                self.instruction_name(out.out, computation, predecessor);
            }
            out.out.push('}');
        }
        common::print_after_control(
            out.out,
            attrs,
            self.options.metadata,
            self.options.backend_config,
        );
    }
}
