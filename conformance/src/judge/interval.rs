//! Intervals of real numbers, with the values that a float may have besides: infinities and NaN.
use hlo::ElementType;
use std::ops::Neg;

/// The legal values of an element: all reals from `lo` to `hi`.
///
/// - Equal ends are a *point*: one value is legal, and its sign of zero counts.
/// - NaN at both ends: NaN is the only legal value. The sign is that of the ends, or open:
///   [`Interval::NAN`].
/// - An infinite end: that infinity is legal, and every finite value on the near side of the other
///   end.
/// - Both ends infinite: nothing is known, and NaN is legal too.
/// - The ends of any other interval are not legal values themselves: every operation rounds them
///   outwards. An `f64` can then be judged exactly although the ends have no more digits than the
///   value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Interval {
    pub(super) lo: f64,
    pub(super) hi: f64,
}

impl Interval {
    pub(super) const ANY: Self = Self { lo: f64::NEG_INFINITY, hi: f64::INFINITY };
    /// A NaN of either sign, as a computation may give. Its payload is that of no narrower type.
    pub(super) const NAN: Self = Self::point(f64::from_bits(0x7ff8_0000_0000_0001));
    /// Both zeros, and nothing between.
    pub(super) const ZEROS: Self = Self { lo: -0.0, hi: 0.0 };

