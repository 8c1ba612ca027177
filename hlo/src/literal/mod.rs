//! Literals: values of arrays and tuples.
mod dynamic;
pub mod npz;
mod view;

pub use crate::text::print::summary;
pub use view::Native;

use crate::{ArrayShape, Dims, ElementType, Scalar, Shape};
use std::sync::Arc;

/// The value of an array, a tuple or a token.
///
/// Elements are in row-major order of the dimensions, whatever the layout; types of fewer than 8 bits take one byte per
/// element. Clones share the data, which is copied when one of them is changed.
///
/// ```
/// use hlo::{Literal, Scalar};
/// let x: Literal = "s8[2,2] {{1, 2}, {3, -128}}".parse().unwrap();
/// assert_eq!(x.get(3), Scalar::Signed(-128));
/// assert_eq!(x.as_slice::<i8>(), Some([1, 2, 3, -128].as_slice()));
/// assert_eq!(Literal::from_slice(&[2], &[1.5f32, -0.0]).to_string(), "f32[2]{0} {1.5, -0}");
/// ```
#[derive(Clone)]
pub struct Literal(Value);

#[derive(Clone)]
enum Value {
    /// The data is kept in words so that it is aligned for every element type. The sizes are present where they are smaller
    /// than the shape's, which then are bounds.
    Array(ArrayShape, Arc<Vec<u128>>, Option<Box<Dims>>),
    Tuple(Arc<[Literal]>),
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

const WORD: usize = size_of::<u128>();

/// # Panics
/// If the shape has more elements than memory can address; engines check before they allocate.
fn size(shape: &ArrayShape) -> usize {
    shape.byte_count().expect("the array fits the memory")
}

impl Literal {
    /// Returns an array of zeros.
    pub fn zeros(shape: ArrayShape) -> Self {
        let words = vec![0; size(&shape).div_ceil(WORD)];
        Self(Value::Array(shape, Arc::new(words), None))
    }
    /// Returns an array of these bytes, little-endian and row-major; `None` if their number is not that of the
    /// shape.
    pub fn from_bytes(shape: ArrayShape, bytes: &[u8]) -> Option<Self> {
        if shape.byte_count() != Some(bytes.len()) {
            return None;
        }
        let mut literal = Self::zeros(shape);
        literal.bytes_mut().copy_from_slice(bytes);
        Some(literal)
    }
    /// Returns a scalar.
    pub fn scalar(ty: ElementType, value: Scalar) -> Self {
        let mut literal = Self::zeros(ArrayShape::new(ty, Dims::new()));
        value.write(ty, literal.bytes_mut());
        literal
    }
    /// Returns a tuple.
    pub fn tuple(elements: Vec<Self>) -> Self {
        Self(Value::Tuple(elements.into()))
    }
    /// Returns a token.
    pub fn token() -> Self {
        Self(Value::Token)
    }

