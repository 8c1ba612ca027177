//! `collective-permute`: messages from one device to another.
use crate::groups::check_id;
use crate::rendezvous::{Site, check_same_operation};
use crate::run::Run;
use crate::task::{WaitReason, Waiter};
use crate::{Code, Error, Result};
use hlo::Literal;
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::GroupMode;
use interp::{Device, Grid, Position, Request as Suspension, collective};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The devices to which a device sends, and from which it receives.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Neighbors {
    pub(crate) targets: Vec<usize>,
    pub(crate) source: Option<usize>,
}

/// Returns the neighbors of each device. Ids are replicas, within a partition, or partitions, within a replica.
///
/// # Errors
/// `E0502` if an id is not one of the grid's.
pub(crate) fn all_neighbors(
    mode: GroupMode,
    pairs: &[(i64, i64)],
    grid: Grid,
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
pub(crate) struct MessageQueue<'m> {
    messages: BTreeMap<MessageKey, Message<'m>>,
    /// The neighbors of all devices, by instruction.
    neighbors: FxHashMap<(ComputationId, InstructionId), Arc<[Neighbors]>>,
}

/// Values, with their sender and its position.
#[derive(Debug, Clone)]
pub(crate) struct Message<'m> {
    pub(crate) sender: usize,
    pub(crate) place: Position<'m>,
    pub(crate) values: Vec<Literal>,
}

impl MessageQueue<'_> {
    /// Returns the neighbors of each device at an instruction.
    ///
    /// # Errors
    /// `E0502` if an id is not one of the grid's.
    pub(crate) fn neighbors(
        &mut self,
        place: &Position<'_>,
        grid: Grid,
    ) -> Result<Arc<[Neighbors]>> {
        let key = (place.computation_id, place.id);
        if let Some(found) = self.neighbors.get(&key) {
            return Ok(Arc::clone(found));
        }
        let (mode, pairs) =
            place.instruction().op.pairs().unwrap_or((GroupMode::CrossReplica, &[]));
        let all: Arc<[Neighbors]> = all_neighbors(mode, pairs, grid)?.into();
        self.neighbors.insert(key, Arc::clone(&all));
        Ok(all)
    }
    /// Fails if a message was not received.
    pub(crate) fn check_all_received(&self) -> Result<()> {
        let Some(((_, round, receiver), Message { sender, place, .. })) =
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
            .at(place)
            .with_help("execute a `collective-permute` equally often on all devices"))
    }
}

impl<'m> Run<'m> {
    /// Sends to the targets, and receives from the source.
    pub(crate) fn permute(
        &mut self,
        i: usize,
        suspension: Suspension<'m>,
        channel: Option<i64>,
        waiter: Waiter,
    ) -> Result<()> {
        let number = self.tasks[i].device;
        let all = self.messages.neighbors(&suspension.place, self.team.grid())?;
        let Neighbors { targets, source } = all[number].clone();
        let (site, round) = self.next_site(i, &suspension.place, channel, 0)?;
        if !targets.is_empty() {
            let failed = |error| Error::from(Code::Device { device: number, error });
            let blame = |error| failed(suspension.place.blame(error));
            // Ranks without a target or the sender do not use the values.
            let is_used = targets.iter().chain([&number]).any(|&device| self.is_local(device));
            let values = match is_used {
                true => collective::sent(suspension.instruction(), &suspension.operands),
                false => Ok(Vec::new()),
            };
            let values = values.map_err(blame)?;
            for target in targets {
                let key = (site, round, target);
                match self.receivers.remove(&key) {
                    Some((waiter, receiver)) => {
                        let here = (number, &suspension.place);
                        check_same_operation(
                            here,
                            (target, &receiver.place),
                            site,
                            self.team.module(),
                        )?;
                        self.deliver_permuted(target, waiter, &receiver, Some(values.clone()))?;
                    }
                    None => {
                        let (place, values) = (suspension.place, values.clone());
                        let message = Message { sender: number, place, values };
                        if let Some(other) = self.messages.messages.insert(key, message) {
                            let others = (other.sender, &other.place);
                            check_same_operation(
                                others,
                                (number, &suspension.place),
                                site,
                                self.team.module(),
                            )?;
                        }
                    }
                }
            }
        }
        let Some(source) = source else {
            return self.deliver_permuted(number, waiter, &suspension, None);
        };
        let key = (site, round, number);
        match self.messages.messages.remove(&key) {
            Some(Message { sender, place, values }) => {
                let here = (number, &suspension.place);
                check_same_operation((sender, &place), here, site, self.team.module())?;
                self.deliver_permuted(number, waiter, &suspension, Some(values))
            }
            None => {
                self.record_wait(waiter, suspension.place, WaitReason::Message(source));
                self.receivers.insert(key, (waiter, suspension));
                Ok(())
            }
        }
    }
    fn deliver_permuted(
        &mut self,
        device: usize,
        waiter: Waiter,
        suspension: &Suspension<'m>,
        sent: Option<Vec<Literal>>,
    ) -> Result<()> {
        if !self.is_local(device) {
            return self.complete_waiter(waiter, Literal::token());
        }
        let value = collective::received(suspension.instruction(), &suspension.operands, sent);
        let value = value.map_err(|error| {
            Error::from(Code::Device { device, error: suspension.place.blame(error) })
        })?;
        self.complete_waiter(waiter, value)
    }
}
