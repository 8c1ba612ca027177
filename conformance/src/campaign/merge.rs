//! Shards of a campaign, put together to what one machine runs.
use super::bundle::folder_of;
use super::log::Log;
use super::{CampaignError, Event, History, Identity, read, write_page};
use crate::{Known, WriteError};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Merges the shards of a campaign into a new or empty folder, and returns their history.
///
/// Rounds of the same number are one. A cause that several shards have found, or that shows the same
/// as one of an earlier shard, is there once. `options` of the shards must be the same, and no shard
/// may be there twice.
///
/// # Errors
/// If a folder has no campaign or one of other options, shards are missing, or the folder is not
/// empty or cannot be written.
pub fn merge(folder: &Path, parts: &[PathBuf], known: &Known) -> Result<History, CampaignError> {
    let logs = parts.iter().map(|part| read(part)).collect::<Result<Vec<_>, _>>()?;
    let identity = identity(&logs, parts)?;
    if folder.exists() && std::fs::read_dir(folder).is_ok_and(|mut all| all.next().is_some()) {
        return Err(CampaignError::NotEmpty(folder.to_owned()));
    }
    let mut merged = Merged::default();
    for (events, part) in logs.into_iter().zip(parts) {
        merged.add(events, part);
    }
    let (mut log, ..) = Log::open(folder, &identity)?;
    for (id, part) in &merged.folders {
        copy(&folder_of(part, id), &folder_of(folder, id))?;
    }
    let events: Vec<Event> = merged.rounds.into_iter().flatten().collect();
    log.append(&events)?;
    let mut all = vec![Event::Campaign(identity.clone())];
    all.extend(events);
    let history = History::of(&all);
    write_page(folder, &identity, &history, known)?;
    Ok(history)
}

/// Returns what the shards are together.
fn identity(logs: &[Vec<Event>], parts: &[PathBuf]) -> Result<Identity, CampaignError> {
    let mut whole: Option<Identity> = None;
    let mut seen = BTreeSet::new();
    for (events, part) in logs.iter().zip(parts) {
        let Some(Event::Campaign(own)) = events.first() else {
            return Err(CampaignError::None(part.clone()));
        };
        let Some(shard) = own.shard else { return Err(CampaignError::NoShard(part.clone())) };
        let other = whole.get_or_insert_with(|| own.clone());
        let alike = Identity { shard: other.shard, ..own.clone() };
        let count = other.shard.map_or(0, |shard| shard.count);
        if alike != *other || count != shard.count {
            let (found, asked) = (own.to_string(), other.to_string());
            return Err(CampaignError::Other { folder: part.clone(), found, asked });
        }
        if !seen.insert(shard.index) {
            return Err(CampaignError::Twice(part.clone(), shard.to_string()));
        }
    }
    let Some(whole) = whole else { return Err(CampaignError::None(PathBuf::from("."))) };
    let count = whole.shard.map_or(0, |shard| shard.count);
    if let Some(missing) = (1..=count).find(|index| !seen.contains(index)) {
        return Err(CampaignError::Missing(format!("{missing}/{count}")));
    }
    Ok(Identity { shard: None, ..whole })
}

/// The events of shards, round by round.
#[derive(Default)]
struct Merged {
    rounds: Vec<Vec<Event>>,
    /// The names of the cases that each round has: every shard runs the probes.
    cases: Vec<BTreeSet<String>>,
    /// The causes of what cases show.
    keys: BTreeMap<String, String>,
    /// The shard that has the folder of a cause.
    folders: BTreeMap<String, PathBuf>,
}

impl Merged {
    /// Adds the events of a shard.
    fn add(&mut self, events: Vec<Event>, part: &Path) {
        let ids = self.ids(&events);
        let renamed = |id: String| ids.get(&id).cloned().unwrap_or(id);
        let mut round = 0;
        for event in events {
            match event {
                Event::Campaign(_) | Event::End { .. } => {}
                Event::Round(own) => {
                    round += 1;
                    if self.rounds.len() < round {
                        self.rounds.push(vec![Event::Round(own)]);
                        self.cases.push(BTreeSet::new());
                    }
                }
                Event::Cause(cause) => {
                    let is_new =
                        !ids.contains_key(&cause.id) && !self.folders.contains_key(&cause.id);
                    if let (true, Some(events)) = (is_new, self.rounds.get_mut(round.max(1) - 1)) {
                        self.folders.insert(cause.id.clone(), part.to_owned());
                        events.push(Event::Cause(cause));
                    }
                }
                Event::Case(mut case) => {
                    case.cause = case.cause.map(renamed);
                    case.case = match case.case.strip_prefix("cause/") {
                        Some(id) => format!("cause/{}", renamed(id.to_owned())),
                        None => case.case,
                    };
                    if let (Some(key), Some(id)) = (&case.key, &case.cause) {
                        self.keys.entry(key.clone()).or_insert_with(|| id.clone());
                    }
                    let number = round.max(1) - 1;
                    if let (Some(events), Some(names)) =
                        (self.rounds.get_mut(number), self.cases.get_mut(number))
                        && names.insert(case.case.clone())
                    {
                        events.push(Event::Case(case));
                    }
                }
            }
        }
        for events in &mut self.rounds {
            let is_end = |event: &Event| matches!(event, Event::End { .. });
            events.retain(|event| !is_end(event));
            events.push(Event::End { complete: true });
        }
    }

    /// Returns the causes of a shard that are one of an earlier shard, with its id: what a case shows
    /// is the same.
    fn ids(&self, events: &[Event]) -> BTreeMap<String, String> {
        let same = |event: &Event| {
            let Event::Case(case) = event else { return None };
            let (id, known) = (case.cause.clone()?, self.keys.get(case.key.as_ref()?)?.clone());
            (id != known && !self.folders.contains_key(&id)).then_some((id, known))
        };
        events.iter().filter_map(same).collect()
    }
}

/// Copies the folder of a cause.
fn copy(from: &Path, to: &Path) -> Result<(), WriteError> {
    let copied = || {
        std::fs::create_dir_all(to)?;
        for entry in std::fs::read_dir(from)? {
            let entry = entry?;
            std::fs::copy(entry.path(), to.join(entry.file_name()))?;
        }
        Ok(())
    };
    copied().map_err(|error| WriteError { path: from.to_owned(), error })
}
