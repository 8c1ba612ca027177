//! `custom-call`: functions known by name
//!
//! A function that was registered for the target is preferred, then one of a library, then what is
//! built in. The result must have the shape that the module states, but for layouts.
use super::{built_in, in_libraries};
use crate::Result;
use crate::context::RunContext;
use hlo::ir::{BackendConfig, Instruction};
use hlo::op::CustomCall;
use hlo::{Literal, Module, Shape};
use num::Arithmetic;
use num::array::with_layouts;
use num::error::Code;

/// One call of a custom-call target.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The instruction's attributes: target, layouts and the rest.
    pub op: &'a CustomCall,
    /// The `backend_config` of the instruction, as written in the text.
    pub backend_config: Option<&'a BackendConfig>,
    /// The module, for the computations that the call names.
    pub module: &'a Module,
    /// The values of the operands.
    pub operands: &'a [&'a Literal],
    /// The shape of the result that the module states.
    pub shape: &'a Shape,
    /// The bytes that the memory limit of the run leaves; no limit if absent.
    pub memory: Option<usize>,
}

pub(crate) fn custom_call(
    op: &CustomCall,
    instruction: &Instruction,
    operands: &[&Literal],
    context: &RunContext,
) -> Result<Literal> {
    let (hooks, shape) = (context.hooks(), &instruction.shape);
    let target = op.custom_call_target.0.as_str();
    let backend_config = instruction.common.as_ref().and_then(|c| c.backend_config.as_ref());
    let (module, memory) = (context.module(), context.budget().left());
    let call = Call { op, backend_config, module, operands, shape, memory };
    let result = match hooks.custom_call_target(target) {
        Some(function) => function(&call),
        None => in_libraries(&call, hooks.libraries()).unwrap_or_else(|| {
            let arithmetic = context.program().engine.arithmetic();
            built_in(&call, hooks, arithmetic.unwrap_or(Arithmetic::Exact))
        }),
    };
    // A call that is ended by the time limit fails because of it.
    context.check_time()?;
    let result = result?;
    let found = result.shape();
    if !found.compatible(shape) {
        let (target, found, expected) = (target.into(), found.to_string(), shape.to_string());
        return Err(Code::CustomCallResult { target, found, expected }.into());
    }
    Ok(with_layouts(result, shape))
}
