//! Arrays of bounded dynamic shape: data as large as the bounds, and the dynamic sizes.
//!
//! An element is valid if its index is below the size in every dimension. The others, the padding,
//! are unspecified.
use super::Array;
use crate::{ArrayShape, Dims, IndexSpace};

impl Array {
    /// Returns the sizes, if they are smaller than the bounds.
    ///
    /// ```
    /// let x = hlo::Array::from_slice(&[3], &[1i32, 2, 3]).with_sizes(&[2]);
    /// assert_eq!(x.dynamic_sizes(), Some([2].as_slice()));
    /// assert_eq!(x.to_static(), hlo::Array::from_slice(&[2], &[1i32, 2]));
    /// ```
    #[inline]
    pub fn dynamic_sizes(&self) -> Option<&[i64]> {
        self.dynamic_sizes.as_ref().map(|sizes| sizes.as_slice())
    }
    /// Returns the sizes: the dynamic sizes if it has them.
    pub fn sizes(&self) -> &[i64] {
        self.dynamic_sizes().unwrap_or(&self.shape().dims)
    }
    /// Returns the same data with these dynamic sizes.
    ///
    /// # Panics
    /// If a size is negative or above its bound.
    #[must_use]
    pub fn with_sizes(mut self, sizes: &[i64]) -> Self {
        let shape = self.shape();
        let fit = shape.rank() == sizes.len()
            && sizes.iter().zip(&shape.dims).all(|(size, bound)| (0..=*bound).contains(size));
        assert!(fit, "sizes {sizes:?} do not fit in {shape:#}");
        let is_dynamic = sizes != shape.dims.as_slice();
        self.dynamic_sizes = is_dynamic.then(|| Box::new(Dims::from_slice(sizes)));
        self
    }

    /// Returns the valid elements as an array of their size.
    #[must_use]
    pub fn to_static(&self) -> Self {
        let shape = self.shape();
        let Some(sizes) = self.dynamic_sizes() else {
            return match shape.dynamic {
                Some(_) => self.with_shape(resized(shape, &shape.dims)),
                None => self.clone(),
            };
        };
        let width = shape.ty.storage_bytes();
        let mut result = Self::zeros(resized(shape, sizes));
        let (from, to) = (self.bytes(), result.bytes_mut());
        rows(sizes, &shape.dims, width, |small, large| {
            to[small].copy_from_slice(&from[large]);
        });
        result
    }
    /// Returns an array of this shape with the sizes and elements of this one; the padding is zero.
    ///
    /// # Panics
    /// If it is larger than the shape, or of another type.
    #[must_use]
    pub fn to_bounded_dynamic(&self, shape: &ArrayShape) -> Self {
        let mut result = Self::zeros(resized(shape, &shape.dims));
        result.copy_from(self);
        result.with_sizes(self.sizes())
    }
    /// Overwrites the elements at the beginning of every dimension with the valid elements of
    /// `other`.
    ///
    /// # Panics
    /// If they are not of the same type and rank, or `other` does not fit.
    pub fn copy_from(&mut self, other: &Self) {
        let (sizes, ty) = (other.sizes(), self.shape().ty);
        let (from, to) = (other.shape(), self.shared_shape().clone());
        assert_eq!((from.ty, from.rank()), (ty, to.rank()), "elements keep their type and rank");
        let fit = sizes.iter().zip(&to.dims).all(|(from, to)| from <= to);
        assert!(fit, "{from:#} does not fit in {to:#}");
        let (from, width) = (other.to_static(), ty.storage_bytes());
        let (from, bytes) = (from.bytes(), self.bytes_mut());
        rows(sizes, &to.dims, width, |small, large| bytes[large].copy_from_slice(&from[small]));
    }
}

/// Returns the shape with other sizes, none of them dynamic.
fn resized(shape: &ArrayShape, sizes: &[i64]) -> ArrayShape {
    ArrayShape { dims: Dims::from_slice(sizes), dynamic: None, ..shape.clone() }
}

/// Calls `visit` with the bytes of each row of a small array and of the same row in a large one.
fn rows(
    small: &[i64],
    large: &[i64],
    width: usize,
    mut visit: impl FnMut(std::ops::Range<usize>, std::ops::Range<usize>),
) {
    let size = |&d: &i64| usize::try_from(d).expect("sizes are not negative");
    let (row, outer) = match small.split_last() {
        Some((0, _)) => return,
        Some((last, outer)) => (size(last) * width, outer),
        None => (width, small),
    };
    let mut first = 0;
    outer.offsets(0, &large.strides(), |at| {
        let at = size(&at) * width;
        visit(first..first + row, at..at + row);
        first += row;
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Literal;

    #[test]
    fn converts_to_static_and_bounded_dynamic() {
        let x: Literal =
            "s16[2,2,3] {{{1, 2, 3}, {4, 5, 6}}, {{7, 8, 9}, {10, 11, 12}}}".parse().unwrap();
        let fixed = x.clone().with_sizes(&[2, 1, 2]).to_static();
        assert_eq!(fixed, "s16[2,1,2] {{{1, 2}}, {{7, 8}}}".parse().unwrap());
        let wide = fixed.to_bounded_dynamic(x.array_shape().unwrap());
        assert_eq!(wide.sizes(), [2, 1, 2]);
        let zeros = "s16[2,2,3] {{{1, 2, 0}, {0, 0, 0}}, {{7, 8, 0}, {0, 0, 0}}}".parse().unwrap();
        assert_eq!(wide.with_sizes(&[2, 2, 3]), zeros);
        let empty = x.clone().with_sizes(&[2, 0, 3]).to_static();
        assert_eq!(empty, "s16[2,0,3] {{}, {}}".parse().unwrap());
        assert_eq!(x.clone().with_sizes(&[2, 2, 3]).dynamic_sizes(), None);
    }

    #[test]
    fn padding_is_not_compared() {
        let x = Literal::from_slice(&[3], &[1i32, 2, 3]);
        let y = Literal::from_slice(&[3], &[1i32, 2, 9]);
        assert_ne!(x, y);
        assert_eq!(x.clone().with_sizes(&[2]), y.clone().with_sizes(&[2]));
        assert_ne!(x.clone().with_sizes(&[2]), y.with_sizes(&[1]));
        let row =
            x.with_sizes(&[2]).with_shape(ArrayShape::new(crate::ElementType::U32, [3].as_slice()));
        assert_eq!(row.sizes(), [2]);
    }
}
