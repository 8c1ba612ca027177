//! One run: the tasks of all devices, and the operations they wait for.
use crate::async_ops::{AsyncOps, AsyncState};
use crate::device_state::DeviceState;
use crate::message_queue::{MessageKey, MessageQueue};
use crate::order::Order;
use crate::rank_exchange::{RankExchange, Stage};
use crate::rendezvous::{Participant, Rendezvous, RendezvousTable};
use crate::send_recv::SendRecvQueues;
use crate::task::{SpawnPath, Task, TaskState, WaitReason, Waiter};
use crate::{Code, Error, Ranks, Result};
use hlo::{Literal, Module};
use interp::{AsyncId, DeviceGrid, Executable, Outcome, Position, RunOptions, Value};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The state of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) executable: Executable,
    pub(crate) grid: DeviceGrid,
    options: RunOptions,
    pub(crate) tasks: Vec<Task>,
    pub(crate) rendezvous: RendezvousTable,
    pub(crate) messages: MessageQueue,
    /// The receivers that wait for a message.
    pub(crate) receivers: BTreeMap<MessageKey, Participant>,
    pub(crate) send_recv: SendRecvQueues,
    pub(crate) async_ops: AsyncOps,
    /// Rendezvous that all members have joined.
    pub(crate) complete: Vec<Rendezvous>,
    pub(crate) results: Vec<Option<Literal>>,
    order: Option<Order>,
    pub(crate) rank_exchange: Option<RankExchange>,
}

/// The results of all devices, and the most bytes that a device of this rank held at once.
pub(crate) type Finished = (Vec<Literal>, usize);

impl Run {
    /// Returns a run with these device states; `ranks` step the devices that are remote.
    pub(crate) fn new(
        (executable, grid): (Executable, DeviceGrid),
        options: &RunOptions,
        states: Vec<DeviceState>,
        ranks: Option<Ranks>,
    ) -> Self {
        let results = vec![None; states.len()];
        let task = |(device, state)| Task::new(device, state, None);
        Self {
            executable,
            grid,
            options: options.clone(),
            tasks: states.into_iter().enumerate().map(task).collect(),
            rendezvous: RendezvousTable::default(),
            messages: MessageQueue::default(),
            receivers: BTreeMap::default(),
            send_recv: SendRecvQueues::default(),
            async_ops: AsyncOps::default(),
            complete: Vec::new(),
            results,
            order: options.order.map(Order::new),
            rank_exchange: ranks.map(RankExchange::new),
        }
    }
    pub(crate) fn module(&self) -> &Module {
        self.executable.module()
    }
    /// Returns the error of one device at an instruction.
    pub(crate) fn device_error(
        &self,
        device: usize,
        position: Position,
        error: interp::Error,
    ) -> Error {
        let error = position.locate(error, self.module());
        Code::Device { device, error }.into()
    }

    /// Steps every runnable task until all have finished.
    pub(crate) fn finish(mut self) -> Result<Finished> {
        loop {
            let ready = self.ready();
            let mut steps: Vec<Option<Result<Outcome>>> = (self.tasks.par_iter_mut())
                .enumerate()
                .map(|(i, task)| if ready.contains(i) { task.resume() } else { None })
                .collect();
            // Also if no task is ready: another rank may report the failure of the last round.
            self.exchange_steps(&ready, &mut steps)?;
            if ready.is_empty() {
                break;
            }
            self.serve_round(&ready, steps)
                .or_else(|(stage, error)| self.report_failure(stage, error))?;
        }
        let module = self.module();
        if self.results.iter().any(Option::is_none) {
            self.rendezvous.check_same_groups(module)?;
            return Err(Code::Deadlock { deadlock: self.deadlock() }.into());
        }
        self.rendezvous.check_all_joined(module)?;
        self.messages.check_all_received(module)?;
        self.send_recv.check_all_received(module)?;
        let peaks = self.tasks.iter().map(|task| task.device_state.peak_bytes());
        let peak_bytes = peaks.max().unwrap_or(0);
        Ok((self.results.into_iter().flatten().collect(), peak_bytes))
    }

    /// Handles the steps of one round; an error comes with the stage at which it occurred.
    ///
    /// Steps are handled in order, so that the result does not depend on which was faster.
    fn serve_round(
        &mut self,
        ready: &Ready,
        mut steps: Vec<Option<Result<Outcome>>>,
    ) -> Result<(), (Stage, Error)> {
        for (place, &i) in ready.order().iter().enumerate() {
            if let Some(step) = steps[i].take() {
                self.handle_step(i, step).map_err(|error| (Stage::Task(place), error))?;
            }
        }
        self.exchange_complete_groups()
    }

    /// Returns the tasks that are stepped next, in order.
    fn ready(&mut self) -> Ready {
        let all = self.tasks.iter().enumerate().filter(|(_, task)| task.is_ready());
        let mut order: Vec<usize> = all.map(|(i, _)| i).collect();
        if let Some(chance) = &mut self.order {
            chance.select(&mut order);
        }
        Ready::new(order, self.tasks.len())
    }

