//! One call of a custom-call target.
use crate::Error;
use hlo::ir::{BackendConfig, Metadata};
use hlo::op::CustomCall;
use hlo::{Literal, Module, Shape};

/// One call of a custom-call target.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// The instruction's attributes: target, layouts and the rest.
    pub op: &'a CustomCall,
    /// The `backend_config` of the instruction, as written in the text.
    pub backend_config: Option<&'a BackendConfig>,
    /// The metadata of the instruction.
    pub metadata: Option<&'a Metadata>,
    /// The module, for the computations that the call names.
    pub module: &'a Module,
    /// The values of the operands.
    pub operands: &'a [&'a Literal],
    /// The shape of the result that the module states.
    pub shape: &'a Shape,
    /// The bytes that the memory limit of the run leaves; no limit if absent.
    pub memory: Option<usize>,
}

impl Call<'_> {
    /// Returns the error of a call with operands or a shape that the target does not support.
    pub(super) fn mismatch(&self, what: &str) -> Error {
        self.with_shapes(|call| call.mismatch(what))
    }
    /// Calls `then` with what the instruction states.
    pub(super) fn with_shapes<T>(&self, then: impl FnOnce(&StatedCall<'_>) -> T) -> T {
        let shapes: Vec<Shape> = self.operands.iter().map(|operand| operand.shape()).collect();
        let operands = &*shapes.iter().collect::<Vec<_>>();
        let Self { op, backend_config, shape, .. } = *self;
        then(&StatedCall { op, backend_config, operands, shape })
    }
}

/// What the instruction of a call states.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StatedCall<'a> {
    pub(crate) op: &'a CustomCall,
    pub(crate) backend_config: Option<&'a BackendConfig>,
    pub(crate) operands: &'a [&'a Shape],
    pub(crate) shape: &'a Shape,
}

impl StatedCall<'_> {
    /// Returns the error of a call with operands or a shape that the target does not support.
    pub(super) fn mismatch(&self, what: &str) -> Error {
        let found: Vec<String> = self.operands.iter().map(ToString::to_string).collect();
        let (target, found) = (&self.op.custom_call_target.0, found.join(", "));
        let shape = self.shape;
        Error::unsupported(format!(
            "custom call `{target}` expects {what}, found ({found}) -> {shape}"
        ))
    }
}
