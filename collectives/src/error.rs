//! The errors of runs on several devices.
use crate::Deadlock;
use hlo::{Module, Span};
use hlo::diag::{Diagnostic, Level, Place};
use interp::Position;
use std::fmt;

hlo::error_codes! {
    /// The kind of an error.
    #[derive(serde::Serialize, serde::Deserialize)]
    pub enum Code {
        /// Deadlock: every device that has not finished waits for another one.
        ///
        /// The report lists the instruction at which each device waits, and the devices for which it waits. Typical causes: a
        /// replica executes a collective more often than another, because a branch or a loop depends on its id; a `recv`
        /// without its `send`; two devices that execute collectives in different orders.
        "E0501" "{deadlock}"
        Deadlock { deadlock: Deadlock },
        /// `replica_groups` or `source_target_pairs` name a device that does not exist, or one device twice.
        ///
        /// What an id counts follows from `channel_id` and `use_global_device_ids`: replicas, partitions or devices. A typical
        /// cause is a module for more devices than the run has: see `--replicas` and `--partitions`.
        "E0502" "{message}"
        Groups { message: String },
        /// Devices execute different ops, or ops with different shapes or groups, on one channel.
        ///
        /// Instructions of one channel belong together, even in different computations. A typical cause is a `channel_id` that
        /// two instructions share by mistake.
        "E0503" "{message}"
        Mismatch { message: String },
        /// A value was sent and not received by the end of the run.
        ///
        /// A real device would wait, or overwrite the value. Typical causes: a `send` without a `recv`, on another channel, or
        /// executed more often; a `collective-permute` that its target does not execute.
        "E0504" "{message}"
        Unclaimed { message: String },
        /// The arguments of the devices do not fit the run: their number, or the number of arguments of one.
        "E0505" "{message}"
        Arguments { message: String },
        /// The run of one device failed. The error of that device is shown, under its own number.
        "E0506" "device {device}: {error}"
        Device { device: usize, error: interp::Error },
        /// Etalon does not support this yet.
        "E0507" "{message}"
        Unsupported { message: String },
        /// The ranks of a run have different modules, devices or options.
        ///
        /// All ranks must run the same build of Etalon with the same module, devices and options.
        "E0508" "{message}"
        Ranks { message: String },
        /// The connection to a rank is lost, or one of its messages is malformed.
        ///
        /// A rank that exits early ends the run of all ranks. The other ranks may not detect this error: exit without waiting
        /// for them.
        "E0509" "{message}"
        Lost { message: String },
        /// A sharding of an unpartitioned program is malformed, or does not fit its array.
        ///
        /// Shardings are stated in `sharding=` or in the frontend attributes `xla.sdy.in_shardings`, `xla.sdy.out_shardings`,
        /// `xla.sdy.manual_axes` and, for the meshes, `xla.sdy.meshes` of the module.
        "E0511" "{message}"
        Sharding { message: String },
        /// A per-device value of an unpartitioned program leaves its manual region.
        ///
        /// A value that is computed from a shard, or from the number of a device, is different on each device. The outer
        /// program has one value for all devices; `xla.sdy.LocalToGlobalShape` or `SPMDShardToFullShape` assembles it.
        "E0512" "{message}"
        Region { message: String },
        /// The run of an unpartitioned program failed outside of its manual regions. That error is shown, under its own number.
        "E0513" "{error}"
        Outside { error: interp::Error },
        /// The module of a manual region is invalid. The broken rule is shown, under its own number.
        "E0514" "{message}"
        Rule { number: String, message: String },
        /// A bug in Etalon. Please report it, with the module.
        "E0599" "internal error: {message}"
        Internal { message: String },
    }
}

