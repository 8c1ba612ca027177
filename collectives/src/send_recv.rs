//! `send` and `recv` between devices.
//!
//! A `send` waits for the `recv` of each receiver, which provides the memory, as the rules of the
//! specification for the order of channel instructions demand. With
//! [`buffered_sends`](interp::RunOptions::buffered_sends) it does not wait.
//!
//! If the program states the pairs (`_xla_send_recv_source_target_pairs`), a `recv` gets the values
//! of its source in the order in which they were sent. Otherwise a channel connects one device with
//! itself, or one sender with one receiver: with more devices the result would depend on which is
//! faster, and that is an error.
use crate::channels::{Channel, done_of, stated};
use crate::crossings::{Arrival, Crossing};
use crate::message_queue::{Message, Neighbors, all_neighbors};
use crate::run::Run;
use crate::send_recv_queues::{PendingSend, ambiguous};
use crate::task::WaitReason;
use crate::values::Values;
use crate::{Code, Error, Result};
use hlo::ir::Instruction;
use hlo::{Literal, Op, Shape};
use interp::{Position, Suspension, Value, collective};
use std::collections::VecDeque;

impl Run {
    pub(crate) fn send(
        &mut self,
        i: usize,
        suspension: Suspension,
        channel: Channel,
    ) -> Result<()> {
        let (device, position) = (self.tasks[i].device, suspension.position);
        let value = suspension.operands.into_iter().next().unwrap_or(Value::Token);
        let values = match self.tasks[i].device_state.take_values() {
            Some(values) => Values::Remote(values),
            None => {
                let value = value.clone().into_literal();
                let value = value.map_err(|error| self.device_error(device, position, error))?;
                Values::Local(vec![value])
            }
        };
        let message = Message { sender: device, position, values };
        let partners = self.partners(i, position, channel)?;
        let send = PendingSend { task: i, message, value, partners };
        if self.options.buffered_sends || self.send_recv.take_room(channel, &send) {
            return self.complete_send(send, channel);
        }
        let missing = self.send_recv.missing_receiver(channel, &send);
        self.suspend(i, position, WaitReason::Receiver(channel, missing));
        self.send_recv.sends.entry(channel).or_default().push_back(send);
        Ok(())
    }

    /// Hands over the value of a `send`, and resumes its task.
    fn complete_send(&mut self, send: PendingSend, channel: Channel) -> Result<()> {
        let PendingSend { task: i, message, value, partners } = send;
        let (device, position) = (message.sender, message.position);
        match partners {
            Some(partners) => {
                for target in partners.targets {
                    let queue = self.send_recv.addressed.entry((channel, device, target));
                    queue.or_default().push_back(message.clone());
                }
            }
            None => self.send_recv.open.entry(channel).or_default().send(channel, message)?,
        }
        let mut sent = Value::from(collective::nothing(position.instruction(self.module())));
        if let Value::Tuple(elements) = &mut sent {
            elements[0] = value;
        }
        self.resume_task(i, sent)?;
        for (i, position) in self.send_recv.waiting.remove(&channel).unwrap_or_default() {
            let received = self.receive(i, position, channel);
            received.map_err(|error| error.at(position.site(self.module())))?;
        }
        Ok(())
    }

    /// Executes a `recv`: its `recv-done` takes the pairs that it states. In a group it gets the
    /// value itself.
    pub(crate) fn post_receive(
        &mut self,
        i: usize,
        position: Position,
        channel: Channel,
    ) -> Result<()> {
        let device = self.tasks[i].device;
        let partners = match self.stated_partners(i, position)? {
            Some(partners) => Some(partners),
            None => match done_of(position, self.module()) {
                Some(done) => self.stated_partners(i, done)?,
                None => None,
            },
        };
        let source = partners.as_ref().map(|partners| partners.source);
        let is_group = self.tasks[i].is_group;
        if let Some(partners) = partners.filter(|_| !is_group) {
            self.send_recv.posted.insert((channel, device), partners);
        }
        let instruction = position.instruction(self.module());
        let is_done = is_group && source == Some(None);
        if is_done || !is_group {
            let value = match is_done {
                true => collective::nothing(instruction).into(),
                false => Value::receiving(&instruction.shape),
            };
            self.resume_task(i, value)?;
        }
        // A device that no pair names as a receiver gets nothing.
        if source == Some(None) {
            return Ok(());
        }
        *self.send_recv.room.entry((channel, source.flatten(), device)).or_default() += 1;
        let mut waiting = self.send_recv.sends.remove(&channel).unwrap_or_default();
        while let Some(next) =
            waiting.iter().position(|send| self.send_recv.has_room(channel, send))
        {
            let Some(send) = waiting.remove(next) else { break };
            self.send_recv.take_room(channel, &send);
            let at = send.message.position;
            let sent = self.complete_send(send, channel);
            sent.map_err(|error| error.at(at.site(self.module())))?;
        }
        self.send_recv.sends.insert(channel, waiting);
        match is_group {
            true => self.receive(i, position, channel),
            false => Ok(()),
        }
    }

