//! Errors of the command line itself, and what the process exits with.
use conformance::Failed;
use hlo::diag::{Diagnostic, Error};
use std::path::Path;
use std::process::ExitCode;

hlo::error_codes! {
    /// What went wrong outside of a module.
    pub enum Code {
        /// The file cannot be read or written.
        "E0601" "{path}: {message}"
        File { path: String, message: String },
        /// The module has parameters, but no arguments are given. Use `--input` or `--random`.
        "E0602" "the module takes arguments and none are given ({count}): {shapes}"
        MissingInput { count: usize, shapes: String },
        /// The file of `--input` is not an .npz file, or does not fit the parameters.
        "E0603" "{path}: {message}"
        Input { path: String, message: String },
        /// `--input N=FILE.npy` names a parameter that the module does not have.
        "E0604" "there is no parameter {number}; the module takes {count} arguments"
        NoSuchParameter { number: usize, count: usize },
        /// `etalon explain` knows neither an error number nor an opcode of this name.
        "E0605" "nothing is known of `{what}`"
        Unknown { what: String },
        /// A test file is malformed. It counts as failed; the other files are run.
        "E0606" "{message}"
        BadTest { message: String },
        /// `--random` cannot generate a value for a parameter: it is larger than memory, or its type has no values.
        "E0607" "parameter {number} cannot be drawn: {message}"
        NotDrawn { number: usize, message: String },
        /// `etalon graph` draws devices and the ops that connect them. It does not draw the instructions of a module yet.
        "E0608" "graphs of instructions are not there yet"
        NoGraph,
        /// Several processes were started together, as `mpirun` does, and they cannot run together.
        ///
        /// Etalon must be built with the feature `mpi` for that.
        "E0609" "{message}"
        Mpi { message: String },
    }
}

/// What the process exits with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The module is wrong, or a result differs.
    Wrong,
    /// The command cannot be carried out as given.
    Misuse,
    /// Etalon does not implement something the module needs.
    Unsupported,
    /// A bug of Etalon.
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
    /// The reason of a number.
    pub(crate) fn of(number: u8) -> Self {
        let all = [Self::Wrong, Self::Misuse, Self::Unsupported];
        all.into_iter().find(|exit| exit.number() == number).unwrap_or(Self::Bug)
    }
}

/// Why a command ended early.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) diagnostics: Vec<Diagnostic>,
    /// Name and text of the module the diagnostics are about.
    pub(crate) source: Option<(String, String)>,
    pub(crate) exit: Exit,
}

pub(crate) type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub(crate) fn new(code: &Code, help: Option<String>) -> Self {
        let diagnostic = Diagnostic { help, ..Error::from(code.clone()).diagnostic() };
        Self { diagnostics: vec![diagnostic], source: None, exit: Exit::Misuse }
    }
    pub(crate) fn file(path: &Path, error: &impl ToString) -> Self {
        let (path, message) = (path.display().to_string(), error.to_string());
        Self::new(&Code::File { path, message }, None)
    }
    /// The error of a run.
    pub(crate) fn run(error: &Failed, name: &str, text: &str) -> Self {
        let exit = match (error.of_device().map(interp::Error::code), error) {
            _ if error.is_unsupported() => Exit::Unsupported,
            (Some(interp::Code::Internal { .. }), _) => Exit::Bug,
            (Some(interp::Code::Invalid { .. } | interp::Code::Library { .. }), _) => Exit::Misuse,
            (None, Failed::Together(e)) => match e.code() {
                collectives::Code::Arguments { .. } | collectives::Code::Ranks { .. } => {
                    Exit::Misuse
                }
                _ => Exit::Wrong,
            },
            _ => Exit::Wrong,
        };
        let mut diagnostic = error.diagnostic();
        if let Some(interp::Code::Starved { .. }) = error.of_device().map(interp::Error::code) {
            diagnostic.help = Some("what `infeed` takes is given with --infeed F.npz".to_owned());
        }
        let source = Some((name.to_owned(), text.to_owned()));
        Self { diagnostics: vec![diagnostic], source, exit }
    }
}
