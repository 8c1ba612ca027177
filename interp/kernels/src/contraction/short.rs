//! The product of two short vectors of f32: loops over small arrays have many.
use super::error_bound::ErrorBound;
use super::operands::single;
use hlo::op::Dot;
use hlo::op::value::DotAlgorithm;
use hlo::{ArrayShape, ElementType};
use num::Arithmetic;

/// The longest vectors.
const SHORT: usize = 64;

/// Returns whether a `dot` is the product of two short vectors of f32.
pub fn is_short(op: &Dot, operands: &[&ArrayShape], result: &ArrayShape) -> bool {
    let is_short_vector = |x: &&ArrayShape| {
        x.ty == ElementType::F32
            && x.rank() == 1
            && x.element_count().is_some_and(|count| count <= SHORT)
    };
    operands.iter().all(is_short_vector)
        && (result.ty, result.rank()) == (ElementType::F32, 0)
        && op.algorithm == DotAlgorithm::Unset
}

/// Returns the sum of products of vectors of f32. In `exact` arithmetic it is correctly rounded,
/// and `None` if the bound of its error leaves that open.
pub fn short_product(lhs: &[f32], rhs: &[f32], arithmetic: Arithmetic) -> Option<f32> {
    if arithmetic == Arithmetic::Fast {
        // A sum of products begins with +0.
        let mut products = [0.0; 1 + SHORT];
        let products = &mut products[..=lhs.len()];
        for ((product, &a), &b) in products[1..].iter_mut().zip(lhs).zip(rhs) {
            *product = f64::from(a) * f64::from(b);
        }
        return Some(single(in_halves(products, |a, b| a + b)));
    }
    let (mut sum, mut magnitude) = (0.0, 0.0);
    for (&a, &b) in lhs.iter().zip(rhs) {
        let product = f64::from(a) * f64::from(b);
        sum += product;
        magnitude += product.abs();
    }
    if magnitude == 0.0 {
        return Some(0.0);
    }
    let [low, high] =
        ErrorBound::new(lhs.len(), ElementType::F32).plain(sum, magnitude)?.map(single);
    (low.to_bits() == high.to_bits() && low.is_finite()).then_some(low)
}

/// Returns the sum of all terms, of which there is at least one: of one half and the other, so that
/// few additions wait for each other.
pub fn in_halves<T: Copy>(terms: &mut [T], mut plus: impl FnMut(T, T) -> T) -> T {
    let mut count = terms.len();
    while count > 1 {
        let half = count.div_ceil(2);
        for i in 0..count - half {
            terms[i] = plus(terms[i], terms[half + i]);
        }
        count = half;
    }
    terms[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_have_every_term_once() {
        for count in 1..=1 + SHORT {
            let mut terms: Vec<u64> = (0..count).map(|i| 1 << (i % 60) << (i / 60)).collect();
            let expected: u64 = terms.iter().sum();
            assert_eq!(in_halves(&mut terms, |a, b| a + b), expected, "{count} terms");
        }
    }

    #[test]
    fn exact_sums_are_the_same_in_both_arithmetics() {
        for count in 0..=SHORT {
            let numbers = |seed: usize| -> Vec<f32> {
                let number = |i: usize| i8::try_from((i * seed + 5) % 23).expect("a small number");
                (0..count).map(|i| f32::from(number(i)) - 11.0).collect()
            };
            let (a, b) = (numbers(7), numbers(4));
            let [exact, fast] =
                [Arithmetic::Exact, Arithmetic::Fast].map(|way| short_product(&a, &b, way));
            assert_eq!(exact.map(f32::to_bits), fast.map(f32::to_bits), "{count} terms");
        }
    }
}
