//! `reduce`: the elements along some dimensions, folded into one
//!
//! `result[i] = fold of operand[j] for all j that agree with i in the other
//! dimensions`, where a fold starts from the initial value and applies `acc = to_apply(acc,
//! element)` to one element after another, in row-major order of the operand, whatever the order of
//! the listed `dimensions`.
//!
//! - N operands have N initial values; `to_apply` takes N accumulators, then one element of each
//!   operand.
//! - The initial value is used once, on the left. If a reduced dimension has size 0 it is the
//!   result; if no dimension is reduced `to_apply` is applied once to each element.
//! - A sum of real floats is exact and rounded once: see [`fold`](super::fold).
//!
//! XLA:CPU reduces dimensions of more than 32 elements in windows that each start from the initial
//! value, so one that is not an identity is used several times there.
//!
//! Source: StableHLO, `reduce`.
use super::fold::Fold;
use super::{Computations, Operand, indices, set, try_build_all};
use hlo::op::Reduce;
use hlo::{Dims, Literal, Shape};
use num::Result;
use num::index::others;

pub(super) fn reduce(
    op: &Reduce,
    operands: &[Operand<'_>],
    initial: &[Operand<'_>],
    shape: &Shape,
    call: Computations<'_>,
) -> Result<Literal> {
    let Reduce { dimensions, to_apply } = op;
    let (fold, first) = Fold::of_arrays(call, *to_apply, operands, initial, shape)?;
    let rank = operands[0].rank();
    let kept = others(rank, dimensions);
    let reduced = others(rank, &kept);
    let sizes: Dims = reduced.iter().map(|&dim| operands[0].size(dim)).collect();
    try_build_all(shape, |index| {
        let elements = indices(&sizes).map(|along| {
            let mut at = Dims::from_elem(0, rank);
            set(&mut at, &kept, index);
            set(&mut at, &reduced, &along);
            operands.iter().map(|operand| operand.at(&at)).collect()
        });
        fold.of(&first, elements)
    })
}
