//! Dispatch of suspended tasks: what each cross-device instruction does.
use crate::async_ops::{AsyncId, AsyncState};
use crate::rendezvous::{Joined, Site};
use crate::run::Run;
use crate::task::{WaitReason, Waiter};
use crate::{Code, Error, Result};
use hlo::ir::{ComputationId, Instruction};
use hlo::{Literal, Op};
use interp::{Position, Request as Suspension, collective};

fn unsupported(message: impl Into<String>) -> Error {
    Code::Unsupported { message: message.into() }.into()
}

/// Returns the operands of an async operation: the value of a start is `((operands), ...)`.
fn async_operands(value: &Literal) -> Vec<Literal> {
    let operands = value.elements().and_then(|parts| parts.first()?.elements());
    operands.map(<[Literal]>::to_vec).unwrap_or_default()
}

impl<'m> Run<'m> {
    /// Executes the instruction at which a task is suspended: resumes the task, or records what it waits for.
    pub(crate) fn handle_suspension(&mut self, i: usize, suspension: Suspension<'m>) -> Result<()> {
        let now = Waiter::Task(i);
        #[expect(clippy::wildcard_enum_match_arm, reason = "machines suspend at these ops only")]
        match &suspension.instruction().op {
            Op::AllReduce(op) => self.join_group(i, suspension, op.channel_id, now),
            Op::AllGather(op) => self.join_group(i, suspension, op.channel_id, now),
            Op::ReduceScatter(op) => self.join_group(i, suspension, op.channel_id, now),
            Op::AllToAll(op) => self.join_group(i, suspension, op.channel_id, now),
            Op::CollectiveBroadcast(op) => self.join_group(i, suspension, op.channel_id, now),
            Op::RaggedAllToAll(op) => self.join_group(i, suspension, op.channel_id, now),
            Op::AllReduceStart(op) => {
                let later = self.start_async(i, &suspension)?;
                self.join_group(i, suspension, op.channel_id, later)
            }
            Op::AllGatherStart(op) => {
                let later = self.start_async(i, &suspension)?;
                self.join_group(i, suspension, op.channel_id, later)
            }
            Op::CollectivePermute(op) => self.permute(i, suspension, op.channel_id, now),
            Op::CollectivePermuteStart(op) => {
                let later = self.start_async(i, &suspension)?;
                self.permute(i, suspension, op.channel_id, later)
            }
            Op::AsyncStart(op) => {
                let path = self.tasks[i].next_spawn_path(&suspension.place);
                let begun = self.async_ops.start(i, &suspension.place, AsyncState::Unbound(path));
                let operands = suspension.operands;
                self.spawn_if_bound(i, begun, op.calls, &operands)?;
                let instruction = suspension.place.instruction();
                let started = self.start_value(i, instruction, operands);
                self.async_ops.record_result(i, begun, &started, &instruction.op);
                self.resume_task(i, started)
            }
            Op::AsyncUpdate(_) => {
                let (async_id, operands) = self.bind_operands(i, &suspension)?;
                let started = self.start_value(i, suspension.instruction(), operands);
                self.async_ops.record_result(i, async_id, &started, &suspension.instruction().op);
                self.resume_task(i, started)
            }
            Op::AsyncDone(_) => {
                let async_id = self.bind_operands(i, &suspension)?.0;
                self.finish_async(i, &suspension.place, async_id)
            }
            Op::AllGatherDone(_) | Op::AllReduceDone(_) | Op::CollectivePermuteDone(_) => {
                let async_id = self.async_id_of(i, &suspension)?.0;
                self.finish_async(i, &suspension.place, async_id)
            }
            Op::Send(op) => self.send(i, &suspension, op.channel_id),
            Op::Recv(_) | Op::SendDone(_) => {
                self.resume_task(i, collective::nothing(suspension.instruction()))
            }
            Op::RecvDone(op) => self.receive(i, suspension, op.channel_id),
            op => {
                Err(unsupported(format!("`{}` on several devices is not supported", op.opcode())))
            }
        }
    }

    /// Joins the rendezvous of the device's group.
    fn join_group(
        &mut self,
        i: usize,
        suspension: Suspension<'m>,
        channel: Option<i64>,
        waiter: Waiter,
    ) -> Result<()> {
        let (device, place) = (self.tasks[i].device, suspension.place);
        let instruction = suspension.instruction();
        let Some(group) = self.rendezvous.group(device, &place, self.grid())? else {
            if !matches!(instruction.op, Op::CollectiveBroadcast(_)) {
                let message = format!(
                    "device {device} executes `{}` and is in no group",
                    instruction.opcode()
                );
                return Err(Error::from(Code::Groups { message })
                    .with_help("list each device in one of the groups"));
            }
            return self.complete_waiter(waiter, collective::nothing(instruction));
        };
        let (site, round) = self.next_site(i, &place, channel, group.number)?;
        let module = self.team.module();
        match self.rendezvous.join(device, (waiter, suspension), (site, group, round), module)? {
            Joined::Incomplete(key) => self.record_wait(waiter, place, WaitReason::Rendezvous(key)),
            Joined::Complete(rendezvous) => {
                // The task is resumed at the end of the round of steps.
                self.record_wait(waiter, place, WaitReason::Exchange);
                self.complete.push(rendezvous);
            }
        }
        Ok(())
    }
    /// Returns where a task joins others, and how often it did so before.
    pub(crate) fn next_site(
        &mut self,
        i: usize,
        place: &Position<'m>,
        channel: Option<i64>,
        group: usize,
    ) -> Result<(Site, u64)> {
        let task = &mut self.tasks[i];
        let site = Site::of(place, channel, task.path);
        let Site::Channel(channel) = site else { return Ok((site, task.next_round(site, group))) };
        if !self.rendezvous.is_used_by_one_chain(task.device, channel, task.path) {
            let message = format!(
                "channel {channel}: device {} uses it in computations that run concurrently",
                task.device
            );
            return Err(Error::from(Code::Mismatch { message }).with_help(
                "their order is undefined: give each computation a channel of its own",
            ));
        }
        Ok((site, self.rendezvous.next_round(task.device, channel, group)))
    }

