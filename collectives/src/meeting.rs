//! Ops at which the members of a group meet: who has come, and who is missing.
use crate::deadlock::listed;
use crate::strand::{Claim, Origin};
use crate::{Code, Error, Groups, Result};
use hlo::ir::{ComputationId, InstructionId};
use hlo::{ConstantValue, Literal, Module, Op, Shape};
use interp::{Grid, Position, Request};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// What tells one instruction from another: the channel where it has one, else the instruction itself, in this run of what an
/// `async-start` has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Site {
    Channel(i64),
    Place(ComputationId, InstructionId, Origin),
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
    pub(crate) fn of(place: &Position<'_>, channel: Option<i64>, origin: Origin) -> Self {
        channel.map_or(Self::Place(place.computation_id, place.id, origin), Self::Channel)
    }
}

/// A group that is gathering.
#[derive(Debug)]
pub(crate) struct Meeting<'m> {
    /// The device that came first, and where.
    first: (usize, Position<'m>),
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

/// A group of devices.
#[derive(Debug)]
pub(crate) struct Group {
    /// The same wherever it meets.
    pub(crate) number: usize,
    members: Arc<[usize]>,
    /// The device's place in it.
    own: usize,
}

/// Which meeting: the instruction, the number of the group, and how often that group has met there before.
pub(crate) type Key = (Site, usize, u64);

/// All groups that are gathering.
#[derive(Debug, Default)]
pub(crate) struct Meetings<'m> {
    open: BTreeMap<Key, Meeting<'m>>,
    /// How often a device has come to a channel as a member of a group; of an op without groups the group is 0.
    rounds: FxHashMap<(usize, i64, usize), u64>,
    /// In which of a device's strands its ops on a channel are.
    users: FxHashMap<(usize, i64), u64>,
    /// The groups of each instruction, found once.
    groups: FxHashMap<(ComputationId, InstructionId), Arc<Groups>>,
    /// Members of a group to its number, which is the same wherever the group meets.
    numbers: FxHashMap<Arc<[usize]>, usize>,
}

/// What a device finds when it comes.
pub(crate) enum Arrival<'m> {
    /// Others are missing.
    Waits(Key),
    /// It is the last.
    Complete(Meeting<'m>),
}

impl<'m> Meetings<'m> {
    /// How often the device has come to a channel before.
    pub(crate) fn round(&mut self, device: usize, channel: i64, group: usize) -> u64 {
        let round = self.rounds.entry((device, channel, group)).or_default();
        *round += 1;
        *round - 1
    }
    /// Whether all ops of a device on a channel are in one of its strands: those of two that run beside each other could come there
    /// in any order.
    pub(crate) fn is_used_by_one(&mut self, device: usize, channel: i64, origin: Origin) -> bool {
        *self.users.entry((device, channel)).or_insert(origin.chain) == origin.chain
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

    /// The group of a device at an op; nothing if it is in none.
    pub(crate) fn group(
        &mut self,
        device: usize,
        place: &Position<'m>,
        grid: Grid,
    ) -> Result<Option<Group>> {
        let groups = self.groups(place, grid)?;
        let (Some(members), Some(own)) = (groups.group_of(device), groups.place_of(device)) else {
            return Ok(None);
        };
        let (number, members) = self.number(members);
        Ok(Some(Group { number, members, own }))
    }
    /// A device comes to an op of its group; gives the meeting if it is the last.
    pub(crate) fn arrive(
        &mut self,
        device: usize,
        (claim, request): (Claim, Request<'m>),
        (site, group, round): (Site, Group, u64),
        module: &Module,
    ) -> Result<Arrival<'m>> {
        let Group { number, members, own } = group;
        let key = (site, number, round);
        let meeting = self.open.entry(key).or_insert_with(|| Meeting {
            first: (device, request.place),
            given: members.iter().map(|_| None).collect(),
            missing: members.len(),
            members,
        });
        let (first, place) = &meeting.first;
        agrees((*first, place), (device, &request.place), site, module)?;
        meeting.given[own] = Some((claim, request));
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
        Err(Error::from(Code::Unclaimed { message }).at(&meeting.first.1).with_help(
            "each device of a group must run the op equally often, and wait for its end",
        ))
    }
    /// Fails if devices wait for each other on one channel in groups that have devices in common, but are not the same.
    pub(crate) fn one_grouping(&self) -> Result<()> {
        // Which group each device waits in, at a channel.
        let mut waits: BTreeMap<(i64, usize), &Meeting<'_>> = BTreeMap::new();
        for (&(site, ..), meeting) in &self.open {
            let Site::Channel(channel) = site else { continue };
            for device in meeting.come() {
                waits.insert((channel, device), meeting);
            }
        }
        for (&(channel, device), own) in &waits {
            let others = own
                .missing()
                .into_iter()
                .filter_map(|other| waits.get(&(channel, other)).map(|theirs| (other, theirs)));
            let mut others = others.filter(|(_, theirs)| theirs.members != own.members);
            if let Some((other, theirs)) = others.next() {
                let group = |meeting: &Meeting<'_>| listed(&meeting.members);
                let message = format!(
                    "channel {channel}: device {device} waits in the group of {}, device {other} in that of {}",
                    group(own),
                    group(theirs)
                );
                return Err(mismatch(message, &theirs.first.1, &own.first.1));
            }
        }
        Ok(())
    }
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
        Some((one, "one of other operands, dimensions, pairs or computations".to_owned()))
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
        .label(other.span(), "the other device is here")
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
        (Op::CollectivePermute(a), Op::CollectivePermute(b)) => {
            a.slice_sizes == b.slice_sizes && a.source_target_pairs == b.source_target_pairs
        }
        (Op::CollectivePermuteStart(a), Op::CollectivePermuteStart(b)) => {
            a.slice_sizes == b.slice_sizes && a.source_target_pairs == b.source_target_pairs
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
        a.shape.compatible(&b.shape) && a.operands == b.operands && same_op(&a.op, &b.op, module)
    });
    alike && a.instructions.len() == b.instructions.len() && a.root == b.root
}

/// Whether two ops are the same, with the same computations or copies of them.
fn same_op(a: &Op, b: &Op, module: &Module) -> bool {
    if let (Op::Constant(a), Op::Constant(b)) = (a, b)
        && let (ConstantValue::Literal(a), ConstantValue::Literal(b)) = (&*a.value, &*b.value)
    {
        // A NaN is not equal to itself, its bytes are.
        let bytes = |value: &Literal| {
            value.leaves().iter().map(|leaf| leaf.bytes().to_vec()).collect::<Vec<_>>()
        };
        return bytes(a) == bytes(b);
    }
    let (mut a, mut b) = (a.clone(), b.clone());
    let taken = |op: &mut Op| {
        let mut callees = Vec::new();
        op.each_callee_mut(&mut |id| {
            callees.push(std::mem::replace(id, ComputationId::new(0)));
        });
        callees
    };
    let (called, others) = (taken(&mut a), taken(&mut b));
    let same = |(&a, &b)| same_computation(Some(a), Some(b), module);
    a == b && called.len() == others.len() && called.iter().zip(&others).all(same)
}
