//! `sort`: orders along a dimension by a comparator; equal elements keep their order
use super::{array_shapes, pack};
use crate::Result;
use crate::context::Context;
use crate::index::{count, offset_list, others, pick, strides, to_i64, to_usize};
use crate::num;
use hlo::op::Sort;
use hlo::op::value::{ComparisonType, Direction};
use hlo::{ElementType, Literal, Scalar, Shape};
use std::cmp::Ordering;

pub(super) fn sort(
    op: &Sort,
    operands: &[&Literal],
    shape: &Shape,
    context: &Context<'_>,
) -> Result<Literal> {
    let from = operands[0].array_shape().expect("verified: an array");
    let shapes = array_shapes(shape);
    let mut values: Vec<Literal> =
        operands.iter().zip(&shapes).map(|(o, s)| o.with_shape((*s).clone())).collect();
    let dim = op.dimension(from.rank());
    // A scalar is in order.
    let Some(&size) = from.dims.get(dim) else { return Ok(pack(shape, values)) };
    let step = to_usize(strides(&from.dims)[dim]);
    let kept = others(from.rank(), &[to_i64(dim)]);
    let (sizes, steps) = pick(from, &kept);
    let comparisons =
        count(&from.dims).saturating_mul(to_usize(size).max(2).ilog2().try_into().unwrap_or(64));
    context.spend(u64::try_from(comparisons).unwrap_or(u64::MAX))?;
    let mut before = Comparator::new(op, operands, context)?;
    let mut order: Vec<usize> = Vec::new();
    for base in offset_list(&sizes, &steps) {
        order.clear();
        order.extend((0..to_usize(size)).map(|i| base + i * step));
        merge_sort(&mut order, &mut |a, b| before.call(a, b))?;
        for (operand, value) in operands.iter().zip(&mut values) {
            let width = operand.bytes().len() / operand.len().max(1);
            let to = value.bytes_mut();
            for (i, &source) in order.iter().enumerate() {
                let at = (base + i * step) * width;
                to[at..at + width]
                    .copy_from_slice(&operand.bytes()[source * width..(source + 1) * width]);
            }
        }
    }
    Ok(pack(shape, values))
}

/// Whether one element must stand before another.
struct Comparator<'a, 'm> {
    context: &'a Context<'m>,
    operands: &'a [&'a Literal],
    applied: Option<std::sync::Arc<crate::applied::Applied>>,
    ty: ElementType,
    arguments: Vec<Scalar>,
    scratch: Vec<Scalar>,
}

impl<'a, 'm> Comparator<'a, 'm> {
    fn new(op: &Sort, operands: &'a [&'a Literal], context: &'a Context<'m>) -> Result<Self> {
        let applied = op.to_apply.map(|id| context.applied(id)).transpose()?;
        let scratch = applied.as_ref().map(|a| a.scratch()).unwrap_or_default();
        let ty = operands[0].array_shape().expect("verified: an array").ty;
        let arguments = vec![Scalar::Pred(false); 2 * operands.len()];
        Ok(Self { context, operands, applied, ty, arguments, scratch })
    }
    fn call(&mut self, lhs: usize, rhs: usize) -> Result<bool> {
        let Some(applied) = &self.applied else {
            // Texts until 2019 have no comparator: ascending by the first operand, floats in their total order.
            let order = match self.ty.class() {
                hlo::Class::Float => ComparisonType::TotalOrder,
                _ => hlo::op::Compare::default_type(self.ty),
            };
            let (a, b) = (self.operands[0].get(lhs), self.operands[0].get(rhs));
            return Ok(num::compare(Direction::Lt, order, self.ty, a, b));
        };
        for (i, operand) in self.operands.iter().enumerate() {
            self.arguments[2 * i] = operand.get(lhs);
            self.arguments[2 * i + 1] = operand.get(rhs);
        }
        let mut out = [Scalar::Pred(false)];
        applied.call(self.context, &self.arguments, &mut self.scratch, &mut out)?;
        Ok(out == [Scalar::Pred(true)])
    }
}

/// A stable merge sort that asks only whether the right stands before the left, and stops at the first error. The
/// standard library's sort may not be given a comparator that is no order, as one with NaN is.
fn merge_sort(
    list: &mut [usize],
    before: &mut impl FnMut(usize, usize) -> Result<bool>,
) -> Result<()> {
    let mut from = list.to_vec();
    let mut run = 1;
    while run < list.len() {
        from.copy_from_slice(list);
        for start in (0..list.len()).step_by(2 * run) {
            let (middle, end) = ((start + run).min(from.len()), (start + 2 * run).min(from.len()));
            let (mut left, mut right) = (start, middle);
            for slot in &mut list[start..end] {
                let take = match (left < middle).cmp(&(right < end)) {
                    Ordering::Less => right,
                    Ordering::Greater => left,
                    Ordering::Equal if before(from[right], from[left])? => right,
                    Ordering::Equal => left,
                };
                *slot = from[take];
                if take == left && left < middle {
                    left += 1;
                } else {
                    right += 1;
                }
            }
        }
        run *= 2;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_stably() {
        let keys = [3, 1, 1, 3, 2, 1];
        let mut list: Vec<usize> = (0..6).collect();
        merge_sort(&mut list, &mut |a, b| Ok(keys[a] < keys[b])).unwrap();
        assert_eq!(list, [1, 2, 5, 4, 0, 3]);
        let mut empty: [usize; 0] = [];
        merge_sort(&mut empty, &mut |_, _| Ok(true)).unwrap();
    }
}
