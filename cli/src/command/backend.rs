//! `etalon conform --backend`: compares a backend with an engine of Etalon, module by module.
use super::custom_calls::declarations;
use super::reports::{Reports, write_graph};
use super::test::{failed, unreadable};
use super::{load_filled, verified};
use crate::args::{BackendArgs, ConformArgs, SuiteArg, Twins};
use crate::error::{Code, Exit, Failure, Result};
use crate::limits::Limits;
use crate::{inputs, interrupt, output};
use conformance::backend::{
    Backend, BackendError, Backends, CommandBackend, EngineBackend, JudgedBackend, LimitedEngine,
    PlantedBackend, Plugin, PluginOptions, ServerBackend, ServerOptions, VariantBackend, serve,
};
use conformance::judge::Accuracies;
use conformance::results::{Changes, Record, Results, ResultsError, Shard, Verdict};
use conformance::suite::{Extent, Selection, Suite, SuiteCase};
use conformance::{
    CapabilityMap, Case, Engine, Entry, FileTest, ParseError, Report, Subject, metamorphic,
    shell_quoted,
};
use hlo::Opcode;
use hlo::diag::SourceFile;
use interp::DeviceGrid;
use load::Loaded;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Something that has arguments, or gets them from the command line.
enum Item {
    Suite(SuiteCase),
    Entry(Entry),
    Case(Case),
    Module(PathBuf),
    /// Not a file test.
    Unreadable(Report),
}

pub(crate) fn conform(args: &ConformArgs) -> Result<ExitCode> {
    if let [before, after] = args.compare.as_slice() {
        return compare(before, after);
    }
    let reports = Reports::open(args)?;
    if !args.merge.is_empty() {
        return merge(args, reports);
    }
    let mut items = Vec::new();
    for path in &args.paths {
        items.extend(find(path, args)?);
    }
    if let Some(size) = args.suite {
        let cases = suite(size, args.case.as_deref(), args.shard)?;
        items.extend(cases.into_cases().into_iter().map(Item::Suite));
    }
    if args.list {
        return list(items, args);
    }
    if args.graph.is_some() && items.len() != 1 {
        let message = format!("a page shows one module; found {}", items.len());
        let code = Code::Input { path: "--graph".to_owned(), message };
        let help = "name one module, or a file with one case".to_owned();
        return Err(Failure { exit: Exit::Misuse, ..Failure::new(&code, Some(help)) });
    }
    let limits = limited(args.engine.into(), args);
    let backends =
        open_with(&args.backend, move |engine| Box::new(LimitedEngine { engine, ..limits }))?;
    let (stop, count) = (interrupt::stop(), items.len());
    let mut results = conformance::on_large_stack(|| {
        compare_items(items, args, &backends, limits, &reports, &stop)
    })?;
    if !stop.load(Ordering::Relaxed) {
        return finish(&results, reports);
    }
    let compared = results.records().count();
    let warning = format!("stopped by Ctrl-C after {compared} of {count} cases");
    output::note(&format!("warning: {warning}\n"));
    results.warnings.push(warning);
    finish(&results, reports.of_part())?;
    Ok(interrupt::exit_code())
}

