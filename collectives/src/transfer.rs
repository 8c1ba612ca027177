//! `send` and `recv` between devices.
//!
//! Where the program says who sends to whom (`_xla_send_recv_source_target_pairs`), a `recv` gets what its source sent, in the
//! order it was sent. Where it does not, a channel connects one device with itself, or one sender with one receiver: were
//! there more, who gets what would depend on who is faster, and that is refused.
use crate::mail::{Neighbours, all_neighbours};
use crate::run::Run;
use crate::strand::On;
use crate::{Code, Error, Result};
use hlo::ir::Instruction;
use hlo::op::GroupMode;
use hlo::{Literal, Op, Shape};
use interp::{Grid, Position, Request, collective};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

type Channel = Option<i64>;

/// What is under way between devices.
#[derive(Debug, Default)]
pub(crate) struct Transfers<'m> {
    /// Of programs that say who sends to whom: values from one device to another.
    addressed: BTreeMap<(Channel, usize, usize), VecDeque<Parcel<'m>>>,
    /// Of others: the oldest first.
    open: BTreeMap<Channel, Open<'m>>,
    /// Who waits on a channel.
    waiting: BTreeMap<Channel, Vec<(usize, Request<'m>)>>,
}

/// A value, who sent it, and where.
#[derive(Debug, Clone)]
struct Parcel<'m> {
    sender: usize,
    place: Position<'m>,
    value: Literal,
}

/// A channel of which the program does not say whom it connects.
#[derive(Debug, Default)]
struct Open<'m> {
    queue: VecDeque<Parcel<'m>>,
    senders: BTreeSet<usize>,
    /// The devices it has connected, if they are two.
    across: Option<(usize, usize)>,
}

impl<'m> Open<'m> {
    fn send(&mut self, channel: Channel, parcel: Parcel<'m>) -> Result<()> {
        let sender = parcel.sender;
        self.senders.insert(sender);
        if let Some((first, _)) = self.across.filter(|&(first, _)| first != sender) {
            return Err(ambiguous(channel, "sent", first, sender));
        }
        self.queue.push_back(parcel);
        Ok(())
    }
    /// The oldest value the device has sent itself; else the oldest of the only other sender.
    fn receive(&mut self, channel: Channel, device: usize) -> Result<Option<Parcel<'m>>> {
        if let Some(own) = self.queue.iter().position(|parcel| parcel.sender == device) {
            return Ok(self.queue.remove(own));
        }
        if let Some((_, first)) = self.across.filter(|&(_, first)| first != device) {
            return Err(ambiguous(channel, "received", first, device));
        }
        let Some(sender) = self.queue.front().map(|parcel| parcel.sender) else { return Ok(None) };
        if let Some(&other) = self.senders.iter().find(|&&other| other != sender) {
            return Err(ambiguous(channel, "sent", sender, other));
        }
        self.across = Some((sender, device));
        Ok(self.queue.pop_front())
    }
}

impl Transfers<'_> {
    /// Fails if something was sent that nobody received.
    pub(crate) fn all_claimed(&self) -> Result<()> {
        let addressed =
            self.addressed.iter().find_map(|(key, queue)| Some((key.0, queue.front()?)));
        let open = || self.open.iter().find_map(|(&c, open)| Some((c, open.queue.front()?)));
        let Some((channel, parcel)) = addressed.or_else(open) else { return Ok(()) };
        let message =
            format!("what device {} sent on {} was not received", parcel.sender, name(channel));
        Err(Error::from(Code::Unclaimed { message })
            .at(&parcel.place)
            .with_help("each `send` needs a `recv` on the same channel"))
    }
}

/// `channel 3`, or `the channel without a number`.
pub(crate) fn name(channel: Channel) -> String {
    let none = || "the channel without a number".to_owned();
    channel.map_or_else(none, |id| format!("channel {id}"))
}

fn ambiguous(channel: Channel, done: &str, first: usize, other: usize) -> Error {
    let (first, other) = (first.min(other), first.max(other));
    let channel = name(channel);
    let message = format!("devices {first} and {other} have both {done} on {channel}");
    Error::from(Code::Mismatch { message }).with_help(
        "say who sends to whom: `frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}`",
    )
}

