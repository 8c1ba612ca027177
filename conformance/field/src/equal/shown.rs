//! Whether floats show a difference.
use super::{Comparison, Runs};
use crate::arithmetic::FewDigits;
use crate::compared::{Found, Place};
use crate::draw::real;
use crate::kernels::is_number;
use crate::lift::OpenKind;
use crate::rational::{is_narrow, unit};
use crate::run::in_floats;
use hlo::{Array, Literal, Module, Scalar};

/// The roundings of results of f32, or of more digits, beside which a difference is none.
const ROUNDINGS: f64 = 16.0;

impl Comparison<'_> {
    /// Returns a difference that both modules show in floats, on the real arguments of a draw: what
    /// only real numbers of the field show may be a constant that one module rounds, or an order that
    /// rounding decides. The first one if floats say nothing.
    pub(super) fn confirmed(&self, runs: &Runs, found: &Found) -> Option<Place> {
        let first = found.different.first().copied();
        if self.is_partitioned || self.devices > 1 {
            return first;
        }
        let Some([a, b]) = self.in_floats(runs) else { return first };
        let (a, b) = (a.leaves(), b.leaves());
        let few = self.few_digits_unit;
        let pairs = a.iter().zip(&b).map(|(a, b)| Some([a.array()?, b.array()?]));
        let magnitudes = pairs.map(|pair| pair.filter(|_| few > 0.0).map_or(0.0, magnitude));
        let magnitudes: Vec<f64> = magnitudes.collect();
        let is_shown = |place: &&Place| {
            let [Some(a), Some(b)] = [&a, &b].map(|of| of.get(place.output)?.array()) else {
                return true;
            };
            let ty = a.shape().ty.component();
            let own = if is_narrow(ty) { 0.0 } else { ROUNDINGS * unit(1.0, ty) };
            let [x, y] = place.values;
            let is_far = |(p, q): (f64, f64)| match (x - y).is_finite() {
                true => {
                    let largest = p.abs().max(q.abs());
                    let rounding = (few * magnitudes[place.output].max(largest)).max(own * largest);
                    (p - q).abs() > ((x - y).abs() / 4.0).max(rounding)
                }
                // Two infinities, or two NaN, are no difference.
                false => {
                    !(p - q).is_finite() && p.total_cmp(&q).is_ne() && !(p.is_nan() && q.is_nan())
                }
            };
            let (p, q) = (a.get(place.element), b.get(place.element));
            match (p, q) {
                (Scalar::Float(_) | Scalar::Complex(..), _) => {
                    parts(p).into_iter().zip(parts(q)).any(is_far)
                }
                (Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_), _) => p != q,
            }
        };
        found.different.iter().find(is_shown).copied()
    }
    /// Notes that constants of few digits are exact, and floats do not agree.
    pub(super) fn guard(&mut self, runs: &Runs) {
        let is_known = self.few_digits == FewDigits::Rounded || self.lack == OpenKind::FewDigits;
        if !is_known && !self.are_near(runs) {
            self.lack = OpenKind::FewDigits;
        }
    }
    /// Returns whether the results of both modules in floats are equal but for four roundings of the
    /// type with the fewest digits.
    fn are_near(&self, runs: &Runs) -> bool {
        let Some([a, b]) = self.in_floats(runs) else { return true };
        let unit = self.few_digits_unit;
        a.leaves().into_iter().zip(b.leaves()).all(|(a, b)| {
            let (Some(a), Some(b)) = (a.array(), b.array()) else { return true };
            if !is_number(a.shape().ty) {
                return true;
            }
            let magnitude = magnitude([a, b]);
            let is_near = |(a, b): (f64, f64)| {
                let roundings = 2.0 * unit * magnitude.max(a.abs()).max(b.abs());
                !(a - b).is_finite() || (a - b).abs() <= roundings
            };
            all_parts(a).zip(all_parts(b)).all(is_near)
        })
    }
    /// Returns the results of both modules in floats, on the real arguments of a draw.
    fn in_floats<'a>(&self, runs: &'a Runs) -> Option<&'a [Literal; 2]> {
        let results = || {
            let shapes = self.modules[0].entry().program_shape().parameters;
            let arguments = shapes.iter().zip(&runs.held);
            let arguments: Vec<_> = arguments.map(|(shape, value)| real(shape, value)).collect();
            let run = |module| in_floats(module, &self.options.limits)?(&arguments);
            Some([run(self.verified[0])?, run(self.verified[1])?])
        };
        runs.floats.get_or_init(results).as_ref()
    }
}

/// Returns a unit in the last place of 1 in the type with the fewest digits of two modules; 0 if each
/// float has those of f32.
pub(super) fn few_digits_unit(modules: [&Module; 2]) -> f64 {
    let values = modules.into_iter().flat_map(Module::instructions);
    let types = values.filter_map(|instruction| instruction.shape.element_type());
    let few = types.filter(|ty| ty.is_float() && is_narrow(*ty));
    few.map(|ty| unit(1.0, ty)).fold(0.0, f64::max)
}

/// Returns the magnitude of the numbers of two arrays: that of the largest one, or one as large as most
/// are not.
fn magnitude(arrays: [&Array; 2]) -> f64 {
    /// A number so many times as large as half of all others says nothing of their errors.
    const ABOVE_MEDIAN: f64 = 16.0;
    let all = arrays.into_iter().flat_map(all_parts).filter(|x| x.is_finite() && x.abs() > 0.0);
    let mut all: Vec<f64> = all.map(f64::abs).collect();
    let middle = all.len().saturating_sub(1) / 2;
    if all.is_empty() {
        return 0.0;
    }
    let (_, median, above) = all.select_nth_unstable_by(middle, f64::total_cmp);
    let largest = above.iter().copied().fold(*median, f64::max);
    largest.min(*median * ABOVE_MEDIAN)
}

fn all_parts(array: &Array) -> impl Iterator<Item = f64> {
    (0..array.len()).flat_map(|i| parts(array.get(i)))
}

fn parts(x: Scalar) -> [f64; 2] {
    match x {
        Scalar::Complex(re, im) => [re, im],
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            [x.as_f64(), 0.0]
        }
    }
}