/// `--list`: prints the names of the cases, and why some cannot run.
fn list(items: Vec<Item>, args: &ConformArgs) -> Result<ExitCode> {
    let alone = items.len() == 1;
    for item in items {
        match subject(item, args, alone)? {
            Ok(subject) => output::data(&format!("{}\n", subject.name))?,
            Err(Some(report)) => print(&(*report).into(), true, false)?,
            Err(None) => {}
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares the backends with the reference on each item; prints those that are not good.
fn compare_items(
    items: Vec<Item>,
    args: &ConformArgs,
    backends: &Backends,
    reference: LimitedEngine,
    reports: &Reports,
    stop: &AtomicBool,
) -> Result<Results> {
    let has_stdout = reports.has_stdout();
    let progress = output::Progress::counting("comparing", items.len());
    let mut results = Results::of(backends);
    results.shards.extend(args.shard);
    let (alone, probes) = (items.len() == 1, args.suite == Some(SuiteArg::Probes));
    let twins = args.metamorphic.as_ref().map(Twins::rule);
    let declared = args.custom_calls.as_deref().map(declarations).transpose()?.unwrap_or_default();
    let mut queue = backends.queue(AHEAD, move |backend, loaded: LoadedItem| {
        loaded.map(|subject| {
            let record = match (&twins, declared.subject(&subject)) {
                (Some(rule), _) => metamorphic::check(&subject, rule.as_ref(), backend).0,
                (None, Ok(meaning)) => {
                    conformance::conform_as(&subject, &meaning, &mut { reference }, backend)
                }
                (None, Err(reason)) => {
                    Record { reason, ..Record::new(&subject.name, Verdict::NoReference) }
                }
            };
            (subject, record)
        })
    });
    let mut items = items.into_iter();
    loop {
        while !stop.load(Ordering::Relaxed)
            && queue.has_room()
            && let Some(item) = items.next()
        {
            queue.push(subject(item, args, alone)?);
        }
        let Some(ran) = queue.pop() else { break };
        progress.advance();
        let record = match ran {
            Ok((subject, mut record)) => {
                if let Some(reproduction) = &mut record.reproduction {
                    reproduction.command = command_line(args, &subject);
                }
                if let Some(target) = &reports.graph {
                    write_graph(target, &subject, &record, backends.name())?;
                }
                if record.verdict == Verdict::EtalonBug {
                    report(&subject, &record)?;
                }
                if let Some(folder) = args.output.as_deref().filter(|_| record.verdict.is_bad()) {
                    save(&subject, &record, folder)?;
                }
                record
            }
            Err(Some(report)) => (*report).into(),
            Err(None) => continue,
        };
        results.warnings.extend(show_warnings(backends));
        // What is missing is shown together.
        if !(probes && record.verdict == Verdict::Unsupported) {
            // Why there is no twin is not to be guessed.
            let no_twin = args.metamorphic.is_some() && record.verdict == Verdict::Skipped;
            print(&record, args.verbose || no_twin, has_stdout)?;
        }
        results.push(record);
    }
    drop(progress);
    if probes {
        line(CapabilityMap::of(&results).to_string().trim_end(), has_stdout)?;
    }
    Ok(results)
}

/// The most missing shards that a warning names.
const MISSING: usize = 8;

/// The cases that each backend may have before an earlier one is reported.
const AHEAD: usize = 4;

/// Shows the warnings of backends, and returns them.
pub(super) fn show_warnings(backends: &Backends) -> Vec<String> {
    let warnings = backends.take_warnings();
    for warning in &warnings {
        output::note(&format!("warning: {warning}\n"));
    }
    warnings
}

/// Returns the line of a report that says what the backend is; none if only its name is known.
pub(super) fn about(backends: &Backends) -> String {
    match backends.about() {
        about if about.is_empty() => String::new(),
        about => format!("{}: {about}\n", backends.name()),
    }
}

/// Returns the engine with the limits of the command line.
fn limited(engine: Engine, args: &ConformArgs) -> LimitedEngine {
    let fuel = args.limits.fuel.unwrap_or(u64::MAX);
    let max_memory = args.limits.max_memory.unwrap_or(usize::MAX);
    LimitedEngine { engine, fuel, max_memory, time_limit: args.backend.time_limit }
}

/// Returns the engine of Etalon that is the backend, if it is one.
pub(super) fn engine_of(args: &BackendArgs) -> Option<Engine> {
    let name = args.backend.as_deref()?;
    Engine::ALL.into_iter().find(|engine| engine.name() == name)
}

/// Returns the op that `planted:OP` names: an opcode, or the shortest one that begins so.
fn planted(name: &str) -> Result<Opcode> {
    let plain = name.replace('_', "-");
    let longer = || {
        let longer = Opcode::ALL.iter().filter(|op| op.name().starts_with(&plain));
        longer.min_by_key(|op| op.name().len()).copied().filter(|_| !plain.is_empty())
    };
    Opcode::from_name(&plain).or_else(longer).ok_or_else(|| {
        let help = match hlo::diag::nearest(&plain, Opcode::ALL.iter().map(|op| op.name())) {
            Some(opcode) => format!("did you mean `planted:{opcode}`?"),
            None => "`etalon explain opcodes` lists the opcodes".to_owned(),
        };
        Failure::new(&Code::UnknownPlanted { name: name.to_owned() }, Some(help))
    })
}

/// Returns the seed that `variant:SEED` names.
fn variant(seed: &str) -> Result<u64> {
    seed.parse().map_err(|_| {
        let message = format!("`{seed}` is not a seed");
        let code = Code::Input { path: "--backend".to_owned(), message };
        let help = "a seed is a number: `variant:1`".to_owned();
        Failure { exit: Exit::Misuse, ..Failure::new(&code, Some(help)) }
    })
}

/// Returns the selected cases of the suite.
pub(super) fn suite(
    extent: SuiteArg,
    pattern: Option<&str>,
    shard: Option<Shard>,
) -> Result<Suite> {
    let extent = Extent::from(extent);
    let selection = Selection { extent, pattern: pattern.map(str::to_owned), shard };
    Suite::load(&selection).map_err(|error| {
        let code = Code::Input { path: "--case".to_owned(), message: error.to_string() };
        let help = "`*` stands for any characters: `dot/f32/*`";
        Failure { exit: Exit::Misuse, ..Failure::new(&code, Some(help.to_owned())) }
    })
}

/// Returns the command that runs a case again.
fn command_line(args: &ConformArgs, subject: &Subject) -> String {
    let mut words = vec!["etalon".to_owned(), "conform".to_owned()];
    words.extend(args.backend.words());
    words.extend(args.metamorphic.as_ref().map(Twins::word));
    let mut add =
        |option: &str, value: &str| words.extend([option.to_owned(), shell_quoted(value)]);
    if let Some(path) = &args.custom_calls {
        add("--custom-calls", &path.display().to_string());
    }
    if let Some(number) = args.load.module {
        add("--module", &number.to_string());
    }
    if let Some(function) = &args.load.function {
        add("--function", function);
    }
    if let Some(steps) = args.limits.fuel {
        add("--fuel", &steps.to_string());
    }
    if let Some(bytes) = args.limits.max_memory {
        add("--max-memory", &bytes.to_string());
    }
    if let Some(seed) = args.inputs.random {
        add("--random", &seed.to_string());
    }
    for input in &args.inputs.input {
        add("--input", input);
    }
    if args.suite.is_some() && subject.file.is_empty() {
        words.extend(["--suite full --case".to_owned(), shell_quoted(&subject.name)]);
    } else {
        words.push(shell_quoted(&subject.file));
    }
    words.join(" ")
}

/// Prints the record of a case, unless it is good.
fn print(record: &Record, all: bool, has_stdout: bool) -> Result<()> {
    let line = |text: &str| line(text, has_stdout);
    let shown = record.verdict.is_bad()
        || matches!(record.verdict, Verdict::Unsupported | Verdict::Undefined | Verdict::NotTested)
        || all;
    match (shown, record.reason.trim_end()) {
        (false, _) => Ok(()),
        (true, "") => line(&format!("{}: {}", record.name, record.verdict.name())),
        (true, reason) => line(&format!("{}: {}: {reason}\n", record.name, record.verdict.name())),
    }
}

fn line(text: &str, has_stdout: bool) -> Result<()> {
    output::report(&format!("{text}\n"), has_stdout)
}

/// Saves what shows a bug of Etalon, for its makers.
fn report(subject: &Subject, record: &Record) -> Result<()> {
    let saved = subject.save(Path::new("."), "etalon-bug", &record.reason, &[]);
    let path = saved.map_err(|error| Failure::file(&error.path, &error.error))?;
    let path = path.display();
    output::note(&format!(
        "Etalon's own result is wrong, or its bound: please report the file {path}\n"
    ));
    Ok(())
}

/// Writes a case that is not good to a new file of a folder.
fn save(subject: &Subject, record: &Record, folder: &Path) -> Result<()> {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = subject.name.trim_start_matches(['.', '/']).chars().map(plain).collect();
    let saved = subject.save(folder, &name.replace(".hlo", ""), &record.reason, &[]);
    let path = saved.map_err(|error| Failure::file(&error.path, &error.error))?;
    output::status(&format!("saved in {}\n", path.display()));
    Ok(())
}

/// Prints the totals, and writes the reports.
fn finish(results: &Results, reports: Reports) -> Result<ExitCode> {
    line(&results.to_string(), reports.has_stdout())?;
    reports.write(results)?;
    let count = |verdict| results.records().filter(|record| record.verdict == verdict).count();
    Ok(if count(Verdict::EtalonBug) > 0 {
        Exit::Bug.code()
    } else if results.is_bad() {
        Exit::Wrong.code()
    } else if results.records().next().is_none() {
        output::note("no cases found: modules and tests are .hlo files\n");
        // A part of few cases may be empty.
        if results.shards.is_empty() { Exit::Misuse.code() } else { ExitCode::SUCCESS }
    } else if count(Verdict::Unsupported) > 0 {
        Exit::Unsupported.code()
    } else {
        ExitCode::SUCCESS
    })
}

/// `--compare`: prints what changed between two runs.
fn compare(before: &Path, after: &Path) -> Result<ExitCode> {
    let changes = Changes::between(&read_results(before)?, &read_results(after)?);
    line(changes.to_string().trim_end(), false)?;
    Ok(if changes.worse.is_empty() { ExitCode::SUCCESS } else { Exit::Wrong.code() })
}

/// `--merge`: merges the results of the parts of a run.
fn merge(args: &ConformArgs, reports: Reports) -> Result<ExitCode> {
    let mut files = args.merge.iter();
    let mut merged = files.next().map(|path| read_results(path)).transpose()?.unwrap_or_default();
    for path in files {
        merged.merge(read_results(path)?).map_err(|e| wrong_results(path, &e))?;
    }
    let missing = merged.complete();
    if let Some(first) = missing.first() {
        let shown: Vec<String> = missing.iter().take(MISSING).map(ToString::to_string).collect();
        let more = if missing.len() > MISSING { ", ..." } else { "" };
        let (shown, count) = (shown.join(", "), missing.len());
        let all = first.count;
        let are = if count == 1 { "is" } else { "are" };
        output::note(&format!("warning: {count} of {all} shards {are} missing: {shown}{more}\n"));
    }
    finish(&merged, reports)
}

pub(super) fn read_results(path: &Path) -> Result<Results> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::file(path, &e))?;
    Results::from_json(&text).map_err(|e| wrong_results(path, &e))
}

fn wrong_results(path: &Path, error: &ResultsError) -> Failure {
    let path = path.display().to_string();
    Failure::new(&Code::Input { path, message: error.to_string() }, None)
}

/// `etalon pjrt-host`: runs a plugin for a parent process.
pub(crate) fn host() -> Result<ExitCode> {
    serve().map_err(|e| Failure::file(Path::new("<stdin>"), &e))?;
    Ok(ExitCode::SUCCESS)
}

/// Starts the backends of the command line.
pub(super) fn open(args: &BackendArgs) -> Result<Backends> {
    open_with(args, |engine| Box::new(EngineBackend(engine)))
}

/// Starts the backends of the command line, with engines of Etalon as `own` makes them.
pub(super) fn open_with(
    args: &BackendArgs,
    own: impl Fn(Engine) -> Box<dyn Backend> + Send + Sync + 'static,
) -> Result<Backends> {
    let (first, args) = (start_judged(args, &own)?, args.clone());
    Ok(Backends::new(first, args.jobs, move || {
        start_judged(&args, &own).map_err(|failure| {
            let messages = failure.diagnostics.iter().map(|one| one.message.as_str());
            format!("a backend is missing: {}", messages.collect::<Vec<_>>().join("; "))
        })
    }))
}

/// Starts a backend. It is judged as the command line says.
fn start_judged(
    args: &BackendArgs,
    own: &dyn Fn(Engine) -> Box<dyn Backend>,
) -> Result<Box<dyn Backend>> {
    let backend = start(args, own)?;
    let mut options = args.judging(backend.judging());
    if let Some(path) = &args.judgement.accuracies {
        options.accuracies = accuracies(path)?;
    }
    Ok(if options == backend.judging() {
        backend
    } else {
        Box::new(JudgedBackend::new(backend, options))
    })
}

/// Reads the accuracies that a file states.
pub(super) fn accuracies(path: &Path) -> Result<Accuracies> {
    let text = std::fs::read_to_string(path).map_err(|e| Failure::file(path, &e))?;
    let table = serde_json::from_str(&text).map_err(|e| e.to_string());
    table.and_then(|table| Accuracies::parse(&table)).map_err(|message| {
        let path = path.display().to_string();
        let help = r#"a table of ops, and of ops and types: {"tanh": 4, "exponential.f16": 2}"#;
        Failure::new(&Code::Input { path, message }, Some(help.to_owned()))
    })
}

fn start(args: &BackendArgs, own: &dyn Fn(Engine) -> Box<dyn Backend>) -> Result<Box<dyn Backend>> {
    if let Some(command) = &args.backend_command {
        let backend =
            CommandBackend::new(command, args.time_limit_or_default()).map_err(|e| misuse(&e))?;
        return Ok(Box::new(backend));
    }
    if let Some(command) = &args.backend_server {
        let limit = args.time_limit_or_default();
        let options = ServerOptions { time_limit: limit, start_limit: limit };
        return Ok(Box::new(ServerBackend::start(command, options).map_err(|e| misuse(&e))?));
    }
    if let Some(engine) = engine_of(args) {
        return Ok(own(engine));
    }
    let name = args.backend.as_deref().unwrap_or_default();
    if let Some(op) = name.strip_prefix("planted:") {
        return Ok(Box::new(PlantedBackend::new(planted(op)?, own(Engine::Exact))));
    }
    if let Some(seed) = name.strip_prefix("variant:") {
        return Ok(Box::new(VariantBackend::new(variant(seed)?, own(Engine::Exact))));
    }
    let path = Path::new(name);
    // Without a folder, the loader would search the system's folders.
    let path = path.canonicalize().map_err(|e| {
        let (path, message) = (path.display().to_string(), e.to_string());
        let engines = Engine::ALL.map(Engine::name);
        let help = match hlo::diag::nearest(name, engines) {
            Some(engine) => format!("did you mean `{engine}`?"),
            None => format!(
                "a backend is an engine ({}), `planted:OP`, `variant:SEED`, or the file of a PJRT plugin; --backend-command and --backend-server take a command",
                engines.join(", ")
            ),
        };
        Failure::new(&load::Code::File { path, message }, Some(help))
    })?;
    let host = crate::host::command("pjrt-host");
    let options = PluginOptions {
        client: args.option.clone(),
        xla: args.xla_option.clone(),
        format: args.format.into(),
        time_limit: args.time_limit_or_default(),
        start_limit: args.time_limit_or_default(),
        ..PluginOptions::default()
    };
    let types = "NAME:TYPE=VALUE states the type of an option: int, ints, bool, float or text";
    let has_options = !options.client.is_empty();
    let plugin = Plugin::isolated(&path, host, options);
    let plugin = plugin.map_err(|e| misuse(&if has_options { e.with_help(types) } else { e }))?;
    Ok(Box::new(plugin))
}

pub(super) fn misuse(error: &BackendError) -> Failure {
    Failure { diagnostics: vec![error.diagnostic()], source: None, exit: Exit::Misuse }
}

/// Finds what to compare at or below `path`. Arguments on the command line are for modules, whatever is beside them.
fn find(path: &Path, args: &ConformArgs) -> Result<Vec<Item>> {
    let has_arguments = args.inputs.random.is_some() || !args.inputs.input.is_empty();
    if path.as_os_str() == "-" {
        return Ok(vec![Item::Module(path.to_owned())]);
    }
    let (entries, others) = conformance::find(path).map_err(|e| Failure::file(path, &e))?;
    for entry in entries.iter().filter(|entry| !has_arguments && has_own_arguments(&entry.module)) {
        let (module, arrays) = (entry.module.display(), entry.arrays.display());
        output::note(&format!("{module}: the arguments are those of {arrays}, not its `// in:`\n"));
    }
    if has_arguments {
        let modules = entries.into_iter().map(|entry| entry.module).chain(others);
        return Ok(modules.map(Item::Module).collect());
    }
    let mut items: Vec<Item> = entries.into_iter().map(Item::Entry).collect();
    for other in others {
        match FileTest::read(&other) {
            Ok(test) if !test.has_expectations() && !test.has_arguments() => {
                items.push(Item::Module(other));
            }
            Ok(test) => items.extend(test.cases.into_iter().map(Item::Case)),
            Err(ParseError::Format(path, _)) => items.push(Item::Module(path)),
            Err(error) => items.push(Item::Unreadable(unreadable(&other, &error))),
        }
    }
    Ok(items)
}

/// Returns whether a text has arguments as comments.
fn has_own_arguments(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.contains("\n// in") && FileTest::read(path).is_ok_and(|test| test.has_arguments())
}

/// A module with its arguments, or why there is none: a report, or nothing if the case is not for this run.
type LoadedItem = std::result::Result<Subject, Option<Box<Report>>>;

/// Loads an item. A case that expects errors, or that another shard has, is not for this run. An error of one module ends the
/// command only if it is the only one.
fn subject(item: Item, args: &ConformArgs, alone: bool) -> Result<LoadedItem> {
    let loaded = match item {
        Item::Suite(case) => case.subject().map_err(|message| {
            Some(Box::new(failed(
                Path::new(case.name()),
                Failure::new(&Code::BadTest { message }, None),
            )))
        }),
        Item::Entry(entry) => entry.subject().map_err(Some),
        Item::Case(case) => match case.subject() {
            Ok(subject) => subject.ok_or(None),
            Err(report) => Err(Some(report)),
        },
        Item::Module(path) => match module(&path, args) {
            Err(failure) if !alone => Err(Some(Box::new(failed(&path, failure)))),
            module => Ok(module?),
        },
        Item::Unreadable(report) => Err(Some(Box::new(report))),
    };
    let is_of_shard = |subject: &Subject| args.shard.is_none_or(|shard| shard.has(&subject.name));
    Ok(loaded.and_then(|subject| if is_of_shard(&subject) { Ok(subject) } else { Err(None) }))
}

/// Loads a module, with the arguments of the command line.
fn module(path: &Path, args: &ConformArgs) -> Result<Subject> {
    let limits = Limits::start(args.backend.limit_time(args.limits.options()));
    let Loaded { file, module, arguments: own, .. } =
        load_filled(path, &args.load, &args.inputs, &limits)?;
    let verified = verified(module, file.source(), &limits)?;
    let grid = DeviceGrid::of(&verified.module().config);
    let arguments = inputs::inputs(&args.inputs, own, verified.module(), grid, &limits)?;
    let SourceFile { name, text } = file;
    Ok(Subject { file: name.clone(), name, text, module: Arc::new(verified), arguments })
}
