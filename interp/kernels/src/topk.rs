//! `topk`: the k first of the last dimension in total order; of equal elements the earlier first
use super::sort::{LineKey, SortLine, merge_bytes};
use crate::Kernel;
use crate::function::writes_with;
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use hlo::op::TopK;
use hlo::{Array, ArrayShape, ElementType, Scalar};
use num::Error;
use num::array::static_shape;
use num::clock::Stop;
use num::index::{binary_digits, saturating_count, to_i64, to_usize};
use num::parallel::threads;
use num::scalar_program::{BLOCK, ScalarPrograms};
use rayon::prelude::*;

/// Elements that are compared at once with the last one of those that are kept.
const GROUP: usize = 16;

/// The key of an element, which ascends in the order asked for, and its index in the row.
type Candidate = (u64, usize);

impl ArrayOp for TopK {
    fn kernel(&self, site: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        Some(kernel(self, site.operands))
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        let shape = site.operands[0];
        let row = shape.dims.last().map_or(1, |&size| to_usize(size));
        Cost { steps: comparisons(shape), scratch: merge_bytes(row) }
    }
    needs_whole_operands!();
}

/// Returns the comparisons of a sort of each row.
pub fn comparisons(shape: &ArrayShape) -> usize {
    let row = shape.dims.last().map_or(1, |&size| to_usize(size));
    saturating_count(&shape.dims).saturating_mul(binary_digits(row))
}

fn kernel(op: &TopK, operands: &[&ArrayShape]) -> Box<dyn Kernel> {
    let &TopK { k, largest, is_stable: _ } = op; // Of equal elements, the first ones are kept.
    let k = to_usize(k);
    let row = operands[0].dims.last().map_or(1, |&size| to_usize(size));
    writes_with(scratch(row, k), move |_, inputs, outputs| {
        let [values, places] = outputs else {
            return Err(Error::internal("`topk` has two results"));
        };
        largest_into(inputs[0], k, largest, values, places);
        Ok(())
    })
}

/// Returns the elements of a row that are kept: once there are that many, all but the first k are
/// dropped.
fn kept(row: usize, k: usize) -> usize {
    row.min(k.saturating_mul(4).max(64))
}

/// Returns the bytes that the first k elements of rows of this length take while they are found.
pub fn scratch(row: usize, k: usize) -> usize {
    kept(row, k).saturating_mul(size_of::<Candidate>()).saturating_mul(threads())
}
/// Returns the k largest or smallest elements of the last dimension, as values and places of these
/// shapes.
pub fn largest(operand: &Array, k: usize, largest: bool, shapes: [&ArrayShape; 2]) -> [Array; 2] {
    let [mut values, mut places] = shapes.map(|shape| Array::zeros(static_shape(shape)));
    largest_into(operand, k, largest, &mut values, &mut places);
    [values, places]
}

fn largest_into(operand: &Array, k: usize, largest: bool, values: &mut Array, places: &mut Array) {
    let from = operand.shape();
    let size = from.dims.last().map_or(1, |&d| to_usize(d));
    let width = from.ty.storage_bytes();
    if k == 0 {
        return;
    }
    let key = LineKey::of_element(from.ty, largest);
    let stop = Stop::current();
    let values = values.bytes_mut().par_chunks_exact_mut(k * width);
    let places = places.bytes_mut().par_chunks_exact_mut(k * ElementType::S32.storage_bytes());
    values.zip(places).enumerate().for_each_init(
        || Vec::with_capacity(kept(size, k)),
        |list, (row, (values, places))| {
            let operands = &[operand];
            let line = SortLine { operands, base: row * size, stride: 1, size };
            first_of(line, &key, k, list, &stop);
            let slots = values.chunks_exact_mut(width).zip(places.chunks_exact_mut(4));
            for (&(_, i), (value, place)) in list.iter().zip(slots) {
                let from = (row * size + i) * width;
                value.copy_from_slice(&operand.bytes()[from..from + width]);
                Scalar::Signed(to_i64(i)).write(ElementType::S32, place);
            }
        },
    );
}

/// Finds the k first elements of a line, in order.
fn first_of(line: SortLine<'_>, key: &LineKey, k: usize, list: &mut Vec<Candidate>, stop: &Stop) {
    let mut registers = key.registers(line.operands, line.stride);
    let room = kept(line.size, k);
    // The key of an element that k others precede.
    let mut limit = None;
    list.clear();
    for first in (0..line.size).step_by(BLOCK).take_while(|_| !stop.is_set()) {
        let mut keys = [0; BLOCK];
        let keys = &mut keys[..BLOCK.min(line.size - first)];
        key.part(line, first, keys, &mut registers);
        for (group, keys) in keys.chunks(GROUP).enumerate() {
            // Most groups have no element of the first ones; the loop over them is in vectors.
            let are_later = |limit| keys.iter().filter(|&&key| key < limit).count() == 0;
            if limit.is_some_and(are_later) {
                continue;
            }
            for (i, &key) in keys.iter().enumerate() {
                if limit.is_some_and(|limit| key >= limit) {
                    continue;
                }
                if list.len() == room && k < room {
                    list.select_nth_unstable(k);
                    list.truncate(k);
                    limit = list.iter().map(|&(key, _)| key).max();
                    if limit.is_some_and(|limit| key >= limit) {
                        continue;
                    }
                }
                list.push((key, first + group * GROUP + i));
            }
        }
    }
    if k < list.len() {
        list.select_nth_unstable(k);
        list.truncate(k);
    }
    // No two candidates are equal.
    list.sort_unstable();
}
