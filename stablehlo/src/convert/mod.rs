//! The conversion to HLO.
//!
//! Each function becomes a computation, each region that is applied or branched to another one. Ops are converted one by one,
//! by `table`. HLO's computations see only their parameters: values that a region uses from outside are passed as further
//! ones, and constants are made again. In programs with unknown sizes (`tensor<?xf32>`) functions are converted for each
//! call, with the shapes of its arguments and the values of those that give sizes.
//!
//! Sources: the StableHLO specification; the op definitions of StableHLO, CHLO and Shardy. The names and the form of the
//! result are those of XLA's own conversion where it has one.
mod arith;
mod attrs;
mod chlo;
mod collective;
mod composite;
mod control;
mod converter;
mod custom;
mod dynamic;
mod einsum;
mod entry;
mod fold;
mod function;
mod functions;
mod gather;
mod host;
mod location;
mod manual;
mod moves;
mod names;
mod print;
mod product;
mod reduce;
mod region;
mod scope;
mod shape;
mod sharding;
mod special;
mod table;
#[cfg(test)]
mod tests;
mod types;

pub use entry::{module, module_for};
pub(crate) use table::is_known;
