//! Index algebra: sizes, strides, and walks over them in row-major order.
use crate::clock::Stop;
use hlo::{ArrayShape, Dims};
use smallvec::SmallVec;

/// Returns a dimension, size or index as a `usize`; the verifier has checked that it is not
/// negative.
#[inline]
pub fn to_usize(x: i64) -> usize {
    usize::try_from(x).expect("verified: not negative")
}

/// Returns a size as an `i64`.
#[inline]
pub fn to_i64(x: usize) -> i64 {
    i64::try_from(x).expect("a size in memory fits i64")
}

/// Returns the row-major stride of each dimension, in elements.
#[inline]
pub fn strides(dims: &[i64]) -> Dims {
    let mut strides = Dims::from_elem(1, dims.len());
    for d in (1..dims.len()).rev() {
        strides[d - 1] = strides[d].saturating_mul(dims[d].max(1));
    }
    strides
}

/// Returns the number of elements of an array in memory.
#[inline]
pub fn count(dims: &[i64]) -> usize {
    // A zero makes the product zero, even if earlier factors overflow.
    if dims.contains(&0) { 0 } else { dims.iter().map(|&d| to_usize(d)).product() }
}

/// Returns the number of elements of an array that may be larger than any memory.
#[inline]
pub fn saturating_count(dims: &[i64]) -> usize {
    let sizes = dims.iter().map(|&d| to_usize(d));
    if dims.contains(&0) { 0 } else { sizes.fold(1, usize::saturating_mul) }
}

/// Walks all indices of `dims` in row-major order and keeps offsets that depend linearly on them.
///
/// All data movement of the engine uses this loop: `offset = base + sum of index[d] * strides[d]`.
/// Offsets that are visited are within memory; the step beyond the last may be of any size, so it
/// wraps.
pub fn offsets(dims: &[i64], base: i64, strides: &[i64], mut visit: impl FnMut(i64)) {
    if dims.contains(&0) {
        return;
    }
    let Some((&inner, outer)) = dims.split_last() else {
        visit(base);
        return;
    };
    let step = strides[dims.len() - 1];
    let mut index = Dims::from_elem(0, outer.len());
    let mut row = base;
    loop {
        let mut at = row;
        for _ in 0..inner {
            visit(at);
            at = at.wrapping_add(step);
        }
        let mut d = outer.len();
        loop {
            if d == 0 {
                return;
            }
            d -= 1;
            index[d] += 1;
            row = row.wrapping_add(strides[d]);
            if index[d] < outer[d] {
                break;
            }
            row = row.wrapping_sub(strides[d].wrapping_mul(outer[d]));
            index[d] = 0;
        }
    }
}

/// Walks boxes row by row: `visit` gets the offset and length of each contiguous run.
///
/// The offsets are those of [`offsets`] for strides of an array in memory: if the innermost stride
/// is 1, a row is one run; otherwise every element is a run.
pub fn rows(dims: &[i64], base: i64, strides: &[i64], mut visit: impl FnMut(i64, usize)) {
    match (dims.split_last(), strides.split_last()) {
        (Some((&inner, outer)), Some((1, outer_strides))) => {
            if inner > 0 {
                offsets(outer, base, outer_strides, |at| visit(at, to_usize(inner)));
            }
        }
        _ => offsets(dims, base, strides, |at| visit(at, 1)),
    }
}

/// Walks all indices of `dims` in row-major order, or until the time of the run is over.
pub fn indices(dims: &[i64], mut visit: impl FnMut(&[i64])) {
    if dims.contains(&0) {
        return;
    }
    let mut index = vec![0i64; dims.len()];
    let stop = Stop::current();
    while !stop.is_set() {
        visit(&index);
        let mut d = dims.len();
        loop {
            if d == 0 {
                return;
            }
            d -= 1;
            index[d] += 1;
            if index[d] < dims[d] {
                break;
            }
            index[d] = 0;
        }
    }
}

