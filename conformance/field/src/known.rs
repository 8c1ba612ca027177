//! What is known of numbers: by their residues, and literals by their size.
use crate::element::Element;
use crate::tower::{self, Residues};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering as Access};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of numbers, by their first residue.
#[derive(Debug, Default)]
pub(crate) struct Table {
    known: Mutex<FxHashMap<u32, Element>>,
    is_used: AtomicBool,
}

impl Table {
    pub(crate) fn insert(&self, x: &Element, value: Element) {
        lock(&self.known).insert(x.residues[0], value);
        self.is_used.store(true, Access::Relaxed);
    }
    pub(crate) fn get(&self, x: &Element) -> Option<Element> {
        match self.is_used.load(Access::Relaxed) {
            true => lock(&self.known).get(&x.residues[0]).copied(),
            false => None,
        }
    }
}

/// Literals by the bits of their size.
pub(crate) type Literals = BTreeMap<u64, Residues>;

/// Returns what the literal is that is nearest to `x`, within a distance; both are positive.
pub(crate) fn nearest(known: &Literals, x: f64, within: f64) -> Option<Residues> {
    let above = known.range(x.to_bits()..).next();
    let below = known.range(..x.to_bits()).next_back();
    let distance = |bits: &u64| (f64::from_bits(*bits) - x).abs();
    let candidates = [above, below].into_iter().flatten();
    let found = candidates.min_by(|(a, _), (b, _)| distance(a).total_cmp(&distance(b)));
    found.filter(|(bits, _)| distance(bits) <= within).map(|(_, residues)| *residues)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The most constants of a module of which products and quotients are recognized in the next one.
const MOST_COMBINED: usize = 128;

/// Returns the product, the quotient or the inverse of constants that is near to a number.
pub(crate) fn combined(known: &Literals, size: f64, within: f64) -> Option<Residues> {
    let is_near = |x: f64| (x - size).abs() <= within;
    let known = || known.iter().take(MOST_COMBINED).map(|(&bits, x)| (f64::from_bits(bits), *x));
    known().find_map(|(real, a)| {
        let products = || {
            known().find_map(|(other, b)| match (is_near(real * other), is_near(real / other)) {
                (true, _) => Some(tower::multiply(a, b)),
                (_, true) => Some(tower::multiply(a, tower::invert(b))),
                _ => None,
            })
        };
        if is_near(1.0 / real) { Some(tower::invert(a)) } else { products() }
    })
}
