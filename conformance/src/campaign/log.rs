//! The log of a campaign: a line of JSON for each event, appended as it comes.
//!
//! A campaign that is killed loses the cases that were running. A last line that is torn is cut off.
use super::{CampaignError, Identity};
use crate::WriteError;
use crate::backend::{About, Backends};
use crate::results::Verdict;
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The name of the log in the folder of a campaign.
pub(super) const NAME: &str = "log.jsonl";

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The first line: what the campaign tests.
    Campaign(Identity),
    /// A round begins: the causes that are known, the suite, random modules.
    Round(Round),
    /// A cause occurred for the first time.
    Cause(Cause),
    /// A case ran.
    Case(Case),
    /// The time of a round is up.
    End {
        /// Whether its suite is complete, so that the next round follows.
        complete: bool,
    },
}

/// A round of a campaign, such as that of a night.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Seconds since 1970.
    pub time: u64,
    /// The name of the backend.
    pub backend: String,
    /// Its versions and options.
    #[serde(default, skip_serializing_if = "About::is_empty")]
    pub about: About,
    /// The version of Etalon.
    pub etalon: String,
}

impl Round {
    /// Returns a round that begins now.
    pub(super) fn now(backends: &Backends) -> Self {
        Self {
            time: now(),
            backend: backends.name().to_owned(),
            about: backends.about().clone(),
            etalon: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
    /// Returns whether another round has the same versions.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        Self { time: other.time, ..self.clone() } == *other
    }
}

/// A cause of findings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cause {
    /// The name of its folder in `causes`.
    pub id: String,
    /// The kind of the difference, such as `different numbers`, or how the process died.
    pub kind: String,
    /// The smallest module as an expression, such as `cosine.f32(_)`.
    pub form: String,
    /// The opcode of the guilty instruction.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub op: String,
    /// Its element type.
    #[serde(default, skip_serializing_if = "String::is_empty", rename = "type")]
    pub ty: String,
    /// The rule of the twin of the smallest module, if the backend was compared with itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub twin: Option<String>,
    /// Whether it did not show again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flaky: bool,
}

impl Cause {
    /// Returns the line that reports show.
    pub fn title(&self) -> String {
        let flaky = if self.flaky { "not in each run: " } else { "" };
        if self.form.is_empty() {
            return format!("{flaky}{}", self.kind);
        }
        format!("{flaky}{}: {}", self.kind, self.form)
    }
    /// Returns the folder of the cause in that of a campaign.
    pub fn folder(&self, campaign: &Path) -> PathBuf {
        super::bundle::folder_of(campaign, &self.id)
    }
}

/// A case that ran.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Its name: that of a case of the suite, `fuzz/SEED/ARGUMENTS`, `twin/SEED/ARGUMENTS` of a module
    /// that is compared with its twin, or `cause/ID`.
    pub case: String,
    /// Its verdict.
    pub verdict: Verdict,
    /// The seconds since the start of the round, without the time between two processes.
    pub at: f64,
    /// The id of the cause, if the case is not good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
    /// What the case shows before it is reduced: later cases that show the same have the cause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl Case {
    /// Returns the name of a random module, with the seed, if the case is one.
    pub(super) fn module(name: &str) -> Option<(&str, u64)> {
        let (module, _) = name.rsplit_once('/')?;
        let (_, seed) =
            module.split_once('/').filter(|(kind, _)| ["fuzz", "twin"].contains(kind))?;
        Some((module, seed.parse().ok()?))
    }
}

/// The log, which this process alone writes.
#[derive(Debug)]
pub(super) struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Opens the log of a folder, or begins it if the folder is empty. Returns its events, and the
    /// number of lines that cannot be read.
    pub(super) fn open(
        folder: &Path,
        identity: &Identity,
    ) -> Result<(Self, Vec<Event>, usize), CampaignError> {
        let path = folder.join(NAME);
        let failed = |error| WriteError { path: path.clone(), error };
        std::fs::create_dir_all(folder).map_err(failed)?;
        if !path.exists() && std::fs::read_dir(folder).map_err(failed)?.next().is_some() {
            return Err(CampaignError::NotEmpty(folder.to_owned()));
        }
        let mut options = OpenOptions::new();
        let mut file = options.read(true).append(true).create(true).open(&path).map_err(failed)?;
        if let Err(error) = file.try_lock() {
            return Err(match error {
                std::fs::TryLockError::WouldBlock => CampaignError::Busy(folder.to_owned()),
                std::fs::TryLockError::Error(error) => failed(error).into(),
            });
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        if whole < bytes.len() {
            file.set_len(u64::try_from(whole).unwrap_or(u64::MAX)).map_err(failed)?;
            file.seek(SeekFrom::End(0)).map_err(failed)?;
        }
        let (events, damaged) = parse(&bytes[..whole]);
        let mut log = Self { path, file };
        match events.first() {
            None if whole == 0 => log.append(&[Event::Campaign(identity.clone())])?,
            Some(Event::Campaign(found)) => found.check(identity, folder)?,
            None | Some(_) => return Err(CampaignError::NotEmpty(folder.to_owned())),
        }
        Ok((log, events, damaged))
    }

    /// Appends events, all or none of which are read again.
    pub(super) fn append(&mut self, events: &[Event]) -> Result<(), WriteError> {
        let written = self.file.write_all(lines(events).as_bytes());
        written.map_err(|error| WriteError { path: self.path.clone(), error })
    }
}

