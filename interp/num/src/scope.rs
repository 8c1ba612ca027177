//! The run that a function of arrays is part of.
use crate::Result;
use crate::clock::Stop;
use crate::scalar_program::ScalarProgram;
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Array, Scalar};
use std::fmt;

/// The run that a kernel, or a function of `spec`, is part of: its limits, and the computations of
/// its module.
pub trait Scope: fmt::Debug + Sync {
    /// Fails if the time is over, or the caller stops the run.
    ///
    /// # Errors
    /// `E0412` or `E0414`.
    fn check_time(&self) -> Result<()>;
    /// Returns the time limit for loops.
    fn stop(&self) -> Stop;
    /// Charges `steps` steps.
    ///
    /// # Errors
    /// `E0404` if that is more than the run may take, and as [`check_time`](Self::check_time).
    fn spend(&self, steps: u64) -> Result<()>;
    /// Returns the compiled form of a computation that is applied to elements.
    ///
    /// # Errors
    /// `E0499` if it takes or returns other values than scalars, which the verifier has checked.
    fn scalar_program(&self, computation: ComputationId) -> Result<&ScalarProgram>;
    /// Runs a computation whose parameters and results are scalars, and that no [`ScalarProgram`]
    /// has the steps of.
    ///
    /// # Errors
    /// The errors of the computation.
    fn call(
        &self,
        computation: ComputationId,
        arguments: &[Scalar],
        out: &mut [Scalar],
    ) -> Result<()>;
    /// Calls the function that the run has for the target of a custom call in place of what is built
    /// in; returns whether it has one.
    ///
    /// # Errors
    /// The errors of the function.
    fn custom_call(
        &self,
        _instruction: (ComputationId, InstructionId),
        _operands: &[&Array],
        _results: &mut [Array],
    ) -> Result<bool> {
        Ok(false)
    }
}
