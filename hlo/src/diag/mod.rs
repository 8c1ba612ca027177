//! Diagnostics: codes, spans, labels, help.
mod code;
mod elide;
mod error;
mod place;
mod render;
mod report;

pub use code::Code;
pub use error::{
    BrokenRule, Error, ErrorCode, Errors, Internal, InvalidArgument, Site, Unsupported, explain,
};
pub use place::{Place, locate};
pub use render::{BYTE_ORDER_MARK, Source, SourceFile, line_start, render};

/// Byte offsets into the text of a module: `start..end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// Returns the span `start..end`; offsets past 4 GiB saturate (such a text is rejected before
    /// it is parsed).
    pub fn new(start: usize, end: usize) -> Self {
        let clip = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { start: clip(start), end: clip(end) }
    }
    /// Returns the offsets as a range.
    pub fn range(self) -> std::ops::Range<usize> {
        let at = |x: u32| usize::try_from(x).expect("u32 fits usize");
        at(self.start)..at(self.end)
    }
    /// Returns the span from the start of `self` to the end of `other`.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self { start: self.start, end: other.end }
    }
}

/// A message for the user, with its place and a help line.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// Whether it is an error or a warning.
    pub level: Level,
    /// `E0301` and the like; empty for a warning without a number.
    pub code: &'static str,
    /// The message: what was found and what was expected.
    pub message: String,
    /// The place in the text.
    pub span: Option<Span>,
    /// The instruction it is about: `computation/name`.
    pub instruction: Option<String>,
    /// The part of the instruction at `span`, located in the text when it is rendered.
    pub place: Place,
    /// Labels at other spans; a label at `span` itself is shown at its carets.
    pub labels: Vec<(Span, String)>,
    /// The help line.
    pub help: Option<String>,
}

/// The severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// There is no result.
    Error,
    /// There is a result, but something was ignored or assumed.
    Warning,
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Returns a number with its noun.
///
/// ```
/// use hlo::diag::quantity;
/// assert_eq!([1, 0].map(|count| quantity(count, "entry")), ["1 entry", "0 entries"]);
/// assert_eq!([1, 2].map(|count| quantity(count, "array")), ["1 array", "2 arrays"]);
/// assert_eq!(quantity(2, "branch"), "2 branches");
/// ```
pub fn quantity(count: impl std::fmt::Display, noun: &str) -> String {
    let count = count.to_string();
    let (stem, end) = match (count.as_str(), noun.strip_suffix("ry")) {
        ("1", _) => (noun, ""),
        (_, Some(stem)) => (stem, "ries"),
        (_, None) if noun.ends_with("ch") => (noun, "es"),
        (_, None) => (noun, "s"),
    };
    format!("{count} {stem}{end}")
}

/// Returns the candidate nearest to `word`, if it is near enough to be a typo.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // The distance takes time and memory in the product of both lengths.
    if word.len() > elide::WORD {
        return None;
    }
    let candidates = candidates.into_iter().filter(|candidate| candidate.len() <= elide::WORD);
    let far = (word.len() / 3).max(2);
    // Two letters of a short word are most of it: `foo` is not `log`, but `add` may be `adder`.
    let is_long =
        |c: &str| word.len().min(c.len()) > 4 || c.starts_with(word) || word.starts_with(c);
    let is_near = |d: usize, c: &str| d < c.len() && (d < 2 || d <= far && is_long(c));
    let scored = candidates.map(|c| (strsim::damerau_levenshtein(word, c), c));
    // Letters in another order are a likelier typo than a letter too many: `tahn` is `tanh` rather
    // than `tan`.
    let key = |&(d, c): &(usize, &str)| (d, word.len().abs_diff(c.len()));
    scored.filter(|&(d, c)| is_near(d, c)).min_by_key(key).map(|(_, c)| c)
}
