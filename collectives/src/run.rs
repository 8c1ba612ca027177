//! One run: the tasks of all devices, and the operations they wait for.
use crate::async_ops::{AsyncOps, AsyncState};
use crate::channels::channel_name;
use crate::crossings::Crossings;
use crate::device_state::DeviceState;
use crate::message_queue::{MessageKey, MessageQueue};
use crate::order::Order;
use crate::rank_exchange::RankExchange;
use crate::rendezvous::{Participant, Rendezvous, RendezvousTable};
use crate::send_recv_queues::SendRecvQueues;
use crate::site::SpawnPath;
use crate::task::{Task, TaskState, WaitReason, Waiter};
use crate::wire::Stage;
use crate::{Code, Error, Ranks, Result, channels};
use hlo::ir::ComputationId;
use hlo::{Literal, Module, Opcode};
use interp::{AsyncId, DeviceGrid, Executable, Outcome, Position, RunOptions, Value};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The limit of tasks up to which those that wait are split.
const MAX_TASKS: usize = 1 << 18;

/// The state of a run.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) executable: Executable,
    pub(crate) grid: DeviceGrid,
    pub(crate) options: RunOptions,
    pub(crate) tasks: Vec<Task>,
    pub(crate) rendezvous: RendezvousTable,
    pub(crate) messages: MessageQueue,
    /// The receivers that wait for a message.
    pub(crate) receivers: BTreeMap<MessageKey, Participant>,
    pub(crate) send_recv: SendRecvQueues,
    pub(crate) async_ops: AsyncOps,
    /// Rendezvous that all members have joined.
    pub(crate) complete: Vec<Rendezvous>,
    pub(crate) crossings: Crossings,
    /// The result of each finished device; a token for a device of another rank.
    pub(crate) results: Vec<Option<Literal>>,
    order: Option<Order>,
    /// The devices of which parts ended in this round.
    ended_parts: BTreeSet<usize>,
    pub(crate) rank_exchange: Option<RankExchange>,
}

/// The waiter and the result of each member of a group, or the error of the exchange.
type GroupResults = interp::Result<Vec<(Waiter, Literal)>>;

