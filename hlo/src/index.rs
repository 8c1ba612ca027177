//! Index arithmetic: strides, positions, and walks over the indices of an array.
use crate::Dims;
use std::iter;

/// Index arithmetic of the sizes of an array, in row-major order.
///
/// A position is the number of an element in row-major order. Positions are those of arrays in
/// memory; strides of larger arrays saturate.
///
/// ```
/// use hlo::IndexSpace;
/// let sizes = [2, 3];
/// assert_eq!(sizes.strides().as_slice(), [3, 1]);
/// assert_eq!((sizes.position(&[1, 2]), sizes.index_of(5).as_slice()), (5, [1, 2].as_slice()));
/// assert_eq!(sizes.indices().nth(1).as_deref(), Some([0, 1].as_slice()));
/// ```
pub trait IndexSpace {
    /// Returns the distance of neighbors along each dimension, in elements.
    fn strides(&self) -> Dims;
    /// Returns the position of an index.
    ///
    /// # Panics
    /// If the index is negative or outside of memory.
    fn position(&self, index: &[i64]) -> usize;
    /// Returns the index of a position.
    fn index_of(&self, position: usize) -> Dims;
    /// Returns all indices; without dimensions, the empty one.
    fn indices(&self) -> impl Iterator<Item = Dims>;
    /// Calls `visit` with the offset of each index: `base` and the sum of `index[d] * strides[d]`.
    ///
    /// Offsets that are visited are within memory; the step beyond the last may be of any size, so
    /// it wraps.
    fn offsets(&self, base: i64, strides: &[i64], visit: impl FnMut(i64));
}

impl IndexSpace for [i64] {
    fn strides(&self) -> Dims {
        let mut strides = Dims::from_elem(1, self.len());
        for d in (1..self.len()).rev() {
            strides[d - 1] = strides[d].saturating_mul(self[d].max(1));
        }
        strides
    }
    fn position(&self, index: &[i64]) -> usize {
        debug_assert_eq!(index.len(), self.len());
        let position = index.iter().zip(self).fold(0, |position, (i, size)| position * size + i);
        usize::try_from(position).expect("an index is not negative")
    }
    fn index_of(&self, position: usize) -> Dims {
        let mut rest = i64::try_from(position).expect("a position in memory fits i64");
        let mut index = Dims::from_elem(0, self.len());
        for (i, size) in index.iter_mut().zip(self).rev() {
            *i = rest % size.max(&1);
            rest /= size.max(&1);
        }
        index
    }
    fn indices(&self) -> impl Iterator<Item = Dims> {
        let first = (!self.contains(&0)).then(|| Dims::from_elem(0, self.len()));
        iter::successors(first, move |index| {
            let mut next = index.clone();
            for d in (0..self.len()).rev() {
                next[d] += 1;
                if next[d] < self[d] {
                    return Some(next);
                }
                next[d] = 0;
            }
            None
        })
    }
    #[inline]
    fn offsets(&self, base: i64, strides: &[i64], mut visit: impl FnMut(i64)) {
        if self.contains(&0) {
            return;
        }
        let Some((&inner, outer)) = self.split_last() else { return visit(base) };
        let step = strides[outer.len()];
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
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offsets(sizes: &[i64], base: i64, strides: &[i64]) -> Vec<i64> {
        let mut offsets = Vec::new();
        sizes.offsets(base, strides, |at| offsets.push(at));
        offsets
    }

    #[test]
    fn walks_are_in_row_major_order() {
        assert_eq!(offsets(&[2, 3], 10, &[1, 2]), [10, 12, 14, 11, 13, 15]);
        assert_eq!(offsets(&[], 7, &[]), [7]);
        assert!(offsets(&[3, 0], 0, &[1, 1]).is_empty());
        assert_eq!(offsets(&[1, 1], 1, &[i64::MAX, i64::MAX]), [1]);
        let indices = |sizes: &[i64]| sizes.indices().map(|i| i.to_vec()).collect::<Vec<_>>();
        assert_eq!(indices(&[2, 2]), [[0, 0], [0, 1], [1, 0], [1, 1]]);
        assert_eq!(indices(&[]), [[0i64; 0]]);
        assert!(indices(&[3, 0]).is_empty());
    }
    #[test]
    fn positions_and_indices_are_inverse() {
        for sizes in [vec![], vec![5], vec![2, 3, 4], vec![1, 4, 1, 2, 3]] {
            let strides = sizes.strides();
            let positions: Vec<usize> = sizes.indices().map(|i| sizes.position(&i)).collect();
            assert_eq!(positions, (0..positions.len()).collect::<Vec<_>>());
            let offsets = offsets(&sizes, 0, &strides);
            assert!(offsets.iter().zip(&positions).all(|(&o, &p)| usize::try_from(o) == Ok(p)));
            for (index, position) in sizes.indices().zip(positions) {
                assert_eq!(sizes.index_of(position), index);
            }
        }
        assert_eq!([i64::MAX, i64::MAX, 2].strides().as_slice(), [i64::MAX, 2, 1]);
    }
}
