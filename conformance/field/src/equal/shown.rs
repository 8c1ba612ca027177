//! Whether floats show a difference.
use super::{Comparison, Runs};
use crate::compared::{Found, Place};
use crate::draw::real;
use crate::run::run_in_floats;
use hlo::{Array, Literal, Scalar};

impl Comparison<'_> {
    /// Returns a difference that both modules show in floats, on the real arguments of a draw: what
    /// only real numbers of the field show may be a constant that one module rounds, or an order that
    /// rounding decides. The first one if floats say nothing.
    pub(super) fn confirmed(&self, runs: &Runs, found: &Found) -> Option<Place> {
        let first = found.different.first().copied();
        if self.is_partitioned || self.devices > 1 {
            return first;
        }
        let shapes = self.modules[0].entry().program_shape().parameters;
        let arguments: Vec<Literal> =
            shapes.iter().zip(&runs.held).map(|(shape, value)| real(shape, value)).collect();
        let results =
            self.verified.map(|module| run_in_floats(module, &arguments, &self.options.limits));
        let [Some(a), Some(b)] = results else { return first };
        let (a, b) = (a.leaves(), b.leaves());
        let is_shown = |place: &&Place| {
            let [Some(a), Some(b)] = [&a, &b].map(|of| of.get(place.output)?.array()) else {
                return true;
            };
            let parts = |x: &Array| match x.get(place.element) {
                Scalar::Complex(re, im) => [re, im],
                x @ (Scalar::Pred(_)
                | Scalar::Signed(_)
                | Scalar::Unsigned(_)
                | Scalar::Float(_)) => [x.as_f64(), 0.0],
            };
            let [x, y] = place.values;
            let is_far = |(a, b): (f64, f64)| match (x - y).is_finite() {
                true => (a - b).abs() > (x - y).abs() / 4.0,
                false => !(a - b).is_finite(),
            };
            a.get(place.element) != b.get(place.element)
                && parts(a).into_iter().zip(parts(b)).any(is_far)
        };
        found.different.iter().find(is_shown).copied()
    }
}
