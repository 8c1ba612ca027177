//! Exponentials, logarithms, roots and powers.
use super::{Field, Roots};
use crate::discrete;
use crate::element::Element;
use crate::known::lock;
use crate::rational;
use crate::tower::{self, PRIMES, plane};
use std::sync::atomic::Ordering as Access;

/// The real number of exponentials that are too small for a float.
const LEAST: f64 = 1e-300;

impl Field {
    pub(crate) fn exponential(&self, x: Element) -> Element {
        if !x.is_finite() {
            let real = x.real.exp();
            return match real <= 0.0 {
                // Of an overflow it is one that is too small for a float.
                true if x.is_lost() => Element::NAN,
                true => Element::ZERO,
                false => Element::of_special([&x], real),
            };
        }
        if x.is_zero() {
            return Element::ONE;
        }
        if let Some(known) = self.exponentials.get(&x) {
            return Element { degree: known.degree.max(x.degree.min(1.0)), ..known };
        }
        // No exponential of a number is zero.
        let real = x.real.exp().max(LEAST);
        if !x.is_deep {
            // Without a level for the exponent: exp(-x) = 1 / exp(x) is left.
            self.is_shallow.store(true, Access::Relaxed);
            let of = if x.real < 0.0 { Self::negated(x) } else { x };
            let large = of.real.exp();
            let large = if x.real < 0.0 { large.min(1.0 / LEAST) } else { large };
            let value = self.oracle("exponential", &[of], large);
            let residues = [value.residues[0], 0];
            let value = Element { residues, is_deep: false, ..value.variable(&x) };
            let value = if x.real < 0.0 { self.inverse(value).variable(&x) } else { value };
            self.logarithms.insert(&value, x);
            return value;
        }
        let power = tower::power_at(self.base, x.residues[1], 0);
        // As an oracle, an exponential counts as a variable, and so do roots and powers.
        self.decide(&x);
        let result = Element { residues: [power, 0], is_deep: false, real, ..x.variable(&x) };
        let result = result.with_real(real);
        self.logarithms.insert(&result, x);
        result
    }
    pub(crate) fn logarithm(&self, x: Element) -> Element {
        let real = x.real.ln();
        if !x.is_finite() {
            return Element::of_special([&x], real);
        }
        if x.is_zero() {
            return self.at_zero(f64::NEG_INFINITY, &x);
        }
        if real.is_nan() {
            return self.outside(real, &x);
        }
        // How small it is, is not known.
        if x.real <= 2.0 * LEAST {
            return Element::NAN;
        }
        if x.is(&Element::ONE) {
            return Element::ZERO;
        }
        if let Some(known) = self.logarithms.get(&x) {
            return known;
        }
        // log(1 / x) = -log(x): an oracle of one of both.
        let inverse = self.inverse(x);
        if let Some(known) = self.logarithms.get(&inverse) {
            return Self::negated(known);
        }
        let oracle = match x.plane() <= inverse.plane() {
            true => self.oracle("log", &[x], real),
            false => Self::negated(self.oracle("log", &[inverse], -real)),
        };
        let [residue, other] = x.plane();
        if self.rules.roots != Roots::WithLogarithms || other != 0 {
            return oracle;
        }
        let Some(exponent) = discrete::logarithm(residue, self.base) else { return oracle };
        let residues = [oracle.residues[0], exponent];
        let result = Element { residues, is_upper: true, ..oracle };
        self.logarithms.insert(&x, result);
        self.exponentials.insert(&result, x);
        self.exponentials.insert(&Self::negated(result), inverse);
        result
    }
    /// Returns the square root. The root of a product is the product of the roots; that its square
    /// is the number is known of the number itself only, since half of the numbers have no root.
    pub(crate) fn root(&self, x: Element) -> Element {
        let real = x.real.sqrt();
        if !x.is_finite() {
            return Element::of_special([&x], real);
        }
        if x.is_zero() {
            return Element::ZERO;
        }
        if real.is_nan() {
            return self.outside(real, &x);
        }
        if let Some(root) = self.known_root(&x) {
            return root;
        }
        let result = self.residue_root(&x);
        self.squares.insert(&result, x);
        if self.rules.roots == Roots::InPlane {
            // The root of a product is learned from those of its factors.
            self.roots.insert(&x, result);
        }
        lock(&self.divisors).add_root(&x, &result);
        let half = rational::element((1, 2));
        self.logarithms.insert(&result, self.product(half, self.logarithm(x)));
        result
    }
    /// Returns the root of the square of a fraction, or of a number of which it is known.
    fn known_root(&self, x: &Element) -> Option<Element> {
        if let Some((n, d)) = rational::recognized(x)
            && let (Some(n), Some(d)) = (whole_root(n), whole_root(d))
        {
            return Some(rational::element((n, d)));
        }
        let variable = x.degree.min(1.0);
        self.roots.get(x).map(|root| Element { degree: root.degree.max(variable), ..root })
    }
    fn residue_root(&self, x: &Element) -> Element {
        self.decide(x);
        let real = x.real.sqrt();
        let of_plane = |residues| Element { residues, is_deep: false, ..*x };
        let is_in_plane = self.rules.roots == Roots::InPlane;
        let root = match x.is_deep && !is_in_plane {
            true => Element { residues: tower::root(x.residues), ..*x },
            false if is_in_plane || x.residues[1] != 0 => match plane::root(x.plane()) {
                Some(residues) => of_plane(residues),
                None => of_plane(self.hash("root", &[*x])),
            },
            false => of_plane([tower::root(x.residues)[0], 0]),
        };
        root.variable(x).with_real(real)
    }
    /// Learns the root of a product of positive numbers, if that of one is known.
    pub(super) fn learn_root(&self, product: &Element, factors: [&Element; 2]) {
        let [a, b] = factors.map(|x| self.roots.get(x));
        if (a.is_none() && b.is_none()) || factors.iter().any(|x| x.real <= 0.0) {
            return;
        }
        let root = |x: &Element| self.known_root(x).unwrap_or_else(|| self.residue_root(x));
        let [a, b] = factors.map(root);
        let (degree, divisor) = (a.degree + b.degree, a.divisor.with(b.divisor));
        let root = Element { degree, divisor, ..*product };
        let root = root.with_both([&a, &b], tower::multiply, plane::multiply);
        self.roots.insert(product, root.with_real(a.real * b.real));
    }
    pub(super) fn power(&self, x: Element, y: Element) -> Element {
        let real = x.real.powf(y.real);
        if y.is_zero() {
            return Element::ONE;
        }
        match rational::recognized(&y) {
            Some((n, 1)) if n.abs() <= 1024 => return self.logged(self.integer_power(x, n), x, y),
            Some((n, 2)) if n.abs() <= 1024 => {
                return self.logged(self.integer_power(self.root(x), n), x, y);
            }
            Some(_) | None => {}
        }
        if !x.is_finite() || !y.is_finite() || !real.is_finite() && x.is_zero() {
            let special = match x.is_finite() && y.is_finite() {
                true => self.at_zero(real, &x),
                false => Element::of_special([&x, &y], real),
            };
            return match real == 0.0 {
                true if x.is_sure() && y.is_sure() => Element::ZERO,
                true => Element::NAN,
                false => special,
            };
        }
        if x.is_zero() && real == 0.0 {
            return Element::ZERO;
        }
        if x.real < 0.0 || !y.is_deep || x.plane()[1] != 0 {
            return self.oracle("power", &[x, y], real);
        }
        // Of the square, which is in the group whose order is the second prime.
        let half = tower::multiply_at(y.residues[1], PRIMES[1] / 2 + 1, 1);
        let square = tower::multiply_at(x.residues[0], x.residues[0], 0);
        let residues = [tower::power_at(square, half, 0), 0];
        self.decide(&x);
        self.decide(&y);
        let of = if x.is_constant() { y } else { x };
        let power = Element { residues, is_deep: false, real, ..of.variable(&of) };
        self.logged(power.with_real(real), x, y)
    }
    /// Returns a power of a number, of which the logarithm is learned if it is positive.
    fn logged(&self, power: Element, x: Element, y: Element) -> Element {
        let is_even = rational::whole_of(&y).is_some_and(|n| n % 2 == 0);
        if power.is_finite() && (x.real > 0.0 || x.real < 0.0 && is_even) {
            self.logarithms.insert(&power, self.product(y, self.logarithm(self.absolute(x))));
        }
        power
    }
    fn integer_power(&self, x: Element, n: i64) -> Element {
        let mut result = Element::ONE;
        for bit in (0..64 - n.unsigned_abs().leading_zeros()).rev() {
            result = self.product(result, result);
            if n.unsigned_abs() >> bit & 1 == 1 {
                result = self.product(result, x);
            }
        }
        if n < 0 { self.quotient(Element::ONE, result) } else { result }
    }
}

fn whole_root(x: i64) -> Option<i64> {
    let root = u64::try_from(x).ok()?.isqrt();
    let root = i64::try_from(root).ok()?;
    (root * root == x).then_some(root)
}
