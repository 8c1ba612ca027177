//! Values on their way from one device to another: `collective-permute`, `send` and `recv`.
use crate::groups::checked;
use crate::meeting::Site;
use crate::{Code, Error, Result};
use hlo::Literal;
use hlo::op::GroupMode;
use interp::{Device, Grid};
use std::collections::{BTreeMap, VecDeque};

/// Whom a device sends to and receives from in a `collective-permute`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Neighbours {
    pub(crate) targets: Vec<usize>,
    pub(crate) source: Option<usize>,
}

/// The neighbours of a device. Ids are replicas, of the device's own partition, or the other way round.
///
/// # Errors
/// `E0502` if an id is not one of the grid's.
pub(crate) fn neighbours(
    mode: GroupMode,
    pairs: &[(i64, i64)],
    device: Device,
    grid: Grid,
) -> Result<Neighbours> {
    let across = mode == GroupMode::CrossPartition;
    let (own, count) = match across {
        true => (device.partition, grid.partitions),
        false => (device.replica, grid.replicas),
    };
    let number = |id: usize| match across {
        true => grid.number(Device { partition: id, ..device }),
        false => grid.number(Device { replica: id, ..device }),
    };
    let mut found = Neighbours::default();
    for &(source, target) in pairs {
        let source = checked(source, count, mode.id_noun())?;
        let target = checked(target, count, mode.id_noun())?;
        if source == own {
            found.targets.push(number(target));
        }
        if target == own {
            found.source = Some(number(source));
        }
    }
    Ok(found)
}

/// Which box: the instruction, how often its sender has come there before, the receiver.
pub(crate) type Slot = (Site, u64, usize);

/// What was sent and not yet received.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    /// Of `collective-permute`: one value in each box.
    permuted: BTreeMap<Slot, (usize, Vec<Literal>)>,
    /// Of `send`, for each channel: sender and value, the oldest first.
    sent: BTreeMap<Option<i64>, VecDeque<(usize, Literal)>>,
}

impl Mail {
    /// Puts a value into a box.
    pub(crate) fn post(&mut self, to: Slot, sender: usize, values: Vec<Literal>) {
        self.permuted.insert(to, (sender, values));
    }
    /// Takes the value out of a box.
    pub(crate) fn take(&mut self, from: &Slot) -> Option<Vec<Literal>> {
        self.permuted.remove(from).map(|(_, values)| values)
    }
    /// Sends a value on a channel.
    pub(crate) fn send(&mut self, channel: Option<i64>, sender: usize, value: Literal) {
        self.sent.entry(channel).or_default().push_back((sender, value));
    }
    /// Receives the oldest value on a channel: of `source` where the pairs of the program say so. Else the device's own if
    /// there is one, and that of another device if only one has sent.
    ///
    /// # Errors
    /// `E0503` if several others have sent and nothing says which is meant.
    pub(crate) fn receive(
        &mut self,
        channel: Option<i64>,
        device: usize,
        source: Option<usize>,
    ) -> Result<Option<Literal>> {
        let Some(queue) = self.sent.get_mut(&channel) else { return Ok(None) };
        let from = |wanted: usize| queue.iter().position(|(sender, _)| *sender == wanted);
        let at = match source {
            Some(source) => from(source),
            None => match from(device) {
                Some(own) => Some(own),
                None => {
                    let first = queue.front().map(|(sender, _)| *sender);
                    if let Some(other) = queue.iter().find(|(sender, _)| Some(*sender) != first) {
                        return Err(ambiguous(channel, first.unwrap_or(other.0), other.0));
                    }
                    first.map(|_| 0)
                }
            },
        };
        Ok(at.and_then(|at| queue.remove(at)).map(|(_, value)| value))
    }
    /// Fails if something was sent that nobody received.
    pub(crate) fn all_claimed(&self) -> Result<()> {
        if let Some(((_, round, receiver), (sender, _))) = self.permuted.iter().next() {
            let message = format!(
                "device {sender} sent device {receiver} a value in round {} of a `collective-permute` that device \
                 {receiver} did not run as often",
                round + 1
            );
            return Err(Code::Unclaimed { message }.into());
        }
        let left = self.sent.iter().find_map(|(channel, queue)| Some((channel, queue.front()?)));
        let Some((channel, (sender, _))) = left else { return Ok(()) };
        let channel = channel.map_or_else(String::new, |id| format!(" {id}"));
        let message = format!("what device {sender} sent on channel{channel} was not received");
        Err(Code::Unclaimed { message }.into())
    }
}

fn ambiguous(channel: Option<i64>, first: usize, other: usize) -> Error {
    let channel = channel.map_or_else(String::new, |id| format!(" {id}"));
    let message = format!("devices {first} and {other} have both sent on channel{channel}");
    Error::from(Code::Mismatch { message }).with_help(
        "say who sends to whom: `frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}`",
    )
}

/// `{{0,1},{1,2}}` as pairs.
pub(crate) fn pairs(text: &str) -> Option<Vec<(i64, i64)>> {
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
