//! Computations of scalars applied to elements: all elements at once, each scalar a vector.
use super::Stop;
use super::evaluate::{Evaluator, Leaves, Site, arrays};
use super::range::Range;
use hlo::ir::ComputationId;
use hlo::op::Reduce;
use hlo::{ArrayShape, Literal};

/// A scalar repeated.
pub(super) fn repeated(scalar: &Range, lanes: i64) -> Range {
    let count = usize::try_from(lanes).unwrap_or(0);
    picked(scalar, lanes, std::iter::repeat_n(0, count))
}

/// The elements of an array at these positions, as a vector.
pub(super) fn picked(range: &Range, lanes: i64, at: impl Iterator<Item = usize> + Clone) -> Range {
    let end = |literal: &Literal| {
        let Some(shape) = literal.array_shape() else { return literal.clone() };
        let width = shape.ty.storage_bytes();
        let mut vector = Literal::zeros(ArrayShape::new(shape.ty, [lanes].as_slice()));
        let source = literal.bytes();
        for (slot, i) in vector.bytes_mut().chunks_exact_mut(width).zip(at.clone()) {
            slot.copy_from_slice(&source[i * width..(i + 1) * width]);
        }
        vector
    };
    let lo = end(&range.lo);
    let hi = if range.is_point() { lo.clone() } else { end(&range.hi) };
    Range { lo, hi, cause: range.cause.clone() }
}

/// The same elements in another shape.
pub(super) fn reshaped(range: &Range, shape: &ArrayShape) -> Range {
    let end = |literal: &Literal| match literal.array_shape() {
        Some(old) => {
            let ty = old.ty;
            literal.with_shape(ArrayShape::new(ty, shape.dims.clone()))
        }
        None => literal.clone(),
    };
    Range { lo: end(&range.lo), hi: end(&range.hi), cause: range.cause.clone() }
}

/// The number of elements of a shape, as a dimension.
pub(super) fn lanes_of(shape: &ArrayShape) -> i64 {
    shape.dims.iter().product()
}

pub(super) fn map<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    computation: ComputationId,
    operands: &[&Leaves],
) -> Result<Leaves, Stop> {
    let operands = arrays(site, operands)?;
    let shape = site.shape()?;
    let lanes = lanes_of(&shape);
    let vector = ArrayShape::new(shape.ty, [lanes].as_slice());
    let arguments = operands.iter().map(|range| vec![reshaped(range, &vector)]).collect();
    let results = ev.call(computation, arguments, Some(lanes))?;
    Ok(results.iter().map(|range| reshaped(range, &shape)).collect())
}

/// A reduction with any computation: element by element in row-major order.
pub(super) fn reduce<'m>(
    ev: &mut Evaluator<'m>,
    site: Site<'m>,
    op: &Reduce,
    operands: &[&Range],
) -> Result<Leaves, Stop> {
    let count = operands.len() / 2;
    let shape = operands[0].shape().ok_or_else(|| site.unsupported("a tuple"))?;
    let is_reduced = |d: usize| op.dimensions.iter().any(|&r| usize::try_from(r) == Ok(d));
    let (kept, reduced) = (offsets(shape, |d| !is_reduced(d)), offsets(shape, is_reduced));
    let lanes = i64::try_from(kept.len()).map_err(|_| site.unsupported("its size"))?;
    let mut state: Leaves =
        operands[count..].iter().map(|initial| repeated(initial, lanes)).collect();
    for &step in &reduced {
        let elements = operands[..count]
            .iter()
            .map(|range| picked(range, lanes, kept.iter().map(|&at| at + step)));
        let arguments = state.into_iter().chain(elements).map(|range| vec![range]).collect();
        state = ev.call(op.to_apply, arguments, Some(lanes))?;
    }
    let leaves = site.instruction().shape.leaves();
    let shaped = state.iter().zip(leaves);
    Ok(shaped
        .map(|(range, leaf)| leaf.array().map_or_else(|| range.clone(), |a| reshaped(range, a)))
        .collect())
}

/// The positions of all indices along some dimensions, in row-major order.
pub(super) fn offsets(shape: &ArrayShape, along: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut stride = 1;
    let mut offsets = vec![0];
    for (d, &size) in shape.dims.iter().enumerate().rev() {
        let size = usize::try_from(size).unwrap_or(0);
        if along(d) {
            offsets = (0..size).flat_map(|i| offsets.iter().map(move |o| o + i * stride)).collect();
        }
        stride *= size;
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::ElementType;

    #[test]
    fn offsets_are_in_row_major_order() {
        let shape = ArrayShape::new(ElementType::F32, [2, 3, 2].as_slice());
        assert_eq!(offsets(&shape, |d| d == 1), [0, 2, 4]);
        assert_eq!(offsets(&shape, |d| d != 1), [0, 1, 6, 7]);
        assert_eq!(offsets(&shape, |_| false), [0]);
    }
}
