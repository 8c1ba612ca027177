//! Campaigns: the suite and random modules on a backend, round after round, with findings grouped
//! by cause.
//!
//! ```text
//! round: causes that are known ─> probes, suite ─> random modules of what the backend has ─> time is up
//!                  └───────────────────┴──────────┬────────────┘
//!        finding ─> symptom ─ known? ─ no ─> reduce ─> cause ─> folder
//!                                └── yes ───────────────┴────> log
//! ```
//!
//! Each result is in the log before the next one is looked at, so that a process that is killed, or
//! whose backends are interrupted, loses what was running. The same call goes on with the round. A
//! campaign is a function of its
//! [`Identity`] and of the backend: a module is that of its seed, whatever ran before it. So the
//! shards of a campaign, which may be those of ranks, give together what a single one gives.
//!
//! `docs/campaign.md` explains the folder.
mod bundle;
mod cause;
mod contents;
mod groups;
mod history;
mod log;
mod merge;
mod options;
mod page;
mod pair;
mod ranks;

pub use groups::Group;
pub use history::{History, RoundHistory, Status};
pub use log::{Case, Cause, Event, Round, read};
pub use merge::merge;
pub use options::{CampaignError, Extent, Identity, Limit, Options, TWINS};
pub use ranks::{Joined, RankState, next_round, of_rank};

use crate::backend::{Backend, Backends};
use crate::fuzz::{self, AHEAD, Compare, Seed};
use crate::metamorphic::{self, TwinRule};
use crate::results::Record;
use crate::suite::{Selection, Suite, SuiteCase, matches};
use crate::{AtomicFile, CapabilityMap, Existing, FileTest, Known, Subject, WriteError};
use bundle::Context;
use cause::{Finding, Search, Symptom};
use contents::{Contents, capabilities};
use history::{End, recheck};
use log::Log;
use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// What an observer is told of.
#[derive(Debug)]
pub enum Progress<'a> {
    /// A case, or a module with its three sets of arguments, ran.
    Ran,
    /// A cause was found; its folder is written.
    Found(&'a Cause, &'a Path),
    /// Something else that the user should know.
    Note(String),
}

/// Runs a round of a campaign, or the rest of one, and returns the history of the campaign.
///
/// # Errors
/// If the folder has something else, or cannot be written.
pub fn run(
    backends: &Backends,
    options: &Options,
    observer: &mut dyn FnMut(Progress<'_>),
) -> Result<History, CampaignError> {
    let (log, events, damaged) = Log::open(&options.folder, &options.identity)?;
    if damaged > 0 {
        observer(Progress::Note(format!("{damaged} lines of the log cannot be read")));
    }
    let history = History::of(&events);
    let start = Instant::now();
    let mut campaign = Campaign { backends, options, observer, log, history, start, before: 0.0 };
    if !campaign.begin()? {
        return Ok(campaign.history);
    }
    campaign.recheck()?;
    let capabilities = campaign.suite()?;
    campaign.modules(capabilities)?;
    campaign.end()?;
    Ok(campaign.history)
}

/// Writes `index.html` anew from the log of a folder.
fn write_page(
    folder: &Path,
    identity: &Identity,
    history: &History,
    known: &Known,
) -> Result<(), WriteError> {
    let path = folder.join("index.html");
    let page = page::page(identity, history, known);
    let written = AtomicFile::write(&path, Existing::Replace, page.as_bytes());
    written.map_err(|error| WriteError { path, error })
}

/// A round that runs.
struct Campaign<'a> {
    backends: &'a Backends,
    options: &'a Options,
    observer: &'a mut (dyn FnMut(Progress<'_>) + 'a),
    log: Log,
    history: History,
    start: Instant,
    /// The seconds of the round in other processes.
    before: f64,
}

/// The most time of a reduction, if the round has so much left.
const REDUCTION: Duration = Duration::from_secs(300);

