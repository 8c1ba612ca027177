//! Arithmetic of elements against an independent calculation of arbitrary precision.
#![allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::print_stdout,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "tests compare exact numbers"
)]
mod complex;
mod direct;
#[path = "../../../../hlo/tests/numbers/grid.rs"]
mod grid;
mod integers;
mod narrow;
mod oracle;
mod pairs;
mod wide;
