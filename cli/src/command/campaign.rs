//! `etalon campaign`: the suite and random modules on a backend, round after round.
use super::backend::{engine_of, open};
use crate::args::{CampaignArgs, SuiteArg};
use crate::error::{Code, Exit, Failure, Result};
use crate::ranks::Ranks;
use crate::{interrupt, output};
use conformance::backend::Backends;
use conformance::campaign::{
    CampaignError, Cause, Extent, Group, History, Identity, Joined, Limit, Options, Progress,
    RankState, Status, merge, next_round, of_rank, read, rerun, run,
};
use conformance::results::Verdict;
use conformance::suite::matches;
use conformance::{Engine, Known, on_large_stack};
use hlo::diag::quantity;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

/// The time of a round that the command line does not limit.
const ROUND: Duration = Duration::from_secs(3600);

pub(crate) fn start(args: &CampaignArgs) -> Result<ExitCode> {
    if args.list {
        let known = known(args)?;
        let history = History::of(&read(&args.folder).map_err(|e| failure(&e))?);
        output::data(&list(&history, &known, args.case.as_deref()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.merge.is_empty() {
        let known = known(args)?;
        let merged = merge(&args.folder, &args.merge, &known).map_err(|e| failure(&e))?;
        output::data(&summary(&merged, &args.folder, &known))?;
        return Ok(exit(&merged, &known).map_or(ExitCode::SUCCESS, Exit::code));
    }
    // Processes that have a shard each, or look at a case, are no ranks.
    if args.shard.is_none() && args.case.is_none() {
        let ranks = Ranks::join()?;
        if ranks.count() > 1 {
            let ended = over_ranks(args, &ranks);
            return ranks.conclude(ended);
        }
    }
    let (backends, options) = prepared(args)?;
    if let Some(pattern) = &args.case {
        let records =
            on_large_stack(|| rerun(&backends, &options, pattern)).map_err(|e| failure(&e))?;
        for record in &records {
            let line = format!("{}: {}", record.name, record.verdict.name());
            let details = record.reason.trim_end();
            output::data(&format!(
                "{}\n",
                format!("{line}: {details}").trim_end_matches([' ', ':'])
            ))?;
        }
        if records.is_empty() {
            output::note("no case has such a name\n");
            return Ok(Exit::Misuse.code());
        }
        let is_bad = records.iter().any(|record| record.verdict.is_bad());
        return Ok(if is_bad { Exit::Wrong.code() } else { ExitCode::SUCCESS });
    }
    let backends = backends.interrupted_by(interrupt::stop());
    let history = round(&backends, &options, &|_| true).map_err(|e| failure(&e))?;
    output::data(&summary(&history, &options.folder, &options.known))?;
    if backends.is_interrupted() {
        output::note("stopped by Ctrl-C: the same command goes on with the round\n");
        return Ok(interrupt::exit_code());
    }
    Ok(exit(&history, &options.known).map_or(ExitCode::SUCCESS, Exit::code))
}

/// Opens the backends, and says what to run on them.
fn prepared(args: &CampaignArgs) -> Result<(Backends, Options)> {
    let engine = engine_of(&args.backend);
    let backends = open(&args.backend)?;
    let options = Options {
        folder: args.folder.clone(),
        identity: identity(args),
        limit: match (args.minutes, args.count) {
            (None, Some(count)) => Limit::Modules(count),
            (minutes, _) => Limit::Time(minutes.unwrap_or(ROUND)),
        },
        round: None,
        // `exact` is compared with the reference, and any other backend with the fastest that rounds correctly.
        engine: if engine == Some(Engine::Exact) { Engine::Reference } else { Engine::Exact },
        bits: engine.is_some_and(Engine::rounds_correctly),
        portable: engine.is_none(),
        known: known(args)?,
    };
    Ok((backends, options))
}

/// Runs a round, of which it prints the causes that are `shown`.
fn round(
    backends: &Backends,
    options: &Options,
    shown: &(dyn Fn(&Cause) -> bool + Sync),
) -> std::result::Result<History, CampaignError> {
    let progress = output::Progress::new("cases");
    let mut noted = BTreeSet::new();
    let mut observer = |event: Progress<'_>| match event {
        Progress::Ran => progress.advance(),
        Progress::Found(cause, _) if !shown(cause) => {}
        Progress::Found(cause, folder) => {
            // A reader that has closed the pipe has read enough.
            let _ = output::data(&format!("{}\n  {}\n", cause.title(), folder.display()));
        }
        Progress::Note(note) => {
            // Many warnings say the same.
            let line = note.lines().next().unwrap_or_default().to_owned();
            if !noted.contains(&line) {
                output::note(&format!("warning: {line}\n"));
                noted.insert(line);
            }
        }
    };
    on_large_stack(|| run(backends, options, &mut observer))
}

/// Runs the round of a campaign whose cases the ranks share: each runs a shard, and rank 0 puts them
/// together. All ranks end with the same exit code.
fn over_ranks(args: &CampaignArgs, ranks: &Ranks) -> Result<ExitCode> {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    let (rank, count) = (number(ranks.number()), number(ranks.count()));
    let prepared = prepared(args).and_then(|(backends, options)| {
        let joined = (rank == 0).then(|| Joined::open(&options, count)).transpose();
        Ok((backends, options, joined.map_err(|e| failure(&e))?))
    });
    let (backends, options, joined) = ranks.agree(prepared)?;
    let own = of_rank(&options, rank, count);
    let state = RankState::of(&own, &backends, joined.as_ref()).map_err(|e| failure(&e));
    let states = ranks.gather(ranks.agree(state)?.to_bytes())?;
    let next = next_round(&states);
    let is_seen = |next| joined.as_ref().map_or(Ok(()), Joined::check).map(|()| next);
    let next = ranks.agree(next.and_then(is_seen).map_err(|e| failure(&e)))?;
    let own = Options { round: Some(next), ..own };
    // All ranks run the probes, and find the same causes.
    let others: Vec<PathBuf> = (0..count)
        .filter(|other| *other != rank)
        .map(|other| of_rank(&options, other, count).folder)
        .collect();
    let shown = |cause: &Cause| !others.iter().any(|other| cause.folder(other).exists());
    if let Err(error) = round(&backends, &own, &shown) {
        // The others may run for hours: the launcher stops them, and the next start goes on.
        ranks.abort(&failure(&error));
    }
    ranks.agree(Ok(()))?;
    let merged = joined.map(|joined| joined.merge(&options)).transpose();
    let merged = ranks.agree(merged.map_err(|e| failure(&e)))?;
    let code = merged.as_ref().and_then(|history| exit(history, &options.known));
    // Rank 0 knows it.
    let codes = ranks.gather(code.map(Exit::number).into_iter().collect())?;
    if let Some(history) = &merged {
        output::data(&summary(history, &options.folder, &options.known))?;
    }
    Ok(codes.concat().first().map_or(ExitCode::SUCCESS, |&code| ExitCode::from(code)))
}

fn identity(args: &CampaignArgs) -> Identity {
    let suite = match args.suite {
        SuiteArg::Probes => Extent::Probes,
        SuiteArg::Smoke => Extent::Smoke,
        SuiteArg::Full => Extent::Full,
    };
    let backend = args.backend.words().join(" ");
    Identity { backend, suite, seed: args.seed, twins: args.twins, shard: args.shard, ranks: None }
}

/// Returns the findings that are known.
fn known(args: &CampaignArgs) -> Result<Known> {
    let Some(path) = args.known.as_deref() else { return Ok(Known::default()) };
    let text = std::fs::read_to_string(path).map_err(|e| Failure::file(path, &e))?;
    Known::parse(&text).map_err(|line| {
        let code = Code::Input { path: path.display().to_string(), message: format!("`{line}`") };
        Failure::new(&code, Some("a line is `VERDICT PATTERN | CAUSE`".to_owned()))
    })
}

fn failure(error: &CampaignError) -> Failure {
    let (path, message) = match error {
        CampaignError::File(error) => return Failure::file(&error.path, &error.error),
        CampaignError::NotEmpty(path) => (path, "the folder is not empty, and has no campaign"),
        CampaignError::Busy(path) => (path, "another process runs this campaign"),
        CampaignError::None(path) => (path, "the folder has no campaign"),
        CampaignError::NoShard(path) => (path, "the campaign is no shard of another"),
        CampaignError::Twice(path, shard) => {
            let message = format!("shard {shard} is given twice");
            return Failure::file(path, &message).with_help("name each shard once");
        }
        CampaignError::Unseen(path) => {
            let message = "rank 0 does not see the folder that another rank writes to";
            let help = "name a folder that all machines share";
            return Failure::file(path, &message).with_help(help);
        }
        CampaignError::Different(rank, found, own) => {
            let message =
                format!("ranks 0 and {rank} run different campaigns:\n  {own}\n  {found}");
            return Failure::new(&Code::Mpi { message }, None);
        }
        CampaignError::Message(_) => {
            return Failure::new(&Code::Mpi { message: error.to_string() }, None);
        }
        CampaignError::Missing(shard) => {
            let message = format!("shard {shard} is missing");
            return Failure::file(Path::new("--merge"), &message).with_help("name all shards");
        }
        CampaignError::Other { folder, found, asked } => {
            let message =
                format!("the folder has another campaign:\n  {found}\n  and not\n  {asked}");
            let help = "name another folder, or the options of that campaign";
            return Failure::file(folder, &message).with_help(help);
        }
    };
    Failure::file(path, &message).with_help("name a folder of its own for each campaign")
}

/// The causes of a history by what became of them.
#[derive(Default)]
struct Counts {
    new: usize,
    open: usize,
    flaky: usize,
    fixed: usize,
    known: usize,
}

impl Counts {
    fn of(history: &History, known: &Known) -> Self {
        let mut counts = Self::default();
        for cause in history.causes.values() {
            let is_known = history.known(known, cause).is_some();
            let count = match history.status_now(&cause.id) {
                Status::Fixed => &mut counts.fixed,
                _ if is_known => &mut counts.known,
                Status::New => &mut counts.new,
                Status::Open => &mut counts.open,
                Status::Flaky => &mut counts.flaky,
            };
            *count += 1;
        }
        counts
    }
    /// Returns the causes that are neither known nor fixed.
    fn unknown(&self) -> usize {
        self.new + self.open + self.flaky
    }
}

/// Returns the totals of the last round, and of the causes.
fn summary(history: &History, folder: &Path, known_list: &Known) -> String {
    let mut text = String::new();
    let Some(round) = history.rounds.last() else { return text };
    let counts = round.counts().into_iter();
    let counts: Vec<String> =
        counts.map(|(verdict, count)| format!("{count} {}", verdict.words())).collect();
    let (number, cases) = (history.rounds.len(), round.cases.len());
    let _ = writeln!(
        text,
        "round {number}: {cases}: {}",
        counts.join(", "),
        cases = quantity(cases, "case")
    );
    let counts = Counts::of(history, known_list);
    let Counts { new, open, flaky, fixed, known } = counts;
    let _ = writeln!(
        text,
        "{} causes in {} groups: {new} new, {open} open, {flaky} flaky, {fixed} fixed, {known} known",
        history.causes.len(),
        history.groups().len()
    );
    for entry in history.unneeded(known_list) {
        let _ = writeln!(
            text,
            "not seen: `{} {} | {}`: remove the line if it is fixed",
            entry.verdict, entry.pattern, entry.cause
        );
    }
    let _ = writeln!(text, "{}", folder.join("index.html").display());
    text
}

/// Returns a line for each cause, or for each case whose name matches.
fn list(history: &History, known: &Known, pattern: Option<&str>) -> String {
    let mut text = String::new();
    let Some(pattern) = pattern else {
        for Group { title, causes } in history.groups() {
            let indent = if causes.len() > 1 { "  " } else { "" };
            if causes.len() > 1 {
                let _ = writeln!(text, "{title}");
            }
            for cause in causes {
                let Cause { id, .. } = cause;
                let (status, count) = (history.status_now(id).name(), history.cases(id).len());
                let known = history.known(known, cause);
                let known = known.map_or(String::new(), |it| format!(" (known: {it})"));
                let title = cause.title();
                let _ =
                    writeln!(text, "{indent}{status:<5} {count:>6} cases  {id}  {title}{known}");
            }
        }
        return text;
    };
    let Some(round) = history.rounds.last() else { return text };
    for (name, verdict) in round.cases.iter().filter(|(name, _)| matches(pattern, name)) {
        let causes = round.causes.iter().filter(|(_, names)| names.contains(name));
        let causes: Vec<&str> = causes.map(|(id, _)| id.as_str()).collect();
        let line = format!("{:<12} {name}  {}", verdict.name(), causes.join(", "));
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// Returns the exit code, if it is not 0: causes that are not known count.
fn exit(history: &History, known: &Known) -> Option<Exit> {
    let is_bug = history
        .rounds
        .last()
        .is_some_and(|round| round.cases.values().any(|verdict| *verdict == Verdict::EtalonBug));
    match Counts::of(history, known).unknown() {
        _ if is_bug => Some(Exit::Bug),
        0 => None,
        _ => Some(Exit::Wrong),
    }
}
