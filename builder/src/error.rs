//! Errors of building a module, with the line of the call.
use hlo::diag::{Diagnostic, Level, Place, Source, Span, render};
use std::fmt;
use std::panic::Location;

hlo::error_codes! {
    /// The error of a call of the builder.
    pub enum Code {
        /// An invalid argument: an axis that does not exist, a list of the wrong length.
        "E0801" "{message}"
        Argument { message: String },
        /// Shapes that do not broadcast. Scalars broadcast to any shape, and operands of equal rank along dimensions of size
        /// 1; name the dimensions of other operands with `along`. docs/broadcasting.md compares the rules of other systems.
        "E0802" "{message}"
        Broadcast { message: String },
        /// A value that another builder made. Each builder makes one module; pass data between modules as arguments.
        "E0803" "a value of builder `{found}` is used in builder `{here}`"
        OtherBuilder { found: String, here: String },
        /// A value of one computation used in another. An HLO computation sees only its parameters. The closures of loops and
        /// branches may use outer values, and any closure scalar constants; pass other values as operands. A closure passes
        /// values out only through its result.
        "E0804" "a value of computation `{found}` is used in `{here}`"
        OtherComputation { found: String, here: String },
        /// A computation without an instruction, or without a result.
        "E0805" "{message}"
        Root { message: String },
        /// A closure whose result has the wrong shape: a condition that is not `pred[]`, a body of a loop that changes the
        /// shape of the state.
        "E0806" "{message}"
        Closure { message: String },
        /// A literal that has no shape: rows of different lengths, a number the element type does not hold.
        "E0807" "{message}"
        Literal { message: String },
        /// The value cannot be differentiated: an op on the path has no derivative, or no derivative rule here.
        "E0808" "{message}"
        NotDifferentiable { message: String },
        /// The result does not depend on the input: the gradient is zero, which is rarely intended.
        "E0809" "{message}"
        Disconnected { message: String },
        /// Element types without a common type under the rules of the system.
        "E0810" "{message}"
        Promotion { message: String },
        /// Etalon does not build this yet.
        "E0811" "{message}"
        Unsupported { message: String },
        /// An instruction breaks a rule of the specification, which has a number of its own.
        "E0812" "{message}"
        Rule { message: String, number: &'static str },
        /// The value of a call that failed was used. The first failure is reported.
        "E0813" "the value comes from a call that failed"
        Invalid {},
    }
}

/// The explanation of an error number of this crate.
pub fn explain(number: &str) -> Option<&'static str> {
    Code::EXPLANATIONS.iter().find(|(n, _)| *n == number).map(|(_, text)| *text)
}

/// Result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a module cannot be built, and the line of the call.
///
/// [`Display`](fmt::Display) says it in a few lines; [`Error::report`] draws the line of the call with a caret.
#[must_use]
#[derive(Clone, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq)]
struct Inner {
    code: Code,
    /// Where the user's program calls the builder.
    location: Option<&'static Location<'static>>,
    /// The instruction that could not be made: `add(f32[2], f32[3])`.
    making: Option<String>,
    help: Option<String>,
}

impl From<Code> for Error {
    #[cold]
    fn from(code: Code) -> Self {
        Self(Box::new(Inner { code, location: None, making: None, help: None }))
    }
}
impl From<hlo::Error> for Error {
    #[cold]
    fn from(error: hlo::Error) -> Self {
        let diagnostic = error.diagnostic();
        let code = Code::Rule { message: diagnostic.message, number: diagnostic.code };
        let error = Self::from(code);
        match diagnostic.help {
            Some(help) => error.with_help(help),
            None => error,
        }
    }
}

impl Error {
    /// What happened.
    pub fn code(&self) -> &Code {
        &self.0.code
    }
    /// Its number: `E08xx`, or that of the rule that is broken.
    pub fn number(&self) -> &'static str {
        match &self.0.code {
            Code::Rule { number, .. } => number,
            code => code.number(),
        }
    }
    /// The call by the user program.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.0.location
    }
    /// What to do about it.
    pub fn help(&self) -> Option<&str> {
        self.0.help.as_deref()
    }
    /// An argument that cannot mean anything.
    #[cold]
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Code::Argument { message: message.into() }.into()
    }
    /// What is not built yet.
    #[cold]
    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Code::Unsupported { message: message.into() }.into()
    }
    /// Sets the place, unless one is known.
    pub(crate) fn at(mut self, location: &'static Location<'static>) -> Self {
        self.0.location.get_or_insert(location);
        self
    }
    /// Says which instruction was to be made, unless it is known.
    pub(crate) fn making(mut self, instruction: impl FnOnce() -> String) -> Self {
        self.0.making.get_or_insert_with(instruction);
        self
    }
    /// Adds the help line, unless there is one.
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help.get_or_insert_with(|| help.into());
        self
    }

    /// The error as it is shown to a person: with the line of the program and a caret, if its source can be read.
    pub fn report(&self) -> String {
        let Inner { code, location, making, help } = &*self.0;
        let message = match making {
            Some(making) => format!("{code}, in {making}"),
            None => code.to_string(),
        };
        let text = location.and_then(|l| source(l.file()));
        let span = location.zip(text.as_deref()).and_then(|(l, text)| call(text, l));
        let Some((span, (location, text))) = span.zip(location.zip(text.as_deref())) else {
            return format!("{self}\n");
        };
        let diagnostic = Diagnostic {
            level: Level::Error,
            code: self.number(),
            message,
            span: Some(span),
            place: Place::Whole,
            labels: Vec::new(),
            help: help.clone(),
        };
        render(&diagnostic, Some(Source { name: location.file(), text }), false)
    }
}

/// The text of a source file. Its path is relative to where the compiler ran, which is the workspace: this directory or one
/// above.
fn source(file: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().take(4).find_map(|folder| std::fs::read_to_string(folder.join(file)).ok())
}

/// The rest of the line from where the call stands.
fn call(text: &str, location: &Location<'_>) -> Option<Span> {
    let line = usize::try_from(location.line()).ok()?.checked_sub(1)?;
    let column = usize::try_from(location.column()).ok()?.checked_sub(1)?;
    let start = text.split_inclusive('\n').take(line).map(str::len).sum::<usize>();
    let written = text.get(start..)?.lines().next()?;
    let before: usize = written.chars().take(column).map(char::len_utf8).sum();
    let end = written.trim_end().trim_end_matches([';', ',']).len();
    Some(Span::new(start + before, start + end.max(before + 1)))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { code, location, making, help } = &*self.0;
        write!(f, "error[{}]: {code}", self.number())?;
        if let Some(making) = making {
            write!(f, ", in {making}")?;
        }
        if let Some(location) = location {
            write!(f, "\n --> {location}")?;
        }
        match help {
            Some(help) => write!(f, "\n = help: {help}"),
            None => Ok(()),
        }
    }
}
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What `unwrap` and a failing `main` show.
        write!(f, "{self}")
    }
}
impl std::error::Error for Error {}
