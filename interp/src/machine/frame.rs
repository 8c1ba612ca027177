//! Frames of running computations.
use super::ahead::{Ahead, PartStep};
use crate::plan::{Input, Plan, Step};
use crate::scan::Scan;
use crate::value::{AsyncId, Value};
use hlo::Array;
use hlo::ir::ComputationId;
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// A running computation.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) computation: ComputationId,
    /// The value of each leaf that is live.
    pub(super) slots: Vec<Option<Value>>,
    /// The current step.
    pub(super) next: usize,
    /// The number of iterations that the current loop has begun.
    pub(super) iterations: u64,
    /// The use of the results of the computations that the current step calls.
    pub(super) control: Control,
    /// Whether it belongs to an iteration of a loop, so that its steps are executed again.
    pub(super) repeats: bool,
    /// Frames that its steps called in earlier iterations, kept to reuse their memory.
    pub(super) callees: FxHashMap<usize, Self>,
    /// The start of the step, if an observer measures it.
    pub(super) open: Option<Open>,
    /// The steps that it has left behind, if it has run ahead of a step that waits.
    pub(super) ahead: Option<Box<Ahead>>,
    /// The step that it executes alone.
    pub(super) part: Option<PartStep>,
}

/// The use of the result of a computation that a step called.
#[derive(Debug)]
pub(super) enum Control {
    /// It is the result of the step.
    None,
    /// It is the condition of a loop, or its next value.
    While(Box<LoopState>),
    /// It is one step of a scan.
    Scan(Box<Scan>),
    /// It is the result of an asynchronous operation.
    Async(AsyncId),
}

/// The state of a `while`.
#[derive(Debug)]
pub(super) struct LoopState {
    pub(super) condition: ComputationId,
    pub(super) body: ComputationId,
    /// The leaves of the loop's value.
    pub(super) carried: Vec<Value>,
    /// Frames of earlier iterations, kept to reuse their memory.
    pub(super) condition_frame: Option<Frame>,
    pub(super) body_frame: Option<Frame>,
    pub(super) in_body: bool,
}

/// The start time of a step, and the part of its time that nested steps account for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) start: Instant,
    pub(super) inner: Duration,
}

impl Frame {
    pub(super) fn new(plan: &Plan) -> Self {
        Self { slots: plan.initial.clone(), ..Self::without_slots(plan) }
    }
    pub(super) fn without_slots(plan: &Plan) -> Self {
        Self {
            computation: plan.computation,
            slots: Vec::new(),
            next: 0,
            iterations: 0,
            control: Control::None,
            repeats: false,
            callees: FxHashMap::default(),
            open: None,
            ahead: None,
            part: None,
        }
    }
    /// Returns whether it does something else than the steps of its plan in order.
    pub(super) fn is_out_of_order(&self) -> bool {
        self.ahead.is_some() || self.part.is_some()
    }
    /// Moves to the first step, with these leaves of the parameters.
    pub(super) fn set_parameters(
        &mut self,
        plan: &Plan,
        arguments: impl IntoIterator<Item = Value>,
    ) {
        self.next = 0;
        for (argument, slot) in arguments.into_iter().zip(&plan.parameters) {
            if let Some(slot) = slot {
                self.slots[slot.index()] = Some(argument);
            }
        }
    }
    /// Returns the value of an input; its last use moves it out of the slot.
    pub(super) fn take(&mut self, input: Input) -> Value {
        let slot = &mut self.slots[input.slot.index()];
        let value = if input.is_last { slot.take() } else { slot.clone() };
        value.expect("a slot has a value from its definition to its last use")
    }
    /// Returns the arrays that a step has computed.
    pub(super) fn outputs(&self, step: &Step) -> Vec<Array> {
        let values = step.outputs.iter().map(|output| self.slots[output.slot.index()].as_ref());
        let array = |value: Option<&Value>| match value {
            Some(Value::Array(array)) => Some(array.clone()),
            Some(Value::Tuple(_) | Value::Token | Value::Async(_)) | None => None,
        };
        values.filter_map(array).collect()
    }
    /// Returns the inputs of a step, in order.
    pub(super) fn take_inputs(&mut self, step: &Step) -> Vec<Value> {
        step.inputs.iter().map(|&input| self.take(input)).collect()
    }
    /// Returns the leaves of the result, in order.
    pub(super) fn take_results(&mut self, plan: &Plan) -> Vec<Value> {
        plan.results.iter().map(|&input| self.take(input)).collect()
    }
}
