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
use crate::channels::Channel;
use crate::crossings::{Arrival, Crossing};
use crate::message_queue::{Message, Neighbors, all_neighbors};
use crate::run::Run;
use crate::task::WaitReason;
use crate::values::Values;
use crate::{Code, Error, Result};
use hlo::ir::Instruction;
use hlo::op::GroupMode;
use hlo::{Literal, Module, Op, Shape};
use interp::{DeviceGrid, Position, Suspension, Value, collective};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Values that were sent and not received.
#[derive(Debug, Default)]
pub(crate) struct SendRecvQueues {
    /// Values on channels with stated pairs, by sender and receiver.
    addressed: BTreeMap<(Channel, usize, usize), VecDeque<Message>>,
    /// Values on channels without pairs.
    open: BTreeMap<Channel, Open>,
    /// The tasks that wait on a channel.
    waiting: BTreeMap<Channel, Vec<(usize, Position)>>,
    /// The pairs of the last `recv` of a device on a channel.
    posted: BTreeMap<(Channel, usize), Neighbors>,
    /// How many values each `recv` may still take: by sender, if it states one, and receiver.
    room: BTreeMap<(Channel, Option<usize>, usize), u64>,
    /// The sends that wait for a `recv`.
    sends: BTreeMap<Channel, VecDeque<PendingSend>>,
}

/// A `send` that waits for a `recv`.
#[derive(Debug)]
struct PendingSend {
    task: usize,
    message: Message,
    /// The value of the operand.
    value: Value,
    partners: Option<Neighbors>,
}

/// A channel without stated pairs.
#[derive(Debug, Default)]
struct Open {
    queue: VecDeque<Message>,
    senders: BTreeSet<usize>,
    /// The sender and the receiver, if they are different devices.
    across: Option<(usize, usize)>,
}

impl Open {
    fn send(&mut self, channel: Channel, message: Message) -> Result<()> {
        let sender = message.sender;
        self.senders.insert(sender);
        if let Some((first, _)) = self.across.filter(|&(first, _)| first != sender) {
            return Err(ambiguous(channel, "sent", first, sender));
        }
        self.queue.push_back(message);
        Ok(())
    }
    /// Returns the oldest value that the device sent to itself, or else the oldest one of the only
    /// other sender.
    fn receive(&mut self, channel: Channel, device: usize) -> Result<Option<Message>> {
        if let Some(own) = self.queue.iter().position(|message| message.sender == device) {
            return Ok(self.queue.remove(own));
        }
        if let Some((_, first)) = self.across.filter(|&(_, first)| first != device) {
            return Err(ambiguous(channel, "received", first, device));
        }
        let Some(sender) = self.queue.front().map(|message| message.sender) else {
            return Ok(None);
        };
        if let Some(&other) = self.senders.iter().find(|&&other| other != sender) {
            return Err(ambiguous(channel, "sent", sender, other));
        }
        self.across = Some((sender, device));
        Ok(self.queue.pop_front())
    }
}

impl SendRecvQueues {
    /// Returns the senders and receivers of the `recv`s that a `send` needs.
    fn needed(send: &PendingSend) -> Vec<(Option<usize>, usize)> {
        let sender = send.message.sender;
        match &send.partners {
            Some(partners) => partners.targets.iter().map(|&to| (Some(sender), to)).collect(),
            // The value comes back to its sender, unless the devices wait for another one: see
            // `connect_open`.
            None => vec![(None, sender)],
        }
    }
    fn has_room(&self, channel: Channel, send: &PendingSend) -> bool {
        let room = |(from, to)| self.room.get(&(channel, from, to)).is_some_and(|&room| room > 0);
        Self::needed(send).into_iter().all(room)
    }
    /// Takes the room for a value, if all its receivers have it.
    fn take_room(&mut self, channel: Channel, send: &PendingSend) -> bool {
        let has_room = self.has_room(channel, send);
        for (from, to) in Self::needed(send).into_iter().filter(|_| has_room) {
            *self.room.entry((channel, from, to)).or_default() -= 1;
        }
        has_room
    }
    /// Returns the first stated receiver that has no room for a value.
    fn missing_receiver(&self, channel: Channel, send: &PendingSend) -> Option<usize> {
        let full = |to: &&usize| {
            let key = (channel, Some(send.message.sender), **to);
            self.room.get(&key).is_none_or(|&room| room == 0)
        };
        send.partners.as_ref().and_then(|partners| partners.targets.iter().find(full)).copied()
    }
    /// Fails if a value was not received.
    pub(crate) fn check_all_received(&self, module: &Module) -> Result<()> {
        let addressed =
            self.addressed.iter().find_map(|(key, queue)| Some((key.0, queue.front()?)));
        let open = || self.open.iter().find_map(|(&c, open)| Some((c, open.queue.front()?)));
        let Some((channel, sent)) = addressed.or_else(open) else { return Ok(()) };
        let message = format!(
            "the value that device {} sent on {} was not received",
            sent.sender,
            channel_name(channel)
        );
        Err(Error::from(Code::Unclaimed { message })
            .at(sent.position.site(module))
            .with_help("add a `recv` on the same channel for each `send`"))
    }
}

