//! Shardings: how a value is distributed across devices.
//!
//! A sharding does not change what is computed. It is parsed into the form XLA keeps, so that it is
//! printed as XLA prints it: merged dimensions are not split again, but the devices are the same.
mod named;
mod parts;
mod text;
mod tiles;

pub use named::{NamedAxes, NamedDim, NamedSharding};
pub use tiles::{Subgroup, TileDevices, Tiling};

use super::Metadata;

/// The distribution of a value across devices.
#[derive(Debug, Clone, PartialEq)]
pub enum Sharding {
    /// One for the whole value.
    One(DeviceSharding),
    /// One for each leaf of a tuple.
    Tuple(Vec<DeviceSharding>),
}

/// The distribution of an array across devices.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSharding {
    /// The assignment of shards to devices.
    pub placement: Placement,
    /// The group of values with the same sharding.
    pub group: Option<ShardGroup>,
    /// Source locations of the sharding.
    pub metadata: Vec<Metadata>,
}

/// The assignment of shards to devices.
#[derive(Debug, Clone, PartialEq)]
pub enum Placement {
    /// Every device has the whole value.
    Replicated,
    /// Manual: the program computes with the shard of each device.
    Manual,
    /// Not known yet.
    Unknown,
    /// Every device has a partial result of a pending reduction.
    Unreduced(Reduction),
    /// One device has the whole value.
    Maximal(i64),
    /// Tiles of equal size.
    Tiled(Tiling),
    /// Tiles along the named axes of a mesh.
    Named(Box<NamedSharding>),
}

/// A pending reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reduction {
    /// A sum, which the text may leave out.
    #[default]
    Sum,
    /// `max`
    Max,
    /// `min`
    Min,
}

/// `shard_as 1` or `shard_like 1`: a group of values with the same sharding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShardGroup {
    /// Exactly the same.
    As(i64),
    /// A similar one.
    Like(i64),
}

impl From<Placement> for DeviceSharding {
    fn from(placement: Placement) -> Self {
        Self { placement, group: None, metadata: Vec::new() }
    }
}

impl Sharding {
    /// Applies a sharding written for the whole value to each leaf of a tuple; a per-leaf sharding
    /// is unchanged.
    #[must_use]
    pub fn expand_to_leaves(self, leaves: usize) -> Self {
        match self {
            // An empty tuple has one sharding, as in XLA.
            Self::One(one) => Self::Tuple(vec![one; leaves.max(1)]),
            Self::Tuple(_) => self,
        }
    }
}

#[cfg(test)]
mod tests;
