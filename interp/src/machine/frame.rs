//! Frames: a computation that is being run.
use super::control::Loop;
use crate::plan::{Input, Plan, Step};
use crate::scan::Scan;
use crate::value::{AsyncId, Value};
use hlo::ir::ComputationId;
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};

/// A computation that is being run.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) computation: ComputationId,
    /// The value of each leaf that is live.
    pub(super) slots: Vec<Option<Value>>,
    /// The step it is at.
    pub(super) next: usize,
    /// The number of rounds begun by the loop it is at.
    pub(super) rounds: u64,
    /// What the step it is at does with the results of the computations it calls.
    pub(super) control: Control,
    /// Whether it belongs to a round of a loop, so that its steps are executed again.
    pub(super) repeats: bool,
    /// Frames that its steps have called in earlier rounds: their memory is used again.
    pub(super) callees: FxHashMap<usize, Self>,
    /// The start of the step, if an observer measures it.
    pub(super) open: Option<Open>,
}

/// What a step does with the result of the computation it called.
#[derive(Debug)]
pub(super) enum Control {
    /// It is the result of the step.
    None,
    /// It decides whether a loop goes on, or is its next value.
    While(Box<Loop>),
    /// It is one step of a scan.
    Scan(Box<Scan>),
    /// It is the result of an operation that was started.
    Async(AsyncId),
}

/// When a step was begun, and how much of its time other steps were measured in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Open {
    pub(super) start: Instant,
    pub(super) inner: Duration,
}

impl Frame {
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            computation: plan.computation,
            slots: plan.initial.clone(),
            next: 0,
            rounds: 0,
            control: Control::None,
            repeats: false,
            callees: FxHashMap::default(),
            open: None,
        }
    }
    /// Begins at the first step with these leaves of the parameters.
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
    /// The value of an input; it leaves the slot at its last use.
    pub(super) fn take(&mut self, input: Input) -> Value {
        let slot = &mut self.slots[input.slot.index()];
        let value = if input.is_last { slot.take() } else { slot.clone() };
        value.expect("a slot has a value from its definition to its last use")
    }
    /// The inputs of a step, in order.
    pub(super) fn take_inputs(&mut self, step: &Step) -> Vec<Value> {
        step.inputs.iter().map(|&input| self.take(input)).collect()
    }
    /// The leaves of the result, in order.
    pub(super) fn take_results(&mut self, plan: &Plan) -> Vec<Value> {
        plan.results.iter().map(|&input| self.take(input)).collect()
    }
}
