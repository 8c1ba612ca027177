//! Loops over registers: the programs of a condition and a body, run until the condition is false.
use super::jit::Code;
use crate::Result;
use crate::context::RunContext;
use hlo::ir::ComputationId;
use hlo::{ElementType, Module, Scalar, Shape};
use num::scalar_program::RegisterProgram;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The rounds after which a loop is worth compiling, and the evaluated steps. To compile it takes the time of about as many.
const HOT_ROUNDS: u64 = 1000;
const HOT_STEPS: u64 = 20_000;

/// The fuel that compiled code uses before the limits are checked again.
const FUEL_BETWEEN_CHECKS: u64 = 20_000;

/// A loop over scalars.
#[derive(Debug)]
pub(crate) struct RegisterLoop {
    condition: RegisterProgram,
    body: RegisterProgram,
    /// The types of the carried values.
    types: Vec<ElementType>,
    /// The fuel of an iteration, and of the final evaluation of the condition.
    fuel: [u64; 2],
    /// Rounds that it has to run before it is compiled, in all runs together.
    cold: AtomicU64,
    code: OnceLock<Option<Code>>,
}

/// What a number of rounds of a loop has come to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rounds {
    pub(super) done: u64,
    /// Whether the condition was false at last.
    pub(super) is_finished: bool,
}

impl RegisterLoop {
    /// Compiles a loop that carries scalars of these types; `None` if some instruction has no scalar step.
    pub(crate) fn compile(
        module: &Module,
        condition: ComputationId,
        body: ComputationId,
        types: Vec<ElementType>,
        jit: bool,
    ) -> Option<Self> {
        let shape = module.computations[body].result_shape();
        if shape.tuple().is_some_and(|elements| elements.iter().any(is_tuple)) {
            return None;
        }
        let condition = RegisterProgram::of_tuple(module, condition, &types)?;
        let body = RegisterProgram::of_tuple(module, body, &types)?;
        // An iteration costs one step more than its computations, as in the machine.
        let fuel = [fuel_of(&condition) + fuel_of(&body) + 1, fuel_of(&condition)];
        let cold = if jit { HOT_ROUNDS.max(HOT_STEPS / fuel[0]) } else { u64::MAX };
        Some(Self {
            condition,
            body,
            types,
            fuel,
            cold: AtomicU64::new(cold),
            code: OnceLock::new(),
        })
    }

    /// Runs the loop on its carried values.
    ///
    /// # Errors
    /// `E0404` if the fuel does not suffice for the next iteration.
    pub(crate) fn run(&self, context: &RunContext, carried: &mut [Scalar]) -> Result<()> {
        let cold = self.cold.load(Ordering::Relaxed);
        let rounds = self.interpret(context, carried, cold)?;
        if rounds.is_finished {
            if cold != u64::MAX {
                self.cold.store(cold - rounds.done, Ordering::Relaxed);
            }
            return Ok(());
        }
        self.cold.store(0, Ordering::Relaxed);
        let compile = || Code::compile(Some(&self.condition), &self.body, self.types.len());
        if let Some(code) = self.code.get_or_init(compile) {
            self.run_code(code, context, carried)
        } else {
            self.interpret(context, carried, u64::MAX).map(drop)
        }
    }

    /// Runs compiled code, and at the end of the fuel the steps, which fail.
    fn run_code(&self, code: &Code, context: &RunContext, carried: &mut [Scalar]) -> Result<()> {
        loop {
            let most = (FUEL_BETWEEN_CHECKS / self.fuel[0]).max(1);
            let rounds = code.rounds(carried, &self.types, context.affordable(self.fuel[0], most));
            context.spend(rounds.done * self.fuel[0])?;
            if rounds.is_finished {
                return context.spend(self.fuel[1]);
            }
            if rounds.done == 0 && self.interpret(context, carried, 1)?.is_finished {
                return Ok(());
            }
        }
    }

    /// Runs at most `rounds` rounds step by step.
    fn interpret(
        &self,
        context: &RunContext,
        carried: &mut [Scalar],
        rounds: u64,
    ) -> Result<Rounds> {
        let (mut condition, mut body) =
            (self.condition.registers.clone(), self.body.registers.clone());
        let count = carried.len();
        for done in 0..rounds {
            condition[..count].copy_from_slice(carried);
            self.condition.run(count, &mut condition);
            if condition[self.condition.results[0]] != Scalar::Pred(true) {
                context.spend(self.fuel[1])?;
                return Ok(Rounds { done, is_finished: true });
            }
            context.spend(self.fuel[0])?;
            body[..count].copy_from_slice(carried);
            self.body.run(count, &mut body);
            for (value, &register) in carried.iter_mut().zip(&self.body.results) {
                *value = body[register];
            }
        }
        Ok(Rounds { done: rounds, is_finished: false })
    }
}

/// Returns the steps that one evaluation of a program costs.
pub(super) fn fuel_of(program: &RegisterProgram) -> u64 {
    u64::try_from(program.instructions).unwrap_or(u64::MAX)
}

fn is_tuple(shape: &Shape) -> bool {
    shape.tuple().is_some()
}
