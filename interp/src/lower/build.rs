//! Plan construction: arrays, steps, last uses.
use super::buffers::assign;
use super::builder::PlanBuilder;
use super::inline::Inlining;
use super::invariants;
use super::limits::CompileLimits;
use super::lowering::{Lowered, Lowering};
use super::transpose_folding::transpose_folded;
use super::unallocated::{ArrayId, ArrayIds, UnallocatedPlan};
use super::value_key::ValueKey;
use super::waits::{Waits, may_run_ahead};
use crate::Result;
use crate::analysis::Analysis;
use crate::options::Engine;
use crate::plan::{Action, Plan};
use crate::state::Site;
use crate::value::Value;
use hlo::ir::{ComputationId, Instruction};
use hlo::literal::ConstantValue;
use hlo::op::Broadcast;
use hlo::{Array, Dims, Module, Op, Shape};
use kernels::data_movement::affine;
use num::array::{bytes_of, static_shape, with_layouts};
use num::index::to_usize;
use num::scalar_program::ScalarPrograms;
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
    let lowering = Lowering::new(Analysis::of(module, engine, programs), limits);
    let inlining = Inlining::of(module, fuses);
    let effects = &lowering.analysis.effects;
    let may_run_ahead = may_run_ahead(module);
    let mut bytes = 0;
    let plan = |id| -> Result<UnallocatedPlan> {
        let plan = UnallocatedPlan::of(&lowering, &inlining, id, bytes)?;
        bytes = plan.compiled_bytes;
        Ok(plan.without_dead_steps(module, effects, &inlining))
    };
    let mut built: Vec<UnallocatedPlan> =
        module.computations.ids().map(plan).collect::<Result<_>>()?;
    if fuses && !may_run_ahead {
        invariants::hoist(module, &mut built);
    }
    let in_frames = in_frames(module, &built);
    let complete = |plan: UnallocatedPlan| match fuses {
        true => {
            let runs_small = !may_run_ahead && in_frames[plan.computation.index()];
            let plan = if runs_small { plan.with_programs(&lowering) } else { plan };
            let waits = may_run_ahead.then(|| Waits::of(&plan, module, effects)).flatten();
            let plan = plan.fused(waits.as_ref()).without_dead_steps(module, effects, &inlining);
            plan.ordered(module, effects)
        }
        false => plan,
    };
    let plans = built.into_iter().map(|plan| assign(complete(plan)));
    let (mut plans, memory): (Vec<Plan>, Vec<_>) = plans.unzip();
    super::peak::set_peaks(module, &mut plans, &memory);
    Ok(plans)
}

/// Returns which computations frames run, by their numbers: not those of loops that are programs.
fn in_frames(module: &Module, plans: &[UnallocatedPlan]) -> Vec<bool> {
    let mut found = vec![false; plans.len()];
    let mut open = vec![module.entry];
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut found[id.index()], true) {
            for step in &plans[id.index()].steps {
                let callees = step.action.loop_program().is_none().then(|| step.action.callees());
                open.extend(callees.into_iter().flatten().chain(step.applies.iter().copied()));
            }
        }
    }
    found
}

impl UnallocatedPlan {
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
        inner.uniforms = std::mem::take(&mut self.uniforms);
        inner.fuel = self.fuel;
        inner.instructions(callee)?;
        let result = Rc::clone(&inner.values[computation.root.index()]);
        (self.plan, self.computed, self.fuel) = (inner.plan, inner.computed, inner.fuel);
        self.uniforms = inner.uniforms;
        Ok(result)
    }

    /// Returns the arrays of an instruction; adds a step if it has one.
    fn instruction(&mut self, site: Site, instruction: &'a Instruction) -> Result<ArrayIds> {
        if let Some(arrays) = self.renamed(instruction) {
            if let [array] = *arrays {
                self.note_uniform(instruction, array);
            }
            return Ok(arrays);
        }
        if let Some(callee) = self.inlining.callee(instruction) {
            let parameters = instruction.operands.iter();
            let parameters = parameters.map(|o| Rc::clone(&self.values[o.index()])).collect();
            return self.inlined(callee, parameters);
        }
        let lowering = self.lowering;
        if let Some(arrays) = self.folds.then(|| self.sliced_value(site, instruction)).flatten() {
            return Ok(arrays);
        }
        let is_active = self.inlining.is_active();
        let of_users = (self.computation, &*self.users);
        let folded = is_active.then(|| transpose_folded(&lowering.analysis, of_users, site));
        let folded = folded.flatten();
        let is_whole = folded.is_none();
        let of = folded.map_or(Cow::Borrowed(instruction), Cow::Owned);
        let operands: Vec<_> = of.operands.iter().map(|&id| self.operand(id)).collect();
        let key = ValueKey::new(of, operands);
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
        if is_active
            && self.folds
            && let Some(arrays) = self.uniform(site, instruction, lowered.fuel)
        {
            return Ok(arrays);
        }
        let is_alone = is_active && lowered.is_alone(&key);
        if is_alone && let Some(arrays) = self.common(&key, lowered.fuel) {
            return Ok(arrays);
        }
        let outputs = self.fresh(&instruction.shape);
        let Lowered { action, fuel, scratch, applies } = lowered;
        self.step(site, action, key.arrays().collect(), &outputs, fuel);
        let step = self.plan.steps.last_mut().expect("it is added above");
        step.bytes = bytes_of(&instruction.shape);
        (step.scratch, step.applies, step.is_whole) = (scratch, applies, is_whole);
        if is_alone {
            self.computed.insert(key, Rc::clone(&outputs));
        }
        if let [array] = *outputs {
            self.note_uniform(instruction, array);
        }
        Ok(outputs)
    }
    /// Returns the arrays of a small array that follows from constants.
    pub(super) fn folded(&mut self, key: &ValueKey<'_>, lowered: &Lowered) -> Option<ArrayIds> {
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