impl Campaign<'_> {
    /// Goes on with the last round, or begins a new one if that is over or had another version of
    /// the backend. Returns whether there is anything to run.
    fn begin(&mut self) -> Result<bool, WriteError> {
        let (round, wanted) = (Round::now(self.backends), self.options.round);
        if let Some(last) = self.history.rounds.last() {
            let is_over = last.end == Some(End::Complete);
            let has_begun = wanted.map(|number| self.history.rounds.len() >= number);
            if is_over && has_begun == Some(true) {
                return Ok(false);
            }
            if !is_over && has_begun != Some(false) && last.round.is_like(&round) {
                self.before = last.seconds;
                return Ok(true);
            }
        }
        // A shard may lack rounds that others have begun.
        let missing = wanted.unwrap_or(0).saturating_sub(self.history.rounds.len()).max(1);
        self.add(&vec![Event::Round(round); missing])?;
        Ok(true)
    }

    /// Appends events to the log.
    fn add(&mut self, events: &[Event]) -> Result<(), WriteError> {
        self.log.append(events)?;
        for event in events {
            self.history.add(event);
        }
        Ok(())
    }

    fn round(&self) -> &RoundHistory {
        self.history.rounds.last().expect("a round has begun")
    }

    fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }

    /// Returns the time that is left.
    fn left(&self) -> Duration {
        if self.backends.is_interrupted() {
            return Duration::ZERO;
        }
        match self.options.limit {
            Limit::Modules(_) => Duration::MAX,
            Limit::Time(time) => time.saturating_sub(Duration::from_secs_f64(self.seconds())),
        }
    }

    /// Runs the smallest module of each cause of earlier rounds again.
    fn recheck(&mut self) -> Result<(), WriteError> {
        let round = self.history.rounds.len() - 1;
        let known: Vec<Cause> = match round {
            0 => Vec::new(),
            _ => self.history.causes_until(round - 1).cloned().collect(),
        };
        for cause in known {
            let case = recheck(&cause.id);
            if self.round().cases.contains_key(&case) || self.left().is_zero() {
                continue;
            }
            let Some(finding) = again(self.backends, self.options, &cause) else {
                (self.observer)(Progress::Note(format!(
                    "the module of {} cannot be read",
                    cause.id
                )));
                continue;
            };
            self.finish(vec![(finding, Some(cause))])?;
        }
        Ok(())
    }

    /// Runs the cases of the suite. Returns what the probes show.
    fn suite(&mut self) -> Result<CapabilityMap, WriteError> {
        let cases = suite_cases(&self.options.identity);
        let mut cases = cases.into_iter();
        let mut queue = self.backends.queue(AHEAD, |backend: &mut dyn Backend, case: SuiteCase| {
            let record = case.run(backend);
            (case, record)
        });
        loop {
            while queue.has_room()
                && !self.left().is_zero()
                && let Some(case) = cases.next()
            {
                if !self.round().cases.contains_key(case.name()) {
                    queue.push(case);
                }
            }
            let Some((case, record)) = queue.pop() else { break };
            // The tests make all cases.
            let Ok(subject) = case.subject() else { continue };
            self.finish(vec![(Finding { subject, record, twin: None }, None)])?;
        }
        let map = capabilities(self.round(), self.backends.name());
        let path = self.options.folder.join("capabilities.json");
        let text = map.results(self.backends.name()).to_json();
        let written = AtomicFile::write(&path, Existing::Replace, text.as_bytes());
        written.map_err(|error| WriteError { path, error })?;
        Ok(map)
    }

    /// Runs random modules until the round is over.
    fn modules(&mut self, capabilities: CapabilityMap) -> Result<(), WriteError> {
        let Options { identity, engine, bits, limit, .. } = self.options;
        let contents = Contents::new(self.backends, self.options, capabilities);
        let most = match limit {
            Limit::Time(_) => u64::MAX,
            Limit::Modules(count) => *count,
        };
        let (index, count) =
            identity.shard.map_or((0, 1), |one| (u64::from(one.index) - 1, u64::from(one.count)));
        // Modules of all shards together are those of a single run.
        let most = most / count + u64::from(index < most % count);
        let most = most.saturating_sub(self.round().modules);
        let first = self.history.modules;
        let mut k = first;
        let mut queue = fuzz::queue(self.backends, cause::limited(*engine), None);
        let mut seeds = std::collections::VecDeque::new();
        loop {
            while queue.has_room() && k - first < most && !self.left().is_zero() {
                let number = k.wrapping_mul(count).wrapping_add(index);
                let seed = identity.seed.wrapping_add(number);
                let compare = identity.compare(number, *bits);
                let kind = if matches!(compare, Compare::Twins(_)) { "twin" } else { "fuzz" };
                queue.push(Seed::new(seed, &contents.of(number), compare));
                seeds.push_back(format!("{kind}/{seed}"));
                k += 1;
            }
            let (Some(ran), Some(module)) = (queue.pop(), seeds.pop_front()) else { break };
            let ran = match ran {
                Ok(Some((_, outcomes))) => outcomes.ran,
                Ok(None) => continue,
                Err(invalid) => {
                    (self.observer)(Progress::Note(invalid.to_string()));
                    continue;
                }
            };
            let found = ran.into_iter().map(|ran| {
                let name = format!("{module}/{}", ran.regime.name());
                let subject = Subject { name: name.clone(), ..ran.subject };
                let (record, twin) =
                    (Record { name, ..ran.record }, ran.twin.map(|twin| twin.rule));
                (Finding { subject, record, twin }, None)
            });
            let found = found.collect();
            self.finish(found)?;
        }
        Ok(())
    }

    /// Finds the causes of what ran, if they are not given, and adds the cases to the log.
    fn finish(&mut self, ran: Vec<(Finding, Option<Cause>)>) -> Result<(), WriteError> {
        let (mut events, mut earlier): (Vec<Event>, Vec<(String, String)>) = Default::default();
        for (mut finding, given) in ran {
            if finding.record.verdict.is_bad() {
                finding = pair::of_one(finding, &self.search());
            }
            let Record { name, verdict, .. } = finding.record.clone();
            let (mut cause, mut key) = (None, None);
            if verdict.is_bad() {
                let kind = cause::kind(&finding.record);
                // Other arguments of a module that shows the same.
                let same =
                    earlier.iter().find(|(other, _)| *other == kind).map(|(_, id)| id.clone());
                let given = given.filter(|cause| cause.kind == kind).map(|cause| cause.id);
                let id = match given.or(same) {
                    Some(id) => id,
                    None => {
                        let symptom = Symptom::of(&finding, &self.search());
                        key.clone_from(&symptom.key);
                        let Some(id) = self.cause(&finding, symptom, &mut events)? else {
                            return Ok(());
                        };
                        id
                    }
                };
                earlier.push((kind, id.clone()));
                cause = Some(id);
            }
            let at = self.seconds();
            events.push(Event::Case(Case { case: name, verdict, at, cause, key }));
        }
        if self.backends.is_interrupted() {
            // A search that was cut short may name another cause.
            return Ok(());
        }
        self.add(&events)?;
        for warning in self.backends.take_warnings() {
            (self.observer)(Progress::Note(warning));
        }
        (self.observer)(Progress::Ran);
        Ok(())
    }

    /// Returns the id of the cause of a finding. A new cause gets a folder, and an event; nothing if
    /// the search for it was interrupted.
    fn cause(
        &mut self,
        finding: &Finding,
        symptom: Symptom,
        events: &mut Vec<Event>,
    ) -> Result<Option<String>, WriteError> {
        if let Some(id) = symptom.key.as_ref().and_then(|key| self.history.keys.get(key)) {
            return Ok(Some(id.clone()));
        }
        let similar = self.history.causes.values().find(|cause| cause::explains(cause, finding));
        if let Some(cause) = similar {
            return Ok(Some(cause.id.clone()));
        }
        let key = symptom.key.clone();
        let evidence = cause::evidence(finding, symptom, &self.search());
        if self.backends.is_interrupted() {
            return Ok(None);
        }
        let id = evidence.cause.id.clone();
        if !self.history.causes.contains_key(&id) {
            let context = Context {
                folder: &self.options.folder,
                identity: &self.options.identity,
                round: &self.round().round,
            };
            let folder = bundle::write(&evidence, finding, &context)?;
            let event = Event::Cause(evidence.cause);
            self.history.add(&event);
            if let Event::Cause(cause) = &event {
                (self.observer)(Progress::Found(cause, &folder));
            }
            events.push(event);
        }
        if let Some(key) = key {
            self.history.keys.insert(key, id.clone());
        }
        Ok(Some(id))
    }

    fn search(&self) -> Search<'_> {
        let Options { engine, bits, .. } = *self.options;
        let time = self.left().clamp(Duration::from_secs(10), REDUCTION);
        Search { backends: self.backends, engine, bits, time }
    }

    /// Ends the round, unless it was interrupted, and writes the page.
    fn end(&mut self) -> Result<(), WriteError> {
        if !self.backends.is_interrupted() {
            let complete = !self.left().is_zero() || self.round().modules > 0;
            self.add(&[Event::End { complete }])?;
        }
        let Options { folder, identity, known, .. } = self.options;
        write_page(folder, identity, &self.history, known)
    }
}