/// Returns `channel 3`, or `the channel without an id`.
pub(crate) fn channel_name(channel: Channel) -> String {
    let none = || "the channel without an id".to_owned();
    channel.map_or_else(none, |id| format!("channel {id}"))
}

fn ambiguous(channel: Channel, done: &str, first: usize, other: usize) -> Error {
    let (first, other) = (first.min(other), first.max(other));
    let channel = channel_name(channel);
    let message =
        format!("devices {first} and {other} have both {done} on {channel}, which states no pairs");
    Error::from(Code::Mismatch { message }).with_help(
        "state the pairs: `frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}`",
    )
}

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

/// Returns the position of the `recv-done` of a `recv` in the same computation.
pub(crate) fn done_of(position: Position, module: &Module) -> Option<Position> {
    let computation = &module.computations[position.computation];
    let mut all = computation.instructions.iter();
    let (instruction, _) = all.find(|(_, instruction)| {
        matches!(instruction.op, Op::RecvDone(_))
            && instruction.operands.first() == Some(&position.instruction)
    })?;
    Some(Position { instruction, ..position })
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

/// Pairs of sender and receiver, and the kind of their ids.
type StatedPairs = (GroupMode, Vec<(i64, i64)>);

/// Returns the pairs that a `send` or `recv` states; nothing if it states none.
pub(crate) fn stated(instruction: &Instruction, grid: DeviceGrid) -> Option<Result<StatedPairs>> {
    let attributes = instruction.common.as_deref()?.frontend_attributes.as_ref()?;
    let (_, text) =
        attributes.0.iter().find(|(key, _)| key == "_xla_send_recv_source_target_pairs")?;
    let mode = match grid.partitions {
        1 => GroupMode::CrossReplica,
        _ => GroupMode::CrossPartition,
    };
    let pairs = pairs_of(text).ok_or_else(|| {
        let message = format!("`{text}` is not a list of pairs like `{{{{0,1}},{{1,2}}}}`");
        Error::from(Code::Groups { message })
    });
    Some(pairs.map(|pairs| (mode, pairs)))
}

/// Parses `{{0,1},{1,2}}`.
fn pairs_of(text: &str) -> Option<Vec<(i64, i64)>> {
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    let mut found = Vec::new();
    let mut rest = inner.trim();
    if rest.is_empty() {
        return Some(found);
    }
    loop {
        let (pair, after) = rest.strip_prefix('{')?.split_once('}')?;
        let (from, to) = pair.split_once(',')?;
        found.push((from.trim().parse().ok()?, to.trim().parse().ok()?));
        rest = after.trim_start();
        if rest.is_empty() {
            return Some(found);
        }
        rest = rest.strip_prefix(',')?.trim_start();
    }
}

#[cfg(test)]
mod tests {
    use super::pairs_of;

    #[test]
    fn pairs_are_separated_by_commas() {
        assert_eq!(pairs_of("{}"), Some(Vec::new()));
        assert_eq!(pairs_of(" {{0,1}, { 1 , 2 }} "), Some(vec![(0, 1), (1, 2)]));
        for text in ["", "{", "{{0,1} {1,2}}", "{{0,1},}", "{,{0,1}}", "{{0,1},,{1,2}}", "{{0}}"] {
            assert_eq!(pairs_of(text), None, "{text}");
        }
    }
}
