//! Arrays as the pages read and build them: by index.
use crate::Result;
use crate::index::{strides, to_usize};
use hlo::{ArrayShape, Dims, Literal, Scalar};
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
