//! Arrays of bounded dynamic shape: data as large as the bounds, and the dynamic sizes.
//!
//! An element is valid if its index is below the size in every dimension. The others, the padding, are
//! unspecified.
use super::{Literal, Value};
use crate::{ArrayShape, Dims};
use std::sync::Arc;

impl Literal {
    /// Returns the sizes of an array that is smaller than its bounds; `None` for anything else.
    ///
    /// ```
    /// let x = hlo::Literal::from_slice(&[3], &[1i32, 2, 3]).with_sizes(&[2]);
    /// assert_eq!(x.dynamic_sizes(), Some([2].as_slice()));
    /// assert_eq!(x.to_static(), hlo::Literal::from_slice(&[2], &[1i32, 2]));
    /// ```
    #[inline]
    pub fn dynamic_sizes(&self) -> Option<&[i64]> {
        match &self.0 {
            Value::Array(_, _, sizes) => sizes.as_ref().map(|sizes| sizes.as_slice()),
            Value::Tuple(_) | Value::Token => None,
        }
    }
    /// Returns the sizes of an array: the dynamic sizes if it has them; none for anything else.
    pub fn sizes(&self) -> &[i64] {
        match &self.0 {
            Value::Array(shape, _, sizes) => sizes.as_ref().map_or(&shape.dims, |sizes| sizes),
            Value::Tuple(_) | Value::Token => &[],
        }
    }
    /// Returns the same data with these dynamic sizes.
    ///
    /// # Panics
    /// If it is not an array, or a size is negative or above its bound.
    #[must_use]
    pub fn with_sizes(mut self, sizes: &[i64]) -> Self {
        let Value::Array(shape, _, old) = &mut self.0 else { panic!("only arrays have sizes") };
        let fit = shape.rank() == sizes.len()
            && sizes.iter().zip(&shape.dims).all(|(size, bound)| (0..=*bound).contains(size));
        assert!(fit, "sizes {sizes:?} do not fit in {shape:#}");
        *old = (sizes != shape.dims.as_slice()).then(|| Box::new(Dims::from_slice(sizes)));
        self
    }

    /// Returns the valid elements as an array of their size; does so for every element of a tuple.
    #[must_use]
    pub fn to_static(&self) -> Self {
        match &self.0 {
            Value::Array(shape, _, Some(sizes)) => {
                let width = shape.ty.storage_bytes();
                let mut result = Self::zeros(resized(shape, sizes));
                let (from, to) = (self.bytes(), result.bytes_mut());
                rows(sizes, &shape.dims, width, |small, large| {
                    to[small.clone()].copy_from_slice(&from[large]);
                });
                result
            }
            Value::Array(shape, buffer, None) if shape.dynamic.is_some() => {
                let shape = resized(shape, &shape.dims);
                Self(Value::Array(Arc::new(shape), Arc::clone(buffer), None))
            }
            Value::Tuple(elements) => Self::tuple(elements.iter().map(Self::to_static).collect()),
            Value::Array(..) | Value::Token => self.clone(),
        }
    }
    /// Returns an array of this shape with the sizes and elements of this one; the padding is zero.
    ///
    /// # Panics
    /// If it is not an array, is larger than the shape, or of another type.
    #[must_use]
    pub fn to_bounded_dynamic(&self, shape: &ArrayShape) -> Self {
        let mut result = Self::zeros(ArrayShape { dynamic: None, ..shape.clone() });
        result.copy_from(self);
        let sizes = self.sizes();
        result.with_sizes(sizes)
    }
    /// Overwrites the elements at the beginning of every dimension with the valid elements of `other`.
    ///
    /// # Panics
    /// If they are not arrays of the same type and rank, or `other` does not fit.
    pub fn copy_from(&mut self, other: &Self) {
        let other = other.to_static();
        let (Some(from), Some(to)) = (other.array_shape(), self.array_shape()) else {
            panic!("only arrays have sizes")
        };
        assert_eq!((from.ty, from.rank()), (to.ty, to.rank()), "elements keep their type and rank");
        let fit = from.dims.iter().zip(&to.dims).all(|(from, to)| from <= to);
        assert!(fit, "{from:#} does not fit in {to:#}");
        let (sizes, bounds, width) = (from.dims.clone(), to.dims.clone(), to.ty.storage_bytes());
        let (from, to) = (other.bytes(), self.bytes_mut());
        rows(&sizes, &bounds, width, |small, large| to[large].copy_from_slice(&from[small]));
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
    if small.contains(&0) {
        return;
    }
    let (row, outer) = match small.split_last() {
        Some((last, outer)) => (size(last), outer),
        None => (1, small),
    };
    let count: usize = outer.iter().map(size).product();
    for i in 0..count {
        // The index of the row, innermost dimension first, and its offset in the large array.
        let (mut rest, mut step, mut at) = (i, large.last().map_or(1, size), 0);
        for (small, large) in outer.iter().zip(large).rev() {
            at += rest % size(small) * step;
            rest /= size(small);
            step *= size(large);
        }
        visit(i * row * width..(i + 1) * row * width, at * width..(at + row) * width);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
