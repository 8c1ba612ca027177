//! Which way comparisons of floats and conditionals went.
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

/// The ways that the calls of a module over the field went, by number.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Whether a comparison was false, and whether it was true.
    pub(crate) comparisons: BTreeMap<usize, Vec<bool>>,
    /// Whether a conditional took each branch.
    pub(crate) branches: BTreeMap<usize, Vec<bool>>,
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
    /// Adds the ways that a call went.
    pub(crate) fn add(&mut self, number: usize, ways: &[bool]) {
        if !ways.contains(&true) {
            return;
        }
        let known = match self.branches.get_mut(&number) {
            Some(known) => known,
            None => self.comparisons.entry(number).or_insert_with(|| vec![false; ways.len()]),
        };
        known.iter_mut().zip(ways).for_each(|(known, way)| *known |= way);
    }
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
