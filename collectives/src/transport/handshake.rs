//! The handshake of ranks: the runs they are about to start, and the state of their devices.
use super::{Ranks, connection_lost, malformed_message};
use crate::values::DecodeError;
use crate::{Code, Error, Result, wire};
use hlo::text::Style;
use interp::{DeviceGrid, Executable, RunOptions};
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hasher};

/// The run that a rank is about to start, and the first of its devices that cannot start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Handshake {
    pub(crate) plan: Plan,
    pub(crate) failure: Option<(usize, Error)>,
}

/// The properties of a run that must be equal on every rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Name and fingerprint.
    module: (String, u64),
    /// Replicas and partitions.
    devices: (usize, usize),
    options: String,
}

impl Handshake {
    /// Checks that all ranks run the same, and that all devices have started.
    ///
    /// # Errors
    /// `E0509` if the connection is lost. Otherwise the same on every rank: `E0508` if they differ;
    /// the error of the first device that could not start.
    pub(crate) fn agree(&self, ranks: &Ranks) -> Result<()> {
        // The version comes first, so that other builds can decode it.
        let mut bytes = wire::encode_envelope(&VERSION).map_err(|e| connection_lost(&e))?;
        bytes.extend(wire::encode_envelope(self).map_err(|e| connection_lost(&e))?);
        let mut first: Option<Plan> = None;
        let mut failed: Option<(usize, Error)> = None;
        for (rank, bytes) in ranks.gather(bytes)?.iter().enumerate() {
            let Self { plan, failure } =
                match decode(bytes).map_err(|e| malformed_message(rank, &e))? {
                    Ok(handshake) => handshake,
                    Err(version) => {
                        let message = format!("rank {rank} is Etalon {version}, not {VERSION}");
                        return Err(Code::Ranks { message }.into());
                    }
                };
            first.get_or_insert_with(|| plan.clone()).compare(&plan, rank)?;
            let before = |device| failed.as_ref().is_none_or(|(first, _)| device < *first);
            failed = failure.filter(|(device, _)| before(*device)).or(failed);
        }
        failed.map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// Decodes a handshake; returns the version of another build.
fn decode(bytes: &[u8]) -> Result<Result<Handshake, String>, DecodeError> {
    let (version, rest): (String, _) = wire::decode_envelope_prefix(bytes)?;
    match version == VERSION {
        true => wire::decode_envelope(rest).map(Ok),
        false => Ok(Err(version)),
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Plan {
    pub(crate) fn new(executable: &Executable, grid: DeviceGrid, options: &RunOptions) -> Self {
        let module = executable.module();
        let RunOptions { fuel, max_memory, check_nan, seed, order, buffered_sends, .. } = options;
        let options = format!(
            "{:?} {{ fuel: {fuel:?}, max_memory: {max_memory:?}, check_nan: {check_nan}, seed: {seed}, order: {order:?}, \
             buffered_sends: {buffered_sends} }}",
            executable.engine()
        );
        let mut hasher = DefaultHasher::new();
        hasher.write(module.print(Style::Short).as_bytes());
        // Ranks identify instructions by their indices, which may differ between texts that print
        // alike.
        for (_, computation) in module.computations.iter() {
            for (id, _) in computation.instructions.iter() {
                hasher.write(computation.name(id).as_bytes());
            }
        }
        Self {
            module: (module.name.to_string(), hasher.finish()),
            devices: (grid.replicas, grid.partitions),
            options,
        }
    }
    /// Fails if the plan of another rank differs from this one, which is that of rank 0.
    fn compare(&self, other: &Self, rank: usize) -> Result<()> {
        let what = if self.module != other.module {
            let shown = |(name, print): &(String, u64)| format!("`{name}` ({print:016x})");
            format!("modules: {} and {}", shown(&self.module), shown(&other.module))
        } else if self.devices != other.devices {
            let shown = |(replicas, partitions)| format!("{replicas} x {partitions}");
            format!("devices: {} and {}", shown(self.devices), shown(other.devices))
        } else if self.options != other.options {
            format!("options: {} and {}", self.options, other.options)
        } else {
            return Ok(());
        };
        let message = format!("ranks 0 and {rank} run different {what}");
        Err(Error::from(Code::Ranks { message })
            .with_help("run the same file with the same options on every rank"))
    }
}
