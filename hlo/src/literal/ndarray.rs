//! Arrays as those of the crate `ndarray`, and back.
use super::{Array, Literal, Native};
use crate::{ArrayShape, Dims, ElementType, IndexSpace};
use ::ndarray::{
    ArrayView, ArrayViewD, ArrayViewMutD, Dimension, IxDyn, ShapeBuilder, StrideShape,
};

/// The reason why there is no view of an array.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// It is a tuple or a token.
    #[error("expected an array, found a tuple or a token")]
    NotAnArray,
    /// The elements are of another type.
    #[error("expected elements of type {expected}, found {found}")]
    Type {
        /// The type that corresponds to the one in Rust.
        expected: ElementType,
        /// The type of the elements.
        found: ElementType,
    },
    /// The order of the elements is no list of strides.
    #[error("the layout of {0} has tiles, or does not list every dimension once")]
    Layout(ArrayShape),
    /// The memory has fewer elements than the array.
    #[error("{shape} does not fit in {elements} elements")]
    Size {
        /// The shape of the array.
        shape: ArrayShape,
        /// The number of elements in memory.
        elements: usize,
    },
}

impl Array {
    /// Returns the elements as a view; where sizes are dynamic, the valid ones.
    ///
    /// ```
    /// use hlo::Array;
    /// use ndarray::{array, s};
    /// let x = Array::from_slice(&[2, 3], &[1i32, 2, 3, 4, 5, 6]);
    /// assert_eq!(x.view::<i32>()?.slice(s![.., 1]), array![2, 5]);
    /// assert_eq!(x.with_sizes(&[2, 2]).view::<i32>()?, array![[1, 2], [4, 5]].into_dyn());
    /// # Ok::<(), hlo::literal::ViewError>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type.
    pub fn view<T: Native>(&self) -> Result<ArrayViewD<'_, T>, ViewError> {
        let elements = self.as_slice().ok_or_else(|| wrong_type::<T>(self.shape()))?;
        let strides = self.shape().dims.strides();
        ArrayViewD::from_shape(strided(self.sizes(), &strides), elements)
            .map_err(|_| too_small(self.shape(), elements.len()))
    }
    /// Returns the elements as a view to change them; copies them first if they are shared or
    /// foreign.
    ///
    /// ```
    /// let mut x = hlo::Array::from_slice(&[2, 2], &[1f32, 2., 3., 4.]);
    /// x.view_mut::<f32>()?.index_axis_mut(ndarray::Axis(0), 1).fill(0.);
    /// assert_eq!(x.to_string(), "f32[2,2]{1,0} { { 1, 2 }, { 0, 0 } }");
    /// # Ok::<(), hlo::literal::ViewError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Array::view`].
    pub fn view_mut<T: Native>(&mut self) -> Result<ArrayViewMutD<'_, T>, ViewError> {
        let shape = self.shared_shape().clone();
        let order = strided(self.sizes(), &shape.dims.strides());
        let elements = self.as_mut_slice().ok_or_else(|| wrong_type::<T>(&shape))?;
        let count = elements.len();
        ArrayViewMutD::from_shape(order, elements).map_err(|_| too_small(&shape, count))
    }
}

impl Literal {
    /// Returns the elements of an array as a view, as [`Array::view`] does.
    ///
    /// # Errors
    /// If it is not an array, or its elements are of another type.
    pub fn view<T: Native>(&self) -> Result<ArrayViewD<'_, T>, ViewError> {
        self.array().ok_or(ViewError::NotAnArray)?.view()
    }
    /// Returns the elements of an array as a view to change them, as [`Array::view_mut`] does.
    ///
    /// # Errors
    /// As [`Literal::view`].
    pub fn view_mut<T: Native>(&mut self) -> Result<ArrayViewMutD<'_, T>, ViewError> {
        self.array_mut().ok_or(ViewError::NotAnArray)?.view_mut()
    }
}