    pub(super) const fn point(x: f64) -> Self {
        Self { lo: x, hi: x }
    }
    /// Returns the value of an operation that gave `x`, rounded to nearest unless it is exact. Zero
    /// keeps its sign.
    pub(super) fn rounded(x: f64, exact: bool) -> Self {
        if exact || !x.is_finite() || x == 0.0 { Self::point(x) } else { Self::open(x, x) }
    }
    /// Returns the interval with ends one step further out: both were rounded, or are legal.
    pub(super) fn open(lo: f64, hi: f64) -> Self {
        if lo.is_nan() || hi.is_nan() {
            Self::ANY
        } else if lo.is_infinite() && lo == hi {
            Self::point(lo)
        } else {
            Self { lo: lo.next_down(), hi: hi.next_up() }
        }
    }
    /// As [`Self::open`], of ends that are legal values: equal ends are a point, two zeros are
    /// [`Self::ZEROS`].
    pub(super) fn closed(lo: f64, hi: f64) -> Self {
        if lo.to_bits() == hi.to_bits() {
            Self::point(lo)
        } else if lo == 0.0 && hi == 0.0 {
            Self::ZEROS
        } else {
            Self::open(lo, hi)
        }
    }
    /// Returns the values of either.
    pub(super) fn hull(self, other: Self) -> Self {
        match (self.is_nan(), other.is_nan()) {
            (true, true) if self.same(other) => self,
            (true, true) => Self::NAN,
            (true, false) | (false, true) => Self::ANY,
            (false, false) if self.same(other) => self,
            (false, false) => {
                // -0 is below 0.
                let lo = if self.lo.total_cmp(&other.lo).is_le() { self.lo } else { other.lo };
                let hi = if self.hi.total_cmp(&other.hi).is_ge() { self.hi } else { other.hi };
                let hull = Self::closed(lo, hi);
                if lo.to_bits() == 0 { hull.not_negative() } else { hull }
            }
        }
    }
    /// Returns whether both have the same ends, the sign of zero included.
    pub(super) fn same(self, other: Self) -> bool {
        let bits = |x: Self| (x.lo.to_bits(), x.hi.to_bits());
        bits(self) == bits(other)
    }
    pub(super) fn is_point(self) -> bool {
        self.lo.to_bits() == self.hi.to_bits() || self.is_nan()
    }
    pub(super) fn is_nan(self) -> bool {
        self.lo.is_nan() || self.hi.is_nan()
    }
    /// Returns whether it is 0, of either sign.
    pub(super) fn is_zero(self) -> bool {
        self.lo == 0.0 && self.hi == 0.0
    }
    /// Returns whether it is a NaN of either sign, whose place in the total order is open.
    pub(super) fn has_open_sign(self) -> bool {
        self.same(Self::NAN)
    }
    /// Returns whether nothing is known of the value.
    pub(super) fn is_any(self) -> bool {
        self.lo == f64::NEG_INFINITY && self.hi == f64::INFINITY
    }
    pub(super) fn is_finite(self) -> bool {
        self.lo.is_finite() && self.hi.is_finite()
    }
    /// Returns whether it has all values of another interval.
    pub(super) fn encloses(self, x: Self) -> bool {
        let is_inside = self.lo <= x.lo && x.hi <= self.hi;
        let is_strict = self.lo < x.lo && x.hi < self.hi;
        // Of both zeros, nothing is between.
        let is_open = !self.is_point() && !self.is_zero();
        self.is_any() || self.same(x) || (is_open && is_inside && (is_strict || !x.is_point()))
    }
    pub(super) fn mid(self) -> f64 {
        if self.is_point() { self.lo } else { self.lo / 2.0 + self.hi / 2.0 }
    }
    /// Returns the distance of the ends from [`Self::mid`], rounded up.
    pub(super) fn radius(self) -> f64 {
        if self.is_point() {
            return 0.0;
        }
        let mid = self.mid();
        let radius = (self.hi - mid).max(mid - self.lo);
        if radius.is_nan() { f64::INFINITY } else { radius.next_up() }
    }
    /// Returns an interval whose ends were rounded outwards with those that need no rounding. The
    /// numbers of a narrower type that are nearest to its values are then no others. In `f64` an end
    /// is itself the nearest one to values beside it, and stays outside of the interval.
    fn with_ends(self, lo: Option<f64>, hi: Option<f64>, ty: ElementType) -> Self {
        match self.is_finite() && !self.is_point() && ty != ElementType::F64 {
            true => Self { lo: lo.unwrap_or(self.lo), hi: hi.unwrap_or(self.hi) },
            false => self,
        }
    }
    pub(super) fn max_abs(self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }
    /// Returns the interval widened by `r` to both sides.
    pub(super) fn widened(self, r: f64) -> Self {
        if r > 0.0 && !self.is_nan() {
            // Infinities that all evaluations give stay what they are.
            if self.is_point() && self.lo.is_infinite() {
                return self;
            }
            return Self::open(self.lo - r, self.hi + r);
        }
        self
    }
    /// Returns the values of a result that is never negative.
    pub(super) fn not_negative(self) -> Self {
        if self.is_point() || self.is_any() || self.lo > 0.0 {
            return self;
        }
        // A value of 0 is legal at a lower end of 0.
        Self { lo: 0.0, hi: self.hi.max(0.0) }
    }
    /// Returns the values with the sign that those of another interval have.
    pub(super) fn signed_as(self, other: Self) -> Self {
        if other.same(Self::ZEROS) {
            self
        } else if other.lo >= 0.0 {
            self.not_negative()
        } else if other.hi <= 0.0 {
            -(-self).not_negative()
        } else {
            self
        }
    }
    /// Returns the values that are in another interval of finite numbers, too.
    pub(super) fn cut_to(self, other: Self) -> Self {
        if self.is_point() || self.is_nan() || !other.is_finite() {
            return self;
        }
        if self.is_any() {
            return other;
        }
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        if lo <= hi { Self { lo, hi } } else { self }
    }
    /// As [`Self::within`], of values that are rounded to a type narrower than `f64`: the ends of the
    /// range are not left by a bit.
    pub(super) fn cut_off(self, lo: f64, hi: f64) -> Self {
        match self.is_nan() || self.is_any() || self.is_point() {
            true => self.within(lo, hi),
            false => Self { lo: self.lo.clamp(lo, hi), hi: self.hi.clamp(lo, hi) },
        }
    }
    /// Returns the values not below `lo` and not above `hi`, if there are any.
    pub(super) fn raised_to(self, lo: f64, hi: f64) -> Self {
        let cut = Self { lo: self.lo.max(lo), hi: self.hi.min(hi) };
        if self.is_point() || self.is_any() || cut.lo >= cut.hi { self } else { cut }
    }
    /// Returns the values of this interval in a range that the function never leaves.
    pub(super) fn within(self, lo: f64, hi: f64) -> Self {
        if self.is_nan() || self.is_any() {
            return self;
        }
        let (low, high) = (self.lo.max(lo), self.hi.min(hi));
        // An end of the range may be legal, and a lower end of 0 is.
        let end = |cut: f64, own: f64, out: f64| if cut == own || cut == 0.0 { cut } else { out };
        if self.is_point() {
            return Self::point(low.min(hi));
        }
        Self { lo: end(low, self.lo, low.next_down()), hi: end(high, self.hi, high.next_up()) }
    }
}

