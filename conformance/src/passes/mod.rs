//! Passes: which step of a compilation changes the meaning of a module, from the states that the
//! compiler dumped between its passes.
//!
//! ```text
//! dump ─open─> states in order ─read, verify─> equal to the one before │ run on the arguments
//!                                                                        v
//!                 results of the state before ──judge──> same bits, within bound, ..., DIFFERS
//! ```
//!
//! Each state is compared with the one before it, and the last with the first. No backend runs.
//! `docs/passes.md` explains the classes and the report.
//!
//! ```
//! use conformance::passes::{ArgumentSet, Class, Dump, Options, check};
//! # let folder = tempfile::tempdir()?;
//! # let text = "HloModule m\nENTRY e { x = s8[1] parameter(0) y = s8[1] negate(x) ROOT r = s8[1] subtract(x, y) }";
//! # std::fs::write(folder.path().join("module_0000.m.before_optimizations.txt"), text)?;
//! # let wrong = text.replace("subtract(x, y)", "subtract(x, x)");
//! # std::fs::write(folder.path().join("module_0000.m.0000.simplification.after_algsimp.before_dce.txt"), wrong)?;
//! let dump = Dump::open(folder.path())?;
//! let arguments = vec![vec!["s8[1] {3}".parse()?]];
//! let sets = [ArgumentSet { name: "by hand".to_owned(), arguments }];
//! let report = check(&dump.modules[0], &sets, &Options::default(), &mut |_| {});
//! let step = report.wrong(false).next().unwrap();
//! assert_eq!((step.pass.as_str(), step.class), ("simplification/algsimp", Class::Differs));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod check;
mod dump;
mod html;
mod junit;
mod name;
mod report;
mod run;
mod saved;
mod sections;
mod state;
mod versions;

pub use check::{ArgumentSet, Options, check, first_module};
pub use dump::{Dump, DumpError, ModuleDump};
pub use html::to_html;
pub use junit::to_junit;
pub use report::{Class, Evidence, LastState, ModuleReport, Step};
pub use versions::{Comparison, Pairs, compare, pairs};
