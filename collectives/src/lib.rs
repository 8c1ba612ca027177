//! Many devices on one machine: replicas and partitions of a module, run together.
//!
//! Each device is a machine of its own that stops at every op others take part in. A [`World`] lets all machines that can go on
//! go on, in parallel, then answers the ops whose members have all come. No clock and no lock decides a result, so that it is
//! the same for any number of threads; and when nobody can go on, that is known at once, and told.
//!
//! ```
//! let text = "HloModule m, replica_count=2
//! add { a = s32[] parameter(0) b = s32[] parameter(1) ROOT s = s32[] add(a, b) }
//! ENTRY e { x = s32[] parameter(0) ROOT sum = s32[] all-reduce(x), replica_groups={}, to_apply=add }";
//! let verified = hlo::Module::parse(text)?.verify()?;
//! let world = collectives::World::new(&verified);
//! let inputs = vec![vec!["s32[] 3".parse()?], vec!["s32[] 4".parse()?]];
//! let results = world.run(&inputs)?;
//! assert_eq!(results[1].to_string(), "s32[] 7");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod body;
mod deadlock;
mod error;
mod groups;
mod links;
mod mail;
mod meeting;
mod order;
mod report;
mod run;
mod serve;
mod share;
mod spmd;
mod starts;
mod strand;
mod transfer;
mod transport;
mod wire;
mod world;

pub use deadlock::{Deadlock, Waiting, listed};
pub use error::{Code, Error, Result};
pub use groups::Groups;
pub use links::Link;
pub use order::{Dependent, dependence};
pub use spmd::{Boundary, Finished, Global, Note};
#[cfg(feature = "mpi")]
pub use transport::Mpi;
pub use transport::{Ranks, Transport};
pub use world::World;
