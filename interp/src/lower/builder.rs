//! The builder of the plan of a computation: its arrays and steps so far.
use super::inline::Inlining;
use super::lowering::Lowering;
use super::unallocated::{ArrayId, ArrayIds, ArrayInfo, UnallocatedPlan, UnallocatedStep};
use super::value_key::{OperandKey, ValueKey};
use crate::plan::Action;
use crate::state::Site;
use crate::value::Value;
use hlo::Shape;
use hlo::ir::{Computation, InstructionId};
use kernels::Region;
use num::array::static_shape;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::rc::Rc;

/// The arrays of the parts of values.
pub(super) type SliceArrays = FxHashMap<(InstructionId, Region), ArrayId>;

/// The arrays of the values that have a step so far.
pub(super) type Computed<'a> = FxHashMap<ValueKey<'a>, ArrayIds>;

/// The builder of a plan. Each pass of planning adds methods to it.
pub(super) struct PlanBuilder<'a> {
    pub(super) lowering: &'a Lowering<'a>,
    pub(super) inlining: &'a Inlining,
    pub(super) computation: &'a Computation,
    pub(super) plan: UnallocatedPlan,
    /// The arrays of each instruction so far.
    pub(super) values: Vec<ArrayIds>,
    /// The number of uses of each instruction, and the parts of values that have an array.
    pub(super) users: Vec<usize>,
    pub(super) parts: SliceArrays,
    /// The parameters found, by number.
    pub(super) parameters: Vec<ArrayIds>,
    /// The values that have a step so far.
    pub(super) computed: Computed<'a>,
    /// The arrays whose elements are all one scalar, and that.
    pub(super) uniforms: FxHashMap<ArrayId, ArrayId>,
    /// The first array of each element of tuple-shaped instructions.
    pub(super) offsets: FxHashMap<InstructionId, Vec<usize>>,
    /// Instructions since the last step.
    pub(super) fuel: u64,
    /// Whether arrays that depend on constants only are computed here.
    pub(super) folds: bool,
}

impl<'a> PlanBuilder<'a> {
    pub(super) fn new(
        lowering: &'a Lowering<'a>,
        inlining: &'a Inlining,
        computation: &'a Computation,
        plan: UnallocatedPlan,
    ) -> Self {
        Self {
            lowering,
            inlining,
            computation,
            plan,
            values: Vec::with_capacity(computation.instructions.len()),
            users: users(computation),
            parts: SliceArrays::default(),
            parameters: Vec::new(),
            computed: Computed::default(),
            uniforms: FxHashMap::default(),
            offsets: FxHashMap::default(),
            fuel: 0,
            folds: lowering.analysis.arithmetic().is_some(),
        }
    }

    /// Adds arrays for a value of this shape.
    pub(super) fn fresh(&mut self, shape: &Shape) -> ArrayIds {
        let first = self.plan.arrays.len();
        for leaf in shape.leaves() {
            self.plan.compiled_bytes += size_of::<ArrayInfo>();
            let shape = leaf.array().map(|array| self.plan.shared(static_shape(array)));
            let bytes = shape.as_ref().and_then(|shape| shape.byte_count()).unwrap_or(0);
            self.plan.arrays.push(ArrayInfo {
                shape,
                bytes,
                is_parameter: false,
                is_kept: false,
                value: None,
                last_use: None,
            });
        }
        (first..self.plan.arrays.len()).collect()
    }
    /// Adds arrays of a known value; equal scalars have one array.
    pub(super) fn constant(&mut self, value: Value) -> ArrayIds {
        if let Value::Array(array) = &value
            && array.shape().rank() == 0
        {
            let key = (array.shape().ty, array.bytes().into());
            if let Some(&array) = self.plan.scalars.get(&key) {
                return [array].into();
            }
            self.plan.scalars.insert(key, self.plan.arrays.len());
        }
        let mut arrays = Vec::new();
        value.flatten(&mut arrays);
        self.plan.compiled_bytes += arrays.len() * size_of::<ArrayInfo>();
        let first = self.plan.arrays.len();
        self.plan.arrays.extend(arrays.into_iter().map(|value| ArrayInfo {
            shape: None,
            bytes: 0,
            is_parameter: false,
            is_kept: false,
            value: Some(value),
            last_use: None,
        }));
        (first..self.plan.arrays.len()).collect()
    }
    /// Returns the arrays and the shape of an instruction of the computation.
    pub(super) fn operand(&self, id: InstructionId) -> OperandKey<'a> {
        let shape = &self.computation.instructions[id].shape;
        (Rc::clone(&self.values[id.index()]), Cow::Borrowed(shape))
    }
    /// Adds a step.
    pub(super) fn step(
        &mut self,
        site: Site,
        action: Action,
        inputs: Vec<ArrayId>,
        outputs: &[ArrayId],
        added_fuel: u64,
    ) {
        let bytes = outputs.iter().map(|&array| self.plan.arrays[array].bytes);
        let bytes = Some(bytes.fold(0, usize::saturating_add));
        let fuel = std::mem::take(&mut self.fuel).saturating_add(added_fuel);
        let scratch = action.kernel().map_or(0, kernels::Kernel::scratch);
        let own = size_of::<UnallocatedStep>() + size_of_val(&*inputs) + size_of_val(outputs);
        self.plan.compiled_bytes += own + action.bytes();
        self.plan.steps.push(UnallocatedStep {
            site,
            action,
            inputs,
            outputs: outputs.to_vec(),
            bytes,
            scratch,
            applies: SmallVec::new(),
            fuel,
            part: None,
            is_whole: false,
            fuses: Vec::new(),
        });
    }
}

/// Returns the number of times that each instruction is an operand or the root.
pub(crate) fn users(computation: &Computation) -> Vec<usize> {
    let mut users = vec![0; computation.instructions.len()];
    users[computation.root.index()] += 1;
    for (_, instruction) in computation.instructions.iter() {
        instruction.operands.iter().for_each(|operand| users[operand.index()] += 1);
    }
    users
}