/// Returns the explanation of an error number of this crate.
pub fn explain(number: &str) -> Option<&'static str> {
    Code::EXPLANATIONS.iter().find(|(n, _)| *n == number).map(|(_, text)| *text)
}

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The error of a run on several devices, with the instruction at which it occurred.
#[derive(Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
struct Inner {
    code: Code,
    span: Option<Span>,
    /// The instruction at which it occurred: `computation/name`.
    instruction: Option<String>,
    #[serde(skip)]
    place: Place,
    labels: Vec<(Span, String)>,
    help: Option<String>,
}

impl From<hlo::Error> for Error {
    #[cold]
    fn from(error: hlo::Error) -> Self {
        let Diagnostic { code, message, span, place, labels, help, level: _ } = error.diagnostic();
        let mut made = Self::from(Code::Rule { number: code.to_owned(), message });
        (made.0.span, made.0.place, made.0.labels, made.0.help) = (span, place, labels, help);
        made
    }
}
impl From<Code> for Error {
    #[cold]
    fn from(code: Code) -> Self {
        Self(Box::new(Inner {
            code,
            span: None,
            instruction: None,
            place: Place::Whole,
            labels: Vec::new(),
            help: None,
        }))
    }
}

impl Error {
    /// Returns the kind of the error.
    pub fn code(&self) -> &Code {
        &self.0.code
    }
    /// Returns its number: `E05xx`, or that of the error of a device or of a rule.
    pub fn number(&self) -> &'static str {
        match &self.0.code {
            Code::Device { error, .. } | Code::Outside { error } => error.code().number(),
            Code::Rule { number, .. } => {
                let known = hlo::diag::Code::EXPLANATIONS.iter().find(|(known, _)| known == number);
                known.map_or(self.0.code.number(), |(known, _)| known)
            }
            code => code.number(),
        }
    }
    /// Returns the instruction at which it occurred, `computation/name`, if it is known.
    pub fn instruction(&self) -> Option<&str> {
        self.0.instruction.as_deref()
    }
    /// Sets the instruction, unless one is known.
    #[must_use]
    pub(crate) fn at(mut self, position: Position, module: &Module) -> Self {
        if self.0.instruction.is_none() {
            self.0.span = Some(position.span(module)).filter(|&span| span != Span::default());
            self.0.instruction = Some(position.name(module));
        }
        self
    }
    /// Adds a label.
    #[must_use]
    pub(crate) fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        if span != Span::default() {
            self.0.labels.push((span, text.into()));
        }
        self
    }
    /// Narrows the span to a part of the instruction.
    #[must_use]
    pub(crate) fn on(mut self, place: Place) -> Self {
        self.0.place = place;
        self
    }
    /// Sets the span, unless one is known.
    #[must_use]
    pub(crate) fn placed(mut self, span: Span) -> Self {
        if span != Span::default() {
            self.0.span.get_or_insert(span);
        }
        self
    }
    /// Adds the help line, unless there is one.
    #[must_use]
    pub(crate) fn with_help(mut self, help: impl Into<String>) -> Self {
        self.0.help.get_or_insert_with(|| help.into());
        self
    }
    /// Returns the error in the form that the renderer shows.
    pub fn diagnostic(&self) -> Diagnostic {
        let Inner { code, span, instruction: _, place, labels, help } = &*self.0;
        let plain = Diagnostic {
            level: Level::Error,
            code: code.number(),
            message: code.to_string(),
            span: *span,
            place: place.clone(),
            labels: labels.clone(),
            help: help.clone(),
        };
        match code {
            Code::Outside { error } => error.diagnostic(),
            Code::Rule { .. } => Diagnostic { code: self.number(), ..plain },
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
            Code::Outside { error } => write!(f, "{error}"),
            Code::Rule { message, .. } => write!(f, "error[{}]: {message}", self.number()),
            code => {
                write!(f, "error[{}]: {code}", code.number())?;
                match &self.0.instruction {
                    Some(name) => write!(f, " (at `{name}`)"),
                    None => Ok(()),
                }
            }
        }
    }
}
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
impl std::error::Error for Error {}
