//! Indices of a scatter that rounding errors decide: arrays of known indices that together have
//! every update of every element.
use super::candidates::MOST;
use super::open_rows::{set, values};
use super::range::Range;
use super::scatter::{Target, index_positions, target_of, windows};
use hlo::op::Scatter;
use hlo::{ArrayShape, Literal};
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

/// The most values of a vector of indices of which the elements that they touch are told apart.
const MOST_VALUES: usize = 256;

/// Arrays of indices, each legal, in which each element has all the sets of updates that it may
/// have; but for some elements, of which nothing is known.
pub(super) struct Choices {
    pub(super) indices: Vec<Literal>,
    pub(super) unknown: HashSet<usize>,
    /// The elements that each open vector may touch.
    pub(super) touched: Vec<HashSet<usize>>,
}

/// An open vector of indices.
struct Vector {
    /// Where its indices are.
    positions: Vec<usize>,
    values: Vec<Vec<i64>>,
    /// The elements that its updates may go to.
    touched: HashSet<usize>,
}

/// Open vectors that touch no element in common, which may be chosen together.
struct Group {
    count: usize,
    vectors: Vec<usize>,
    touched: HashSet<usize>,
}

/// Returns the choices of indices; `None` if one has many values. Of what a vector of more than a few
/// values touches, nothing is known.
pub(super) fn choices(
    op: &Scatter,
    target: &ArrayShape,
    indices: &Range,
    source: &ArrayShape,
) -> Option<Choices> {
    let vectors = vectors(op, target, indices, source)?;
    let (mut groups, mut unknown): (Vec<Group>, HashSet<usize>) = Default::default();
    for (number, vector) in vectors.iter().enumerate() {
        let product: usize = groups.iter().map(|group| group.count).product();
        let count = vector.values.len();
        let fits = |group: &&mut Group| {
            product / group.count * group.count.max(count) <= MOST
                && group.touched.is_disjoint(&vector.touched)
        };
        match groups.iter_mut().find(fits) {
            Some(group) => {
                group.count = group.count.max(count);
                group.vectors.push(number);
                group.touched.extend(&vector.touched);
            }
            None if product * count <= MOST => {
                let touched = vector.touched.clone();
                groups.push(Group { count, vectors: vec![number], touched });
            }
            None => unknown.extend(&vector.touched),
        }
    }
    let choice = |mut number: usize| {
        let mut indices = indices.lo.clone();
        for group in &groups {
            for &vector in &group.vectors {
                let Vector { positions, values, .. } = &vectors[vector];
                let value = &values[number % group.count % values.len()];
                set_all(&mut indices, positions, value);
            }
            number /= group.count;
        }
        indices
    };
    let count = groups.iter().map(|group| group.count).product();
    let indices = (0..count).map(choice).collect();
    let touched = vectors.into_iter().map(|vector| vector.touched).collect();
    Some(Choices { indices, unknown, touched })
}

/// Returns the open vectors of indices; `None` if one has many values.
fn vectors(
    op: &Scatter,
    target: &ArrayShape,
    indices: &Range,
    source: &ArrayShape,
) -> Option<Vec<Vector>> {
    let mut vectors: Vec<Vector> = Vec::new();
    let mut numbers: HashMap<Vec<usize>, usize> = HashMap::new();
    let mut chosen = indices.lo.clone();
    let windows = windows(op, target, source)?;
    // Beyond these bounds all of a window is outside.
    let bounds = |&dim: &i64| {
        let dim = usize::try_from(dim).ok()?;
        Some(-windows.get(dim)?.1..=*target.dims.get(dim)?)
    };
    let bounds: Vec<RangeInclusive<i64>> =
        op.scatter_dims_to_operand_dims.iter().map(bounds).collect::<Option<_>>()?;
    for update in 0..source.element_count()? {
        let positions = index_positions(op, indices.shape()?, source, update)?;
        if positions.iter().all(|&at| indices.is_point_at(at)) {
            continue;
        }
        let number = match numbers.get(&positions) {
            Some(&number) => number,
            None => {
                let elements = positions.iter().zip(&bounds);
                let elements = elements.map(|(&at, bounds)| (indices, at, bounds.clone()));
                let values = values(elements, MOST_VALUES)?;
                numbers.insert(positions.clone(), vectors.len());
                vectors.push(Vector { positions, values, touched: HashSet::new() });
                vectors.len() - 1
            }
        };
        let Vector { positions, values, touched } = &mut vectors[number];
        for value in values.iter() {
            set_all(&mut chosen, positions, value);
            touched.extend(target_of(op, target, &chosen, source, update).and_then(Target::place));
        }
    }
    Some(vectors)
}

fn set_all(indices: &mut Literal, positions: &[usize], values: &[i64]) {
    positions.iter().zip(values).for_each(|(&at, &value)| set(indices, at, value));
}
