//! `topk`: the k first of the last dimension in total order; of equal elements the earlier first
use super::writes_with;
use crate::index::to_usize;
use crate::plan::Kernel;
use crate::value::zeros;
use crate::{Error, num};
use hlo::op::TopK;
use hlo::op::value::{ComparisonType, Direction};
use hlo::{ArrayShape, Class, Literal, Scalar, Shape};
use std::cmp::Ordering;

pub(super) fn kernel(op: &TopK, operands: &[&ArrayShape]) -> Box<dyn Kernel> {
    let (k, largest) = (to_usize(op.k), op.largest);
    let row = operands[0].dims.last().map_or(1, |&size| to_usize(size));
    let scratch = row.saturating_mul(2 * size_of::<(Scalar, usize)>());
    writes_with(scratch, move |_, inputs, outputs| {
        let [values, places] = outputs else {
            return Err(Error::internal("`topk` has two results"));
        };
        largest_into(inputs[0], k, largest, values, places);
        Ok(())
    })
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
    for row in 0..rows {
        let mut list: Vec<(Scalar, usize)> =
            (0..size).map(|i| (operand.get(row * size + i), i)).collect();
        list.sort_by(|&(a, i), &(b, j)| {
            let less = |a, b| num::compare(Direction::Lt, order, ty, a, b);
            let by_value = match (less(a, b), less(b, a)) {
                (true, _) => Ordering::Less,
                (_, true) => Ordering::Greater,
                (false, false) => Ordering::Equal,
            };
            (if largest { by_value.reverse() } else { by_value }).then(i.cmp(&j))
        });
        for (j, &(_, i)) in list.iter().take(k).enumerate() {
            let (from, to) = ((row * size + i) * width, (row * k + j) * width);
            values.bytes_mut()[to..to + width]
                .copy_from_slice(&operand.bytes()[from..from + width]);
            let place = Scalar::Signed(crate::index::to_i64(i));
            let at = (row * k + j) * 4;
            place.write(hlo::ElementType::S32, &mut places.bytes_mut()[at..at + 4]);
        }
    }
}
