//! A campaign over several ranks: each runs a shard in a folder of its own, `ranks/R`, and rank 0 puts
//! them together after each round.
//!
//! A rank that is killed loses no more than a single process does, since its log is its own. The next
//! start goes on with the shards whose round is not complete; the others wait for them, so that a
//! round has the cases of a single process.
use super::history::End;
use super::log::{Log, Round};
use super::{CampaignError, History, Identity, Options, merge, read};
use crate::backend::Backends;
use crate::results::Shard;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Returns the options of a rank, which runs a shard.
pub fn of_rank(options: &Options, rank: u32, count: u32) -> Options {
    let shard = Some(Shard { index: rank + 1, count });
    let identity = Identity { shard, ..options.identity.clone() };
    Options { folder: folder_of_rank(&options.folder, rank), identity, ..options.clone() }
}

fn folder_of_rank(folder: &Path, rank: u32) -> PathBuf {
    folder.join("ranks").join(rank.to_string())
}

/// What a rank tells the others before a round.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RankState {
    identity: Identity,
    round: Round,
    /// The rounds that its shard has begun.
    begun: usize,
    /// Whether the last of them cannot go on, since the backend has other versions.
    is_stale: bool,
    /// The rounds that are complete and put together; 0 on other ranks than 0.
    merged: usize,
}

impl RankState {
    /// Returns the state of a rank, whose folder is made if there is none. `joined` is the whole
    /// campaign, on rank 0.
    ///
    /// # Errors
    /// If the folder has something else, or another process has it open.
    pub fn of(
        own: &Options,
        backends: &Backends,
        joined: Option<&Joined>,
    ) -> Result<Self, CampaignError> {
        let (_, events, _) = Log::open(&own.folder, &own.identity)?;
        let (history, round) = (History::of(&events), Round::now(backends));
        let last = history.rounds.last();
        let is_stale =
            last.is_some_and(|last| last.end != Some(End::Complete) && !last.round.is_like(&round));
        let (begun, merged) = (history.rounds.len(), joined.map_or(0, |joined| joined.complete));
        let identity = Identity { shard: None, ..own.identity.clone() };
        Ok(Self { identity, round, begun, is_stale, merged })
    }
    /// Returns the state as a message.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
    /// Returns what ranks must have in common.
    fn campaign(&self) -> String {
        let Self { identity, round, .. } = self;
        let about = round.about.0.iter().map(|(name, value)| format!("; {name}: {value}"));
        format!("{identity}, {} {}{}", round.backend, round.etalon, about.collect::<String>())
    }
}

/// Returns the number of the round that all ranks run next: that which some have not completed, or
/// whose shards are not put together, or the next one. `messages` are the states of the ranks.
///
/// # Errors
/// If the ranks run different campaigns.
pub fn next_round(messages: &[Vec<u8>]) -> Result<usize, CampaignError> {
    let states = messages.iter().map(|message| serde_json::from_slice(message));
    let states: Vec<RankState> =
        states.collect::<Result<_, _>>().map_err(|e| CampaignError::Message(e.to_string()))?;
    let own = states.first().map(RankState::campaign).unwrap_or_default();
    for (rank, other) in states.iter().map(RankState::campaign).enumerate() {
        if other != own {
            return Err(CampaignError::Different(rank, other, own));
        }
    }
    let merged = states.iter().map(|state| state.merged).max().unwrap_or(0);
    let begun = states.iter().map(|state| state.begun).max().unwrap_or(0);
    let next = begun.max(merged + 1);
    let is_stale = states.iter().any(|state| state.is_stale && state.begun == next);
    Ok(next + usize::from(is_stale))
}

/// The whole campaign, which rank 0 keeps open.
#[derive(Debug)]
pub struct Joined {
    folder: PathBuf,
    identity: Identity,
    /// Locked, so that no other process writes to the folder.
    _log: Log,
    /// The rounds that are complete and put together.
    complete: usize,
}

