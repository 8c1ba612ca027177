//! What a campaign tests, when its rounds end, and its errors.
use crate::fuzz::Compare;
use crate::results::Shard;
use crate::{Engine, Known, WriteError};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a campaign tests: the same in all of its rounds.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The options that name the backend and say how it is judged.
    pub backend: String,
    /// The cases of the suite.
    pub suite: Extent,
    /// The seed of the first random module; the next one has the next seed.
    #[serde(default)]
    pub seed: u64,
    /// One random module in this number is compared with its twin; none if it is 0. [`TWINS`] if
    /// absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twins: Option<u32>,
    /// The part of the cases and modules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shard: Option<Shard>,
    /// The number of ranks whose shards it has; nothing if a single process runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<u32>,
}

/// Which cases of the suite a campaign has, besides one for each op and type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// No others.
    Probes,
    /// Those that take about a minute together.
    #[default]
    Smoke,
    /// All.
    Full,
}

/// One random module in this number is compared with its twin, unless the identity says another
/// number.
pub const TWINS: u32 = 8;

impl Identity {
    /// Returns what the module of a number is compared with.
    pub(super) fn compare(&self, number: u64, bits: bool) -> Compare {
        let every = u64::from(self.twins.unwrap_or(TWINS));
        match bits {
            _ if number.checked_rem(every).is_some_and(|rest| rest == every - 1) => {
                Compare::Twins(None)
            }
            true => Compare::Bits,
            false => Compare::Bounds,
        }
    }
    /// Fails if a folder has another campaign.
    pub(super) fn check(&self, asked: &Self, folder: &Path) -> Result<(), CampaignError> {
        if self == asked {
            return Ok(());
        }
        let (found, asked) = (self.to_string(), asked.to_string());
        Err(CampaignError::Other { folder: folder.to_owned(), found, asked })
    }
}

impl std::fmt::Display for Identity {
    /// Writes the options of the command line.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let suite = match self.suite {
            Extent::Probes => "probes",
            Extent::Smoke => "smoke",
            Extent::Full => "full",
        };
        write!(f, "{} --suite {suite} --seed {}", self.backend, self.seed)?;
        self.twins.map_or(Ok(()), |every| write!(f, " --twins {every}"))?;
        self.shard.map_or(Ok(()), |shard| write!(f, " --shard {shard}"))?;
        self.ranks.map_or(Ok(()), |ranks| write!(f, ", over {ranks} ranks"))
    }
}

/// Why there is no campaign.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] WriteError),
    /// The folder has other files.
    #[error("{}: the folder is not empty, and has no campaign", .0.display())]
    NotEmpty(PathBuf),
    /// The folder has another campaign.
    #[error("{}: the folder has another campaign: `{found}`, not `{asked}`", .folder.display())]
    Other {
        /// The folder.
        folder: PathBuf,
        /// The options of its campaign.
        found: String,
        /// The options that are asked for.
        asked: String,
    },
    /// Another process writes to it.
    #[error("{}: another process runs this campaign", .0.display())]
    Busy(PathBuf),
    /// The campaign is no part of one.
    #[error("{}: the campaign is no shard", .0.display())]
    NoShard(PathBuf),
    /// A shard is there twice.
    #[error("{}: shard {} is given twice", .0.display(), .1)]
    Twice(PathBuf, String),
    /// A shard is not there.
    #[error("shard {0} is missing")]
    Missing(String),
    /// Rank 0 does not see the folder of another one.
    #[error("{}: rank 0 does not see the folder of another rank", .0.display())]
    Unseen(PathBuf),
    /// The ranks do not run the same: the number of one, what it runs, and what rank 0 runs.
    #[error("ranks 0 and {0} run different campaigns: `{2}` and `{1}`")]
    Different(usize, String, String),
    /// The state of a rank cannot be read.
    #[error("the state of a rank cannot be read: {0}")]
    Message(String),
    /// There is no campaign to read.
    #[error("{}: there is no campaign", .0.display())]
    None(PathBuf),
}

/// When a round ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// After this time; a process that goes on with a round has what is left of it.
    Time(Duration),
    /// After the suite and this number of random modules.
    Modules(u64),
}

/// The parameters of a round.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder of the campaign.
    pub folder: PathBuf,
    /// What it tests.
    pub identity: Identity,
    /// When the round ends.
    pub limit: Limit,
    /// The number of the round, from 1; nothing runs if it is complete. Without it the last round goes
    /// on, or the next one begins.
    pub round: Option<usize>,
    /// The engine that the backend is compared with.
    pub engine: Engine,
    /// Whether results must have the bits of the engine.
    pub bits: bool,
    /// Whether modules leave out what backends may define in different ways.
    pub portable: bool,
    /// The findings that are known.
    pub known: Known,
}
