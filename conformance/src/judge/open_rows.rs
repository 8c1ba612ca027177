//! Indices of a `gather` or a dynamic slice that rounding errors decide: arrays of known indices with
//! which each element of the result is every one that it may be.
#![expect(clippy::wildcard_enum_match_arm, reason = "other ops have no indices")]
use super::fold::offsets;
use super::integers::{self, number};
use super::interval::Interval;
use super::range::{Range, is_whole};
use hlo::op::Op;
use hlo::{ArrayShape, ElementType, Literal, Scalar};
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// The most values of a vector of indices that are told apart.
const MOST_VALUES: usize = 4096;
/// The most elements of all results together.
const MOST_ELEMENTS: usize = 1 << 20;

/// An index: its operand, its position there, and the greatest that is not clamped.
struct Index {
    operand: usize,
    at: usize,
    most: i64,
}

/// Returns operands of known indices, after clamping, in which each vector has each of its values once
/// at least; `None` if they are too many. `data` is the shape of the array that is picked from or
/// updated, `result` that of the result.
pub(super) fn choices(
    op: &Op,
    indices: &[&Range],
    [data, update, result]: [&ArrayShape; 3],
) -> Option<Vec<Vec<Range>>> {
    let vectors = vectors(op, indices, data, update)?;
    let values = |vector: &Vec<Index>| {
        let each = |index: &Index| (indices[index.operand], index.at, 0..=index.most);
        values(vector.iter().map(each), MOST_VALUES)
    };
    let values: Vec<Vec<Vec<i64>>> = vectors.iter().map(values).collect::<Option<_>>()?;
    let count = values.iter().map(Vec::len).max()?;
    if count * result.element_count()? > MOST_ELEMENTS {
        return None;
    }
    let choice = |number: usize| {
        let mut chosen: Vec<Literal> = indices.iter().map(|range| range.lo.clone()).collect();
        for (vector, values) in vectors.iter().zip(&values) {
            for (index, &value) in vector.iter().zip(&values[number % values.len()]) {
                set(&mut chosen[index.operand], index.at, value);
            }
        }
        chosen.into_iter().map(Range::point).collect()
    };
    Some((0..count).map(choice).collect())
}

/// Returns the vectors of indices, of which each element of the result reads one.
fn vectors(
    op: &Op,
    indices: &[&Range],
    data: &ArrayShape,
    update: &ArrayShape,
) -> Option<Vec<Vec<Index>>> {
    let most = |dim: usize, size: i64| data.dims.get(dim).map(|whole| whole - size);
    let scalars = |sizes: &[i64]| {
        let index = |(operand, &size)| Some(Index { operand, at: 0, most: most(operand, size)? });
        Some(vec![sizes.iter().enumerate().map(index).collect::<Option<_>>()?])
    };
    match op {
        Op::DynamicSlice(op) => scalars(&op.dynamic_slice_sizes),
        Op::DynamicUpdateSlice(_) => scalars(&update.dims),
        Op::Gather(op) => {
            let shape = indices.first()?.shape()?;
            let vector = usize::try_from(op.index_vector_dim).ok()?;
            let (rows, columns) =
                (offsets(shape, |d| d != vector), offsets(shape, |d| d == vector));
            let index = |row: usize, (column, &dim): (&usize, &i64)| {
                let dim = usize::try_from(dim).ok()?;
                let most = most(dim, *op.slice_sizes.get(dim)?)?;
                Some(Index { operand: 0, at: row + column, most })
            };
            let of_row = |&row: &usize| {
                columns.iter().zip(&op.start_index_map).map(|pair| index(row, pair)).collect()
            };
            rows.iter().map(of_row).collect()
        }
        _ => None,
    }
}

/// Returns the elements of the result that belong to each open vector of indices.
pub(super) fn places(op: &Op, indices: &[&Range], result: &ArrayShape) -> Vec<HashSet<usize>> {
    let Op::Gather(op) = op else {
        return vec![(0..result.element_count().unwrap_or(0)).collect()];
    };
    let Some((indices, shape)) = indices.first().and_then(|x| Some((*x, x.shape()?))) else {
        return Vec::new();
    };
    let is = |d: usize, dim: i64| i64::try_from(d) == Ok(dim);
    let is_window = |d: usize| op.offset_dims.iter().any(|&dim| is(d, dim));
    let (starts, window) = (offsets(result, |d| !is_window(d)), offsets(result, is_window));
    let rows = offsets(shape, |d| !is(d, op.index_vector_dim));
    let columns = offsets(shape, |d| is(d, op.index_vector_dim));
    let is_open = |row: &usize| columns.iter().any(|column| !indices.is_point_at(row + column));
    let open = rows.iter().zip(&starts).filter(|(row, _)| is_open(row));
    open.map(|(_, start)| window.iter().map(|at| start + at).collect()).collect()
}

/// Returns the values of some elements, each clamped to some bounds, in every combination with the
/// others; `None` if they are more than `most`.
pub(super) fn values<'a>(
    elements: impl Iterator<Item = (&'a Range, usize, RangeInclusive<i64>)>,
    most: usize,
) -> Option<Vec<Vec<i64>>> {
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for (range, at, bounds) in elements {
        let mut own: Vec<i64> = Vec::new();
        let clamped = |end: Scalar| {
            let end = number(end).clamp((*bounds.start()).into(), (*bounds.end()).into());
            i64::try_from(end).ok()
        };
        for candidate in range.candidates() {
            let (lo, hi) = candidate.ends(at);
            let (lo, hi) = (clamped(lo)?, clamped(hi)?);
            if usize::try_from(hi - lo).ok()? >= most {
                return None;
            }
            own.extend(lo..=hi);
        }
        own.sort_unstable();
        own.dedup();
        let longer = |start: &Vec<i64>| {
            let start = start.clone();
            own.clone().into_iter().map(move |value| [start.as_slice(), &[value]].concat())
        };
        all = all.iter().flat_map(longer).take(most + 1).collect();
    }
    (all.len() <= most).then_some(all)
}

/// Replaces an index.
pub(super) fn set(indices: &mut Literal, at: usize, value: i64) {
    let Some(ty) = indices.array_shape().map(|shape| shape.ty) else { return };
    let width = ty.storage_bytes();
    let value = Scalar::Signed(value).convert(ElementType::S64, ty);
    value.write(ty, &mut indices.bytes_mut()[at * width..(at + 1) * width]);
}

/// Returns the values from the least to the greatest element of some arrays, for each element of a
/// result: it is one of theirs.
pub(super) fn hull_of(data: &[&Range], shape: &ArrayShape) -> Range {
    let count = shape.element_count().unwrap_or(0);
    if is_whole(shape.ty) {
        let ends = data.iter().flat_map(|range| (0..range.lo.len()).map(|i| range.ends(i)));
        let ends = ends.reduce(integers::hull).unwrap_or_else(|| integers::any(shape.ty));
        return integers::range(shape, std::iter::repeat_n(ends, count));
    }
    let parts = if shape.ty.is_complex() { 2 } else { 1 };
    let part = |k: usize| {
        let all = data.iter().flat_map(|range| range.intervals().skip(k).step_by(parts));
        all.reduce(Interval::hull).unwrap_or(Interval::ANY)
    };
    let parts: Vec<Interval> = (0..parts).map(part).collect();
    Range::given(shape, &parts.repeat(count))
}
