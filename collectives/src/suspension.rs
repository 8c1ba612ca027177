//! Dispatch of suspended tasks by cross-device instruction.
use crate::async_ops::AsyncState;
use crate::rendezvous::{Joined, Participant};
use crate::run::Run;
use crate::site::Site;
use crate::task::{WaitReason, Waiter};
use crate::values::Values;
use crate::{Code, Error, Result};
use hlo::op::AsyncRole;
use hlo::{Module, Op};
use interp::{AsyncId, Position, Suspension, Value, asynchronous, collective};

fn unsupported(message: impl Into<String>) -> Error {
    Code::Unsupported { message: message.into() }.into()
}

impl Run {
    /// Executes the instruction at which a task is suspended: resumes the task, or records what it
    /// waits for.
    #[expect(clippy::wildcard_enum_match_arm, reason = "machines suspend at no other op")]
    pub(crate) fn handle_suspension(&mut self, i: usize, suspension: Suspension) -> Result<()> {
        let executable = self.executable.clone();
        let (module, position) = (executable.module(), suspension.position);
        let instruction = position.instruction(module);
        match &instruction.op {
            Op::AllReduce(op) => self.join_group(i, suspension, op.channel_id),
            Op::AllGather(op) => self.join_group(i, suspension, op.channel_id),
            Op::ReduceScatter(op) => self.join_group(i, suspension, op.channel_id),
            Op::AllToAll(op) => self.join_group(i, suspension, op.channel_id),
            Op::CollectiveBroadcast(op) => self.join_group(i, suspension, op.channel_id),
            Op::RaggedAllToAll(op) => self.join_group(i, suspension, op.channel_id),
            Op::AllReduceStart(op) => self.join_group(i, suspension, op.channel_id),
            Op::AllGatherStart(op) => self.join_group(i, suspension, op.channel_id),
            Op::CollectivePermute(op) => {
                let participant = self.participant(i, suspension)?;
                self.permute(i, participant, op.channel_id)
            }
            Op::CollectivePermuteStart(op) => {
                let participant = self.participant(i, suspension)?;
                self.permute(i, participant, op.channel_id)
            }
            Op::AsyncStart(op) => {
                let path = self.tasks[i].next_spawn_path(position);
                let (callee, operands) = (op.calls, suspension.operands);
                let id = self.async_ops.start(AsyncState::Binding { callee, operands, path });
                self.spawn_if_bound(i, id)?;
                self.resume_task(i, Value::Async(id))
            }
            Op::AsyncUpdate(_) => {
                let id = self.bind_operands(i, suspension)?;
                self.resume_task(i, Value::Async(id))
            }
            Op::AsyncDone(_) => {
                let id = self.bind_operands(i, suspension)?;
                self.finish_async(i, position, id)
            }
            Op::AllGatherDone(_) | Op::AllReduceDone(_) | Op::CollectivePermuteDone(_) => {
                let id = started(&suspension, module)?;
                self.finish_async(i, position, id)
            }
            Op::Send(op) => self.send(i, suspension, op.channel_id),
            Op::Recv(op) => self.post_receive(i, position, op.channel_id),
            Op::SendDone(_) => self.resume_task(i, collective::nothing(instruction).into()),
            Op::RecvDone(op) => self.receive(i, position, op.channel_id),
            op => {
                Err(unsupported(format!("`{}` on several devices is not supported", op.opcode())))
            }
        }
    }

