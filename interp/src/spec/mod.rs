//! The specification of HLO: one page per op, `result[index] = f(index)` over [`Scalar`].
//!
//! The engine `reference` runs these pages; the kernels of the engine `exact` are checked against them. A page uses
//! [`build`], which computes the elements of an array in parallel, [`Array::at`], which reads one, the arithmetic of
//! [`num`](crate::num), and [`Call::call`] where the op applies a computation. It uses nothing that exists for speed.
//!
//! A page destructures the attributes of its op completely: a new attribute does not compile until it has a meaning.
mod array;
mod gather;
mod reverse;

pub(crate) use array::{Array, build};

use crate::Result;
use crate::context::RunContext;
use hlo::ir::{ComputationId, Instruction};
use hlo::{Literal, Op, Scalar, Shape};
use smallvec::SmallVec;

/// The results of a computation of scalars: one for each element of its result tuple.
pub(crate) type Results = SmallVec<[Scalar; 2]>;

/// Applies the scalar computations of a module: the reducer of `reduce`, the comparator of `sort`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    context: &'a RunContext,
}

impl Call<'_> {
    /// Returns the results of `computation` on `arguments`, which have the types of its parameters.
    ///
    /// # Errors
    /// What the computation fails with.
    pub(crate) fn call(self, computation: ComputationId, arguments: &[Scalar]) -> Result<Results> {
        let program = self.context.scalar_program(computation)?;
        let mut results: Results = program.results().iter().map(|&ty| Scalar::zero(ty)).collect();
        program.call(self.context, arguments, &mut program.scratch(), &mut results)?;
        Ok(results)
    }
}

/// Returns the value of an instruction by its page; `None` for an op that has no page yet.
pub(crate) fn evaluate(
    instruction: &Instruction,
    operands: &[&Literal],
    context: &RunContext,
) -> Result<Option<Literal>> {
    let _call = Call { context };
    let array = |i: usize| Array::of(operands[i]);
    let shape = || instruction.shape.array().expect("verified: the result is an array");
    #[expect(clippy::wildcard_enum_match_arm, reason = "the pages are being written")]
    Ok(Some(match &instruction.op {
        Op::Gather(op) => gather::gather(op, &array(0), &array(1), shape()),
        Op::Reverse(op) => reverse::reverse(op, &array(0), shape()),
        _ => return Ok(None),
    }))
}

/// Packs the arrays of a result: one as it is, several as a tuple; `shape` says which.
#[expect(dead_code, reason = "the pages that use it are being written")]
pub(crate) fn pack(shape: &Shape, mut arrays: Vec<Literal>) -> Literal {
    match shape {
        Shape::Tuple(_) => Literal::tuple(arrays),
        Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => arrays.swap_remove(0),
    }
}
