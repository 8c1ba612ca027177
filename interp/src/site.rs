//! Instructions of a module by their numbers, and what is counted for each of them.
use hlo::ir::{ComputationId, InstructionId};
use rustc_hash::FxHashMap;

/// Which instruction of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    pub(crate) computation: ComputationId,
    pub(crate) instruction: InstructionId,
}

/// How far each instruction that draws random numbers has come.
#[derive(Debug, Default)]
pub(crate) struct Streams(FxHashMap<Site, u128>);

impl Streams {
    /// What the instruction has counted to, from `first` on; `count` is then added.
    pub(crate) fn advance(&mut self, site: Site, first: u128, count: u128) -> u128 {
        let state = self.0.entry(site).or_insert(first);
        let old = *state;
        *state = old.wrapping_add(count);
        old
    }
}
