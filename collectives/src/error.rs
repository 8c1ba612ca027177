//! The errors of runs on several devices.
use crate::Deadlock;
use hlo::diag::{BrokenRule, Diagnostic};

hlo::error_codes! {
    /// The kind of an error.
    #[derive(serde::Serialize, serde::Deserialize)]
    pub enum Code {
        /// Deadlock: every device that has not finished waits for another one.
        ///
        /// The report lists the instruction at which each device waits, and the devices for which
        /// it waits. Typical causes: a replica executes a collective more often than another,
        /// because a branch or a loop depends on its id; a `recv` without its `send`; a `send`
        /// whose receiver executes `recv` only after something that needs the `send`; two devices
        /// that execute collectives in different orders.
        ///
        /// The order of the text is no cause without `is_scheduled=true`. `recv` comes before
        /// `send`, `send` before `recv-done`, each before its own done; `--buffered-sends` takes
        /// the first of these rules away.
        "E0501" "{deadlock}"
        Deadlock { deadlock: Deadlock },
        /// `replica_groups` or `source_target_pairs` name a device that does not exist, or one
        /// device twice.
        ///
        /// `channel_id` and `use_global_device_ids` determine what the ids are: replicas,
        /// partitions or devices. A typical cause is a module for more devices than the run has:
        /// see `--replicas` and `--partitions`.
        "E0502" "{message}"
        Groups { message: String },
        /// Devices execute different ops, or ops with different shapes or groups, on one channel.
        ///
        /// Instructions of one channel belong together, even in different computations. A typical
        /// cause is a `channel_id` that two instructions share by mistake. `send` and `recv` of one
        /// channel state the same pairs of source and target, or none, in
        /// `frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}`.
        "E0503" "{message}"
        Mismatch { message: String },
        /// A value was sent and not received by the end of the run.
        ///
        /// A real device would wait, or overwrite the value. Typical causes: a `collective-permute`
        /// that its target does not execute; with `--buffered-sends` a `send` without a `recv`, on
        /// another channel, or executed more often.
        "E0504" "{message}"
        Unclaimed { message: String },
        /// The arguments of the devices do not fit the run: their number, or the number of
        /// arguments of one.
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
        /// A rank that exits early ends the run of all ranks. The other ranks may not detect this
        /// error: exit without waiting for them.
        "E0509" "{message}"
        Lost { message: String },
        /// A sharding of an unpartitioned program is malformed, or does not fit its array.
        ///
        /// Shardings are stated in `sharding=` or in the frontend attributes
        /// `xla.sdy.in_shardings`, `xla.sdy.out_shardings`, `xla.sdy.manual_axes` and, for the
        /// meshes, `xla.sdy.meshes` of the module.
        "E0511" "{message}"
        Sharding { message: String },
        /// A per-device value of an unpartitioned program leaves its manual region.
        ///
        /// A value that is computed from a shard, or from the number of a device, is different on
        /// each device. The outer program has one value for all devices;
        /// `xla.sdy.LocalToGlobalShape` or `SPMDShardToFullShape` assembles it.
        "E0512" "{message}"
        Region { message: String },
        /// The run of an unpartitioned program failed outside of its manual regions. That error is
        /// shown, under its own number.
        "E0513" "{error}"
        Outside { error: interp::Error },
        /// The module of a manual region is invalid. The broken rule is shown, under its own
        /// number.
        "E0514" "{message}"
        Rule { number: String, message: String },
        /// A bug in Etalon. Please report it, with the module.
        "E0599" "internal error: {message}"
        Internal { message: String },
    }
    impl ErrorCode {
        #[expect(clippy::wildcard_enum_match_arm, reason = "other codes add nothing")]
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

/// The reason why a run of many devices has no results, and the instruction at which it stopped.
pub type Error = hlo::diag::Error<Code>;

/// The result type of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<BrokenRule> for Code {
    fn from(BrokenRule { number, message }: BrokenRule) -> Self {
        Self::Rule { number: number.to_owned(), message }
    }
}
