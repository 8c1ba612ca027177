//! Positions: the instruction that a machine has come to.
use crate::Error;
use crate::value::Value;
use hlo::diag::Site;
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::{Module, Span};

/// An instruction of an open computation. It consists of numbers; the module they belong to gives the names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    /// The innermost open computation.
    pub computation: ComputationId,
    /// The instruction.
    pub instruction: InstructionId,
    /// The number of open computations.
    pub depth: usize,
}

impl Position {
    /// The instruction.
    pub fn instruction(self, module: &Module) -> &Instruction {
        &module.computations[self.computation].instructions[self.instruction]
    }
    /// Its name: `computation/instruction`.
    pub fn name(self, module: &Module) -> String {
        module.computations[self.computation].path(self.instruction)
    }
    /// Its place in the text; a default one if there is no text.
    pub fn span(self, module: &Module) -> Span {
        module.computations[self.computation].span(self.instruction)
    }
    /// Its place, as errors state it.
    pub fn site(self, module: &Module) -> Site {
        module.computations[self.computation].site(self.instruction)
    }
    /// The error, at this instruction unless it has a place.
    pub fn locate(self, error: Error, module: &Module) -> Error {
        error.at(self.site(module))
    }
}

/// An instruction that other devices take part in.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspension {
    /// Where the machine is.
    pub position: Position,
    /// The values of the operands.
    pub operands: Vec<Value>,
}