/// The results of this rank's devices, and the most bytes that each of them held at once.
type Finished = (Vec<Literal>, Vec<usize>);

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
            crossings: Crossings::default(),
            results,
            order: options.order.map(Order::new),
            ended_parts: BTreeSet::new(),
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
            let mut ready = self.ready();
            if ready.is_empty() && self.go_on()? {
                ready = self.ready();
            }
            let mut steps: Vec<Option<Result<Outcome>>> = (self.tasks.par_iter_mut())
                .enumerate()
                .map(|(i, task)| if ready.contains(i) { task.resume() } else { None })
                .collect();
            // Also if no task is ready: another rank may report the failure of the last round.
            self.exchange_steps(&ready, &mut steps)?;
            if ready.is_empty() {
                break;
            }
            self.handle_steps(&ready, steps)
                .or_else(|(stage, error)| self.report_failure(stage, error))?;
            self.agree_on_crossings()?;
            self.complete_round().or_else(|(stage, error)| self.report_failure(stage, error))?;
        }
        let module = self.module();
        if self.results.iter().any(Option::is_none) {
            self.rendezvous.check_same_groups(module)?;
            return Err(self.deadlock_error());
        }
        self.rendezvous.check_all_joined(module)?;
        self.messages.check_all_received(module)?;
        self.send_recv.check_all_received(module)?;
        let own = self.local_devices();
        let peaks = self.tasks[own.clone()].iter().map(|task| task.device_state.peak_bytes());
        let peaks = peaks.collect();
        let results = self.results.into_iter().flatten().skip(own.start).take(own.len());
        Ok((results.collect(), peaks))
    }

    /// Handles the steps of one round; an error comes with the stage at which it occurred.
    ///
    /// Steps are handled in order, so that the result does not depend on which was faster.
    fn handle_steps(
        &mut self,
        ready: &Ready,
        mut steps: Vec<Option<Result<Outcome>>>,
    ) -> Result<(), (Stage, Error)> {
        self.ended_parts.clear();
        for (place, &i) in ready.order().iter().enumerate() {
            if let Some(step) = steps[i].take() {
                self.crossings.step = place;
                self.handle_step(i, step).map_err(|error| (Stage::Task(place), error))?;
            }
        }
        Ok(())
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

    /// Where all tasks wait, finds others to step. Returns whether there are some.
    fn go_on(&mut self) -> Result<bool> {
        if !self.connect_open()? {
            return Ok(self.run_ahead());
        }
        self.agree_on_crossings()?;
        self.complete_round().or_else(|(stage, error)| self.report_failure(stage, error))?;
        Ok(true)
    }

    /// Starts what the order of the text alone delays: in each task the steps that do not depend on
    /// the one that waits. Returns whether there are such tasks; with a schedule only groups of
    /// transfers are.
    fn run_ahead(&mut self) -> bool {
        let is_scheduled = self.module().config.is_scheduled;
        let waits = |task: &Task| {
            matches!(task.state, TaskState::Waiting(..)) && (!is_scheduled || task.is_group)
        };
        let count = self.tasks.len();
        let mut rests = Vec::new();
        for task in self.tasks.iter_mut().filter(|task| waits(task)) {
            if count + rests.len() == MAX_TASKS {
                break;
            }
            rests.extend(task.split());
        }
        let found = !rests.is_empty();
        for rest in rests {
            self.add(rest);
        }
        found
    }

    /// Returns the deadlock of the tasks that wait.
    fn deadlock_error(&self) -> Error {
        let error = Error::from(Code::Deadlock { deadlock: self.deadlock() });
        let other_end = |task: &Task| match task.state {
            TaskState::Waiting(_, WaitReason::Receiver(channel, _)) => {
                Some((Opcode::Recv, channel))
            }
            TaskState::Waiting(_, WaitReason::Channel(channel, _)) => Some((Opcode::Send, channel)),
            TaskState::Waiting(..) | TaskState::Ready | TaskState::Finished => None,
        };
        let missing = self.tasks.iter().filter_map(other_end);
        let mut missing =
            missing.filter(|&(opcode, channel)| !channels::is_used(self.module(), opcode, channel));
        match missing.next() {
            None => error,
            Some((opcode, channel)) => {
                let channel = channel_name(channel);
                error.with_help(format!("no `{opcode}` is on {channel}: add it"))
            }
        }
    }

    fn handle_step(&mut self, i: usize, step: Result<Outcome>) -> Result<()> {
        match step? {
            Outcome::Suspended(suspension) => {
                let position = suspension.position;
                let served = self.handle_suspension(i, suspension);
                served.map_err(|error| error.at(position.site(self.module())))
            }
            Outcome::Waiting(position) => {
                // A part that ended in this round has not woken it.
                if !self.ended_parts.contains(&self.tasks[i].device) {
                    self.suspend(i, position, WaitReason::Parts);
                }
                Ok(())
            }
            Outcome::PartDone => {
                let device = self.tasks[i].device;
                self.tasks[i].state = TaskState::Finished;
                self.tasks[i].device_state.end();
                self.ended_parts.insert(device);
                for task in self.tasks.iter_mut().filter(|task| task.device == device) {
                    if matches!(task.state, TaskState::Waiting(_, WaitReason::Parts)) {
                        task.state = TaskState::Ready;
                    }
                }
                Ok(())
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

    /// Completes all that is complete at the end of a round: the ops that wait for values of other
    /// ranks, and the groups.
    fn complete_round(&mut self) -> Result<(), (Stage, Error)> {
        let ranks = self.rank_exchange.as_ref().map(|exchange| exchange.ranks.clone());
        // A rank that fails still takes part in all transfers: the other ranks wait for it.
        let mut failures: Vec<(Stage, Error)> = Vec::new();
        let lost = |error| (Stage::Task(0), error);
        if let Some(ranks) = &ranks {
            let arrived = self.complete_arrivals(ranks).map_err(lost)?;
            failures.extend(arrived.err().map(|(step, error)| (Stage::Task(step), error)));
        }
        let complete = std::mem::take(&mut self.complete);
        let exchanged = self.exchange_groups(ranks.as_ref(), &complete).map_err(lost)?;
        for (place, (rendezvous, results)) in complete.iter().zip(exchanged).enumerate() {
            let (device, position) = (rendezvous.members[0], rendezvous.position());
            let results = results.map_err(|error| self.device_error(device, position, error));
            let given = results.and_then(|results| {
                let mut given = results.into_iter();
                given.try_for_each(|(waiter, result)| self.complete_waiter(waiter, result))
            });
            failures.extend(given.err().map(|error| (Stage::Group(place), error)));
        }
        failures.into_iter().min_by_key(|(stage, _)| *stage).map_or(Ok(()), Err)
    }

    /// Exchanges the values of every complete group: in parallel within this rank, then with other
    /// ranks, one group after another.
    ///
    /// # Errors
    /// `E0509` if the connection to a rank is lost.
    fn exchange_groups(
        &mut self,
        ranks: Option<&Ranks>,
        complete: &[Rendezvous],
    ) -> Result<Vec<GroupResults>> {
        let orders: Vec<Option<Vec<usize>>> = (complete.iter())
            .map(|rendezvous| {
                self.order.as_mut().map(|order| order.permutation(rendezvous.members.len()))
            })
            .collect();
        let own = self.local_devices();
        let mut exchanged: Vec<Option<GroupResults>> = (complete.par_iter().zip(&orders))
            .map(|(rendezvous, order)| {
                let mut members = rendezvous.members.iter();
                if members.all(|device| own.contains(device)) {
                    return Some(self.exchange_here(rendezvous, order.as_deref()));
                }
                // No local task uses the results of a group without a local member.
                let no_member = !rendezvous.members.iter().any(|device| own.contains(device));
                no_member.then(|| Ok(rendezvous.placeholders(|_| true)))
            })
            .collect();
        for (i, place) in exchanged.iter_mut().enumerate() {
            if let (None, Some(ranks)) = (&place, ranks) {
                let (rendezvous, order) = (&complete[i], orders[i].as_deref());
                let results = self.exchange_across_ranks(ranks, rendezvous, order)?;
                *place = Some(results.map(|mut results| {
                    results.extend(rendezvous.placeholders(|device| !own.contains(&device)));
                    results
                }));
            }
        }
        Ok(exchanged.into_iter().flatten().collect())
    }
    /// Returns the results of a group with all members on this rank.
    fn exchange_here(&self, rendezvous: &Rendezvous, order: Option<&[usize]>) -> GroupResults {
        let all = || rendezvous.joined.iter().flatten();
        let given: Vec<&[Literal]> = all().map(|one| one.operands.local()).collect();
        let instruction = rendezvous.position().instruction(self.module());
        let (executable, options) = (&self.executable, &self.options);
        let results =
            interp::collective::exchange(executable, options, instruction, &given, order)?;
        Ok(all().map(|one| one.waiter).zip(results).collect())
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
        callee: ComputationId,
    ) {
        let mut task = Task::new(device, state, Some(async_id));
        task.path = path;
        task.is_group = self.module().computations[callee].only_transfers();
        self.add(task);
    }
    fn add(&mut self, task: Task) {
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
