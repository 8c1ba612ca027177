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
/// Elements lie in row-major order of the dimensions, whatever the layout; types of fewer than 8 bits take one byte an
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
    /// The data is kept in words so that it is aligned for every element type. The sizes are there where they are smaller
    /// than the shape's, which then are bounds.
    Array(ArrayShape, Arc<Vec<u128>>, Option<Box<Dims>>),
    Tuple(Arc<[Literal]>),
    Token,
}

/// What is known of a constant.
#[derive(Debug, Clone, PartialEq)]
pub enum ConstantValue {
    /// All of it.
    Literal(Literal),
    /// Only its shape: the text has `{...}` where the values were.
    Elided(Shape),
}

impl ConstantValue {
    /// Shape of the value.
    pub fn shape(&self) -> Shape {
        match self {
            Self::Literal(literal) => literal.shape(),
            Self::Elided(shape) => shape.clone(),
        }
    }
}

const WORD: usize = size_of::<u128>();

/// # Panics
/// If the shape has more elements than memory has addresses; engines check before they allocate.
fn size(shape: &ArrayShape) -> usize {
    shape.byte_count().expect("the array fits the memory")
}

impl Literal {
    /// An array of zeros.
    pub fn zeros(shape: ArrayShape) -> Self {
        let words = vec![0; size(&shape).div_ceil(WORD)];
        Self(Value::Array(shape, Arc::new(words), None))
    }
    /// An array from its elements' bytes, little-endian and row-major; `None` if they are not as many as the shape
    /// takes.
    pub fn from_bytes(shape: ArrayShape, bytes: &[u8]) -> Option<Self> {
        if shape.byte_count() != Some(bytes.len()) {
            return None;
        }
        let mut literal = Self::zeros(shape);
        literal.bytes_mut().copy_from_slice(bytes);
        Some(literal)
    }
    /// A scalar.
    pub fn scalar(ty: ElementType, value: Scalar) -> Self {
        let mut literal = Self::zeros(ArrayShape::new(ty, Dims::new()));
        value.write(ty, literal.bytes_mut());
        literal
    }
    /// A tuple.
    pub fn tuple(elements: Vec<Self>) -> Self {
        Self(Value::Tuple(elements.into()))
    }
    /// A token.
    pub fn token() -> Self {
        Self(Value::Token)
    }

    /// Its shape.
    pub fn shape(&self) -> Shape {
        match &self.0 {
            Value::Array(shape, ..) => shape.clone().into(),
            Value::Tuple(elements) => Shape::Tuple(elements.iter().map(Self::shape).collect()),
            Value::Token => Shape::Token,
        }
    }
    /// Its shape, if it is an array.
    #[inline]
    pub fn array_shape(&self) -> Option<&ArrayShape> {
        match &self.0 {
            Value::Array(shape, ..) => Some(shape),
            Value::Tuple(_) | Value::Token => None,
        }
    }
    /// Its elements, if it is a tuple.
    pub fn elements(&self) -> Option<&[Self]> {
        match &self.0 {
            Value::Tuple(elements) => Some(elements),
            Value::Array(..) | Value::Token => None,
        }
    }
    /// The arrays and tokens it is made of, from left to right.
    pub fn leaves(&self) -> Vec<&Self> {
        match self.elements() {
            Some(elements) => elements.iter().flat_map(Self::leaves).collect(),
            None => vec![self],
        }
    }
    /// Number of elements of an array; 0 of anything else.
    pub fn len(&self) -> usize {
        self.array_shape().and_then(ArrayShape::element_count).unwrap_or(0)
    }
    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements' bytes, little-endian and row-major; none of a tuple.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.0 {
            Value::Array(shape, words, _) => &bytemuck::cast_slice(words)[..size(shape)],
            Value::Tuple(_) | Value::Token => &[],
        }
    }
    /// The elements' bytes, to change; copies them first if they are shared.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Value::Array(shape, words, _) => {
                let size = size(shape);
                &mut bytemuck::cast_slice_mut(Arc::make_mut(words).as_mut_slice())[..size]
            }
            Value::Tuple(_) | Value::Token => &mut [],
        }
    }
    /// Bytes of the arrays that nobody else shares: what dropping it gives back.
    pub fn unshared_bytes(&self) -> usize {
        match &self.0 {
            Value::Array(shape, words, _) if Arc::strong_count(words) == 1 => size(shape),
            Value::Tuple(elements) if Arc::strong_count(elements) == 1 => {
                elements.iter().map(Self::unshared_bytes).sum()
            }
            Value::Array(..) | Value::Tuple(_) | Value::Token => 0,
        }
    }
    /// The same value in memory that nobody else shares; nothing is copied where nobody does.
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
    /// Element `i` in row-major order.
    ///
    /// # Panics
    /// If it is no array of more than `i` elements.
    #[inline]
    pub fn get(&self, i: usize) -> Scalar {
        let ty = self.array_shape().expect("an element of an array is asked for").ty;
        let width = ty.storage_bytes();
        Scalar::read(ty, &self.bytes()[i * width..(i + 1) * width])
    }
    /// The same bytes under another shape of as many bytes: other dimensions, layout, or type of the same width. Sizes
    /// below the bounds stay as long as the bounds do.
    ///
    /// # Panics
    /// If it is no array, or the new shape takes another number of bytes.
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
    /// The same type, dimensions, sizes and bits; layouts and padding are not compared.
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
    /// With shapes: `f32[2]{0} {1, 2}`, `( s32[] 1, f32[] 2 )`.
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
    /// Reads what [`Display`](std::fmt::Display) writes; layouts may be left out.
    fn from_str(text: &str) -> crate::Result<Self> {
        let mut cursor = crate::text::Cursor::new(text);
        let literal = crate::text::literal::typed_literal(&mut cursor)?;
        cursor.expect_end("the end of the literal")?;
        Ok(literal)
    }
}
