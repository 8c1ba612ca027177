//! `etalon run`: runs modules on one device or several.
use super::{compile_for, custom_calls, load_filled};
use crate::args::{CheckNanArg, RunArgs, SeedArg};
use crate::dump::{self, Dump};
use crate::error::{Exit, Failure, Result};
use crate::file::{self, Existing};
use crate::files::Files;
use crate::inputs::inputs_on;
use crate::limits::Limits;
use crate::not_finite::NotFinite;
use crate::profile::Profile;
use crate::progress::RunProgress;
use crate::queues::Queues;
use crate::ranks::{Devices, Ranks};
use crate::results::{self, DeviceOutput};
use crate::roofline::Roofline;
use crate::trace::Trace;
use crate::{memory, output, progress, queues, result_file};
use collectives::{RunError, RunOutput};
use conformance::{arrays, shell_quoted};
use hlo::diag::{Diagnostic, SourceFile};
use hlo::ir::Computation;
use hlo::op::GroupMode;
use hlo::{Literal, Module, Op};
use interp::{Device, DeviceGrid, Hooks, RunOptions};
use load::Loaded;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The width of `--print` without a terminal.
const WIDTH: usize = 100;

/// The number of orders of `--seed many`, and of the results that it lists.
const ORDERS: u64 = 16;
const LISTED: usize = 20;

/// Runs each module and shows or writes its result.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let ranks = Ranks::join()?;
    let files = Files::of(&args.files);
    let are_several = files.are_several();
    let checked = ranks.agree(check_output_files(args, &files, &ranks));
    let code = checked.and_then(|()| {
        // Neither an error nor a result that depends on the order stops the run of the next module.
        files.each(|path| match one(args, path, are_several, &ranks) {
            Ok(stable) => Ok((!stable).then_some(Exit::Wrong)),
            Err(failure) if are_several => {
                ranks.report(&failure);
                Ok(Some(failure.exit))
            }
            Err(failure) => Err(failure),
        })
    });
    ranks.conclude(code)
}

/// Fails if several modules would write to one file, or a file cannot be written.
fn check_output_files(args: &RunArgs, files: &Files, ranks: &Ranks) -> Result<()> {
    let options = [
        ("--output", args.output.is_some()),
        ("--trace", args.trace.is_some()),
        ("--dump-values", args.dump_values.is_some()),
    ];
    result_file::check_format(args.output.as_deref())?;
    if let Some((option, _)) = options.into_iter().find(|(_, given)| files.are_several() && *given)
    {
        return Err(result_file::single(option));
    }
    let dump = args.dump_values.as_deref().filter(|to| dump::is_file(to));
    let outputs = [args.output.as_deref(), args.trace.as_deref(), dump];
    let outputs: Vec<PathBuf> =
        outputs.into_iter().flatten().map(|path| ranks.path(path)).collect();
    let inputs = files.paths().chain(args.inputs.paths()).chain(args.infeed.as_deref());
    file::check(outputs.iter().map(|path| (path.as_path(), Existing::Replace)), inputs)
}

/// A module with everything that its run needs.
struct Prepared<'r> {
    file: SourceFile,
    devices: Devices<'r>,
    /// The limits of the first run, whose clock has started.
    options: RunOptions,
    inputs: Vec<Vec<Literal>>,
    queues: Queues,
    hooks: Hooks,
    not_finite: NotFinite,
    dump: Option<Dump>,
    trace: Option<Trace>,
    profile: Option<Profile>,
}

fn prepare<'r>(args: &RunArgs, path: &Path, ranks: &'r Ranks) -> Result<Prepared<'r>> {
    let limits = Limits::start(args.spill.apply(args.time.apply(args.limits.options()))?);
    let Loaded { file, module, arguments, .. } =
        load_filled(path, &args.load, &args.inputs, &limits)?;
    let compiling = args.compile.options().limits_of(&limits.options());
    let session = compile_for(&args.devices, compiling, module, file.source(), &limits)?;
    let devices = ranks.devices(session);
    let session = &devices.session;
    for warning in session.warnings() {
        devices.show(warning, file.source());
    }
    let (module, grid, own) = (session.module(), session.grid(), devices.own());
    if limits.options().max_memory.is_none() && limits.options().spill.is_none() {
        memory::warn_if_short(session.planned_bytes().filter(|_| own.len() == grid.len()));
    }
    let inputs = inputs_on(&args.inputs, arguments, module, (grid, own.clone()), &limits)?;
    let queues = Queues::new(args.infeed.as_deref(), module, (grid, own), &limits)?;
    let trace = args.trace.as_deref().map(|path| Trace::create(&devices.path(path)));
    let trace = trace.transpose()?;
    let roofline = args.roofline.and_then(|stated| stated.or_else(Roofline::measured));
    let profile = args.profile.then(|| Profile::of(module, roofline));
    let hooks = custom_calls::hooks(&args.custom_calls, &args.time)?;
    let hooks = hooks.map_err(|e| Failure::run(&e.into(), file.source()))?;
    let not_finite = NotFinite::default();
    let hooks = match args.check_nan {
        Some(CheckNanArg::All) => not_finite.attach(hooks),
        Some(CheckNanArg::First) | None => hooks,
    };
    let dump = args.dump_values.as_deref();
    let existing = file::unnamed(args.force);
    let dump = dump.map(|to| Dump::create(&devices.path(to), args.filter.as_deref(), existing));
    let dump = dump.transpose()?;
    let options = limits.options();
    Ok(Prepared { file, devices, options, inputs, queues, hooks, not_finite, dump, trace, profile })
}

