//! `etalon fuzz`: runs random modules on a backend and on Etalon.
use super::backend::{about, engine_of, open_with, read_results, show_warnings};
use super::{load, verified};
use crate::args::{FuzzArgs, LoadArgs};
use crate::error::{Exit, Failure, Result};
use crate::limits::Limits;
use crate::{file, interrupt, output};
use conformance::backend::{Backends, LimitedEngine};
use conformance::fuzz::{self, Campaign, Compare, ENOUGH, Event, Finding, Limit};
use conformance::results::Verdict;
use conformance::{CapabilityMap, Engine, generate, on_large_stack, shell_quoted};
use hlo::diag::quantity;
use load::Loaded;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The modules of a campaign that ends with the table of opcodes.
const MANY: u64 = 1000;
/// The modules between two writings of the table.
const KEPT: u64 = 250;

/// The most time for one execution of a variant of a module.
const VARIANT_TIME: Duration = Duration::from_secs(60);

pub(crate) fn fuzz(args: &FuzzArgs) -> Result<ExitCode> {
    let engine = engine_of(&args.backend);
    // `exact` is compared with the reference, and any other backend with the fastest that rounds correctly.
    let is_exact = engine == Some(Engine::Exact);
    let reference =
        limited(if is_exact { Engine::Reference } else { Engine::Exact }, args.like.is_some());
    let is_variant = args.like.is_some();
    let backends = open_with(&args.backend, move |engine| Box::new(limited(engine, is_variant)))?;
    let like = args.like.as_deref().map(like).transpose()?;
    let limit = match (args.minutes, args.count) {
        (Some(time), _) => Limit::Time(time),
        (None, count) => Limit::Modules(count.unwrap_or(100)),
    };
    let generate = generate::Options {
        weights: args.weight.clone(),
        portable: args.portable || engine.is_none(),
        devices: backends.capabilities().devices,
        ops: args.ops.clone(),
        types: args.types.clone(),
        capabilities: Arc::new(capabilities(args.capabilities.as_deref())?),
    };
    let options = fuzz::Options {
        seed: args.seed,
        limit,
        generate,
        like,
        output: args.output.clone(),
        stop: interrupt::stop(),
        compare: match &args.metamorphic {
            Some(twins) => Compare::Twins(twins.rule()),
            None if engine.is_some_and(Engine::rounds_correctly) => Compare::Bits,
            None => Compare::Bounds,
        },
    };
    let backend = [&[String::new()], &*args.backend.words()].concat().join(" ");
    let command = command(args, &backend);
    let progress = progress(limit);
    let mut kept = None;
    let mut observer = |campaign: &Campaign, event: Event<'_>| match event {
        Event::Ran => {
            progress.advance();
            if let Some(folder) = &args.output
                && campaign.modules.is_multiple_of(KEPT)
            {
                keep(campaign, folder, &mut kept);
            }
        }
        Event::Found(finding) => show(finding, &command, &backend),
        Event::Invalid(invalid) => output::note(&format!("{invalid}\n")),
    };
    let campaign = on_large_stack(|| fuzz::fuzz(&backends, reference, &options, &mut observer));
    show_warnings(&backends);
    let campaign = campaign.map_err(|error| Failure::file(&error.path, &error.error))?;
    if let Some(folder) = args.output.as_deref().filter(|_| !campaign.learned.is_empty()) {
        keep(&campaign, folder, &mut kept);
    }
    let code = finish(&campaign, &backends, args.coverage)?;
    let is_stopped = options.stop.load(Ordering::Relaxed);
    Ok(if is_stopped { interrupt::exit_code() } else { code })
}

/// An engine with the limits of a generated module, or those of a variant of a module, which may be large or run without end.
fn limited(engine: Engine, is_variant: bool) -> LimitedEngine {
    let max_memory = if is_variant { 1 << 33 } else { 1 << 30 };
    let fuel = if is_variant { u64::MAX } else { 10_000_000 };
    LimitedEngine { engine, fuel, max_memory, time_limit: is_variant.then_some(VARIANT_TIME) }
}

/// Returns what the results in a file show.
fn capabilities(path: Option<&Path>) -> Result<CapabilityMap> {
    Ok(path.map(read_results).transpose()?.as_ref().map(CapabilityMap::of).unwrap_or_default())
}

fn like(path: &Path) -> Result<Arc<hlo::Verified>> {
    let Loaded { file, module, .. } = load(path, &LoadArgs::default())?;
    verified(module, file.source(), &Limits::none()).map(Arc::new)
}

/// Returns the command that repeats a module, without its seed.
fn command(args: &FuzzArgs, backend: &str) -> String {
    let mut text = format!("etalon fuzz{backend}");
    for (op, weight) in &args.weight {
        let _ = write!(text, " --weight {op}={weight}");
    }
    if let Some(like) = &args.like {
        let _ = write!(text, " --like {}", like.display());
    }
    let mut list = |option: &str, names: Vec<&str>| {
        if !names.is_empty() {
            let _ = write!(text, " {option} {}", names.join(","));
        }
    };
    list("--ops", args.ops.iter().map(|op| op.name()).collect());
    list("--types", args.types.iter().map(|ty| ty.name()).collect());
    if let Some(path) = &args.capabilities {
        let _ = write!(text, " --capabilities {}", path.display());
    }
    text.push_str(if args.portable { " --portable" } else { "" });
    if let Some(twins) = &args.metamorphic {
        let _ = write!(text, " {}", twins.word());
    }
    text
}

