//! Loops whose value consists of scalars: run on registers, without frames.
use super::RegisterLoop;
use crate::Result;
use crate::context::RunContext;
use crate::value::{Value, not_done};
use hlo::ir::ComputationId;
use hlo::{Array, ElementType, Module, Scalar};

/// A `while` whose condition and body are programs over registers.
#[derive(Debug)]
pub(crate) struct ScalarLoop {
    program: RegisterLoop,
    types: Vec<ElementType>,
}

impl ScalarLoop {
    /// The loop, if all that it carries and computes are scalars.
    pub(crate) fn new(
        module: &Module,
        condition: ComputationId,
        body: ComputationId,
        jit: bool,
    ) -> Option<Self> {
        let leaves = module.computations[body].result_shape().leaves();
        let scalar = |shape: &&hlo::Shape| shape.array().filter(|a| a.rank() == 0).map(|a| a.ty);
        let types: Vec<_> = leaves.iter().map(scalar).collect::<Option<_>>()?;
        let program = RegisterLoop::compile(module, condition, body, types.clone(), jit)?;
        Some(Self { program, types })
    }
    /// The leaves that the loop ends with.
    pub(crate) fn run(&self, context: &RunContext, carried: &[Value]) -> Result<Vec<Value>> {
        let scalars = carried.iter().map(|value| match value {
            Value::Array(array) => Ok(array.get(0)),
            Value::Tuple(_) | Value::Token | Value::Async(_) => Err(not_done()),
        });
        let mut scalars: Vec<Scalar> = scalars.collect::<Result<_>>()?;
        self.program.run(context, &mut scalars)?;
        let bytes = self.types.iter().map(|ty| ty.storage_bytes()).sum();
        let mut reservation = context.reserve(bytes)?;
        let arrays = scalars.into_iter().zip(&self.types).map(|(value, &ty)| {
            let mut scalar = Array::scalar(ty, value);
            reservation.attach(&mut scalar);
            Value::Array(scalar)
        });
        Ok(arrays.collect())
    }
}
