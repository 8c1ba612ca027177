//! Tests of the comparison of modules for every argument.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test may panic")]
mod batches;
mod cells;
mod constants;
mod cuts;
mod doubts;
mod identities;
mod laws;
mod logarithms;
mod order;
mod partitions;
mod roots;
mod rules;
mod special;
mod ties;

use field::Options;
use hlo::{Module, Verified};

/// Returns options with which modules are compared also where they compute the same.
fn as_a_whole() -> Options {
    Options { is_whole: true, ..Options::default() }
}

fn parsed(text: &str) -> Verified {
    Module::parse(text).unwrap().verify().unwrap()
}

/// Returns a module of these instructions, which may call `and`, `add` and `max`.
fn module(body: &str) -> Verified {
    parsed(&format!(
        "and {{ a = pred[] parameter(0) b = pred[] parameter(1) ROOT r = pred[] and(a, b) }}
         add {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }}
         max {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] maximum(a, b) }}
         ENTRY e {{ {body} }}"
    ))
}
