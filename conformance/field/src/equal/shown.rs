//! Whether floats show a difference.
use super::{Comparison, Runs};
use crate::compared::{Found, Place};
use crate::draw::real;
use crate::kernels::is_number;
use crate::rational::unit;
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
        let Some([a, b]) = self.in_floats(runs) else { return first };
        let (a, b) = (a.leaves(), b.leaves());
        let is_shown = |place: &&Place| {
            let [Some(a), Some(b)] = [&a, &b].map(|of| of.get(place.output)?.array()) else {
                return true;
            };
            let [x, y] = place.values;
            let is_far = |(a, b): (f64, f64)| match (x - y).is_finite() {
                true => (a - b).abs() > (x - y).abs() / 4.0,
                false => !(a - b).is_finite(),
            };
            let (a, b) = (a.get(place.element), b.get(place.element));
            match (a, b) {
                (Scalar::Float(_) | Scalar::Complex(..), _) => {
                    parts(a).into_iter().zip(parts(b)).any(is_far)
                }
                (Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_), _) => a != b,
            }
        };
        found.different.iter().find(is_shown).copied()
    }
    /// Returns whether the results of both modules in floats are equal but for roundings of the type
    /// with the fewest digits.
    pub(super) fn are_near(&self, runs: &Runs) -> bool {
        /// Roundings of the largest number of an array.
        const ROUNDINGS: f64 = 4.0;
        let Some([a, b]) = self.in_floats(runs) else { return true };
        let values = self.modules.into_iter().flat_map(|module| module.computations.iter());
        let values = values.flat_map(|(_, of)| of.instructions.iter());
        let types = values.filter_map(|(_, instruction)| instruction.shape.element_type());
        let floats = types.filter(|ty| ty.is_float());
        let unit = floats.map(|ty| unit(1.0, ty)).fold(0.0, f64::max);
        a.leaves().into_iter().zip(b.leaves()).all(|(a, b)| {
            let (Some(a), Some(b)) = (a.array(), b.array()) else { return true };
            if !is_number(a.shape().ty) {
                return true;
            }
            let all = |x: &Array| (0..x.len()).flat_map(|i| parts(x.get(i))).collect::<Vec<_>>();
            let (a, b) = (all(a), all(b));
            let finite = |x: &f64| if x.is_finite() { x.abs() } else { 0.0 };
            let largest = a.iter().chain(&b).map(finite).fold(0.0, f64::max);
            let is_near = |(a, b): (&f64, &f64)| {
                !(a - b).is_finite() || (a - b).abs() <= ROUNDINGS * unit * largest
            };
            a.iter().zip(&b).all(is_near)
        })
    }
    /// Returns the results of both modules in floats, on the real arguments of a draw.
    fn in_floats(&self, runs: &Runs) -> Option<[Literal; 2]> {
        let shapes = self.modules[0].entry().program_shape().parameters;
        let arguments = shapes.iter().zip(&runs.held);
        let arguments: Vec<Literal> = arguments.map(|(shape, value)| real(shape, value)).collect();
        let run = |module| run_in_floats(module, &arguments, &self.options.limits);
        Some([run(self.verified[0])?, run(self.verified[1])?])
    }
}

fn parts(x: Scalar) -> [f64; 2] {
    match x {
        Scalar::Complex(re, im) => [re, im],
        Scalar::Pred(_) | Scalar::Signed(_) | Scalar::Unsigned(_) | Scalar::Float(_) => {
            [x.as_f64(), 0.0]
        }
    }
}