    fn handle_step(&mut self, i: usize, step: Result<Outcome>) -> Result<()> {
        match step? {
            Outcome::Suspended(suspension) => {
                let position = suspension.position;
                let served = self.handle_suspension(i, suspension);
                served.map_err(|error| error.at(position.site(self.module())))
            }
            Outcome::Done(result) => {
                self.tasks[i].state = TaskState::Finished;
                match self.tasks[i].async_id.take() {
                    Some(async_id) => self.complete_waiter(Waiter::Async(async_id), result),
                    None => {
                        self.results[self.tasks[i].device] = Some(result);
                        Ok(())
                    }
                }
            }
            _ => Err(Code::Unsupported {
                message: "a machine stopped for an unknown reason".to_owned(),
            }
            .into()),
        }
    }

    /// Exchanges the values of every complete group.
    fn exchange_complete_groups(&mut self) -> Result<(), (Stage, Error)> {
        let complete = std::mem::take(&mut self.complete);
        let orders: Vec<Option<Vec<usize>>> = (complete.iter())
            .map(|rendezvous| {
                self.order.as_mut().map(|order| order.permutation(rendezvous.members.len()))
            })
            .collect();
        let (executable, options) = (&self.executable, &self.options);
        let own = self.local_devices();
        let exchanged: Vec<_> = (complete.into_par_iter().zip(orders))
            .map(|(rendezvous, order)| {
                let all: Vec<Participant> = rendezvous.joined.into_iter().flatten().collect();
                let given: Vec<&[Literal]> = all.iter().map(|one| &*one.operands).collect();
                let position = all[0].position;
                // No local task uses the results of a group without a local member.
                let results = match rendezvous.members.iter().any(|device| own.contains(device)) {
                    true => interp::collective::exchange(
                        executable,
                        options,
                        position.instruction(executable.module()),
                        &given,
                        order.as_deref(),
                    ),
                    false => Ok(vec![Literal::token(); all.len()]),
                };
                let waiters: Vec<Waiter> = all.iter().map(|one| one.waiter).collect();
                (waiters, (rendezvous.members[0], position), results)
            })
            .collect();
        for (place, (waiters, (device, position), results)) in exchanged.into_iter().enumerate() {
            let results = results.map_err(|error| self.device_error(device, position, error));
            let given = results.and_then(|results| {
                let mut given = waiters.into_iter().zip(results);
                given.try_for_each(|(waiter, result)| self.complete_waiter(waiter, result))
            });
            given.map_err(|error| (Stage::Group(place), error))?;
        }
        Ok(())
    }

    /// Resumes a task with the value of the instruction at which it is suspended.
    pub(crate) fn resume_task(&mut self, i: usize, value: Value) -> Result<()> {
        let task = &mut self.tasks[i];
        let device = task.device;
        task.state = TaskState::Ready;
        task.device_state.resume_with(value).map_err(|error| Code::Device { device, error }.into())
    }
    /// Completes the operation that a waiter waits for.
    pub(crate) fn complete_waiter(&mut self, waiter: Waiter, value: Literal) -> Result<()> {
        let async_id = match waiter {
            Waiter::Task(i) => return self.resume_task(i, value.into()),
            Waiter::Async(async_id) => async_id,
        };
        // The value of an operation without a done is dropped.
        let Some(started) = self.async_ops.get_mut(async_id) else { return Ok(()) };
        if let AsyncState::Pending { done: Some(i), .. } = *started {
            self.async_ops.finish(async_id);
            return self.resume_task(i, value.into());
        }
        *started = AsyncState::Done(value);
        Ok(())
    }
    /// Suspends a task.
    pub(crate) fn suspend(&mut self, i: usize, position: Position, on: WaitReason) {
        self.tasks[i].state = TaskState::Waiting(position, on);
    }
    /// Records what a waiter waits for: on the task itself, or on the async operation.
    pub(crate) fn record_wait(&mut self, waiter: Waiter, position: Position, on: WaitReason) {
        match waiter {
            Waiter::Task(i) => self.suspend(i, position, on),
            Waiter::Async(async_id) => {
                if let Some(AsyncState::Pending { waits, .. }) = self.async_ops.get_mut(async_id) {
                    *waits = Some((position, on));
                }
            }
        }
    }
    /// Starts a computation next to the task that spawns it.
    pub(crate) fn spawn(
        &mut self,
        device: usize,
        state: DeviceState,
        (async_id, path): (AsyncId, SpawnPath),
    ) {
        let mut task = Task::new(device, state, Some(async_id));
        task.path = path;
        // Nothing refers to a finished task that another one spawned.
        let devices = self.results.len();
        match self.tasks[devices..].iter_mut().find(|task| task.is_finished()) {
            Some(place) => *place = task,
            None => self.tasks.push(task),
        }
    }
}

/// The tasks that are stepped together.
pub(crate) struct Ready {
    order: Vec<usize>,
    is_in: Vec<bool>,
}

impl Ready {
    fn new(order: Vec<usize>, tasks: usize) -> Self {
        let mut is_in = vec![false; tasks];
        for &i in &order {
            is_in[i] = true;
        }
        Self { order, is_in }
    }
    fn is_empty(&self) -> bool {
        self.order.is_empty()
    }
    pub(crate) fn contains(&self, i: usize) -> bool {
        self.is_in[i]
    }
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }
}
