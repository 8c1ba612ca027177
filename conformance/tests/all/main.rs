//! Blame, reduction, the suite and the page of results, in one program: each would be linked with
//! all engines.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "tests, with measurements"
)]
mod blame;
mod campaign;
mod mutations;
mod page;
mod planted;
mod programs;
mod reduce;
mod stablehlo_expansions;
mod stablehlo_round_trip;
mod suite;
mod suite_export;
mod variant;
