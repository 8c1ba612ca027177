//! What is compiled of a module, and kept while it runs.
use crate::Result;
use crate::context::RunContext;
use crate::memory::Pool;
use crate::options::Engine;
use crate::plan::Plan;
use crate::scalar_program::ScalarPrograms;
use crate::value::Value;
use hlo::ir::ComputationId;
use hlo::{Literal, Module, Verified};
use std::sync::{Arc, OnceLock};

/// What an executable and its runs share.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) verified: Arc<Verified>,
    pub(crate) engine: Engine,
    /// A plan for each computation, by its number.
    pub(crate) plans: Vec<Plan>,
    /// The computations that take and return scalars, compiled for ops that apply them to elements.
    pub(crate) scalar_programs: Arc<ScalarPrograms>,
    /// Runs a computation of scalars that is not compiled.
    pub(crate) call: Call,
    /// Memory for the next arrays of a run, or of the next run.
    pub(crate) pool: Arc<Pool>,
    /// The same program with a step for each instruction, compiled for the first run that is observed.
    pub(crate) observable: OnceLock<Arc<Program>>,
}

/// Runs a computation on arguments, within the limits of a run.
pub(crate) type Call = fn(RunContext, ComputationId, Vec<Value>) -> Result<Literal>;

impl Program {
    pub(crate) fn module(&self) -> &Module {
        self.verified.module()
    }
    pub(crate) fn plan(&self, computation: ComputationId) -> &Plan {
        &self.plans[computation.index()]
    }
}