impl<'m> Run<'m> {
    pub(crate) fn send(&mut self, i: usize, request: &Request<'m>, channel: Channel) -> Result<()> {
        let device = self.strands[i].device;
        let value = request.operands.first().cloned().unwrap_or_else(Literal::token);
        let parcel = Parcel { sender: device, place: request.place, value };
        match self.partners(i, request)? {
            Some(partners) => {
                for target in partners.targets {
                    let queue = self.transfers.addressed.entry((channel, device, target));
                    queue.or_default().push_back(parcel.clone());
                }
            }
            None => self.transfers.open.entry(channel).or_default().send(channel, parcel)?,
        }
        let started = self.started(i, request.instruction(), request.operands.clone());
        self.answer(i, started)?;
        for (i, request) in self.transfers.waiting.remove(&channel).unwrap_or_default() {
            let place = request.place;
            self.receive(i, request, channel).map_err(|error| error.at(&place))?;
        }
        Ok(())
    }

    pub(crate) fn receive(
        &mut self,
        i: usize,
        request: Request<'m>,
        channel: Channel,
    ) -> Result<()> {
        let device = self.strands[i].device;
        let (parcel, on) = match self.partners(i, &request)? {
            Some(Neighbours { source: None, .. }) => {
                return self.answer(i, collective::nothing(request.instruction()));
            }
            Some(Neighbours { source: Some(source), .. }) => {
                let queue = self.transfers.addressed.get_mut(&(channel, source, device));
                (queue.and_then(VecDeque::pop_front), On::Channel(channel, Some(source)))
            }
            None => {
                let open = self.transfers.open.entry(channel).or_default();
                (open.receive(channel, device)?, On::Channel(channel, None))
            }
        };
        let Some(Parcel { sender, place, value }) = parcel else {
            self.wait(i, request.place, on);
            self.transfers.waiting.entry(channel).or_default().push((i, request));
            return Ok(());
        };
        if !self.strands[i].body.is_here() {
            return self.answer(i, Literal::token());
        }
        let wanted = &request.instruction().shape;
        let whole = match wanted {
            Shape::Tuple(parts) if parts.last() == Some(&Shape::Token) => {
                Literal::tuple(vec![value, Literal::token()])
            }
            _ => value,
        };
        let found = whole.shape();
        if !found.compatible(wanted) {
            let message = format!(
                "device {sender} sent {found:#}, `recv-done` of device {device} wants {wanted:#}"
            );
            let error = Error::from(Code::Mismatch { message }).at(&request.place);
            return Err(error.label(place.span(), "this was sent"));
        }
        self.answer(i, whole)
    }

    /// Whom a `send` or `recv` is for, if the program says so.
    pub(crate) fn partners(&self, i: usize, request: &Request<'m>) -> Result<Option<Neighbours>> {
        let grid = self.grid();
        let instructions = &request.place.computation.instructions;
        let own = || stated(request.instruction(), grid);
        // A done may leave the pairs to its start.
        let begun = || stated(&instructions[collective::start_of(&request.place)?], grid);
        let pairs = match &request.instruction().op {
            Op::RecvDone(_) => own().or_else(begun),
            _ => own(),
        };
        let Some(pairs) = pairs else { return Ok(None) };
        let (mode, pairs) = pairs?;
        let mut all = all_neighbours(mode, &pairs, grid)?;
        Ok(Some(all.swap_remove(self.strands[i].device)))
    }
}

/// Pairs of sender and receiver, and what their ids are.
type Stated = (GroupMode, Vec<(i64, i64)>);

/// The pairs that a `send` or `recv` states; nothing if it states none.
pub(crate) fn stated(instruction: &Instruction, grid: Grid) -> Option<Result<Stated>> {
    let attributes = instruction.common.as_deref()?.frontend_attributes.as_ref()?;
    let (_, text) =
        attributes.0.iter().find(|(key, _)| key == "_xla_send_recv_source_target_pairs")?;
    let mode = match grid.partitions {
        1 => GroupMode::CrossReplica,
        _ => GroupMode::CrossPartition,
    };
    let pairs = pairs_of(text).ok_or_else(|| {
        let message = format!("`{text}` is no list of pairs like `{{{{0,1}},{{1,2}}}}`");
        Error::from(Code::Groups { message })
    });
    Some(pairs.map(|pairs| (mode, pairs)))
}

/// `{{0,1},{1,2}}` as pairs.
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
