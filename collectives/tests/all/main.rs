//! Tests of runs on many devices.
#![expect(clippy::unwrap_used, reason = "tests")]
mod common;
mod core;
mod corpus;
mod deadlock;
mod devices;
mod modes;
mod order;
mod properties;
mod ranks;
mod rejected;
mod session;
mod spmd;
mod spmd_corpus;
mod threads;
mod values;
