//! Plan construction: arrays, steps, last uses.
use super::buffers::assign;
use super::cse::{Computed, is_alone};
use super::inline::Inlining;
use super::limits::CompileLimits;
use super::slice_pushdown::{SliceArrays, SlicePosition, users};
use super::value_key::{OperandKey, ValueKey};
use super::waits::{Waits, may_run_ahead};
use super::{Lowered, Lowering};
use crate::Result;
use crate::options::Engine;
use crate::plan::{Action, Plan, SliceBounds};
use crate::state::Site;
use crate::value::Value;
use hlo::ir::{Computation, ComputationId, Instruction, InstructionId};
use hlo::literal::ConstantValue;
use hlo::op::Broadcast;
use hlo::{Array, ArrayShape, Dims, ElementType, Module, Op, Shape};
use kernels::data_movement::affine;
use num::array::{bytes_of, static_shape, with_layouts};
use num::index::to_usize;
use num::scalar_program::ScalarPrograms;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::borrow::Cow;
use std::rc::Rc;
use std::sync::Arc;

/// The limit of bytes of an array that is computed from a constant at compile time.
const FOLDED_BYTES: usize = 4096;

/// Returns the plans of all computations of a module, by their numbers. With `fuses`, a step may
/// stand for several instructions.
pub(crate) fn plans(
    module: &Module,
    engine: Engine,
    programs: &ScalarPrograms,
    fuses: bool,
    limits: CompileLimits,
) -> Result<Vec<Plan>> {
    let lowering = Lowering::new(module, engine, programs, limits);
    let inlining = Inlining::of(module, fuses);
    let effects = &lowering.effects;
    let may_run_ahead = may_run_ahead(module);
    let mut bytes = 0;
    let plan = |id| -> Result<UnallocatedPlan> {
        let plan = UnallocatedPlan::of(&lowering, &inlining, id, bytes)?;
        bytes = plan.compiled_bytes;
        let plan = plan.without_dead_steps(module, effects, &inlining);
        Ok(match fuses {
            true => {
                let waits = may_run_ahead.then(|| Waits::of(&plan, module, effects)).flatten();
                let plan =
                    plan.fused(waits.as_ref()).without_dead_steps(module, effects, &inlining);
                plan.ordered(module, effects)
            }
            false => plan,
        })
    };
    let built = module.computations.ids().map(plan);
    let plans: Result<Vec<_>> = built.map(|plan| Ok(assign(plan?))).collect();
    let (mut plans, memory): (Vec<Plan>, Vec<_>) = plans?.into_iter().unzip();
    super::peak::set_peaks(module, &mut plans, &memory);
    Ok(plans)
}

/// The number of an array of a plan. A value has one array for each leaf of its shape.
pub(super) type ArrayId = usize;

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
    shapes: FxHashSet<Arc<ArrayShape>>,
    /// The arrays of scalar constants, by type and bytes.
    scalars: FxHashMap<(ElementType, SmallVec<[u8; 16]>), ArrayId>,
    /// Bytes of the compiled form so far, with those of the computations before.
    compiled_bytes: usize,
}

/// The arrays of an instruction's value.
pub(super) type ArrayIds = Rc<[ArrayId]>;

pub(super) struct PlanBuilder<'a> {
    pub(super) lowering: &'a Lowering<'a>,
    inlining: &'a Inlining,
    pub(super) computation: &'a Computation,
    pub(super) plan: UnallocatedPlan,
    /// The arrays of each instruction so far.
    pub(super) values: Vec<ArrayIds>,
    /// The number of uses of each instruction, and the parts of values that have an array.
    pub(super) users: Vec<usize>,
    pub(super) parts: SliceArrays,
    /// The parameters found, by number.
    parameters: Vec<ArrayIds>,
    /// The values that have a step so far.
    pub(super) computed: Computed<'a>,
    /// The first array of each element of tuple-shaped instructions.
    offsets: FxHashMap<InstructionId, Vec<usize>>,
    /// Instructions since the last step.
    pub(super) fuel: u64,
    /// Whether arrays that depend on constants only are computed here.
    folds: bool,
}

