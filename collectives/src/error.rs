//! Why a run of many devices did not give results.
use crate::Deadlock;
use hlo::Span;
use hlo::diag::{Diagnostic, Level, Place};
use std::fmt;

hlo::error_codes! {
    /// What went wrong between devices.
    pub enum Code {
        /// Every device that has not ended waits for another: none will ever go on.
        ///
        /// The report lists where each device waits and for whom. The usual causes: one replica runs a collective more often
        /// than another, because a branch or a loop depends on its id; a `recv` without its `send`; two devices that each
        /// wait for what the other sends only later.
        "E0501" "{deadlock}"
        Deadlock { deadlock: Deadlock },
        /// `replica_groups` or `source_target_pairs` name devices that there are not, or one device twice.
        ///
        /// What an id counts follows from `channel_id` and `use_global_device_ids`: replicas, partitions or devices. The usual
        /// cause is a module that was made for more devices than the run has: see `--replicas` and `--partitions`.
        "E0502" "{message}"
        Groups { message: String },
        /// Devices meet at one channel with different ops, shapes or groups.
        ///
        /// Instructions of one channel belong together, even in different computations. The usual cause is a `channel_id` that
        /// two instructions share by mistake.
        "E0503" "{message}"
        Mismatch { message: String },
        /// A value was sent that nobody received by the end of the run.
        ///
        /// A real device would wait, or overwrite it. The usual causes: a `send` without its `recv`, on another channel, or run
        /// more often; a `collective-permute` whose target does not come to it.
        "E0504" "{message}"
        Unclaimed { message: String },
        /// The arguments of the devices do not fit the run: their number, or the number of arguments of one.
        "E0505" "{message}"
        Arguments { message: String },
        /// A device's own run failed: what is shown is the error of that device, under its own number.
        "E0506" "device {device}: {error}"
        Device { device: usize, error: interp::Error },
        /// Etalon does not run this yet.
        "E0507" "{message}"
        Unsupported { message: String },
    }
}

/// The explanation of an error number of this crate.
pub fn explain(number: &str) -> Option<&'static str> {
    Code::EXPLANATIONS.iter().find(|(n, _)| *n == number).map(|(_, text)| *text)
}

/// Result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run of many devices did not give results, and at which instruction.
#[derive(Clone, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq)]
struct Inner {
    code: Code,
    span: Option<Span>,
    help: Option<String>,
}

impl From<Code> for Error {
    #[cold]
    fn from(code: Code) -> Self {
        Self(Box::new(Inner { code, span: None, help: None }))
    }
}

impl Error {
    /// What happened.
    pub fn code(&self) -> &Code {
        &self.0.code
    }
    /// Its number: `E05xx`, or that of a device's own error.
    pub fn number(&self) -> &'static str {
        match &self.0.code {
            Code::Device { error, .. } => error.code().number(),
            code => code.number(),
        }
    }
    /// Sets the place, unless one is known.
    #[must_use]
    pub(crate) fn at(mut self, span: Span) -> Self {
        self.0.span.get_or_insert(span);
        self
    }
    /// Adds the help line, unless there is one.
    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help.get_or_insert_with(|| help.into());
        self
    }
    /// The error in the form the renderer takes.
    pub fn diagnostic(&self) -> Diagnostic {
        let Inner { code, span, help } = &*self.0;
        let plain = Diagnostic {
            level: Level::Error,
            code: code.number(),
            message: code.to_string(),
            span: *span,
            place: Place::Whole,
            labels: Vec::new(),
            help: help.clone(),
        };
        match code {
            Code::Device { device, error } => {
                let inner = error.diagnostic();
                Diagnostic { message: format!("device {device}: {}", inner.message), ..inner }
            }
            Code::Deadlock { deadlock } => Diagnostic {
                labels: deadlock.labels(),
                span: deadlock.first(),
                help: plain.help.or_else(|| Some(deadlock.help())),
                ..plain
            },
            _ => plain,
        }
    }
}
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.code {
            Code::Device { device, error } => write!(f, "device {device}: {error}"),
            code => write!(f, "error[{}]: {code}", code.number()),
        }
    }
}
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
impl std::error::Error for Error {}
