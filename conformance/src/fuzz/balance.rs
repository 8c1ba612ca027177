//! Higher weights for rare ops, so that a campaign tests every op that the backend has.
use super::Coverage;
use crate::CapabilityMap;
use crate::generate;
use hlo::Opcode;
use std::collections::BTreeMap;

/// The number of modules between two adjustments of weights.
const BATCH: u64 = 100;
/// The most ops with a higher weight at a time.
const RARE: usize = 6;
/// That weight.
const RARE_WEIGHT: u32 = 20;
/// The most adjustments that give it to an op.
const MAX_ADJUSTMENTS: u32 = 3;

/// Higher weights for the ops that have run the fewest times.
pub(super) struct Balance {
    /// The options of the campaign, with these weights.
    pub(super) options: generate::Options,
    pub(super) rare: Vec<(Opcode, u32)>,
    /// How often an op had a higher weight: one that never runs is left in the end.
    adjustments: BTreeMap<Opcode, u32>,
}

impl Balance {
    pub(super) fn new(options: &generate::Options) -> Self {
        Self { options: options.clone(), rare: Vec::new(), adjustments: BTreeMap::new() }
    }
    /// Sets the weights before module `k` by what ran so far; those that are given stay.
    pub(super) fn update(
        &mut self,
        k: u64,
        (coverage, learned): (&Coverage, &CapabilityMap),
        given: &generate::Options,
    ) {
        if k % BATCH != BATCH - 1 {
            return;
        }
        let is_given = |op: Opcode| given.weights.iter().any(|(other, _)| *other == op);
        let adjusted = |op: Opcode| self.adjustments.get(&op).copied().unwrap_or(0);
        let rare = coverage.rare().into_iter();
        let may = |op: Opcode| !is_given(op) && !learned.lacks_op(op);
        let rare = rare.filter(|&op| may(op) && adjusted(op) < MAX_ADJUSTMENTS);
        self.rare = rare.take(RARE).map(|op| (op, RARE_WEIGHT)).collect();
        for (op, _) in &self.rare {
            *self.adjustments.entry(*op).or_default() += 1;
        }
        self.options.weights = [&self.rare[..], &given.weights].concat();
    }
}
