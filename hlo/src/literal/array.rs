//! Arrays: a shape, the bytes of the elements, and the dynamic sizes.
use super::buffer::{Account, Buffer, FreeMemory};
use crate::{ArrayShape, Dims, ElementType, Scalar};
use std::sync::Arc;

/// The value of an array.
///
/// Elements are in row-major order of the dimensions, whatever the layout; types of fewer than 8
/// bits take one byte per element. Clones share the data, which is copied when one of them is
/// changed.
///
/// ```
/// use hlo::{Array, Scalar};
/// let mut x = Array::from_slice(&[2, 2], &[1i8, 2, 3, -128]);
/// assert_eq!(x.shape().to_string(), "s8[2,2]{1,0}");
/// x.set(0, Scalar::Signed(7));
/// assert_eq!((x.get(0), x.as_slice::<i8>()), (Scalar::Signed(7), Some([7, 2, 3, -128].as_slice())));
/// ```
#[derive(Clone)]
pub struct Array {
    shape: Arc<ArrayShape>,
    buffer: Arc<Buffer>,
    /// The sizes, where they are smaller than those of the shape, which are then bounds.
    pub(super) dynamic_sizes: Option<Box<Dims>>,
}

impl Array {
    fn new(shape: Arc<ArrayShape>, buffer: Buffer) -> Self {
        Self { shape, buffer: Arc::new(buffer), dynamic_sizes: None }
    }
    /// Returns an array of zeros.
    ///
    /// # Panics
    /// If the shape has more elements than memory can address; engines check before they allocate.
    pub fn zeros(shape: impl Into<Arc<ArrayShape>>) -> Self {
        let shape = shape.into();
        let buffer = Buffer::zeros(size(&shape));
        Self::new(shape, buffer)
    }
    /// Returns an array whose elements are all `value`.
    ///
    /// ```
    /// use hlo::{Array, ArrayShape, ElementType, Scalar};
    /// let shape = ArrayShape::new(ElementType::F32, [2].as_slice());
    /// assert_eq!(Array::filled(shape, Scalar::Float(1.5)), Array::from_slice(&[2], &[1.5f32, 1.5]));
    /// ```
    ///
    /// # Panics
    /// As [`Array::zeros`], and if the value is of another class than the type.
    pub fn filled(shape: impl Into<Arc<ArrayShape>>, value: Scalar) -> Self {
        let mut array = Self::zeros(shape);
        let ty = array.shape.ty;
        let mut elements = array.bytes_mut().chunks_exact_mut(ty.storage_bytes());
        if let Some(first) = elements.next() {
            value.write(ty, first);
            elements.for_each(|element| element.copy_from_slice(first));
        }
        array
    }
    /// Returns a scalar.
    pub fn scalar(ty: ElementType, value: Scalar) -> Self {
        Self::filled(ArrayShape::new(ty, Dims::new()), value)
    }
    /// Returns an array with arbitrary elements in the memory of a dropped one, which is resized if
    /// the sizes differ, or in that of another owner.
    ///
    /// ```
    /// use hlo::{Array, ArrayShape, ElementType, Scalar, literal::FreeMemory};
    /// let shape = ArrayShape::new(ElementType::U8, [3].as_slice());
    /// let mut x = Array::in_memory(shape.into(), FreeMemory::from_owner(vec![1u8, 2, 3]));
    /// x.set(0, Scalar::Unsigned(7));
    /// assert_eq!(x.to_string(), "u8[3]{0} {7, 2, 3}");
    /// ```
    ///
    /// # Panics
    /// If memory of another owner has fewer bytes than the array, or is not aligned for its
    /// elements.
    pub fn in_memory(shape: Arc<ArrayShape>, memory: FreeMemory) -> Self {
        let buffer = Buffer::reused(memory, size(&shape));
        assert!(is_aligned(&shape, &buffer), "the memory is aligned for the elements");
        Self::new(shape, buffer)
    }
    /// Returns an array in foreign memory; dropping `owner`, when the last clone of the array is
    /// dropped, releases it. The memory is read-only: changing the array copies it. `None` if its
    /// length is not that of the shape, or it is not aligned for the elements.
    ///
    /// ```
    /// let shape = hlo::ArrayShape::new(hlo::ElementType::U8, [3].as_slice());
    /// let x = hlo::Array::from_owner(shape, vec![1u8, 2, 3]).unwrap();
    /// assert_eq!(x.to_string(), "u8[3]{0} {1, 2, 3}");
    /// ```
    pub fn from_owner(
        shape: impl Into<Arc<ArrayShape>>,
        owner: impl AsRef<[u8]> + Send + Sync + 'static,
    ) -> Option<Self> {
        let shape = shape.into();
        let buffer = Buffer::foreign(Box::new(owner));
        let fits = shape.byte_count() == Some(buffer.len()) && is_aligned(&shape, &buffer);
        fits.then(|| Self::new(shape, buffer))
    }
    /// Returns an array of these bytes, little-endian and row-major; `None` if their number is not
    /// that of the shape.
    pub fn from_bytes(shape: impl Into<Arc<ArrayShape>>, bytes: &[u8]) -> Option<Self> {
        let shape = shape.into();
        if shape.byte_count() != Some(bytes.len()) {
            return None;
        }
        let mut array = Self::zeros(shape);
        array.bytes_mut().copy_from_slice(bytes);
        Some(array)
    }

