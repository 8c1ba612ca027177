//! The compiled form of a module, kept while it runs.
use crate::memory::Pool;
use crate::options::Engine;
use crate::plan::Plan;
use hlo::ir::{ComputationId, Instruction};
use hlo::op::Kind;
use hlo::{ArrayShape, Module, Op, Shape, Verified};
use num::array::bytes_of;
use num::scalar_program::ScalarPrograms;
use std::sync::{Arc, OnceLock};

/// The data that an executable and its runs share.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) verified: Arc<Verified>,
    pub(crate) engine: Engine,
    /// A plan for each computation, by its number.
    pub(crate) plans: Vec<Plan>,
    /// The computations that take and return scalars, compiled for ops that apply them to elements.
    pub(crate) scalar_programs: Arc<ScalarPrograms>,
    /// Whether it calls code of others, which may wait for anything.
    pub(crate) calls_out: bool,
    /// Memory for the next arrays of a run, or of the next run.
    pub(crate) pool: Arc<Pool>,
    /// The program with a step for each instruction, compiled for the first run that is observed.
    pub(crate) observable: OnceLock<Arc<Program>>,
}

impl Program {
    pub(crate) fn module(&self) -> &Module {
        self.verified.module()
    }
    pub(crate) fn plan(&self, computation: ComputationId) -> &Plan {
        &self.plans[computation.index()]
    }
    /// Returns the bytes of the arguments, and of those that a run extends to their bounds.
    pub(crate) fn argument_bytes(&self) -> usize {
        let bytes = |shape: &Shape| bytes_of(shape).unwrap_or(usize::MAX);
        let extended = |shape: &Shape| {
            let leaves = shape.leaves();
            let arrays = leaves.into_iter().filter(|leaf| leaf.array().is_some_and(is_dynamic));
            arrays.map(bytes).fold(0, usize::saturating_add)
        };
        let parameters = self.module().entry().program_shape().parameters;
        let each = parameters.iter().map(|shape| bytes(shape).saturating_add(extended(shape)));
        each.fold(0, usize::saturating_add)
    }
    /// Returns the most bytes that a run of one device is planned to hold at once.
    pub(crate) fn planned_bytes(&self) -> usize {
        self.argument_bytes().saturating_add(self.plan(self.module().entry).peak_bytes)
    }
}

/// Returns whether a module has instructions that the host or a custom call computes, but for
/// targets that are our own.
pub(crate) fn calls_out(module: &Module, is_own: impl Fn(&str) -> bool) -> bool {
    let is_outside = |instruction: &Instruction| match instruction.opcode().kind() {
        Kind::Custom | Kind::Host | Kind::Transfer => {
            !matches!(&instruction.op, Op::CustomCall(call) if is_own(&call.custom_call_target.0))
        }
        Kind::Array
        | Kind::Asynchronous
        | Kind::Collective
        | Kind::Control
        | Kind::Device
        | Kind::Random
        | Kind::Value => false,
    };
    let mut computations = module.computations.iter();
    computations.any(|(_, computation)| computation.instructions.iter().any(|(_, i)| is_outside(i)))
}

fn is_dynamic(array: &ArrayShape) -> bool {
    array.dynamic.is_some()
}
