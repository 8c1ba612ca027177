//! What is known of a module before it is planned.
use crate::dynamic::DynamicValues;
use crate::effects::Effects;
use crate::options::Engine;
use crate::state::Site;
use hlo::Module;
use hlo::ir::Instruction;
use num::Arithmetic;
use num::scalar_program::ScalarPrograms;

/// A module that is being compiled, with what planning asks of it.
#[derive(Debug)]
pub(crate) struct Analysis<'a> {
    pub(crate) module: &'a Module,
    pub(crate) engine: Engine,
    pub(crate) programs: &'a ScalarPrograms,
    pub(crate) effects: Effects,
    pub(crate) dynamic: DynamicValues,
    /// The number of all instructions.
    pub(crate) instructions: usize,
}

impl<'a> Analysis<'a> {
    pub(crate) fn of(module: &'a Module, engine: Engine, programs: &'a ScalarPrograms) -> Self {
        let (effects, dynamic) = (Effects::of(module), DynamicValues::of(module));
        let computations = module.computations.iter();
        let instructions = computations.map(|(_, c)| c.instructions.len()).sum();
        Self { module, engine, programs, effects, dynamic, instructions }
    }
    /// Returns the arithmetic of kernels; `None` if there are none.
    pub(crate) fn arithmetic(&self) -> Option<Arithmetic> {
        self.engine.arithmetic()
    }
    /// Returns whether an operand may be smaller than its bounds.
    pub(crate) fn may_be_smaller(&self, site: Site, instruction: &Instruction) -> bool {
        self.dynamic.is_among(site.computation, &instruction.operands)
    }
}