/// Runs a module. Returns false if `--seed many` finds results that depend on the order, or
/// `--check-nan=all` a NaN.
fn one(args: &RunArgs, path: &Path, has_heading: bool, ranks: &Ranks) -> Result<bool> {
    let mut prepared = ranks.agree(prepare(args, path, ranks))?;
    let order = match args.seed {
        Some(SeedArg::One(seed)) => Some(seed),
        Some(SeedArg::Many) | None => None,
    };
    let hooks = observed(&prepared);
    let inputs = match args.seed {
        Some(SeedArg::Many) => prepared.inputs.clone(),
        // Arguments of the only run are donated.
        Some(SeedArg::One(_)) | None => std::mem::take(&mut prepared.inputs),
    };
    let start = Instant::now();
    let mut options = prepared.options.clone();
    options.order = order;
    let output = execute(args, &prepared, (&prepared.queues, inputs), (options, hooks));
    let taken = start.elapsed();
    output::phase(start, || format!("{}: ran", prepared.file.name));
    // The trace and the profile are written also after an error, where they help most.
    let traced = prepared.trace.as_ref().map_or(Ok(()), Trace::finish);
    let dumped = prepared.dump.as_ref().map_or(Ok(()), Dump::finish);
    let not_finite = prepared.not_finite.diagnostics();
    let heading = if has_heading { format!("{}:\n", prepared.file.name) } else { String::new() };
    match &prepared.profile {
        Some(profile) if args.json => output::data(&profile.json(&prepared.file.name))?,
        Some(profile) => output::note(&format!("{heading}{}", profile.table())),
        None => {}
    }
    let RunOutput { results, notes, .. } = output?;
    let source = prepared.file.source();
    for found in &not_finite {
        output::show_one(found, Some(source));
    }
    let devices = &prepared.devices;
    for note in &notes {
        devices.show(&note.diagnostic(), source);
    }
    let first = devices.own().start;
    let each = prepared.queues.with_outfeed(results, first);
    let names = result_file::names(devices.session.module().entry());
    let is_nan = args.check_nan.is_none() && devices.is_hinting() && results::has_nan(&each);
    let (file, is_named) = (prepared.file.name.clone(), args.names);
    let outputs = Outputs { devices, first, each, names, is_named, file, heading };
    let written = outputs.write(args);
    devices.agree(traced.and(dumped).and(written))?;
    if !has_heading {
        devices.hint(&ran(args, path, taken, is_nan));
    }
    let is_stable = match args.seed {
        Some(SeedArg::Many) => is_stable(args, &prepared)?,
        Some(SeedArg::One(_)) | None => true,
    };
    Ok(is_stable && not_finite.is_empty())
}

/// Returns what a person may want to know and do after a run.
fn ran(args: &RunArgs, path: &Path, taken: Duration, is_nan: bool) -> String {
    let (file, ms) = (path.display(), taken.as_secs_f64() * 1e3);
    let arguments = match args.inputs.random {
        Some(seed) => format!(" --random {seed}"),
        None => String::new(),
    };
    if is_nan {
        let arguments = args
            .inputs
            .input
            .iter()
            .fold(arguments, |all, one| format!("{all} --input {}", shell_quoted(one)));
        return format!(
            "ran in {ms:.1} ms; the result has NaN: etalon run {file}{arguments} --check-nan shows where the first one comes from\n"
        );
    }
    format!(
        "ran in {ms:.1} ms; try next: etalon run {file}{arguments} --profile, etalon graph {file}\n"
    )
}

