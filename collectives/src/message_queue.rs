//! `collective-permute`: messages from one device to another.
use crate::crossings::{Arrival, Crossing};
use crate::groups::check_id;
use crate::rendezvous::{Participant, Site, check_same_operation};
use crate::run::Run;
use crate::task::WaitReason;
use crate::values::Values;
use crate::{Code, Error, Result};
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::GroupMode;
use hlo::{Literal, Module};
use interp::{Device, DeviceGrid, Position, collective};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The devices to which a device sends, and from which it receives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Neighbors {
    pub(crate) targets: Vec<usize>,
    pub(crate) source: Option<usize>,
}

/// Returns the neighbors of each device. Ids are replicas, within a partition, or partitions,
/// within a replica.
///
/// # Errors
/// `E0502` if an id is not one of the grid's.
pub(crate) fn all_neighbors(
    mode: GroupMode,
    pairs: &[(i64, i64)],
    grid: DeviceGrid,
) -> Result<Vec<Neighbors>> {
    let across = mode == GroupMode::CrossPartition;
    let (count, others) = match across {
        true => (grid.partitions, grid.replicas),
        false => (grid.replicas, grid.partitions),
    };
    let number = |id: usize, other: usize| match across {
        true => grid.number(Device { partition: id, replica: other }),
        false => grid.number(Device { replica: id, partition: other }),
    };
    let mut found = vec![Neighbors::default(); grid.len()];
    for &(source, target) in pairs {
        let source = check_id(source, count, mode.id_noun())?;
        let target = check_id(target, count, mode.id_noun())?;
        for other in 0..others {
            let (from, to) = (number(source, other), number(target, other));
            if found[to].source.is_some() {
                // The verifier allows this where several slices of an array move; which pair moves
                // which is not defined.
                let message = "pairs that list a device once for each slice are not supported";
                return Err(Code::Unsupported { message: message.into() }.into());
            }
            found[from].targets.push(to);
            found[to].source = Some(from);
        }
    }
    Ok(found)
}

/// The key of a message: the instruction, how often the sender executed it before, the receiver.
pub(crate) type MessageKey = (Site, u64, usize);

/// Messages that were sent and not received.
#[derive(Debug, Default)]
pub(crate) struct MessageQueue {
    messages: BTreeMap<MessageKey, Message>,
    /// The neighbors of all devices, by instruction.
    neighbors: FxHashMap<(ComputationId, InstructionId), Arc<[Neighbors]>>,
}

/// Values, with their sender and its position. The values of a remote sender stay on its rank until
/// the receiver is known.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) sender: usize,
    pub(crate) position: Position,
    pub(crate) values: Values,
}

impl MessageQueue {
    /// Returns the neighbors of each device at an instruction.
    ///
    /// # Errors
    /// `E0502` if an id is not one of the grid's.
    pub(crate) fn neighbors(
        &mut self,
        position: Position,
        (grid, module): (DeviceGrid, &Module),
    ) -> Result<Arc<[Neighbors]>> {
        let key = (position.computation, position.instruction);
        if let Some(found) = self.neighbors.get(&key) {
            return Ok(Arc::clone(found));
        }
        let op = &position.instruction(module).op;
        let (mode, pairs) = op.pairs().unwrap_or((GroupMode::CrossReplica, &[]));
        let all: Arc<[Neighbors]> = all_neighbors(mode, pairs, grid)?.into();
        self.neighbors.insert(key, Arc::clone(&all));
        Ok(all)
    }
    /// Fails if a message was not received.
    pub(crate) fn check_all_received(&self, module: &Module) -> Result<()> {
        let Some(((_, round, receiver), Message { sender, position, .. })) =
            self.messages.iter().next()
        else {
            return Ok(());
        };
        let message = format!(
            "device {sender} sent device {receiver} a value in round {} of a `collective-permute` that device {receiver} \
             did not run as often",
            round + 1
        );
        Err(Error::from(Code::Unclaimed { message })
            .at(position.site(module))
            .with_help("execute a `collective-permute` equally often on all devices"))
    }
}

impl Run {
    /// Sends to the targets, and receives from the source.
    pub(crate) fn permute(
        &mut self,
        i: usize,
        participant: Participant,
        channel: Option<i64>,
    ) -> Result<()> {
        let (number, position) = (self.tasks[i].device, participant.position);
        let executable = self.executable.clone();
        let module = executable.module();
        let all = self.messages.neighbors(position, (self.grid, module))?;
        let Neighbors { targets, source } = all[number].clone();
        let (site, round) = self.next_site(i, position, channel, 0)?;
        if !targets.is_empty() {
            let values = self.values_to_send(number, &participant)?;
            for target in targets {
                let key = (site, round, target);
                if let Some(receiver) = self.receivers.remove(&key) {
                    let there = (target, receiver.position);
                    check_same_operation((number, position), there, site, module)?;
                    self.deliver_permuted(target, receiver, (number, &values))?;
                    continue;
                }
                let message = Message { sender: number, position, values: values.clone() };
                if let Some(other) = self.messages.messages.insert(key, message) {
                    let there = (other.sender, other.position);
                    check_same_operation(there, (number, position), site, module)?;
                }
            }
        }
        let Some(source) = source else {
            return self.complete_permute(number, &participant, None);
        };
        let key = (site, round, number);
        match self.messages.messages.remove(&key) {
            Some(Message { sender, position: sent_at, values }) => {
                check_same_operation((sender, sent_at), (number, position), site, module)?;
                self.deliver_permuted(number, participant, (sender, &values))
            }
            None => {
                self.record_wait(participant.waiter, position, WaitReason::Message(source));
                self.receivers.insert(key, participant);
                Ok(())
            }
        }
    }
    /// Returns what a device sends to each of its targets.
    fn values_to_send(&self, device: usize, participant: &Participant) -> Result<Values> {
        let Values::Local(operands) = &participant.operands else {
            return Ok(participant.operands.clone());
        };
        let instruction = participant.position.instruction(self.module());
        let values = collective::sent(instruction, operands);
        let values = values.map_err(|e| self.device_error(device, participant.position, e))?;
        Ok(Values::Local(values))
    }
    /// Gives a receiver the values that a device sent, now or after their transfer.
    fn deliver_permuted(
        &mut self,
        device: usize,
        receiver: Participant,
        (sender, values): (usize, &Values),
    ) -> Result<()> {
        match self.cross(sender, device, values) {
            Crossing::Local(values) => self.complete_permute(device, &receiver, Some(values)),
            Crossing::Arrives => {
                self.crossings.arrive(Arrival::Permute(device, receiver), values);
                Ok(())
            }
            Crossing::Elsewhere => self.complete_waiter(receiver.waiter, Literal::token()),
        }
    }
    /// Completes the op of a device with the values that it received; `None` if it is no target.
    pub(crate) fn complete_permute(
        &mut self,
        device: usize,
        receiver: &Participant,
        received: Option<Vec<Literal>>,
    ) -> Result<()> {
        if !self.is_local(device) {
            return self.complete_waiter(receiver.waiter, Literal::token());
        }
        let instruction = receiver.position.instruction(self.module());
        let value = collective::received(instruction, receiver.operands.local(), received)
            .map_err(|error| self.device_error(device, receiver.position, error))?;
        self.complete_waiter(receiver.waiter, value)
    }
}
