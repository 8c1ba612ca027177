//! Errors of the command line itself, and the exit codes.
use collectives::RunError;
use hlo::diag::quantity;
use hlo::diag::{Diagnostic, Error, ErrorCode, Source, SourceFile};
use load::{LoadError, Reason};
use std::path::Path;
use std::process::ExitCode;

hlo::error_codes! {
    /// An error outside of a module.
    pub enum Code {
        /// The module has parameters, and the command has no arguments for them.
        "E0602" "the module takes arguments, found none; its parameters are {shapes}"
        MissingInput { shapes: String },
        /// A file of arrays cannot be read, a value is malformed, or the arrays do not match the parameters.
        "E0603" "{path}: {message}"
        Input { path: String, message: String },
        /// `--input N=FILE.npy` names a parameter that the module does not have.
        "E0604" "there is no parameter {number}; the module takes {count} arguments"
        NoSuchParameter { number: usize, count: usize },
        /// `--input NAME=FILE` or `--range NAME=LO:HI` names a parameter that the module does not have.
        "E0612" "there is no parameter `{name}`"
        NoSuchName { name: String },
        /// The argument of `etalon explain` is neither an error number nor an opcode nor the label of a rule.
        "E0605" "`{what}` is neither an error number nor an opcode nor the label of a rule"
        Unknown { what: String },
        /// A file of tests is malformed. It counts as failed; the other files run.
        "E0606" "{message}"
        BadTest { message: String },
        /// `--random` cannot draw a value for a parameter: the value does not fit memory, or its type has no values.
        "E0607" "cannot draw parameter {number}: {message}"
        NotDrawn { number: usize, message: String },
        /// `--elided` cannot draw a value for a constant: the value does not fit memory, or its type has no values.
        "E0610" "cannot draw an elided constant: {message}"
        NotFilled { message: String },
        /// Several processes were started together, as `mpirun` does, and cannot communicate.
        ///
        /// This requires a build of Etalon with the feature `mpi`.
        "E0609" "{message}"
        Mpi { message: String },
        /// The module has no computation of the name that `etalon graph --computation` states.
        "E0611" "there is no computation `{name}`"
        NoSuchComputation { name: String },
        /// A line of the file of `--custom-calls` is not a declaration.
        ///
        /// A line is `TARGET = MEANING`, where the meaning is `identity`, `operand K` or `tuple`; `#` begins a comment.
        "E0615" "{path}:{line}: {message}"
        CustomCalls { path: String, line: usize, message: String },
        /// A file or folder is not replaced.
        ///
        /// A file that an option names as output is replaced, such as that of `--output`. One whose name is an argument without an
        /// option, or chosen by the command, is replaced only with `--force`, and an input never.
        "E0620" "{path} exists"
        Exists { path: String },
        /// The module of `etalon reduce` does not show a difference, or each module does.
        ///
        /// A search for the smallest module needs a module that is interesting, and a trivial module that is not.
        "E0621" "{message}"
        NotReduced { message: String },
        /// `--backend planted:OP` names an op that does not exist.
        "E0622" "there is no op `{name}` to plant errors in"
        UnknownPlanted { name: String },
    }
}

/// An exit code other than 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The module is wrong, or a result differs.
    Wrong,
    /// The usage is wrong: arguments, options or files.
    Misuse,
    /// Etalon does not implement something the module needs.
    Unsupported,
    /// A bug in Etalon.
    Bug,
}

impl Exit {
    pub(crate) fn code(self) -> ExitCode {
        ExitCode::from(self.number())
    }
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Wrong => 1,
            Self::Misuse => 2,
            Self::Unsupported => 3,
            Self::Bug => 4,
        }
    }
    /// Returns the one that a command with both ends with: a wrong module comes before a file that cannot be read.
    pub(crate) fn or(self, other: Self) -> Self {
        let order = [Self::Bug, Self::Wrong, Self::Unsupported, Self::Misuse];
        let worst = order.into_iter().find(|exit| [self, other].contains(exit));
        worst.expect("the order has each")
    }
    /// Returns the reason for an exit code.
    pub(crate) fn of(number: u8) -> Self {
        let all = [Self::Wrong, Self::Misuse, Self::Unsupported];
        all.into_iter().find(|exit| exit.number() == number).unwrap_or(Self::Bug)
    }
}

/// The error that ended a command.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// The text of the module that the diagnostics refer to.
    pub(crate) source: Option<SourceFile>,
    pub(crate) exit: Exit,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new<C: ErrorCode + Clone>(code: &C, help: Option<String>) -> Self {
        let diagnostic = Diagnostic { help, ..Error::from(code.clone()).diagnostic() };
        Self { diagnostics: vec![diagnostic], source: None, exit: Exit::Misuse }
    }
    /// Replaces the help line.
    pub(crate) fn with_help(mut self, help: &str) -> Self {
        self.diagnostics.iter_mut().for_each(|one| one.help = Some(help.to_owned()));
        self
    }
    pub(crate) fn file(path: &Path, error: &impl ToString) -> Self {
        let (path, message) = (path.display().to_string(), error.to_string());
        Self::new(&load::Code::File { path, message }, None)
    }
    /// Returns the errors of a module.
    pub(crate) fn module(diagnostics: Vec<Diagnostic>, source: Source<'_>) -> Self {
        Self { diagnostics, source: Some(source.into()), exit: Exit::Wrong }
    }
    /// Returns the error of a run.
    pub(crate) fn run(error: &RunError, source: Source<'_>) -> Self {
        let exit = match (error.device_error().map(interp::Error::code), error) {
            _ if error.is_unsupported() => Exit::Unsupported,
            (Some(interp::Code::Internal { .. }), _) => Exit::Bug,
            (Some(interp::Code::Invalid { .. } | interp::Code::Library { .. }), _) => Exit::Misuse,
            (None, RunError::ManyDevices(e)) => match e.code() {
                collectives::Code::Arguments { .. } | collectives::Code::Ranks { .. } => {
                    Exit::Misuse
                }
                _ => Exit::Wrong,
            },
            _ => Exit::Wrong,
        };
        let mut diagnostic = error.diagnostic();
        if let Some(interp::Code::Starved { message }) =
            error.device_error().map(interp::Error::code)
            && message.contains("infeed")
        {
            diagnostic.help = Some("provide values for `infeed` with --infeed F.npz".to_owned());
        }
        Self { diagnostics: vec![diagnostic], source: Some(source.into()), exit }
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Self {
        let LoadError { reason, mut diagnostics, source } = error;
        let exit = match reason {
            Reason::Io(error, _) if error.kind() == std::io::ErrorKind::IsADirectory => {
                let failure = Self { diagnostics, source, exit: Exit::Misuse };
                return failure.with_help("this command takes one file: name one in the folder");
            }
            Reason::Io(..) | Reason::File => Exit::Misuse,
            Reason::Invalid => Exit::Wrong,
            Reason::Unsupported => Exit::Unsupported,
            Reason::OverLimit { name, most } => {
                let message =
                    format!("{name}: the module has more than {}", quantity(most, "byte"));
                diagnostics = vec![interp::over_memory_limit(message).diagnostic()];
                Exit::Wrong
            }
        };
        Self { diagnostics, source, exit }
    }
}
