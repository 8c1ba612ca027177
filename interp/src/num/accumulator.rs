//! Sums wider than the type they are rounded to.
//!
//! Products of two floats of 32 bits or fewer are exact in f64, and so are short sums of them; sums of f64 carry what
//! rounding left out (Neumaier's variant of Kahan's summation), and products of f64 their own rounding error. The
//! result is then rounded once.

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
    /// A sum and what rounding has left out of it so far.
    #[inline]
    pub(crate) fn with_errors(sum: f64, lost: f64) -> Self {
        Self { sum, lost }
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
