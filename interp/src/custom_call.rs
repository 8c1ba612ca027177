//! `custom-call`: functions known by name
//!
//! A function that was registered for the target is preferred, then one of a library, then what is
//! built in. The result must have the shape that the module states, but for layouts.
use crate::Result;
use crate::context::RunContext;
use crate::custom::{self, Call};
use hlo::Literal;
use hlo::ir::Instruction;
use hlo::op::CustomCall;
use num::Arithmetic;
use num::array::with_layouts;
use num::error::Code;

pub(crate) fn custom_call(
    op: &CustomCall,
    instruction: &Instruction,
    operands: &[&Literal],
    context: &RunContext,
) -> Result<Literal> {
    let (hooks, shape) = (context.hooks(), &instruction.shape);
    let target = op.custom_call_target.0.as_str();
    let backend_config = instruction.common.as_ref().and_then(|c| c.backend_config.as_ref());
    let metadata = instruction.common.as_ref().and_then(|common| common.metadata.as_ref());
    let (module, memory) = (context.module(), context.budget().left());
    let call = Call { op, backend_config, metadata, module, operands, shape, memory };
    let result = match hooks.custom_call_target(target) {
        Some(function) => function(&call),
        None => custom::in_libraries(&call, hooks.libraries()).unwrap_or_else(|| {
            let arithmetic = context.program().engine.arithmetic();
            custom::built_in(&call, hooks.targets(), arithmetic.unwrap_or(Arithmetic::Exact))
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
