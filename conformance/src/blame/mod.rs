//! Blame: the instructions of a module that a backend computes wrong by themselves.
//!
//! ```text
//! module ──watch──> values of all instructions, by the backend
//!                          │ operands
//!                          v
//! instruction alone ──> Etalon's result ──judge──> the backend's value is legal │ is not: run alone on the backend
//!                                                                               v
//!                                         its computations, with the backend's operands: calls, fusions, rounds of loops
//! ```
//!
//! Each instruction is judged on the operands that the backend computed, so an error is found where
//! it is made, and not where it is passed on. [`compare_modules`] compares a module before and
//! after a pass. `docs/blame.md` explains the reports.
//!
//! ```
//! use conformance::Engine;
//! use conformance::backend::{Backends, EngineBackend};
//! use conformance::blame::{Options, blame};
//! use std::sync::Arc;
//!
//! let text = "HloModule m\nENTRY e { x = f32[2] parameter(0) y = f32[2] sine(x) ROOT r = f32[2] add(x, y) }";
//! let module = Arc::new(hlo::Module::parse(text)?.verify()?);
//! let arguments = [vec!["f32[2] {1, 2}".parse()?]];
//! let backends = Backends::one(Box::new(EngineBackend(Engine::Reference)));
//! let blame = blame(&module, &arguments, &backends, &Options::default());
//! assert!(!blame.is_wrong());
//! assert_eq!(blame.checked, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod control;
mod finding;
mod pair;
mod rounds;
mod search;
mod sides;
mod watch;

pub use crate::program::Program;
pub use finding::{Blame, Context, Finding, Operand};
pub use pair::{Divergence, ModulePair, compare_modules};
pub(crate) use pair::{compare_results, interface_difference};

use crate::backend::Backends;
use crate::conform::verdict;
use crate::judge::judge_with;
use crate::results::Verdict;
use hlo::{Literal, Verified};
use search::BlameSearch;
use sides::Sides;
use std::sync::Arc;

/// The limits of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// The most bytes of the values that one run returns; an instruction with its operands may take
    /// more.
    pub slice_bytes: usize,
    /// The most rounds of a loop that are checked.
    pub rounds: usize,
    /// The most findings, after which the search ends.
    pub findings: usize,
    /// The most steps of one run of Etalon: a wrong operand may make a loop endless.
    pub fuel: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { slice_bytes: 256 << 20, rounds: 1000, findings: 8, fuel: 1 << 32 }
    }
}

/// Finds the instructions that a backend computes wrong from its own operands.
///
/// `arguments` are those of each device, or a single list for all devices.
pub fn blame(
    module: &Arc<Verified>,
    arguments: &[Vec<Literal>],
    backends: &Backends,
    options: &Options,
) -> Blame {
    let sides = Sides::new(backends, module.module(), options.fuel);
    let mut arguments = arguments.to_vec();
    let whole = Program { module: Arc::clone(module), arguments: arguments.clone() };
    let (backend, about) = (backends.name().to_owned(), backends.about().clone());
    let mut blame = Blame { backend, about, ..Blame::default() };
    let expected = match sides.etalon(&whole) {
        Ok(expected) => expected,
        Err(message) => {
            blame.failure = Some(format!("Etalon has no result: {message}"));
            blame.verdict = Verdict::NoReference;
            return blame;
        }
    };
    if arguments.len() < expected.len() {
        arguments = vec![arguments.first().cloned().unwrap_or_default(); expected.len()];
    }
    let original = match sides.backend(&whole) {
        Ok(actual) => {
            let judgement = judge_with(sides.judging(), module, &arguments, &expected, &actual);
            blame.verdict = judgement.verdict;
            blame.judgement = Some(judgement);
            Some(actual)
        }
        Err(error) => {
            (blame.verdict, blame.failure) = (verdict(error.code()), Some(error.to_string()));
            None
        }
    };
    let search = BlameSearch::new(sides, Arc::clone(module), *options, &mut blame);
    search.run(&arguments, original.as_deref());
    blame
}
