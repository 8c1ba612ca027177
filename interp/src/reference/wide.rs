//! Sums wider than the type they are rounded to.
//!
//! Products of two floats of 32 bits or fewer are exact in f64, and so are short sums of them; sums of f64 carry what
//! rounding left out (Neumaier's variant of Kahan's summation), and products of f64 their own rounding error. The
//! result is then rounded once.
use hlo::{Class, ElementType, Literal, Scalar};

/// A running sum of f64 with its rounding errors beside it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sum {
    sum: f64,
    lost: f64,
}

impl Sum {
    #[inline]
    pub(crate) fn new(first: f64) -> Self {
        Self { sum: first, lost: 0.0 }
    }
    #[inline]
    pub(crate) fn add(&mut self, x: f64) {
        let sum = self.sum + x;
        // The error of the addition, exactly: Knuth's two-sum.
        let part = sum - self.sum;
        self.lost += (self.sum - (sum - part)) + (x - part);
        self.sum = sum;
    }
    /// Adds `a * b` without rounding the product.
    #[inline]
    pub(crate) fn add_product(&mut self, a: f64, b: f64) {
        let product = a * b;
        self.add(product);
        self.lost += a.mul_add(b, -product);
    }
    #[inline]
    pub(crate) fn value(self) -> f64 {
        // Where nothing was lost the sum is exact, and a negative zero stays one.
        if self.lost == 0.0 {
            return self.sum;
        }
        // An infinity or NaN leaves no error worth adding: it would turn an infinite sum into NaN.
        let whole = self.sum + self.lost;
        if self.sum.is_finite() && !whole.is_nan() { whole } else { self.sum }
    }
}

/// The elements of an array in a form that loses nothing.
#[derive(Debug)]
pub(super) enum Wide {
    /// Truth values and whole numbers, modulo 2^64.
    Whole(Vec<i64>, bool),
    /// Real floats, and whether f64 holds their products exactly.
    Real(Vec<f64>, bool),
    /// Complex numbers.
    Complex(Vec<(f64, f64)>),
}

impl Wide {
    pub(super) fn of(literal: &Literal) -> Self {
        let ty = literal.array_shape().expect("verified: an array").ty;
        let elements = (0..literal.len()).map(|i| literal.get(i));
        match ty.class() {
            Class::Pred | Class::Signed | Class::Unsigned => {
                Self::Whole(elements.map(Scalar::as_wrapping).collect(), ty == ElementType::Pred)
            }
            Class::Float => {
                Self::Real(elements.map(Scalar::as_f64).collect(), ty != ElementType::F64)
            }
            Class::Complex => Self::Complex(elements.map(pair).collect()),
        }
    }
    fn real(self) -> (Vec<f64>, bool) {
        match self {
            // Whole numbers beyond 2^53 are rounded: they meet floats only in mixed products.
            Self::Whole(elements, _) => {
                (elements.into_iter().map(|x| Scalar::Signed(x).as_f64()).collect(), false)
            }
            Self::Real(elements, narrow) => (elements, narrow),
            Self::Complex(elements) => (elements.into_iter().map(|(re, _)| re).collect(), false),
        }
    }
    fn complex(self) -> Vec<(f64, f64)> {
        match self {
            Self::Complex(elements) => elements,
            other => other.real().0.into_iter().map(|re| (re, 0.0)).collect(),
        }
    }
}

fn pair(scalar: Scalar) -> (f64, f64) {
    match scalar {
        Scalar::Complex(re, im) => (re, im),
        other => (other.as_f64(), 0.0),
    }
}

/// Two arrays whose elements are multiplied and added.
#[derive(Debug)]
pub(super) enum Products {
    /// Modulo 2^64; truth values as 0 and 1.
    Whole(Vec<i64>, Vec<i64>, bool),
    /// Floats of at most 32 bits: products are exact in f64.
    Narrow(Vec<f64>, Vec<f64>),
    /// f64: products and sums carry their errors.
    Real(Vec<f64>, Vec<f64>),
    /// Complex numbers, part by part.
    Complex(Vec<(f64, f64)>, Vec<(f64, f64)>),
}

impl Products {
    pub(super) fn new(lhs: Wide, rhs: Wide) -> Self {
        match (lhs, rhs) {
            (Wide::Whole(a, p), Wide::Whole(b, q)) => Self::Whole(a, b, p && q),
            (a @ Wide::Complex(_), b) | (a, b @ Wide::Complex(_)) => {
                Self::Complex(a.complex(), b.complex())
            }
            (a, b) => match (a.real(), b.real()) {
                ((a, true), (b, true)) => Self::Narrow(a, b),
                ((a, _), (b, _)) => Self::Real(a, b),
            },
        }
    }

    /// The sum of the products at these offsets, rounded once to `ty`.
    pub(super) fn sum(
        &self,
        terms: impl Iterator<Item = (usize, usize)>,
        ty: ElementType,
    ) -> Scalar {
        match self {
            Self::Whole(a, b, truth) => {
                let sum = terms.fold(0i64, |sum, (i, j)| sum.wrapping_add(a[i].wrapping_mul(b[j])));
                // Of truth values the sum is whether there is a pair of true ones, unless they are counted.
                let from = if *truth && ty == ElementType::Pred {
                    ElementType::U64
                } else {
                    ElementType::S64
                };
                Scalar::Signed(sum).convert(from, ty)
            }
            Self::Narrow(a, b) => {
                // Each product is exact, and the sum has 29 bits to spare over f32.
                let sum = terms.fold(0.0, |sum, (i, j)| sum + a[i] * b[j]);
                Scalar::Float(sum).convert(ElementType::F64, ty)
            }
            Self::Real(a, b) => {
                let mut sum = Sum::new(0.0);
                terms.for_each(|(i, j)| sum.add_product(a[i], b[j]));
                Scalar::Float(sum.value()).convert(ElementType::F64, ty)
            }
            Self::Complex(a, b) => {
                let (mut re, mut im) = (Sum::new(0.0), Sum::new(0.0));
                terms.for_each(|(i, j)| {
                    let ((a, b), (c, d)) = (a[i], b[j]);
                    re.add_product(a, c);
                    re.add_product(-b, d);
                    im.add_product(a, d);
                    im.add_product(b, c);
                });
                Scalar::Complex(re.value(), im.value()).convert(ElementType::C128, ty)
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact values are compared")]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_rounding_loses() {
        let mut sum = Sum::new(1e16);
        for _ in 0..10 {
            sum.add(1.0);
        }
        sum.add(-1e16);
        assert_eq!(sum.value(), 10.0);
        let mut dot = Sum::new(0.0);
        let x = 1.0 + f64::EPSILON;
        dot.add_product(x, x);
        dot.add(-1.0 - 2.0 * f64::EPSILON);
        assert_eq!(dot.value(), f64::EPSILON * f64::EPSILON);
    }

    #[test]
    fn negative_zero_stays() {
        let mut sum = Sum::new(-0.0);
        sum.add(-0.0);
        assert!(sum.value().is_sign_negative());
        sum.add(0.0);
        assert!(sum.value().is_sign_positive());
    }

    #[test]
    fn infinities_stay() {
        let mut sum = Sum::new(0.0);
        sum.add(f64::INFINITY);
        sum.add(1.0);
        assert_eq!(sum.value(), f64::INFINITY);
        sum.add(f64::NEG_INFINITY);
        assert!(sum.value().is_nan());
    }
}
