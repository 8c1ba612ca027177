//! The interface of a kernel to the planner and the machine.
use crate::reduce_lines::Method;
use crate::strided::Walk;
use hlo::op::Binary;
use hlo::{Array, ElementType};
use num::loops::{VectorLoop, WriteElements};
use num::{Arithmetic, Error, Result, Scope};
use smallvec::SmallVec;
use std::sync::Arc;

/// A computation of arrays from arrays, into existing memory.
pub trait Kernel: Send + Sync {
    /// Computes `outputs`, one for each array of the result, which have their shapes and arbitrary
    /// elements.
    ///
    /// With [`Reuse::Update`], the first output has the elements of operand 0. The input is `None`
    /// of an operand in whose memory the first output is computed.
    ///
    /// The default implementation calls [`Kernel::compute`] if [`Kernel::computes`] returns steps,
    /// else [`Kernel::fold`].
    fn run(
        &self,
        scope: &dyn Scope,
        inputs: &[Option<&Array>],
        outputs: &mut [Array],
    ) -> Result<()> {
        let Some(steps) = self.computes() else {
            let is_computed = self.fold(inputs, &mut outputs[0]);
            let error = || Error::internal("a kernel implements `run`, `compute` or `fold`");
            return is_computed.then_some(()).ok_or_else(error);
        };
        scope.spend(steps)?;
        let inputs: SmallVec<[&[u8]; 6]> = inputs.iter().flatten().map(|x| x.bytes()).collect();
        let mut outputs: SmallVec<[&mut [u8]; 2]> =
            outputs.iter_mut().map(Array::bytes_mut).collect();
        scope.spend(self.compute(&inputs, &mut outputs))
    }
    /// Returns the operands with which the first output may share memory.
    fn reuse(&self) -> Reuse {
        Reuse::None
    }
    /// Returns the bytes that it takes beside its inputs and outputs while it runs.
    fn scratch(&self) -> usize {
        0
    }
    /// Returns how it computes with floats that it rounds.
    fn arithmetic(&self) -> Arithmetic {
        Arithmetic::Exact
    }
    /// Computes the output from constants, if that takes no context of a run; returns whether it
    /// has.
    fn fold(&self, _inputs: &[Option<&Array>], _output: &mut Array) -> bool {
        false
    }
    /// Returns the steps that [`Kernel::run`] spends in any case, if [`Kernel::compute`] computes the
    /// outputs too.
    fn computes(&self) -> Option<u64> {
        None
    }
    /// Computes the outputs, from the bytes of the inputs, as [`Kernel::run`] does but for what that
    /// takes from the run. Returns the other steps that it has taken.
    fn compute(&self, _inputs: &[&[u8]], _outputs: &mut [&mut [u8]]) -> u64 {
        0
    }
    /// Returns how [`Kernel::compute`] computes the few elements of the only output from few: in these
    /// steps, in this order.
    fn formula(&self) -> Option<Formula> {
        None
    }
    /// Returns whether each element of the output is one of an input, by its place alone.
    /// [`Kernel::fold`] then moves elements of any type of the same width.
    fn moves(&self) -> bool {
        false
    }
    /// Returns whether the output has the elements of operand 0, in their order and of their width:
    /// it can share their memory.
    fn is_bitcast(&self) -> bool {
        false
    }
    /// Returns how it can become part of a fused kernel.
    fn fusion(&self) -> Fusion {
        Fusion::None
    }
}

/// The steps from the elements of two inputs to those of the output.
#[derive(Debug, Clone)]
pub enum Formula {
    /// For each element of the output, an op on elements of this type: of the value of the second
    /// input and the elements of the first with these numbers, by [`in_halves`](crate::in_halves).
    /// Floats are added in f64. With a number, the sums are rounded as those of
    /// [`RoundedProducts`](Self::RoundedProducts) are.
    Folds(Binary, ElementType, Option<f64>, Vec<Vec<usize>>),
    /// For each element, a sum of products of floats of this type, which begins with 0 and adds one
    /// after the other: the numbers of the factors in both inputs.
    Products(ElementType, Vec<Vec<[usize; 2]>>),
    /// For each element, a sum of products of f32, which are exact in f64, rounded to f32: the
    /// numbers of the factors. An element is decided if it is finite, and the same for the least
    /// and the greatest sum within an error, which is this number for a sum of absolute products of
    /// 1. [`Kernel::compute`] decides the others.
    RoundedProducts(f64, Vec<Vec<[usize; 2]>>),
}

impl Formula {
    /// Returns about how many steps they are.
    #[must_use]
    pub fn steps(&self) -> usize {
        match self {
            Self::Folds(.., error, lines) => {
                let each = if error.is_some() { 12 } else { 3 };
                lines.iter().map(|line| each * line.len() + 10).sum()
            }
            Self::Products(_, sums) => sums.iter().map(|sum| 2 * sum.len() + 2).sum(),
            Self::RoundedProducts(_, sums) => sums.iter().map(|sum| 4 * sum.len() + 10).sum(),
        }
    }
}

/// The form of a kernel as part of a fused one.
pub enum Fusion {
    /// It cannot.
    None,
    /// It is this loop over the elements of all its operands.
    Loop(VectorLoop),
    /// It is a loop over its only operand, which has smaller elements: applying the loop twice is
    /// cheaper than storing its result.
    Widen(VectorLoop),
    /// It reduces each run of `inner` elements of its first operand, from the value of the second
    /// one on.
    Rows {
        /// Elements of a run.
        inner: usize,
        /// The reduction.
        method: Arc<Method>,
    },
    /// It has no operands: its elements follow from their indices.
    Numbers(WriteElements),
    /// Its result is read from its operand by this walk.
    Walk(Walk),
}

/// The operands with which an output may share memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reuse {
    /// None.
    None,
    /// One of the first operands, as many as stated: an element of the result is written after
    /// their elements at its index have been read.
    SameIndex(usize),
    /// Operand 0, of which it changes a part.
    Update,
}
