//! Results that one instruction decides as a whole: those of a branch, of a round of a loop, or of a
//! slice at one of several places.
use super::evaluate::Leaves;
use super::range::Range;
use super::verdict::Elements;
use hlo::{Literal, Module, Op};
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What an instruction may return by an open decision, of which it takes one.
#[derive(Debug, Clone)]
pub(super) struct Whole {
    /// The number of the decision, which leaves of one result share.
    decision: u32,
    /// Where its elements are; everywhere, if none.
    positions: Option<Arc<HashSet<usize>>>,
    alternatives: Arc<[Leaves]>,
    leaf: usize,
}

/// The number of the last decision of an evaluation.
#[derive(Debug, Default)]
pub(super) struct Decisions(u32);

impl Decisions {
    /// Returns the number of another decision.
    pub(super) fn next(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }
    /// Says of results that they are one of these as a whole, at some positions of each leaf or
    /// everywhere.
    pub(super) fn decided(
        &mut self,
        mut results: Leaves,
        alternatives: &Arc<[Leaves]>,
        positions: Option<HashSet<usize>>,
    ) -> Leaves {
        let decision = self.next();
        let positions = positions.map(Arc::new);
        for (leaf, range) in results.iter_mut().enumerate().filter(|_| alternatives.len() > 1) {
            let (positions, alternatives) = (positions.clone(), Arc::clone(alternatives));
            range.wholes.push(Whole { decision, positions, alternatives, leaf });
        }
        results
    }
}

/// Returns whether an instruction of the entry may make several arrays by one decision.
pub(super) fn any(module: &Module) -> bool {
    let mut all = module.entry().instructions.iter();
    all.any(|(_, instruction)| {
        let decides = matches!(instruction.op, Op::Conditional(_) | Op::While(_) | Op::Sort(_));
        decides && instruction.shape.tuple().is_some()
    })
}

/// Returns for each leaf the positions of values that are not in the alternative of the expected
/// result, if they are together in no other one either; and the number of decisions of which the
/// expected result is no alternative.
pub(super) fn mixed(
    ranges: &[Range],
    expected: &Literal,
    actual: &Literal,
) -> (Vec<HashSet<usize>>, usize) {
    let mut decisions: BTreeMap<u32, Vec<(usize, &Whole)>> = BTreeMap::new();
    for (leaf, range) in ranges.iter().enumerate() {
        for whole in &range.wholes {
            decisions.entry(whole.decision).or_default().push((leaf, whole));
        }
    }
    let (mut mixed, mut missed) = (vec![HashSet::new(); ranges.len()], 0);
    let (expected, actual) = (expected.leaves(), actual.leaves());
    for parts in decisions.values() {
        let count = parts.iter().map(|(_, whole)| whole.alternatives.len()).min().unwrap_or(0);
        let others = |k: usize, result: &[&Literal]| -> Vec<(usize, usize)> {
            let of = |&(leaf, whole): &(usize, &Whole)| {
                let others = result.get(leaf).map(|own| whole.others(k, own));
                others.unwrap_or_default().into_iter().map(move |at| (leaf, at))
            };
            parts.iter().flat_map(of).collect()
        };
        if (0..count).any(|k| others(k, &actual).is_empty()) {
            continue;
        }
        match (0..count).find(|&k| others(k, &expected).is_empty()) {
            Some(own) => others(own, &actual).into_iter().for_each(|(leaf, at)| {
                mixed[leaf].insert(at);
            }),
            None => missed += 1,
        }
    }
    (mixed, missed)
}

impl Whole {
    /// Returns the positions of values that are not in an alternative.
    fn others(&self, k: usize, result: &Literal) -> Vec<usize> {
        let alternative = self.alternatives[k].get(self.leaf);
        let alternative = alternative.filter(|range| range.lo.len() == result.len());
        let (Some(shape), Some(alternative)) = (result.array_shape(), alternative) else {
            return Vec::new();
        };
        let all: Vec<Elements<'_>> =
            alternative.candidates().iter().map(|range| Elements::of(range, shape.ty)).collect();
        let is_other = |&at: &usize| {
            let is_here = self.positions.as_ref().is_none_or(|here| here.contains(&at));
            is_here && all.iter().all(|x| x.contains(at, result.get(at)) == Some(false))
        };
        (0..result.len()).filter(is_other).collect()
    }
}