/// Returns the lines of events.
pub(super) fn lines(events: &[Event]) -> String {
    let line = |event| serde_json::to_string(event).unwrap_or_default() + "\n";
    events.iter().map(line).collect()
}

/// Reads the log of a folder, which another process may be writing.
///
/// # Errors
/// If the folder has no log, or that of something else.
pub fn read(folder: &Path) -> Result<Vec<Event>, CampaignError> {
    let path = folder.join(NAME);
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(CampaignError::None(folder.to_owned()));
        }
        Err(error) => return Err(WriteError { path, error }.into()),
    };
    let (events, _) = parse(&bytes);
    match events.first() {
        Some(Event::Campaign(_)) => Ok(events),
        Some(_) | None => Err(CampaignError::None(folder.to_owned())),
    }
}

/// Returns the events of a log, and the number of other lines.
fn parse(bytes: &[u8]) -> (Vec<Event>, usize) {
    let lines = bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let read: Vec<Option<Event>> = lines.map(|line| serde_json::from_slice(line).ok()).collect();
    let damaged = read.iter().filter(|event| event.is_none()).count();
    (read.into_iter().flatten().collect(), damaged)
}

/// Returns the seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity() -> Identity {
        Identity { backend: "--backend exact".to_owned(), ..Identity::default() }
    }
    fn case(name: &str) -> Event {
        let (case, cause, key) = (name.to_owned(), None, None);
        Event::Case(Case { case, verdict: Verdict::Agrees, at: 0.5, cause, key })
    }

    #[test]
    fn a_torn_line_is_cut_off_and_a_damaged_one_left() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Log::open(folder.path(), &identity()).unwrap();
        let (mut log, events, _) = open();
        assert_eq!(events, []);
        log.append(&[case("a"), case("b")]).unwrap();
        drop(log);
        let path = folder.path().join(NAME);
        let whole = std::fs::read_to_string(&path).unwrap();
        std::fs::write(&path, format!("{whole}{{\"event\":\"ca")).unwrap();
        let (mut log, events, damaged) = open();
        assert_eq!(events, [Event::Campaign(identity()), case("a"), case("b")]);
        assert_eq!(damaged, 0);
        log.append(&[case("c")]).unwrap();
        drop(log);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with(&whole) && text.lines().count() == 4, "{text}");
        std::fs::write(&path, text.replacen("\"a\"", "\"a", 1)).unwrap();
        let (_log, events, damaged) = open();
        assert_eq!((events.len(), damaged), (3, 1));
        assert_eq!(read(folder.path()).unwrap(), events);
    }

    #[test]
    fn folders_of_something_else_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = |folder: &Path, identity: &Identity| {
            Log::open(folder, identity).unwrap_err().to_string()
        };
        let (log, ..) = Log::open(&folder.path().join("new/one"), &identity()).unwrap();
        assert!(error(&folder.path().join("new/one"), &identity()).contains("another process"));
        drop(log);
        let other = Identity { seed: 7, ..identity() };
        let message = error(&folder.path().join("new/one"), &other);
        assert!(message.contains("--seed 0") && message.contains("--seed 7"), "{message}");
        assert!(error(folder.path(), &identity()).contains("not empty"));
        std::fs::write(folder.path().join(NAME), "mine\n").unwrap();
        assert!(error(folder.path(), &identity()).contains("not empty"));
        assert_eq!(std::fs::read(folder.path().join(NAME)).unwrap(), b"mine\n");
        assert!(read(&folder.path().join("new")).is_err());
    }
}
