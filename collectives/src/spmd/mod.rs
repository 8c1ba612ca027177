//! Unpartitioned SPMD programs: one program over global arrays, with manual regions that every device runs.
//!
//! ```text
//! Verified ──> split ──> the outer program, which runs once            (interp::Interpreter)
//!                   └──> regions, each a module of its own             (World: one machine per device)
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `shardy.rs` | the attributes `xla.sdy.*` |
//! | `marker.rs` | the custom calls at which regions begin and end |
//! | `placement.rs` | the tiles of an array: sharding and assembling |
//! | `calls.rs`, `stages.rs` | the region of each instruction |
//! | `split.rs`, `build.rs`, `region.rs`, `callback.rs` | the outer program, and the module of each region |
//! | `program.rs` | the run |
//! | `boundary.rs` | the arguments and results of a partitioned module |
mod boundary;
mod build;
mod callback;
mod calls;
mod marker;
mod placement;
mod program;
mod region;
mod shardy;
mod split;
mod stages;

pub use boundary::Boundary;
pub use program::{Program, RunOutput};
pub use region::Divergence;
