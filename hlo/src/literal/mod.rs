//! Literals: values of arrays and tuples.
mod array;
mod buffer;
mod dynamic;
#[cfg(feature = "ndarray")]
mod ndarray;
pub mod npz;
mod view;

#[cfg(feature = "ndarray")]
pub use self::ndarray::ViewError;
pub use array::Array;
pub use buffer::{Account, FreeMemory};
pub use view::Native;

use crate::{ArrayShape, ElementType, Scalar, Shape};
use std::sync::Arc;

/// The value of an array, a tuple or a token.
///
/// What an [`Array`] does, a literal does too, so that most code need not ask which of the three it
/// is; each such method says what it does for a tuple and a token.
///
/// ```
/// use hlo::{Literal, Scalar};
/// let x: Literal = "s8[2,2] {{1, 2}, {3, -128}}".parse().unwrap();
/// assert_eq!(x.get(3), Scalar::Signed(-128));
/// assert_eq!(x.as_slice::<i8>(), Some([1, 2, 3, -128].as_slice()));
/// assert_eq!(Literal::from_slice(&[2], &[1.5f32, -0.0]).to_string(), "f32[2]{0} {1.5, -0}");
/// ```
#[derive(Clone, PartialEq)]
pub enum Literal {
    /// An array.
    Array(Array),
    /// A tuple.
    Tuple(Vec<Literal>),
    /// A token.
    Token,
}

/// The value of a constant, if it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstantValue {
    /// The whole value.
    Literal(Literal),
    /// Only its shape: the text has `{...}` instead of the values.
    Elided(Shape),
}

impl ConstantValue {
    /// Returns the shape of the value.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Literal(literal) => literal.shape(),
            Self::Elided(shape) => shape.clone(),
        }
    }
}

/// Constructors.
impl Literal {
    /// Returns an array of zeros, as [`Array::zeros`] does.
    pub fn zeros(shape: impl Into<Arc<ArrayShape>>) -> Self {
        Array::zeros(shape).into()
    }
    /// Returns an array in the memory of a dropped one, as [`Array::in_memory`] does.
    pub fn in_memory(shape: Arc<ArrayShape>, memory: FreeMemory) -> Self {
        Array::in_memory(shape, memory).into()
    }
    /// Returns an array in foreign memory, as [`Array::from_owner`] does.
    pub fn from_owner(
        shape: impl Into<Arc<ArrayShape>>,
        owner: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Option<Self> {
        Array::from_owner(shape, owner).map(Self::Array)
    }
    /// Returns an array of these bytes, as [`Array::from_bytes`] does.
    pub fn from_bytes(shape: impl Into<Arc<ArrayShape>>, bytes: &[u8]) -> Option<Self> {
        Array::from_bytes(shape, bytes).map(Self::Array)
    }
    /// Returns a scalar.
    pub fn scalar(ty: ElementType, value: Scalar) -> Self {
        Array::scalar(ty, value).into()
    }
    /// Returns an array of these sizes, as [`Array::from_slice`] does.
    pub fn from_slice<T: Native>(dims: &[i64], elements: &[T]) -> Self {
        Array::from_slice(dims, elements).into()
    }
    /// Returns a tuple.
    pub fn tuple(elements: Vec<Self>) -> Self {
        Self::Tuple(elements)
    }
    /// Returns a token.
    pub fn token() -> Self {
        Self::Token
    }
    /// Returns a value of the tuples of a shape, with these leaves from left to right; nothing if
    /// they are too few. The shapes of the leaves are not compared.
    ///
    /// ```
    /// let shape: hlo::Shape = "((f32[], s32[2]), pred[])".parse()?;
    /// let value: hlo::Literal = "((f32[] 1, s32[2] {2, 3}), pred[] true)".parse()?;
    /// let mut leaves = value.leaves().into_iter().cloned();
    /// assert_eq!(hlo::Literal::from_leaves(&shape, &mut leaves), Some(value.clone()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_leaves(shape: &Shape, leaves: &mut dyn Iterator<Item = Self>) -> Option<Self> {
        match shape {
            Shape::Tuple(shapes) => {
                let elements = shapes.iter().map(|shape| Self::from_leaves(shape, leaves));
                Some(Self::Tuple(elements.collect::<Option<_>>()?))
            }
            Shape::Array(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_) => leaves.next(),
        }
    }
}

