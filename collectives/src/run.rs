//! One run: the tasks of all devices, and the operations they wait for.
use crate::async_ops::{AsyncId, AsyncOps, AsyncState};
use crate::device_state::DeviceState;
use crate::message_queue::{MessageKey, MessageQueue};
use crate::order::Order;
use crate::rank_exchange::{RankExchange, Stage};
use crate::rendezvous::{Rendezvous, RendezvousTable};
use crate::send_recv::SendRecvQueues;
use crate::task::{SpawnPath, Task, TaskState, WaitReason, Waiter};
use crate::{Code, Error, Ranks, Result};
use hlo::Literal;
use interp::{Grid, Position, Request as Suspension, Step, Team};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// The state of a run.
#[derive(Debug)]
pub(crate) struct Run<'m> {
    pub(crate) team: Team<'m>,
    pub(crate) tasks: Vec<Task<'m>>,
    pub(crate) rendezvous: RendezvousTable<'m>,
    pub(crate) messages: MessageQueue<'m>,
    /// The receivers that wait for a message, with the instruction and its operands.
    pub(crate) receivers: BTreeMap<MessageKey, (Waiter, Suspension<'m>)>,
    pub(crate) send_recv: SendRecvQueues<'m>,
    pub(crate) async_ops: AsyncOps<'m>,
    /// Rendezvous that all members have joined.
    pub(crate) complete: Vec<Rendezvous<'m>>,
    pub(crate) results: Vec<Option<Literal>>,
    order: Option<Order>,
    pub(crate) rank_exchange: Option<RankExchange>,
}

impl<'m> Run<'m> {
    /// Returns a run with these device states. `order` chooses among the orders that the program permits; `ranks` step the
    /// devices that are remote.
    pub(crate) fn new(
        team: Team<'m>,
        states: Vec<DeviceState<'m>>,
        order: Option<Order>,
        ranks: Option<Ranks>,
    ) -> Self {
        let results = vec![None; states.len()];
        let task = |(device, state)| Task::new(device, state, None);
        Self {
            team,
            tasks: states.into_iter().enumerate().map(task).collect(),
            rendezvous: RendezvousTable::default(),
            messages: MessageQueue::default(),
            receivers: BTreeMap::default(),
            send_recv: SendRecvQueues::default(),
            async_ops: AsyncOps::default(),
            complete: Vec::new(),
            results,
            order,
            rank_exchange: ranks.map(RankExchange::new),
        }
    }
    pub(crate) fn grid(&self) -> Grid {
        self.team.grid()
    }

    /// Steps every runnable task until all have finished.
    pub(crate) fn finish(mut self) -> Result<Vec<Literal>> {
        loop {
            let ready = self.ready();
            let mut steps: Vec<Option<Result<Step<'m>>>> = (self.tasks.par_iter_mut())
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
        if self.results.iter().any(Option::is_none) {
            self.rendezvous.check_same_groups()?;
            return Err(Code::Deadlock { deadlock: self.deadlock() }.into());
        }
        self.rendezvous.check_all_received()?;
        self.messages.check_all_received()?;
        self.send_recv.check_all_received()?;
        Ok(self.results.into_iter().flatten().collect())
    }

    /// Handles the steps of one round; an error comes with the stage at which it occurred.
    ///
    /// Steps are handled in order, so that the result does not depend on which was faster.
    fn serve_round(
        &mut self,
        ready: &Ready,
        mut steps: Vec<Option<Result<Step<'m>>>>,
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

    fn handle_step(&mut self, i: usize, step: Result<Step<'m>>) -> Result<()> {
        match step? {
            Step::Wait(suspension) => {
                let place = suspension.place;
                self.handle_suspension(i, suspension).map_err(|error| error.at(&place))
            }
            Step::Done(result) => {
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
        let (team, own) = (&self.team, self.local_devices());
        let exchanged: Vec<_> = (complete.into_par_iter().zip(orders))
            .map(|(rendezvous, order)| {
                let all: Vec<(Waiter, Suspension<'m>)> =
                    rendezvous.joined.into_iter().flatten().collect();
                let given: Vec<&[Literal]> =
                    all.iter().map(|(_, r)| r.operands.as_slice()).collect();
                let instruction = all[0].1.instruction();
                let order = order.as_deref();
                // No local task uses the results of a group without a local member.
                let results = match rendezvous.members.iter().any(|device| own.contains(device)) {
                    true => interp::collective::exchange(team, instruction, &given, order),
                    false => Ok(vec![Literal::token(); all.len()]),
                };
                let waiters: Vec<(Waiter, Position<'m>)> = all
                    .into_iter()
                    .map(|(waiter, suspension)| (waiter, suspension.place))
                    .collect();
                (waiters, rendezvous.members, results)
            })
            .collect();
        for (place, (waiters, members, results)) in exchanged.into_iter().enumerate() {
            let device = members[0];
            let blame = |error| Code::Device { device, error: waiters[0].1.blame(error) }.into();
            let given = results.map_err(blame).and_then(|results| {
                let mut given = waiters.iter().zip(results);
                given.try_for_each(|((waiter, _), result)| self.complete_waiter(*waiter, result))
            });
            given.map_err(|error| (Stage::Group(place), error))?;
        }
        Ok(())
    }

    /// Resumes a task with the value of the instruction at which it is suspended.
    pub(crate) fn resume_task(&mut self, i: usize, value: Literal) -> Result<()> {
        let task = &mut self.tasks[i];
        let device = task.device;
        task.state = TaskState::Ready;
        task.device_state.resume_with(value).map_err(|error| Code::Device { device, error }.into())
    }
    /// Completes the operation that a waiter waits for.
    pub(crate) fn complete_waiter(&mut self, waiter: Waiter, value: Literal) -> Result<()> {
        let async_id = match waiter {
            Waiter::Task(i) => return self.resume_task(i, value),
            Waiter::Async(async_id) => async_id,
        };
        // The value of an operation without a done is dropped.
        let Some(started) = self.async_ops.get_mut(async_id) else { return Ok(()) };
        if let AsyncState::Pending { done: Some(i), .. } = *started {
            self.async_ops.finish(async_id);
            return self.resume_task(i, value);
        }
        *started = AsyncState::Done(value);
        Ok(())
    }
    /// Suspends a task.
    pub(crate) fn suspend(&mut self, i: usize, place: Position<'m>, on: WaitReason) {
        self.tasks[i].state = TaskState::Waiting(place, on);
    }
    /// Records what a waiter waits for: on the task itself, or on the async operation.
    pub(crate) fn record_wait(&mut self, waiter: Waiter, place: Position<'m>, now: WaitReason) {
        match waiter {
            Waiter::Task(i) => self.suspend(i, place, now),
            Waiter::Async(async_id) => {
                if let Some(AsyncState::Pending { waits, .. }) = self.async_ops.get_mut(async_id) {
                    *waits = Some((place, now));
                }
            }
        }
    }
    /// Starts a computation next to the task that spawns it.
    pub(crate) fn spawn(
        &mut self,
        device: usize,
        state: DeviceState<'m>,
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