    /// Returns the shape. Its sizes are bounds if there are [dynamic sizes](Array::dynamic_sizes).
    #[inline]
    pub fn shape(&self) -> &ArrayShape {
        &self.shape
    }
    /// Returns the shape, to be shared with other arrays.
    pub fn shared_shape(&self) -> &Arc<ArrayShape> {
        &self.shape
    }
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        self.bytes().len() / self.shape.ty.storage_bytes()
    }
    /// Returns whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.bytes().is_empty()
    }
    /// Returns the bytes of the elements, little-endian and row-major.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        self.buffer.bytes()
    }
    /// Returns the bytes of the elements mutably; copies them first if they are shared or foreign.
    /// A copy is charged to no account.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        if self.buffer.is_foreign() {
            self.buffer = Arc::new(Buffer::clone(&self.buffer));
        }
        Arc::make_mut(&mut self.buffer).bytes_mut().expect("owned and not shared")
    }
    /// Returns element `i` in row-major order.
    ///
    /// # Panics
    /// If there are not more than `i` elements.
    #[inline]
    pub fn get(&self, i: usize) -> Scalar {
        let width = self.shape.ty.storage_bytes();
        Scalar::read(self.shape.ty, &self.bytes()[i * width..(i + 1) * width])
    }
    /// Changes element `i` in row-major order; copies the elements first if they are shared or
    /// foreign.
    ///
    /// # Panics
    /// If there are not more than `i` elements, or the value is of another class than the type.
    pub fn set(&mut self, i: usize, value: Scalar) {
        let (ty, width) = (self.shape.ty, self.shape.ty.storage_bytes());
        value.write(ty, &mut self.bytes_mut()[i * width..(i + 1) * width]);
    }
    /// Returns the same bytes with another shape of the same size in bytes: other dimensions,
    /// layout, or type of the same width. Dynamic sizes are kept if the bounds are.
    ///
    /// # Panics
    /// If the new shape has another number of bytes.
    #[must_use]
    pub fn with_shape(&self, shape: impl Into<Arc<ArrayShape>>) -> Self {
        let (shape, old) = (shape.into(), &self.shape);
        assert_eq!(old.byte_count(), shape.byte_count(), "{old} and {shape} differ in size");
        let dynamic_sizes = self.dynamic_sizes.clone().filter(|_| old.dims == shape.dims);
        Self { shape, buffer: Arc::clone(&self.buffer), dynamic_sizes }
    }

    /// Returns whether the memory can be written to without a copy.
    pub fn is_unique(&mut self) -> bool {
        Arc::get_mut(&mut self.buffer).and_then(Buffer::bytes_mut).is_some()
    }
    /// Charges the memory to `account`, which has reserved it, and no longer to another one.
    /// Returns the number of bytes; `None` if nothing changes: the memory is shared, foreign, or
    /// charged to this account already.
    pub fn charge_to(&mut self, account: &Arc<dyn Account>) -> Option<usize> {
        let buffer = Arc::get_mut(&mut self.buffer)?;
        buffer.charge_to(account).then(|| buffer.len())
    }
    /// Returns the same array in its own memory, charged to no account.
    #[must_use]
    pub fn copied(&self) -> Self {
        Self { buffer: Arc::new(Buffer::clone(&self.buffer)), ..self.clone() }
    }
    /// Returns the same array in this memory, charged to no account.
    ///
    /// # Panics
    /// As [`Array::in_memory`].
    #[must_use]
    pub fn copied_to(&self, memory: FreeMemory) -> Self {
        let mut copy = Self::in_memory(Arc::clone(&self.shape), memory);
        copy.bytes_mut().copy_from_slice(self.bytes());
        Self { dynamic_sizes: self.dynamic_sizes.clone(), ..copy }
    }
    /// Returns whether the elements are in memory of this crate, not in that of another owner.
    pub fn has_own_memory(&self) -> bool {
        self.buffer.is_own()
    }
    /// Returns an array of another shape in the memory of this one, with arbitrary elements; `None`
    /// if the memory is shared, foreign, or of another size.
    pub fn recycled(mut self, shape: &Arc<ArrayShape>) -> Option<Self> {
        let is_free = Some(self.buffer.len()) == shape.byte_count() && self.is_unique();
        is_free.then(|| Self { shape: Arc::clone(shape), buffer: self.buffer, dynamic_sizes: None })
    }
}

fn is_aligned(shape: &ArrayShape, buffer: &Buffer) -> bool {
    buffer.bytes().as_ptr().addr().is_multiple_of(shape.ty.storage_bytes())
}

fn size(shape: &ArrayShape) -> usize {
    shape.byte_count().expect("the array fits the memory")
}

impl PartialEq for Array {
    /// Compares type, dimensions, sizes and bits, but not layouts and padding.
    fn eq(&self, other: &Self) -> bool {
        let (a, b) = (&self.shape, &other.shape);
        if a.ty != b.ty || a.dims != b.dims || self.dynamic_sizes != other.dynamic_sizes {
            return false;
        }
        match self.dynamic_sizes {
            None => self.bytes() == other.bytes(),
            Some(_) => self.to_static().bytes() == other.to_static().bytes(),
        }
    }
}
