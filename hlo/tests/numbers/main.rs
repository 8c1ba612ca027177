//! Element types and conversions, compared with an independent implementation.
#![allow(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    clippy::float_cmp,
    clippy::unwrap_used,
    missing_docs,
    unreachable_pub,
    reason = "tests of numbers, to the last bit"
)]
mod convert;
mod grid;
