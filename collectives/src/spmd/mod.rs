//! Unpartitioned SPMD programs: one program over global arrays, with manual regions that every
//! device runs.
//!
//! ```text
//! Verified ──> split ──> the outer program, which runs once            (one executable)
//!                   └──> regions, each a module of its own             (an executable each: one machine per device)
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
//! | `boundary.rs`, `candidates.rs` | the arguments and results of a partitioned module |
//! | `shards.rs`, `partial.rs` | the arguments and results of a program that runs once for all devices; pending sums |
//! | `propagation.rs`, `division.rs` | the shardings of results that the program leaves open |
//! | `warning.rs` | the warning about programs that run as independent copies |
//!
//! ```
//! let text = r##"HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2]>}}
//! add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
//! ENTRY e {
//!   x = s32[4] parameter(0)
//!   shard = s32[2] custom-call(x), custom_call_target="xla.sdy.GlobalToLocalShape", frontend_attributes={
//!     xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\"a\"}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
//!   sum = s32[2] all-reduce(shard), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
//!   ROOT r = s32[2] custom-call(sum), custom_call_target="xla.sdy.LocalToGlobalShape", frontend_attributes={
//!     xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{}]>]>",xla.sdy.manual_axes="#sdy<manual_axes{\"a\"}>"}
//! }"##;
//! let verified = hlo::Module::parse(text)?.verify()?;
//! let session = collectives::Session::compile(verified, &interp::CompileOptions::default())?;
//! assert!(session.is_unpartitioned());
//! let inputs = [vec!["s32[4] {1, 2, 30, 40}".parse()?]];
//! let output = session.run(&inputs, &interp::RunOptions::default())?;
//! assert_eq!(output.results[0].to_string(), "s32[2]{0} {31, 42}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod boundary;
mod build;
mod callback;
mod calls;
mod candidates;
mod division;
mod marker;
mod partial;
mod placement;
mod program;
mod propagation;
mod region;
mod shards;
mod shardy;
mod split;
mod stages;
mod warning;

pub use boundary::Boundary;
pub use program::{Program, whole};
pub use region::{Divergence, Region};
pub use shards::Shards;
pub(crate) use warning::unpartitioned;
