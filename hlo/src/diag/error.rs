//! The error type of all crates: a code, a place, and a help line.
use super::elide::elide;
use super::{Code, Diagnostic, Level, Place, Source, Span, render};
use std::fmt;
use std::panic::Location;

/// The error codes of one crate; [`error_codes!`](crate::error_codes) declares them.
pub trait ErrorCode: Clone + PartialEq + fmt::Debug + fmt::Display {
    /// Every number with its explanation.
    const EXPLANATIONS: &'static [(&'static str, &'static str)];
    /// Returns the error number: `E0301`.
    fn number(&self) -> &'static str;
    /// Completes the diagnostic of an error with this code; for codes that wrap another error.
    fn complete(&self, diagnostic: Diagnostic) -> Diagnostic {
        diagnostic
    }
}

/// Returns the explanation of an error number.
///
/// ```
/// use hlo::diag::{Code, explain};
/// assert!(explain::<Code>("E0103").unwrap().contains("opcode"));
/// assert_eq!(explain::<Code>("E9999"), None);
/// ```
pub fn explain<C: ErrorCode>(number: &str) -> Option<&'static str> {
    C::EXPLANATIONS.iter().find(|(known, _)| *known == number).map(|(_, text)| *text)
}

/// The place of an error, as far as it is known.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Site {
    /// The place in the text.
    pub span: Option<Span>,
    /// The instruction: `computation/name`.
    pub instruction: Option<String>,
    /// The call in the Rust program that builds the module.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub location: Option<&'static Location<'static>>,
}

impl From<Span> for Site {
    fn from(span: Span) -> Self {
        Self { span: Some(span), ..Self::default() }
    }
}
impl From<&'static Location<'static>> for Site {
    fn from(location: &'static Location<'static>) -> Self {
        Self { location: Some(location), ..Self::default() }
    }
}

/// An error of one of the crates: its code, its place, and a help line. One word in size.
///
/// [`Display`](fmt::Display) prints it with a caret below the line of the text where
/// [`Module::parse`](crate::Module::parse) had it, and else a line; [`render`](super::render) draws
/// the [`diagnostic`](Error::diagnostic) with a text that has a name, and [`report`](Error::report)
/// draws it with the line of the Rust program.
#[derive(Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Error<C = Code>(Box<Inner<C>>);

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
struct Inner<C> {
    code: C,
    site: Site,
    #[cfg_attr(feature = "serde", serde(skip))]
    place: Place,
    labels: Vec<(Span, String)>,
    help: Option<String>,
    /// The error with the lines of its text.
    drawn: Option<Box<str>>,
}

impl<C: ErrorCode> From<C> for Error<C> {
    #[cold]
    fn from(code: C) -> Self {
        let (site, place) = (Site::default(), Place::Whole);
        Self(Box::new(Inner { code, site, place, labels: Vec::new(), help: None, drawn: None }))
    }
}

/// A broken rule of HLO, in the error codes of crates that build modules.
#[derive(Debug)]
pub struct BrokenRule {
    /// The rule's own number.
    pub number: &'static str,
    /// The rule's own message.
    pub message: String,
}
impl<C: ErrorCode + From<BrokenRule>> From<Error<Code>> for Error<C> {
    #[cold]
    fn from(error: Error<Code>) -> Self {
        let Inner { code, site, place, labels, help, drawn } = *error.0;
        let rule = BrokenRule { number: code.number(), message: code.to_string() };
        Self(Box::new(Inner { code: rule.into(), site, place, labels, help, drawn }))
    }
}

/// A feature that Etalon does not implement.
#[derive(Debug)]
pub struct Unsupported(pub String);
/// A bug of Etalon.
#[derive(Debug)]
pub struct Internal(pub String);
/// An invalid argument of a call.
#[derive(Debug)]
pub struct InvalidArgument(pub String);

impl<C: ErrorCode> Error<C> {
    /// Returns the error of a feature that Etalon does not implement.
    #[cold]
    pub fn unsupported(message: impl Into<String>) -> Self
    where
        C: From<Unsupported>,
    {
        C::from(Unsupported(message.into())).into()
    }
    /// Returns the error of a bug of Etalon.
    #[cold]
    pub fn internal(message: impl Into<String>) -> Self
    where
        C: From<Internal>,
    {
        C::from(Internal(message.into())).into()
    }
    /// Returns the error of an invalid argument.
    #[cold]
    pub fn argument(message: impl Into<String>) -> Self
    where
        C: From<InvalidArgument>,
    {
        C::from(InvalidArgument(message.into())).into()
    }

