//! Folding the members' values, element by element
//!
//! The fold starts with the first member's value and takes the others in group order. Sums of floats are accumulated wide and
//! rounded once; other computations are applied pair by pair.
use crate::{Result, Team};
use hlo::Literal;
use hlo::ir::ComputationId;

/// Each column of members' values folded by the computation.
pub(super) fn all<'a>(
    team: &Team<'_>,
    reducer: Option<ComputationId>,
    columns: impl Iterator<Item = Vec<&'a Literal>>,
) -> Result<Vec<Literal>> {
    let context = team.context();
    columns
        .map(|members| match (members.as_slice(), reducer) {
            ([one], _) => Ok((*one).clone()),
            (members, Some(reducer)) => crate::reference::folded(&context, reducer, members),
            (members, None) => Ok(crate::reference::summed(members)),
        })
        .collect()
}
