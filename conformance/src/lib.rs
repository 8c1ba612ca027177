//! File tests, suites of recorded results, and the comparison of results.
//!
//! ```text
//! file:   NAME.hlo with `// in:`, `// out:`, `// error`  ──> case: parse, verify, run, print and reparse ──┐
//! suite:  NAME.hlo + NAME.npz                            ──> parse, verify, run ──> compare ──────────────┴─> report
//! ```
//!
//! How near a result must come follows from the module alone ([`Tolerance`]), never from the case.
#![warn(clippy::wildcard_enum_match_arm)]
pub mod arrays;
mod bound;
mod case;
mod compare;
mod engine;
mod error_model;
mod file;
mod report;
mod suite;

pub use bound::Tolerance;
pub use compare::{Comparison, ShapeMismatch, Worst, compare, compare_each};
pub use engine::{Engine, Failed, Ran};
pub use file::{BadFile, Case, FileTest};
pub use report::{Failure, Outcome, Report, Summary};
pub use suite::{Entry, find, run_all};
