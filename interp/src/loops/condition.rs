//! Conditions of loops that read scalars alone: evaluated without a frame, whatever else the loop carries.
use super::register_loop::fuel_of;
use crate::value::Value;
use hlo::ir::ComputationId;
use hlo::{ElementType, Module, Scalar};
use num::scalar_program::RegisterProgram;
use smallvec::SmallVec;

/// A condition as a program over registers, the first of which are for the leaves of the loop's value.
#[derive(Debug)]
pub(crate) struct ScalarCondition {
    program: RegisterProgram,
    /// The leaves that are scalars.
    scalars: Vec<usize>,
    /// The steps that an evaluation costs.
    pub(crate) fuel: u64,
}

impl ScalarCondition {
    /// Compiles a condition; `None` if some instruction has no scalar step.
    pub(crate) fn compile(module: &Module, condition: ComputationId) -> Option<Self> {
        let parameter = *module.computations[condition].program_shape().parameters.first()?;
        if parameter.tuple().is_some_and(|shapes| shapes.iter().any(|s| s.tuple().is_some())) {
            return None;
        }
        let leaves = parameter.leaves();
        let scalar = |leaf: &&hlo::Shape| leaf.array().filter(|a| a.rank() == 0).map(|a| a.ty);
        let scalars = (0..leaves.len()).filter(|&i| scalar(&leaves[i]).is_some()).collect();
        // No step reads the register of any other leaf: its instruction is not a scalar.
        let types: Vec<ElementType> =
            leaves.iter().map(|leaf| scalar(leaf).unwrap_or(ElementType::Pred)).collect();
        let program = RegisterProgram::of_tuple(module, condition, &types)?;
        let fuel = fuel_of(&program);
        Some(Self { program, scalars, fuel })
    }

    /// Evaluates the condition on the leaves of the loop's value; `None` if one of its scalars is not an array.
    pub(crate) fn is_true(&self, carried: &[Value]) -> Option<bool> {
        let mut registers: SmallVec<[Scalar; 16]> = SmallVec::from_slice(&self.program.registers);
        for &leaf in &self.scalars {
            let Value::Array(array) = carried.get(leaf)? else { return None };
            registers[leaf] = array.get(0);
        }
        self.program.run(carried.len(), &mut registers);
        Some(registers[self.program.results[0]] == Scalar::Pred(true))
    }
}
