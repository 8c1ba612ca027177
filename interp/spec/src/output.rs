//! Results that are not one function of an index: several arrays, and arrays that are updated in
//! sequence.
use super::{Operand, Results, build, indices, pack, position, try_build};
use hlo::{ArrayShape, Dims, Literal, Scalar, Shape};
use num::Result;
use num::clock::Stop;
use num::index::to_usize;
use rayon::prelude::*;

/// The number of elements that are computed before they are stored.
const BLOCK: usize = 4096;

/// Builds the arrays of a result, which have the same dimensions: `element` returns the elements of
/// all of them at an index. One array is the result as it is, several are a tuple; `shape` says
/// which.
pub fn try_build_all(
    shape: &Shape,
    element: impl Fn(&[i64]) -> Result<Results> + Sync,
) -> Result<Literal> {
    let shapes: Vec<&ArrayShape> = shape.leaves().into_iter().filter_map(Shape::array).collect();
    let arrays = match shapes.as_slice() {
        &[shape] => vec![try_build(shape, |index| element(index).map(|values| values[0]))?],
        _ => {
            // Arrays of different types cannot be written by one parallel loop, so each block of
            // values is computed first.
            let mut arrays: Vec<Output> =
                shapes.iter().map(|&shape| Output::zeros(shape)).collect();
            let stop = Stop::current();
            let mut unvisited = indices(&shapes[0].dims);
            loop {
                let block: Vec<Dims> = unvisited.by_ref().take(BLOCK).collect();
                if block.is_empty() {
                    break;
                }
                let values = block.par_iter().map_init(|| stop.enter(), |_, index| element(index));
                let values: Vec<Result<Results>> = values.collect();
                for (index, values) in block.iter().zip(values) {
                    for (array, value) in arrays.iter_mut().zip(values?) {
                        array.set(index, value);
                    }
                }
            }
            arrays.into_iter().map(Output::into_literal).collect()
        }
    };
    Ok(pack(shape, arrays))
}

/// An array written by index, for results that are defined by a sequence of updates.
#[derive(Debug)]
pub struct Output {
    literal: Literal,
    shape: ArrayShape,
}

impl Output {
    /// Returns an array of zeros.
    pub fn zeros(shape: &ArrayShape) -> Self {
        Self::of(Literal::zeros(ArrayShape { dynamic: None, ..shape.clone() }))
    }
    /// Returns the elements of an array.
    pub fn of(literal: Literal) -> Self {
        let shape = literal.array_shape().expect("verified: an array").clone();
        Self { literal, shape }
    }
    /// Returns the elements of `array`, which has the dimensions of `shape`.
    pub fn copy_of(array: &Operand<'_>, shape: &ArrayShape) -> Self {
        Self::of(build(shape, |index| array.at(index)))
    }
    fn offset(&self, index: &[i64]) -> usize {
        debug_assert!(index.iter().zip(&self.shape.dims).all(|(i, size)| (0..*size).contains(i)));
        to_usize(position(&self.shape.dims, index))
    }
    /// Returns the element at `index`.
    pub fn at(&self, index: &[i64]) -> Scalar {
        self.literal.get(self.offset(index))
    }
    /// Replaces the element at `index` by a value of the array's type.
    pub fn set(&mut self, index: &[i64], value: Scalar) {
        let (offset, width) = (self.offset(index), self.shape.ty.storage_bytes());
        let slot = &mut self.literal.bytes_mut()[offset * width..(offset + 1) * width];
        value.write(self.shape.ty, slot);
    }
    /// Returns the array.
    pub fn into_literal(self) -> Literal {
        self.literal
    }
}
