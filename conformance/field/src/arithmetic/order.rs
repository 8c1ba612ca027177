//! The order of elements: that of their real numbers.
use super::Field;
use crate::element::Element;
use std::cmp::Ordering;
use std::sync::atomic::Ordering as Access;

/// The part of a real number by which an array may round it.
const LAST_DIGIT: f64 = 1.0 / 4_294_967_296.0;

/// The part by which the real numbers of a shaken field may differ although they are equal.
const SHAKEN: f64 = LAST_DIGIT * 64.0;

impl Field {
    /// Compares two elements by their real numbers; `None` if one is NaN. Where real numbers do not
    /// tell which is larger, a shaken field says the opposite, or that they are equal; of a NaN that
    /// no module states, as an overflow makes it, that it is larger.
    pub(crate) fn compare(&self, x: &Element, y: &Element) -> Option<Ordering> {
        if Self::are_lost(x, y) {
            self.is_unsure.store(true, Access::Relaxed);
            return match self.rules.shake {
                0 => None,
                1 => Some(Ordering::Less),
                2 => Some(Ordering::Equal),
                _ => Some(Ordering::Greater),
            };
        }
        let (order, is_sure) = self.order(x, y)?;
        let by_residues = x.residues.cmp(&y.residues);
        Some(match self.rules.shake {
            _ if is_sure => order,
            0 => by_residues,
            1 => by_residues.reverse(),
            _ => Ordering::Equal,
        })
    }
    /// Returns whether an element is a number. Of an overflow it is not known.
    pub(crate) fn is_finite(&self, x: &Element) -> bool {
        if !x.is_lost() {
            return x.is_finite();
        }
        self.is_unsure.store(true, Access::Relaxed);
        self.rules.shake == 1
    }
    /// Returns whether nothing is known of the order of two elements: one is NaN that no module
    /// states, or both are such infinities, as overflows make them.
    fn are_lost(x: &Element, y: &Element) -> bool {
        let are_equal = x.real.total_cmp(&y.real).is_eq();
        let is_nan = |x: &Element| x.real.is_nan() && x.is_lost();
        is_nan(x) || is_nan(y) || are_equal && x.is_lost() && y.is_lost()
    }
    /// Returns the order of two elements, and whether real numbers tell it.
    pub(crate) fn order(&self, x: &Element, y: &Element) -> Option<(Ordering, bool)> {
        self.decide(x);
        self.decide(y);
        if x.real.is_nan() || y.real.is_nan() {
            return None;
        }
        if x.is(y) {
            return Some((Ordering::Equal, true));
        }
        let size = x.real.abs().max(y.real.abs());
        let part = if self.is_shaken() { SHAKEN } else { LAST_DIGIT };
        let is_sure = !size.is_finite() || (x.real - y.real).abs() > size * part;
        if !is_sure {
            self.is_unsure.store(true, Access::Relaxed);
        }
        Some((x.real.total_cmp(&y.real).then(x.residues.cmp(&y.residues)), is_sure))
    }
    /// Returns the order of elements of a row, by number: a total one, which a shaken field has
    /// otherwise of elements whose order is not known.
    pub(crate) fn rank(&self, row: &[Element], i: usize, j: usize) -> Ordering {
        let (x, y) = (&row[i], &row[j]);
        let by_real = x.real.total_cmp(&y.real);
        let order = self.order(x, y).map_or(by_real, |(order, _)| order);
        if Self::are_lost(x, y) {
            self.is_unsure.store(true, Access::Relaxed);
            return if self.is_shaken() { self.mixed(i, j) } else { order };
        }
        let [a, b] = [x, y].map(|x| usize::try_from(x.key()).unwrap_or(0));
        match by_real.is_eq() && x.is_finite() && self.is_shaken() {
            true => self.mixed(a, b).then(order),
            false => order,
        }
    }
    /// Returns an order of numbers: in no two shaken fields are many numbers at the same places.
    fn mixed(&self, i: usize, j: usize) -> Ordering {
        match self.rules.shake {
            1 => j.cmp(&i),
            2 => i.reverse_bits().cmp(&j.reverse_bits()),
            _ => i.cmp(&j),
        }
    }
    pub(crate) fn maximum(&self, x: Element, y: Element) -> Element {
        match self.compare(&x, &y) {
            None => Element::of_special([&x, &y], f64::NAN),
            Some(Ordering::Less) => Self::chosen(y, &x),
            Some(_) => Self::chosen(x, &y),
        }
    }
    /// Returns the one of two numbers that was chosen: a constant beside a number that is none is one for
    /// these arguments only.
    fn chosen(x: Element, other: &Element) -> Element {
        if other.is_constant() || !x.is_finite() { x } else { x.varying() }
    }
    pub(crate) fn minimum(&self, x: Element, y: Element) -> Element {
        match self.compare(&x, &y) {
            None => Element::of_special([&x, &y], f64::NAN),
            Some(Ordering::Greater) => Self::chosen(y, &x),
            Some(_) => Self::chosen(x, &y),
        }
    }
}
