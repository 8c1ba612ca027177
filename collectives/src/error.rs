//! Why a run of many devices did not give results.
use crate::Deadlock;
use hlo::Span;
use hlo::diag::{Diagnostic, Level, Place};
use interp::Position;
use std::fmt;

hlo::error_codes! {
    /// What went wrong between devices.
    #[derive(serde::Serialize, serde::Deserialize)]
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
        /// The ranks of a run are about to do different things.
        ///
        /// All must run the same build of Etalon with the same module, devices and options.
        "E0508" "{message}"
        Ranks { message: String },
        /// A rank cannot be reached any more, or what it sends cannot be understood.
        ///
        /// A rank that ends early ends the run of all. Other ranks may not know of this error: whoever gets it should end its
        /// process without waiting for them.
        "E0509" "{message}"
        Lost { message: String },
        /// A sharding of a program that is not partitioned yet cannot be understood, or does not fit the array it is of.
        ///
        /// Shardings stand in `sharding=` or in the frontend attributes `xla.sdy.in_shardings`, `xla.sdy.out_shardings`,
        /// `xla.sdy.manual_axes` and, for the meshes, `xla.sdy.meshes` of the module.
        "E0511" "{message}"
        Sharding { message: String },
        /// The manual regions of a program that is not partitioned yet do not fit together.
        ///
        /// What a device computes from its own shard, or from its own number, is one value for each device. The program
        /// around the regions has one value for all; only `xla.sdy.LocalToGlobalShape` or `SPMDShardToFullShape` makes that.
        "E0512" "{message}"
        Region { message: String },
        /// The run of a program failed outside of its manual regions; its own number says how.
        "E0513" "{error}"
        Outside { error: interp::Error },
        /// A manual region is no module that its devices could run; the rule it breaks has its own number.
        "E0514" "{message}"
        Rule { number: String, message: String },
        /// A mistake in Etalon. Please report it, with the module.
        "E0599" "internal error: {message}"
        Internal { message: String },
    }
}

/// The explanation of an error number of this crate.
pub fn explain(number: &str) -> Option<&'static str> {
    Code::EXPLANATIONS.iter().find(|(n, _)| *n == number).map(|(_, text)| *text)
}

/// Result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a run of many devices did not give results, and at which instruction.
#[derive(Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Error(Box<Inner>);

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
struct Inner {
    code: Code,
    span: Option<Span>,
    /// The instruction at which it happened: `computation/name`.
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
    /// What happened.
    pub fn code(&self) -> &Code {
        &self.0.code
    }
    /// Its number: `E05xx`, or that of the error of a run or a rule.
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
    /// The instruction at which it happened, `computation/name`, if it is one.
    pub fn instruction(&self) -> Option<&str> {
        self.0.instruction.as_deref()
    }
    /// Sets the place, unless one is known.
    #[must_use]
    pub(crate) fn at(mut self, place: &Position<'_>) -> Self {
        if self.0.instruction.is_none() {
            self.0.span = Some(place.span()).filter(|&span| span != Span::default());
            self.0.instruction = Some(place.name());
        }
        self
    }
    /// Says something of another place.
    #[must_use]
    pub(crate) fn with_label(mut self, span: Span, text: impl Into<String>) -> Self {
        if span != Span::default() {
            self.0.labels.push((span, text.into()));
        }
        self
    }
    /// Narrows the place to a part of the instruction.
    #[must_use]
    pub(crate) fn on(mut self, place: Place) -> Self {
        self.0.place = place;
        self
    }
    /// Sets the place by itself, unless one is known.
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
    /// The error in the form the renderer takes.
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
