//! `topk`: the k first of the last dimension in total order; of equal elements the earlier first
use super::writes_with;
use crate::clock::Stop;
use crate::index::{to_i64, to_usize};
use crate::plan::Kernel;
use crate::value::zeros;
use crate::{Error, num};
use hlo::op::TopK;
use hlo::op::value::{ComparisonType, Direction};
use hlo::{ArrayShape, Class, Literal, Scalar, Shape};
use std::cmp::Ordering;

/// An element and its index in the row.
type Candidate = (Scalar, usize);

pub(super) fn kernel(op: &TopK, operands: &[&ArrayShape]) -> Box<dyn Kernel> {
    let (k, largest) = (to_usize(op.k), op.largest);
    let row = operands[0].dims.last().map_or(1, |&size| to_usize(size));
    writes_with(scratch(row, k), move |_, inputs, outputs| {
        let [values, places] = outputs else {
            return Err(Error::internal("`topk` has two results"));
        };
        largest_into(inputs[0], k, largest, values, places);
        Ok(())
    })
}

/// The elements of a row that are kept: when there are so many, all but the first k are dropped.
fn kept(row: usize, k: usize) -> usize {
    row.min(k.saturating_mul(2).max(1024))
}

/// Bytes that the first k elements of rows of this length take while they are found.
pub(crate) fn scratch(row: usize, k: usize) -> usize {
    kept(row, k).saturating_mul(size_of::<Candidate>())
}
/// The k largest or smallest of the last dimension, as values and places.
pub(crate) fn largest(operand: &Literal, k: usize, largest: bool, shape: &Shape) -> Literal {
    let mut arrays = zeros(shape).elements().map_or_else(Vec::new, <[Literal]>::to_vec);
    if let [values, places] = arrays.as_mut_slice() {
        largest_into(operand, k, largest, values, places);
    }
    Literal::tuple(arrays)
}

fn largest_into(
    operand: &Literal,
    k: usize,
    largest: bool,
    values: &mut Literal,
    places: &mut Literal,
) {
    let from = operand.array_shape().expect("verified: an array");
    let ty = from.ty;
    let order = match ty.class() {
        Class::Float => ComparisonType::TotalOrder,
        Class::Pred | Class::Signed | Class::Unsigned | Class::Complex => {
            hlo::op::Compare::default_type(ty)
        }
    };
    let size = from.dims.last().map_or(1, |&d| to_usize(d));
    let width = ty.storage_bytes();
    let rows = operand.len() / size.max(1);
    let less = |a, b| num::compare(Direction::Lt, order, ty, a, b);
    let compare = |&(a, i): &Candidate, &(b, j): &Candidate| {
        let by_value = match (less(a, b), less(b, a)) {
            (true, _) => Ordering::Less,
            (_, true) => Ordering::Greater,
            (false, false) => Ordering::Equal,
        };
        (if largest { by_value.reverse() } else { by_value }).then(i.cmp(&j))
    };
    let stop = Stop::current();
    let room = kept(size, k);
    let mut list: Vec<Candidate> = Vec::with_capacity(room);
    for row in 0..rows {
        list.clear();
        for i in (0..size).take_while(|_| !stop.is_set()) {
            if list.len() == room && k < room {
                list.select_nth_unstable_by(k, compare);
                list.truncate(k);
            }
            list.push((operand.get(row * size + i), i));
        }
        // No two candidates are equal.
        list.sort_unstable_by(compare);
        for (j, &(_, i)) in list.iter().take(k).enumerate() {
            let (from, to) = ((row * size + i) * width, (row * k + j) * width);
            values.bytes_mut()[to..to + width]
                .copy_from_slice(&operand.bytes()[from..from + width]);
            let place = Scalar::Signed(to_i64(i));
            let at = (row * k + j) * 4;
            place.write(hlo::ElementType::S32, &mut places.bytes_mut()[at..at + 4]);
        }
    }
}
