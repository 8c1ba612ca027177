//! `sort`: orders along a dimension by a comparator; equal elements keep their order
//!
//! A comparator that compares keys of its elements is not called: the keys are sorted as integers.
//! Any other, and keys without an order because of a NaN, are sorted by the calls of the
//! definition.
mod comparator;
mod keys;
mod radix;

use crate::Kernel;
use crate::cost_model::{COMPUTED, SORTED};
use crate::function::{writes, writes_with};
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use bytemuck::Pod;
use comparator::{Comparator, merge_sort};
use hlo::op::Sort;
use hlo::{Array, ArrayShape};
use keys::Registers;
pub(super) use keys::{LineKey, SortLine};
use num::clock::Stop;
use num::index::{saturating_count, strides, to_usize};
use num::parallel::{parts, threads};
use num::scalar_program::{ScalarProgram, ScalarPrograms};
use num::{Result, Scope};
use radix::RadixMode;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// Elements that are sorted before they are moved, if that is more than a line.
const SORTED_AT_ONCE: usize = 1 << 18;

impl ArrayOp for Sort {
    fn kernel(&self, site: &Site<'_>, programs: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        kernel(self, site.operands, programs)
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        let shape = site.operands[0];
        let line = shape.dims.get(self.dimension(shape.rank())).map_or(1, |&size| to_usize(size));
        Cost { steps: 0, scratch: merge_bytes(line) }
    }
    needs_whole_operands!();
}

/// Returns the bytes of a merge sort of this many elements: a list for each run, the runs, and half
/// as many that are merged.
pub(super) fn merge_bytes(size: usize) -> usize {
    size.saturating_mul(size_of::<i64>() + 2 * size_of::<Vec<i64>>())
}

fn kernel(
    op: &Sort,
    operands: &[&ArrayShape],
    programs: &ScalarPrograms,
) -> Option<Box<dyn Kernel>> {
    // Read by `dimension`, which has the default; every sort is stable.
    let &Sort { dimensions: _, is_stable: _, to_apply } = op;
    let applied = match to_apply {
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
    // Indices of a line have 32 bits.
    u32::try_from(size).ok()?;
    let sort = SortLines {
        is_serial: to_apply.is_some_and(|computation| programs.needs_machine(computation)),
        size: to_usize(size),
        stride: to_usize(strides(&from.dims)[dim]),
        count: saturating_count(&from.dims) / to_usize(size).max(1),
        keys: Keys::of(applied.as_ref(), from),
        applied,
    };
    let comparisons = saturating_count(&from.dims)
        .saturating_mul(sort.size.max(2).ilog2().try_into().unwrap_or(usize::MAX));
    let comparisons = u64::try_from(comparisons).unwrap_or(u64::MAX);
    let scratch = sort.scratch(operands);
    Some(writes_with(scratch, move |scope, inputs, outputs| {
        scope.spend(comparisons)?;
        sort.run(scope, inputs, outputs)
    }))
}

/// The keys of a comparator, the most significant first.
struct Keys {
    keys: Vec<LineKey>,
    /// Equal elements come in reversed order.
    includes_equal: bool,
}

impl Keys {
    fn of(applied: Option<&Arc<ScalarProgram>>, operand: &ArrayShape) -> Option<Self> {
        let Some(applied) = applied else {
            let keys = vec![LineKey::of_element(operand.ty, false)];
            return Some(Self { keys, includes_equal: false });
        };
        let keys = applied.keys()?;
        let of = keys.keys.iter().map(|&key| LineKey::of(applied, key));
        Some(Self { keys: of.collect(), includes_equal: keys.includes_equal })
    }
}

/// The lines along the dimension that is sorted.
struct SortLines {
    applied: Option<Arc<ScalarProgram>>,
    keys: Option<Keys>,
    is_serial: bool,
    size: usize,
    stride: usize,
    count: usize,
}

/// The memory of a thread.
struct SortScratch<'a> {
    registers: Vec<Registers>,
    keys: Vec<u64>,
    words: Vec<u128>,
    comparator: Comparator<'a>,
    stop: Stop,
    in_parallel: bool,
}

impl SortLines {
    /// Returns the number of lines that are sorted before they are moved.
    fn at_once(&self) -> usize {
        (SORTED_AT_ONCE / self.size.max(1)).clamp(1, self.count.max(1))
    }
    fn scratch(&self, operands: &[&ArrayShape]) -> usize {
        let keys = self.keys.as_ref().map_or(&[][..], |keys| &keys.keys);
        let words = keys.iter().map(|key| radix::bytes(self.size, key.bits())).max().unwrap_or(0);
        let sorted = self.size.saturating_mul(size_of::<u64>()).saturating_add(words);
        // A list beside that of the order for the calls of the definition.
        let merged = self.size.saturating_mul(size_of::<u32>());
        let registers = keys.iter().map(|key| key.bytes(operands, self.stride)).sum::<usize>();
        let in_threads = sorted.saturating_add(merged).saturating_add(registers);
        // Threads share a line, with registers of their own, or have lines of their own.
        let of_threads = match self.count >= threads() {
            true => in_threads.saturating_mul(threads()).saturating_add(registers),
            false => in_threads.saturating_add(registers.saturating_mul(threads())),
        };
        let orders = self.at_once().saturating_mul(self.size).saturating_mul(size_of::<u32>());
        of_threads.saturating_add(orders)
    }

