//! Which way comparisons and conditionals went, and how far what they compare is from being equal.
use crate::element::Element;
use crate::lift::Lifted;
use hlo::Op;
use std::collections::BTreeMap;

/// How many ways of comparisons, or of conditionals, the draws went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Those that the draws went.
    pub met: usize,
    /// All of them.
    pub all: usize,
}

/// What compares numbers: the number of a call, and which of the limits of an integer it is.
pub(crate) type Key = (usize, usize);

/// The difference of two numbers that are compared.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Gap {
    /// That of two floats, and the size of the larger one.
    Number(Element, f64),
    /// That of two integers.
    Whole(i128),
}

/// Differences of a run with the number of each in the order of the run, by what compares.
pub(crate) type Samples = BTreeMap<Key, (u64, Vec<(u64, Gap)>)>;

/// What a call has decided.
#[derive(Debug)]
pub(crate) struct Decided {
    /// The ways that it went.
    ways: Vec<bool>,
    /// Whether two numbers were equal of which one depends on an argument; `None` without these.
    is_equal: Option<bool>,
    /// The differences of what it compared, if they are wanted.
    gaps: Option<Vec<(usize, Gap)>>,
}

impl Decided {
    pub(crate) fn new(ways: Vec<bool>, is_watched: bool) -> Self {
        Self { ways, is_equal: None, gaps: is_watched.then(Vec::new) }
    }
    /// Notes that it went a way.
    pub(crate) fn way(&mut self, way: usize) {
        self.ways[way] = true;
    }
    /// Notes that two numbers are compared.
    pub(crate) fn numbers(&mut self, x: &Element, y: &Element) {
        if !x.is_finite() || !y.is_finite() || x.is_constant() && y.is_constant() {
            return;
        }
        *self.is_equal.get_or_insert(false) |= x.is(y);
        if let Some(gaps) = &mut self.gaps {
            let size = x.real.abs().max(y.real.abs());
            gaps.push((0, Gap::Number(crate::arithmetic::Field::difference(*x, *y), size)));
        }
    }
    /// Notes the difference of an integer and one of its limits.
    pub(crate) fn whole(&mut self, limit: usize, difference: i128) {
        if let Some(gaps) = &mut self.gaps {
            gaps.push((limit, Gap::Whole(difference)));
        }
    }
}

/// What is known of a place where numbers are compared.
#[derive(Debug, Clone, Copy, Default)]
struct Limit {
    /// Whether an integer was less than its limit by one, equal, and more by one; of floats, whether
    /// they were equal.
    met: [bool; 3],
    is_whole: bool,
    /// Whether it is known to depend on an argument.
    depends: bool,
}

impl Limit {
    fn is_met(self) -> bool {
        if self.is_whole { !self.met.contains(&false) } else { self.met[1] }
    }
}

/// The ways that the calls of a module over the field went, by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Whether a comparison was false, and whether it was true.
    comparisons: BTreeMap<usize, Vec<bool>>,
    /// Whether a conditional took each branch.
    branches: BTreeMap<usize, Vec<bool>>,
    limits: BTreeMap<Key, Limit>,
    /// The elements that calls have computed so far, with some for each call.
    pub(crate) work: u64,
    /// Differences of what is compared, of some of many, if they are wanted.
    pub(crate) samples: Option<Samples>,
}

impl Seen {
    /// Knows the conditionals of a module, which may never run.
    pub(crate) fn expect(&mut self, lifted: &Lifted) {
        for (number, stated) in lifted.calls.iter().enumerate() {
            if let Op::Conditional(op) = &stated.op {
                self.branches.entry(number).or_insert_with(|| vec![false; op.branches.len()]);
            }
        }
    }
    /// Adds what a call has decided.
    pub(crate) fn add(&mut self, number: usize, decided: Decided) {
        if let Some(is_equal) = decided.is_equal {
            let limit = self.limits.entry((number, 0)).or_default();
            (limit.depends, limit.met[1]) = (true, limit.met[1] | is_equal);
        }
        for (which, gap) in decided.gaps.into_iter().flatten() {
            let key = (number, which);
            if let Gap::Whole(difference) = gap {
                let limit = self.limits.entry(key).or_default();
                limit.is_whole = true;
                if let Some(met) = usize::try_from(difference + 1).ok().filter(|&at| at < 3) {
                    limit.met[met] = true;
                }
            }
            let Some(samples) = &mut self.samples else { continue };
            let (count, kept) = samples.entry(key).or_default();
            if is_sample(*count) {
                kept.push((*count, gap));
            }
            *count += 1;
        }
        let ways = decided.ways;
        if !ways.contains(&true) {
            return;
        }
        let known = match self.branches.get_mut(&number) {
            Some(known) => known,
            None => self.comparisons.entry(number).or_insert_with(|| vec![false; ways.len()]),
        };
        known.iter_mut().zip(ways).for_each(|(known, way)| *known |= way);
    }
    /// Returns what compares numbers that no draw has met where they are equal.
    pub(crate) fn open(&self) -> impl Iterator<Item = Key> {
        self.limits.iter().filter(|(_, limit)| !limit.is_met()).map(|(key, _)| *key)
    }
    /// Notes that what compares depends on an argument.
    pub(crate) fn depends(&mut self, key: Key) {
        self.limits.entry(key).or_default().depends = true;
    }
}

/// Returns whether a difference is kept, by its number: some of each power of two.
fn is_sample(number: u64) -> bool {
    let rare = (number.next_power_of_two() / 16).max(1);
    number < 8 || number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & (rare - 1) == 0
}

/// Returns the comparisons that went both ways, of those that ran.
pub(crate) fn comparisons(seen: &[Seen]) -> Coverage {
    let all = seen.iter().flat_map(|seen| seen.comparisons.values());
    let met = all.clone().filter(|ways| !ways.contains(&false)).count();
    Coverage { met, all: all.count() }
}

/// Returns the branches that were taken, of all.
pub(crate) fn branches(seen: &[Seen]) -> Coverage {
    let all = seen.iter().flat_map(|seen| seen.branches.values()).flatten();
    Coverage { met: all.clone().filter(|way| **way).count(), all: all.count() }
}

/// Returns the places where equal floats were compared, or integers that are below, at and above
/// their limit, of those that depend on arguments.
pub(crate) fn limits(seen: &[Seen], is_whole: bool) -> Coverage {
    let all = seen.iter().flat_map(|seen| seen.limits.values());
    let all = all.filter(|limit| limit.depends && limit.is_whole == is_whole);
    Coverage { met: all.clone().filter(|limit| limit.is_met()).count(), all: all.count() }
}
