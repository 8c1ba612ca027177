//! Custom calls: the targets that are built in, and functions of shared libraries.
//!
//! | file | targets |
//! |---|---|
//! | `call.rs` | the choice among the following |
//! | `markers.rs` | annotations for partitioners and schedulers, which change no value |
//! | `convolution.rs` | convolutions of arrays that are smaller than their bounds |
//! | `xla.rs` | calls that XLA expands or runs itself: `TopK`, `Qr`, `Eigh`, ... |
//! | `lapack` | `lapack_*_ffi`, which JAX calls on a CPU |
//! | `library.rs` | functions of shared libraries |
//! | `functions.rs`, `loaded.rs`, `guarded.rs` | such functions in this process: their names, the call, the memory |
//! | `unknown.rs` | errors of all other targets |
//!
//! A built-in target called with operands, results or attributes that it does not support is `E0402`.
mod call;
mod convolution;
mod dictionary;
mod functions;
mod guarded;
mod lapack;
mod library;
mod loaded;
mod markers;
mod unknown;
mod xla;

pub use call::Call;
pub(crate) use call::custom_call;
pub use functions::Functions;
use library::in_libraries;
pub use library::{CustomCallLibrary, LibraryCall};
pub use loaded::Library;

use crate::Result;
use crate::hooks::Hooks;
use hlo::{Literal, Shape};
use num::Arithmetic;

/// Runs a call whose target is built in.
fn built_in(call: &Call<'_>, hooks: &Hooks, arithmetic: Arithmetic) -> Result<Literal> {
    let found = markers::run(call)
        .or_else(|| xla::run(call))
        .or_else(|| convolution::run(call))
        .or_else(|| lapack::run(call, arithmetic));
    found.unwrap_or_else(|| Err(unknown::error(call, hooks)))
}

/// Returns whether a target that is built in takes time cubic in the size of a matrix.
pub(crate) fn is_cubic(target: &str) -> bool {
    lapack::is_cubic(target) || xla::is_cubic(target)
}

/// Returns whether a target that is built in takes arrays smaller than their bounds.
pub(crate) fn takes_sizes(target: &str) -> bool {
    ["PadToStatic"].contains(&target)
        || markers::TARGETS.contains(&target)
        || convolution::TARGETS.contains(&target)
}

/// Returns whether a target that is built in returns arrays smaller than their bounds although no operand is.
pub(crate) fn makes_sizes(target: &str) -> bool {
    target == "SliceToDynamic"
}

/// Returns the bytes that a target that is built in works in, at most.
pub(crate) fn scratch(
    target: &str,
    operands: &[&Shape],
    result: &Shape,
    arithmetic: Arithmetic,
) -> usize {
    lapack::scratch(target, operands, result, arithmetic)
}

/// Returns whether a target that is built in rounds, and is computed in the engine `fast` as in `exact`.
pub(crate) fn is_exact_in_fast(target: &str, operands: &[&Shape]) -> bool {
    lapack::is_exact_in_fast(target, operands)
}

/// Returns the names of all targets that are built in.
pub(crate) fn targets() -> Vec<String> {
    let others = markers::TARGETS.iter().chain(&xla::TARGETS).chain(&convolution::TARGETS);
    let others = others.map(ToString::to_string);
    let mut all: Vec<String> = others.chain(lapack::targets()).collect();
    all.sort();
    all
}
