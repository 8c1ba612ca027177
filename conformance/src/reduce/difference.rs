//! The predicate of a backend: its results differ from those of a reference, in the same way as for
//! the first module.
use super::{Candidate, Interest};
use crate::backend::{Backend, LimitedEngine};
use crate::metamorphic::{self, TwinRule};
use crate::results::{Record, Verdict};
use crate::{Engine, Subject, conform};
use hlo::Opcode;
use std::fmt;
use std::sync::OnceLock;

/// How the results of a backend differ from those of the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// Numbers differ.
    Numbers,
    /// One of them is NaN.
    Nan,
    /// One of them is infinite.
    Infinite,
    /// The shapes differ, or the backend has no result: the error, without names and numbers.
    Error(String),
    /// Two results of Etalon itself differ.
    EtalonBug,
    /// Two executions have different results.
    Unstable,
    /// The backend does not implement something.
    Unsupported,
    /// The process of the backend died: how, and the line of stderr that tells the cause.
    Crashed(String),
    /// The backend did not answer in time.
    TimedOut,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Numbers => f.write_str("different numbers"),
            Self::Nan => f.write_str("NaN on one side"),
            Self::Infinite => f.write_str("an infinity on one side"),
            Self::Error(message) => write!(f, "error: {message}"),
            Self::Unstable => f.write_str("different results of two executions"),
            Self::Unsupported => f.write_str("unsupported"),
            Self::EtalonBug => f.write_str("a bug of Etalon: two of its results differ"),
            Self::Crashed(death) => write!(f, "the process died: {death}"),
            Self::TimedOut => f.write_str("no answer in time"),
        }
    }
}

impl Kind {
    /// Returns the kind of a difference; `None` if there is none, or the reference has no result.
    pub fn of(record: &Record) -> Option<Self> {
        match record.verdict {
            Verdict::Agrees
            | Verdict::WithinBound
            | Verdict::NotTested
            | Verdict::Undefined
            | Verdict::Skipped
            | Verdict::NoReference => None,
            Verdict::Differs => Some(Self::of_elements(record)),
            Verdict::EtalonBug => Some(Self::EtalonBug),
            Verdict::Unstable => Some(Self::Unstable),
            Verdict::Rejected | Verdict::Failed => Some(Self::Error(words(&record.reason))),
            Verdict::Unsupported => Some(Self::Unsupported),
            Verdict::Crashed => Some(Self::Crashed(record.death.clone().unwrap_or_default())),
            Verdict::TimedOut => Some(Self::TimedOut),
        }
    }
    fn of_elements(record: &Record) -> Self {
        let worst = record.measures.as_ref().and_then(|measures| measures.worst.as_ref());
        let Some(worst) = worst else { return Self::Error("the shapes differ".to_owned()) };
        let has = |word: &str| worst.actual.contains(word) || worst.expected.contains(word);
        if has("nan") {
            Self::Nan
        } else if has("inf") {
            Self::Infinite
        } else {
            Self::Numbers
        }
    }
}

/// Returns the words of the first line of an error that are letters only: names, shapes and numbers
/// change with the module.
fn words(reason: &str) -> String {
    let line = reason.lines().next().unwrap_or_default();
    let is_word = |word: &&str| word.chars().all(|c| c.is_alphabetic() || ",.:;'".contains(c));
    line.split_whitespace().filter(is_word).collect::<Vec<_>>().join(" ")
}

/// The comparison of a backend with an engine, as a predicate of [`reduce`](super::reduce).
///
/// ```
/// use conformance::Engine;
/// use conformance::backend::EngineBackend;
/// use conformance::reduce::{Candidate, Difference, Interest};
/// use std::sync::Arc;
/// let text = "HloModule m\nENTRY e { x = f32[2] parameter(0) ROOT r = f32[2] tanh(x) }";
/// let module = Arc::new(hlo::Module::parse(text)?.verify()?);
/// let mut backend = EngineBackend(Engine::Reference);
/// let difference = Difference::new(Engine::Exact, 1 << 20);
/// let candidate = Candidate { module, arguments: vec![vec!["f32[2] {1, 2}".parse()?]] };
/// assert_eq!(difference.interest(&mut backend, &candidate), Interest::Boring);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Difference {
    reference: LimitedEngine,
    /// The rule of the twin that the backend is compared with in place of the engine.
    twin: Option<TwinRule>,
    kind: OnceLock<Kind>,
}

impl Difference {
    /// Compares a backend with an engine, which may take `fuel` steps: a candidate may have a loop
    /// without an end.
    pub fn new(engine: Engine, fuel: u64) -> Self {
        Self {
            reference: LimitedEngine { engine, fuel, max_memory: usize::MAX, time_limit: None },
            twin: None,
            kind: OnceLock::new(),
        }
    }
    /// Compares a backend with itself: a candidate with its twin by a rule.
    /// The engine only shows that loops of a candidate end.
    pub fn of_twins(rule: TwinRule, engine: Engine, fuel: u64) -> Self {
        Self { twin: Some(rule), ..Self::new(engine, fuel) }
    }
    /// Returns the rule of the twin, if there is one.
    pub fn twin(&self) -> Option<&TwinRule> {
        self.twin.as_ref()
    }
    /// Returns the kind of the first difference; later ones of another kind are
    /// [`Interest::Other`].
    pub fn kind(&self) -> Option<&Kind> {
        self.kind.get()
    }
    /// Compares the results of a candidate.
    pub fn interest(&self, backend: &mut dyn Backend, candidate: &Candidate) -> Interest {
        let subject = candidate.subject();
        let record = match &self.twin {
            Some(_) if !self.ends(&subject) => return Interest::Boring,
            Some(rule) => metamorphic::check(&subject, Some(rule), backend).0,
            None => conform(&subject, &mut { self.reference }, backend),
        };
        match Kind::of(&record) {
            None => Interest::Boring,
            Some(kind) if kind == *self.kind.get_or_init(|| kind.clone()) => Interest::Interesting,
            Some(kind) => Interest::Other(kind.to_string()),
        }
    }
}

impl Difference {
    /// Returns whether the loops of a module end in the engine.
    fn ends(&self, subject: &Subject) -> bool {
        let mut instructions = subject.module.module().instructions();
        !instructions.any(|one| one.opcode() == Opcode::While)
            || subject.run(&mut { self.reference }).is_ok()
    }
}

/// Calls a predicate up to `times` times, until it is not boring: for differences that do not show
/// in each run.
pub fn repeated(times: u32, mut interesting: impl FnMut() -> Interest) -> Interest {
    let mut answer = Interest::Boring;
    for _ in 0..times.max(1) {
        match interesting() {
            Interest::Interesting => return Interest::Interesting,
            other @ Interest::Other(_) => answer = other,
            Interest::Boring => {}
        }
    }
    answer
}

/// Returns how often a candidate must be boring before it is called boring, so that at most one in
/// a hundred interesting ones is missed: `shown` of `runs` runs of the first module were
/// interesting.
///
/// ```
/// use conformance::reduce::repetitions;
/// assert_eq!([repetitions(20, 20), repetitions(10, 20), repetitions(2, 20)], [1, 7, 44]);
/// ```
pub fn repetitions(shown: u32, runs: u32) -> u32 {
    if shown >= runs {
        return 1;
    }
    let rate = f64::from(shown.max(1)) / f64::from(runs.max(1));
    let needed = (0.01f64.ln() / (-rate).ln_1p()).ceil();
    (1..1000).find(|&k| f64::from(k) >= needed).unwrap_or(1000)
}
