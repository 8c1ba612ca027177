//! `select-and-scatter`: the elements of `source` combined into the places that a window selects from the operand
//!
//! The result has the operand's shape and starts as the initial value everywhere. For each index s of `source`, in row-major
//! order, `result[j] = scatter(result[j], source[s])` where j is the place that `select` finds among the elements of the
//! operand under the window at s: the first one, replaced by each later one for which `select(kept, later)` is false.
//!
//! - With `select` GE the first of equal elements is found, with GT the last.
//! - A window over no element selects nothing, and its element of `source` is not used.
//! - XLA's evaluator calls `scatter(source[s], result[j])`; the order here is that of its documentation and of XLA:CPU.
//!
//! Source: StableHLO, `select_and_scatter`; XLA operation semantics, `SelectAndScatter`.
use super::window::under;
use super::{Array, Call, Function, Output, build, indices};
use crate::Result;
use hlo::op::SelectAndScatter;
use hlo::{ArrayShape, Dims, Literal, Scalar};

pub(super) fn select_and_scatter(
    op: &SelectAndScatter,
    operand: &Array<'_>,
    source: &Array<'_>,
    initial: &Array<'_>,
    shape: &ArrayShape,
    call: Call<'_>,
) -> Result<Literal> {
    let SelectAndScatter { window, select, scatter } = op;
    let (select, scatter) = (call.function(*select)?, call.function(*scatter)?);
    let first = initial.at(&[]).convert(initial.shape.ty, shape.ty);
    let mut result = Output::of(build(shape, |_| first));
    for index in indices(&source.shape.dims) {
        let places = under(&window.dims, &index, &operand.shape.dims).map(|(_, place)| place);
        if let Some(place) = selected(&select, operand, places)? {
            let arguments = [result.at(&place), source.at(&index)];
            let value = scatter.call_converted(&arguments, [shape.ty, source.shape.ty])?[0];
            result.set(&place, value.convert(scatter.results()[0], shape.ty));
        }
    }
    Ok(result.into_literal())
}

/// Returns the place that `select` finds among `places`.
fn selected(
    select: &Function<'_>,
    operand: &Array<'_>,
    mut places: impl Iterator<Item = Dims>,
) -> Result<Option<Dims>> {
    let Some(mut kept) = places.next() else { return Ok(None) };
    for later in places {
        let keep = select.call(&[operand.at(&kept), operand.at(&later)])?;
        if keep[0] != Scalar::Pred(true) {
            kept = later;
        }
    }
    Ok(Some(kept))
}