    /// Returns the value of a start.
    pub(crate) fn start_value(
        &self,
        i: usize,
        instruction: &Instruction,
        operands: Vec<Literal>,
    ) -> Literal {
        match self.tasks[i].device_state.is_local() {
            true => collective::started(instruction, operands),
            false => Literal::token(),
        }
    }
    /// Resumes a task after a start, and returns the waiter for the result.
    fn start_async(&mut self, i: usize, suspension: &Suspension<'m>) -> Result<Waiter> {
        let pending = AsyncState::Pending { waits: None, done: None };
        let async_id = self.async_ops.start(i, &suspension.place, pending);
        let started = self.start_value(i, suspension.instruction(), suspension.operands.clone());
        self.async_ops.record_result(i, async_id, &started, &suspension.instruction().op);
        self.resume_task(i, started)?;
        Ok(Waiter::Async(async_id))
    }
    /// Returns the operation of an update or a done, and the computation that its `async-start` calls, if that is in the same
    /// computation. A start elsewhere is found by its value, which ranks do not exchange.
    fn async_id_of(
        &self,
        i: usize,
        suspension: &Suspension<'m>,
    ) -> Result<(AsyncId, Option<ComputationId>)> {
        let place = &suspension.place;
        let opcode = place.instruction().opcode();
        let Some(start) = collective::start_of(place) else {
            let value = suspension.operands.first().filter(|_| self.rank_exchange.is_none());
            let op = &place.instruction().op;
            let find_by_result =
                value.and_then(|value| self.async_ops.find_by_result(i, value, op));
            let message = format!(
                "the start of `{opcode}` is in another computation, and its value was not found"
            );
            return find_by_result
                .map(|async_id| (async_id, None))
                .ok_or_else(|| unsupported(message));
        };
        let async_id = self.async_ops.find(i, place, start).ok_or_else(|| {
            unsupported(format!("the start of `{opcode}` was not executed, or is done"))
        })?;
        let calls = match &place.computation.instructions[start].op {
            Op::AsyncStart(op) => Some(op.calls),
            _ => None,
        };
        Ok((async_id, calls))
    }
    /// Binds the operands that an update or a done adds, and returns all operands.
    fn bind_operands(
        &mut self,
        i: usize,
        suspension: &Suspension<'m>,
    ) -> Result<(AsyncId, Vec<Literal>)> {
        let (async_id, calls) = self.async_id_of(i, suspension)?;
        let mut operands = suspension.operands.first().map(async_operands).unwrap_or_default();
        operands.extend(suspension.operands.iter().skip(1).cloned());
        if let Some(calls) = calls {
            self.spawn_if_bound(i, async_id, calls, &operands)?;
        }
        Ok((async_id, operands))
    }
    /// Spawns the computation of an `async-start` as soon as all its operands are bound.
    fn spawn_if_bound(
        &mut self,
        i: usize,
        async_id: AsyncId,
        calls: ComputationId,
        operands: &[Literal],
    ) -> Result<()> {
        let wanted = self.team.module().computations[calls].program_shape().parameters.len();
        let Some(started) = self.async_ops.get_mut(async_id) else { return Ok(()) };
        let &mut AsyncState::Unbound(path) = started else { return Ok(()) };
        if operands.len() < wanted {
            return Ok(());
        }
        *started = AsyncState::Pending { waits: None, done: None };
        let task = &self.tasks[i];
        let device = task.device;
        let on_device = |error| Error::from(Code::Device { device, error });
        let state = task.device_state.spawn(calls, operands.to_vec()).map_err(on_device)?;
        self.spawn(device, state, (async_id, path));
        Ok(())
    }
    /// Executes a done: the task gets the result, now or later.
    fn finish_async(&mut self, i: usize, place: &Position<'m>, async_id: AsyncId) -> Result<()> {
        match self.async_ops.get_mut(async_id) {
            Some(AsyncState::Pending { done, .. }) => {
                *done = Some(i);
                self.suspend(i, *place, WaitReason::Async(async_id));
                Ok(())
            }
            Some(AsyncState::Unbound(_)) => {
                let message =
                    "the done comes before all operands of the computation are bound".to_owned();
                Err(Code::Mismatch { message }.into())
            }
            Some(AsyncState::Done(_)) | None => match self.async_ops.finish(async_id) {
                Some(AsyncState::Done(value)) => self.resume_task(i, value),
                _ => {
                    let opcode = place.instruction().opcode();
                    Err(unsupported(format!("`{opcode}` is executed twice for one start")))
                }
            },
        }
    }
}