/// Prints the results that depend on the order of devices and values. Returns whether there are
/// none.
fn is_stable(args: &RunArgs, prepared: &Prepared<'_>) -> Result<bool> {
    let devices = &prepared.devices;
    let found = collectives::order_dependence(0..ORDERS, |seed| {
        let (module, grid) = (devices.session.module(), devices.session.grid());
        // The time limit is that of each run.
        let limits = Limits::start(args.spill.apply(args.time.apply(args.limits.options()))?);
        let own = (grid, devices.own());
        let queues = devices.agree(Queues::new(args.infeed.as_deref(), module, own, &limits))?;
        let hooks = prepared.hooks.clone();
        let options_and_hooks = (limits.options().order(seed), move |_| hooks.clone());
        let given = (&queues, prepared.inputs.clone());
        execute(args, prepared, given, options_and_hooks).map(|output| output.results)
    })?;
    let first = devices.own().start;
    let own = found.into_iter().map(|mut dependent| {
        dependent.device += first;
        format!("{dependent}\n")
    });
    let all = devices.gather_text(own.collect())?;
    let found: Vec<&str> = all.split_inclusive('\n').collect();
    let mut lines: Vec<String> = found.iter().take(LISTED).map(ToString::to_string).collect();
    if found.len() > LISTED {
        lines.push(format!("and {} more\n", found.len() - LISTED));
    }
    lines.push(match found.len() {
        0 => format!("{ORDERS} orders: no result depends on the order\n"),
        1 => format!("{ORDERS} orders: 1 result depends on the order\n"),
        n => format!("{ORDERS} orders: {n} results depend on the order\n"),
    });
    devices.agree(devices.print(&lines.concat())).map(|()| found.is_empty())
}

/// Runs a module; returns the results of the devices of this process.
fn execute(
    args: &RunArgs,
    prepared: &Prepared<'_>,
    (queues, inputs): (&Queues, Vec<Vec<Literal>>),
    (options, hooks): (RunOptions, impl Fn(Device) -> Hooks + Send + Sync + 'static),
) -> Result<RunOutput> {
    let Prepared { file, devices, .. } = prepared;
    let session = &devices.session;
    let options = options.check_nan(args.check_nan.is_some()).buffered_sends(args.buffered_sends);
    let (ends, grid) = (queues.ends(), session.grid());
    let shown = RunProgress::start(&file.name, session.executable().verified());
    let progress = shown.hook();
    let hooks = move |device| {
        progress::attach(ends.attach(hooks(device), grid.number(device)), progress.as_ref())
    };
    let failed = |error: &RunError| {
        let mut failure = Failure::run(error, file.source());
        for diagnostic in &mut failure.diagnostics {
            if let Some(option) = devices_option(session.module(), diagnostic) {
                diagnostic.help = Some(format!("run it on more devices: {option}"));
            }
        }
        failure
    };
    devices.run(inputs, &options, hooks, failed)
}

/// The outputs of the devices of this process.
struct Outputs<'p> {
    devices: &'p Devices<'p>,
    /// The number of the device of the first output.
    first: usize,
    each: Vec<DeviceOutput>,
    /// The names of the arrays of the result, and whether `--names` asks for them.
    names: Vec<String>,
    is_named: bool,
    /// The name of the module's file.
    file: String,
    /// The line before the printed outputs; empty for a single module.
    heading: String,
}

