//! Computations and instructions.
use super::{CommonAttrs, InstructionId};
use crate::{Arena, Op, Opcode, SecondaryMap, Shape, Span};
use smallvec::SmallVec;
use smol_str::SmolStr;

/// A list of instructions in which operands stand before their users.
#[derive(Debug, Clone, PartialEq)]
pub struct Computation {
    /// Name without the `%`.
    pub name: SmolStr,
    /// Instructions in text order.
    pub instructions: Arena<Instruction>,
    /// Name of each instruction, without the `%`.
    pub names: SecondaryMap<Instruction, SmolStr>,
    /// Where each instruction stands in the text; default spans in a module that was not parsed.
    pub spans: SecondaryMap<Instruction, InstructionSpans>,
    /// The instruction whose value is the result.
    pub root: InstructionId,
    /// The result shape its signature states, if it has one.
    pub signature: Option<Box<Shape>>,
    /// `execution_thread`; `main` if empty.
    pub execution_thread: SmolStr,
    /// Where its name stands in the text.
    pub span: Span,
}

/// One operation and the shape it claims.
#[derive(Debug, Clone, PartialEq)]
pub struct Instruction {
    /// What it computes.
    pub op: Op,
    /// Shape of its value, as stated.
    pub shape: Shape,
    /// Inputs.
    pub operands: SmallVec<[InstructionId; 3]>,
    /// Attributes that every opcode may have.
    pub common: Option<Box<CommonAttrs>>,
}

/// Where an instruction stands in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InstructionSpans {
    /// Its name.
    pub name: Span,
    /// From its opcode to the end of its attributes.
    pub body: Span,
}

impl Instruction {
    /// Which operation it is.
    pub fn opcode(&self) -> Opcode {
        self.op.opcode()
    }
}

impl Computation {
    /// The instructions that are parameters, by number; numbers past the parameters found are skipped. Those of one number, which
    /// no verified module has, come by name: that does not change when they are printed in another order.
    pub fn parameters(&self) -> Vec<InstructionId> {
        let mut numbered: Vec<_> = (self.instructions.iter())
            .filter_map(|(id, instruction)| {
                let Op::Parameter(parameter) = &instruction.op else { return None };
                Some((parameter.number, id))
            })
            .collect();
        let key = |&(number, id): &(i64, InstructionId)| (number, &self.names[id]);
        numbered.sort_by(|a, b| key(a).cmp(&key(b)));
        numbered.into_iter().map(|(_, id)| id).collect()
    }
    /// Shape of the result.
    pub fn result_shape(&self) -> &Shape {
        &self.instructions[self.root].shape
    }
    /// Opcode of the instruction whose value is the result.
    pub fn root_opcode(&self) -> Opcode {
        self.instructions[self.root].opcode()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_stay_small() {
        // A module may take twelve times its text, and an instruction is about 75 bytes of text.
        assert!(size_of::<Op>() <= 56, "{}", size_of::<Op>());
        assert!(size_of::<Shape>() <= 120, "{}", size_of::<Shape>());
        assert!(size_of::<Instruction>() <= 208, "{}", size_of::<Instruction>());
    }
}
