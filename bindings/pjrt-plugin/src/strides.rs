//! Copies between row-major arrays and memory of the host with other strides.
#![expect(unsafe_code, reason = "reads structs of the host, and copies to and from its memory")]
use crate::failure::{Failure, Result};
use crate::handle::list;
use hlo::layout::Layout;
use hlo::{ArrayShape, Dims, IndexSpace, Literal};
use pjrt::sys::MemoryLayout;

/// Returns the bytes between neighbors along each dimension of a row-major array.
pub(crate) fn row_major(dims: &[i64], width: usize) -> Dims {
    in_bytes(dims.strides(), width)
}

fn in_bytes(mut strides: Dims, width: usize) -> Dims {
    let width = i64::try_from(width).unwrap_or(i64::MAX);
    strides.iter_mut().for_each(|stride| *stride = stride.saturating_mul(width));
    strides
}

/// Returns whether elements with these strides are in row-major order without gaps.
pub(crate) fn is_row_major(dims: &[i64], strides: &[i64], width: usize) -> bool {
    let expected = row_major(dims, width);
    dims.contains(&0)
        || (dims.iter().zip(strides).zip(&expected)).all(|((&d, s), e)| d == 1 || s == e)
}

/// Returns the strides of a layout of the host; `None` for row-major.
///
/// # Errors
/// If it does not fit the array, or has tiles.
///
/// # Safety
/// The layout is null or valid.
pub(crate) unsafe fn of_layout(
    layout: *const MemoryLayout,
    shape: &ArrayShape,
) -> Result<Option<Dims>> {
    // SAFETY: the caller vouches for the layout.
    Ok(unsafe { read(layout, shape) }?.map(|order| match order {
        Order::Strides(strides) => strides,
        Order::Layout(layout) => {
            let strides = layout.strides(&shape.dims).unwrap_or_default();
            in_bytes(strides, shape.ty.storage_bytes())
        }
    }))
}

/// Returns the order of dimensions of a layout of the host; `None` if it states none.
///
/// # Errors
/// As [`of_layout`].
///
/// # Safety
/// As [`of_layout`].
pub(crate) unsafe fn order(
    layout: *const MemoryLayout,
    shape: &ArrayShape,
) -> Result<Option<Layout>> {
    // SAFETY: the caller vouches for the layout.
    Ok(unsafe { read(layout, shape) }?.and_then(|order| match order {
        Order::Strides(_) => None,
        Order::Layout(layout) => Some(layout),
    }))
}

/// What a layout of the host states.
enum Order {
    /// The bytes between neighbors along each dimension.
    Strides(Dims),
    /// An order of all dimensions.
    Layout(Layout),
}

/// Reads a layout of the host.
///
/// # Safety
/// As [`of_layout`].
unsafe fn read(layout: *const MemoryLayout, shape: &ArrayShape) -> Result<Option<Order>> {
    // SAFETY: the caller vouches for the layout.
    let Some(layout) = (unsafe { layout.as_ref() }) else { return Ok(None) };
    // SAFETY: as above. Both parts of the union begin with a header, a list and its length.
    let parts = unsafe { list(layout.tiled.minor_to_major, layout.tiled.minor_to_major_size) };
    if parts.len() != shape.rank() {
        let message = format!("the layout has {} dimensions, the array {shape:#}", parts.len());
        return Err(Failure::invalid(message));
    }
    if layout.kind == 1 {
        return Ok(Some(Order::Strides(Dims::from_slice(parts))));
    }
    if layout.tiled.num_tiles > 0 {
        return Err(Failure::unimplemented("layouts with tiles are not supported"));
    }
    let layout = Layout { minor_to_major: Dims::from_slice(parts), tail: None };
    if !layout.is_permutation(shape.rank()) {
        let message =
            format!("the layout {parts:?} does not name each dimension of {shape:#} once");
        return Err(Failure::invalid(message));
    }
    Ok(Some(Order::Layout(layout)))
}

/// Returns an array with the elements in memory in the order of the layout of its shape.
pub(crate) fn laid_out(value: &Literal, shape: &ArrayShape) -> Literal {
    let (dims, width) = (&shape.dims, shape.ty.storage_bytes());
    let mut literal = Literal::zeros(ArrayShape::new(shape.ty, dims.clone()));
    if let Some(strides) = shape.layout.strides(dims)
        && literal.bytes().len() == value.bytes().len()
    {
        let (from, to) = (row_major(dims, width), in_bytes(strides, width));
        let places =
            ((value.bytes().as_ptr(), &from[..]), (literal.bytes_mut().as_mut_ptr(), &to[..]));
        // SAFETY: both have all elements of the shape, and the layout orders each dimension once.
        unsafe { copy(dims, width, places.0, places.1) };
    }
    literal
}

/// Copies an array from memory with one list of strides to memory with another.
///
/// # Safety
/// `from` is readable and `to` writable at the offsets of all elements.
pub(crate) unsafe fn copy(
    dims: &[i64],
    width: usize,
    (from, from_strides): (*const u8, &[i64]),
    (to, to_strides): (*mut u8, &[i64]),
) {
    let offset = |n: i64| isize::try_from(n).unwrap_or(0);
    let [outer @ .., inner] = dims else {
        // SAFETY: the caller vouches for the only element.
        return unsafe { from.copy_to_nonoverlapping(to, width) };
    };
    if dims.contains(&0) {
        return;
    }
    let last = outer.len();
    for index in outer.indices() {
        let at = |strides: &[i64]| index.iter().zip(strides).map(|(i, s)| i * s).sum::<i64>();
        // SAFETY: the index is inside the array, and the caller vouches for its elements.
        unsafe {
            let mut source = from.offset(offset(at(from_strides)));
            let mut target = to.offset(offset(at(to_strides)));
            for _ in 0..*inner {
                source.copy_to_nonoverlapping(target, width);
                // Not dereferenced after the last element.
                source = source.wrapping_offset(offset(from_strides[last]));
                target = target.wrapping_offset(offset(to_strides[last]));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transposed_array_is_copied_in_order() {
        let data = [1u8, 2, 3, 4, 5, 6];
        let mut out = [0u8; 6];
        // SAFETY: both arrays have the six elements of a 2 by 3 array.
        unsafe { copy(&[2, 3], 1, (data.as_ptr(), &[1, 2]), (out.as_mut_ptr(), &[3, 1])) };
        assert_eq!(out, [1, 3, 5, 2, 4, 6]);
    }

    #[test]
    fn strides_of_sizes_one_and_zero_do_not_matter() {
        assert!(is_row_major(&[1, 4], &[999, 4], 4));
        assert!(is_row_major(&[0, 4], &[1, 1], 4));
        assert!(!is_row_major(&[2, 4], &[4, 8], 4));
    }
}
