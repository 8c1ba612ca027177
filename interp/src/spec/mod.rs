//! The specification of HLO: one page per op, `result[index] = f(index)` over [`Scalar`].
//!
//! The engine `reference` runs these pages; the kernels of the engine `exact` are checked against them. A page uses
//! [`build`], which computes the elements of an array in parallel, [`Array::at`], which reads one, the arithmetic of
//! [`num`](crate::num), and [`Call::call`] where the op applies a computation. It uses nothing that exists for speed.
//!
//! A page destructures the attributes of its op completely: a new attribute does not compile until it has a meaning.
mod array;
mod binary;
mod bitcast;
mod bitcast_convert;
mod broadcast;
mod clamp;
mod compare;
mod concatenate;
mod constant;
mod convert;
mod copy;
mod dynamic_reshape;
mod dynamic_slice;
mod dynamic_update_slice;
mod gather;
mod get_dimension_size;
mod iota;
mod layout;
mod pad;
mod reduce_precision;
mod reshape;
mod reverse;
mod select;
mod set_dimension_size;
mod slice;
mod stochastic_convert;
mod token;
mod transpose;
mod tuple;
mod unary;

pub(crate) use array::{Array, build, index_of, position, try_build, with_layout};
pub(crate) use reshape::result_sizes;

use crate::Result;
use crate::context::Context;
use hlo::ir::{ComputationId, Instruction};
use hlo::{Literal, Op, Scalar, Shape};
use smallvec::SmallVec;

/// The results of a computation of scalars: one for each element of its result tuple.
pub(crate) type Results = SmallVec<[Scalar; 2]>;

/// Applies the scalar computations of a module: the reducer of `reduce`, the comparator of `sort`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    context: &'a Context<'a>,
}

impl Call<'_> {
    /// Returns the results of `computation` on `arguments`, which have the types of its parameters.
    ///
    /// # Errors
    /// What the computation fails with.
    pub(crate) fn call(self, computation: ComputationId, arguments: &[Scalar]) -> Result<Results> {
        let program = self.context.applied(computation)?;
        let mut results: Results = program.results().iter().map(|&ty| Scalar::zero(ty)).collect();
        program.call(self.context, arguments, &mut program.scratch(), &mut results)?;
        Ok(results)
    }
}

/// Returns the value of an instruction by its page; `None` for an op that has no page. `name` is asked for only by errors.
pub(crate) fn evaluate(
    instruction: &Instruction,
    operands: &[&Literal],
    context: &Context<'_>,
    name: &dyn Fn() -> String,
) -> Result<Option<Literal>> {
    let _call = Call { context };
    let array = |i: usize| Array::of(operands[i]);
    let arrays = |from: usize| -> SmallVec<[Array<'_>; 4]> {
        operands[from..].iter().map(|&operand| Array::of(operand)).collect()
    };
    let result = &instruction.shape;
    let shape = || result.array().expect("verified: the result is an array");
    #[expect(clippy::wildcard_enum_match_arm, reason = "the pages are being written")]
    Ok(Some(match &instruction.op {
        Op::AddDependency(op) => token::add_dependency(op, operands[0]),
        Op::AfterAll(op) => token::after_all(op),
        Op::Binary(op) => binary::binary(*op, &array(0), &array(1), shape()),
        Op::Bitcast(op) => bitcast::bitcast(op, &array(0), shape())?,
        Op::BitcastConvert(op) => bitcast_convert::bitcast_convert(op, &array(0), shape()),
        Op::Broadcast(op) => broadcast::broadcast(op, &array(0), shape()),
        Op::Clamp(op) => clamp::clamp(op, &array(0), &array(1), &array(2), shape()),
        Op::Compare(op) => compare::compare(op, &array(0), &array(1), shape()),
        Op::Concatenate(op) => concatenate::concatenate(op, &arrays(0), shape()),
        Op::Constant(op) => constant::constant(op, name, result)?,
        Op::Convert(op) => convert::convert(op, &array(0), shape()),
        Op::Copy(op) => copy::copy(op, operands[0], result),
        Op::CopyDone(op) => copy::copy_done(op, operands[0], result),
        Op::CopyStart(op) => copy::copy_start(op, operands[0], result),
        Op::Domain(op) => token::domain(op, operands[0]),
        Op::DynamicReshape(op) => {
            dynamic_reshape::dynamic_reshape(op, &array(0), &arrays(1), shape())?
        }
        Op::DynamicSlice(op) => dynamic_slice::dynamic_slice(op, &array(0), &arrays(1), shape()),
        Op::DynamicUpdateSlice(op) => dynamic_update_slice::dynamic_update_slice(
            op,
            &array(0),
            &array(1),
            &arrays(2),
            shape(),
        ),
        Op::Gather(op) => gather::gather(op, &array(0), &array(1), shape())?,
        Op::GetDimensionSize(op) => get_dimension_size::get_dimension_size(op, &array(0), shape()),
        Op::GetTupleElement(op) => tuple::get_tuple_element(op, operands[0]),
        Op::Iota(op) => iota::iota(op, shape()),
        Op::OptBarrier(op) => token::opt_barrier(op, operands[0]),
        Op::Pad(op) => pad::pad(op, &array(0), &array(1), shape()),
        Op::ReducePrecision(op) => reduce_precision::reduce_precision(op, &array(0), shape()),
        Op::Reshape(op) => reshape::reshape(op, &array(0), shape())?,
        Op::Reverse(op) => reverse::reverse(op, &array(0), shape()),
        Op::Select(op) => select::select(op, &array(0), operands[1], operands[2], result),
        Op::SetDimensionSize(op) => {
            set_dimension_size::set_dimension_size(op, &array(0), &array(1), shape())?
        }
        Op::Slice(op) => slice::slice(op, &array(0), shape()),
        Op::StochasticConvert(op) => {
            stochastic_convert::stochastic_convert(op, &array(0), &array(1), shape())?
        }
        Op::Transpose(op) => transpose::transpose(op, &array(0), shape()),
        Op::Tuple(op) => tuple::tuple(op, operands),
        Op::Unary(op) => unary::unary(*op, &array(0), shape()),
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