impl UnallocatedPlan {
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
    fn shared(&mut self, shape: ArrayShape) -> Arc<ArrayShape> {
        if let Some(shape) = self.shapes.get(&shape) {
            return Arc::clone(shape);
        }
        let shape = Arc::new(shape);
        self.shapes.insert(Arc::clone(&shape));
        shape
    }
    fn empty(computation: ComputationId) -> Self {
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
    /// Returns the plan of a computation, after plans of this many bytes.
    fn of(
        lowering: &Lowering<'_>,
        inlining: &Inlining,
        id: ComputationId,
        compiled_bytes: usize,
    ) -> Result<Self> {
        let computation = &lowering.module().computations[id];
        let (is_entry, config) = (lowering.module().entry == id, &lowering.module().config);
        let plan = Self { compiled_bytes, ..Self::empty(id) };
        let mut builder = PlanBuilder::new(lowering, inlining, computation, plan);
        builder.parameters = (computation.parameters().into_iter())
            .map(|id| builder.fresh(&computation.instructions[id].shape))
            .collect();
        for (number, arrays) in (0..).zip(&builder.parameters) {
            for &array in arrays.iter() {
                let array = &mut builder.plan.arrays[array];
                (array.is_parameter, array.is_kept) =
                    (true, is_entry && !config.is_donated(number));
            }
        }
        builder.instructions(id)?;
        Ok(builder.finish())
    }
}

impl<'a> PlanBuilder<'a> {
    fn new(
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
            offsets: FxHashMap::default(),
            fuel: 0,
            folds: lowering.folds_constants(),
        }
    }
    fn instructions(&mut self, computation: ComputationId) -> Result<()> {
        for (instruction, definition) in self.computation.instructions.iter() {
            self.fuel += 1;
            self.lowering.limits.check(self.plan.compiled_bytes)?;
            let arrays = self.instruction(Site { computation, instruction }, definition)?;
            self.values.push(arrays);
        }
        Ok(())
    }
    /// Adds the steps of a computation that an instruction calls; returns the arrays of its result.
    pub(super) fn inlined(
        &mut self,
        callee: ComputationId,
        parameters: Vec<ArrayIds>,
    ) -> Result<ArrayIds> {
        let computation = &self.lowering.module().computations[callee];
        let plan = std::mem::replace(&mut self.plan, UnallocatedPlan::empty(callee));
        let mut inner = PlanBuilder::new(self.lowering, self.inlining, computation, plan);
        inner.parameters = parameters;
        inner.computed = std::mem::take(&mut self.computed);
        inner.fuel = self.fuel;
        inner.instructions(callee)?;
        let result = Rc::clone(&inner.values[computation.root.index()]);
        (self.plan, self.computed, self.fuel) = (inner.plan, inner.computed, inner.fuel);
        Ok(result)
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
    fn constant(&mut self, value: Value) -> ArrayIds {
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

    /// Returns the arrays of an instruction; adds a step if it has one.
    fn instruction(&mut self, site: Site, instruction: &'a Instruction) -> Result<ArrayIds> {
        if let Some(arrays) = self.renamed(instruction) {
            return Ok(arrays);
        }
        if let Some(callee) = self.inlining.callee(instruction) {
            let parameters = instruction.operands.iter();
            let parameters = parameters.map(|o| Rc::clone(&self.values[o.index()])).collect();
            return self.inlined(callee, parameters);
        }
        let lowering = self.lowering;
        let at = SlicePosition::new(lowering, site);
        if let Some(arrays) = self.folds.then(|| self.sliced_value(at, instruction)).flatten() {
            return Ok(arrays);
        }
        let is_active = self.inlining.is_active();
        let transpose_folded =
            is_active.then(|| self.transpose_folded(site, instruction)).flatten();
        let key = transpose_folded.unwrap_or_else(|| {
            let operands = instruction.operands.iter().map(|&id| self.operand(id));
            ValueKey::new(Cow::Borrowed(instruction), operands)
        });
        let lowered = lowering.lower(site, &key);
        if let Op::While(op) = &instruction.op
            && lowered.action.loop_program().is_none()
            && let Some(iterations) =
                self.inlining.iterations(lowering.module(), self.computation, instruction)
        {
            return self.unrolled(op, key.arrays().collect(), iterations);
        }
        if is_active && let Some(arrays) = self.folded(&key, &lowered) {
            return Ok(arrays);
        }
        let is_alone = is_active && is_alone(&key, &lowered);
        if is_alone && let Some(arrays) = self.common(&key, lowered.fuel) {
            return Ok(arrays);
        }
        let outputs = self.fresh(&instruction.shape);
        let Lowered { action, fuel, scratch, applies } = lowered;
        self.step(site, action, key.arrays().collect(), &outputs, fuel);
        let step = self.plan.steps.last_mut().expect("it is added above");
        step.bytes = bytes_of(&instruction.shape);
        (step.scratch, step.applies) = (scratch, applies);
        if is_alone {
            self.computed.insert(key, Rc::clone(&outputs));
        }
        Ok(outputs)
    }
    /// Returns the arrays and the shape of an instruction of the computation.
    pub(super) fn operand(&self, id: InstructionId) -> OperandKey<'a> {
        let shape = &self.computation.instructions[id].shape;
        (Rc::clone(&self.values[id.index()]), Cow::Borrowed(shape))
    }
    /// Returns the arrays of a small array that follows from constants.
    fn folded(&mut self, key: &ValueKey<'_>, lowered: &Lowered) -> Option<ArrayIds> {
        let is_small = |bytes: Option<usize>| bytes.is_some_and(|bytes| bytes <= FOLDED_BYTES);
        let shape = key.instruction().shape.array().filter(|shape| is_small(shape.byte_count()))?;
        let value = |array: ArrayId| match &self.plan.arrays[array].value {
            Some(Value::Array(value)) if value.bytes().len() <= FOLDED_BYTES => Some(value),
            Some(_) | None => None,
        };
        let operands: Vec<&Array> = key.arrays().map(value).collect::<Option<_>>()?;
        let shape = static_shape(shape);
        let result = if let Action::Bitcast = lowered.action {
            operands[0].with_shape(Arc::new(shape))
        } else {
            let mut result = Array::zeros(shape);
            let operands: Vec<_> = operands.into_iter().map(Some).collect();
            lowered.action.kernel()?.fold(&operands, &mut result).then_some(result)?
        };
        self.fuel = self.fuel.saturating_add(lowered.fuel);
        Some(self.constant(Value::Array(result)))
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
            fuses: Vec::new(),
        });
    }
    pub(super) fn operand_shapes(&self, instruction: &Instruction) -> Vec<&Shape> {
        let operands = instruction.operands.iter();
        operands.map(|&operand| &self.computation.instructions[operand].shape).collect()
    }

    /// Returns the arrays of an instruction that has no step: a parameter, a constant, or a
    /// renaming of operands' arrays.
    #[expect(clippy::wildcard_enum_match_arm, reason = "other ops have a step")]
    fn renamed(&mut self, instruction: &Instruction) -> Option<ArrayIds> {
        let operand = |i: usize| Rc::clone(&self.values[instruction.operands[i].index()]);
        if instruction.opcode().aliases_operand() {
            return Some(operand(0));
        }
        match &instruction.op {
            Op::Parameter(parameter) => {
                Some(Rc::clone(&self.parameters[to_usize(parameter.number)]))
            }
            Op::Constant(constant) => match &*constant.value {
                ConstantValue::Literal(value) => {
                    let value = with_layouts(value.clone(), &instruction.shape);
                    Some(self.constant(value.into()))
                }
                ConstantValue::Elided(_) => None,
            },
            Op::Broadcast(op) if self.folds => self.repeated(op, instruction),
            Op::AfterAll(_) => Some(self.constant(Value::Token)),
            Op::Tuple(_) => {
                let operands = instruction.operands.iter();
                Some(operands.flat_map(|o| self.values[o.index()].iter().copied()).collect())
            }
            Op::GetTupleElement(op) => {
                let (tuple, index) = (instruction.operands[0], to_usize(op.index));
                let arrays = operand(0);
                let shape = &self.computation.instructions[tuple].shape;
                let offsets = self.offsets.entry(tuple).or_insert_with(|| offsets(shape));
                Some(arrays[offsets[index]..offsets[index + 1]].into())
            }
            _ => None,
        }
    }

    /// Returns the arrays of a broadcast scalar constant, if it takes little memory.
    fn repeated(&mut self, op: &Broadcast, instruction: &Instruction) -> Option<ArrayIds> {
        let shape = instruction.shape.array().filter(|shape| shape.dynamic.is_none())?;
        shape.byte_count().filter(|&bytes| (1..=FOLDED_BYTES).contains(&bytes))?;
        let array = *self.values[instruction.operands[0].index()].first()?;
        match &self.plan.arrays[array].value {
            Some(Value::Array(scalar)) if op.dimensions.is_empty() => {
                let value = affine(scalar, shape, 0, &Dims::from_elem(0, shape.rank()));
                Some(self.constant(Value::Array(value)))
            }
            Some(_) | None => None,
        }
    }

    fn finish(mut self) -> UnallocatedPlan {
        self.plan.results = self.values[self.computation.root.index()].to_vec();
        self.plan.parameters = self.parameters.iter().flat_map(|p| p.iter().copied()).collect();
        self.plan.fuel = self.fuel;
        self.plan
    }
}

/// Returns the first array of each element of a tuple, and the end of the last one.
fn offsets(shape: &Shape) -> Vec<usize> {
    let elements = shape.tuple().expect("verified: a tuple");
    let mut offsets = Vec::with_capacity(elements.len() + 1);
    offsets.push(0);
    let mut end = 0;
    for element in elements {
        end += element.leaves().len();
        offsets.push(end);
    }
    offsets
}
