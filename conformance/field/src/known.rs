//! What is known of numbers: by their residues, and literals by their size.
use crate::element::Element;
use crate::rational::{self, digits, is_narrow};
use crate::tower::{self, LEVELS, Residues};
use hlo::ElementType;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering as Access};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What is known of numbers, by their residues in the plane.
#[derive(Debug, Default)]
pub(crate) struct Table {
    known: Mutex<FxHashMap<Residues, Element>>,
    is_used: AtomicBool,
}

impl Table {
    pub(crate) fn insert(&self, x: &Element, value: Element) {
        lock(&self.known).insert(x.plane(), value);
        self.is_used.store(true, Access::Relaxed);
    }
    pub(crate) fn get(&self, x: &Element) -> Option<Element> {
        match self.is_used.load(Access::Relaxed) {
            true => lock(&self.known).get(&x.plane()).copied(),
            false => None,
        }
    }
}

/// The literals of a module.
#[derive(Debug, Default)]
pub(crate) struct Literals {
    /// Those that are no simple fraction, by the bits of their size, with the fewest digits that one
    /// has.
    others: BTreeMap<u64, (Residues, u32)>,
    /// Simple fractions.
    fractions: BTreeMap<u64, (Residues, u32)>,
    /// The bits of the first literal with so many digits that is a number.
    meanings: FxHashMap<(u32, Residues), u64>,
    /// How many sums, products and quotients of them were formed.
    formed: AtomicUsize,
}

/// The most sums, products and quotients that are formed for the literals of a module.
const MOST_FORMED: usize = 1 << 22;

/// The most constants of a module of which sums, products and quotients are recognized in the next
/// one, and those of which three are combined.
const MOST_COMBINED: [usize; 2] = [128, 16];