impl Neg for Interval {
    type Output = Self;
    fn neg(self) -> Self {
        Self { lo: -self.hi, hi: -self.lo }
    }
}

impl Interval {
    /// Returns the sum, which is rounded to a type.
    pub(super) fn plus(self, y: Self, ty: ElementType) -> Self {
        if self.is_nan() || y.is_nan() {
            return Self::NAN;
        }
        if self.is_point() && y.is_point() {
            let sum = self.lo + y.lo;
            let back = sum - self.lo;
            let error = (self.lo - (sum - back)) + (y.lo - back);
            return Self::rounded(sum, error == 0.0);
        }
        let sum = Self::open(self.lo + y.lo, self.hi + y.hi);
        let exactly = |a: f64, b: f64| {
            let sum = a + b;
            let back = sum - a;
            (a != 0.0 && b != 0.0 && (a - (sum - back)) + (b - back) == 0.0).then_some(sum)
        };
        let sum = sum.with_ends(exactly(self.lo, y.lo), exactly(self.hi, y.hi), ty);
        if self.lo >= 0.0 && y.lo >= 0.0 { sum.not_negative() } else { sum }
    }
}

impl std::ops::Add for Interval {
    type Output = Self;
    fn add(self, y: Self) -> Self {
        self.plus(y, ElementType::F64)
    }
}

impl std::ops::Sub for Interval {
    type Output = Self;
    fn sub(self, y: Self) -> Self {
        // Not `self + (-y)`: 0 - 0 and 0 + -0 agree, but a NaN of -y would not be one of y.
        self + (-y)
    }
}

impl Interval {
    /// Returns the product, which is rounded to a type.
    pub(super) fn times(self, y: Self, ty: ElementType) -> Self {
        if self.is_nan() || y.is_nan() {
            return Self::NAN;
        }
        if self.is_point() && y.is_point() {
            let product = self.lo * y.lo;
            let exact = self.lo.mul_add(y.lo, -product) == 0.0 && product.abs() > 1e-290;
            return Self::rounded(product, exact || self.lo == 0.0 || y.lo == 0.0);
        }
        let product = corners(self, y, |a, b| a * b);
        let pairs = [(self.lo, y.lo), (self.lo, y.hi), (self.hi, y.lo), (self.hi, y.hi)];
        let products = pairs.iter().map(|(a, b)| a * b);
        let exactly = |end: f64| {
            let mut own = pairs.iter().filter(|(a, b)| a * b == end);
            (end.abs() > 1e-290 && own.all(|(a, b)| a.mul_add(*b, -end) == 0.0)).then_some(end)
        };
        let (lo, hi) = (products.clone().reduce(f64::min), products.reduce(f64::max));
        let product = product.with_ends(lo.and_then(exactly), hi.and_then(exactly), ty);
        if self.lo >= 0.0 && y.lo >= 0.0 { product.not_negative() } else { product }
    }
}

impl std::ops::Mul for Interval {
    type Output = Self;
    fn mul(self, y: Self) -> Self {
        self.times(y, ElementType::F64)
    }
}

