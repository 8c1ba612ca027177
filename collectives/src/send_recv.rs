//! `send` and `recv` between devices.
//!
//! If the program states the pairs (`_xla_send_recv_source_target_pairs`), a `recv` gets the values of its source in the order in
//! which they were sent. Otherwise a channel connects one device with itself, or one sender with one receiver: with more
//! devices the result would depend on which is faster, and that is an error.
use crate::message_queue::{Message, Neighbors, all_neighbors};
use crate::run::Run;
use crate::task::WaitReason;
use crate::{Code, Error, Result};
use hlo::ir::Instruction;
use hlo::op::GroupMode;
use hlo::{Literal, Op, Shape};
use interp::{Grid, Request as Suspension, collective};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

type Channel = Option<i64>;

/// Values that were sent and not received.
#[derive(Debug, Default)]
pub(crate) struct SendRecvQueues<'m> {
    /// Values on channels with stated pairs, by sender and receiver.
    addressed: BTreeMap<(Channel, usize, usize), VecDeque<Message<'m>>>,
    /// Values on channels without pairs.
    open: BTreeMap<Channel, Open<'m>>,
    /// The tasks that wait on a channel.
    waiting: BTreeMap<Channel, Vec<(usize, Suspension<'m>)>>,
}

/// A channel without stated pairs.
#[derive(Debug, Default)]
struct Open<'m> {
    queue: VecDeque<Message<'m>>,
    senders: BTreeSet<usize>,
    /// The sender and the receiver, if they are different devices.
    across: Option<(usize, usize)>,
}

impl<'m> Open<'m> {
    fn send(&mut self, channel: Channel, message: Message<'m>) -> Result<()> {
        let sender = message.sender;
        self.senders.insert(sender);
        if let Some((first, _)) = self.across.filter(|&(first, _)| first != sender) {
            return Err(ambiguous(channel, "sent", first, sender));
        }
        self.queue.push_back(message);
        Ok(())
    }
    /// Returns the oldest value that the device sent to itself, or else the oldest one of the only other sender.
    fn receive(&mut self, channel: Channel, device: usize) -> Result<Option<Message<'m>>> {
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

impl SendRecvQueues<'_> {
    /// Fails if a value was not received.
    pub(crate) fn check_all_received(&self) -> Result<()> {
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
            .at(&sent.place)
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

impl<'m> Run<'m> {
    pub(crate) fn send(
        &mut self,
        i: usize,
        suspension: &Suspension<'m>,
        channel: Channel,
    ) -> Result<()> {
        let device = self.tasks[i].device;
        let values = suspension.operands.first().cloned().into_iter().collect();
        let message = Message { sender: device, place: suspension.place, values };
        match self.partners(i, suspension)? {
            Some(partners) => {
                for target in partners.targets {
                    let queue = self.send_recv.addressed.entry((channel, device, target));
                    queue.or_default().push_back(message.clone());
                }
            }
            None => self.send_recv.open.entry(channel).or_default().send(channel, message)?,
        }
        let started = self.start_value(i, suspension.instruction(), suspension.operands.clone());
        self.resume_task(i, started)?;
        for (i, suspension) in self.send_recv.waiting.remove(&channel).unwrap_or_default() {
            let place = suspension.place;
            self.receive(i, suspension, channel).map_err(|error| error.at(&place))?;
        }
        Ok(())
    }

    pub(crate) fn receive(
        &mut self,
        i: usize,
        suspension: Suspension<'m>,
        channel: Channel,
    ) -> Result<()> {
        let device = self.tasks[i].device;
        let (message, on) = match self.partners(i, &suspension)? {
            Some(Neighbors { source: None, .. }) => {
                return self.resume_task(i, collective::nothing(suspension.instruction()));
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
        let Some(Message { sender, place, mut values }) = message else {
            self.suspend(i, suspension.place, on);
            self.send_recv.waiting.entry(channel).or_default().push((i, suspension));
            return Ok(());
        };
        if !self.tasks[i].device_state.is_local() {
            return self.resume_task(i, Literal::token());
        }
        let value = values.pop().unwrap_or_else(Literal::token);
        let wanted = &suspension.instruction().shape;
        let whole = match wanted {
            Shape::Tuple(parts) if parts.last() == Some(&Shape::Token) => {
                Literal::tuple(vec![value, Literal::token()])
            }
            _ => value,
        };
        let found = whole.shape();
        if !found.compatible(wanted) {
            let message = format!(
                "device {sender} sent {found:#}, `recv-done` of device {device} expects {wanted:#}"
            );
            let error = Error::from(Code::Mismatch { message }).at(&suspension.place);
            return Err(error.label(place.span(), "sent here"));
        }
        self.resume_task(i, whole)
    }

    /// Returns the stated source and targets of a `send` or `recv`.
    pub(crate) fn partners(
        &self,
        i: usize,
        suspension: &Suspension<'m>,
    ) -> Result<Option<Neighbors>> {
        let grid = self.grid();
        let instructions = &suspension.place.computation.instructions;
        let own = || stated(suspension.instruction(), grid);
        // A done may inherit the pairs of its start.
        let begun = || stated(&instructions[collective::start_of(&suspension.place)?], grid);
        let pairs = match &suspension.instruction().op {
            Op::RecvDone(_) => own().or_else(begun),
            _ => own(),
        };
        let Some(pairs) = pairs else { return Ok(None) };
        let (mode, pairs) = pairs?;
        let mut all = all_neighbors(mode, &pairs, grid)?;
        Ok(Some(all.swap_remove(self.tasks[i].device)))
    }
}

/// Pairs of sender and receiver, and the kind of their ids.
type Stated = (GroupMode, Vec<(i64, i64)>);

/// Returns the pairs that a `send` or `recv` states; nothing if it states none.
pub(crate) fn stated(instruction: &Instruction, grid: Grid) -> Option<Result<Stated>> {
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
    while !rest.is_empty() {
        let (pair, after) = rest.strip_prefix('{')?.split_once('}')?;
        let (from, to) = pair.split_once(',')?;
        found.push((from.trim().parse().ok()?, to.trim().parse().ok()?));
        rest = after.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    Some(found)
}
