//! Loop-invariant steps: what each iteration of a loop of frames computes alike from the values that
//! the loop carries on becomes steps before it, whose results the loop carries too.
//!
//! Such a step has no effect, takes no fuel while it runs, and cannot fail: it may run before a loop
//! without an iteration.
use super::unallocated::{ArrayId, ArrayInfo, UnallocatedPlan, UnallocatedStep};
use crate::plan::Action;
use hlo::Module;
use hlo::ir::ComputationId;
use hlo::op::Kind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::mem::{replace, take};

/// The most bytes of what is computed before a loop: it lives as long as the loop.
const MOST: usize = 1 << 24;

/// Moves the invariant steps of the loops in the plans of a module, which are sorted by computation,
/// in front of them. Those of a loop within a loop move on if its computation comes before the one
/// that it is in.
pub(super) fn hoist(module: &Module, plans: &mut [UnallocatedPlan]) {
    let mut callers = vec![0usize; plans.len()];
    for step in plans.iter().flat_map(|plan| &plan.steps) {
        for callee in step.action.callees().iter().chain(&step.applies) {
            callers[callee.index()] += 1;
        }
    }
    for id in module.computations.ids() {
        let mut plan = replace(&mut plans[id.index()], UnallocatedPlan::empty(id));
        let mut at = 0;
        while let Some(step) = plan.steps.get(at) {
            if let Action::While { condition, body, .. } = step.action
                && step.action.loop_program().is_none()
                && [condition, body].iter().all(|id| callers[id.index()] == 1)
            {
                at += plan.hoist(at, module, plans, [condition, body]);
            }
            at += 1;
        }
        plans[id.index()] = plan;
    }
}

impl UnallocatedPlan {
    /// Moves the invariant steps of a loop, a step of this plan; returns how many they are.
    fn hoist(
        &mut self,
        at: usize,
        module: &Module,
        plans: &mut [Self],
        [condition, body]: [ComputationId; 2],
    ) -> usize {
        let both = plans.get_disjoint_mut([condition.index(), body.index()]);
        let Ok([condition, body]) = both else { return 0 };
        // The arrays of this plan that stand for arrays of the body.
        let mut outer: FxHashMap<ArrayId, ArrayId> = FxHashMap::default();
        let leaves = body.parameters.iter().zip(&body.results).zip(&self.steps[at].inputs);
        for ((&parameter, _), &input) in leaves.filter(|((parameter, next), _)| parameter == next) {
            outer.insert(parameter, input);
        }
        let moved = body.invariants(&outer, module);
        let count = moved.iter().filter(|is_moved| **is_moved).count();
        if count == 0 {
            return 0;
        }
        let (mut before, mut fuel) = (Vec::with_capacity(count), 0);
        let mut moved = moved.into_iter();
        let mut kept = Vec::with_capacity(body.steps.len() - count);
        for mut step in take(&mut body.steps) {
            step.fuel = step.fuel.saturating_add(take(&mut fuel));
            if moved.next() != Some(true) {
                kept.push(step);
                continue;
            }
            // Each iteration takes it, as if it computed the step.
            fuel = take(&mut step.fuel);
            for array in &mut step.inputs {
                *array = *outer.entry(*array).or_insert_with(|| self.copied(&body.arrays[*array]));
            }
            for array in &mut step.outputs {
                let own = self.copied(&body.arrays[*array]);
                outer.insert(*array, own);
                *array = own;
            }
            before.push(step);
        }
        body.steps = kept;
        body.fuel = body.fuel.saturating_add(fuel);
        let computed: FxHashSet<ArrayId> =
            before.iter().flat_map(|step| step.outputs.iter().copied()).collect();
        let mut seen = FxHashSet::default();
        let read = body.steps.iter().flat_map(|step| &step.inputs).chain(&body.results);
        let carried: Vec<ArrayId> = (read.copied())
            .filter(|array| outer.get(array).is_some_and(|own| computed.contains(own)))
            .filter(|array| seen.insert(*array))
            .collect();
        for array in carried {
            body.arrays[array].is_parameter = true;
            body.parameters.push(array);
            body.results.push(array);
            let result = self.copied(&body.arrays[array]);
            let step = &mut self.steps[at];
            step.inputs.push(outer[&array]);
            step.outputs.push(result);
            let info = self.arrays[result].copied(true);
            condition.parameters.push(condition.arrays.len());
            condition.arrays.push(info);
        }
        body.set_last_uses();
        self.steps.splice(at..at, before);
        self.set_last_uses();
        count
    }

    /// Adds an array like one of another plan.
    fn copied(&mut self, info: &ArrayInfo) -> ArrayId {
        self.arrays.push(info.copied(false));
        self.arrays.len() - 1
    }

    /// Returns which steps of a body depend on nothing but these values, which it does not change.
    fn invariants(&self, unchanged: &FxHashMap<ArrayId, ArrayId>, module: &Module) -> Vec<bool> {
        let mut known: FxHashSet<ArrayId> = unchanged.keys().copied().collect();
        let mut bytes = 0usize;
        let is_moved = |step: &UnallocatedStep| {
            let total = step.output_bytes(&self.arrays).saturating_add(bytes);
            let is_known = |array: &ArrayId| known.contains(array);
            let are_known = step.inputs.iter().any(is_known)
                && step.inputs.iter().all(|a| is_known(a) || self.arrays[*a].value.is_some());
            let is_moved = are_known && total <= MOST && step.is_movable(module);
            if is_moved {
                known.extend(&step.outputs);
                bytes = total;
            }
            is_moved
        };
        let mut moved: Vec<bool> = self.steps.iter().map(is_moved).collect();
        // What is read faster from its operands than from memory is computed where it is read.
        let mut read: FxHashSet<ArrayId> = FxHashSet::default();
        for (step, is_moved) in self.steps.iter().zip(&mut moved).rev() {
            let from: FxHashSet<ArrayId> = step.inputs.iter().copied().collect();
            let from = from.iter().map(|&array| self.arrays[array].bytes);
            let is_smaller = step.output_bytes(&self.arrays) <= from.fold(0, usize::saturating_add);
            let is_worth = is_smaller && !matches!(step.action, Action::Bitcast);
            *is_moved &= is_worth || step.outputs.iter().any(|array| read.contains(array));
            read.extend(step.inputs.iter().filter(|_| *is_moved));
        }
        moved
    }
}

impl UnallocatedStep {
    fn is_movable(&self, module: &Module) -> bool {
        let instruction = self.site.of(module);
        let is_pure = matches!(instruction.opcode().kind(), Kind::Array | Kind::Value);
        let is_computed = matches!(self.action, Action::Kernel(_) | Action::Bitcast);
        // What applies a computation to elements takes fuel for that while it runs.
        let mut is_alone = true;
        instruction.op.each_callee(&mut |_| is_alone = false);
        is_pure && is_computed && is_alone && self.part.is_none()
    }
}

impl ArrayInfo {
    fn copied(&self, is_parameter: bool) -> Self {
        Self {
            shape: self.shape.clone(),
            bytes: self.bytes,
            is_parameter,
            is_kept: false,
            value: self.value.clone(),
            last_use: None,
        }
    }
}
