//! Arithmetic of elements against an independent calculation to any precision.
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
    reason = "tests of numbers, to the last bit"
)]
mod complex;
mod direct;
#[path = "../../../hlo/tests/numbers/grid.rs"]
mod grid;
mod integers;
mod narrow;
mod oracle;
mod pairs;
mod wide;
