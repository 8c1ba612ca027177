//! Arrays as the pages read and build them: by index.
use super::Results;
use crate::Result;
use crate::index::{strides, to_usize};
use hlo::{ArrayShape, Dims, Literal, Scalar, Shape};
use rayon::prelude::*;

/// Arrays of fewer elements are built on one thread.
const PARALLEL: usize = 4096;

/// An operand, read by index.
#[derive(Debug)]
pub(crate) struct Array<'a> {
    literal: &'a Literal,
    strides: Dims,
    /// Type, dimensions and layout.
    pub(crate) shape: &'a ArrayShape,
}

impl<'a> Array<'a> {
    /// # Panics
    /// If the literal is not an array; the verifier checks that.
    pub(crate) fn of(literal: &'a Literal) -> Self {
        let shape = literal.array_shape().expect("verified: an array");
        Self { literal, strides: strides(&shape.dims), shape }
    }
    /// Returns the element at `index`, one number per dimension.
    pub(crate) fn at(&self, index: &[i64]) -> Scalar {
        debug_assert_eq!(index.len(), self.shape.rank());
        debug_assert!(index.iter().zip(&self.shape.dims).all(|(i, size)| (0..*size).contains(i)));
        let offset: i64 = index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum();
        self.literal.get(to_usize(offset))
    }
    /// Returns the size of dimension `dim`.
    pub(crate) fn size(&self, dim: i64) -> i64 {
        self.shape.dims[to_usize(dim)]
    }
    /// Returns the number of dimensions.
    pub(crate) fn rank(&self) -> usize {
        self.shape.rank()
    }
}

/// Builds an array: `result[index] = element(index)`.
pub(crate) fn build(shape: &ArrayShape, element: impl Fn(&[i64]) -> Scalar + Sync) -> Literal {
    match try_build(shape, |index| Ok(element(index))) {
        Ok(result) => result,
        Err(error) => unreachable!("the elements do not fail: {error}"),
    }
}

/// Builds an array whose elements may fail; the error is that of the first element, in row-major order, that does.
pub(crate) fn try_build(
    shape: &ArrayShape,
    element: impl Fn(&[i64]) -> Result<Scalar> + Sync,
) -> Result<Literal> {
    let (width, ty) = (shape.ty.storage_bytes(), shape.ty);
    let shape = ArrayShape { dynamic: None, ..shape.clone() };
    let (strides, dims) = (strides(&shape.dims), shape.dims.clone());
    let mut result = Literal::zeros(shape);
    let compute = |(i, slot): (usize, &mut [u8])| {
        let mut rest = i;
        let index: Dims = (strides.iter().zip(&dims))
            .map(|(&stride, _)| {
                let (stride, before) = (to_usize(stride), rest);
                rest %= stride;
                crate::index::to_i64(before / stride)
            })
            .collect();
        element(&index).map(|value| value.write(ty, slot))
    };
    let bytes = result.bytes_mut();
    if bytes.len() / width < PARALLEL {
        bytes.chunks_exact_mut(width).enumerate().try_for_each(compute)?;
    } else {
        let outcome = bytes.par_chunks_exact_mut(width).enumerate().map(compute);
        let first = outcome.enumerate().filter_map(|(i, r)| r.err().map(|error| (i, error)));
        if let Some((_, error)) = first.min_by_key(|(i, _)| *i) {
            return Err(error);
        }
    }
    Ok(result)
}

/// Builds the arrays of a result, which have the same dimensions: `element` returns the elements of all of them at an
/// index. One array is the result as it is, several are a tuple; `shape` says which.
pub(crate) fn try_build_all(
    shape: &Shape,
    element: impl Fn(&[i64]) -> Result<Results> + Sync,
) -> Result<Literal> {
    let shapes: Vec<&ArrayShape> = shape.leaves().into_iter().filter_map(Shape::array).collect();
    let arrays = match shapes.as_slice() {
        &[shape] => vec![try_build(shape, |index| element(index).map(|values| values[0]))?],
        _ => {
            // Arrays of different types cannot be written side by side: values first, one block at a time.
            let mut arrays: Vec<Output> =
                shapes.iter().map(|&shape| Output::zeros(shape)).collect();
            let mut places = indices(&shapes[0].dims);
            loop {
                let block: Vec<Dims> = places.by_ref().take(PARALLEL).collect();
                if block.is_empty() {
                    break;
                }
                let values: Vec<Result<Results>> =
                    block.par_iter().map(|index| element(index)).collect();
                for (index, values) in block.iter().zip(values) {
                    for (array, value) in arrays.iter_mut().zip(values?) {
                        array.set(index, value);
                    }
                }
            }
            arrays.into_iter().map(Output::into_literal).collect()
        }
    };
    Ok(super::pack(shape, arrays))
}

/// An array that is written by index, where a result is defined by updates in an order.
#[derive(Debug)]
pub(crate) struct Output {
    literal: Literal,
    shape: ArrayShape,
    strides: Dims,
}

impl Output {
    /// An array of zeros.
    pub(crate) fn zeros(shape: &ArrayShape) -> Self {
        Self::of(Literal::zeros(ArrayShape { dynamic: None, ..shape.clone() }))
    }
    /// The elements of an array.
    pub(crate) fn of(literal: Literal) -> Self {
        let shape = literal.array_shape().expect("verified: an array").clone();
        Self { literal, strides: strides(&shape.dims), shape }
    }
    /// The elements of `array`, which has the dimensions of `shape`.
    pub(crate) fn copy_of(array: &Array<'_>, shape: &ArrayShape) -> Self {
        Self::of(build(shape, |index| array.at(index)))
    }
    fn offset(&self, index: &[i64]) -> usize {
        debug_assert!(index.iter().zip(&self.shape.dims).all(|(i, size)| (0..*size).contains(i)));
        to_usize(index.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum())
    }
    /// Returns the element at `index`.
    pub(crate) fn at(&self, index: &[i64]) -> Scalar {
        self.literal.get(self.offset(index))
    }
    /// Replaces the element at `index` by a value of the array's type.
    pub(crate) fn set(&mut self, index: &[i64], value: Scalar) {
        let (offset, width) = (self.offset(index), self.shape.ty.storage_bytes());
        let slot = &mut self.literal.bytes_mut()[offset * width..(offset + 1) * width];
        value.write(self.shape.ty, slot);
    }
    /// Returns the array.
    pub(crate) fn into_literal(self) -> Literal {
        self.literal
    }
}

/// Returns the indices of an array of these sizes in row-major order; of no dimensions, the one empty index.
pub(crate) fn indices(sizes: &[i64]) -> impl Iterator<Item = Dims> + use<> {
    let sizes = Dims::from_slice(sizes);
    let first = (!sizes.contains(&0)).then(|| Dims::from_elem(0, sizes.len()));
    std::iter::successors(first, move |index| {
        let mut next = index.clone();
        for d in (0..sizes.len()).rev() {
            next[d] += 1;
            if next[d] < sizes[d] {
                return Some(next);
            }
            next[d] = 0;
        }
        None
    })
}

/// Sets the components of `index` in the listed dimensions: `index[dims[i]] = values[i]`.
pub(crate) fn set(index: &mut [i64], dims: &[i64], values: &[i64]) {
    for (&dim, &value) in dims.iter().zip(values) {
        index[to_usize(dim)] = value;
    }
}
