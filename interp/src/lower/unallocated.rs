//! A plan under construction: arrays and steps before they have slots.
use crate::plan::{Action, SliceBounds};
use crate::state::Site;
use crate::value::Value;
use hlo::ir::ComputationId;
use hlo::{ArrayShape, ElementType};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::rc::Rc;
use std::sync::Arc;

/// The number of an array of a plan. A value has one array for each leaf of its shape.
pub(super) type ArrayId = usize;

/// The arrays of an instruction's value.
pub(super) type ArrayIds = Rc<[ArrayId]>;

/// An array before it has a slot.
#[derive(Debug)]
pub(super) struct ArrayInfo {
    pub(super) shape: Option<Arc<ArrayShape>>,
    /// Bytes of its array; 0 if it is not an array or its size overflows.
    pub(super) bytes: usize,
    /// Whether it is part of a parameter.
    pub(super) is_parameter: bool,
    /// Whether it is part of an argument of the run, which the caller keeps.
    pub(super) is_kept: bool,
    /// The value of a constant or token.
    pub(super) value: Option<Value>,
    /// The step of its last read; `ArrayId::MAX` if it is part of the result, `None` if it is not
    /// read.
    pub(super) last_use: Option<usize>,
}

impl ArrayInfo {
    /// Returns whether a step has computed it and step `i` is the last to read it.
    pub(super) fn dies_computed(&self, i: usize) -> bool {
        self.value.is_none() && !self.is_parameter && self.last_use == Some(i)
    }
}

/// A step before slots are assigned.
#[derive(Debug)]
pub(super) struct UnallocatedStep {
    pub(super) site: Site,
    pub(super) action: Action,
    pub(super) inputs: Vec<ArrayId>,
    pub(super) outputs: Vec<ArrayId>,
    pub(super) bytes: Option<usize>,
    /// Bytes that it works in.
    pub(super) scratch: usize,
    pub(super) applies: SmallVec<[ComputationId; 1]>,
    pub(super) fuel: u64,
    pub(super) part: Option<SliceBounds>,
    /// Whether it computes what its instruction does, from the arrays of that one's operands.
    pub(super) is_whole: bool,
    /// The instructions that it computes on the way.
    pub(super) fuses: Vec<Site>,
}

impl UnallocatedStep {
    /// Returns the bytes of its outputs.
    pub(super) fn output_bytes(&self, arrays: &[ArrayInfo]) -> usize {
        let bytes = self.outputs.iter().map(|&array| arrays[array].bytes);
        bytes.fold(0, usize::saturating_add)
    }
}

/// A plan before slots are assigned.
#[derive(Debug)]
pub(super) struct UnallocatedPlan {
    pub(super) computation: ComputationId,
    pub(super) arrays: Vec<ArrayInfo>,
    pub(super) parameters: Vec<ArrayId>,
    pub(super) steps: Vec<UnallocatedStep>,
    pub(super) results: Vec<ArrayId>,
    pub(super) fuel: u64,
    /// The shapes of arrays; those that are equal share memory.
    pub(super) shapes: FxHashSet<Arc<ArrayShape>>,
    /// The arrays of scalar constants, by type and bytes.
    pub(super) scalars: FxHashMap<(ElementType, SmallVec<[u8; 16]>), ArrayId>,
    /// Bytes of the compiled form so far, with those of the computations before.
    pub(super) compiled_bytes: usize,
}

impl UnallocatedPlan {
    pub(super) fn empty(computation: ComputationId) -> Self {
        Self {
            computation,
            arrays: Vec::new(),
            parameters: Vec::new(),
            steps: Vec::new(),
            results: Vec::new(),
            fuel: 0,
            shapes: FxHashSet::default(),
            scalars: FxHashMap::default(),
            compiled_bytes: 0,
        }
    }
    /// Returns the shape of an array; `None` of a token or an asynchronous value.
    pub(super) fn shape_of(&self, array: ArrayId) -> Option<&ArrayShape> {
        let info = &self.arrays[array];
        match &info.value {
            Some(Value::Array(value)) => Some(value.shape()),
            Some(Value::Tuple(_) | Value::Token | Value::Async(_)) => None,
            None => info.shape.as_deref(),
        }
    }
    /// Returns a shape that shares the memory of an equal one.
    pub(super) fn shared(&mut self, shape: ArrayShape) -> Arc<ArrayShape> {
        if let Some(shape) = self.shapes.get(&shape) {
            return Arc::clone(shape);
        }
        let shape = Arc::new(shape);
        self.shapes.insert(Arc::clone(&shape));
        shape
    }
    pub(super) fn set_last_uses(&mut self) {
        let Self { arrays, steps, results, .. } = self;
        for array in arrays.iter_mut() {
            array.last_use = None;
        }
        let reads = steps.iter().enumerate().map(|(number, step)| (number, &step.inputs));
        for (at, read) in reads.chain([(usize::MAX, &*results)]) {
            for &array in read {
                arrays[array].last_use = Some(at);
            }
        }
    }
}
