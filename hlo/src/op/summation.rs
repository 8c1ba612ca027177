//! The number of terms that an element of a result is summed from, of ops whose accuracy is `order`.
//!
//! It bounds the error of a sum in another order, and the work of the op.
use super::{
    AllReduce, AllReduceStart, BatchNormGrad, BatchNormInference, BatchNormTraining, Cholesky,
    Convolution, CustomCall, Dot, Fft, Op, RaggedDot, Reduce, ReduceScatter, ReduceWindow,
    ScaledDot, Scan, Scatter, SelectAndScatter, TriangularSolve,
};
use crate::Shape;

/// An op whose row says `order`. Empty dimensions count as 1, so that they do not hide the others.
pub(crate) trait Summation {
    /// For operands of these shapes. Each output of an op without a rule of its own may depend on all of operand 0.
    fn terms(&self, operands: &[&Shape]) -> u64 {
        product(dims(operands, 0))
    }
}

impl Op {
    /// Returns the terms that an element of the result is summed from, for operands of these shapes; 0 of an op that sums nothing.
    /// Of a collective op it is the number that each device contributes.
    pub fn terms(&self, operands: &[&Shape]) -> u64 {
        self.summation().map_or(0, |op| op.terms(operands))
    }
}

impl Summation for AllReduce {
    fn terms(&self, _: &[&Shape]) -> u64 {
        1
    }
}
impl Summation for AllReduceStart {
    fn terms(&self, _: &[&Shape]) -> u64 {
        1
    }
}
impl Summation for ReduceScatter {
    fn terms(&self, _: &[&Shape]) -> u64 {
        1
    }
}
impl Summation for Dot {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        picked(dims(operands, 0), &self.lhs_contracting_dims)
    }
}
impl Summation for RaggedDot {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        picked(dims(operands, 0), &self.lhs_contracting_dims)
    }
}
impl Summation for ScaledDot {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        picked(dims(operands, 0), &self.lhs_contracting_dims)
    }
}
impl Summation for Convolution {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        let features = picked(dims(operands, 1), &[self.dim_labels.rhs_input_feature]);
        features.saturating_mul(product(self.window.dims.iter().map(|d| d.size)))
    }
}
impl Summation for Reduce {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        picked(dims(operands, 0), &self.dimensions)
    }
}
impl Summation for ReduceWindow {
    fn terms(&self, _: &[&Shape]) -> u64 {
        product(self.window.dims.iter().map(|d| d.size))
    }
}
impl Summation for SelectAndScatter {
    fn terms(&self, _: &[&Shape]) -> u64 {
        product(self.window.dims.iter().map(|d| d.size))
    }
}
impl Summation for Fft {
    fn terms(&self, _: &[&Shape]) -> u64 {
        product(self.fft_length.iter().copied())
    }
}
/// n terms in each of n steps, which hand their errors on.
impl Summation for Cholesky {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        matrix(operands)
    }
}
impl Summation for TriangularSolve {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        matrix(operands)
    }
}
impl Summation for BatchNormInference {
    fn terms(&self, _: &[&Shape]) -> u64 {
        1
    }
}
impl Summation for BatchNormTraining {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        one_feature(operands, self.feature_index)
    }
}
impl Summation for BatchNormGrad {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        one_feature(operands, self.feature_index)
    }
}
impl Summation for CustomCall {}
impl Summation for Scan {}
impl Summation for Scatter {}

fn dims<'a>(operands: &[&'a Shape], i: usize) -> impl DoubleEndedIterator<Item = i64> + 'a {
    let array = operands.get(i).and_then(|shape| shape.array());
    array.into_iter().flat_map(|array| array.dims.iter().copied())
}
fn product(sizes: impl Iterator<Item = i64>) -> u64 {
    sizes.fold(1, |product, size| product.saturating_mul(size.max(1).unsigned_abs()))
}
/// Returns the product of the sizes of these dimensions.
fn picked(sizes: impl Iterator<Item = i64>, which: &[i64]) -> u64 {
    product((0i64..).zip(sizes).filter(|(d, _)| which.contains(d)).map(|(_, size)| size))
}
/// Returns the elements of each matrix of operand 0.
fn matrix(operands: &[&Shape]) -> u64 {
    product(dims(operands, 0).rev().take(2))
}
/// Returns the elements of one feature: all dimensions but that of the features.
fn one_feature(operands: &[&Shape], feature_index: i64) -> u64 {
    let others = (0i64..).zip(dims(operands, 0)).filter(|&(d, _)| d != feature_index);
    product(others.map(|(_, size)| size))
}