/// Returns the cases of the suite, in the order in which they run: first the probes, which say what
/// random modules may have, and which every shard runs.
fn suite_cases(identity: &Identity) -> Vec<SuiteCase> {
    let Identity { suite: extent, shard, .. } = *identity;
    let load = |selection| Suite::load(&selection).map_or_else(|_| Vec::new(), Suite::into_cases);
    let probes = load(Selection::probes());
    let names: BTreeSet<String> = probes.iter().map(|case| case.name().to_owned()).collect();
    let others = match extent {
        Extent::Probes => Vec::new(),
        Extent::Smoke => load(Selection { shard, ..Selection::smoke() }),
        Extent::Full => load(Selection { shard, ..Selection::full() }),
    };
    let others = others.into_iter().filter(|case| !names.contains(case.name()));
    probes.into_iter().chain(others).collect()
}

/// Runs cases of a campaign again whose names match a pattern, without the log.
///
/// # Errors
/// If the folder has no campaign.
pub fn rerun(
    backends: &Backends,
    options: &Options,
    pattern: &str,
) -> Result<Vec<Record>, CampaignError> {
    let history = History::of(&read(&options.folder)?);
    let names = history.rounds.iter().flat_map(|round| round.cases.keys());
    let names: BTreeSet<&String> = names.filter(|name| matches(pattern, name)).collect();
    let map = history.rounds.last().map(|round| capabilities(round, backends.name()));
    let contents = Contents::new(backends, options, map.unwrap_or_default());
    let run = |name: &String| match name.split('/').collect::<Vec<_>>().as_slice() {
        ["cause", id] => {
            again(backends, options, history.causes.get(*id)?).map(|finding| finding.record)
        }
        ["fuzz" | "twin", seed, regime] => {
            let seed: u64 = seed.parse().ok()?;
            let number = seed.wrapping_sub(options.identity.seed);
            let compare = options.identity.compare(number, options.bits);
            let mut queue = fuzz::queue(backends, cause::limited(options.engine), None);
            queue.push(Seed::new(seed, &contents.of(number), compare));
            let (_, outcomes) = queue.pop()?.ok()??;
            let ran = outcomes.ran.into_iter().find(|ran| ran.regime.name() == *regime)?;
            Some(Record { name: name.clone(), ..ran.record })
        }
        _ => {
            let selection = Selection { pattern: Some(name.clone()), ..Selection::full() };
            let case = Suite::load(&selection).ok()?.into_cases().into_iter().next()?;
            Some(backends.run(move |backend| case.run(backend)))
        }
    };
    Ok(names.into_iter().filter_map(run).collect())
}

/// Runs the smallest module of a cause again; nothing if its file cannot be read.
fn again(backends: &Backends, options: &Options, cause: &Cause) -> Option<Finding> {
    let test = FileTest::read(&bundle::module(&options.folder, &cause.id)).ok()?;
    let subject = test.cases.first()?.subject().ok()??;
    let (subject, engine) = (Subject { name: recheck(&cause.id), ..subject }, options.engine);
    let twin: Option<TwinRule> = cause.twin.as_ref().map(|rule| rule.parse()).transpose().ok()?;
    Some(backends.run(move |backend| {
        let record = match &twin {
            Some(_) => metamorphic::check(&subject, twin.as_ref(), backend).0,
            None => crate::conform(&subject, &mut cause::limited(engine), backend),
        };
        Finding { subject, record, twin }
    }))
}
