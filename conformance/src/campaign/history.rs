//! What the log of a campaign says: rounds, causes, and what is new, fixed or flaky.
use super::log::{Case, Cause, Event, Round};
use crate::results::Verdict;
use crate::suite::matches;
use crate::{Known, KnownEntry};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The rounds and causes of a campaign.
#[derive(Debug, Default)]
pub struct History {
    /// The rounds, the oldest first.
    pub rounds: Vec<RoundHistory>,
    /// The causes, by id.
    pub causes: BTreeMap<String, Cause>,
    /// The causes of what cases show before they are reduced.
    pub(super) keys: HashMap<String, String>,
    /// The number of random modules.
    pub(super) modules: u64,
}

/// What ran in a round.
#[derive(Debug)]
pub struct RoundHistory {
    /// When it began, and with which versions.
    pub round: Round,
    /// The verdict on each case.
    pub cases: BTreeMap<String, Verdict>,
    /// The names of the cases of each cause.
    pub causes: BTreeMap<String, BTreeSet<String>>,
    /// The random modules.
    pub(super) modules: u64,
    /// The seconds that it has taken.
    pub(super) seconds: f64,
    /// How it ended; nothing if it goes on, or was killed.
    pub(super) end: Option<End>,
}

/// How the time of a round was up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// In its suite, which the next process goes on with.
    Early,
    /// After its suite: the next process begins another round.
    Complete,
}

/// What became of a cause in the last round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// It occurred for the first time.
    New,
    /// It occurs.
    Open,
    /// It occurs in some runs.
    Flaky,
    /// Its smallest module is right now.
    Fixed,
}

impl Status {
    /// Returns the word of reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Open => "open",
            Self::Flaky => "flaky",
            Self::Fixed => "fixed",
        }
    }
}

/// Returns the name of the case that runs the smallest module of a cause again.
pub(super) fn recheck(id: &str) -> String {
    format!("cause/{id}")
}

impl History {
    /// Reads the events of a log.
    pub fn of(events: &[Event]) -> Self {
        let mut history = Self::default();
        for event in events {
            history.add(event);
        }
        history
    }

    pub(super) fn add(&mut self, event: &Event) {
        match event {
            Event::Campaign(_) => {}
            Event::Round(round) => self.rounds.push(RoundHistory::new(round.clone())),
            Event::Cause(cause) => drop(self.causes.insert(cause.id.clone(), cause.clone())),
            Event::Case(case) => self.add_case(case),
            Event::End { complete } => {
                if let Some(round) = self.rounds.last_mut() {
                    round.end = Some(if *complete { End::Complete } else { End::Early });
                    round.seconds = if *complete { round.seconds } else { 0.0 };
                }
            }
        }
    }

    fn add_case(&mut self, case: &Case) {
        let Some(round) = self.rounds.last_mut() else { return };
        if let Some((key, cause)) = case.key.as_ref().zip(case.cause.as_ref()) {
            self.keys.entry(key.clone()).or_insert_with(|| cause.clone());
        }
        if let Some(cause) = &case.cause {
            round.causes.entry(cause.clone()).or_default().insert(case.case.clone());
        }
        // The last of the arguments of a module.
        if Case::module(&case.case).is_some() && case.case.ends_with("/special") {
            round.modules += 1;
            self.modules += 1;
        }
        (round.seconds, round.end) = (case.at, None);
        round.cases.insert(case.case.clone(), case.verdict);
    }

    /// Returns what became of a cause in a round that is not before its first one.
    pub fn status(&self, id: &str, round: usize) -> Status {
        let seen = |round: &RoundHistory| round.causes.contains_key(id);
        let until = self.rounds.get(..=round).unwrap_or(&self.rounds);
        let rechecks = until.iter().enumerate().rev();
        let mut rechecks =
            rechecks.filter_map(|(at, one)| Some((at, one.cases.get(&recheck(id))?)));
        if self.causes.get(id).is_some_and(|cause| cause.flaky) {
            return Status::Flaky;
        }
        match rechecks.next() {
            // Other cases show it still, or again.
            Some((at, verdict)) if !verdict.is_bad() && until[at..].iter().any(seen) => {
                Status::Flaky
            }
            Some((_, verdict)) if !verdict.is_bad() => Status::Fixed,
            Some(_) | None if until.iter().rev().skip(1).any(seen) => Status::Open,
            Some(_) | None => Status::New,
        }
    }

    /// Returns what became of a cause in the last round.
    pub fn status_now(&self, id: &str) -> Status {
        self.status(id, self.rounds.len().saturating_sub(1))
    }

    /// Returns the causes that a round or an earlier one has seen.
    pub fn causes_until(&self, round: usize) -> impl Iterator<Item = &Cause> {
        let seen = move |id: &str| {
            self.rounds.iter().take(round + 1).any(|one| one.causes.contains_key(id))
        };
        self.causes.values().filter(move |cause| seen(&cause.id))
    }

    /// Returns the names of the cases of a cause in all rounds.
    pub fn cases(&self, id: &str) -> BTreeSet<&str> {
        let all = self.rounds.iter().filter_map(|round| round.causes.get(id)).flatten();
        all.map(String::as_str).collect()
    }

    /// Returns what a list of known findings calls a cause: an entry matches its id, its title, or
    /// the name of one of its cases.
    pub fn known<'k>(&self, known: &'k Known, cause: &Cause) -> Option<&'k str> {
        let own = [cause.id.clone(), cause.title()];
        let rounds =
            || self.rounds.iter().filter_map(|round| Some((round, round.causes.get(&cause.id)?)));
        let covers = |entry: &KnownEntry| {
            own.iter().any(|name| matches(&entry.pattern, name))
                || rounds().any(|(round, names)| {
                    names.iter().any(|name| {
                        round
                            .cases
                            .get(name)
                            .is_some_and(|verdict| entry.covers(verdict.name(), name))
                    })
                })
        };
        known.entries().iter().find(|entry| covers(entry)).map(|entry| entry.cause.as_str())
    }

    /// Returns the entries of a list of known findings that no case of the last round needs,
    /// although cases that they name ran.
    pub fn unneeded<'k>(&self, known: &'k Known) -> Vec<&'k KnownEntry> {
        let Some(round) = self.rounds.last() else { return Vec::new() };
        let unneeded = |entry: &&KnownEntry| {
            let mut named = false;
            for (name, verdict) in &round.cases {
                if matches(&entry.pattern, name) {
                    named = true;
                    if verdict.is_bad() && entry.covers(verdict.name(), name) {
                        return false;
                    }
                }
            }
            named
        };
        known.entries().iter().filter(unneeded).collect()
    }
}

impl RoundHistory {
    fn new(round: Round) -> Self {
        let (cases, causes) = (BTreeMap::new(), BTreeMap::new());
        Self { round, cases, causes, modules: 0, seconds: 0.0, end: None }
    }
    /// Returns the number of cases with each verdict that occurs, from the best to the worst.
    pub fn counts(&self) -> Vec<(Verdict, usize)> {
        let mut counts = BTreeMap::new();
        for verdict in self.cases.values() {
            *counts.entry(*verdict).or_default() += 1;
        }
        counts.into_iter().collect()
    }
}
