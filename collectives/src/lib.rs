//! Many devices in one process: replicas and partitions of a module that run together.
//!
//! ```text
//! Verified ──> Session ──> one machine per device, stepped in parallel ──> one Literal per device
//!                                │ suspends at each cross-device op             ▲
//!                                └──> rendezvous, messages, async operations ───┘ resume
//! ```
//!
//! A [`Session`] compiles a program once and runs it often. Each device is a machine that suspends
//! at cross-device instructions. A run steps every runnable machine, then resumes those whose
//! rendezvous is complete. Results do not depend on time or on the number of threads. If no device
//! is runnable, the run is deadlocked, and [`Deadlock`] lists what each device waits for. [`spmd`]
//! runs unpartitioned programs.
//!
//! ```
//! let text = "HloModule m, replica_count=2
//! add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
//! ENTRY e { x = s32[] parameter(0) ROOT sum = s32[] all-reduce(x), replica_groups={}, to_apply=add }";
//! let verified = hlo::Module::parse(text)?.verify()?;
//! let session = collectives::Session::compile(verified, &interp::CompileOptions::default())?;
//! let inputs = vec![vec!["s32[] 3".parse()?], vec!["s32[] 4".parse()?]];
//! let output = session.run(&inputs, &interp::RunOptions::default())?;
//! assert_eq!(output.results[1].to_string(), "s32[] 7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![warn(clippy::wildcard_enum_match_arm)]
mod arrivals;
mod async_ops;
mod channels;
mod crossings;
mod deadlock;
mod device_run;
mod device_state;
mod error;
mod group_exchange;
mod groups;
mod links;
mod memory;
mod message_queue;
mod order;
mod permute;
mod rank_exchange;
mod rank_steps;
mod rendezvous;
mod run;
mod send_recv;
mod send_recv_queues;
mod session;
mod site;
pub mod spmd;
mod suspension;
mod task;
mod transfers;
mod transport;
mod values;
mod wait_graph;
mod wire;

pub use deadlock::{Deadlock, Waiting, list_devices};
pub use device_run::check_grid;
pub use error::{Code, Error, Result};
pub use groups::Groups;
pub use links::Link;
pub use order::{OrderDependence, order_dependence};
pub use session::{RunError, RunOutput, Session};
#[cfg(feature = "mpi")]
pub use transport::Mpi;
pub use transport::{Ranks, Transport};
