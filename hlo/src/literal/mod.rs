//! Literals: values of arrays and tuples.
mod buffer;
mod dynamic;
pub mod npz;
mod view;

pub use crate::text::print::summary;
pub use buffer::{Account, FreeMemory};
pub use view::Native;

use crate::{ArrayShape, Dims, ElementType, Scalar, Shape};
use buffer::Buffer;
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
    /// The sizes are present where they are smaller than those of the shape, which are then bounds.
    Array(Arc<ArrayShape>, Arc<Buffer>, Option<Box<Dims>>),
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

/// # Panics
/// If the shape has more elements than memory can address; engines check before they allocate.
fn size(shape: &ArrayShape) -> usize {
    shape.byte_count().expect("the array fits the memory")
}

impl Literal {
    /// Returns an array of zeros.
    pub fn zeros(shape: impl Into<Arc<ArrayShape>>) -> Self {
        let shape = shape.into();
        let buffer = Buffer::zeros(size(&shape));
        Self(Value::Array(shape, Arc::new(buffer), None))
    }
    /// Returns an array with arbitrary elements in the memory of a dropped one, which is resized if the sizes differ.
    pub fn in_memory(shape: Arc<ArrayShape>, memory: FreeMemory) -> Self {
        let buffer = Buffer::reused(memory, size(&shape));
        Self(Value::Array(shape, Arc::new(buffer), None))
    }
    /// Returns an array in foreign memory; dropping `owner`, when the last clone of the array is dropped, releases it. The
    /// memory is read-only: changing the array copies it. `None` if its length is not that of the shape, or it is not
    /// aligned for the elements.
    ///
    /// ```
    /// let shape = hlo::ArrayShape::new(hlo::ElementType::U8, [3].as_slice());
    /// let x = hlo::Literal::from_owner(shape, vec![1u8, 2, 3]).unwrap();
    /// assert_eq!(x.to_string(), "u8[3]{0} {1, 2, 3}");
    /// ```
    pub fn from_owner(
        shape: impl Into<Arc<ArrayShape>>,
        owner: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Option<Self> {
        let shape = shape.into();
        let buffer = Buffer::foreign(Box::new(owner));
        let is_aligned = buffer.bytes().as_ptr().addr().is_multiple_of(shape.ty.storage_bytes());
        (shape.byte_count() == Some(buffer.len()) && is_aligned)
            .then(|| Self(Value::Array(shape, Arc::new(buffer), None)))
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
            Value::Array(shape, ..) => ArrayShape::clone(shape).into(),
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
    /// Returns the elements, if it is a tuple; they are not shared if the tuple is not.
    ///
    /// # Errors
    /// The value itself, if it is not a tuple.
    pub fn into_elements(self) -> Result<Vec<Self>, Self> {
        let Value::Tuple(mut elements) = self.0 else { return Err(self) };
        Ok(match Arc::get_mut(&mut elements) {
            Some(own) => own.iter_mut().map(|e| std::mem::replace(e, Self::token())).collect(),
            None => elements.to_vec(),
        })
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
            Value::Array(_, buffer, _) => buffer.bytes(),
            Value::Tuple(_) | Value::Token => &[],
        }
    }
    /// Returns the bytes of the elements mutably; copies them first if they are shared or foreign. A copy is charged to no
    /// account.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Value::Array(_, buffer, _) => {
                if buffer.is_foreign() {
                    *buffer = Arc::new(Buffer::clone(buffer));
                }
                Arc::make_mut(buffer).bytes_mut().expect("owned and not shared")
            }
            Value::Tuple(_) | Value::Token => &mut [],
        }
    }
    /// Returns whether it is an array whose memory can be written to without a copy.
    pub fn is_unique(&mut self) -> bool {
        match &mut self.0 {
            Value::Array(_, buffer, _) => {
                Arc::get_mut(buffer).and_then(Buffer::bytes_mut).is_some()
            }
            Value::Tuple(_) | Value::Token => false,
        }
    }
    /// Charges the memory of an array to `account`, which has reserved it, and no longer to another one. Returns the number of
    /// bytes; `None` if nothing changes: the memory is shared, foreign, or charged to this account already.
    pub fn charge_to(&mut self, account: &Arc<dyn Account>) -> Option<usize> {
        let Value::Array(_, buffer, _) = &mut self.0 else { return None };
        let buffer = Arc::get_mut(buffer)?;
        buffer.charge_to(account).then(|| buffer.len())
    }
    /// Returns the same array in its own memory, charged to no account.
    #[must_use]
    pub fn copied(&self) -> Self {
        let Value::Array(shape, buffer, sizes) = &self.0 else { return self.clone() };
        Self(Value::Array(Arc::clone(shape), Arc::new(Buffer::clone(buffer)), sizes.clone()))
    }
    /// Returns an array of another shape in the memory of this one, with arbitrary elements; `None` if the memory is
    /// shared, foreign, or of another size.
    pub fn recycled(self, shape: &Arc<ArrayShape>) -> Option<Self> {
        let Value::Array(_, mut buffer, _) = self.0 else { return None };
        let fits = Some(buffer.len()) == shape.byte_count();
        let is_free = fits && Arc::get_mut(&mut buffer).and_then(Buffer::bytes_mut).is_some();
        is_free.then(|| Self(Value::Array(Arc::clone(shape), buffer, None)))
    }
    /// Returns element `i` in row-major order.
    ///
    /// # Panics
    /// If it is not an array of more than `i` elements.
    #[inline]
    pub fn get(&self, i: usize) -> Scalar {
        let ty = self.array_shape().expect("only arrays have elements").ty;
        let width = ty.storage_bytes();
        Scalar::read(ty, &self.bytes()[i * width..(i + 1) * width])
    }
    /// Returns the same bytes with another shape of the same size in bytes: other dimensions, layout, or type of the
    /// same width. Dynamic sizes are kept if the bounds are.
    ///
    /// # Panics
    /// If it is not an array, or the new shape has another number of bytes.
    #[must_use]
    pub fn with_shape(&self, shape: impl Into<Arc<ArrayShape>>) -> Self {
        let shape = shape.into();
        match &self.0 {
            Value::Array(old, buffer, sizes) => {
                assert_eq!(
                    old.byte_count(),
                    shape.byte_count(),
                    "{old} and {shape} differ in size"
                );
                let sizes = sizes.clone().filter(|_| old.dims == shape.dims);
                Self(Value::Array(shape, Arc::clone(buffer), sizes))
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
                a.dims == b.dims && x == y && self.to_static() == other.to_static()
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
