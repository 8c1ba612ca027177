//! Elementwise ops on operands whose sizes differ at run time, as XLA's dynamic padder defines
//! them: a dimension of size 1 is broadcast to the size of the other operand, and otherwise the
//! smaller size counts.
//!
//! A size takes part if its dimension is dynamic; a static dimension agrees with every size.
use hlo::{ArrayShape, Dims, Literal, Shape};
use num::index::{offset_list, strides};

/// Returns the sizes of the result, and the operands with broadcast dimensions.
pub(super) fn broadcast(operands: &[Literal], shapes: &[&Shape]) -> (Dims, Vec<Literal>) {
    let rank = operands.iter().map(|o| o.sizes().len()).max().unwrap_or(0);
    let bounds: &[i64] = operands
        .iter()
        .filter_map(Literal::array_shape)
        .find(|shape| shape.rank() == rank)
        .map_or(&[], |shape| &shape.dims);
    let size_of = |operand: usize, d: usize| {
        let size = *operands[operand].sizes().get(d)?;
        let is_dynamic = shapes[operand].array().is_some_and(|shape| shape.is_dynamic(d));
        (operands[operand].sizes().len() == rank && (is_dynamic || size < bounds[d]))
            .then_some(size)
    };
    let mut sizes = Dims::from_slice(bounds);
    for (d, size) in sizes.iter_mut().enumerate() {
        let found = (0..operands.len()).filter_map(|operand| size_of(operand, d));
        *size = found.reduce(agreed).unwrap_or(*size);
    }
    let broadcast = operands.iter().enumerate().map(|(number, operand)| {
        let is_single = |d: &usize| sizes[*d] > 1 && size_of(number, *d) == Some(1);
        let dims: Vec<usize> = (0..rank).filter(is_single).collect();
        if dims.is_empty() { operand.clone() } else { repeated(operand, &dims) }
    });
    let broadcast = broadcast.collect();
    (sizes, broadcast)
}

/// Returns the size of the result along a dimension where two operands have these.
fn agreed(one: i64, other: i64) -> i64 {
    let (least, most) = (one.min(other), one.max(other));
    if least == 1 { most } else { least }
}

/// Returns the array with the first element of these dimensions at each of their places.
fn repeated(operand: &Literal, dims: &[usize]) -> Literal {
    let Some(shape) = operand.array_shape() else { return operand.clone() };
    let shape = ArrayShape { dynamic: None, ..shape.clone() };
    let width = shape.ty.storage_bytes();
    let mut strides = strides(&shape.dims);
    for &d in dims {
        strides[d] = 0;
    }
    let offsets = offset_list(&shape.dims, &strides);
    let mut result = Literal::zeros(shape);
    for (slot, from) in result.bytes_mut().chunks_exact_mut(width).zip(offsets) {
        slot.copy_from_slice(&operand.bytes()[from * width..][..width]);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_of_one_is_broadcast_and_others_are_cut() {
        assert_eq!((agreed(1, 3), agreed(3, 1), agreed(3, 2)), (3, 3, 2));
        assert_eq!((agreed(0, 3), agreed(0, 1), agreed(1, 1)), (0, 0, 1));
    }
}
