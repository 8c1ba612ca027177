//! Errors with a place: code, span, labels, help.
mod code;
mod place;
mod render;

pub use code::{Code, explain};
pub use place::{Place, locate};
pub use render::{Source, render};

use std::fmt;

/// Byte offsets into the text a module was parsed from: `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span `start..end`; offsets past 4 GiB saturate (such a text is refused before it is read).
    pub fn new(start: usize, end: usize) -> Self {
        let clip = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: clip(start), end: clip(end) }
    }
    /// The bytes as a range.
    pub fn range(self) -> std::ops::Range<usize> {
        let at = |x: u32| usize::try_from(x).expect("u32 fits usize");
        at(self.start)..at(self.end)
    }
    /// From the start of `self` to the end of `other`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }
}

/// Anything that can be shown to a user with a place and a help line; each crate's error gives one.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// Whether it stops the work.
    pub level: Level,
    /// `E0301` and the like; empty for a warning without a number.
    pub code: &'static str,
    /// What was found and what was wanted.
    pub message: String,
    /// Where.
    pub span: Option<Span>,
    /// The part of `span` that matters, found again in the text when it is shown.
    pub place: Place,
    /// Other places, each with a word on what is there; one of `span` itself stands at its carets.
    pub labels: Vec<(Span, String)>,
    /// What to do about it.
    pub help: Option<String>,
}

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The result cannot be had.
    Error,
    /// The result was had, but something was left out or guessed at.
    Warning,
}

/// Why a text is not a module, or a module is not well formed.
///
/// One word in size; `code` says what happened, [`Error::span`] where.
#[derive(Clone, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq, Debug)]
struct Inner {
    code: Code,
    span: Option<Span>,
    place: Place,
    labels: Vec<(Span, String)>,
    help: Option<String>,
}

/// Result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<Code> for Error {
    #[cold]
    fn from(code: Code) -> Self {
        let inner = Inner { code, span: None, place: Place::Whole, labels: Vec::new(), help: None };
        Self(Box::new(inner))
    }
}

impl Error {
    /// What happened.
    pub fn code(&self) -> &Code {
        &self.0.code
    }
    /// Where, if the text is known.
    pub fn span(&self) -> Option<Span> {
        self.0.span
    }
    /// Which part of the instruction at [`Error::span`] it is about.
    pub fn place(&self) -> &Place {
        &self.0.place
    }
    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }
    /// Sets the place, unless a more exact one is known already.
    #[must_use]
    pub fn at(mut self, span: Span) -> Self {
        self.0.span.get_or_insert(span);
        self
    }
    /// Narrows the place to a part of the instruction.
    #[must_use]
    pub fn on(mut self, place: Place) -> Self {
        self.0.place = place;
        self
    }
    /// Adds a second place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.0.labels.push((span, text.into()));
        self
    }
    /// Adds the help line, unless there is one.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help.get_or_insert_with(|| help.into());
        self
    }
    /// Replaces the help line.
    #[must_use]
    pub fn replace_help(mut self, help: impl Into<String>) -> Self {
        self.0.help = Some(help.into());
        self
    }
    /// The error in the form the renderer takes.
    pub fn diagnostic(&self) -> Diagnostic {
        let Inner { code, span, place, labels, help } = &*self.0;
        Diagnostic {
            level: Level::Error,
            code: code.number(),
            message: code.to_string(),
            span: *span,
            place: place.clone(),
            labels: labels.clone(),
            help: help.clone(),
        }
    }
    /// The same as a warning.
    pub fn warning(&self) -> Diagnostic {
        Diagnostic { level: Level::Warning, ..self.diagnostic() }
    }
}
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error[{}]: {}", self.0.code.number(), self.0.code)
    }
}
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
impl std::error::Error for Error {}

/// Every rule a module breaks, in text order; never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Errors(pub Vec<Error>);

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}
impl std::error::Error for Errors {}
impl From<Error> for Errors {
    fn from(error: Error) -> Self {
        Self(vec![error])
    }
}

/// The candidate nearest to `word`, if one is near enough to be a slip of the keyboard.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let far = (word.len() / 3).max(2);
    let scored = candidates.into_iter().map(|c| (strsim::damerau_levenshtein(word, c), c));
    scored.filter(|&(d, c)| d <= far && d < c.len()).min_by_key(|&(d, _)| d).map(|(_, c)| c)
}
