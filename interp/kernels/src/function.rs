//! Kernels that are functions.
use crate::{Formula, Kernel, Reuse};
use hlo::Array;
use num::{Arithmetic, Result, Scope};
use smallvec::SmallVec;

/// Returns the inputs that are not in the memory of an output.
pub(crate) fn given<'a>(inputs: &[Option<&'a Array>]) -> SmallVec<[&'a Array; 6]> {
    inputs.iter().flatten().copied().collect()
}

/// A kernel that is a function of its inputs and outputs.
struct FunctionKernel<F> {
    function: F,
    reuse: Reuse,
    scratch: usize,
    arithmetic: Arithmetic,
}

impl<F> Kernel for FunctionKernel<F>
where
    F: Fn(&dyn Scope, &[&Array], &mut [Array]) -> Result<()> + Send + Sync,
{
    fn run(
        &self,
        scope: &dyn Scope,
        inputs: &[Option<&Array>],
        outputs: &mut [Array],
    ) -> Result<()> {
        (self.function)(scope, &given(inputs), outputs)
    }
    fn reuse(&self) -> Reuse {
        self.reuse
    }
    fn scratch(&self) -> usize {
        self.scratch
    }
    fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }
}

/// Returns a kernel that writes every element of its outputs.
pub(crate) fn writes<F>(function: F) -> Box<dyn Kernel>
where
    F: Fn(&dyn Scope, &[&Array], &mut [Array]) -> Result<()> + Send + Sync + 'static,
{
    writes_with(0, function)
}
/// Returns a kernel that writes every element of its outputs and takes `scratch` bytes beside them.
pub(crate) fn writes_with<F>(scratch: usize, function: F) -> Box<dyn Kernel>
where
    F: Fn(&dyn Scope, &[&Array], &mut [Array]) -> Result<()> + Send + Sync + 'static,
{
    writes_in(Arithmetic::Exact, scratch, function)
}
/// Returns a kernel that has more than one arithmetic.
pub(crate) fn writes_in<F>(arithmetic: Arithmetic, scratch: usize, function: F) -> Box<dyn Kernel>
where
    F: Fn(&dyn Scope, &[&Array], &mut [Array]) -> Result<()> + Send + Sync + 'static,
{
    Box::new(FunctionKernel { function, reuse: Reuse::None, scratch, arithmetic })
}
/// Returns a kernel that changes part of operand 0, which its first output holds and its inputs
/// leave out, and takes `scratch` bytes beside its arrays.
pub(crate) fn updates_with<F>(scratch: usize, function: F) -> Box<dyn Kernel>
where
    F: Fn(&dyn Scope, &[&Array], &mut [Array]) -> Result<()> + Send + Sync + 'static,
{
    let arithmetic = Arithmetic::Exact;
    Box::new(FunctionKernel { function, reuse: Reuse::Update, scratch, arithmetic })
}

/// A kernel that is a function of bytes.
struct BytesKernel<F> {
    function: F,
    scratch: usize,
    arithmetic: Arithmetic,
    formula: Option<Formula>,
}

impl<F> Kernel for BytesKernel<F>
where
    F: Fn(&[&[u8]], &mut [u8]) + Send + Sync,
{
    fn computes(&self) -> Option<u64> {
        Some(0)
    }
    fn compute(&self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> u64 {
        (self.function)(inputs, outputs[0]);
        0
    }
    fn formula(&self) -> Option<Formula> {
        self.formula.clone()
    }
    fn scratch(&self) -> usize {
        self.scratch
    }
    fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }
}

/// Returns a kernel that computes the bytes of its output from those of its inputs, by the formula
/// if there is one.
pub(crate) fn computes<F>(
    arithmetic: Arithmetic,
    scratch: usize,
    formula: Option<Formula>,
    function: F,
) -> Box<dyn Kernel>
where
    F: Fn(&[&[u8]], &mut [u8]) + Send + Sync + 'static,
{
    Box::new(BytesKernel { function, scratch, arithmetic, formula })
}

/// A kernel that needs nothing of a run: the planner computes small constants by it.
struct Movement<F>(F);

impl<F> Kernel for Movement<F>
where
    F: Fn(&[&Array], &mut Array) + Send + Sync,
{
    fn run(&self, _: &dyn Scope, inputs: &[Option<&Array>], outputs: &mut [Array]) -> Result<()> {
        (self.0)(&given(inputs), &mut outputs[0]);
        Ok(())
    }
    fn moves(&self) -> bool {
        true
    }
    fn fold(&self, inputs: &[Option<&Array>], output: &mut Array) -> bool {
        (self.0)(&given(inputs), output);
        true
    }
}

/// Returns a kernel that moves elements of its inputs, and cannot fail.
pub(crate) fn moves<F>(function: F) -> Box<dyn Kernel>
where
    F: Fn(&[&Array], &mut Array) + Send + Sync + 'static,
{
    Box::new(Movement(function))
}
