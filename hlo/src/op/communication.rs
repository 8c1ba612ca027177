//! The common interface of ops that communicate: channels, groups of devices, pairs of devices.
use super::value::ReplicaGroups;
use super::{GroupMode, Op};
use crate::{Result, Shape};

/// An op of the kinds `collective` and `transfer`.
pub(crate) trait Communication {
    /// Returns the channel, if the op names one.
    fn channel_id(&self) -> Option<i64> {
        None
    }
    /// Returns whether the channel leads to the host.
    fn is_host_transfer(&self) -> bool {
        false
    }
    /// Returns the groups of devices that take part, and the meaning of their ids.
    fn groups(&self) -> Option<(GroupMode, &ReplicaGroups)> {
        None
    }
    /// Returns the pairs of devices that send and receive, and the meaning of their ids.
    fn pairs(&self) -> Option<(GroupMode, &[(i64, i64)])> {
        None
    }
    /// Returns the sizes of the slices that are copied instead of whole operands.
    fn slice_sizes(&self) -> &[Vec<i64>] {
        &[]
    }
    /// Fails unless operands and result fit groups of this number of devices.
    fn check_group_size(&self, _operands: &[&Shape], _result: &Shape, _devices: i64) -> Result<()> {
        Ok(())
    }
}

impl Op {
    /// Returns the channel of an op that communicates, if it names one.
    pub fn channel_id(&self) -> Option<i64> {
        self.communication()?.channel_id()
    }
    /// Returns whether other devices take part. An asynchronous op does if the computation it calls
    /// does.
    pub fn communicates(&self) -> bool {
        self.communication().is_some_and(|op| !op.is_host_transfer())
    }
    /// Returns whether it is a send or a receive whose channel leads to the host.
    pub fn is_host_transfer(&self) -> bool {
        self.communication().is_some_and(Communication::is_host_transfer)
    }
    /// Returns the groups of a collective op, and the meaning of their ids.
    pub fn groups(&self) -> Option<(GroupMode, &ReplicaGroups)> {
        self.communication()?.groups()
    }
    /// Returns the pairs of `collective-permute`, source and target, and the meaning of their ids.
    pub fn pairs(&self) -> Option<(GroupMode, &[(i64, i64)])> {
        self.communication()?.pairs()
    }
    /// Returns the sizes of the slices that `collective-permute` copies; empty if it sends whole
    /// operands.
    pub fn slice_sizes(&self) -> &[Vec<i64>] {
        self.communication().map_or(&[], Communication::slice_sizes)
    }
}
