//! The smallest module that still shows something, such as a difference between two backends.
//!
//! ```text
//! module, arguments ─> passes, large things first ─> candidate ─ smaller? ─> seen? ─> verify ─> interesting? ─> the best so far
//!                        └────────────── again, until no pass finds a smaller candidate ──────────────┘
//! ```
//!
//! ```
//! use conformance::pool::Queue;
//! use conformance::reduce::{Candidate, Interest, Options, reduce};
//! let text = "HloModule m
//! ENTRY e {
//!   x = f32[8,4] parameter(0)
//!   y = f32[8,4] sine(x)
//!   t = f32[4,8] transpose(y), dimensions={1,0}
//!   z = f32[4,8] multiply(t, t)
//!   ROOT r = (f32[4,8], f32[8,4]) tuple(z, y)
//! }";
//! let module = hlo::Module::parse(text)?.verify()?;
//! let x = hlo::Literal::from_slice(&[8, 4], &[0.5f32; 32]);
//! // Everything with a `multiply` is interesting.
//! let queue = Queue::inline(|candidate: Candidate| {
//!     Interest::from(candidate.module.module().to_string().contains("multiply("))
//! });
//! let reduced = reduce(module, &[vec![x]], &mut Options::default(), queue)?;
//! let entry = reduced.module.module().entry();
//! assert_eq!(entry.instructions.len(), 2, "a parameter and the product");
//! assert_eq!(entry.result_shape().to_string(), "f32[]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
mod command;
mod difference;
mod draft;
mod file;
mod limited_run;
mod pass;
mod record;
mod score;
mod search;

pub use command::CommandPredicate;
pub use difference::{Difference, Kind, repeated, repetitions};
pub use file::file_test;
pub use limited_run::measured_fuel;
pub use score::Score;

pub(crate) use draft::{Draft, has_values};

use crate::Subject;
use crate::backend::Backend;
use crate::metamorphic::{self, Twin, TwinRule};
use crate::pool::Queue;
use hlo::{Literal, Module, Verified};
use search::Reduction;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A module with arguments, which a predicate judges.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The module.
    pub module: Arc<Verified>,
    /// The arguments of each device, or a single list for all devices.
    pub arguments: Vec<Vec<Literal>>,
}

/// The verdict of a predicate on a candidate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Interest {
    /// It does not show what is searched for.
    Boring,
    /// It shows what is searched for.
    Interesting,
    /// It shows something else that is worth a look, of this kind. The smallest candidate of each
    /// kind is kept.
    Other(String),
}

impl Candidate {
    /// Returns it as a subject without a text.
    pub(crate) fn subject(&self) -> Subject {
        Subject {
            name: self.module.module().name.to_string(),
            file: String::new(),
            text: String::new(),
            module: Arc::clone(&self.module),
            arguments: self.arguments.clone(),
        }
    }
    /// Returns its twin by a rule, if the law holds.
    pub fn twin(&self, rule: &TwinRule) -> Option<Twin> {
        metamorphic::twin(&self.subject(), Some(rule))
    }
    /// Returns the rule of the single instruction that a law rewrites to show what several show; the
    /// rule itself if none does.
    pub fn narrowed(&self, rule: &TwinRule, backend: &mut dyn Backend) -> TwinRule {
        let twin = self.twin(rule);
        let narrow = |twin| metamorphic::narrowed(&self.subject(), twin, backend).rule;
        twin.map_or_else(|| rule.clone(), narrow)
    }
}

impl From<bool> for Interest {
    fn from(interesting: bool) -> Self {
        if interesting { Self::Interesting } else { Self::Boring }
    }
}

/// A function that is called with each smaller candidate.
pub type Progress<'a> = dyn FnMut(&Step, &Arc<Verified>, &[Vec<Literal>]) + 'a;