impl Literal {
    /// Returns the array, if it is one.
    #[inline]
    pub fn array(&self) -> Option<&Array> {
        match self {
            Self::Array(array) => Some(array),
            Self::Tuple(_) | Self::Token => None,
        }
    }
    /// Returns the array, to change, if it is one.
    #[inline]
    pub fn array_mut(&mut self) -> Option<&mut Array> {
        match self {
            Self::Array(array) => Some(array),
            Self::Tuple(_) | Self::Token => None,
        }
    }
    /// Returns the array, if it is one.
    pub fn into_array(self) -> Option<Array> {
        match self {
            Self::Array(array) => Some(array),
            Self::Tuple(_) | Self::Token => None,
        }
    }
    /// Returns the elements, if it is a tuple.
    pub fn elements(&self) -> Option<&[Self]> {
        match self {
            Self::Tuple(elements) => Some(elements),
            Self::Array(_) | Self::Token => None,
        }
    }
    /// Returns the elements, if it is a tuple.
    ///
    /// # Errors
    /// The value itself, if it is not a tuple.
    pub fn into_elements(self) -> Result<Vec<Self>, Self> {
        match self {
            Self::Tuple(elements) => Ok(elements),
            Self::Array(_) | Self::Token => Err(self),
        }
    }
    /// Returns the leaves of the tuple tree, from left to right.
    pub fn leaves(&self) -> Vec<&Self> {
        match self.elements() {
            Some(elements) => elements.iter().flat_map(Self::leaves).collect(),
            None => vec![self],
        }
    }
    /// Returns the shape.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Array(array) => array.shape().clone().into(),
            Self::Tuple(elements) => Shape::Tuple(elements.iter().map(Self::shape).collect()),
            Self::Token => Shape::Token,
        }
    }
    /// Returns the shape, if it is an array.
    #[inline]
    pub fn array_shape(&self) -> Option<&ArrayShape> {
        self.array().map(Array::shape)
    }
    /// Returns the number of elements of an array; 0 for anything else.
    pub fn len(&self) -> usize {
        self.array().map_or(0, Array::len)
    }
    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the bytes of the elements of an array, little-endian and row-major; none for
    /// anything else.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.array().map_or(&[], Array::bytes)
    }
    /// Returns the bytes of the elements of an array, to change, as [`Array::bytes_mut`] does; none
    /// for anything else.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.array_mut().map_or(&mut [], Array::bytes_mut)
    }
    /// Returns the elements of an array, if they are of this type.
    pub fn as_slice<T: Native>(&self) -> Option<&[T]> {
        self.array()?.as_slice()
    }
    /// Returns the elements of an array, to change, as [`Array::as_mut_slice`] does.
    pub fn as_mut_slice<T: Native>(&mut self) -> Option<&mut [T]> {
        self.array_mut()?.as_mut_slice()
    }
    /// Returns element `i` in row-major order.
    ///
    /// # Panics
    /// If it is not an array of more than `i` elements.
    #[inline]
    pub fn get(&self, i: usize) -> Scalar {
        self.array().expect("only arrays have elements").get(i)
    }
    /// Returns whether it is an array whose memory can be written to without a copy.
    pub fn is_unique(&mut self) -> bool {
        self.array_mut().is_some_and(Array::is_unique)
    }
    /// Charges the memory of an array to `account`, as [`Array::charge_to`] does; `None` for
    /// anything else.
    pub fn charge_to(&mut self, account: &Arc<dyn Account>) -> Option<usize> {
        self.array_mut()?.charge_to(account)
    }
    /// Returns an array in its own memory, charged to no account, and anything else as it is.
    #[must_use]
    pub fn copied(&self) -> Self {
        self.array().map_or_else(|| self.clone(), |array| array.copied().into())
    }
    /// Returns an array of another shape in the memory of this one, as [`Array::recycled`] does;
    /// `None` for anything else.
    pub fn recycled(self, shape: &Arc<ArrayShape>) -> Option<Self> {
        self.into_array()?.recycled(shape).map(Self::Array)
    }
    /// Returns the same bytes with another shape, as [`Array::with_shape`] does.
    ///
    /// # Panics
    /// If it is not an array, or the new shape has another number of bytes.
    #[must_use]
    pub fn with_shape(&self, shape: impl Into<Arc<ArrayShape>>) -> Self {
        self.array().expect("only arrays have an array shape").with_shape(shape).into()
    }
    /// Returns the sizes of an array that is smaller than its bounds; `None` for anything else.
    #[inline]
    pub fn dynamic_sizes(&self) -> Option<&[i64]> {
        self.array()?.dynamic_sizes()
    }
    /// Returns the sizes of an array: the dynamic sizes if it has them; none for anything else.
    pub fn sizes(&self) -> &[i64] {
        self.array().map_or(&[], Array::sizes)
    }
    /// Returns the same data with these dynamic sizes.
    ///
    /// # Panics
    /// If it is not an array, or a size is negative or above its bound.
    #[must_use]
    pub fn with_sizes(self, sizes: &[i64]) -> Self {
        self.into_array().expect("only arrays have sizes").with_sizes(sizes).into()
    }
    /// Returns the valid elements as an array of their size; does so for every element of a tuple.
    #[must_use]
    pub fn to_static(&self) -> Self {
        match self {
            Self::Array(array) => array.to_static().into(),
            Self::Tuple(elements) => Self::Tuple(elements.iter().map(Self::to_static).collect()),
            Self::Token => Self::Token,
        }
    }
    /// Returns an array of this shape with the sizes and elements of this one; the padding is zero.
    ///
    /// # Panics
    /// If it is not an array, is larger than the shape, or of another type.
    #[must_use]
    pub fn to_bounded_dynamic(&self, shape: &ArrayShape) -> Self {
        self.array().expect("only arrays have sizes").to_bounded_dynamic(shape).into()
    }
    /// Overwrites the elements at the beginning of every dimension with the valid elements of
    /// `other`.
    ///
    /// # Panics
    /// If they are not arrays of the same type and rank, or `other` does not fit.
    pub fn copy_from(&mut self, other: &Self) {
        let other = other.array().expect("only arrays have sizes");
        self.array_mut().expect("only arrays have sizes").copy_from(other);
    }
}

impl From<Array> for Literal {
    fn from(array: Array) -> Self {
        Self::Array(array)
    }
}