impl ArrayShape {
    /// Returns a view of an array of this shape whose elements are in memory in the order of the
    /// layout, as those of backends are. A literal of it has them in row-major order.
    ///
    /// ```
    /// use hlo::{Array, Shape};
    /// let shape: Shape = "s32[2,3]{0,1}".parse().unwrap();
    /// let columns = shape.array().unwrap().view(&[1i32, 4, 2, 5, 3, 6])?;
    /// assert_eq!(Array::from(columns), Array::from_slice(&[2, 3], &[1i32, 2, 3, 4, 5, 6]));
    /// # Ok::<(), hlo::literal::ViewError>(())
    /// ```
    ///
    /// # Errors
    /// If the elements are of another type, the layout has tiles, or the memory has fewer elements.
    pub fn view<'m, T: Native>(&self, memory: &'m [T]) -> Result<ArrayViewD<'m, T>, ViewError> {
        if !T::views(self.ty) {
            return Err(wrong_type::<T>(self));
        }
        let is_tiled = self.layout.tail.as_ref().is_some_and(|tail| !tail.tiles.is_empty());
        let strides = self.layout.strides(&self.dims).filter(|_| !is_tiled);
        let strides = strides.ok_or_else(|| ViewError::Layout(self.clone()))?;
        ArrayViewD::from_shape(strided(&self.dims, &strides), memory)
            .map_err(|_| too_small(self, memory.len()))
    }
}

#[cold]
fn wrong_type<T: Native>(shape: &ArrayShape) -> ViewError {
    ViewError::Type { expected: T::TYPE, found: shape.ty }
}
#[cold]
fn too_small(shape: &ArrayShape, elements: usize) -> ViewError {
    ViewError::Size { shape: shape.clone(), elements }
}

fn strided(sizes: &[i64], strides: &[i64]) -> StrideShape<IxDyn> {
    // An unbounded size does not fit any memory.
    let list = |list: &[i64]| -> Vec<usize> {
        list.iter().map(|&n| usize::try_from(n).unwrap_or(usize::MAX)).collect()
    };
    list(sizes).strides(list(strides))
}

/// The memory of an array, which its literal keeps.
struct OwnedElements<T>(Vec<T>);

impl<T: Native> AsRef<[u8]> for OwnedElements<T> {
    fn as_ref(&self) -> &[u8] {
        bytemuck::cast_slice(&self.0)
    }
}

fn shape_of<T: Native>(sizes: &[usize]) -> ArrayShape {
    let size = |&size: &usize| i64::try_from(size).expect("a size in memory fits i64");
    ArrayShape::new(T::TYPE, sizes.iter().map(size).collect::<Dims>())
}

