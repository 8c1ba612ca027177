//! Tests of the command: what it prints, its exit codes and its files.
#![expect(clippy::unwrap_used, reason = "tests")]
mod backends;
mod blame;
mod campaign;
mod cases;
mod commands;
mod conform;
mod convert;
mod custom_calls;
mod devices;
mod equal;
mod fuzz;
mod graph;
mod inputs;
mod interrupts;
mod manners;
#[cfg(feature = "mpi")]
mod mpi;
mod outputs;
mod passes;
mod programs;
mod reduce;
mod several;
mod suite;
mod support;
mod twins;