    /// Returns the participant of an op. A task that executes a start is resumed with the id of the
    /// operation; any other one waits for the result.
    fn participant(&mut self, i: usize, suspension: Suspension) -> Result<Participant> {
        let Suspension { position, operands } = suspension;
        let device = self.tasks[i].device;
        let operands = match self.tasks[i].device_state.take_values() {
            Some(values) => Values::Remote(values),
            None => {
                let values = operands.into_iter().map(Value::into_literal);
                let values = values.collect::<interp::Result<_>>();
                Values::Local(values.map_err(|error| self.device_error(device, position, error))?)
            }
        };
        let role = position.instruction(self.module()).opcode().async_role();
        let waiter = if matches!(role, Some(AsyncRole::Start(_))) {
            let id = self.async_ops.start(AsyncState::PENDING);
            self.resume_task(i, Value::Async(id))?;
            Waiter::Async(id)
        } else {
            Waiter::Task(i)
        };
        Ok(Participant { waiter, position, operands })
    }
    /// Joins the rendezvous of the device's group.
    fn join_group(&mut self, i: usize, suspension: Suspension, channel: Option<i64>) -> Result<()> {
        let executable = self.executable.clone();
        let module = executable.module();
        let (device, position) = (self.tasks[i].device, suspension.position);
        let participant = self.participant(i, suspension)?;
        let waiter = participant.waiter;
        let instruction = position.instruction(module);
        let Some(group) = self.rendezvous.group(device, position, (self.grid, module))? else {
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
        let (site, round) = self.next_site(i, position, channel, group.number)?;
        match self.rendezvous.join(device, participant, (site, group, round), module)? {
            Joined::Incomplete(key) => {
                self.record_wait(waiter, position, WaitReason::Rendezvous(key));
            }
            Joined::Complete(rendezvous) => {
                // The task is resumed at the end of the round of steps.
                self.record_wait(waiter, position, WaitReason::Exchange);
                self.complete.push(rendezvous);
            }
        }
        Ok(())
    }
    /// Returns the site at which a task joins others, and how often it did so before.
    pub(crate) fn next_site(
        &mut self,
        i: usize,
        position: Position,
        channel: Option<i64>,
        group: usize,
    ) -> Result<(Site, u64)> {
        let task = &mut self.tasks[i];
        let site = Site::of(position, channel, task.path);
        let Site::Channel(channel) = site else { return Ok((site, task.next_round(site, group))) };
        if !self.rendezvous.is_used_by_one_chain(task.device, channel, task.path) {
            let message = format!(
                "channel {channel}: device {} uses it in computations that run concurrently",
                task.device
            );
            return Err(Error::from(Code::Mismatch { message })
                .with_help("their order is undefined: give each computation a separate channel"));
        }
        Ok((site, self.rendezvous.next_round(task.device, channel, group)))
    }

    /// Binds the operands that an update or a done adds to the operation of its first operand.
    fn bind_operands(&mut self, i: usize, suspension: Suspension) -> Result<AsyncId> {
        let (id, position) = (started(&suspension, self.module())?, suspension.position);
        if let Some(AsyncState::Binding { operands, .. }) = self.async_ops.get_mut(id) {
            operands.extend(suspension.operands.into_iter().skip(1));
        } else if suspension.operands.len() > 1 {
            return Err(self.misused(i, position, asynchronous::taken_twice()));
        }
        self.spawn_if_bound(i, id)?;
        Ok(id)
    }
    /// Spawns the computation of an `async-start` as soon as all its operands are bound.
    fn spawn_if_bound(&mut self, i: usize, id: AsyncId) -> Result<()> {
        let executable = self.executable.clone();
        let Some(state) = self.async_ops.get_mut(id) else { return Ok(()) };
        let AsyncState::Binding { callee, operands, path } = state else { return Ok(()) };
        let (callee, path) = (*callee, *path);
        let parameters = executable.module().computations[callee].parameters().len();
        if operands.len() < parameters {
            return Ok(());
        }
        let operands = std::mem::take(operands);
        *state = AsyncState::PENDING;
        let task = &self.tasks[i];
        let device = task.device;
        let spawned = task.device_state.spawn(callee, operands);
        let spawned = spawned.map_err(|error| Error::from(Code::Device { device, error }))?;
        self.spawn(device, spawned, (id, path), callee);
        Ok(())
    }
    fn misused(&self, i: usize, position: Position, error: interp::Error) -> Error {
        self.device_error(self.tasks[i].device, position, error)
    }
    /// Executes a done: the task gets the result, now or later.
    fn finish_async(&mut self, i: usize, position: Position, id: AsyncId) -> Result<()> {
        match self.async_ops.get_mut(id) {
            Some(AsyncState::Pending { done: done @ None, .. }) => {
                *done = Some(i);
                self.suspend(i, position, WaitReason::Async(id));
                Ok(())
            }
            Some(AsyncState::Binding { callee, operands, .. }) => {
                let (callee, found) = (*callee, operands.len());
                let error = asynchronous::not_bound(self.module(), callee, found);
                Err(self.misused(i, position, error))
            }
            Some(AsyncState::Pending { .. } | AsyncState::Done(_)) | None => {
                match self.async_ops.finish(id) {
                    Some(AsyncState::Done(value)) => self.resume_task(i, value.into()),
                    _ => Err(self.misused(i, position, asynchronous::already_done())),
                }
            }
        }
    }
}

/// Returns the operation of an update or a done, which is its first operand.
fn started(suspension: &Suspension, module: &Module) -> Result<AsyncId> {
    suspension.operands.first().and_then(Value::async_id).ok_or_else(|| {
        let opcode = suspension.position.instruction(module).opcode();
        unsupported(format!(
            "the operand of `{opcode}` is not the value of a start, or has no elements"
        ))
    })
}
