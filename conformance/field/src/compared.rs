//! The comparison of the results of two runs.
use crate::degree::degree_of;
use crate::element::{Element, read};
use crate::kernels::Number as _;
use crate::met::Met;
use crate::pair::Pair;
use hlo::{Array, Class, ElementType};
use std::collections::BTreeMap;

/// Real numbers agree within this part of them, and of a part of the largest number of the array.
pub(crate) const TOLERANCE: f64 = 1e-5;
/// The same where complex numbers are computed, of which arrays hold fewer digits.
pub(crate) const COMPLEX_TOLERANCE: f64 = 1e-3;

/// The part of the largest number of an array whose error an element may have, of floats and of
/// complex numbers.
const LARGEST: [f64; 2] = [1e-6, 1e-2];

/// What is left of numbers that cancel, which have 33 bits: of some around a hundred.
const CANCELLED: f64 = 3e-8;

/// An element that differs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) output: usize,
    pub(crate) element: usize,
    pub(crate) values: [f64; 2],
    /// Whether the residues differ.
    pub(crate) in_field: bool,
}

impl Place {
    pub(crate) fn at(&self) -> (usize, usize) {
        (self.output, self.element)
    }
}

/// Elements that depend on the last digits of numbers, and whether their residues do.
pub(crate) type Unstable = BTreeMap<(usize, usize), bool>;

/// The elements in which two results differ.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// Different in the field and in real numbers.
    pub(crate) different: Vec<Place>,
    /// Different in one of both.
    pub(crate) unknown: Vec<Place>,
    /// Infinite or NaN in one of both, or another of them in each.
    pub(crate) undefined: Vec<Place>,
    /// How many are infinite or NaN in one of both, or in both.
    pub(crate) special: usize,
}

impl Found {
    pub(crate) fn is_any(&self) -> bool {
        !self.different.is_empty() || !self.unknown.is_empty()
    }
    /// Returns whether residues differ.
    pub(crate) fn is_any_in_field(&self) -> bool {
        !self.different.is_empty() || self.unknown.iter().any(|place| place.in_field)
    }
    /// Returns whether real numbers differ.
    pub(crate) fn has_other_numbers(&self) -> bool {
        !self.different.is_empty() || self.unknown.iter().any(|place| !place.in_field)
    }
    /// Leaves out elements. Returns one that differs in the field whatever the last digits of numbers
    /// are.
    pub(crate) fn leave_out(&mut self, unstable: &Unstable) -> Option<Place> {
        let is_steady = |place: &&Place| unstable.get(&place.at()) == Some(&false);
        let steady = self.different.iter().find(is_steady).copied();
        for list in [&mut self.different, &mut self.unknown] {
            list.retain(|place| !unstable.contains_key(&place.at()));
        }
        steady
    }
    /// Returns the elements whose results differ.
    pub(crate) fn places(&self) -> impl Iterator<Item = &Place> {
        [&self.different, &self.unknown, &self.undefined].into_iter().flatten()
    }
    /// Compares two arrays of an output; returns the largest degree of an element, where one divisor
    /// of all has this degree.
    pub(crate) fn compare(
        &mut self,
        (output, ty): (usize, ElementType),
        [a, b]: [&Array; 2],
        bounds: [f64; 2],
        met: &mut Vec<Met>,
    ) -> f64 {
        match ty.class() {
            Class::Float => {
                let (a, b) = (read(a), read(b));
                self.parts((output, 1), a.iter().zip(&b), bounds, met)
            }
            Class::Complex => {
                let (a, b) = (Pair::read(a), Pair::read(b));
                let parts = a.iter().zip(&b).flat_map(|(x, y)| [(&x.0, &y.0), (&x.1, &y.1)]);
                self.parts((output, 2), parts, bounds, met)
            }
            Class::Pred | Class::Signed | Class::Unsigned => {
                for element in (0..a.len()).filter(|&i| a.get(i) != b.get(i)) {
                    let values = [a, b].map(|array: &Array| array.get(element).as_f64());
                    self.different.push(Place { output, element, values, in_field: true });
                }
                0.0
            }
        }
    }
    /// Compares floats, of which so many are one element.
    fn parts<'a>(
        &mut self,
        (output, each): (usize, usize),
        parts: impl Iterator<Item = (&'a Element, &'a Element)> + Clone,
        [tolerance, divisors]: [f64; 2],
        met: &mut Vec<Met>,
    ) -> f64 {
        met.resize(parts.clone().count(), Met::Unseen);
        let finite = |x: f64| if x.is_finite() { x.abs() } else { 0.0 };
        let largest = parts.clone().fold(0.0, |largest: f64, (x, _)| largest.max(finite(x.real)));
        let mut degree = 0.0_f64;
        for (at, (x, y)) in parts.enumerate() {
            degree = degree.max(degree_of(x, divisors)).max(degree_of(y, divisors));
            met[at].add(x, y);
            let (values, is_same) = ([x.real, y.real], x.is(y));
            let place = Place { output, element: at / each, values, in_field: !is_same };
            if !x.is_finite() || !y.is_finite() {
                self.special += 1;
                let are_known = match x.is_finite() || y.is_finite() {
                    true => x.is_sure() && y.is_sure(),
                    false => x.is_stated() && y.is_stated(),
                };
                match is_same {
                    true => {}
                    false if are_known => self.different.push(place),
                    false => self.undefined.push(place),
                }
                continue;
            }
            // Numbers that cancel leave the rounding errors of larger ones.
            let size = x.real.abs().max(y.real.abs()) + largest * LARGEST[each - 1];
            let is_near = (x.real - y.real).abs() <= tolerance * size + CANCELLED;
            match (is_same, is_near) {
                (true, true) => {}
                (false, false) => self.different.push(place),
                (true, false) | (false, true) => self.unknown.push(place),
            }
        }
        degree
    }
}
