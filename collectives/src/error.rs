//! Why a run of many devices did not give results.
use crate::Deadlock;
use hlo::diag::{BrokenRule, Diagnostic};

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