/// Returns the offsets of all indices of `dims`, for loops that use them more than once.
#[inline]
pub fn offset_list(dims: &[i64], strides: &[i64]) -> Vec<usize> {
    let mut list = Vec::with_capacity(count(dims));
    offsets(dims, 0, strides, |at| list.push(to_usize(at)));
    list
}

/// Returns the sizes and strides of some dimensions of an array.
#[inline]
pub fn pick(shape: &ArrayShape, dims: &[i64]) -> (Dims, Dims) {
    let all = strides(&shape.dims);
    let size = dims.iter().map(|&d| shape.dims[to_usize(d)]).collect();
    (size, dims.iter().map(|&d| all[to_usize(d)]).collect())
}

/// Returns the dimensions of an array of this rank that `dims` does not list.
#[inline]
pub fn others(rank: usize, dims: &[i64]) -> Dims {
    (0..to_i64(rank)).filter(|d| !dims.contains(d)).collect()
}

/// Some dimensions of an array, in row-major order.
#[derive(Debug)]
pub struct Grid {
    sizes: SmallVec<[usize; 4]>,
    strides: SmallVec<[usize; 4]>,
    count: usize,
}

impl Grid {
    /// Returns the dimensions of these sizes and strides.
    #[inline]
    pub fn new(dims: impl Iterator<Item = (i64, i64)>) -> Self {
        let (sizes, strides): (SmallVec<[usize; 4]>, _) =
            dims.map(|(size, stride)| (to_usize(size), to_usize(stride))).unzip();
        let count = sizes.iter().product();
        Self { sizes, strides, count }
    }
    /// Returns the number of dimensions.
    #[inline]
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }
    /// Returns the number of indices.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }
    /// Returns the size of the innermost dimension, if there is one.
    #[inline]
    pub fn last(&self) -> Option<usize> {
        self.sizes.last().copied()
    }
    /// Returns the offset of the element at index `i`.
    #[inline]
    pub fn offset(&self, i: usize) -> usize {
        match (&*self.sizes, &*self.strides) {
            ([], _) => 0,
            ([_], [stride, ..]) => i * stride,
            (sizes, strides) => {
                let (mut rest, mut at) = (i, 0);
                for (size, stride) in sizes.iter().zip(strides).rev() {
                    at += rest % size * stride;
                    rest /= size;
                }
                at
            }
        }
    }
    /// Returns the offsets of all elements.
    #[inline]
    pub fn offsets(&self) -> impl Iterator<Item = usize> + Clone + '_ {
        (0..self.count).map(|i| self.offset(i))
    }
}

/// Returns the digits of a number in base 2, at least one: about its logarithm.
#[inline]
pub fn binary_digits(n: usize) -> usize {
    to_usize(i64::from(usize::BITS - n.leading_zeros())).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_walks() {
        for (sizes, strides) in
            [(vec![], vec![]), (vec![5], vec![3]), (vec![2, 3, 4], vec![100, 1, 7])]
        {
            let mut walk = Vec::new();
            offsets(&sizes, 0, &strides, |at| walk.push(to_usize(at)));
            let grid = Grid::new(sizes.into_iter().zip(strides));
            assert_eq!(grid.offsets().collect::<Vec<_>>(), walk);
            assert_eq!(grid.count(), walk.len());
        }
    }

    #[test]
    fn walks_row_major() {
        let mut seen = Vec::new();
        offsets(&[2, 3], 10, &[1, 2], |at| seen.push(at));
        assert_eq!(seen, [10, 12, 14, 11, 13, 15]);
        let mut seen = Vec::new();
        offsets(&[], 7, &[], |at| seen.push(at));
        assert_eq!(seen, [7]);
        offsets(&[3, 0], 0, &[1, 1], |_| panic!("an empty space has no index"));
        let mut seen = Vec::new();
        indices(&[2, 2], |i| seen.push(i.to_vec()));
        offsets(&[1, 1], 1, &[i64::MAX, i64::MAX], |at| assert_eq!(at, 1));
        assert_eq!(count(&[i64::MAX, i64::MAX, 0]), 0);
        assert_eq!(seen, [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(strides(&[2, 3, 4]).as_slice(), [12, 4, 1]);
    }
}