    fn run(&self, scope: &dyn Scope, inputs: &[&Array], outputs: &mut [Array]) -> Result<()> {
        let mut orders = vec![0; self.at_once() * self.size];
        let mut space = self.space(scope, inputs);
        let mut start = 0;
        while start < self.count {
            scope.check_time()?;
            let block = if self.stride == 1 { self.count } else { self.stride };
            let end = (start + self.at_once()).min((start / block + 1) * block);
            let orders = &mut orders[..(end - start) * self.size];
            self.order(start..end, scope, inputs, orders, &mut space)?;
            for (input, output) in inputs.iter().zip(outputs.iter_mut()) {
                let width = input.bytes().len() / input.len().max(1);
                let (from, to) = (input.bytes(), output.bytes_mut());
                match width {
                    1 => self.move_lines::<u8>(start..end, orders, from, to),
                    2 => self.move_lines::<u16>(start..end, orders, from, to),
                    4 => self.move_lines::<u32>(start..end, orders, from, to),
                    8 => self.move_lines::<u64>(start..end, orders, from, to),
                    _ => self.move_lines::<[u64; 2]>(start..end, orders, from, to),
                }
            }
            start = end;
        }
        Ok(())
    }

    fn space<'a>(&'a self, scope: &'a dyn Scope, inputs: &'a [&'a Array]) -> SortScratch<'a> {
        let keys = self.keys.as_ref().map_or(&[][..], |keys| &keys.keys);
        SortScratch {
            registers: keys.iter().map(|key| key.registers(inputs, self.stride)).collect(),
            keys: Vec::new(),
            words: Vec::new(),
            comparator: Comparator::new(self.applied.as_deref(), inputs, scope),
            stop: scope.stop(),
            in_parallel: true,
        }
    }

    /// Finds the orders of lines.
    fn order<'a>(
        &'a self,
        lines: Range<usize>,
        scope: &'a dyn Scope,
        inputs: &'a [&'a Array],
        orders: &mut [u32],
        space: &mut SortScratch<'a>,
    ) -> Result<()> {
        let mut orders_of = lines.clone().zip(orders.chunks_mut(self.size.max(1)));
        let is_short = lines.len().saturating_mul(self.size) < SORTED;
        if self.is_serial || is_short || lines.len() < threads() {
            return orders_of
                .try_for_each(|(line, order)| self.order_line(line, inputs, order, space));
        }
        let stop = scope.stop();
        let space = || SortScratch { in_parallel: false, ..self.space(scope, inputs) };
        let sorted = lines.into_par_iter().zip(orders.par_chunks_mut(self.size.max(1)));
        sorted
            .map_init(space, |space, (line, order)| match stop.is_set() {
                true => Ok(()),
                false => self.order_line(line, inputs, order, space),
            })
            .collect()
    }

    fn order_line(
        &self,
        line: usize,
        operands: &[&Array],
        order: &mut [u32],
        space: &mut SortScratch<'_>,
    ) -> Result<()> {
        let (stride, size) = (self.stride, self.size);
        let base = line / stride * stride * size + line % stride;
        let line = SortLine { operands, base, stride, size };
        if self.keys.as_ref().is_some_and(|keys| order_by(keys, line, order, space)) {
            return Ok(());
        }
        identity(order, false);
        let comparator = &mut space.comparator;
        merge_sort(order, &mut |a, b| comparator.call(base + at(a) * stride, base + at(b) * stride))
    }

    /// Moves the elements of lines into their order.
    fn move_lines<T: Pod + Send + Sync>(
        &self,
        lines: Range<usize>,
        orders: &[u32],
        from: &[u8],
        to: &mut [u8],
    ) {
        let (from, to): (&[T], &mut [T]) =
            (bytemuck::cast_slice(from), bytemuck::cast_slice_mut(to));
        let (stride, size) = (self.stride, self.size);
        if stride == 1 {
            let elements = lines.start * size..lines.end * size;
            let from = from[elements.clone()].chunks_exact(size);
            let to = to[elements].chunks_exact_mut(size);
            let move_part = |from: &[T], to: &mut [T], order: &[u32]| {
                to.iter_mut().zip(order).for_each(|(to, &i)| *to = from[at(i)]);
            };
            for ((from, to), order) in from.zip(to).zip(orders.chunks_exact(size)) {
                if size <= COMPUTED {
                    move_part(from, to, order);
                } else {
                    parts(to, (COMPUTED, 1), |i, to| {
                        move_part(from, to, &order[i * COMPUTED..][..to.len()]);
                    });
                }
            }
            return;
        }
        let block = lines.start / stride * stride * size..;
        let lines = lines.start % stride..lines.start % stride + lines.len();
        let (from, to) = (&from[block.clone()], &mut to[block][..stride * size]);
        parts(to, (stride, COMPUTED / lines.len() + 1), |i, row| {
            for (slot, (line, order)) in
                row[lines.clone()].iter_mut().zip(lines.clone().zip(orders.chunks_exact(size)))
            {
                *slot = from[at(order[i]) * stride + line];
            }
        });
    }
}

/// Orders a line by its keys, the least significant first; returns whether there is an order.
fn order_by(
    keys: &Keys,
    line: SortLine<'_>,
    order: &mut [u32],
    space: &mut SortScratch<'_>,
) -> bool {
    identity(order, keys.includes_equal);
    space.keys.resize(line.size, 0);
    for (key, registers) in keys.keys.iter().zip(&mut space.registers).rev() {
        if !key.compute(line, &mut space.keys, registers, space.in_parallel) {
            return false;
        }
        let run = RadixMode { stop: &space.stop, in_parallel: space.in_parallel };
        radix::sort(&space.keys, order, &mut space.words, run);
    }
    true
}

/// The indices of a line as they are, or reversed.
fn identity(order: &mut [u32], reversed: bool) {
    order.iter_mut().zip(0..).for_each(|(slot, i)| *slot = i);
    if reversed {
        order.reverse();
    }
}

/// Returns an index of a line.
#[inline]
fn at(index: u32) -> usize {
    usize::try_from(index).expect("the index of an element in memory")
}
