//! The places whose values are in registers.
use super::emitter::VECTOR;
use crate::loops::memory::Place;
use cranelift_codegen::ir::Value;
use cranelift_frontend::Variable;
use hlo::ElementType;
use std::collections::{BTreeMap, VecDeque};

/// The most vectors that are kept: about as many as live at once without registers being spilled,
/// which takes longer than to load them, and which the code generator searches for ever longer.
const RECENT: usize = 32;

/// Vectors that are also in memory, by their first byte: the last ones.
#[derive(Debug, Clone, Default)]
pub(super) struct RecentVectors(VecDeque<(usize, Value)>);

impl RecentVectors {
    pub(super) fn get(&self, at: usize) -> Option<Value> {
        self.0.iter().find(|(start, _)| *start == at).map(|&(_, value)| value)
    }
    pub(super) fn insert(&mut self, at: usize, value: Value) {
        if self.0.len() == RECENT {
            self.0.pop_front();
        }
        self.0.push_back((at, value));
    }
    /// Forgets those in memory that is written.
    pub(super) fn forget(&mut self, place: Place) {
        self.0.retain(|&(at, _)| at >= place.end() || at + VECTOR <= place.start);
    }
}

/// Bytes of the widest value in a register.
const WIDEST: usize = size_of::<u64>();

/// A place whose value is in a variable.
#[derive(Debug, Clone, Copy)]
pub(super) struct Register {
    pub(super) ty: ElementType,
    pub(super) variable: Variable,
}

impl Register {
    pub(super) fn bytes(self) -> usize {
        self.ty.storage_bytes()
    }
}

/// The places that have variables, by their first byte.
#[derive(Debug, Default)]
pub(super) struct Registers(pub(super) BTreeMap<usize, Register>);

impl Registers {
    /// Returns those of a part of the memory.
    pub(super) fn overlapping(&self, place: Place) -> impl Iterator<Item = (usize, Register)> + '_ {
        let near = self.0.range(place.start.saturating_sub(WIDEST - 1)..place.end());
        near.filter(move |(at, register)| **at + register.bytes() > place.start)
            .map(|(&at, &register)| (at, register))
    }
    /// Returns the offset and the type of each value if a part of the memory consists of them.
    pub(super) fn covering(&self, place: Place) -> Option<Vec<(usize, ElementType)>> {
        let (mut parts, mut end) = (Vec::new(), place.start);
        for (at, register) in self.overlapping(place) {
            if at != end {
                return None;
            }
            parts.push((at - place.start, register.ty));
            end = at + register.bytes();
        }
        (end == place.end()).then_some(parts)
    }
    /// Returns all, in order.
    pub(super) fn all(&self) -> Vec<(usize, Register)> {
        self.0.iter().map(|(&at, &register)| (at, register)).collect()
    }
}
