//! Loop-invariant operations: what a loop computes alike in each round is computed once before it.
//!
//! An operation is moved if it depends on nothing that the loop changes, alone has its result, and
//! cannot fail: it may run before a loop without a round.
#![expect(clippy::wildcard_enum_match_arm, reason = "other operations stay")]
use super::memory::{Image, Place};
use super::operation::{Elementwise, KernelCall, Move, Operation};
use super::{Block, Repeat};
use rustc_hash::{FxHashMap, FxHashSet};
use std::mem::take;

/// The most bytes of what is computed before a loop: it lives as long as the loop.
const MOST: usize = 1 << 17;

/// The arrays of a program.
pub(super) struct Invariants<'a> {
    pub(super) image: &'a Image,
    pub(super) kernels: &'a [KernelCall],
}

impl Invariants<'_> {
    /// Moves operations of the loops inside of a block in front of them.
    pub(super) fn inside(&self, block: &mut Block) {
        let operations = take(&mut block.operations);
        for mut operation in operations {
            match &mut operation {
                Operation::Repeat(repeat) => block.operations.extend(self.of_loop(repeat)),
                Operation::Branch { branches, .. } => {
                    for branch in branches {
                        self.inside(branch);
                    }
                }
                _ => {}
            }
            block.operations.push(operation);
        }
    }

    /// Takes the operations out of a loop that depend on nothing that it changes.
    pub(super) fn of_loop(&self, Repeat { condition, body }: &mut Repeat) -> Vec<Operation> {
        self.inside(&mut condition.block);
        self.inside(body);
        let mut written: FxHashMap<usize, usize> = FxHashMap::default();
        for block in [&condition.block, &*body] {
            self.count_written(block, &mut written);
        }
        let (mut moved, mut bytes) = (FxHashSet::default(), 0);
        let mut is_moved: Vec<bool> = Vec::with_capacity(body.operations.len());
        // The last one makes its results the next values.
        let last = body.operations.len().saturating_sub(1);
        for (at, operation) in body.operations.iter().enumerate() {
            let result = self.result(operation).filter(|_| at < last);
            let result = result.filter(|place| bytes + place.bytes <= MOST);
            let result = result.filter(|place| written.get(&place.start) == Some(&1));
            let is_changed =
                |array: Place| written.contains_key(&array.start) && !moved.contains(&array.start);
            let (read, _) = operation.places(self.kernels);
            let arrays = read.into_iter().flat_map(|place| self.image.arrays_in(place));
            let arrays: Vec<Place> = arrays.collect();
            // What follows from constants alone is known while code is generated.
            let are_constants = arrays.iter().all(|array| self.image.constant(*array).is_some());
            let is_alike = !are_constants && !arrays.into_iter().any(is_changed);
            let result = result.filter(|_| is_alike);
            moved.extend(result.map(|place| place.start));
            bytes += result.map_or(0, |place| place.bytes);
            is_moved.push(result.is_some());
        }
        self.keep_scalars(&body.operations, &mut is_moved);
        let mut before = Vec::new();
        for (operation, is_moved) in take(&mut body.operations).into_iter().zip(is_moved) {
            if is_moved { &mut before } else { &mut body.operations }.push(operation);
        }
        before
    }

    /// Keeps what only spreads a scalar where it is read: that is read as a scalar.
    fn keep_scalars(&self, operations: &[Operation], is_moved: &mut [bool]) {
        let mut read: FxHashSet<usize> = FxHashSet::default();
        for (operation, is_moved) in operations.iter().zip(is_moved).rev() {
            let is_scalar = match operation {
                Operation::Move(Move { walk: Some((walk, _)), .. }) => walk.is_scalar(),
                _ => false,
            };
            let result = self.result(operation).filter(|_| is_scalar);
            *is_moved &= result.is_none_or(|place| read.contains(&place.start));
            if *is_moved {
                let places = operation.places(self.kernels).0.into_iter();
                read.extend(
                    places.flat_map(|place| self.image.arrays_in(place)).map(|of| of.start),
                );
            }
        }
    }

    /// Returns the array that an operation computes, if it may be moved.
    fn result(&self, operation: &Operation) -> Option<Place> {
        let place = match operation {
            Operation::Elementwise(Elementwise { result, .. })
            | Operation::Choose { result, .. } => *result,
            Operation::Move(Move { from: None, to: None, copies, .. }) => {
                let (start, end) = copies
                    .iter()
                    .map(|copy| copy.places()[1])
                    .fold((usize::MAX, 0), |(start, end), place| {
                        (start.min(place.start), end.max(place.end()))
                    });
                Place { start, bytes: end.saturating_sub(start) }
            }
            _ => return None,
        };
        let array = self.image.array_at(place.start)?;
        (array.place == place && self.image.constant(place).is_none()).then_some(place)
    }

    /// Counts the operations that write each array.
    fn count_written(&self, block: &Block, written: &mut FxHashMap<usize, usize>) {
        for operation in &block.operations {
            for place in operation.places(self.kernels).1 {
                for array in self.image.arrays_in(place) {
                    *written.entry(array.start).or_default() += 1;
                }
            }
            match operation {
                Operation::Repeat(repeat) => {
                    self.count_written(&repeat.condition.block, written);
                    self.count_written(&repeat.body, written);
                }
                Operation::Branch { branches, .. } => {
                    for branch in branches {
                        self.count_written(branch, written);
                    }
                }
                _ => {}
            }
        }
    }
}
