//! `reduce-window`: the elements under each position of a window, folded into one
//!
//! `result[i] = fold of operand[j] for all j under the window at i`, in row-major order. The
//! elements under a window are defined in [`window`](super::window), the fold in
//! [`fold`](super::fold).
//!
//! - Padding and holes are not folded, and the initial value is used once. (StableHLO folds the
//!   initial value for each of them, which is the same where it is an identity.) The result of a
//!   window over no element is the initial value.
//! - N operands have N initial values; `to_apply` takes N accumulators, then one element of each
//!   operand.
//!
//! Source: StableHLO, `reduce_window`; XLA operation semantics, `ReduceWindow`.
use super::fold::Fold;
use super::window::under;
use super::{Computations, Operand, try_build_all};
use hlo::op::ReduceWindow;
use hlo::{Literal, Shape};
use num::Result;

pub(super) fn reduce_window(
    op: &ReduceWindow,
    operands: &[Operand<'_>],
    initial: &[Operand<'_>],
    shape: &Shape,
    call: Computations<'_>,
) -> Result<Literal> {
    let ReduceWindow { window, to_apply } = op;
    let (fold, first) = Fold::of_arrays(call, *to_apply, operands, initial, shape)?;
    let sizes = &operands[0].shape.dims;
    try_build_all(shape, |index| {
        let elements = under(&window.dims, index, sizes)
            .map(|(_, at)| operands.iter().map(|operand| operand.at(&at)).collect());
        fold.of(&first, elements)
    })
}
