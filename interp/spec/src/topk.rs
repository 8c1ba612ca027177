//! `topk`: the `k` largest or smallest elements along the last dimension, and their indices
//!
//! `values[.., j] = operand[.., i]` and `indices[.., j] = i`, where i is the index of the element
//! with exactly j elements before it: larger ones with `largest`, otherwise smaller ones, and equal
//! ones of lower index.
//!
//! Floats are in their total order: +NaN is the largest, -NaN the smallest, and +0 is larger than
//! -0.
//!
//! Source: XLA operation semantics, `TopK`.
use super::sort::{is_less, merge_sort};
use super::{Operand, Output, indices};
use hlo::op::TopK;
use hlo::{Literal, Scalar, Shape};
use num::Result;
use num::clock::Stop;
use num::index::to_usize;

pub(super) fn topk(op: &TopK, operand: &Operand<'_>, shape: &Shape) -> Result<Literal> {
    let TopK {
        k,
        largest,
        is_stable: _, // Equal elements are always ordered by index.
    } = op;
    let mut results: Vec<Output> =
        shape.leaves().into_iter().filter_map(Shape::array).map(Output::zeros).collect();
    let (&size, batch) = operand.shape.dims.split_last().expect("verified: a last dimension");
    let stop = Stop::current();
    for batch_index in indices(batch) {
        let at = |i: i64| {
            let mut index = batch_index.clone();
            index.push(i);
            index
        };
        let order = merge_sort((0..size).collect(), &mut |a, b| {
            let (a, b) = if *largest { (b, a) } else { (a, b) };
            Ok(is_less(operand.shape.ty, operand.at(&at(a)), operand.at(&at(b))))
        })?;
        let first = (0..).zip(order.into_iter().take(to_usize(*k)));
        for (j, i) in first.take_while(|_| !stop.is_set()) {
            results[0].set(&at(j), operand.at(&at(i)));
            results[1].set(&at(j), Scalar::Signed(i));
        }
    }
    Ok(Literal::tuple(results.into_iter().map(Output::into_literal).collect()))
}
