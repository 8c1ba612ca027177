//! Arrays that reference functions read and build by index.
//!
//! An index is a list of numbers, one for each dimension, the first being the most major. Layouts
//! do not affect any reference function but the one of `bitcast`.
use hlo::{ArrayShape, Dims, Literal, Scalar, Shape};
use num::Result;
use num::clock::Stop;
use num::index::{to_i64, to_usize};
use rayon::prelude::*;

/// Arrays of fewer elements are built on one thread.
const PARALLEL: usize = 4096;
/// Elements that a thread computes before it looks for others. An element may take long.
const PART: usize = 64;

/// An operand, read by index.
#[derive(Debug, Clone, Copy)]
pub struct Operand<'a> {
    /// Type, dimensions and layout. A dynamic dimension has its bound.
    pub shape: &'a ArrayShape,
    /// The size of each dimension at run time: at most that of `shape`.
    pub sizes: &'a [i64],
    bytes: &'a [u8],
}

impl<'a> Operand<'a> {
    /// # Panics
    /// If the literal is not an array; the verifier checks that.
    pub fn of(literal: &'a Literal) -> Self {
        let shape = literal.array_shape().expect("verified: an array");
        Self { shape, sizes: literal.sizes(), bytes: literal.bytes() }
    }
    /// Returns the element at `index`.
    pub fn at(&self, index: &[i64]) -> Scalar {
        debug_assert_eq!(index.len(), self.rank());
        debug_assert!(index.iter().zip(&self.shape.dims).all(|(i, size)| (0..*size).contains(i)));
        let width = self.shape.ty.storage_bytes();
        let offset = to_usize(position(&self.shape.dims, index)) * width;
        Scalar::read(self.shape.ty, &self.bytes[offset..offset + width])
    }
    /// Returns the element at `index` of an array of integers, for use as an index or a size. An
    /// unsigned one above `i64::MAX` is larger than every array and returned as `i64::MAX`.
    pub fn integer_at(&self, index: &[i64]) -> i64 {
        match self.at(index) {
            Scalar::Signed(value) => value,
            Scalar::Unsigned(value) => i64::try_from(value).unwrap_or(i64::MAX),
            other @ (Scalar::Pred(_) | Scalar::Float(_) | Scalar::Complex(..)) => {
                unreachable!("verified: an integer, not {other:?}")
            }
        }
    }
    /// Returns the size of dimension `dim`; of a dynamic dimension the bound.
    pub fn size(&self, dim: i64) -> i64 {
        self.shape.dims[to_usize(dim)]
    }
    /// Returns the number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.rank()
    }
}

/// Returns the number of the element at `index` in row-major order.
pub fn position(dims: &[i64], index: &[i64]) -> i64 {
    index.iter().zip(dims).fold(0, |position, (i, size)| position * size + i)
}

/// Returns the index of element number `position` in row-major order.
pub fn index_of(dims: &[i64], mut position: i64) -> Dims {
    let mut index = Dims::from_elem(0, dims.len());
    for (i, size) in index.iter_mut().zip(dims).rev() {
        *i = position % size;
        position /= size;
    }
    index
}

/// Builds an array: `result[index] = element(index)`.
pub fn build(shape: &ArrayShape, element: impl Fn(&[i64]) -> Scalar + Sync) -> Literal {
    match try_build(shape, |index| Ok(element(index))) {
        Ok(result) => result,
        Err(error) => unreachable!("the elements do not fail: {error}"),
    }
}

/// Builds an array whose elements may fail; the error is that of the first element, in row-major
/// order, that does.
pub fn try_build(
    shape: &ArrayShape,
    element: impl Fn(&[i64]) -> Result<Scalar> + Sync,
) -> Result<Literal> {
    filled(shape, &element)
}

fn filled(
    shape: &ArrayShape,
    element: &(dyn Fn(&[i64]) -> Result<Scalar> + Sync),
) -> Result<Literal> {
    let (ty, width) = (shape.ty, shape.ty.storage_bytes());
    let mut result = Literal::zeros(static_shape(shape));
    let stop = Stop::current();
    // Computes the elements from number `first` on, up to one that fails.
    let compute = |first: usize, slots: &mut [u8]| {
        let slots = slots.chunks_exact_mut(width).enumerate();
        slots.take_while(|_| !stop.is_set()).try_for_each(|(i, slot)| {
            let value = element(&index_of(&shape.dims, to_i64(first + i)))?;
            value.write(ty, slot);
            Ok(())
        })
    };
    let bytes = result.bytes_mut();
    if bytes.len() / width < PARALLEL {
        compute(0, bytes)?;
    } else {
        let parts = bytes.par_chunks_mut(width * PART).enumerate();
        let outcome = parts.map_init(
            || stop.enter(),
            |_, (number, part)| compute(number * PART, part).map_err(|error| (number, error)),
        );
        let errors = outcome.filter_map(std::result::Result::err);
        if let Some((_, error)) = errors.min_by_key(|(number, _)| *number) {
            return Err(error);
        }
    }
    Ok(result)
}

/// Returns the value itself, in the layouts of `shape`.
pub fn with_layout(value: &Literal, shape: &Shape) -> Literal {
    match shape {
        Shape::Array(array) => value.with_shape(static_shape(array)),
        Shape::Tuple(shapes) => {
            let elements = value.elements().expect("verified: a tuple");
            Literal::tuple(elements.iter().zip(shapes).map(|(e, s)| with_layout(e, s)).collect())
        }
        Shape::Token | Shape::Opaque | Shape::Buffer(_) => value.clone(),
    }
}

/// Returns the shape with bounds as sizes: a literal itself holds its dynamic sizes.
fn static_shape(shape: &ArrayShape) -> ArrayShape {
    ArrayShape { dynamic: None, ..shape.clone() }
}
