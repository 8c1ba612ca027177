//! Indices of a scatter that rounding errors decide: arrays of known indices that together have
//! every update of every element.
use super::candidates::MOST;
use super::range::Range;
use super::scatter::{Target, index_positions, target_of};
use hlo::op::Scatter;
use hlo::{ArrayShape, Literal, Scalar};
use std::collections::{HashMap, HashSet};

/// Arrays of indices, each legal, in which each element has all the sets of updates that it may
/// have; but for some elements, of which nothing is known.
pub(super) struct Choices {
    pub(super) indices: Vec<Literal>,
    pub(super) unknown: HashSet<usize>,
}

/// An open vector of indices.
struct Vector {
    /// Where its indices are.
    positions: Vec<usize>,
    values: Vec<Vec<Scalar>>,
    /// The elements that its updates may go to.
    touched: HashSet<usize>,
}

/// Open vectors that touch no element in common, which may be chosen together.
struct Group {
    count: usize,
    vectors: Vec<usize>,
    touched: HashSet<usize>,
}

/// Returns the choices of indices of which each has few values; `None` if one has many.
pub(super) fn choices(
    op: &Scatter,
    target: &ArrayShape,
    indices: &Range,
    source: &ArrayShape,
) -> Option<Choices> {
    let columns = indices.each_value();
    if !columns.iter().all(Range::is_point) {
        return None;
    }
    let first = &columns[0].lo;
    let vectors = vectors(op, target, (indices, &columns), source)?;
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
        let mut indices = first.clone();
        for group in &groups {
            for &vector in &group.vectors {
                let Vector { positions, values, .. } = &vectors[vector];
                set(&mut indices, positions, &values[number % group.count % values.len()]);
            }
            number /= group.count;
        }
        indices
    };
    let count = groups.iter().map(|group| group.count).product();
    Some(Choices { indices: (0..count).map(choice).collect(), unknown })
}

/// Returns the open vectors of indices; `None` if one has many values.
fn vectors(
    op: &Scatter,
    target: &ArrayShape,
    (indices, columns): (&Range, &[Range]),
    source: &ArrayShape,
) -> Option<Vec<Vector>> {
    let mut vectors: Vec<Vector> = Vec::new();
    let mut numbers: HashMap<Vec<usize>, usize> = HashMap::new();
    let mut chosen = columns[0].lo.clone();
    for update in 0..source.element_count()? {
        let positions = index_positions(op, indices.shape()?, source, update)?;
        if positions.iter().all(|&at| indices.is_point_at(at)) {
            continue;
        }
        let number = match numbers.get(&positions) {
            Some(&number) => number,
            None => {
                let values = values(columns, &positions)?;
                numbers.insert(positions.clone(), vectors.len());
                vectors.push(Vector { positions, values, touched: HashSet::new() });
                vectors.len() - 1
            }
        };
        let Vector { positions, values, touched } = &mut vectors[number];
        for value in values.iter() {
            set(&mut chosen, positions, value);
            touched.extend(target_of(op, target, &chosen, source, update).and_then(Target::place));
        }
    }
    Some(vectors)
}

/// Returns the values of indices at some positions, each in every combination with the others;
/// `None` if they are many.
fn values(columns: &[Range], positions: &[usize]) -> Option<Vec<Vec<Scalar>>> {
    let mut all: Vec<Vec<Scalar>> = vec![Vec::new()];
    for &at in positions {
        let mut own: Vec<Scalar> = Vec::new();
        for column in columns {
            let value = column.lo.get(at);
            if !own.contains(&value) {
                own.push(value);
            }
        }
        let longer = |start: &Vec<Scalar>| {
            let start = start.clone();
            own.iter().map(move |&value| start.iter().copied().chain([value]).collect())
        };
        all = all.iter().flat_map(longer).collect::<Vec<Vec<Scalar>>>();
        if all.len() > MOST {
            return None;
        }
    }
    Some(all)
}

fn set(indices: &mut Literal, positions: &[usize], values: &[Scalar]) {
    let Some(ty) = indices.array_shape().map(|shape| shape.ty) else { return };
    let width = ty.storage_bytes();
    for (&at, value) in positions.iter().zip(values) {
        value.write(ty, &mut indices.bytes_mut()[at * width..(at + 1) * width]);
    }
}
