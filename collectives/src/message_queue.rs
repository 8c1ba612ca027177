//! Messages from one device to another.
use crate::groups::check_id;
use crate::site::Site;
use crate::values::Values;
use crate::{Code, Error, Result};
use hlo::Module;
use hlo::ir::{ComputationId, InstructionId};
use hlo::op::GroupMode;
use interp::{Device, DeviceGrid, Position};
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
    pub(crate) messages: BTreeMap<MessageKey, Message>,
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
