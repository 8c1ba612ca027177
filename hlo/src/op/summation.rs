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
    /// Returns the number for operands of these shapes. By default each output may depend on all of
    /// operand 0.
    fn terms(&self, operands: &[&Shape]) -> u64 {
        product(dims(operands, 0))
    }
    /// Returns the number of additions and multiplications for this many elements of the result.
    fn operations(&self, operands: &[&Shape], elements: f64) -> f64 {
        elements * float(self.terms(operands))
    }
}

impl Op {
    /// Returns the number of arithmetic operations on elements, for operands and a result of these
    /// shapes: an addition and a multiplication for each term of a product, one for each term of
    /// another sum, one for each element of other elementwise ops. An op that calls a computation
    /// for each element counts that as one operation.
    pub fn operations(&self, operands: &[&Shape], result: &Shape) -> f64 {
        let leaves = result.leaves().into_iter().filter_map(Shape::array);
        let elements = leaves.map(|array| product(array.dims.iter().copied())).max().unwrap_or(0);
        let is_empty =
            result.leaves().iter().any(|leaf| leaf.array().is_some_and(|a| a.dims.contains(&0)));
        let elements = if is_empty { 0.0 } else { float(elements) };
        match self.summation() {
            Some(op) => op.operations(operands, elements),
            None if self.opcode().is_elementwise() => elements,
            None => 0.0,
        }
    }

    /// Returns the number of terms of the sum for each element of the result, for operands of these
    /// shapes; 0 for an op without sums. For a collective op it is the number that each device
    /// contributes.
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
    fn operations(&self, operands: &[&Shape], elements: f64) -> f64 {
        2.0 * elements * float(self.terms(operands))
    }
}
impl Summation for RaggedDot {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        picked(dims(operands, 0), &self.lhs_contracting_dims)
    }
    fn operations(&self, operands: &[&Shape], elements: f64) -> f64 {
        2.0 * elements * float(self.terms(operands))
    }
}
impl Summation for ScaledDot {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        picked(dims(operands, 0), &self.lhs_contracting_dims)
    }
    fn operations(&self, operands: &[&Shape], elements: f64) -> f64 {
        2.0 * elements * float(self.terms(operands))
    }
}
impl Summation for Convolution {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        let features = picked(dims(operands, 1), &[self.dim_labels.rhs_input_feature]);
        features.saturating_mul(product(self.window.dims.iter().map(|d| d.size)))
    }
    fn operations(&self, operands: &[&Shape], elements: f64) -> f64 {
        2.0 * elements * float(self.terms(operands))
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
    /// Returns 5 n log2(n) for the transform of n numbers, as is usual.
    fn operations(&self, operands: &[&Shape], elements: f64) -> f64 {
        5.0 * elements * float(self.terms(operands)).log2()
    }
}
/// n terms in each of n steps, which propagate their errors.
impl Summation for Cholesky {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        matrix(operands)
    }
    /// Returns a third of n^3 for each matrix.
    fn operations(&self, operands: &[&Shape], elements: f64) -> f64 {
        elements * float(matrix(operands)).sqrt() / 3.0
    }
}
impl Summation for TriangularSolve {
    fn terms(&self, operands: &[&Shape]) -> u64 {
        matrix(operands)
    }
    /// Returns n additions and multiplications for each element, half of them with zeros.
    fn operations(&self, operands: &[&Shape], elements: f64) -> f64 {
        elements * float(matrix(operands)).sqrt()
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
/// Only the target knows how many operations it is.
impl Summation for CustomCall {
    fn operations(&self, _: &[&Shape], _: f64) -> f64 {
        0.0
    }
}
/// Its operations are those of the computation that it calls.
impl Summation for Scan {
    fn operations(&self, _: &[&Shape], _: f64) -> f64 {
        0.0
    }
}
/// One for each update.
impl Summation for Scatter {
    fn operations(&self, operands: &[&Shape], _: f64) -> f64 {
        float(product(dims(operands, operands.len().saturating_sub(1))))
    }
}

/// Sizes are exact up to 2^53.
#[expect(clippy::cast_precision_loss, clippy::as_conversions, reason = "an estimate")]
fn float(n: u64) -> f64 {
    n as f64
}
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