    /// Returns the error code.
    pub fn code(&self) -> &C {
        &self.0.code
    }
    /// Returns the number that is shown: that of the code, or of the error it wraps.
    pub fn number(&self) -> &'static str {
        self.diagnostic().code
    }
    /// Returns the place in the text, if it is known.
    pub fn span(&self) -> Option<Span> {
        self.0.site.span
    }
    /// Returns the instruction of the error: `computation/name`.
    pub fn instruction(&self) -> Option<&str> {
        self.0.site.instruction.as_deref()
    }
    /// Returns the call in the Rust program that builds the module.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.0.site.location
    }
    /// Returns the part of the instruction at [`Error::span`] that the error is about.
    pub fn place(&self) -> &Place {
        &self.0.place
    }
    /// Returns the help line.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Sets the place, except for parts that are already set.
    #[must_use]
    pub fn at(mut self, site: impl Into<Site>) -> Self {
        let (known, site) = (&mut self.0.site, site.into());
        known.span = known.span.or(site.span);
        known.instruction = known.instruction.take().or(site.instruction);
        known.location = known.location.or(site.location);
        self
    }
    /// Narrows the place to a part of the instruction.
    #[must_use]
    pub fn on(mut self, place: Place) -> Self {
        self.0.place = place;
        self
    }
    /// Adds a label to a second place.
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

    /// Adds the lines of the text that the error is about, which [`Display`](fmt::Display) prints
    /// then.
    #[must_use]
    pub fn drawn(mut self, text: &str) -> Self {
        if self.span().is_some() {
            let drawn = render(&self.diagnostic(), Some(Source { name: "text", text }), false);
            self.0.drawn = Some(drawn.trim_end().into());
        }
        self
    }

    /// Returns the error in the form that the renderer takes.
    pub fn diagnostic(&self) -> Diagnostic {
        let Inner { code, site, place, labels, help, drawn: _ } = &*self.0;
        code.complete(Diagnostic {
            level: Level::Error,
            code: code.number(),
            message: elide(code.to_string()),
            span: site.span,
            instruction: site.instruction.clone(),
            place: place.clone(),
            labels: labels.clone(),
            help: help.clone(),
        })
    }
    /// Returns the same as a warning.
    pub fn warning(&self) -> Diagnostic {
        Diagnostic { level: Level::Warning, ..self.diagnostic() }
    }
}

impl<C: ErrorCode> fmt::Display for Error<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(drawn) = &self.0.drawn {
            return f.write_str(drawn);
        }
        let Diagnostic { code, message, instruction, help, .. } = self.diagnostic();
        write!(f, "error[{code}]: {message}")?;
        if let Some(instruction) = instruction {
            write!(f, " (at `{instruction}`)")?;
        }
        let Some(location) = self.location() else { return Ok(()) };
        write!(f, "\n --> {location}")?;
        help.map_or(Ok(()), |help| write!(f, "\n = help: {help}"))
    }
}
/// Formats like [`Display`](fmt::Display), for `unwrap` and a failing `main`.
impl<C: ErrorCode> fmt::Debug for Error<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
impl<C: ErrorCode> std::error::Error for Error<C> {}

/// Every error of a text, or every rule that a module breaks, in text order; never empty.
#[derive(Debug, Clone, PartialEq)]
pub struct Errors(pub Vec<Error>);

impl Errors {
    /// Adds the lines of the text to each of them, as [`Error::drawn`] does.
    #[must_use]
    pub fn drawn(self, text: &str) -> Self {
        Self(self.0.into_iter().map(|error| error.drawn(text)).collect())
    }
    /// Returns them in the form that the renderer takes.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        self.0.iter().map(Error::diagnostic).collect()
    }
}

impl fmt::Display for Errors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_drawn = self.0.iter().any(|error| error.0.drawn.is_some());
        for (i, error) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(if is_drawn { "\n\n" } else { "\n" })?;
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
