//! Values of `send` and `recv` that wait for the other end.
use crate::channels::{Channel, channel_name};
use crate::message_queue::{Message, Neighbors};
use crate::{Code, Error, Result};
use hlo::Module;
use interp::{Position, Value};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Values that were sent and not received.
#[derive(Debug, Default)]
pub(crate) struct SendRecvQueues {
    /// Values on channels with stated pairs, by sender and receiver.
    pub(crate) addressed: BTreeMap<(Channel, usize, usize), VecDeque<Message>>,
    /// Values on channels without pairs.
    pub(crate) open: BTreeMap<Channel, Open>,
    /// The tasks that wait on a channel.
    pub(crate) waiting: BTreeMap<Channel, Vec<(usize, Position)>>,
    /// The pairs of the last `recv` of a device on a channel.
    pub(crate) posted: BTreeMap<(Channel, usize), Neighbors>,
    /// How many values each `recv` may still take: by sender, if it states one, and receiver.
    pub(crate) room: BTreeMap<(Channel, Option<usize>, usize), u64>,
    /// The sends that wait for a `recv`.
    pub(crate) sends: BTreeMap<Channel, VecDeque<PendingSend>>,
}

/// A `send` that waits for a `recv`.
#[derive(Debug)]
pub(crate) struct PendingSend {
    pub(crate) task: usize,
    pub(crate) message: Message,
    /// The value of the operand.
    pub(crate) value: Value,
    pub(crate) partners: Option<Neighbors>,
}

/// A channel without stated pairs.
#[derive(Debug, Default)]
pub(crate) struct Open {
    pub(crate) queue: VecDeque<Message>,
    pub(crate) senders: BTreeSet<usize>,
    /// The sender and the receiver, if they are different devices.
    pub(crate) across: Option<(usize, usize)>,
}

impl Open {
    pub(crate) fn send(&mut self, channel: Channel, message: Message) -> Result<()> {
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
    pub(crate) fn receive(&mut self, channel: Channel, device: usize) -> Result<Option<Message>> {
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
    pub(crate) fn needed(send: &PendingSend) -> Vec<(Option<usize>, usize)> {
        let sender = send.message.sender;
        match &send.partners {
            Some(partners) => partners.targets.iter().map(|&to| (Some(sender), to)).collect(),
            // The value comes back to its sender, unless the devices wait for another one: see
            // `connect_open`.
            None => vec![(None, sender)],
        }
    }
    pub(crate) fn has_room(&self, channel: Channel, send: &PendingSend) -> bool {
        let room = |(from, to)| self.room.get(&(channel, from, to)).is_some_and(|&room| room > 0);
        Self::needed(send).into_iter().all(room)
    }
    /// Takes the room for a value, if all its receivers have it.
    pub(crate) fn take_room(&mut self, channel: Channel, send: &PendingSend) -> bool {
        let has_room = self.has_room(channel, send);
        for (from, to) in Self::needed(send).into_iter().filter(|_| has_room) {
            *self.room.entry((channel, from, to)).or_default() -= 1;
        }
        has_room
    }
    /// Returns the first stated receiver that has no room for a value.
    pub(crate) fn missing_receiver(&self, channel: Channel, send: &PendingSend) -> Option<usize> {
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

pub(crate) fn ambiguous(channel: Channel, done: &str, first: usize, other: usize) -> Error {
    let (first, other) = (first.min(other), first.max(other));
    let channel = channel_name(channel);
    let message =
        format!("devices {first} and {other} have both {done} on {channel}, which states no pairs");
    Error::from(Code::Mismatch { message }).with_help(
        "state the pairs: `frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}`",
    )
}
