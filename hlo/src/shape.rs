//! Shapes: element type, dimension sizes and layout of an array; tuples of shapes; tokens.
use crate::layout::{Dims, Layout};
use crate::{ElementType, Error};
use std::fmt;

/// The shape of an instruction's result.
///
/// ```
/// let shape: hlo::Shape = "f32[2,3]{1,0}".parse().unwrap();
/// assert_eq!(shape.array().unwrap().dims.as_slice(), [2, 3]);
/// assert_eq!(shape.to_string(), "f32[2,3]{1,0}");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Shape {
    /// An array.
    Array(ArrayShape),
    /// `(shape, ...)`
    Tuple(Vec<Shape>),
    /// `token[]`: an order between side effects.
    Token,
    /// `opaque[]`: an opaque handle.
    Opaque,
    /// `b(array)`: a buffer that is updated in place.
    Buffer(Box<ArrayShape>),
}

/// Element type, sizes and layout of an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ArrayShape {
    /// Type of every element.
    pub ty: ElementType,
    /// Size of each dimension; an upper bound where the dimension is dynamic,
    /// [`ArrayShape::UNBOUNDED`] for `?`.
    pub dims: Dims,
    /// Which dimensions are dynamic; `None` if none is.
    pub dynamic: Option<Box<[bool]>>,
    /// Order in memory.
    pub layout: Layout,
}

impl ArrayShape {
    /// Size of a dimension written `?`.
    pub const UNBOUNDED: i64 = i64::MIN;

    /// Returns an array of these sizes in the default layout.
    pub fn new(ty: ElementType, dims: impl Into<Dims>) -> Self {
        let dims = dims.into();
        let layout = Layout::descending(dims.len());
        Self { ty, dims, dynamic: None, layout }
    }
    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.dims.len()
    }
    /// Returns the size of dimension `dim`, if there is one.
    pub fn dim(&self, dim: i64) -> Option<i64> {
        usize::try_from(dim).ok().and_then(|d| self.dims.get(d)).copied()
    }
    /// Returns whether dimension `dim` is dynamic.
    pub fn is_dynamic(&self, dim: usize) -> bool {
        self.dynamic.as_ref().is_some_and(|flags| flags[dim])
    }
    /// Returns the number of elements; `None` if it overflows or a dimension is unbounded.
    pub fn element_count(&self) -> Option<usize> {
        let sizes = self.dims.iter().map(|&d| usize::try_from(d).ok());
        // A zero makes the product zero, even if the other sizes overflow.
        if self.dims.contains(&0) {
            return Some(0);
        }
        sizes.into_iter().try_fold(1usize, |n, d| n.checked_mul(d?))
    }
    /// Returns the bytes of the elements, one per sub-byte element; `None` if it overflows.
    pub fn byte_count(&self) -> Option<usize> {
        self.element_count()?.checked_mul(self.ty.storage_bytes())
    }
    /// Returns the same sizes with another element type.
    #[must_use]
    pub fn with_type(&self, ty: ElementType) -> Self {
        Self { ty, ..self.clone() }
    }
    /// Returns whether both have the same sizes; dynamic dimensions are not compared.
    pub fn same_dims(&self, other: &Self) -> bool {
        self.dims == other.dims
    }
}

impl Shape {
    /// The most tuples around an array and dimensions of it together. A text of a value has a
    /// bracket for each, and the messages of XLA, which nest 100 deep, one message for each tuple.
    pub const NESTING_LIMIT: usize = 90;

