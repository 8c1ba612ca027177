//! Loops over registers: the programs of a condition and a body, run until the condition is false.
use super::Program;
use crate::Result;
use crate::context::RunContext;
use hlo::ir::ComputationId;
use hlo::{Module, Scalar, Shape};

/// A loop over scalars.
#[derive(Debug)]
pub(crate) struct RegisterLoop {
    condition: Program,
    body: Program,
    /// The fuel of an iteration, and of the final evaluation of the condition.
    fuel: [u64; 2],
}

impl RegisterLoop {
    /// Compiles a loop; `None` if some instruction has no scalar step.
    pub(crate) fn compile(
        module: &Module,
        condition: ComputationId,
        body: ComputationId,
    ) -> Option<Self> {
        let shape = module.computations[body].result_shape();
        if shape.tuple().is_some_and(|elements| elements.iter().any(is_tuple)) {
            return None;
        }
        let count = shape.leaves().len();
        let condition = Program::of_tuple(module, condition, count)?;
        let body = Program::of_tuple(module, body, count)?;
        let steps = |program: &Program| u64::try_from(program.instructions).unwrap_or(u64::MAX);
        // An iteration costs one step more than its computations, as in the machine.
        let fuel = [steps(&condition) + steps(&body) + 1, steps(&condition)];
        Some(Self { condition, body, fuel })
    }

    /// Runs the loop on its carried values.
    ///
    /// # Errors
    /// `E0404` if the fuel does not suffice for the next iteration.
    pub(crate) fn run(&self, context: &RunContext, carried: &mut [Scalar]) -> Result<()> {
        let (mut condition, mut body) =
            (self.condition.registers.clone(), self.body.registers.clone());
        let count = carried.len();
        loop {
            condition[..count].copy_from_slice(carried);
            self.condition.run(count, &mut condition);
            if condition[self.condition.results[0]] != Scalar::Pred(true) {
                return context.spend(self.fuel[1]);
            }
            context.spend(self.fuel[0])?;
            body[..count].copy_from_slice(carried);
            self.body.run(count, &mut body);
            for (value, &register) in carried.iter_mut().zip(&self.body.results) {
                *value = body[register];
            }
        }
    }
}

fn is_tuple(shape: &Shape) -> bool {
    shape.tuple().is_some()
}

impl Program {
    /// Returns the program of a computation of one parameter: a scalar, or a tuple of `count` scalars.
    fn of_tuple(module: &Module, id: ComputationId, count: usize) -> Option<Self> {
        let registers = vec![Scalar::Pred(false); count];
        let mut program = Self { registers, ..Self::default() };
        let arguments = [(0..count).collect()];
        program.results = program.compile(module, id, &arguments)?;
        Some(program)
    }
}
