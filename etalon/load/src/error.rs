//! Errors of loading, and their codes.
use crate::bytes::ReadError;
use hlo::diag::{Diagnostic, ErrorCode, SourceFile, render};
use std::fmt;

hlo::error_codes! {
    /// An error of a file.
    pub enum Code {
        /// The file cannot be read or written.
        "E0601" "{path}: {message}"
        File { path: String, message: String },
        /// The file is not a module: its first bytes are those of another format.
        ///
        /// Modules are HLO text, or messages of XLA such as an `HloModuleProto`; both may be compressed by gzip.
        "E0613" "{path} is {found}, not a module"
        NotAModule { path: String, found: String },
        /// The file has several modules, as a file of tests has, and the command takes one of them; or `--module N` states a module
        /// that the file does not have.
        ///
        /// `--function NAME` chooses a function of a StableHLO program, and `--shape` states the sizes of its arguments. An HLO module
        /// has no functions to choose from, and no unknown sizes: it runs from its `ENTRY` computation. To run another computation,
        /// mark that one as `ENTRY`.
        "E0614" "{path} has {count}"
        SeveralModules { path: String, count: String },
    }
}

/// The reason why no module is read, with its diagnostics.
#[derive(Debug)]
pub struct LoadError {
    /// The kind of reason.
    pub reason: Reason,
    /// The errors, in text order; at least one.
    pub diagnostics: Vec<Diagnostic>,
    /// The text that the errors refer to, if they have a place in a text.
    pub source: Option<SourceFile>,
}

/// The kinds of reasons why no module is read.
#[derive(Debug)]
pub enum Reason {
    /// The system does not read the file of this name.
    Io(std::io::Error, String),
    /// The file has more bytes than the caller allows.
    OverLimit {
        /// The name of the file.
        name: String,
        /// The bytes that are allowed.
        most: u64,
    },
    /// The file is damaged or too long, of another format, or has several modules.
    File,
    /// The module is wrong.
    Invalid,
    /// The program needs something that Etalon does not implement.
    Unsupported,
}

impl LoadError {
    /// Returns the error of a file whose bytes are not read.
    pub(crate) fn unread(name: &str, error: ReadError, most: Option<usize>) -> Self {
        let help = match error {
            ReadError::Unpacked { .. } => {
                Some(format!("unpack it, if you trust it: `gzip -d {name}`"))
            }
            ReadError::Io(_) | ReadError::Damaged(_) | ReadError::TooLong { .. } => None,
        };
        let code = Code::File { path: name.to_owned(), message: error.to_string() };
        let reason = match error {
            ReadError::Io(error) => Reason::Io(error, name.to_owned()),
            ReadError::TooLong { most: found } if most.is_some() => {
                Reason::OverLimit { name: name.to_owned(), most: found }
            }
            ReadError::TooLong { .. } | ReadError::Damaged(_) | ReadError::Unpacked { .. } => {
                Reason::File
            }
        };
        Self { reason, ..Self::file(code, help) }
    }
    /// Returns the message of the first error, without its place.
    pub fn message(&self) -> &str {
        self.diagnostics.first().map_or("", |first| &first.message)
    }
    /// Returns the error of a file as a whole.
    pub(crate) fn file(code: Code, help: Option<String>) -> Self {
        let diagnostic = Diagnostic { help, ..hlo::diag::Error::from(code).diagnostic() };
        Self { reason: Reason::File, diagnostics: vec![diagnostic], source: None }
    }
    /// Returns the error of a module without a text.
    pub(crate) fn whole<C: ErrorCode>(name: &str, error: &hlo::diag::Error<C>) -> Self {
        let mut diagnostic = error.diagnostic();
        let place = diagnostic.instruction.as_ref().map(|path| format!(" (at `{path}`)"));
        let place = place.unwrap_or_default();
        diagnostic.message = format!("{name}: {}{place}", diagnostic.message);
        Self { reason: Reason::Invalid, diagnostics: vec![diagnostic], source: None }
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = self.source.as_ref().map(SourceFile::source);
        for (i, diagnostic) in self.diagnostics.iter().enumerate() {
            f.write_str(if i > 0 { "\n\n" } else { "" })?;
            f.write_str(render(diagnostic, source, false).trim_end())?;
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.reason {
            Reason::Io(error, _) => Some(error),
            Reason::OverLimit { .. } | Reason::File | Reason::Invalid | Reason::Unsupported => None,
        }
    }
}
