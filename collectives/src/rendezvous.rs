//! Rendezvous: the members of a group wait for each other at a collective op.
use crate::deadlock::list_devices;
use crate::site::SpawnPath;
use crate::site::{Key, Site};
use crate::task::Waiter;
use crate::values::Values;
use crate::{Code, Error, Groups, Result};
use hlo::ir::{ComputationId, Instruction, InstructionId};
use hlo::literal::ConstantValue;
use hlo::{Literal, Module, Op, Shape};
use interp::{DeviceGrid, Position};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A device that takes part in an op.
#[derive(Debug, Clone)]
pub(crate) struct Participant {
    /// The receiver of the result.
    pub(crate) waiter: Waiter,
    pub(crate) position: Position,
    /// Its operands, or for a `collective-permute` of a remote device the values that it sends.
    pub(crate) operands: Values,
}

/// A group of which some members have joined.
#[derive(Debug)]
pub(crate) struct Rendezvous {
    /// The device that joined first, and its position.
    first: (usize, Position),
    pub(crate) members: Arc<[usize]>,
    pub(crate) joined: Vec<Option<Participant>>,
    missing: usize,
}

impl Rendezvous {
    /// Returns the position of the first member in group order that has joined.
    pub(crate) fn position(&self) -> Position {
        self.joined.iter().flatten().next().map_or(self.first.1, |one| one.position)
    }
    /// Returns tokens as the results of some of the members that have joined, whose devices are on
    /// other ranks.
    pub(crate) fn placeholders(&self, is_remote: impl Fn(usize) -> bool) -> Vec<(Waiter, Literal)> {
        let joined =
            self.members.iter().zip(&self.joined).filter(|(device, _)| is_remote(**device));
        joined.filter_map(|(_, one)| Some((one.as_ref()?.waiter, Literal::token()))).collect()
    }
    /// Returns the devices that have joined.
    fn joined_devices(&self) -> Vec<usize> {
        let joined = self.members.iter().zip(&self.joined).filter(|(_, given)| given.is_some());
        joined.map(|(&device, _)| device).collect()
    }
    /// Returns the devices that have not joined.
    pub(crate) fn missing(&self) -> Vec<usize> {
        let absent = self.members.iter().zip(&self.joined).filter(|(_, given)| given.is_none());
        absent.map(|(&device, _)| device).collect()
    }
}

/// A group of devices.
#[derive(Debug)]
pub(crate) struct Group {
    /// The number of the group, equal at every rendezvous of its members.
    pub(crate) number: usize,
    members: Arc<[usize]>,
    /// The index of the device in it.
    own: usize,
}

/// All rendezvous that are not complete.
#[derive(Debug, Default)]
pub(crate) struct RendezvousTable {
    open: BTreeMap<Key, Rendezvous>,
    /// How often a device executed ops on a channel as a member of a group; group 0 for an op
    /// without groups.
    rounds: FxHashMap<(usize, i64, usize), u64>,
    /// The chain of starts of the task with a device's ops on a channel.
    users: FxHashMap<(usize, i64), u64>,
    /// The groups of each instruction.
    groups: FxHashMap<(ComputationId, InstructionId), Arc<Groups>>,
    /// The number of each group, by its members.
    numbers: FxHashMap<Arc<[usize]>, usize>,
}

/// The result of joining a rendezvous.
pub(crate) enum Joined {
    /// Other members have not joined.
    Incomplete(Key),
    /// The device was the last to join.
    Complete(Rendezvous),
}

impl RendezvousTable {
    /// Returns how often the device executed ops on a channel before, and counts this execution.
    pub(crate) fn next_round(&mut self, device: usize, channel: i64, group: usize) -> u64 {
        let round = self.rounds.entry((device, channel, group)).or_default();
        *round += 1;
        *round - 1
    }
    /// Returns whether all ops of a device on a channel are in one task: two concurrent tasks would
    /// reach the channel in an arbitrary order.
    pub(crate) fn is_used_by_one_chain(
        &mut self,
        device: usize,
        channel: i64,
        path: SpawnPath,
    ) -> bool {
        *self.users.entry((device, channel)).or_insert(path.chain) == path.chain
    }
    /// Returns the number of a group.
    fn number(&mut self, members: &[usize]) -> (usize, Arc<[usize]>) {
        if let Some((members, &number)) = self.numbers.get_key_value(members) {
            return (number, Arc::clone(members));
        }
        let (members, number) = (Arc::<[usize]>::from(members), self.numbers.len() + 1);
        self.numbers.insert(Arc::clone(&members), number);
        (number, members)
    }
    /// Returns the groups of an op.
    ///
    /// # Errors
    /// `E0502` if an id is not one of the grid's.
    pub(crate) fn groups(
        &mut self,
        position: Position,
        grid: DeviceGrid,
        module: &Module,
    ) -> Result<Arc<Groups>> {
        let key = (position.computation, position.instruction);
        if let Some(groups) = self.groups.get(&key) {
            return Ok(Arc::clone(groups));
        }
        let op = &position.instruction(module).op;
        let found = Groups::of(op, grid).unwrap_or_else(|| {
            let message = format!("`{}` has no groups", op.opcode());
            Err(Code::Unsupported { message }.into())
        });
        let groups = Arc::new(found?);
        self.groups.insert(key, Arc::clone(&groups));
        Ok(groups)
    }

