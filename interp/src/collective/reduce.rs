//! Reduction of the members' values, element by element.
//!
//! A reduction starts with the first member's value and takes the others in group order. Sums of
//! floats are accumulated wide and rounded once; other computations are applied pair by pair.
//! Hardware guarantees no order: where one is given, the reduction takes the members in it and
//! rounds every sum, as hardware does.
use super::parts::arrays_of;
use crate::Result;
use crate::context::RunContext;
use hlo::Literal;
use hlo::ir::ComputationId;
use kernels::{folded, summed};
use spec::all_reduce::all_reduce;
use spec::{Computations, Operand};

/// Returns each column of members' values reduced by the computation, or their sum if there is
/// none.
pub(super) fn all<'a>(
    context: &RunContext,
    reducer: Option<ComputationId>,
    columns: impl Iterator<Item = Vec<&'a Literal>>,
    order: Option<&[usize]>,
) -> Result<Vec<Literal>> {
    columns
        .map(|members| {
            let members: Vec<&Literal> = match order {
                Some(order) => order.iter().map(|&i| members[i]).collect(),
                None => members,
            };
            match (members.as_slice(), reducer) {
                ([one], _) => Ok((*one).clone()),
                (members, reducer) if context.program().engine.arithmetic().is_none() => {
                    let members: Vec<Operand<'_>> =
                        members.iter().map(|&member| Operand::of(member)).collect();
                    all_reduce(reducer, &members, order.is_some(), Computations::new(context))
                }
                (members, Some(reducer)) => {
                    let members = arrays_of(members);
                    folded(context, reducer, &members, order.is_none()).map(Literal::from)
                }
                (members, None) => Ok(summed(&arrays_of(members), order.is_none()).into()),
            }
        })
        .collect()
}
