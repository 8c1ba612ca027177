//! Computations of scalars that reference functions apply: the reducer of `reduce`, the comparator
//! of `sort`.
use hlo::ir::ComputationId;
use hlo::op::Binary;
use hlo::{ElementType, Scalar};
use num::scalar_program::ScalarProgram;
use num::{Result, Scope};
use smallvec::SmallVec;

/// The results of a computation of scalars: one for each element of its result tuple.
pub type Results = SmallVec<[Scalar; 2]>;

/// Gives access to the computations of a module.
#[derive(Debug, Clone, Copy)]
pub struct Computations<'a> {
    scope: &'a dyn Scope,
}

impl<'a> Computations<'a> {
    /// Returns access to the computations of a run.
    pub fn new(scope: &'a dyn Scope) -> Self {
        Self { scope }
    }
    /// Returns a computation all of whose parameters and results are scalars.
    pub fn function(self, computation: ComputationId) -> Result<ScalarComputation<'a>> {
        Ok(ScalarComputation {
            program: self.scope.scalar_program(computation)?,
            scope: self.scope,
        })
    }
}

/// A computation of scalars.
#[derive(Debug, Clone)]
pub struct ScalarComputation<'a> {
    program: &'a ScalarProgram,
    scope: &'a dyn Scope,
}

impl ScalarComputation<'_> {
    /// Returns the types of the parameters.
    pub fn parameters(&self) -> &[ElementType] {
        self.program.parameters()
    }
    /// Returns the types of the results.
    pub fn results(&self) -> &[ElementType] {
        self.program.results()
    }
    /// Returns whether the computation is the sum of its two parameters.
    pub fn is_sum(&self) -> bool {
        self.program.as_binary() == Some(Binary::Add)
    }
    /// Charges the fuel of `calls` calls. `call` charges its own; a reference function charges for
    /// calls that it replaces by a formula.
    ///
    /// # Errors
    /// `E0404` if that is more than the run may take.
    pub fn spend(&self, calls: usize) -> Result<()> {
        self.scope.spend(u64::try_from(calls).unwrap_or(u64::MAX))
    }
    /// Returns the results of the computation on `arguments`, which have the types of its
    /// parameters.
    ///
    /// # Errors
    /// The errors of the computation.
    pub fn call(&self, arguments: &[Scalar]) -> Result<Results> {
        self.spend(1)?;
        let mut registers = self.program.registers();
        let mut results: Results = self.results().iter().map(|&ty| Scalar::zero(ty)).collect();
        self.program.call(self.scope, arguments, &mut registers, &mut results)?;
        Ok(results)
    }
    /// Returns the results of the computation on values of the types `from`, converted to those of
    /// its parameters.
    pub fn call_converted(
        &self,
        arguments: &[Scalar],
        from: impl IntoIterator<Item = ElementType>,
    ) -> Result<Results> {
        let types = from.into_iter().zip(self.parameters());
        let converted = arguments.iter().zip(types).map(|(x, (from, &to))| x.convert(from, to));
        self.call(&converted.collect::<SmallVec<[Scalar; 4]>>())
    }
}
