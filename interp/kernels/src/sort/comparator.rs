//! Sorting by the calls of a comparator.
use super::keys::default_order;
use num::{Result, Scope};

use hlo::op::value::Direction;
use hlo::{Array, ElementType, Scalar};
use num::scalar_program::ScalarProgram;
use std::cmp::Ordering;

/// Whether one element must stand before another.
pub(super) struct Comparator<'a> {
    scope: &'a dyn Scope,
    operands: &'a [&'a Array],
    applied: Option<&'a ScalarProgram>,
    ty: ElementType,
    arguments: Vec<Scalar>,
    scratch: Vec<Scalar>,
}

impl<'a> Comparator<'a> {
    pub(super) fn new(
        applied: Option<&'a ScalarProgram>,
        operands: &'a [&'a Array],
        scope: &'a dyn Scope,
    ) -> Self {
        let scratch = applied.map(ScalarProgram::scratch).unwrap_or_default();
        let ty = operands[0].shape().ty;
        let arguments = vec![Scalar::Pred(false); 2 * operands.len()];
        Self { scope, operands, applied, ty, arguments, scratch }
    }

    pub(super) fn call(&mut self, lhs: usize, rhs: usize) -> Result<bool> {
        self.scope.check_time()?;
        let Some(applied) = &self.applied else {
            let (a, b) = (self.operands[0].get(lhs), self.operands[0].get(rhs));
            return Ok(num::compare(Direction::Lt, default_order(self.ty), self.ty, a, b));
        };
        for (i, operand) in self.operands.iter().enumerate() {
            self.arguments[2 * i] = operand.get(lhs);
            self.arguments[2 * i + 1] = operand.get(rhs);
        }
        let mut out = [Scalar::Pred(false)];
        applied.call(self.scope, &self.arguments, &mut self.scratch, &mut out)?;
        Ok(out == [Scalar::Pred(true)])
    }
}

/// A stable merge sort that asks only whether the right precedes the left, and stops at the first
/// error. The standard library's sort may not be given a comparator that is no order, as one with
/// NaN is.
pub(super) fn merge_sort(
    list: &mut [u32],
    before: &mut impl FnMut(u32, u32) -> Result<bool>,
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
    use super::super::at;
    use super::*;

    #[test]
    fn sorts_stably() {
        let keys = [3, 1, 1, 3, 2, 1];
        let mut list: Vec<u32> = (0..6).collect();
        merge_sort(&mut list, &mut |a, b| Ok(keys[at(a)] < keys[at(b)])).unwrap();
        assert_eq!(list, [1, 2, 5, 4, 0, 3]);
        let mut empty: [u32; 0] = [];
        merge_sort(&mut empty, &mut |_, _| Ok(true)).unwrap();
    }
}
