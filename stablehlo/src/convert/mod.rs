//! The conversion to HLO.
//!
//! Each function becomes a computation, each region that is applied or branched to another one. Ops
//! are converted one by one, by their rows in `ops`. HLO's computations see only their parameters:
//! values that a region uses from outside are passed as further ones, and constants are made again.
//! In programs with unknown sizes (`tensor<?xf32>`) functions are converted for each call, with the
//! shapes of its arguments and the values of those that give sizes.
//!
//! Sources: the StableHLO specification; the op definitions of StableHLO, CHLO and Shardy. The
//! names and the form of the result are those of XLA's own conversion where it has one.
pub(crate) mod arith;
mod attrs;
pub(crate) mod chlo;
pub(crate) mod collective;
pub(crate) mod composite;
pub(crate) mod control;
mod converter;
pub(crate) mod custom;
mod dispatch;
pub(crate) mod dynamic;
pub(crate) mod einsum;
pub(crate) mod elementwise;
mod emit;
mod entry;
mod fold;
pub(crate) mod function;
pub(crate) mod functions;
pub(crate) mod gather;
pub(crate) mod host;
mod location;
pub(crate) mod manual;
pub(crate) mod moves;
mod names;
pub(crate) mod product;
mod quantized;
pub(crate) mod reduce;
mod region;
mod scope;
pub(crate) mod shape;
mod sharding;
pub(crate) mod special;
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod types;
pub(crate) mod uniform;

pub(crate) use converter::is_sharded;
pub use entry::{Argument, module, module_for, parameters};
pub(crate) use scope::Scope;
