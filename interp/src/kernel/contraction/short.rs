//! The product of two short vectors of f32: loops over small arrays have many.
use super::error::Error;
use super::numbers::single;
use hlo::{ElementType, Literal};

/// The longest vectors.
pub(in crate::kernel) const SHORT: usize = 64;

/// The sum of products of vectors of f32, correctly rounded; `None` if the bound of its error leaves that open.
pub(in crate::kernel) fn short_product(lhs: &Literal, rhs: &Literal) -> Option<f32> {
    let (lhs, rhs) = (lhs.as_slice::<f32>()?, rhs.as_slice::<f32>()?);
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
