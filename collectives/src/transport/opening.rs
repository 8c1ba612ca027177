//! The first thing ranks tell each other: what they are about to run, and whether they can.
use super::{Ranks, damaged, lost};
use crate::{Code, Error, Result, wire};
use hlo::{Module, Style};

use interp::Grid;
use serde::{Deserialize, Serialize};
use std::hash::{DefaultHasher, Hasher};

/// What a rank is about to run, and the first of its devices that cannot start.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Opening {
    pub(crate) plan: Plan,
    pub(crate) failure: Option<(usize, Error)>,
}

/// What must be the same on every rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// Name and fingerprint.
    module: (String, u64),
    /// Replicas and partitions.
    devices: (usize, usize),
    options: String,
}

impl Opening {
    /// Makes sure that all ranks run the same, and that all devices have started.
    ///
    /// # Errors
    /// `E0509` if the others cannot be heard. Else the same on every rank: `E0508` if they do not fit together; the error of the
    /// first device that could not start.
    pub(crate) fn agree(&self, ranks: &Ranks) -> Result<()> {
        // The version stands in front, so that other builds can read it.
        let mut bytes = wire::envelope(&VERSION).map_err(|e| lost(&e))?;
        bytes.extend(wire::envelope(self).map_err(|e| lost(&e))?);
        let mut first: Option<Plan> = None;
        let mut failed: Option<(usize, Error)> = None;
        for (rank, bytes) in ranks.gather(bytes)?.iter().enumerate() {
            let Self { plan, failure } = match read(bytes).map_err(|e| damaged(rank, &e))? {
                Ok(opening) => opening,
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

/// An opening; or the version of the other build that it is of.
fn read(bytes: &[u8]) -> Result<Result<Opening, String>, wire::Damage> {
    let (version, rest): (String, _) = wire::opened_first(bytes)?;
    match version == VERSION {
        true => wire::opened(rest).map(Ok),
        false => Ok(Err(version)),
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

impl Plan {
    pub(crate) fn new(module: &Module, grid: Grid, options: String) -> Self {
        let mut hasher = DefaultHasher::new();
        hasher.write(module.print(Style::Short).as_bytes());
        // Ranks call things by their numbers, and texts that print alike may number them in another order.
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
    /// Fails if another rank's plan is not this one, that of rank 0.
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
            .with_help("give every rank the same file and the same options"))
    }
}