    /// Where all tasks wait, hands over the values of sends without pairs that do not come back to
    /// their senders. Returns whether there are some.
    pub(crate) fn connect_open(&mut self) -> Result<bool> {
        let mut found = Vec::new();
        for (&channel, sends) in &self.send_recv.sends {
            let Some(&(_, _, to)) = self.send_recv.room.iter().find_map(|(key, &room)| {
                (key.0 == channel && key.1.is_none() && room > 0).then_some(key)
            }) else {
                continue;
            };
            let mut open = sends.iter().enumerate().filter(|(_, send)| send.partners.is_none());
            let Some((index, send)) = open.next() else { continue };
            let sender = |send: &PendingSend| send.message.sender;
            if let Some((_, other)) = open.find(|(_, other)| sender(other) != sender(send)) {
                return Err(ambiguous(channel, "sent", sender(send), sender(other))
                    .at(other.message.position.site(self.module())));
            }
            found.push((channel, index, to));
        }
        for &(channel, index, to) in &found {
            *self.send_recv.room.entry((channel, None, to)).or_default() -= 1;
            let sends = self.send_recv.sends.get_mut(&channel);
            if let Some(send) = sends.and_then(|sends| sends.remove(index)) {
                let at = send.message.position;
                let sent = self.complete_send(send, channel);
                sent.map_err(|error| error.at(at.site(self.module())))?;
            }
        }
        Ok(!found.is_empty())
    }

    /// Executes a `recv-done`, or the `recv` of a group: the task gets the value of its source, now
    /// or later.
    pub(crate) fn receive(&mut self, i: usize, position: Position, channel: Channel) -> Result<()> {
        let executable = self.executable.clone();
        let module = executable.module();
        let instruction = position.instruction(module);
        let device = self.tasks[i].device;
        let (message, on) = match self.partners(i, position, channel)? {
            Some(Neighbors { source: None, .. }) => {
                return self.resume_task(i, collective::nothing(instruction).into());
            }
            Some(Neighbors { source: Some(source), .. }) => {
                let queue = self.send_recv.addressed.get_mut(&(channel, source, device));
                (queue.and_then(VecDeque::pop_front), WaitReason::Channel(channel, Some(source)))
            }
            None => {
                let open = self.send_recv.open.entry(channel).or_default();
                (open.receive(channel, device)?, WaitReason::Channel(channel, None))
            }
        };
        let Some(message) = message else {
            self.suspend(i, position, on);
            self.send_recv.waiting.entry(channel).or_default().push((i, position));
            return Ok(());
        };
        self.check_received(device, &message, position)?;
        match self.cross(message.sender, device, &message.values) {
            Crossing::Local(mut values) => {
                self.complete_receive(i, position, values.pop().unwrap_or_else(Literal::token))
            }
            Crossing::Arrives => {
                self.crossings.arrive(Arrival::Receive(i, position), &message.values);
                Ok(())
            }
            Crossing::Elsewhere => self.resume_task(i, Value::Token),
        }
    }
    /// Checks that a value that was sent has the shape that its receiver states.
    fn check_received(&self, device: usize, message: &Message, position: Position) -> Result<()> {
        let Some(found) = message.values.first_shape() else { return Ok(()) };
        let module = self.module();
        let instruction = position.instruction(module);
        let expected = data(instruction);
        if found.compatible(expected) {
            return Ok(());
        }
        let (sender, opcode) = (message.sender, instruction.opcode());
        let message_text = format!(
            "device {sender} sent {found:#}, `{opcode}` of device {device} expects {expected:#}"
        );
        let error = Error::from(Code::Mismatch { message: message_text }).at(position.site(module));
        Err(error.label(message.position.span(module), "sent here"))
    }
    /// Resumes a `recv-done`, or the `recv` of a group, with the value that was sent.
    pub(crate) fn complete_receive(
        &mut self,
        i: usize,
        position: Position,
        value: Literal,
    ) -> Result<()> {
        let instruction = position.instruction(self.module());
        let whole = match has_rest(instruction) {
            true => {
                let nothing = collective::nothing(instruction);
                let rest = nothing.elements().unwrap_or_default().iter().skip(1);
                Literal::tuple(std::iter::once(value).chain(rest.cloned()).collect())
            }
            false => value,
        };
        self.resume_task(i, whole.into())
    }

    /// Returns the source and targets of a `send` or `recv-done`: those that it states, or that its
    /// `recv` states.
    pub(crate) fn partners(
        &self,
        i: usize,
        position: Position,
        channel: Channel,
    ) -> Result<Option<Neighbors>> {
        if let Some(partners) = self.stated_partners(i, position)? {
            return Ok(Some(partners));
        }
        let is_done = matches!(position.instruction(self.module()).op, Op::RecvDone(_));
        let posted = self.send_recv.posted.get(&(channel, self.tasks[i].device));
        Ok(posted.filter(|_| is_done).cloned())
    }
    /// Returns the source and targets that an instruction states.
    fn stated_partners(&self, i: usize, position: Position) -> Result<Option<Neighbors>> {
        let instruction = position.instruction(self.module());
        let Some(pairs) = stated(instruction, self.grid) else { return Ok(None) };
        let (mode, pairs) = pairs?;
        let mut all = all_neighbors(mode, &pairs, self.grid)?;
        Ok(Some(all.swap_remove(self.tasks[i].device)))
    }
}

/// Returns whether the result of a `recv-done`, or of the `recv` of a group, has more than the
/// data: a `recv-done` of old texts has no token.
fn has_rest(instruction: &Instruction) -> bool {
    let has_token = |parts: &[Shape]| parts.last() == Some(&Shape::Token);
    matches!(instruction.op, Op::Recv(_)) || instruction.shape.tuple().is_some_and(has_token)
}

/// Returns the shape of the data that an instruction receives.
fn data(instruction: &Instruction) -> &Shape {
    let shape = &instruction.shape;
    let parts = shape.tuple().filter(|_| has_rest(instruction));
    parts.and_then(|parts| parts.first()).unwrap_or(shape)
}