impl<T: Native, D: Dimension> From<::ndarray::Array<T, D>> for Array {
    /// Takes the memory of an array in row-major order, and copies that of another.
    fn from(array: ::ndarray::Array<T, D>) -> Self {
        let shape = shape_of::<T>(array.shape());
        let is_aligned = array.as_ptr().addr().is_multiple_of(shape.ty.storage_bytes());
        if !array.is_standard_layout() || !is_aligned {
            return array.view().into();
        }
        let (mut elements, first) = array.into_raw_vec_and_offset();
        let first = first.unwrap_or(0);
        elements.truncate(first + shape.element_count().unwrap_or(0));
        match first {
            0 => {
                Self::from_owner(shape, OwnedElements(elements)).expect("an element for each index")
            }
            _ => Self::from_slice(&shape.dims, &elements[first..]),
        }
    }
}
impl<T: Native, D: Dimension> From<ArrayView<'_, T, D>> for Array {
    /// Copies the elements.
    fn from(view: ArrayView<'_, T, D>) -> Self {
        let shape = shape_of::<T>(view.shape());
        if let Some(elements) = view.as_slice() {
            return Self::from_slice(&shape.dims, elements);
        }
        let mut array = Self::zeros(shape);
        let elements = array.as_mut_slice::<T>().expect("elements of this type");
        elements.iter_mut().zip(view).for_each(|(slot, element)| *slot = *element);
        array
    }
}
impl<T: Native, D: Dimension> From<::ndarray::Array<T, D>> for Literal {
    /// Takes the memory of an array in row-major order, and copies that of another.
    fn from(array: ::ndarray::Array<T, D>) -> Self {
        Array::from(array).into()
    }
}
impl<T: Native, D: Dimension> From<ArrayView<'_, T, D>> for Literal {
    /// Copies the elements.
    fn from(view: ArrayView<'_, T, D>) -> Self {
        Array::from(view).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::ndarray::{Array2, Axis, array, aview0, s};

    #[test]
    fn memory_in_row_major_order_is_taken() {
        let rows = array![[1f32, 2.], [3., 4.]];
        let memory = rows.as_ptr();
        let literal = Array::from(rows);
        assert_eq!(literal, Array::from_slice(&[2, 2], &[1f32, 2., 3., 4.]));
        assert!(std::ptr::eq(literal.view::<f32>().unwrap().as_ptr(), memory));
        let mut changed = literal.clone();
        changed.view_mut::<f32>().unwrap()[[0, 0]] = 7.;
        assert_eq!(literal.get(0), crate::Scalar::Float(1.));
        let complex = Array::from(array![[1f64, -1.], [2., 0.]].map(|&x| [x, 0.]));
        assert_eq!(
            complex.to_string(),
            "c128[2,2]{1,0} { { (1, 0), (-1, 0) }, { (2, 0), (0, 0) } }"
        );
    }
    #[test]
    fn other_orders_are_copied() {
        let x = Array2::from_shape_fn((2, 3), |(i, j)| u8::try_from(3 * i + j).unwrap());
        let transposed = Array::from_slice(&[3, 2], &[0u8, 3, 1, 4, 2, 5]);
        assert_eq!(Array::from(x.t()), transposed);
        assert_eq!(Array::from(x.clone().reversed_axes()), transposed);
        assert_eq!(Array::from(x.slice(s![.., 1..])), Array::from_slice(&[2, 2], &[1u8, 2, 4, 5]));
        // The memory begins before the first element.
        let last = x.slice_move(s![1.., ..]);
        assert_eq!(Literal::from(last), Literal::from_slice(&[1, 3], &[3u8, 4, 5]));
        assert_eq!(Array::from(aview0(&5i64)), Array::from_slice(&[], &[5i64]));
        assert!(Array::from(Array2::<f32>::zeros((0, 3))).is_empty());
    }
    #[test]
    fn views_follow_layouts() {
        let shape = |text: &str| text.parse::<crate::Shape>().unwrap().array().unwrap().clone();
        let x = Array::from_slice(&[2, 3, 4], &(0..24).collect::<Vec<i32>>());
        let view = x.view::<i32>().unwrap();
        for order in [[2, 1, 0], [0, 1, 2], [1, 2, 0]] {
            // In memory the first axis is the slowest.
            let memory: Vec<i32> = view
                .view()
                .permuted_axes([order[2], order[1], order[0]].as_slice())
                .iter()
                .copied()
                .collect();
            let shape = shape(&format!("s32[2,3,4]{{{},{},{}}}", order[0], order[1], order[2]));
            assert_eq!(shape.view(&memory).unwrap(), view);
        }
        assert_eq!(view.sum_axis(Axis(0))[[0, 0]], 12);
        let tiled = shape("s32[2,4]{1,0:T(2,2)}");
        assert_eq!(tiled.view(&[0i32; 8]), Err(ViewError::Layout(tiled.clone())));
        let (rows, elements) = (shape("s32[2,4]"), 7);
        assert_eq!(rows.view(&[0i32; 7]), Err(ViewError::Size { shape: rows.clone(), elements }));
        let error = rows.view(&[0f32; 8]).unwrap_err();
        assert_eq!(error.to_string(), "expected elements of type f32, found s32");
        assert_eq!(Literal::Token.view::<f32>().unwrap_err(), ViewError::NotAnArray);
    }
}
