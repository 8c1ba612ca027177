//! `sort`: orders along a dimension by a comparator; equal elements keep their order
use super::{writes, writes_with};
use crate::Result;
use crate::clock::Stop;
use crate::context::RunContext;
use crate::index::{offset_list, others, pick, saturating_count, strides, to_i64, to_usize};
use crate::num;
use crate::plan::Kernel;
use crate::scalar_program::{Key, ScalarProgram, ScalarPrograms};
use hlo::op::Sort;
use hlo::op::value::{ComparisonType, Direction};
use hlo::{ArrayShape, ElementType, Literal, Scalar};
use rayon::prelude::*;
use std::cmp::Ordering;

pub(super) fn kernel(
    op: &Sort,
    operands: &[&ArrayShape],
    programs: &ScalarPrograms,
) -> Option<Box<dyn Kernel>> {
    let applied = match op.to_apply {
        Some(computation) => Some(programs.get(computation)?),
        None => None,
    };
    let from = operands[0];
    let dim = op.dimension(from.rank());
    let Some(&size) = from.dims.get(dim) else {
        // A scalar is in order.
        return Some(writes(|_, inputs, outputs| {
            for (input, output) in inputs.iter().zip(outputs) {
                output.bytes_mut().copy_from_slice(input.bytes());
            }
            Ok(())
        }));
    };
    let size = to_usize(size);
    let stride = to_usize(strides(&from.dims)[dim]);
    let (sizes, strides) = pick(from, &others(from.rank(), &[to_i64(dim)]));
    let comparisons = saturating_count(&from.dims)
        .saturating_mul(size.max(2).ilog2().try_into().unwrap_or(usize::MAX));
    let comparisons = u64::try_from(comparisons).unwrap_or(u64::MAX);
    // For each row its offset; for each element of a row its place, its key, and both as a pair.
    let scratch = size.saturating_mul(4).saturating_add(saturating_count(&sizes));
    let scratch = scratch.saturating_mul(size_of::<usize>());
    Some(writes_with(scratch, move |context, inputs, outputs| {
        context.spend(comparisons)?;
        let mut before = Comparator::new(applied.as_deref(), inputs, context);
        let mut order: Vec<usize> = Vec::new();
        for base in offset_list(&sizes, &strides) {
            order.clear();
            order.extend((0..size).map(|i| base + i * stride));
            match before.keys(&order) {
                Some(keys) => sort_by_keys(keys, &mut order),
                None => merge_sort(&mut order, &mut |a, b| {
                    context.check_time()?;
                    before.call(a, b)
                })?,
            }
            for (operand, value) in inputs.iter().zip(outputs.iter_mut()) {
                let width = operand.bytes().len() / operand.len().max(1);
                let to = value.bytes_mut();
                for (i, &source) in order.iter().enumerate() {
                    let at = (base + i * stride) * width;
                    to[at..at + width]
                        .copy_from_slice(&operand.bytes()[source * width..(source + 1) * width]);
                }
            }
        }
        Ok(())
    }))
}

/// Sorts by keys; equal ones keep their order.
fn sort_by_keys(keys: Vec<u64>, order: &mut Vec<usize>) {
    let mut pairs: Vec<(u64, usize)> = keys.into_iter().zip(order.drain(..)).collect();
    // Places grow and differ, so no two pairs are equal and any sort gives the same.
    let stop = Stop::current();
    pairs.par_sort_unstable_by(|a, b| if stop.is_set() { Ordering::Equal } else { a.cmp(b) });
    order.extend(pairs.into_iter().map(|(_, at)| at));
}

/// Whether one element must stand before another.
struct Comparator<'a> {
    context: &'a RunContext,
    operands: &'a [&'a Literal],
    applied: Option<&'a ScalarProgram>,
    key: Option<Key>,
    ty: ElementType,
    arguments: Vec<Scalar>,
    scratch: Vec<Scalar>,
}

impl<'a> Comparator<'a> {
    fn new(
        applied: Option<&'a ScalarProgram>,
        operands: &'a [&'a Literal],
        context: &'a RunContext,
    ) -> Self {
        let scratch = applied.map(ScalarProgram::scratch).unwrap_or_default();
        let ty = operands[0].array_shape().expect("verified: an array").ty;
        let arguments = vec![Scalar::Pred(false); 2 * operands.len()];
        let key = applied.and_then(ScalarProgram::key);
        Self { context, operands, applied, key, ty, arguments, scratch }
    }

    /// For texts until 2019, which have no comparator: ascending by the first operand, floats in their total order.
    fn default_order(&self) -> ComparisonType {
        match self.ty.class() {
            hlo::Class::Float => ComparisonType::TotalOrder,
            _ => hlo::op::Compare::default_type(self.ty),
        }
    }

    fn call(&mut self, lhs: usize, rhs: usize) -> Result<bool> {
        let Some(applied) = &self.applied else {
            let (a, b) = (self.operands[0].get(lhs), self.operands[0].get(rhs));
            return Ok(num::compare(Direction::Lt, self.default_order(), self.ty, a, b));
        };
        for (i, operand) in self.operands.iter().enumerate() {
            self.arguments[2 * i] = operand.get(lhs);
            self.arguments[2 * i + 1] = operand.get(rhs);
        }
        let mut out = [Scalar::Pred(false)];
        applied.call(self.context, &self.arguments, &mut self.scratch, &mut out)?;
        Ok(out == [Scalar::Pred(true)])
    }

    /// For the element at each place a number, ascending in the order asked for; none if the comparator is not of that
    /// kind, or the order is none because of a NaN.
    fn keys(&mut self, places: &[usize]) -> Option<Vec<u64>> {
        let Some(applied) = &self.applied else {
            let (order, ty) = (self.default_order(), self.ty);
            return places.iter().map(|&at| rank(self.operands[0].get(at), order, ty)).collect();
        };
        let key = self.key?;
        let mut ranks = Vec::with_capacity(places.len());
        for &at in places {
            for (i, operand) in self.operands.iter().enumerate() {
                let element = operand.get(at);
                self.arguments[2 * i] = element;
                self.arguments[2 * i + 1] = element;
            }
            let value = applied.key_of(key, &self.arguments, &mut self.scratch);
            let rank = rank(value, key.order, key.ty)?;
            ranks.push(if key.direction == Direction::Gt { !rank } else { rank });
        }
        Some(ranks)
    }
}

/// A number that orders keys as their comparison does.
fn rank(key: Scalar, order: ComparisonType, ty: ElementType) -> Option<u64> {
    const SIGN: u64 = 1 << 63;
    let ascending = |x: i64| x.cast_unsigned() ^ SIGN;
    match (key, order) {
        (Scalar::Pred(x), _) => Some(u64::from(x)),
        (Scalar::Signed(x), _) => Some(ascending(x)),
        (Scalar::Unsigned(x), _) => Some(x),
        (Scalar::Float(_), ComparisonType::TotalOrder) => {
            Some(ascending(num::float::total_order_key(ty, key)))
        }
        // With a NaN it is no order; zeros of both signs are equal.
        (Scalar::Float(x), _) if x.is_nan() => None,
        (Scalar::Float(0.0), _) => Some(SIGN),
        (Scalar::Float(x), _) => {
            Some(ascending(num::float::total_order_key(ElementType::F64, Scalar::Float(x))))
        }
        (Scalar::Complex(..), _) => None,
    }
}

/// A stable merge sort that asks only whether the right precedes the left, and stops at the first error. The
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