/// Prints a finding and the command that repeats it.
fn show(finding: &Finding, command: &str, backend: &str) {
    let Finding { seed, weights, subject, record, file, twin, same, .. } = finding;
    if let Some(first) = same {
        let line = format!("{}: {}, as {first}\n", subject.name, record.verdict.name());
        let _ = output::data(&line);
        return;
    }
    let mut text = format!("{}: {}\n", subject.name, record.reason.trim_end());
    if let Some(file) = file {
        let _ = writeln!(text, "  saved as {}", file.display());
        if let Some(twin) = twin.as_ref().filter(|_| record.verdict == Verdict::Differs) {
            let (rule, file) =
                (shell_quoted(&twin.rule.to_string()), shell_quoted(&file.display().to_string()));
            let _ = writeln!(text, "  reduce: etalon reduce{backend} --metamorphic={rule} {file}");
        }
    }
    let _ = write!(text, "  repeat: {command}");
    for (op, weight) in weights {
        let _ = write!(text, " --weight {op}={weight}");
    }
    let _ = writeln!(text, " --seed {seed} --count 1");
    // A reader that has closed the pipe has read enough.
    let _ = output::data(&text);
}

/// Returns the table of opcodes and the reasons for runs without support.
fn table(campaign: &Campaign) -> String {
    let mut text = campaign.coverage.to_string();
    let rare: Vec<&str> = campaign.coverage.rare().iter().map(|op| op.name()).collect();
    let _ = match rare.as_slice() {
        [] => writeln!(text, "every opcode was executed at least {ENOUGH} times"),
        rare => writeln!(text, "executed fewer than {ENOUGH} times: {}", rare.join(", ")),
    };
    if !campaign.learned.is_empty() {
        let _ = write!(text, "{}", campaign.learned);
    }
    for (reason, count) in &campaign.unsupported {
        let _ = writeln!(text, "{count} unsupported: {reason}");
    }
    text
}

/// Returns the line that ends a campaign.
fn last_line(campaign: &Campaign) -> String {
    let Campaign { modules, tally, time, partial, .. } = campaign;
    let rate = campaign.modules_per_second();
    let without = match partial {
        0 => String::new(),
        _ => format!("; {partial} without instructions that the backend does not support"),
    };
    let seconds = time.as_secs_f64();
    format!(
        "{} in {seconds:.1} s, {rate:.1} a second: {tally}{without}\n",
        quantity(modules, "module")
    )
}

/// Writes the statistics so far, which a campaign that is ended by a signal leaves behind, to a file that is new in the folder,
/// and what the backend was found to have to `capabilities.json` beside it.
fn keep(campaign: &Campaign, folder: &Path, kept: &mut Option<PathBuf>) {
    let text = table(campaign) + &last_line(campaign);
    let numbered = || {
        let others = (2..).map(|number| format!("coverage-{number}.txt"));
        let paths = std::iter::once("coverage.txt".to_owned()).chain(others);
        paths.map(|name| folder.join(name)).find(|path| !path.exists())
    };
    if let Some(path) = kept.take().or_else(numbered) {
        // The folder of findings is made with the first one.
        let made = std::fs::create_dir_all(folder).map_err(|e| Failure::file(folder, &e));
        let written = made.and_then(|()| file::replace(&path, text.as_bytes()));
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.replace("coverage", "capabilities").replace(".txt", ".json");
        let learned = (!campaign.learned.is_empty()).then(|| campaign.learned.results("fuzz"));
        let written = written.and_then(|()| match learned {
            Some(learned) => file::replace(&folder.join(name), learned.to_json().as_bytes()),
            None => Ok(()),
        });
        if let Err(failure) = written {
            output::show(&failure);
        }
        *kept = Some(path);
    }
}

fn finish(campaign: &Campaign, backends: &Backends, coverage: bool) -> Result<ExitCode> {
    let is_long = campaign.modules >= MANY;
    let mut text = if coverage || is_long { table(campaign) } else { String::new() };
    let Campaign { without_variant, findings, invalid, .. } = campaign;
    text.push_str(&about(backends));
    text.push_str(&last_line(campaign));
    if *without_variant > 0 {
        let _ = writeln!(text, "{without_variant} seeds without a valid variant");
    }
    output::data(&text)?;
    if campaign.modules > 0 && campaign.tally.executed() == 0 {
        output::note("warning: no module was executed; `etalon run` tells why for one module\n");
    }
    if *invalid > 0 {
        output::note(&format!("the generator made {invalid} invalid modules\n"));
        return Ok(Exit::Bug.code());
    }
    Ok(if campaign.tally.of(Verdict::EtalonBug) > 0 {
        Exit::Bug.code()
    } else if *findings == 0 {
        ExitCode::SUCCESS
    } else {
        Exit::Wrong.code()
    })
}

/// Shows how many modules ran, and of how many if that is known.
fn progress(limit: Limit) -> output::Progress {
    match limit {
        Limit::Modules(count) => {
            output::Progress::counting("fuzzing", usize::try_from(count).unwrap_or(usize::MAX))
        }
        Limit::Time(_) => output::Progress::counting_up("fuzzing", "modules"),
    }
}
