//! Shardings: how a value is spread over devices.
//!
//! A sharding says nothing about what is computed. It is read into the form XLA keeps, so that it prints as XLA prints
//! it: merged dimensions are not split again, but the devices are the same ones.
mod named;
mod text;
mod tiles;

pub use named::{NamedAxes, NamedDim, NamedSharding};
pub use tiles::{Subgroup, TileDevices, Tiling};

use super::Metadata;

/// How a value is spread over devices.
#[derive(Debug, Clone, PartialEq)]
pub enum Sharding {
    /// One for the whole value.
    One(DeviceSharding),
    /// One for each leaf of a tuple.
    Tuple(Vec<DeviceSharding>),
}

/// How an array is spread over devices.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceSharding {
    /// Which device has which part.
    pub placement: Placement,
    /// Values that get the same sharding.
    pub group: Option<ShardGroup>,
    /// Where the sharding comes from.
    pub metadata: Vec<Metadata>,
}

/// Which device has which part.
#[derive(Debug, Clone, PartialEq)]
pub enum Placement {
    /// Every device has all of it.
    Replicated,
    /// The program itself says what each device has.
    Manual,
    /// Not known yet.
    Unknown,
    /// Every device has a part of a sum (or of another reduction) still to be made.
    Unreduced(Reduction),
    /// One device has all of it.
    Maximal(i64),
    /// Tiles of equal size.
    Tiled(Tiling),
    /// Tiles along the named axes of a mesh.
    Named(Box<NamedSharding>),
}

/// The reduction that is still to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reduction {
    /// A sum; the text need not name it.
    #[default]
    Sum,
    /// `max`
    Max,
    /// `min`
    Min,
}

/// `shard_as 1` or `shard_like 1`: a group of values that get the same sharding.
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
    /// Gives each of a tuple's leaves the sharding written for the whole; one written for each leaf stays.
    #[must_use]
    pub fn expand_to_leaves(self, leaves: usize) -> Self {
        match self {
            // A tuple without leaves has one all the same, as in XLA.
            Self::One(one) => Self::Tuple(vec![one; leaves.max(1)]),
            Self::Tuple(_) => self,
        }
    }
}

#[cfg(test)]
mod tests;
