//! The number of terms of the sum for each element of the result, for ops of accuracy `order`.
//!
//! It bounds the error of a sum in another order, and the work of the op.
use super::{
    AllReduce, AllReduceStart, BatchNormGrad, BatchNormInference, BatchNormTraining, Cholesky,
    Convolution, CustomCall, Dot, Fft, Op, RaggedDot, Reduce, ReduceScatter, ReduceWindow,
    ScaledDot, Scan, Scatter, SelectAndScatter, TriangularSolve,
};
use crate::Shape;

/// An op of accuracy `order`. Empty dimensions count as 1, so that the product of sizes is not 0.
pub(crate) trait Summation {
    /// Returns the number for operands of these shapes. By default each output may depend on all of operand 0.
    fn terms(&self, operands: &[&Shape]) -> u64 {
        product(dims(operands, 0))
    }
}

impl Op {
    /// Returns the number of terms of the sum for each element of the result, for operands of these shapes; 0 for an op
    /// without sums. For a collective op it is the number that each device contributes.
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
/// n terms in each of n steps, which propagate their errors.
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
/// Returns the number of elements of each matrix of operand 0.
fn matrix(operands: &[&Shape]) -> u64 {
    product(dims(operands, 0).rev().take(2))
}
/// Returns the number of elements of one feature: the product of all other dimensions.
fn one_feature(operands: &[&Shape], feature_index: i64) -> u64 {
    let others = (0i64..).zip(dims(operands, 0)).filter(|&(d, _)| d != feature_index);
    product(others.map(|(_, size)| size))
}
