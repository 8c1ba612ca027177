//! State of a run that instructions share: random numbers drawn, values sent and not received.
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::{Literal, Module};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, VecDeque};

/// An instruction of a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Site {
    pub(crate) computation: ComputationId,
    pub(crate) instruction: InstructionId,
}

impl Site {
    /// Returns the instruction.
    pub(crate) fn of(self, module: &Module) -> &Instruction {
        &module.computations[self.computation].instructions[self.instruction]
    }
}

/// The counts of the instructions that draw random numbers.
#[derive(Debug, Default)]
pub(crate) struct Streams(FxHashMap<Site, u128>);

impl Streams {
    /// Returns the count of the instruction, from `first` on, and adds `count` to it.
    pub(crate) fn advance(&mut self, site: Site, first: u128, count: u128) -> u128 {
        let state = self.0.entry(site).or_insert(first);
        let old = *state;
        *state = old.wrapping_add(count);
        old
    }
}

/// The values that were sent on each channel and not received.
pub(crate) type Channels = BTreeMap<Option<i64>, VecDeque<Literal>>;