    /// Returns the most tuples around an array and dimensions of it together.
    pub fn nesting(&self) -> usize {
        match self {
            Self::Array(array) => array.rank(),
            Self::Buffer(array) => array.rank(),
            Self::Tuple(elements) => 1 + elements.iter().map(Self::nesting).max().unwrap_or(0),
            Self::Token | Self::Opaque => 0,
        }
    }
    /// Returns a scalar.
    pub fn scalar(ty: ElementType) -> Self {
        Self::Array(ArrayShape::new(ty, Dims::new()))
    }
    /// Returns the array, if it is one.
    pub fn array(&self) -> Option<&ArrayShape> {
        match self {
            Self::Array(array) => Some(array),
            Self::Tuple(_) | Self::Token | Self::Opaque | Self::Buffer(_) => None,
        }
    }
    /// Returns the elements, if it is a tuple.
    pub fn tuple(&self) -> Option<&[Self]> {
        match self {
            Self::Tuple(elements) => Some(elements),
            Self::Array(_) | Self::Token | Self::Opaque | Self::Buffer(_) => None,
        }
    }
    /// Returns the element type, if it is an array.
    pub fn element_type(&self) -> Option<ElementType> {
        self.array().map(|a| a.ty)
    }
    /// Returns whether it is the scalar of this type.
    pub fn is_scalar(&self, ty: ElementType) -> bool {
        self.array().is_some_and(|a| a.ty == ty && a.dims.is_empty())
    }
    /// Returns whether both describe the same values: neither layouts nor dynamic dimensions are
    /// compared.
    pub fn compatible(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Array(a), Self::Array(b)) => a.ty == b.ty && a.dims == b.dims,
            (Self::Buffer(a), Self::Buffer(b)) => a.ty == b.ty && a.dims == b.dims,
            (Self::Tuple(a), Self::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.compatible(b))
            }
            (Self::Token, Self::Token) | (Self::Opaque, Self::Opaque) => true,
            (
                Self::Array(_) | Self::Buffer(_) | Self::Tuple(_) | Self::Token | Self::Opaque,
                Self::Array(_) | Self::Buffer(_) | Self::Tuple(_) | Self::Token | Self::Opaque,
            ) => false,
        }
    }
    /// Returns whether it is this shape, or part of it: its first elements, or none.
    pub(crate) fn is_prefix_of(&self, whole: &Self) -> bool {
        match (self.tuple(), whole.tuple()) {
            (Some([]), _) => true,
            (Some(part), Some(whole)) => {
                part.len() <= whole.len() && part.iter().zip(whole).all(|(a, b)| a.is_prefix_of(b))
            }
            (Some(_), None) | (None, _) => self.compatible(whole),
        }
    }
    /// Returns the number of nodes of the tuple tree: arrays, tuples and other elements.
    pub(crate) fn size(&self) -> usize {
        match self {
            Self::Tuple(elements) => 1 + elements.iter().map(Self::size).sum::<usize>(),
            Self::Array(_) | Self::Token | Self::Opaque | Self::Buffer(_) => 1,
        }
    }
    /// Returns the leaves of the tuple tree, from left to right; the shape itself if it is not a
    /// tuple.
    pub fn leaves(&self) -> Vec<&Self> {
        let (mut leaves, mut open) = (Vec::new(), vec![self]);
        while let Some(shape) = open.pop() {
            match shape {
                Self::Tuple(elements) => open.extend(elements.iter().rev()),
                Self::Array(_) | Self::Token | Self::Opaque | Self::Buffer(_) => leaves.push(shape),
            }
        }
        leaves
    }
}

impl From<ArrayShape> for Shape {
    fn from(array: ArrayShape) -> Self {
        Self::Array(array)
    }
}
impl fmt::Display for Shape {
    /// Prints layouts, as in an instruction's result shape; `{:#}` omits them, as messages do.
    ///
    /// ```
    /// let shape: hlo::Shape = "(f32[2,3]{0,1}, s32[])".parse().unwrap();
    /// assert_eq!(format!("{shape:#}"), "(f32[2,3], s32[])");
    /// ```
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        crate::text::print::shape(&mut text, self, !f.alternate());
        f.write_str(&text)
    }
}
impl fmt::Display for ArrayShape {
    /// Prints the layout; `{:#}` omits it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        crate::text::print::array_shape(&mut text, self, !f.alternate());
        f.write_str(&text)
    }
}
impl std::str::FromStr for Shape {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut cursor = crate::text::Cursor::new(text);
        let shape = crate::text::shape::shape(&mut cursor)?;
        cursor.expect_end("the end of the shape")?;
        Ok(shape)
    }
}
