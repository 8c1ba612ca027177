//! Shards of a campaign, put together to what one machine runs.
//!
//! A single process gives each case the cause of the first one that shows the same. So the cases of
//! all shards are taken in the order in which a single process runs them.
use super::bundle::folder_of;
use super::cause::is_searched;
use super::history::recheck;
use super::log::{self, Case, Cause, Round};
use super::{CampaignError, Event, History, Identity, read, suite_cases, write_page};
use crate::suite::SuiteCase;
use crate::{AtomicFile, Existing, Known, WriteError};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// Merges the shards of a campaign into a new or empty folder, and returns their history.
///
/// Rounds of the same number are one. A cause that several shards have found, or that shows the same
/// as one of an earlier case, is there once. `options` of the shards must be the same, and no shard
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
    Ok(write(folder, &identity, (logs, parts), known)?)
}

/// Writes the campaign of shards: a log, the folders of causes, and the page.
pub(super) fn write(
    folder: &Path,
    identity: &Identity,
    (logs, parts): (Vec<Vec<Event>>, &[PathBuf]),
    known: &Known,
) -> Result<History, WriteError> {
    let rounds = rounds(logs, identity);
    let mut merged = Merged::default();
    let mut events = vec![Event::Campaign(identity.clone())];
    for (round, complete) in rounds {
        events.push(Event::Round(round.round));
        let mut cases = HashMap::new();
        for ran in round.cases {
            merged.add(ran, &mut cases, &mut events);
        }
        events.push(Event::End { complete });
    }
    for (id, shard) in &merged.folders {
        copy(&folder_of(&parts[*shard], id), &folder_of(folder, id))?;
    }
    let path = folder.join(log::NAME);
    let failed = |error| WriteError { path: path.clone(), error };
    std::fs::create_dir_all(folder).map_err(failed)?;
    AtomicFile::write(&path, Existing::Replace, log::lines(&events).as_bytes()).map_err(failed)?;
    let history = History::of(&events);
    write_page(folder, identity, &history, known)?;
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

/// A case that a shard ran, with the cause that was new with it.
struct Ran {
    shard: usize,
    case: Case,
    cause: Option<Cause>,
}

/// A round of all shards.
struct Together {
    round: Round,
    cases: Vec<Ran>,
}

/// Returns the cases of each round in the order of a single process, and whether all shards have
/// completed it.
fn rounds(logs: Vec<Vec<Event>>, identity: &Identity) -> Vec<(Together, bool)> {
    let count = logs.len();
    let mut rounds: Vec<(Together, usize)> = Vec::new();
    for (shard, events) in logs.into_iter().enumerate() {
        // The rounds of this shard, and its causes whose case has not come.
        let (mut own, mut causes) = (0, BTreeMap::new());
        for event in events {
            match event {
                Event::Campaign(_) => {}
                Event::Round(round) => {
                    own += 1;
                    if rounds.len() < own {
                        rounds.push((Together { round, cases: Vec::new() }, 0));
                    }
                }
                Event::Cause(cause) => drop(causes.insert(cause.id.clone(), cause)),
                Event::Case(case) => {
                    let cause = case.cause.as_ref().and_then(|id| causes.remove(id));
                    if let Some((round, _)) = rounds.get_mut(own.max(1) - 1) {
                        round.cases.push(Ran { shard, case, cause });
                    }
                }
                Event::End { complete } => {
                    if let Some((_, ended)) = rounds.get_mut(own.max(1) - 1) {
                        *ended += usize::from(complete);
                    }
                }
            }
        }
    }
    let cases = suite_cases(&Identity { shard: None, ..identity.clone() });
    let suite: HashMap<&str, u64> = cases.iter().map(SuiteCase::name).zip(0..).collect();
    let place = |ran: &Ran| {
        let name = ran.case.case.as_str();
        match Case::module(name) {
            _ if name.starts_with("cause/") => (0, 0),
            Some((_, seed)) => (2, seed.wrapping_sub(identity.seed)),
            None => (1, suite.get(name).copied().unwrap_or(u64::MAX)),
        }
    };
    for (round, _) in &mut rounds {
        round.cases.sort_by_key(place);
    }
    rounds.into_iter().map(|(round, ended)| (round, ended == count)).collect()
}

/// What is known of the causes of the shards.
#[derive(Default)]
struct Merged {
    /// The causes of what cases show.
    keys: HashMap<String, String>,
    /// What a cause of a shard is called here, by the first of its cases.
    names: HashMap<(usize, String), String>,
    /// What it is called for a module, whose arguments may show the same.
    of_modules: HashMap<(String, String), String>,
    /// The causes of the shards.
    causes: HashMap<(usize, String), Cause>,
    /// The shard that has the folder of a cause.
    folders: BTreeMap<String, usize>,
}

impl Merged {
    /// Adds a case; `cases` are those of the round with their causes.
    fn add(
        &mut self,
        ran: Ran,
        cases: &mut HashMap<String, Option<String>>,
        events: &mut Vec<Event>,
    ) {
        let Ran { shard, mut case, cause } = ran;
        if let Some(cause) = cause {
            self.causes.insert((shard, cause.id.clone()), cause);
        }
        if let Some(id) = case.case.strip_prefix("cause/") {
            case.case = recheck(&self.name(shard, id));
        }
        let own = case.cause.take();
        let known = cases.get(&case.case).cloned();
        case.cause = match &known {
            // Every shard runs the probes.
            Some(id) => id.clone(),
            None => own.as_ref().map(|own| self.cause(shard, own, &case)),
        };
        if let (Some(own), Some(id)) = (own, &case.cause) {
            let module = case.case.rsplit_once('/').map_or("", |(module, _)| module);
            self.of_modules.insert((module.to_owned(), own.clone()), id.clone());
            self.names.entry((shard, own)).or_insert_with(|| id.clone());
            if let Some(key) = &case.key {
                self.keys.entry(key.clone()).or_insert_with(|| id.clone());
            }
            if let Some(cause) = self.causes.get(&(shard, id.clone()))
                && !self.folders.contains_key(id)
            {
                self.folders.insert(id.clone(), shard);
                events.push(Event::Cause(cause.clone()));
            }
        }
        if known.is_none() {
            cases.insert(case.case.clone(), case.cause.clone());
            events.push(Event::Case(case));
        }
    }

    /// Returns what a cause of a shard is called here.
    fn name(&self, shard: usize, id: &str) -> String {
        self.names.get(&(shard, id.to_owned())).map_or(id, String::as_str).to_owned()
    }

    /// Returns the cause of a case, as a single process would name it.
    fn cause(&self, shard: usize, own: &str, case: &Case) -> String {
        if let Some(id) = case.key.as_ref().and_then(|key| self.keys.get(key)) {
            return id.clone();
        }
        let module = case.case.rsplit_once('/').map_or("", |(module, _)| module);
        if let Some(id) = self.of_modules.get(&(module.to_owned(), own.to_owned()))
            && case.key.is_none()
            && Case::module(&case.case).is_some()
        {
            return id.clone();
        }
        // It has the cause of an earlier case, or a smallest module of its own.
        let is_earlier = !is_searched(case.verdict) || module == "cause";
        if is_earlier { self.name(shard, own) } else { own.to_owned() }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::About;
    use crate::results::Verdict;

    fn cause(id: &str) -> Event {
        let (kind, form) = ("different numbers".to_owned(), id.to_owned());
        let (op, ty) = Default::default();
        Event::Cause(Cause { id: id.to_owned(), kind, form, op, ty, twin: None, flaky: false })
    }
    fn case(name: &str, cause: Option<&str>, key: Option<&str>) -> Event {
        let verdict = if cause.is_some() { Verdict::Differs } else { Verdict::Agrees };
        let [cause, key] = [cause, key].map(|text| text.map(str::to_owned));
        Event::Case(Case { case: name.to_owned(), verdict, at: 0.0, cause, key })
    }
    fn round() -> Event {
        let (backend, etalon) = ("b".to_owned(), "1".to_owned());
        Event::Round(Round { time: 7, backend, about: About::default(), etalon })
    }
    /// Returns what the merged log of two shards says, a line for each event.
    fn merged(shards: &[Vec<Event>; 2]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let parts = ["a", "b"].map(|name| folder.path().join(name));
        for (part, events) in parts.iter().zip(shards) {
            for event in events {
                if let Event::Cause(cause) = event {
                    std::fs::create_dir_all(folder_of(part, &cause.id)).unwrap();
                    std::fs::write(folder_of(part, &cause.id).join("report.md"), "text").unwrap();
                }
            }
        }
        let target = folder.path().join("all");
        let identity =
            Identity { seed: 10, suite: super::super::Extent::Probes, ..Identity::default() };
        let history =
            write(&target, &identity, (shards.to_vec(), &parts), &Known::default()).unwrap();
        for id in history.causes.keys() {
            assert!(folder_of(&target, id).join("report.md").exists(), "{id}");
        }
        let shown = |event: Event| match event {
            Event::Cause(cause) => format!("new {}", cause.id),
            Event::Case(case) => format!("{} {}", case.case, case.cause.unwrap_or_default()),
            Event::End { complete } => format!("end {complete}"),
            Event::Campaign(_) | Event::Round(_) => "-".to_owned(),
        };
        read(&target).unwrap().into_iter().skip(2).map(shown).collect()
    }

    #[test]
    fn causes_are_those_of_the_first_case_of_a_single_process() {
        let end = || Event::End { complete: true };
        let second = vec![
            round(),
            cause("probe"),
            case("tanh/f32/a", Some("probe"), Some("k")),
            cause("b"),
            case("fuzz/11/benign", Some("b"), Some("x")),
            case("fuzz/11/special", Some("b"), None),
            // Its smallest module has the name.
            case("fuzz/13/benign", Some("b"), None),
            end(),
        ];
        let first = vec![
            round(),
            cause("probe"),
            case("tanh/f32/a", Some("probe"), Some("k")),
            case("fuzz/10/benign", None, None),
            cause("a"),
            case("fuzz/12/benign", Some("a"), Some("x")),
            case("fuzz/12/special", Some("a"), None),
            case("fuzz/14/benign", Some("a"), None),
            end(),
        ];
        let expected = [
            "new probe",
            "tanh/f32/a probe",
            "fuzz/10/benign ",
            "new b",
            "fuzz/11/benign b",
            "fuzz/11/special b",
            "fuzz/12/benign b",
            "fuzz/12/special b",
            "fuzz/13/benign b",
            "new a",
            "fuzz/14/benign a",
            "end true",
        ];
        assert_eq!(merged(&[first.clone(), second.clone()]), expected);
        assert_eq!(merged(&[second.clone(), first.clone()]), expected);
        // A shard that was killed.
        let rest = expected.iter().filter(|line| !line.contains("13") && !line.contains("end"));
        let rest: Vec<&str> = rest.copied().chain(["end false"]).collect();
        let second = second[..second.len() - 2].to_vec();
        assert_eq!(merged(&[second, first]), rest);
    }
}
