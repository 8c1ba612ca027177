//! `select-and-scatter`: the elements of `source` combined into the indices that a window selects
//! from the operand
//!
//! The result has the operand's shape and starts as the broadcast initial value. For each index s
//! of `source`, in row-major order, `result[j] = scatter(result[j], source[s])` where j is the
//! index that `select` chooses among the elements of the operand under the window at s: the first
//! one, replaced by each later one for which `select(kept, later)` is false.
//!
//! - With `select` GE the first of equal elements is chosen, with GT the last.
//! - A window over no element selects nothing, and its element of `source` is not used.
//! - XLA's evaluator calls `scatter(source[s], result[j])`; the order here is that of its
//!   documentation and of XLA:CPU.
//!
//! Source: StableHLO, `select_and_scatter`; XLA operation semantics, `SelectAndScatter`.
use super::window::under;
use super::{Computations, Operand, Output, ScalarComputation, build, indices};
use hlo::op::SelectAndScatter;
use hlo::{ArrayShape, Dims, Literal, Scalar};
use num::Result;

pub(super) fn select_and_scatter(
    op: &SelectAndScatter,
    operand: &Operand<'_>,
    source: &Operand<'_>,
    initial: &Operand<'_>,
    shape: &ArrayShape,
    call: Computations<'_>,
) -> Result<Literal> {
    let SelectAndScatter { window, select, scatter } = op;
    let (select, scatter) = (call.function(*select)?, call.function(*scatter)?);
    let first = initial.at(&[]).convert(initial.shape.ty, shape.ty);
    let mut result = Output::of(build(shape, |_| first));
    for index in indices(&source.shape.dims) {
        let candidates =
            under(&window.dims, &index, &operand.shape.dims).map(|(_, element)| element);
        if let Some(target) = selected(&select, operand, candidates)? {
            let arguments = [result.at(&target), source.at(&index)];
            let value = scatter.call_converted(&arguments, [shape.ty, source.shape.ty])?[0];
            result.set(&target, value.convert(scatter.results()[0], shape.ty));
        }
    }
    Ok(result.into_literal())
}

/// Returns the index that `select` chooses among the candidates.
fn selected(
    select: &ScalarComputation<'_>,
    operand: &Operand<'_>,
    mut candidates: impl Iterator<Item = Dims>,
) -> Result<Option<Dims>> {
    let Some(mut kept) = candidates.next() else { return Ok(None) };
    for later in candidates {
        let keep = select.call(&[operand.at(&kept), operand.at(&later)])?;
        if keep[0] != Scalar::Pred(true) {
            kept = later;
        }
    }
    Ok(Some(kept))
}
