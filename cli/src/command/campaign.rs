//! `etalon campaign`: the suite and random modules on a backend, round after round.
use super::backend::{engine_of, open};
use crate::args::{CampaignArgs, SuiteArg};
use crate::error::{Code, Exit, Failure, Result};
use crate::output;
use conformance::campaign::{
    CampaignError, Cause, Extent, Group, History, Identity, Limit, Options, Progress, Status,
    merge, read, rerun, run,
};
use conformance::results::Verdict;
use conformance::suite::matches;
use conformance::{Engine, Known, on_large_stack};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// The time of a round that the command line does not limit.
const ROUND: Duration = Duration::from_secs(3600);

pub(crate) fn start(args: &CampaignArgs) -> Result<ExitCode> {
    let known = args.known.as_deref().map(known).transpose()?.unwrap_or_default();
    if args.list {
        let history = History::of(&read(&args.folder).map_err(|e| failure(&e))?);
        output::data(&list(&history, &known, args.case.as_deref()))?;
        return Ok(ExitCode::SUCCESS);
    }
    if !args.merge.is_empty() {
        let merged = merge(&args.folder, &args.merge, &known).map_err(|e| failure(&e))?;
        output::data(&summary(&merged, &args.folder, &known))?;
        return Ok(exit(&merged, &known));
    }
    let engine = engine_of(&args.backend);
    let backends = open(&args.backend)?;
    let options = Options {
        folder: args.folder.clone(),
        identity: identity(args),
        limit: match (args.minutes, args.count) {
            (None, Some(count)) => Limit::Modules(count),
            (minutes, _) => Limit::Time(minutes.unwrap_or(ROUND)),
        },
        // `exact` is compared with the reference, and any other backend with the fastest that rounds correctly.
        engine: if engine == Some(Engine::Exact) { Engine::Reference } else { Engine::Exact },
        bits: engine.is_some_and(Engine::rounds_correctly),
        portable: engine.is_none(),
        known,
    };
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
    let progress = output::Progress::new("cases");
    let mut noted = BTreeSet::new();
    let mut observer = |event: Progress<'_>| match event {
        Progress::Ran => progress.advance(),
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
    let history = on_large_stack(|| run(&backends, &options, &mut observer));
    let history = history.map_err(|e| failure(&e))?;
    drop(progress);
    output::data(&summary(&history, &options.folder, &options.known))?;
    Ok(exit(&history, &options.known))
}

fn identity(args: &CampaignArgs) -> Identity {
    let suite = match args.suite {
        SuiteArg::Probes => Extent::Probes,
        SuiteArg::Smoke => Extent::Smoke,
        SuiteArg::Full => Extent::Full,
    };
    let backend = args.backend.words().join(" ");
    Identity { backend, suite, seed: args.seed, shard: args.shard }
}

fn known(path: &Path) -> Result<Known> {
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
    let _ = writeln!(text, "round {number}: {cases} cases: {}", counts.join(", "));
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

/// Returns the exit code: causes that are not known count.
fn exit(history: &History, known: &Known) -> ExitCode {
    let is_bug = history
        .rounds
        .last()
        .is_some_and(|round| round.cases.values().any(|verdict| *verdict == Verdict::EtalonBug));
    match Counts::of(history, known).unknown() {
        _ if is_bug => Exit::Bug.code(),
        0 => ExitCode::SUCCESS,
        _ => Exit::Wrong.code(),
    }
}
