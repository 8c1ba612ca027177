//! What kernels and `spec` see of a run.
use crate::Result;
use crate::context::RunContext;
use crate::custom_call::custom_call;
use crate::state::Site;
use crate::value::Value;
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Array, Literal, Op, Scalar, Shape};
use num::Scope;
use num::array::with_layouts;
use num::clock::Stop;
use num::scalar_program::ScalarProgram;

impl Scope for RunContext {
    fn check_time(&self) -> Result<()> {
        Self::check_time(self)
    }
    fn stop(&self) -> Stop {
        Self::stop(self)
    }
    fn spend(&self, steps: u64) -> Result<()> {
        Self::spend(self, steps)
    }
    fn scalar_program(&self, computation: ComputationId) -> Result<&ScalarProgram> {
        self.program().scalar_programs.of_elements(computation)
    }
    /// Runs it on a nested machine, within the limits of the whole run.
    fn call(
        &self,
        computation: ComputationId,
        arguments: &[Scalar],
        out: &mut [Scalar],
    ) -> Result<()> {
        let types = self.scalar_program(computation)?.parameters();
        let arguments = arguments.iter().zip(types);
        let arguments: Vec<Value> =
            arguments.map(|(&value, &ty)| Value::Array(Array::scalar(ty, value))).collect();
        let result = Self::call(self, computation, arguments)?;
        let single = std::slice::from_ref(&result);
        for (out, element) in out.iter_mut().zip(result.elements().unwrap_or(single)) {
            *out = element.get(0);
        }
        Ok(())
    }
    fn custom_call(
        &self,
        (computation, instruction): (ComputationId, InstructionId),
        operands: &[&Array],
        results: &mut [Array],
    ) -> Result<bool> {
        let hooks = self.hooks();
        if !hooks.has_functions() {
            return Ok(false);
        }
        let instruction = Site { computation, instruction }.of(self.module());
        let Op::CustomCall(op) = &instruction.op else { return Ok(false) };
        if !hooks.replaces(&op.custom_call_target.0) {
            return Ok(false);
        }
        let instructions = &self.module().computations[computation].instructions;
        let shapes = instruction.operands.iter().map(|&id| &instructions[id].shape);
        let operand =
            |(&array, shape): (&&Array, &Shape)| with_layouts(Literal::from(array.clone()), shape);
        let operands: Vec<Literal> = operands.iter().zip(shapes).map(operand).collect();
        let value = custom_call(op, instruction, &operands.iter().collect::<Vec<_>>(), self)?;
        let mut leaves = Vec::with_capacity(results.len());
        Value::from(value).flatten(&mut leaves);
        for (result, leaf) in results.iter_mut().zip(leaves) {
            if let Value::Array(array) = leaf {
                result.bytes_mut().copy_from_slice(array.bytes());
            }
        }
        Ok(true)
    }
}
