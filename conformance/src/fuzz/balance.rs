//! Higher weights for rare ops, so that a campaign tests every op that the backend has.
use super::Coverage;
use crate::CapabilityMap;
use crate::generate;
use hlo::Opcode;
use std::collections::BTreeMap;
use std::sync::Arc;

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
    pub(super) weights: Arc<Weights>,
    /// How often an op had a higher weight: one that never runs is left in the end.
    adjustments: BTreeMap<Opcode, u32>,
}

/// The weights of ops in the modules to come.
pub(super) struct Weights {
    /// The options of the campaign, with these weights.
    pub(super) options: generate::Options,
    pub(super) rare: Vec<(Opcode, u32)>,
    /// What the backend is known to have.
    pub(super) learned: CapabilityMap,
}

impl Balance {
    pub(super) fn new(options: &generate::Options) -> Self {
        let learned = CapabilityMap::clone(&options.capabilities);
        let weights = Weights { options: options.clone(), rare: Vec::new(), learned };
        Self { weights: Arc::new(weights), adjustments: BTreeMap::new() }
    }
    /// Returns whether the weights are set before module `k`.
    pub(super) fn is_due(k: u64) -> bool {
        k % BATCH == BATCH - 1
    }
    /// Sets the weights by what ran so far; those that are given stay.
    pub(super) fn update(
        &mut self,
        (coverage, learned): (&Coverage, &CapabilityMap),
        given: &generate::Options,
    ) {
        let is_given = |op: Opcode| given.weights.iter().any(|(other, _)| *other == op);
        let adjusted = |op: Opcode| self.adjustments.get(&op).copied().unwrap_or(0);
        let rare = coverage.rare().into_iter();
        let may = |op: Opcode| !is_given(op) && !learned.lacks_op(op);
        let rare = rare.filter(|&op| may(op) && adjusted(op) < MAX_ADJUSTMENTS);
        let rare: Vec<(Opcode, u32)> = rare.take(RARE).map(|op| (op, RARE_WEIGHT)).collect();
        for (op, _) in &rare {
            *self.adjustments.entry(*op).or_default() += 1;
        }
        let weights = [&rare[..], &given.weights].concat();
        let options = generate::Options { weights, ..given.clone() };
        self.weights = Arc::new(Weights { options, rare, learned: learned.clone() });
    }
}