impl Joined {
    /// Opens the folder of a campaign over ranks, or begins it if the folder is empty.
    ///
    /// # Errors
    /// If the folder has something else, another number of ranks, or another process has it open.
    pub fn open(options: &Options, count: u32) -> Result<Self, CampaignError> {
        let identity = Identity { ranks: Some(count), ..options.identity.clone() };
        let (log, events, _) = Log::open(&options.folder, &identity)?;
        let history = History::of(&events);
        let is_open = history.rounds.last().is_some_and(|last| last.end != Some(End::Complete));
        let complete = history.rounds.len() - usize::from(is_open);
        Ok(Self { folder: options.folder.clone(), identity, _log: log, complete })
    }
    /// Returns an error if the folder of a rank cannot be seen from here.
    ///
    /// # Errors
    /// If the ranks have different file systems.
    pub fn check(&self) -> Result<(), CampaignError> {
        let is_there = |folder: &PathBuf| read(folder).is_ok();
        match self.parts().into_iter().find(|folder| !is_there(folder)) {
            Some(folder) => Err(CampaignError::Unseen(folder)),
            None => Ok(()),
        }
    }
    /// Puts the shards of all ranks together, in place of what an earlier round has left.
    ///
    /// # Errors
    /// If a shard cannot be read, or the folder cannot be written.
    pub fn merge(&self, options: &Options) -> Result<History, CampaignError> {
        let parts = self.parts();
        let logs = parts.iter().map(|part| read(part)).collect::<Result<Vec<_>, _>>()?;
        Ok(merge::write(&self.folder, &self.identity, (logs, &parts), &options.known)?)
    }
    fn parts(&self) -> Vec<PathBuf> {
        let count = self.identity.ranks.unwrap_or(0);
        (0..count).map(|rank| folder_of_rank(&self.folder, rank)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::About;

    /// Returns the next round of ranks, each with the rounds that it has begun and put together, and
    /// whether the last cannot go on.
    fn next(ranks: &[(usize, usize, bool)]) -> usize {
        let state = |&(begun, merged, is_stale): &(usize, usize, bool)| {
            let (backend, etalon) = ("b".to_owned(), "1".to_owned());
            let round = Round { time: 7, backend, about: About::default(), etalon };
            RankState { identity: Identity::default(), round, begun, is_stale, merged }.to_bytes()
        };
        next_round(&ranks.iter().map(state).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn a_round_goes_on_until_all_shards_have_it() {
        assert_eq!(next(&[(0, 0, false), (0, 0, false)]), 1);
        // It was killed while it ran, while it was put together, and not at all.
        assert_eq!(next(&[(1, 0, false), (0, 0, false)]), 1);
        assert_eq!(next(&[(1, 0, false), (1, 0, false)]), 1);
        assert_eq!(next(&[(1, 1, false), (1, 0, false)]), 2);
        // Another version of the backend, then killed again.
        assert_eq!(next(&[(2, 1, true), (2, 0, false)]), 3);
        assert_eq!(next(&[(3, 1, false), (2, 0, true)]), 3);
    }

    #[test]
    fn ranks_run_the_same() {
        let (backend, etalon) = ("b".to_owned(), "1".to_owned());
        let round = Round { time: 7, backend, about: About::default(), etalon };
        let identity = Identity::default();
        let own = RankState { identity, round, begun: 0, is_stale: false, merged: 0 };
        let later = Round { time: 8, ..own.round.clone() };
        let next = |other: RankState| next_round(&[own.to_bytes(), other.to_bytes()]);
        assert_eq!(next(RankState { round: later, ..own.clone() }).unwrap(), 1);
        let other = Round { etalon: "2".to_owned(), ..own.round.clone() };
        let error = next(RankState { round: other, ..own.clone() }).unwrap_err();
        assert!(error.to_string().starts_with("ranks 0 and 1 run different campaigns"), "{error}");
        let identity = Identity { seed: 9, ..Identity::default() };
        assert!(next(RankState { identity, ..own.clone() }).is_err());
        assert!(next_round(&[b"x".to_vec()]).is_err());
    }
}