/// How a module is reduced.
#[derive(Default)]
pub struct Options<'a> {
    /// The most time for all candidates; a predicate that does not return is not interrupted. No
    /// limit if absent.
    pub time_limit: Option<Duration>,
    /// The most candidates that are tried. No limit if absent.
    pub max_tries: Option<usize>,
    /// Ends the search when it is set, with the best candidate so far.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// The steps that a run of a candidate may take when values are recorded; [`measured_fuel`] if
    /// absent.
    pub fuel: Option<u64>,
    /// Called with each smaller candidate.
    pub progress: Option<Box<Progress<'a>>>,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("Options");
        out.field("time_limit", &self.time_limit).field("max_tries", &self.max_tries);
        out.finish_non_exhaustive()
    }
}

/// A candidate that was smaller than all before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// The pass that made it.
    pub pass: &'static str,
    /// Candidates tried so far.
    pub tried: usize,
    /// Its size.
    pub score: Score,
}

/// A candidate that shows something else than what was searched for.
#[derive(Debug, Clone)]
pub struct Other {
    /// The difference that it shows.
    pub kind: String,
    /// The module.
    pub module: Arc<Verified>,
    /// The arguments of each device, or a single list for all devices.
    pub arguments: Vec<Vec<Literal>>,
    score: Score,
}

/// The smallest interesting candidate.
#[derive(Debug, Clone)]
pub struct Reduced {
    /// The module.
    pub module: Arc<Verified>,
    /// The arguments of each device, or a single list for all devices.
    pub arguments: Vec<Vec<Literal>>,
    /// Candidates tried.
    pub tried: usize,
    /// The smaller candidates on the way, in order.
    pub steps: Vec<Step>,
    /// The smallest candidate of each other kind.
    pub others: Vec<Other>,
    /// Whether a limit of the options ended the search.
    pub is_cut_short: bool,
}

/// Why there is nothing to reduce.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReduceError {
    /// The module itself is not interesting.
    #[error("the module is not interesting: nothing to reduce")]
    NotInteresting,
    /// A module of a single constant is interesting, so the predicate says nothing about the
    /// module.
    #[error(
        "a module of a single constant is interesting, too: the predicate does not depend on the module"
    )]
    TrivialIsInteresting,
}

/// A module without anything that could differ.
const TRIVIAL: &str = "HloModule trivial\nENTRY e { ROOT zero = s32[] constant(0) }";

/// Searches for the smallest interesting module and arguments. `arguments` are those of each
/// device, or a single list for all devices; each candidate has as many.
///
/// `queue` asks the predicate, of several candidates side by side if it has room for them. The
/// search is deterministic: the same module, arguments and answers give the same result, whatever
/// the room, unless [`Options::time_limit`] or [`Options::interrupt`] ends it. Each candidate is verified, smaller than the
/// best one so far, and tried once.
///
/// # Errors
/// If the module is not interesting, or a trivial module is.
pub fn reduce(
    module: impl Into<Arc<Verified>>,
    arguments: &[Vec<Literal>],
    options: &mut Options<'_>,
    queue: Queue<'_, Candidate, Interest>,
) -> Result<Reduced, ReduceError> {
    let module = module.into();
    let mut search = Reduction::new(Arc::clone(&module), arguments, queue, options);
    if search.ask(&module, arguments) != Interest::Interesting {
        return Err(ReduceError::NotInteresting);
    }
    let trivial = Module::parse(TRIVIAL).ok().and_then(|module| module.verify().ok());
    if let Some(trivial) = trivial.map(Arc::new)
        && search.ask(&trivial, &[Vec::new()]) == Interest::Interesting
    {
        return Err(ReduceError::TrivialIsInteresting);
    }
    search.measure_fuel();
    pass::run_all(&mut search);
    let is_cut_short = search.is_over();
    let Reduction { module, arguments, tried, steps, others, .. } = search;
    Ok(Reduced { module, arguments, tried, steps, others, is_cut_short })
}
