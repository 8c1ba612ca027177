//! Computations of scalars that pages apply: the reducer of `reduce`, the comparator of `sort`.
use crate::Result;
use crate::context::RunContext;
use crate::scalar_program::ScalarProgram;
use hlo::ir::ComputationId;
use hlo::op::Binary;
use hlo::{ElementType, Scalar};
use smallvec::SmallVec;

/// The results of a computation of scalars: one for each element of its result tuple.
pub(crate) type Results = SmallVec<[Scalar; 2]>;

/// Gives access to the computations of a module.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    context: &'a RunContext,
}

impl<'a> Call<'a> {
    pub(crate) fn new(context: &'a RunContext) -> Self {
        Self { context }
    }
    /// Returns a computation all of whose parameters and results are scalars.
    pub(crate) fn function(self, computation: ComputationId) -> Result<Function<'a>> {
        Ok(Function { program: self.context.scalar_program(computation)?, context: self.context })
    }
}

/// A computation of scalars.
#[derive(Debug, Clone)]
pub(crate) struct Function<'a> {
    program: &'a ScalarProgram,
    context: &'a RunContext,
}

impl Function<'_> {
    /// Returns the types of the parameters.
    pub(crate) fn parameters(&self) -> &[ElementType] {
        self.program.parameters()
    }
    /// Returns the types of the results.
    pub(crate) fn results(&self) -> &[ElementType] {
        self.program.results()
    }
    /// Returns whether the computation is the sum of its two parameters.
    pub(crate) fn is_sum(&self) -> bool {
        self.program.as_binary() == Some(Binary::Add)
    }
    /// Charges the fuel of `calls` calls. `call` charges its own; a page charges for calls that it replaces by a
    /// formula.
    ///
    /// # Errors
    /// `E0404` if that is more than the run may take.
    pub(crate) fn spend(&self, calls: usize) -> Result<()> {
        self.context.spend(u64::try_from(calls).unwrap_or(u64::MAX))
    }
    /// Returns the results of the computation on `arguments`, which have the types of its parameters.
    ///
    /// # Errors
    /// The errors of the computation.
    pub(crate) fn call(&self, arguments: &[Scalar]) -> Result<Results> {
        self.spend(1)?;
        let mut registers = self.program.registers();
        let mut results: Results = self.results().iter().map(|&ty| Scalar::zero(ty)).collect();
        self.program.call(self.context, arguments, &mut registers, &mut results)?;
        Ok(results)
    }
    /// Returns the results of the computation on values of the types `from`, converted to those of its parameters.
    pub(crate) fn call_converted(
        &self,
        arguments: &[Scalar],
        from: impl IntoIterator<Item = ElementType>,
    ) -> Result<Results> {
        let types = from.into_iter().zip(self.parameters());
        let converted = arguments.iter().zip(types).map(|(x, (from, &to))| x.convert(from, to));
        self.call(&converted.collect::<SmallVec<[Scalar; 4]>>())
    }
}
