//! Bounds of the degrees of quotients.
use crate::element::{Divisor, Element};
use crate::tower;
use rustc_hash::{FxHashMap, FxHashSet};

/// What was divided by.
#[derive(Debug, Default)]
pub(crate) struct Divisors {
    known: FxHashSet<u32>,
    /// The sum of their degrees.
    degree: f64,
    /// The same before the instruction that runs.
    before: f64,
    /// The residue of the root of a number, which counts as a variable.
    roots: FxHashMap<u32, u32>,
}

/// The most by which the divisors of one element add to the degree within one instruction.
const OWN: f64 = 8.0;

impl Divisors {
    /// Returns the degree of the product of all.
    pub(crate) fn degree(&self) -> f64 {
        self.degree
    }
    /// Begins an instruction.
    pub(crate) fn begin(&mut self) {
        self.before = self.degree;
    }
    /// Notes the root of a number.
    pub(crate) fn add_root(&mut self, x: &Element, root: &Element) {
        self.roots.insert(x.key(), root.key());
    }
    /// Returns the degree and the divisor of the inverse of a number.
    pub(crate) fn inverse(&mut self, y: &Element, is_common: bool) -> (f32, Divisor) {
        // What is divided by a number of which a root was taken is divided by the root, twice.
        let (y, key, times) = match self.roots.get(&y.key()) {
            Some(&root) => (y.variable(y), root, 2.0),
            None => (*y, y.key(), 1.0),
        };
        if !is_common {
            let own = Divisor::own(tower::hash(key));
            return (y.degree * narrowed(times), if times > 1.0 { own.with(own) } else { own });
        }
        let before = self.before + OWN;
        if self.known.insert(key) {
            self.degree += degree_of(&y, before);
        }
        // Above the inverse is the divisor of the number, which is a product of those before.
        let degree = degree_of(&Element { degree: 0.0, ..y }, before);
        (narrowed(degree).max(1.0), Divisor::power(narrowed(times)))
    }
}

/// Returns the degree of a number, from that of the product of all divisors.
pub(crate) fn degree_of(x: &Element, divisors: f64) -> f64 {
    let times = f64::from(x.divisor.times());
    // No power is none of an infinite degree, too.
    if times > 0.0 { times * divisors + f64::from(x.degree) } else { f64::from(x.degree) }
}

#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    reason = "rounds to the nearest"
)]
fn narrowed(x: f64) -> f32 {
    x as f32
}
