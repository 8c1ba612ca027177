//! Programs before partitioning: one program over global arrays, with manual regions that every device runs.
//!
//! ```text
//! Verified ──> split ──> the program around the regions, run once      (interp::Interpreter)
//!                   └──> regions, each a module of its own             (World: one machine a device)
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `shardy.rs` | the attributes `xla.sdy.*` |
//! | `marker.rs` | where regions begin and end |
//! | `placement.rs` | where shards lie: cutting, putting together |
//! | `calls.rs`, `stages.rs` | which instructions belong to which region |
//! | `draft.rs`, `build.rs`, `region.rs`, `step.rs`, `split.rs` | modules made out of others |
//! | `global.rs` | the run |
//! | `boundary.rs` | the arguments and results of a module that XLA has partitioned |
mod boundary;
mod build;
mod calls;
mod draft;
mod global;
mod marker;
mod placement;
mod region;
mod shardy;
mod split;
mod stages;
mod step;

pub use boundary::Boundary;
pub use global::{Finished, Global};
pub use region::Note;