impl Literals {
    /// Returns whether another literal, with as many digits, is this number.
    pub(crate) fn has_other(&self, size: f64, digits: u32, residues: Residues) -> bool {
        self.meanings.get(&(digits, residues)).is_some_and(|bits| *bits != size.to_bits())
    }
    pub(crate) fn insert(&mut self, size: f64, digits: u32, residues: Residues, is_fraction: bool) {
        self.meanings.entry((digits, residues)).or_insert(size.to_bits());
        let map = if is_fraction { &mut self.fractions } else { &mut self.others };
        let fewest = map.get(&size.to_bits()).map_or(digits, |known| known.1.min(digits));
        map.insert(size.to_bits(), (residues, fewest));
    }
    pub(crate) fn extend(&mut self, more: Self) {
        self.others.extend(more.others);
        self.fractions.extend(more.fractions);
    }
    /// Returns all digits of a literal of which an array holds the first ones.
    pub(crate) fn digits(&self, real: f64, residues: Residues) -> Option<f64> {
        const HELD: f64 = 1.0 / 2_147_483_648.0;
        let (size, is_negative) = (real.abs(), real < 0.0);
        let residues = if is_negative { tower::negate(residues) } else { residues };
        let near = (size * (1.0 - HELD)).to_bits()..=(size * (1.0 + HELD)).to_bits();
        let mut all = self.others.range(near.clone()).chain(self.fractions.range(near));
        let (&bits, _) = all.find(|(_, literal)| literal.0 == residues)?;
        let size = f64::from_bits(bits);
        Some(if is_negative { -size } else { size })
    }
    /// Returns what the literal is that is nearest to `x`, within a distance; both are positive.
    pub(crate) fn nearest(&self, x: f64, within: f64) -> Option<Residues> {
        let above = self.others.range(x.to_bits()..).next();
        let below = self.others.range(..x.to_bits()).next_back();
        let distance = |bits: &u64| (f64::from_bits(*bits) - x).abs();
        let candidates = [above, below].into_iter().flatten();
        let found = candidates.min_by(|(a, _), (b, _)| distance(a).total_cmp(&distance(b)));
        found.filter(|(bits, _)| distance(bits) <= within).map(|(_, literal)| literal.0)
    }
    /// Returns the sum, product or quotient of two or three literals, or the inverse of one, that a
    /// number of a type is within so many parts of the largest of them. Those of which a number of few
    /// digits is made have no more. If it has many, three are not all fractions, nor are two if there
    /// are many constants.
    pub(crate) fn combined(&self, size: f64, within: f64, ty: ElementType) -> Option<Element> {
        let is_narrow = is_narrow(ty);
        let most = if is_narrow { digits(ty) } else { u32::MAX };
        let of = |map: &BTreeMap<u64, (Residues, u32)>| -> Vec<Known> {
            let known = map.iter().filter(|(_, (_, digits))| *digits <= most);
            let known = known.take(MOST_COMBINED[0]);
            known.map(|(&bits, x)| Known::of(f64::from_bits(bits), x.0)).collect()
        };
        let (others, fractions) = (of(&self.others), of(&self.fractions));
        let all: Vec<Known> =
            others.iter().chain(&fractions).take(MOST_COMBINED[0]).copied().collect();
        let is_few = all.len() <= MOST_COMBINED[1];
        let cubes = if is_few { all.len().pow(3) * 25 } else { 0 };
        let count = all.len().pow(2) * 5 + cubes;
        if self.formed.fetch_add(count, Access::Relaxed) > MOST_FORMED {
            return None;
        }
        let first = |is_any: bool| if is_any { &all } else { &others };
        let is_near = |(x, largest): &(Known, f64)| {
            // The result is rounded, and of constants with many digits those that are fractions.
            let of = if is_narrow || !x.is_rounded { size } else { size.max(*largest) };
            (x.real - size).abs() <= within * of && *largest <= 64.0 * size
        };
        let pairs = |first: Known| all.iter().flat_map(move |second| first.with(*second));
        let one = Known::of(1.0, [1; LEVELS]);
        let of_two = |x: &Known| x.with(one).into_iter().skip(2).chain(pairs(*x));
        let twos = || first(is_narrow || is_few).iter().flat_map(of_two);
        let few = if is_few { first(is_narrow) } else { &[][..] };
        let threes = || {
            let (all, one) = (&all, &one);
            few.iter().flat_map(|x| pairs(*x)).flat_map(move |(x, largest)| {
                let x = Known { is_rounded: true, ..x };
                let with = all.iter().chain([one]).flat_map(move |y| x.with(*y));
                with.map(move |(x, other)| (x, other.max(largest)))
            })
        };
        let found = twos().find(is_near).or_else(|| threes().find(is_near));
        found.map(|(x, _)| Element::constant(x.residues, x.real))
    }
}

/// The size of a constant, and what it is.
#[derive(Debug, Clone, Copy)]
struct Known {
    real: f64,
    residues: Residues,
    /// Whether it is not exactly its size, or was computed.
    is_rounded: bool,
}

impl Known {
    fn of(real: f64, residues: Residues) -> Self {
        Self { real, residues, is_rounded: rational::exactly(real).residues != residues }
    }
    /// Returns the sizes of sum, difference, product and quotients of two constants, each with the
    /// largest number whose rounding they have.
    fn with(self, other: Self) -> [(Self, f64); 5] {
        let is_rounded = self.is_rounded || other.is_rounded;
        let made = |real: f64, residues: Residues| Self { real, residues, is_rounded };
        let over = |x: Self, y: Self| {
            made(x.real / y.real, tower::multiply(x.residues, tower::invert(y.residues)))
        };
        let (large, small) = if self.real < other.real { (other, self) } else { (self, other) };
        let (x, y) = (self.residues, other.residues);
        let sum = made(self.real + other.real, tower::add(x, y));
        let difference = made(
            large.real - small.real,
            tower::add(large.residues, tower::negate(small.residues)),
        );
        let product = made(self.real * other.real, tower::multiply(x, y));
        let quotients = [over(self, other), over(other, self)];
        [
            // Of two roundings of half a unit each is no larger than that of the larger number.
            (sum, sum.real),
            (difference, f64::midpoint(large.real, difference.real)),
            (product, product.real),
            (quotients[0], quotients[0].real),
            (quotients[1], quotients[1].real),
        ]
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