    /// Returns the group of a device at an op; nothing if it is in none.
    pub(crate) fn group(
        &mut self,
        device: usize,
        position: Position,
        (grid, module): (DeviceGrid, &Module),
    ) -> Result<Option<Group>> {
        let groups = self.groups(position, grid, module)?;
        let (Some(members), Some(own)) = (groups.group_of(device), groups.index_of(device)) else {
            return Ok(None);
        };
        let (number, members) = self.number(members);
        Ok(Some(Group { number, members, own }))
    }
    /// Joins a rendezvous, and returns it if it is complete.
    pub(crate) fn join(
        &mut self,
        device: usize,
        participant: Participant,
        (site, group, round): (Site, Group, u64),
        module: &Module,
    ) -> Result<Joined> {
        let Group { number, members, own } = group;
        let key = (site, number, round);
        let rendezvous = self.open.entry(key).or_insert_with(|| Rendezvous {
            first: (device, participant.position),
            joined: members.iter().map(|_| None).collect(),
            missing: members.len(),
            members,
        });
        check_same_operation(rendezvous.first, (device, participant.position), site, module)?;
        rendezvous.joined[own] = Some(participant);
        rendezvous.missing -= 1;
        if rendezvous.missing > 0 {
            return Ok(Joined::Incomplete(key));
        }
        Ok(self.open.remove(&key).map_or(Joined::Incomplete(key), Joined::Complete))
    }
    /// Returns a rendezvous that is not complete.
    pub(crate) fn get(&self, key: &Key) -> Option<&Rendezvous> {
        self.open.get(key)
    }
    /// Fails if a rendezvous is incomplete although all devices have finished.
    pub(crate) fn check_all_joined(&self, module: &Module) -> Result<()> {
        let Some(rendezvous) = self.open.values().next() else { return Ok(()) };
        let (joined, missing) =
            (list_devices(&rendezvous.joined_devices()), list_devices(&rendezvous.missing()));
        let message = format!(
            "{joined} started a collective op that {missing} did not join, and all devices have finished"
        );
        Err(Error::from(Code::Unclaimed { message }).at(rendezvous.first.1.site(module)).with_help(
            "execute the op equally often on each device of a group, and wait for its done",
        ))
    }
    /// Fails if devices wait on one channel in different groups that overlap.
    pub(crate) fn check_same_groups(&self, module: &Module) -> Result<()> {
        // The rendezvous in which each device waits, by channel.
        let mut waits: BTreeMap<(i64, usize), &Rendezvous> = BTreeMap::new();
        for (&(site, ..), rendezvous) in &self.open {
            let Site::Channel(channel) = site else { continue };
            for device in rendezvous.joined_devices() {
                waits.insert((channel, device), rendezvous);
            }
        }
        for (&(channel, device), own) in &waits {
            let others = own
                .missing()
                .into_iter()
                .filter_map(|other| waits.get(&(channel, other)).map(|theirs| (other, theirs)));
            let mut others = others.filter(|(_, theirs)| theirs.members != own.members);
            if let Some((other, theirs)) = others.next() {
                let group = |rendezvous: &Rendezvous| list_devices(&rendezvous.members);
                let message = format!(
                    "channel {channel}: device {device} waits in the group of {}, device {other} in the group of {}",
                    group(own),
                    group(theirs)
                );
                return Err(mismatch(message, theirs.first.1, own.first.1, module));
            }
        }
        Ok(())
    }
}

/// Checks that the instructions of two devices at one site do the same.
pub(crate) fn check_same_operation(
    (device, first): (usize, Position),
    (other_device, other): (usize, Position),
    site: Site,
    module: &Module,
) -> Result<()> {
    if first.computation == other.computation && first.instruction == other.instruction {
        return Ok(());
    }
    let (a, b) = (first.instruction(module), other.instruction(module));
    let what = if a.opcode() != b.opcode() {
        Some((format!("`{}`", a.opcode()), format!("`{}`", b.opcode())))
    } else if !a.shape.compatible(&b.shape) {
        let described = |i: &Instruction| format!("`{}` with result {:#}", i.opcode(), i.shape);
        Some((described(a), described(b)))
    } else if !same_work(first, other, module) {
        let one = format!("one `{}`", a.opcode());
        Some((one, "one with other operands, dimensions, pairs or computations".to_owned()))
    } else {
        None
    };
    let Some((a, b)) = what else { return Ok(()) };
    let message =
        format!("{site}: device {device} executes {a}, device {other_device} executes {b}");
    Err(mismatch(message, other, first, module))
}

/// Returns the error of instructions that do not match.
fn mismatch(message: String, at: Position, other: Position, module: &Module) -> Error {
    Error::from(Code::Mismatch { message })
        .at(at.site(module))
        .label(other.span(module), "the other device is at this instruction")
        .with_help("give instructions that do not belong together different channels")
}

fn operand_shapes(position: Position, module: &Module) -> Vec<&Shape> {
    let instructions = &module.computations[position.computation].instructions;
    position.instruction(module).operands.iter().map(|&id| &instructions[id].shape).collect()
}

/// Returns whether two instructions with the same opcode do the same with their operands.
fn same_work(first: Position, other: Position, module: &Module) -> bool {
    let same = |a, b| same_computation(a, b, module);
    let (a, b) = (operand_shapes(first, module), operand_shapes(other, module));
    let alike = a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.compatible(b));
    let agree = match (&first.instruction(module).op, &other.instruction(module).op) {
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

/// Returns whether two computations are the same, or copies of each other.
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

/// Returns whether two ops are the same, up to copies of the computations that they call.
fn same_op(a: &Op, b: &Op, module: &Module) -> bool {
    if let (Op::Constant(a), Op::Constant(b)) = (a, b)
        && let (ConstantValue::Literal(a), ConstantValue::Literal(b)) = (&*a.value, &*b.value)
    {
        // Two NaNs are not equal, but their bytes are.
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
