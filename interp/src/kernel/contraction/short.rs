//! The product of two short vectors of f32: loops over small arrays have many.
use super::error::Error;
use super::numbers::single;
use crate::options::Arithmetic;
use hlo::op::Dot;
use hlo::op::value::DotAlgorithm;
use hlo::{ArrayShape, ElementType};

/// The longest vectors.
const SHORT: usize = 64;

/// Whether a `dot` is the product of two short vectors of f32.
pub(crate) fn is_short(op: &Dot, operands: &[&ArrayShape], result: &ArrayShape) -> bool {
    let is_short_vector = |x: &&ArrayShape| {
        x.ty == ElementType::F32
            && x.rank() == 1
            && x.element_count().is_some_and(|count| count <= SHORT)
    };
    operands.iter().all(is_short_vector)
        && (result.ty, result.rank()) == (ElementType::F32, 0)
        && op.algorithm == DotAlgorithm::Unset
}

/// The sum of products of vectors of f32. In `exact` arithmetic it is correctly rounded, and `None` if the bound of its error
/// leaves that open.
pub(crate) fn short_product(lhs: &[f32], rhs: &[f32], arithmetic: Arithmetic) -> Option<f32> {
    if arithmetic == Arithmetic::Fast {
        let products = lhs.iter().zip(rhs).map(|(&a, &b)| f64::from(a) * f64::from(b));
        return Some(single(products.fold(0.0, |sum, product| sum + product)));
    }
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for (&a, &b) in lhs.iter().zip(rhs) {
        let product = f64::from(a) * f64::from(b);
        sum += product;
        magnitude += product.abs();
    }
    if magnitude == 0.0 {
        // A sum of products begins with +0.
        return Some(0.0);
    }
    let [low, high] = Error::new(lhs.len(), ElementType::F32).plain(sum, magnitude)?.map(single);
    (low.to_bits() == high.to_bits() && low.is_finite()).then_some(low)
}
