//! Ops at which the members of a group meet: who has come, and who is missing.
use crate::deadlock::listed;
use crate::strand::Claim;
use crate::{Code, Error, Groups, Result};
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Module, Op, Shape};
use interp::{Grid, Position, Request};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What tells one instruction from another: the channel where it has one, else the instruction itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Site {
    Channel(i64),
    Place(ComputationId, InstructionId),
}

impl fmt::Display for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(id) => write!(f, "channel {id}"),
            Self::Place(..) => f.write_str("one instruction"),
        }
    }
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
    /// The devices that have come.
    fn come(&self) -> Vec<usize> {
        let come = self.members.iter().zip(&self.given).filter(|(_, given)| given.is_some());
        come.map(|(&device, _)| device).collect()
    }
    /// The devices that have not come.
    pub(crate) fn missing(&self) -> Vec<usize> {
        let absent = self.members.iter().zip(&self.given).filter(|(_, given)| given.is_none());
        absent.map(|(&device, _)| device).collect()
    }
}

/// Which meeting: the instruction, the number of the group, and how often that group has met there before.
pub(crate) type Key = (Site, usize, u64);

/// All groups that are gathering.
#[derive(Debug, Default)]
pub(crate) struct Meetings<'m> {
    open: BTreeMap<Key, Meeting<'m>>,
    /// How often a device has come to an instruction as a member of a group; of an op without groups the group is 0.
    rounds: FxHashMap<(usize, Site, usize), u64>,
    /// The groups of each instruction, found once.
    groups: FxHashMap<(ComputationId, InstructionId), Arc<Groups>>,
    /// Members of a group to its number, which is the same wherever the group meets.
    numbers: FxHashMap<Arc<[usize]>, usize>,
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
        self.round_of(device, site, 0)
    }
    fn round_of(&mut self, device: usize, site: Site, group: usize) -> u64 {
        let round = self.rounds.entry((device, site, group)).or_default();
        *round += 1;
        *round - 1
    }
    /// The number of a group.
    fn number(&mut self, members: &[usize]) -> (usize, Arc<[usize]>) {
        if let Some((members, &number)) = self.numbers.get_key_value(members) {
            return (number, Arc::clone(members));
        }
        let (members, number) = (Arc::<[usize]>::from(members), self.numbers.len() + 1);
        self.numbers.insert(Arc::clone(&members), number);
        (number, members)
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
        let (number, members) = self.number(members);
        let key = (site, number, self.round_of(device, site, number));
        let meeting = self.open.entry(key).or_insert_with(|| Meeting {
            first: request.place,
            given: members.iter().map(|_| None).collect(),
            missing: members.len(),
            members,
        });
        let first = (meeting.come().first().copied().unwrap_or(device), &meeting.first);
        agrees(first, (device, &request.place), site, module)?;
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
    /// Fails if a group still gathers though all devices have ended.
    pub(crate) fn all_claimed(&self) -> Result<()> {
        let Some(meeting) = self.open.values().next() else { return Ok(()) };
        let (come, missing) = (listed(&meeting.come()), listed(&meeting.missing()));
        let message =
            format!("{come} started an op that {missing} never came to, and all have ended");
        Err(Error::from(Code::Unclaimed { message }).at(&meeting.first).with_help(
            "each device of a group must run the op equally often, and wait for its end",
        ))
    }
    /// Fails if devices wait for each other on one channel in groups that have devices in common, but are not the same.
    pub(crate) fn one_grouping(&self) -> Result<()> {
        let gathering: Vec<_> = self.open.iter().filter(|(key, _)| is_channel(key.0)).collect();
        for two in gathering.windows(2) {
            let [(a, first), (b, second)] = two else { continue };
            let overlap = first.members.iter().any(|device| second.members.contains(device));
            if a.0 == b.0 && a.1 != b.1 && overlap {
                let group = |meeting: &Meeting<'_>| {
                    let come = listed(&meeting.come());
                    format!("{come} waits in the group of {}", listed(&meeting.members))
                };
                let message = format!("{}: {}; {}", a.0, group(first), group(second));
                return Err(mismatch(message, &second.first, &first.first));
            }
        }
        Ok(())
    }
}

fn is_channel(site: Site) -> bool {
    matches!(site, Site::Channel(_))
}

/// Devices that meet at one channel do the same there.
pub(crate) fn agrees(
    (device, first): (usize, &Position<'_>),
    (other_device, other): (usize, &Position<'_>),
    site: Site,
    module: &Module,
) -> Result<()> {
    if (first.computation_id, first.id) == (other.computation_id, other.id) {
        return Ok(());
    }
    let (a, b) = (first.instruction(), other.instruction());
    let what = if a.opcode() != b.opcode() {
        Some((format!("`{}`", a.opcode()), format!("`{}`", b.opcode())))
    } else if !a.shape.compatible(&b.shape) {
        Some((format!("{:#}", a.shape), format!("{:#}", b.shape)))
    } else if !same_work(first, other, module) {
        let one = format!("one `{}`", a.opcode());
        Some((one, "one of another dimension, operand or computation".to_owned()))
    } else {
        None
    };
    let Some((a, b)) = what else { return Ok(()) };
    let message = format!("{site}: device {device} comes with {a}, device {other_device} with {b}");
    Err(mismatch(message, other, first))
}

/// The error of what does not fit together at two places.
fn mismatch(message: String, at: &Position<'_>, other: &Position<'_>) -> Error {
    Error::from(Code::Mismatch { message })
        .at(at)
        .with_label(other.span(), "the other device is here")
        .with_help("give instructions that do not belong together channels of their own")
}

fn operand_shapes<'m>(place: &Position<'m>) -> Vec<&'m Shape> {
    let instructions = &place.computation.instructions;
    place.instruction().operands.iter().map(|&id| &instructions[id].shape).collect()
}

/// Whether two instructions of one opcode do the same with what they are given.
fn same_work(first: &Position<'_>, other: &Position<'_>, module: &Module) -> bool {
    let same = |a, b| same_computation(a, b, module);
    let (a, b) = (operand_shapes(first), operand_shapes(other));
    let alike = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.compatible(b));
    let agree = match (&first.instruction().op, &other.instruction().op) {
        (Op::AllReduce(a), Op::AllReduce(b)) => same(a.to_apply.0, b.to_apply.0),
        (Op::AllReduceStart(a), Op::AllReduceStart(b)) => same(a.to_apply.0, b.to_apply.0),
        (Op::AllGather(a), Op::AllGather(b)) => a.dimensions == b.dimensions,
        (Op::AllGatherStart(a), Op::AllGatherStart(b)) => a.dimensions == b.dimensions,
        (Op::AllToAll(a), Op::AllToAll(b)) => a.dimensions == b.dimensions,
        (Op::ReduceScatter(a), Op::ReduceScatter(b)) => {
            a.dimensions == b.dimensions && same(Some(a.to_apply), Some(b.to_apply))
        }
        (Op::CollectiveBroadcast(a), Op::CollectiveBroadcast(b)) => {
            a.has_dynamic_root == b.has_dynamic_root
        }
        (Op::CollectivePermute(a), Op::CollectivePermute(b)) => a.slice_sizes == b.slice_sizes,
        (Op::CollectivePermuteStart(a), Op::CollectivePermuteStart(b)) => {
            a.slice_sizes == b.slice_sizes
        }
        _ => true,
    };
    alike && agree
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
