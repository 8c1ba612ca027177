//! Ops at which the members of a group meet: who has come, and who is missing.
use crate::{Code, Error, Groups, Result};
use hlo::Literal;
use hlo::ir::{Instruction, InstructionId};
use interp::{Grid, Request};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What tells one instruction from another: the channel where it has one, else the instruction itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Site {
    Channel(i64),
    /// The computation's address, which is its own for as long as the module is borrowed, and the instruction.
    Place(usize, InstructionId),
}

impl Site {
    pub(crate) fn of(request: &Request<'_>, channel: Option<i64>) -> Self {
        match channel {
            Some(channel) => Self::Channel(channel),
            None => Self::Place(std::ptr::from_ref(request.computation).addr(), request.id),
        }
    }
}

/// Who gets a value: a strand that waits, or a done that will ask for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claim {
    Strand(usize),
    Ticket(Ticket),
}

/// A start whose done is still to come: the strand, the computation, the instruction and how deep it stands.
pub(crate) type Ticket = (usize, usize, InstructionId, usize);

/// A group that is gathering.
#[derive(Debug)]
pub(crate) struct Meeting<'m> {
    pub(crate) instruction: &'m Instruction,
    pub(crate) members: Arc<[usize]>,
    pub(crate) given: Vec<Option<(Claim, Vec<Literal>)>>,
}

impl Meeting<'_> {
    /// The devices that have not come.
    pub(crate) fn missing(&self) -> Vec<usize> {
        let absent = self.members.iter().zip(&self.given).filter(|(_, given)| given.is_none());
        absent.map(|(&device, _)| device).collect()
    }
}

/// Which meeting: the instruction, the first member, and how often that group has met there before.
pub(crate) type Key = (Site, usize, u64);

/// All groups that are gathering.
#[derive(Debug, Default)]
pub(crate) struct Meetings<'m> {
    open: BTreeMap<Key, Meeting<'m>>,
    /// How often a device has come to an instruction.
    rounds: FxHashMap<(usize, Site), u64>,
    /// The groups of each instruction, found once.
    groups: FxHashMap<(usize, InstructionId), Arc<Groups>>,
}

impl<'m> Meetings<'m> {
    /// How often the device has come there before.
    pub(crate) fn round(&mut self, device: usize, site: Site) -> u64 {
        let round = self.rounds.entry((device, site)).or_default();
        *round += 1;
        *round - 1
    }
    fn groups(&mut self, request: &Request<'m>, grid: Grid) -> Result<Arc<Groups>> {
        let key = (std::ptr::from_ref(request.computation).addr(), request.id);
        if let Some(groups) = self.groups.get(&key) {
            return Ok(Arc::clone(groups));
        }
        let op = &request.instruction().op;
        let found = Groups::of(op, grid).unwrap_or_else(|| {
            let message = format!("`{}` has no groups", op.opcode());
            Err(Code::Unsupported { message }.into())
        });
        let groups = Arc::new(found?);
        self.groups.insert(key, Arc::clone(&groups));
        Ok(groups)
    }

    /// A device comes to an op of its group; gives the meeting if all have come now. Nothing for a device in no group.
    pub(crate) fn arrive(
        &mut self,
        device: usize,
        request: Request<'m>,
        channel: Option<i64>,
        claim: Claim,
        grid: Grid,
    ) -> Result<Arrival<'m>> {
        let site = Site::of(&request, channel);
        let groups = self.groups(&request, grid)?;
        let (Some(members), Some(place)) = (groups.group_of(device), groups.place_of(device))
        else {
            return Ok(Arrival::Alone);
        };
        let key = (site, members[0], self.round(device, site));
        let meeting = self.open.entry(key).or_insert_with(|| Meeting {
            instruction: request.instruction(),
            members: members.into(),
            given: members.iter().map(|_| None).collect(),
        });
        agrees(meeting, members, &request)?;
        meeting.given[place] = Some((claim, request.operands));
        if meeting.given.iter().any(Option::is_none) {
            return Ok(Arrival::Waits(key));
        }
        Ok(self.open.remove(&key).map_or(Arrival::Waits(key), Arrival::Complete))
    }
    /// The meeting of this key, while it gathers.
    pub(crate) fn get(&self, key: &Key) -> Option<&Meeting<'m>> {
        self.open.get(key)
    }
}

/// What a device finds when it comes.
pub(crate) enum Arrival<'m> {
    /// It is in no group.
    Alone,
    /// Others are missing.
    Waits(Key),
    /// It is the last.
    Complete(Meeting<'m>),
}

/// Devices that meet at one channel do the same there.
fn agrees(meeting: &Meeting<'_>, members: &[usize], request: &Request<'_>) -> Result<()> {
    let (first, other) = (meeting.instruction, request.instruction());
    let what = if first.opcode() != other.opcode() {
        Some((first.opcode().to_string(), other.opcode().to_string()))
    } else if !first.shape.compatible(&other.shape) {
        Some((format!("{:#}", first.shape), format!("{:#}", other.shape)))
    } else if *meeting.members != *members {
        Some((format!("devices {:?}", meeting.members), format!("devices {members:?}")))
    } else {
        None
    };
    let Some((first, other)) = what else { return Ok(()) };
    let message = format!("devices meet at one channel with {first} and with {other}");
    let span = request.computation.spans.get(request.id).copied().unwrap_or_default();
    Err(Error::from(Code::Mismatch { message })
        .at(span.body)
        .with_help("give instructions that do not belong together channels of their own"))
}
