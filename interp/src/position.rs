//! Positions of machines in a module.
use crate::Error;
use crate::value::Value;
use hlo::diag::Site;
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::{Module, Span};

/// An instruction of an open computation. It consists of numbers; the module maps them to names.
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
    /// Returns the instruction.
    pub fn instruction(self, module: &Module) -> &Instruction {
        &module.computations[self.computation].instructions[self.instruction]
    }
    /// Returns the name of the instruction in the text: `computation/instruction`.
    pub fn name(self, module: &Module) -> String {
        module.computations[self.computation].written_path(self.instruction)
    }
    /// Returns the instruction's span in the text; the default span if there is no text.
    pub fn span(self, module: &Module) -> Span {
        module.computations[self.computation].span(self.instruction)
    }
    /// Returns the position in the form that errors use.
    pub fn site(self, module: &Module) -> Site {
        let site = module.computations[self.computation].site(self.instruction);
        Site { instruction: Some(self.name(module)), ..site }
    }
    /// Returns the error, at this instruction unless it has a place.
    pub fn locate(self, error: Error, module: &Module) -> Error {
        error.at(self.site(module))
    }
}

/// A cross-device instruction at which a machine is suspended.
#[derive(Debug, Clone, PartialEq)]
pub struct Suspension {
    /// The position of the machine.
    pub position: Position,
    /// The values of the operands.
    pub operands: Vec<Value>,
}
