//! The error codes of runs on many devices.
use crate::Deadlock;
use hlo::diag::{BrokenRule, Diagnostic};

hlo::error_codes! {
    /// What went wrong between devices.
    #[derive(serde::Serialize, serde::Deserialize)]
    pub enum Code {
        /// The run is deadlocked: every device that has not finished waits for another one.
        ///
        /// The report lists where each device waits and for which devices. The usual causes: one replica executes a
        /// collective more often than another, because a branch or a loop depends on its id; a `recv` without its `send`; two
        /// devices that each wait for what the other one sends later.
        "E0501" "{deadlock}"
        Deadlock { deadlock: Deadlock },
        /// `replica_groups` or `source_target_pairs` list a device that does not exist, or a device twice.
        ///
        /// The ids are replicas, partitions or devices, depending on `channel_id` and `use_global_device_ids`. The usual
        /// cause is a module for more devices than the run has: see `--replicas` and `--partitions`.
        "E0502" "{message}"
        Groups { message: String },
        /// Devices join the same channel with different ops, shapes or groups.
        ///
        /// Instructions with the same channel communicate, even in different computations. The usual cause is a `channel_id`
        /// that two instructions share by mistake.
        "E0503" "{message}"
        Mismatch { message: String },
        /// A value was sent, but not received by the end of the run.
        ///
        /// A real device would wait, or overwrite it. The usual causes: a `send` without its `recv`, on another channel, or
        /// executed more often; a `collective-permute` that its target does not execute.
        "E0504" "{message}"
        Unclaimed { message: String },
        /// The arguments of the devices do not fit the run: their number, or the number of arguments of one.
        "E0505" "{message}"
        Arguments { message: String },
        /// The run of a device failed; the message has the number of that error.
        "E0506" "device {device}: {error}"
        Device { device: usize, error: interp::Error },
        /// Etalon does not execute this yet. It is not a bug in your module.
        "E0507" "{message}"
        Unsupported { message: String },
        /// The ranks of a run differ.
        ///
        /// All ranks must run the same build of Etalon with the same module, devices and options.
        "E0508" "{message}"
        Ranks { message: String },
        /// A rank cannot be reached anymore, or its messages cannot be decoded.
        ///
        /// If a rank exits early, the run of all ranks ends. Other ranks may not have this error: exit the process without
        /// waiting for them.
        "E0509" "{message}"
        Lost { message: String },
        /// A sharding of an unpartitioned SPMD program is malformed, or does not fit its array.
        ///
        /// Shardings are in `sharding=` or in the frontend attributes `xla.sdy.in_shardings`, `xla.sdy.out_shardings`,
        /// `xla.sdy.manual_axes` and, for the meshes, `xla.sdy.meshes` of the module.
        "E0511" "{message}"
        Sharding { message: String },
        /// The manual regions of an unpartitioned SPMD program do not fit together.
        ///
        /// A value that depends on the shard or the id of a device differs from device to device. Outside of manual regions
        /// there is one value for all devices: convert it with `xla.sdy.LocalToGlobalShape` or `SPMDShardToFullShape`.
        "E0512" "{message}"
        Region { message: String },
        /// The run of a program failed outside of its manual regions; the message has the number of that error.
        "E0513" "{error}"
        Outside { error: interp::Error },
        /// A manual region is not a valid module; the message has the number of the broken rule.
        "E0514" "{message}"
        Rule { number: String, message: String },
        /// A bug in Etalon. Please report it with the module.
        "E0599" "internal error: {message}"
        Internal { message: String },
    }
    impl ErrorCode {
        fn complete(&self, own: Diagnostic) -> Diagnostic {
            match self {
                Self::Outside { error } => error.diagnostic(),
                Self::Device { device, error } => {
                    let inner = error.diagnostic();
                    Diagnostic { message: format!("device {device}: {}", inner.message), ..inner }
                }
                Self::Rule { number, .. } => {
                    let mut known = hlo::diag::Code::EXPLANATIONS.iter().map(|(known, _)| *known);
                    let code = known.find(|known| known == number).unwrap_or(own.code);
                    Diagnostic { code, ..own }
                }
                Self::Deadlock { deadlock } => Diagnostic {
                    labels: deadlock.labels(),
                    span: deadlock.first(),
                    help: own.help.or_else(|| Some(deadlock.help())),
                    ..own
                },
                _ => own,
            }
        }
    }
}

/// Why a run of many devices did not give results, and at which instruction.
pub type Error = hlo::diag::Error<Code>;

/// Result of everything in this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<BrokenRule> for Code {
    fn from(BrokenRule { number, message }: BrokenRule) -> Self {
        Self::Rule { number: number.to_owned(), message }
    }
}
