//! Errors as exceptions of Python: their text, with carets, and their parts.
use crate::source::Source;
use hlo::diag::{Diagnostic, SourceFile, render};
use load::{LoadError, Reason};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The class of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The text of a module, or a rule that the module breaks.
    Invalid,
    /// The run of a module.
    Run,
    /// Something that Etalon does not implement.
    Unsupported,
    /// A bug of Etalon.
    Internal,
}

/// An error, as Python gets it.
pub(crate) struct Failure {
    kind: Kind,
    number: &'static str,
    message: String,
    help: Option<String>,
    instruction: Option<String>,
    source: Option<Source>,
    drawn: String,
}

impl Failure {
    /// Draws a diagnostic at the line of the program that the module was made from, if that is
    /// known, and else at the module's.
    pub(crate) fn new(
        kind: Kind,
        diagnostic: Diagnostic,
        source: Option<Source>,
        text: Option<hlo::diag::Source<'_>>,
    ) -> Self {
        let at_source = source.as_ref().and_then(|source| source.draw(&diagnostic));
        let drawn = at_source.unwrap_or_else(|| render(&diagnostic, text, false));
        let Diagnostic { code, message, help, instruction, .. } = diagnostic;
        let drawn = drawn.trim_end().to_owned();
        Self { kind, number: code, message, help, instruction, source, drawn }
    }
    pub(crate) fn drawn(&self) -> &str {
        &self.drawn
    }
    /// Returns the parts of the error, which are attributes of the exception.
    pub(crate) fn parts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let parts = PyDict::new(py);
        parts.set_item("code", self.number)?;
        parts.set_item("message", &self.message)?;
        parts.set_item("help", self.help.as_deref())?;
        parts.set_item("instruction", self.instruction.as_deref())?;
        parts.set_item("source", self.source.clone())?;
        Ok(parts)
    }
}

/// Returns the exception of a module that is not read: that of the system, or the one of a module
/// that is wrong.
pub(crate) fn unread(error: LoadError) -> PyErr {
    if let Reason::Io(error, path) = &error.reason
        && let Some(number) = error.raw_os_error()
    {
        let text = error.to_string();
        let text = text.split(" (os error").next().unwrap_or_default().to_owned();
        return PyOSError::new_err((number, text, path.clone()));
    }
    let LoadError { reason, diagnostics, source } = error;
    let kind = match reason {
        Reason::Unsupported => Kind::Unsupported,
        Reason::Io(..) | Reason::OverLimit { .. } | Reason::File | Reason::Invalid => Kind::Invalid,
    };
    let source = source.as_ref().map(SourceFile::source);
    let failure = |mut diagnostic: Diagnostic| {
        diagnostic.help = diagnostic.help.map(|help| {
            let help = help.replace("; or give the arguments with --input", "");
            let help = help.replace("with --shape", "with `shapes=[...]`");
            help.replace("--module N", "`module=N`").replace("--function", "`function`")
        });
        Failure::new(kind, diagnostic, None, source)
    };
    exception(&diagnostics.into_iter().map(failure).collect::<Vec<_>>())
}

/// Returns the exception of one error or several; the class and the parts are those of the first.
pub(crate) fn exception(failures: &[Failure]) -> PyErr {
    Python::attach(|py| raised(py, failures).unwrap_or_else(|error| error))
}

fn raised(py: Python<'_>, failures: &[Failure]) -> PyResult<PyErr> {
    let Some(first) = failures.first() else { return Ok(internal("an error without a message")) };
    let name = match first.kind {
        Kind::Invalid => "InvalidModuleError",
        Kind::Run => "RunError",
        Kind::Unsupported => "UnsupportedError",
        Kind::Internal => "InternalError",
    };
    let drawn: Vec<&str> = failures.iter().map(Failure::drawn).collect();
    let parts: Vec<_> =
        failures.iter().map(|failure| failure.parts(py)).collect::<PyResult<_>>()?;
    let class = py.import("etalon._errors")?.getattr(name)?;
    Ok(PyErr::from_value(class.call1((drawn.join("\n\n"), parts))?))
}

/// Returns the error of a wrong call.
pub(crate) fn misuse(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}

/// Returns the error of a bug.
pub(crate) fn internal(message: &str) -> PyErr {
    PyRuntimeError::new_err(format!("internal error of Etalon: {message}"))
}

/// Returns what `etalon explain` says of an error number such as `E0302`, an opcode, the label of a rule or a mode.
#[pyfunction]
pub(crate) fn explain(what: &str) -> PyResult<String> {
    cli::explain(what).map_err(misuse)
}