impl Outputs<'_> {
    /// Writes the outputs to the file of `--output`, or prints them.
    fn write(self, args: &RunArgs) -> Result<()> {
        // `--print` selects the readable form, also in a pipe.
        let width = output::width().or(args.print.then_some(WIDTH));
        let outputs = [&args.output, &args.trace, &args.dump_values];
        let has_stdout = outputs.into_iter().flatten().any(|path| file::is_stdout(path));
        let is_json = args.json && !args.profile;
        let is_shown = (args.print || args.output.is_none() && !has_stdout) && !args.json;
        // Equal results of different ranks are shown together; stdout takes a single file.
        let is_gathered = args.gather
            || is_json
            || (is_shown && width.is_some())
            || args.output.as_deref().is_some_and(file::is_stdout);
        let own = if is_gathered { self.gathered()? } else { self };
        let written = match &args.output {
            Some(to) if !own.each.is_empty() => {
                result_file::write(&own.devices.path(to), own.named())
            }
            _ => Ok(()),
        };
        if is_json && !own.each.is_empty() {
            own.devices.print(&results::json(&own.file, &own.named()))?;
        }
        if !is_shown {
            return written;
        }
        let names = if own.is_named { own.names.as_slice() } else { &[] };
        let text = match (own.grid_len(), is_gathered, own.each.as_slice()) {
            (2.., false, _) => {
                own.devices.gather_text(results::lines(&own.each, own.first, names))?
            }
            (_, _, []) => return written,
            (1, _, [one]) if !args.print && results::is_long(&own.each) => {
                results::overview(one, &own.names)
            }
            _ => results::text(&own.each, width, names),
        };
        own.devices.print(&(own.heading + &text))?;
        written
    }
    fn grid_len(&self) -> usize {
        self.devices.session.grid().len()
    }
    /// Returns the outputs of all devices, for the one process that writes them; the others have
    /// none.
    fn gathered(self) -> Result<Self> {
        let each = self.devices.gather(self.each)?;
        Ok(Self { first: 0, each, ..self })
    }
    /// Returns results and outfeed values with their names in a file.
    fn named(&self) -> Vec<(String, &Literal)> {
        let values = |kind: &str, value: fn(&DeviceOutput) -> &Literal| {
            let one = |(output, k): (_, usize)| {
                let device = if self.grid_len() == 1 { String::new() } else { format!("d{k}_") };
                arrays::flatten(value(output), &format!("{device}{kind}"))
            };
            self.each.iter().zip(self.first..).flat_map(one).collect::<Vec<_>>()
        };
        let outfeed = values(queues::OUTFEED, |one| &one.outfeed);
        let mut results = values("out", |one| &one.result);
        let names = if self.is_named { self.names.as_slice() } else { &[] };
        for ((name, _), of_result) in results.iter_mut().zip(names.iter().cycle()) {
            let prefix = name.rfind('_').map_or("", |end| &name[..=end]);
            *name = format!("{prefix}{of_result}");
        }
        results.into_iter().chain(outfeed).collect()
    }
}

/// Returns the option for the number of devices that an op needs, if it failed because there is
/// only one.
fn devices_option(module: &Module, error: &Diagnostic) -> Option<String> {
    if DeviceGrid::of(&module.config).len() > 1 || error.code != "E0402" {
        return None;
    }
    let here = |(_, computation): (_, &'_ Computation)| {
        let mut ids = computation.instructions.ids();
        let id = ids.find(|&id| Some(computation.span(id)) == error.span)?;
        device_ids(&computation.instructions[id].op)
    };
    let (mode, count) = module.computations.iter().find_map(here).filter(|&(_, n)| n > 1)?;
    Some(match mode {
        GroupMode::CrossReplica | GroupMode::CrossReplicaAndPartition => {
            format!("--replicas {count}")
        }
        GroupMode::CrossPartition | GroupMode::FlattenedId => format!("--partitions {count}"),
    })
}

/// Returns the meaning of the ids of an op, and the number of ids.
fn device_ids(op: &Op) -> Option<(GroupMode, i64)> {
    if let Some((mode, pairs)) = op.pairs() {
        let last = pairs.iter().map(|&(from, to)| from.max(to)).max()?;
        return Some((mode, last.saturating_add(1)));
    }
    let (mode, groups) = op.groups()?;
    let listed = || groups.expand().into_iter().flatten().max().map(|last| last.saturating_add(1));
    Some((mode, groups.counted().or_else(listed)?))
}

/// Returns the hooks of each device, which record each instruction in the trace, the profile and
/// the dump.
fn observed(prepared: &Prepared<'_>) -> impl Fn(Device) -> Hooks + Send + Sync + use<> + 'static {
    let Prepared { hooks, trace, profile, dump, devices, inputs, .. } = prepared;
    let (hooks, trace, profile, dump) =
        (hooks.clone(), trace.clone(), profile.clone(), dump.clone());
    let grid = devices.session.grid();
    if let Some(dump) = &dump {
        for number in devices.own() {
            let values = if let [all] = inputs.as_slice() { Some(all) } else { inputs.get(number) };
            let device = (grid.len() > 1).then_some(number);
            dump.parameters(devices.session.module(), device, values.map_or(&[], Vec::as_slice));
        }
    }
    let start = Instant::now();
    move |device| {
        let hooks = hooks.clone();
        if trace.is_none() && profile.is_none() && dump.is_none() {
            return hooks;
        }
        let number = grid.number(device);
        if let (Some(trace), 2..) = (&trace, grid.len()) {
            trace.track(number, device);
        }
        let begin = if grid.len() == 1 { Duration::ZERO } else { start.elapsed() };
        let (trace, profile, dump) = (trace.clone(), profile.clone(), dump.clone());
        hooks.observe(move |event| {
            if let Some(dump) = &dump {
                dump.event(event, (grid.len() > 1).then_some(number));
            }
            if let Some(trace) = &trace {
                trace.event(event, number, begin);
            }
            if let Some(profile) = &profile {
                profile.event(event);
            }
        })
    }
}
