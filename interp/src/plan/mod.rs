//! Plans: the compiled form of computations.
//!
//! A value is a tree of leaves, and every leaf has a slot. Instructions that only rename leaves
//! (`tuple`, `get-tuple-element`, `copy`, ...) have no step; a parameter and a constant have slots
//! and no step. Each other instruction is one [`Step`].
mod action;
mod print;
mod sharing;

pub(crate) use action::{Action, LiteralFn};
pub use print::{PlanText, PlannedComputation, PlannedStep};
pub(crate) use sharing::Sharing;

use crate::state::Site;
use crate::value::Value;
use hlo::ArrayShape;
use hlo::ir::ComputationId;
use smallvec::SmallVec;
use std::sync::Arc;

/// The number of a slot in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Slot(u32);

impl Slot {
    pub(crate) fn new(index: usize) -> Self {
        Self(u32::try_from(index).expect("a computation has fewer than 2^32 leaves"))
    }
    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::try_from(self.0).expect("a slot is in memory")
    }
}

/// The compiled form of a computation.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) computation: ComputationId,
    /// The slot of each leaf of the parameters, in order; `None` for a leaf that is not used.
    pub(crate) parameters: Vec<Option<Slot>>,
    /// The initial values of every frame: constants and tokens.
    pub(crate) initial: Vec<Option<Value>>,
    pub(crate) steps: Vec<Step>,
    /// The leaves of the result, in order.
    pub(crate) results: Vec<Input>,
    /// Fuel of the instructions after the last step.
    pub(crate) fuel: u64,
    /// The peak of bytes in its slots and those of its callees, if the arguments are not owned.
    pub(crate) peak_bytes: usize,
}

/// One instruction, or several that are fused, with everything that does not depend on values
/// decided. The instruction may belong to a computation that is inlined.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) site: Site,
    pub(crate) action: Action,
    /// The leaves of the operands, in order.
    pub(crate) inputs: SmallVec<[Input; 4]>,
    /// The leaves of the result, in order.
    pub(crate) outputs: SmallVec<[Output; 2]>,
    /// Slots that are emptied after the step.
    pub(crate) frees: SmallVec<[Slot; 2]>,
    /// The input whose memory the first output is written to.
    pub(crate) in_place: Option<usize>,
    /// Bytes of the result; `None` if they cannot be counted.
    pub(crate) bytes: Option<usize>,
    /// Bytes of the slots that are in use during the step, parameters not counted.
    pub(crate) live_bytes: usize,
    /// Bytes that it works in beside its inputs and outputs.
    pub(crate) scratch: usize,
    /// The computations that it applies to elements on machines of their own.
    pub(crate) applies: SmallVec<[ComputationId; 1]>,
    /// Steps that are charged before it runs: its own, its cost, and those of instructions without
    /// a step before it.
    pub(crate) fuel: u64,
    /// The part of the instruction's value that it computes, if it is not the whole.
    pub(crate) part: Option<SliceBounds>,
    /// The instructions before it that it computes too.
    pub(crate) fuses: Vec<Site>,
    /// Whether threads share it.
    pub(crate) sharing: Sharing,
}

/// A part of an array: the first index and the distance of indices, for each dimension.
pub(crate) type SliceBounds = Box<[(i64, i64)]>;

/// A leaf that is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input {
    pub(crate) slot: Slot,
    /// Whether this is its last use, so that the value may leave the slot.
    pub(crate) is_last: bool,
}

/// A leaf that is written.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) slot: Slot,
    /// The shape of an array, without dynamic dimensions.
    pub(crate) shape: Option<Arc<ArrayShape>>,
}
