//! Judges backends: what compiles and executes HLO modules, Etalon's own engines among them.
//!
//! | module | contents |
//! |---|---|
//! | [`backend`] | engines, PJRT plugins and commands as backends |
//! | [`judge`] | the legal values of each element of a result, and verdicts |
//! | [`conform()`], [`results`] | a module in two backends; the verdicts of a run, as JSON, JUnit and HTML |
//! | [`suite`] | Etalon's own cases, for each op and type |
//! | [`generate`], [`fuzz`] | random modules, and runs of many |
//! | [`metamorphic`] | a module and its twin, which is the same function, on one backend |
//! | [`campaign`] | suite and random modules, night after night, with findings grouped by cause |
//! | [`blame`] | the instructions that a backend computes wrong |
//! | [`counterparts`](counterparts()) | the instructions of two modules that are the same, and what has changed of the others |
//! | [`passes`] | the compiler pass that changes the meaning of a module |
//! | [`reduce`] | smaller modules that show the same difference |
//! | [`pool`] | backends and other workers side by side, with the results of one |
//! | [`FileTest`], [`find`] | tests in HLO text, and suites of recorded results |
//! | [`check`] | tests in MLIR, which check their own values |
//!
//! Results of modules whose arguments are known are judged by what a correct evaluation may give
//! for these arguments ([`judge`]). File tests, suites of recorded results and comparisons of two
//! files have a bound that depends on the module alone ([`Tolerance`]):
//!
//! ```text
//! file test:  NAME.hlo with `// in:`, `// out:`, `// error`  ──> FileTest ──> Case   ─┐
//! suite:      NAME.hlo and NAME.npz               ──> find     ──> Entry  ─┤
//!                                                                                     │
//!        parse ─> verify ─> run in each treatment ─> compare within a Tolerance <─────┘
//!                                                       │
//!                                                       └─> Report ─> Summary
//! ```
//!
//! ```
//! use conformance::{Engine, FileTest, Summary};
//! use std::path::Path;
//!
//! let text = "HloModule twice
//! ENTRY e { x = s8[2] parameter(0) ROOT r = s8[2] add(x, x) }
//! // in:  s8[2] {1, 127}
//! // out: s8[2] {2, -2}
//! ";
//! let test = FileTest::new(Path::new("twice.hlo"), text.to_owned())?;
//! assert_eq!(Summary::of(&test.run(&Engine::ALL)).agree, 1);
//! # Ok::<(), conformance::ParseError>(())
//! ```
#![warn(clippy::wildcard_enum_match_arm)]
pub mod arrays;
mod atomic_file;
pub mod backend;
pub mod blame;
mod bound;
pub mod campaign;
mod capability;
mod case;
pub mod check;
mod compare;
mod conform;
mod counterparts;
mod declared;
mod error_model;
pub mod exact;
mod file;
pub mod fuzz;
pub mod generate;
pub mod judge;
mod known;
pub mod metamorphic;
pub mod passes;
pub mod pool;
mod program;
pub mod random;
mod recorded;
pub mod reduce;
mod report;
pub mod results;
mod saved;
pub mod suite;

pub use atomic_file::{AtomicFile, Existing};
pub use bound::Tolerance;
pub use capability::CapabilityMap;
pub use compare::{Comparison, ShapeMismatch, Worst, compare, compare_each};
pub use conform::{Subject, conform, conform_as};
pub use counterparts::{Counterpart, Difference, counterparts};
pub use declared::{Declarations, WrongDeclaration};
pub use file::{Case, FileTest, ParseError};
pub use known::{Known, KnownEntry};
pub use recorded::{Entry, find, in_parallel, on_large_stack};
pub use report::{Failure, Outcome, Report, Summary};
pub use saved::{WriteError, shell_quoted};

pub use interp::Engine;