impl Interval {
    /// Returns the quotient, which is rounded to a type.
    pub(super) fn over(self, y: Self, ty: ElementType) -> Self {
        if self.is_nan() || y.is_nan() {
            return Self::NAN;
        }
        if self.is_point() && y.is_point() {
            let quotient = self.lo / y.lo;
            let exact = quotient.mul_add(y.lo, -self.lo) == 0.0 && quotient.abs() > 1e-290;
            return Self::rounded(quotient, exact || self.lo == 0.0);
        }
        if y.lo > 0.0 || y.hi < 0.0 {
            let quotient = corners(self, y, |a, b| a / b);
            let pairs = [(self.lo, y.lo), (self.lo, y.hi), (self.hi, y.lo), (self.hi, y.hi)];
            let exactly = |end: f64| {
                let mut own = pairs.iter().filter(|(a, b)| a / b == end);
                let is_exact = |(a, b): &(f64, f64)| end.mul_add(*b, -a) == 0.0;
                (end.abs() > 1e-290 && own.all(is_exact)).then_some(end)
            };
            let quotients = pairs.iter().map(|(a, b)| a / b);
            let (lo, hi) = (quotients.clone().reduce(f64::min), quotients.reduce(f64::max));
            let quotient = quotient.with_ends(lo.and_then(exactly), hi.and_then(exactly), ty);
            let positive = self.lo >= 0.0 && y.lo > 0.0;
            return if positive { quotient.not_negative() } else { quotient };
        }
        // The divisor may be 0. Infinities have one sign only if the zero has, and the dividend.
        let signs = (y.lo.is_sign_positive(), y.hi.is_sign_positive());
        let x = match signs {
            (true, true) => self,
            (false, false) => -self,
            (true, false) | (false, true) => return Self::ANY,
        };
        let most = y.max_abs();
        if x.lo > 0.0 {
            Self { lo: (x.lo / most).next_down(), hi: f64::INFINITY }
        } else if x.hi < 0.0 {
            Self { lo: f64::NEG_INFINITY, hi: (x.hi / most).next_up() }
        } else {
            Self::ANY
        }
    }
}

impl std::ops::Div for Interval {
    type Output = Self;
    fn div(self, y: Self) -> Self {
        self.over(y, ElementType::F64)
    }
}

/// Returns the values of a function that is monotone in each operand.
pub(super) fn corners(x: Interval, y: Interval, f: impl Fn(f64, f64) -> f64) -> Interval {
    let values = [f(x.lo, y.lo), f(x.lo, y.hi), f(x.hi, y.lo), f(x.hi, y.hi)];
    if values.iter().any(|v| v.is_nan()) {
        return Interval::ANY;
    }
    let lo = values.into_iter().fold(f64::INFINITY, f64::min);
    let hi = values.into_iter().fold(f64::NEG_INFINITY, f64::max);
    Interval::open(lo, hi)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_results_are_points() {
        let p = Interval::point;
        assert!((p(1.0) + p(2.0)).same(p(3.0)));
        assert!((p(1.5) * p(-2.0)).same(p(-3.0)));
        assert!((p(1.0) / p(4.0)).same(p(0.25)));
        assert!((p(1.0) / p(0.0)).same(p(f64::INFINITY)));
        assert!((p(f64::INFINITY) - p(f64::INFINITY)).is_nan());
        let third = p(1.0) / p(3.0);
        assert!(third.lo < 1.0 / 3.0 && third.hi > 1.0 / 3.0 && third.radius() < 1e-15);
    }

    #[test]
    fn a_divisor_that_may_be_zero() {
        let near = Interval { lo: -1e-9, hi: 1e-9 };
        assert!((Interval::point(1.0) / near).is_any());
        let above = Interval { lo: 0.0, hi: 2.0 };
        let ratio = Interval::point(1.0) / above;
        assert!(ratio.lo < 0.5 && ratio.lo > 0.49 && ratio.hi == f64::INFINITY);
    }

    #[test]
    fn hulls_and_ranges() {
        let [a, b] = [Interval::point(1.0), Interval::point(3.0)];
        assert!(a.hull(a).is_point());
        let both = a.hull(b);
        assert!(both.lo < 1.0 && both.hi > 3.0);
        assert!(both.within(-1.0, 1.0).hi > 1.0 && both.within(-1.0, 1.0).hi < 1.1);
        assert!(a.hull(Interval::NAN).is_any());
    }
}
