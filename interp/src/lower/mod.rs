//! Planning: from a verified module to the plans of its computations.
mod buffers;
mod build;
mod builder;
pub(crate) mod cost;
mod cse;
mod dce;
mod external;
mod function;
mod fuse;
mod inline;
mod invariants;
mod limits;
mod lowering;
mod peak;
mod schedule;
mod slice_pushdown;
mod steps;
mod transpose_folding;
mod unallocated;
mod uniform;
mod unroll;
mod value_key;
mod waits;

pub(crate) use build::plans;
pub(crate) use builder::users;
pub(crate) use limits::CompileLimits;
pub(crate) use transpose_folding::transpose_folded;
