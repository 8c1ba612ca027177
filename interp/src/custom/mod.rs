//! Custom calls: the targets that are built in, and functions of shared libraries.
//!
//! | file | targets |
//! |---|---|
//! | `call.rs` | which of the below is called |
//! | `markers.rs` | notes for partitioners and schedulers, which change no value |
//! | `xla.rs` | what XLA expands or runs itself: `TopK`, `Qr`, `Eigh`, ... |
//! | `lapack` | `lapack_*_ffi`, which JAX calls on a CPU |
//! | `library.rs` | functions of shared libraries |
//! | `unknown.rs` | what is said of all others |
//!
//! A target that is known but called in a way it does not understand says what it wanted: `E0402`.
mod call;
mod dictionary;
mod lapack;
mod library;
mod markers;
mod unknown;
mod xla;

pub(crate) use call::custom_call;
pub(crate) use library::Library;
use library::in_libraries;

use crate::Result;
use crate::hooks::{Call, Hooks};
use hlo::Literal;

/// The value of a call whose target is built in.
fn built_in(call: &Call<'_>, hooks: &Hooks) -> Result<Literal> {
    let found = markers::run(call).or_else(|| xla::run(call)).or_else(|| lapack::run(call));
    found.unwrap_or_else(|| Err(unknown::error(call, hooks)))
}

/// Whether a target that is built in takes a time that grows with the cube of a matrix's side.
pub(crate) fn is_cubic(target: &str) -> bool {
    lapack::is_cubic(target) || xla::is_cubic(target)
}

/// The names of all targets that are built in.
pub(crate) fn targets() -> Vec<String> {
    let plain = markers::TARGETS.iter().chain(&xla::TARGETS).map(ToString::to_string);
    let mut all: Vec<String> = plain.chain(lapack::targets()).collect();
    all.sort();
    all
}