    /// Returns the shape.
    pub fn shape(&self) -> Shape {
        match &self.0 {
            Value::Array(shape, ..) => shape.clone().into(),
            Value::Tuple(elements) => Shape::Tuple(elements.iter().map(Self::shape).collect()),
            Value::Token => Shape::Token,
        }
    }
    /// Returns the shape, if it is an array.
    #[inline]
    pub fn array_shape(&self) -> Option<&ArrayShape> {
        match &self.0 {
            Value::Array(shape, ..) => Some(shape),
            Value::Tuple(_) | Value::Token => None,
        }
    }
    /// Returns the elements, if it is a tuple.
    pub fn elements(&self) -> Option<&[Self]> {
        match &self.0 {
            Value::Tuple(elements) => Some(elements),
            Value::Array(..) | Value::Token => None,
        }
    }
    /// Returns the leaves of the tuple tree, from left to right.
    pub fn leaves(&self) -> Vec<&Self> {
        match self.elements() {
            Some(elements) => elements.iter().flat_map(Self::leaves).collect(),
            None => vec![self],
        }
    }
    /// Returns the number of elements of an array; 0 for anything else.
    pub fn len(&self) -> usize {
        self.array_shape().and_then(ArrayShape::element_count).unwrap_or(0)
    }
    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of the elements, little-endian and row-major; none for a tuple.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Value::Array(shape, words, _) => &bytemuck::cast_slice(words)[..size(shape)],
            Value::Tuple(_) | Value::Token => &[],
        }
    }
    /// Returns the bytes of the elements mutably; copies them first if they are shared.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Value::Array(shape, words, _) => {
                let size = size(shape);
                &mut bytemuck::cast_slice_mut(Arc::make_mut(words).as_mut_slice())[..size]
            }
            Value::Tuple(_) | Value::Token => &mut [],
        }
    }
    /// Returns the bytes of the arrays that are not shared: what dropping it frees.
    pub fn unshared_bytes(&self) -> usize {
        match &self.0 {
            Value::Array(shape, words, _) if Arc::strong_count(words) == 1 => size(shape),
            Value::Tuple(elements) if Arc::strong_count(elements) == 1 => {
                elements.iter().map(Self::unshared_bytes).sum()
            }
            Value::Array(..) | Value::Tuple(_) | Value::Token => 0,
        }
    }
    /// Returns the same value in memory that is not shared; copies only what is.
    #[must_use]
    pub fn unshared(mut self) -> Self {
        match &mut self.0 {
            Value::Array(_, words, _) => {
                Arc::make_mut(words);
            }
            Value::Tuple(elements) => {
                for element in Arc::make_mut(elements).iter_mut() {
                    *element = std::mem::replace(element, Self::token()).unshared();
                }
            }
            Value::Token => {}
        }
        self
    }
    /// Returns element `i` in row-major order.
    ///
    /// # Panics
    /// If it is not an array of more than `i` elements.
    #[inline]
    pub fn get(&self, i: usize) -> Scalar {
        let ty = self.array_shape().expect("an element of an array is asked for").ty;
        let width = ty.storage_bytes();
        Scalar::read(ty, &self.bytes()[i * width..(i + 1) * width])
    }
    /// Returns the same bytes with another shape of as many bytes: other dimensions, layout, or type of the same width. Dynamic
    /// sizes are kept if the bounds are.
    ///
    /// # Panics
    /// If it is not an array, or the new shape has another number of bytes.
    #[must_use]
    pub fn with_shape(&self, shape: ArrayShape) -> Self {
        match &self.0 {
            Value::Array(old, words, sizes) => {
                assert_eq!(
                    old.byte_count(),
                    shape.byte_count(),
                    "{old} and {shape} differ in size"
                );
                let sizes = sizes.clone().filter(|_| old.dims == shape.dims);
                Self(Value::Array(shape, Arc::clone(words), sizes))
            }
            Value::Tuple(_) | Value::Token => panic!("a tuple has no array shape"),
        }
    }
}

impl PartialEq for Literal {
    /// Compares type, dimensions, sizes and bits, but not layouts and padding.
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Value::Array(a, _, None), Value::Array(b, _, None)) => {
                a.ty == b.ty && a.dims == b.dims && self.bytes() == other.bytes()
            }
            (Value::Array(a, _, x), Value::Array(b, _, y)) => {
                a.dims == b.dims && x == y && self.cut() == other.cut()
            }
            (Value::Tuple(a), Value::Tuple(b)) => a == b,
            (Value::Token, Value::Token) => true,
            (Value::Array(..) | Value::Tuple(_) | Value::Token, _) => false,
        }
    }
}
impl std::fmt::Display for Literal {
    /// Prints the value with shapes: `f32[2]{0} {1, 2}`, `( s32[] 1, f32[] 2 )`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut text = String::new();
        crate::text::print::typed_literal(&mut text, self);
        f.write_str(&text)
    }
}
impl std::fmt::Debug for Literal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&summary(self, 100))
    }
}
impl std::str::FromStr for Literal {
    type Err = crate::Error;
    /// Parses what [`Display`](std::fmt::Display) prints; layouts may be omitted.
    fn from_str(text: &str) -> crate::Result<Self> {
        let mut cursor = crate::text::Cursor::new(text);
        let literal = crate::text::literal::typed_literal(&mut cursor)?;
        cursor.expect_end("the end of the literal")?;
        Ok(literal)
    }
}
