//! Instructions: name, shape, opcode, operands, attributes.
use super::{Printer, literal, shape};
use crate::Opcode;
use crate::ir::{CommonAttrs, Computation, ComputationId, Instruction, InstructionId};
use crate::literal::ConstantValue;
use crate::op::{AttrWriter, Kind, Op};
use crate::text::common;
use crate::text::number::push_int;

/// A constant of more elements is elided where large constants are not printed.
const SMALL_CONSTANT: usize = 10;

/// Returns whether a start that calls this computation is printed as `<opcode>-start`.
pub(super) fn is_sugared(start: &Instruction, called: &Computation) -> bool {
    // An op whose operands or result come later cannot be printed so: they would be missing.
    let root = &called.instructions[called.root];
    let result = start.shape.tuple().and_then(|parts| parts.get(1));
    let bound = start.operands.len() + 1 == called.instructions.len()
        && result.is_some_and(|result| result.compatible(&root.shape));
    bound && called.is_single_op() && !differ(start, root)
}

/// Returns whether both have a sharding or frontend attributes, and not the same: the short form
/// has a place for one.
fn differ(start: &Instruction, inner: &Instruction) -> bool {
    fn both<T: PartialEq>(a: Option<&T>, b: Option<&T>) -> bool {
        a.is_some() && b.is_some() && a != b
    }
    let (Some(outer), Some(inner)) = (&start.common, &inner.common) else { return false };
    both(outer.sharding.as_ref(), inner.sharding.as_ref())
        || both(outer.frontend_attributes.as_ref(), inner.frontend_attributes.as_ref())
}

/// Returns the attributes of a start with the sharding and the frontend attributes that only the
/// wrapped op has.
fn with_inner_attributes(start: &Instruction, inner: &Instruction) -> Option<CommonAttrs> {
    let inner = inner.common.as_deref()?;
    let mut attrs = start.common.as_deref().cloned().unwrap_or_default();
    attrs.sharding = attrs.sharding.or_else(|| inner.sharding.clone());
    attrs.frontend_attributes =
        attrs.frontend_attributes.or_else(|| inner.frontend_attributes.clone());
    Some(attrs)
}

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
        if let (Op::AsyncStart(_), Some(inner)) = (&instruction.op, wrapped)
            && let Some(attrs) = with_inner_attributes(instruction, inner)
        {
            self.common(&mut writer, &attrs, computation);
        } else if let Some(attrs) = &instruction.common {
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
                return is_sugared(at, called).then(|| &called.instructions[called.root]);
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
            ConstantValue::Literal(value) if shown(value) => literal(out, value, false),
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
