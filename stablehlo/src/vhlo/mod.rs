//! VHLO, the versioned form of StableHLO in which programs are stored.
pub(crate) mod attributes;
pub(crate) mod op;
pub(crate) mod sharding;
pub(crate) mod table;
pub(crate) mod types;
