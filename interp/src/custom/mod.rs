//! Targets of custom calls: those that are built in, and functions of shared libraries.
//!
//! | file | targets |
//! |---|---|
//! | `markers.rs` | annotations for partitioners and schedulers, which change no value |
//! | `convolution.rs` | convolutions of arrays that are smaller than their bounds |
//! | `xla.rs` | calls that XLA expands or runs itself: `TopK`, `Qr`, `Eigh`, ... |
//! | `lapack` | `lapack_*_ffi`, which JAX calls on a CPU |
//! | `linear_algebra.rs` | these, and those of `xla.rs` that run a routine of LAPACK, as kernels |
//! | `library.rs` | functions of shared libraries |
//! | `functions.rs`, `loaded.rs`, `guarded.rs` | such functions in this process: their names, the call, the memory |
//! | `unknown.rs` | errors of all other targets |
//!
//! A built-in target called with operands, results or attributes that it does not support is
//! `E0402`.
mod call;
mod convolution;
mod dictionary;
mod functions;
mod guarded;
mod lapack;
mod library;
mod linear_algebra;
mod loaded;
mod markers;
mod unknown;
mod xla;

pub use call::Call;
use call::StatedCall;
pub use functions::Functions;
pub(crate) use library::in_libraries;
pub use library::{CustomCallLibrary, LibraryCall};
pub(crate) use linear_algebra::kernel;
pub use loaded::Library;
pub use markers::is_annotation;

use crate::Result;
use hlo::{ArrayShape, Literal, Shape};
use kernels::{Cost, topk};
use num::Arithmetic;
use num::index::{saturating_count, to_usize};
use std::sync::LazyLock;

/// Runs a call whose target is built in; `registered` are the other targets of the run.
pub(crate) fn built_in<'a>(
    call: &Call<'_>,
    registered: impl Iterator<Item = &'a str>,
    arithmetic: Arithmetic,
) -> Result<Literal> {
    let found = markers::run(call)
        .or_else(|| xla::run(call))
        .or_else(|| convolution::run(call))
        .or_else(|| linear_algebra::run(call, arithmetic));
    found.unwrap_or_else(|| Err(unknown::error(call, registered)))
}

/// Returns whether a target that is built in takes arrays smaller than their bounds.
pub(crate) fn takes_sizes(target: &str) -> bool {
    ["PadToStatic"].contains(&target)
        || is_annotation(target)
        || convolution::TARGETS.contains(&target)
}

/// Returns whether a target that is built in returns arrays smaller than their bounds although no
/// operand is.
pub(crate) fn makes_sizes(target: &str) -> bool {
    target == "SliceToDynamic"
}

/// Returns what a target that is built in costs beyond its arrays.
pub(crate) fn cost(
    target: &str,
    operands: &[&Shape],
    result: &Shape,
    arithmetic: Arithmetic,
) -> Cost {
    let arrays = || operands.iter().filter_map(|operand| operand.array());
    let Some(first) = arrays().next() else { return Cost::LINEAR };
    if target == "TopK" {
        let row = |shape: &ArrayShape| shape.dims.last().map_or(1, |&size| to_usize(size));
        let kept = result.leaves().first().and_then(|shape| shape.array()).map_or(0, row);
        let (steps, scratch) = (topk::comparisons(first), topk::scratch(row(first), kept));
        return Cost { steps, scratch };
    }
    let steps = if lapack::is_cubic(target) || xla::is_cubic(target) {
        let numbers = arrays().map(|shape| saturating_count(&shape.dims));
        let sides = first.dims.iter().rev().take(2).map(|&side| to_usize(side));
        numbers.fold(0, usize::saturating_add).saturating_mul(sides.max().unwrap_or(1))
    } else {
        0
    };
    Cost { steps, scratch: lapack::scratch(target, operands, result, arithmetic) }
}

/// Returns whether a built-in target rounds, and is computed in the engine `fast` as in `exact`.
pub(crate) fn is_exact_in_fast(target: &str, operands: &[&Shape]) -> bool {
    lapack::is_exact_in_fast(target, operands)
}

/// Returns the names of all targets that are built in, in their order.
pub(crate) fn targets() -> &'static [String] {
    static ALL: LazyLock<Vec<String>> = LazyLock::new(|| {
        let others = markers::TARGETS.iter().chain(&xla::TARGETS).chain(&convolution::TARGETS);
        let others = others.map(ToString::to_string);
        let mut all: Vec<String> = others.chain(lapack::targets()).collect();
        all.sort();
        all
    });
    &ALL
}
