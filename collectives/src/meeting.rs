//! Ops at which the members of a group meet: who has come, and who is missing.
use crate::strand::Claim;
use crate::{Code, Error, Groups, Result};
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Module, Op};
use interp::{Grid, Position, Request};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What tells one instruction from another: the channel where it has one, else the instruction itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Site {
    Channel(i64),
    Place(ComputationId, InstructionId),
}

impl Site {
    pub(crate) fn of(place: &Position<'_>, channel: Option<i64>) -> Self {
        channel.map_or(Self::Place(place.computation_id, place.id), Self::Channel)
    }
}

/// A group that is gathering.
#[derive(Debug)]
pub(crate) struct Meeting<'m> {
    first: Position<'m>,
    pub(crate) members: Arc<[usize]>,
    pub(crate) given: Vec<Option<(Claim, Request<'m>)>>,
    missing: usize,
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
    groups: FxHashMap<(ComputationId, InstructionId), Arc<Groups>>,
}

/// What a device finds when it comes.
pub(crate) enum Arrival<'m> {
    /// It is in no group.
    Alone(Request<'m>),
    /// Others are missing.
    Waits(Key),
    /// It is the last.
    Complete(Meeting<'m>),
}

impl<'m> Meetings<'m> {
    /// How often the device has come there before.
    pub(crate) fn round(&mut self, device: usize, site: Site) -> u64 {
        let round = self.rounds.entry((device, site)).or_default();
        *round += 1;
        *round - 1
    }
    pub(crate) fn groups(&mut self, place: &Position<'m>, grid: Grid) -> Result<Arc<Groups>> {
        let key = (place.computation_id, place.id);
        if let Some(groups) = self.groups.get(&key) {
            return Ok(Arc::clone(groups));
        }
        let op = &place.instruction().op;
        let found = Groups::of(op, grid).unwrap_or_else(|| {
            let message = format!("`{}` has no groups", op.opcode());
            Err(Code::Unsupported { message }.into())
        });
        let groups = Arc::new(found?);
        self.groups.insert(key, Arc::clone(&groups));
        Ok(groups)
    }

    /// A device comes to an op of its group.
    pub(crate) fn arrive(
        &mut self,
        device: usize,
        (claim, request): (Claim, Request<'m>),
        channel: Option<i64>,
        module: &Module,
        grid: Grid,
    ) -> Result<Arrival<'m>> {
        let site = Site::of(&request.place, channel);
        let groups = self.groups(&request.place, grid)?;
        let (Some(members), Some(place)) = (groups.group_of(device), groups.place_of(device))
        else {
            return Ok(Arrival::Alone(request));
        };
        let key = (site, members[0], self.round(device, site));
        let meeting = self.open.entry(key).or_insert_with(|| Meeting {
            first: request.place,
            members: members.into(),
            given: members.iter().map(|_| None).collect(),
            missing: members.len(),
        });
        agrees(meeting, members, &request.place, module)?;
        meeting.given[place] = Some((claim, request));
        meeting.missing -= 1;
        if meeting.missing > 0 {
            return Ok(Arrival::Waits(key));
        }
        Ok(self.open.remove(&key).map_or(Arrival::Waits(key), Arrival::Complete))
    }
    /// The meeting of this key, while it gathers.
    pub(crate) fn get(&self, key: &Key) -> Option<&Meeting<'m>> {
        self.open.get(key)
    }
}

/// Devices that meet at one channel do the same there.
fn agrees(
    meeting: &Meeting<'_>,
    members: &[usize],
    place: &Position<'_>,
    module: &Module,
) -> Result<()> {
    let (first, other) = (meeting.first.instruction(), place.instruction());
    let what = if first.opcode() != other.opcode() {
        Some((format!("`{}`", first.opcode()), format!("`{}`", other.opcode())))
    } else if !first.shape.compatible(&other.shape) {
        Some((format!("{:#}", first.shape), format!("{:#}", other.shape)))
    } else if *meeting.members != *members {
        Some((format!("groups of devices {:?}", meeting.members), format!("{members:?}")))
    } else if !same_work(&first.op, &other.op, module) {
        Some(("one dimension or computation".to_owned(), "another".to_owned()))
    } else {
        None
    };
    let Some((first, other)) = what else { return Ok(()) };
    let message = format!("devices meet at one channel with {first} and with {other}");
    Err(Error::from(Code::Mismatch { message })
        .at(place)
        .with_label(meeting.first.span(), "they meet those who came here")
        .with_help("give instructions that do not belong together channels of their own"))
}

/// Whether two ops of one opcode do the same with what they are given.
fn same_work(a: &Op, b: &Op, module: &Module) -> bool {
    let same = |a, b| same_computation(a, b, module);
    #[expect(clippy::wildcard_enum_match_arm, reason = "other ops have nothing to disagree on")]
    match (a, b) {
        (Op::AllReduce(a), Op::AllReduce(b)) => same(a.to_apply.0, b.to_apply.0),
        (Op::AllReduceStart(a), Op::AllReduceStart(b)) => same(a.to_apply.0, b.to_apply.0),
        (Op::AllGather(a), Op::AllGather(b)) => a.dimensions == b.dimensions,
        (Op::AllGatherStart(a), Op::AllGatherStart(b)) => a.dimensions == b.dimensions,
        (Op::AllToAll(a), Op::AllToAll(b)) => a.dimensions == b.dimensions,
        (Op::ReduceScatter(a), Op::ReduceScatter(b)) => {
            a.dimensions == b.dimensions && same(Some(a.to_apply), Some(b.to_apply))
        }
        _ => true,
    }
}

/// Whether two computations are the same, or copies of each other as compilers make them.
fn same_computation(a: Option<ComputationId>, b: Option<ComputationId>, module: &Module) -> bool {
    let (Some(a), Some(b)) = (a, b) else { return a == b };
    if a == b {
        return true;
    }
    let (a, b) = (&module.computations[a], &module.computations[b]);
    let alike = a.instructions.iter().zip(b.instructions.iter()).all(|((_, a), (_, b))| {
        a.op == b.op && a.shape.compatible(&b.shape) && a.operands == b.operands
    });
    alike && a.instructions.len() == b.instructions.len() && a.root == b.root
}
