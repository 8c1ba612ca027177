//! `etalon run`: runs modules on one device or several.
use super::{Loaded, compile_for, custom_calls, load_filled};
use crate::args::{RunArgs, SeedArg};
use crate::error::{Code, Exit, Failure, Result};
use crate::inputs::inputs_on;
use crate::peers::Peers;
use crate::profile::Profile;
use crate::queues::Queues;
use crate::results::{self, DeviceOutput};
use crate::trace::Trace;
use crate::{file, output, queues};
use collectives::{RunOutput, Session};
use conformance::arrays;
use hlo::diag::{Diagnostic, Source};
use hlo::ir::Computation;
use hlo::literal::npz;
use hlo::op::GroupMode;
use hlo::{Literal, Module, Op};
use interp::{Device, DeviceGrid, Hooks};
use std::io::{BufWriter, Cursor};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// The width of `--print` without a terminal.
const WIDTH: usize = 100;

/// The number of orders of `--seed many`, and of the results that it lists.
const ORDERS: u64 = 16;
const LISTED: usize = 20;

/// Runs each module and shows or writes its result.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let peers = Peers::join()?;
    let stable = peers.common(check_output_files(args)).and_then(|()| {
        let each = args.files.iter().map(|path| one(args, path, &peers));
        // A result that depends on the order does not stop the run of the next module.
        Ok(each.collect::<Result<Vec<bool>>>()?.into_iter().all(|stable| stable))
    });
    peers.conclude(stable.map(|stable| if stable { ExitCode::SUCCESS } else { Exit::Wrong.code() }))
}

/// Fails if several modules would write to one file, or the file cannot be written.
fn check_output_files(args: &RunArgs) -> Result<()> {
    let options = [("--output", args.output.is_some()), ("--trace", args.trace.is_some())];
    check_output(args.output.as_deref())?;
    for (option, given) in options {
        if args.files.len() > 1 && given {
            let message = format!("{option} requires a single module");
            return Err(Failure::new(&Code::Input { path: option.into(), message }, None));
        }
    }
    Ok(())
}

/// A module with everything that its run needs.
struct Prepared {
    name: String,
    text: String,
    session: Session,
    inputs: Vec<Vec<Literal>>,
    queues: Queues,
    hooks: Hooks,
    trace: Option<Trace>,
    profile: Option<Profile>,
}

fn prepare(args: &RunArgs, path: &Path, peers: &Peers) -> Result<Prepared> {
    let Loaded { name, text, module, arguments, .. } =
        load_filled(path, args.lenient, &args.inputs)?;
    let session = compile_for(&args.devices, args.compile.options(), module, &name, &text)?;
    for warning in session.warnings().iter().filter(|_| peers.is_leader()) {
        output::show_one(warning, Some(Source { name: &name, text: &text }));
    }
    let (module, grid) = (session.module(), session.grid());
    let own = peers.block(grid.len());
    let inputs = inputs_on(&args.inputs, arguments, module, (grid, own.clone()))?;
    let queues = Queues::new(args.infeed.as_deref(), module, (grid, own))?;
    let trace = args.trace.as_deref().map(|path| Trace::create(&peers.path_for_rank(path)));
    let trace = trace.transpose()?;
    let profile = args.profile.then(Profile::default);
    let hooks = custom_calls::hooks(&args.custom_calls)?;
    let hooks = hooks.map_err(|e| Failure::run(&e.into(), &name, &text))?;
    Ok(Prepared { name, text, session, inputs, queues, hooks, trace, profile })
}

/// Runs a module. Returns false if `--seed many` finds results that depend on the order.
fn one(args: &RunArgs, path: &Path, peers: &Peers) -> Result<bool> {
    let prepared = peers.agreed(prepare(args, path, peers))?;
    let order = match args.seed {
        Some(SeedArg::One(seed)) => Some(seed),
        Some(SeedArg::Many) | None => None,
    };
    let hooks = observed(&prepared);
    let output = execute(args, &prepared, &prepared.queues, (order, hooks), peers);
    // The trace and the profile are written also after an error, where they help most.
    let traced = prepared.trace.as_ref().map_or(Ok(()), Trace::finish);
    if let Some(profile) = &prepared.profile {
        output::note(&profile.table());
    }
    let RunOutput { results, notes, .. } = output?;
    let source = Source { name: &prepared.name, text: &prepared.text };
    for note in notes.iter().filter(|_| peers.is_leader()) {
        output::show_one(&note.diagnostic(), Some(source));
    }
    let devices = prepared.session.grid().len();
    let first = peers.block(devices).start;
    let outputs = prepared.queues.with_outfeed(results, first);
    let outputs = Outputs { first, devices, each: outputs };
    let written = outputs.write(args, peers);
    peers.agreed(traced.and(written))?;
    match args.seed {
        Some(SeedArg::Many) => is_stable(args, &prepared, peers),
        Some(SeedArg::One(_)) | None => Ok(true),
    }
}

/// Prints the results that depend on the order of devices and values. Returns whether there are none.
fn is_stable(args: &RunArgs, prepared: &Prepared, peers: &Peers) -> Result<bool> {
    let found = collectives::order_dependence(0..ORDERS, |seed| {
        let (module, grid) = (prepared.session.module(), prepared.session.grid());
        let own = peers.block(grid.len());
        let queues = peers.agreed(Queues::new(args.infeed.as_deref(), module, (grid, own)))?;
        let hooks = prepared.hooks.clone();
        let order_and_hooks = (Some(seed), move |_| hooks.clone());
        execute(args, prepared, &queues, order_and_hooks, peers).map(|output| output.results)
    })?;
    let first = peers.block(prepared.session.grid().len()).start;
    let own = found.into_iter().map(|mut dependent| {
        dependent.device += first;
        format!("{dependent}\n")
    });
    let all = peers.gather_texts(own.collect())?.concat();
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
    let shown = match peers.is_leader() {
        true => output::data(&lines.concat()),
        false => Ok(()),
    };
    peers.agreed(shown).map(|()| found.is_empty())
}

/// Runs a module; returns the results of this rank's devices. A module for one device runs on rank 0 only.
fn execute(
    args: &RunArgs,
    prepared: &Prepared,
    queues: &Queues,
    (order, hooks): (Option<u64>, impl Fn(Device) -> Hooks + Send + Sync + 'static),
    peers: &Peers,
) -> Result<RunOutput> {
    let Prepared { name, text, session, inputs, .. } = prepared;
    let mut options = args.time.apply(args.limits.options()).check_nan(args.check_nan);
    options.order = order;
    let (ends, grid) = (queues.ends(), session.grid());
    let hooks = move |device| ends.attach(hooks(device), grid.number(device));
    let failed = |error| {
        let mut failure = Failure::run(&error, name, text);
        for diagnostic in &mut failure.diagnostics {
            if let Some(option) = devices_option(session.module(), diagnostic) {
                diagnostic.help = Some(format!("run it on more devices: {option}"));
            }
        }
        failure
    };
    let _progress = output::Progress::new(&format!("running {name}"));
    match peers.ranks() {
        Some(ranks) if grid.len() > 1 => {
            let output = session.run_on_ranks(ranks, inputs, &options, hooks);
            peers.common(output.map_err(failed))
        }
        Some(ranks) if session.is_unpartitioned() => {
            let mut output = session.run_on_ranks(ranks, inputs, &options, hooks);
            if let (Ok(output), false) = (&mut output, peers.is_leader()) {
                // All ranks have the one result.
                output.results.clear();
            }
            peers.common(output.map_err(failed))
        }
        Some(_) if !peers.is_leader() => {
            let nothing = RunOutput { results: Vec::new(), notes: Vec::new(), peak_bytes: None };
            peers.agreed(Ok(nothing))
        }
        _ => peers.agreed(session.run_with(inputs, &options, hooks).map_err(failed)),
    }
}

/// The outputs of this rank's devices.
struct Outputs {
    /// The number of the first one.
    first: usize,
    /// The number of all devices.
    devices: usize,
    each: Vec<DeviceOutput>,
}

impl Outputs {
    /// Writes the outputs to the file of `--output`, or prints them.
    fn write(self, args: &RunArgs, peers: &Peers) -> Result<()> {
        // `--print` selects the readable form, also in a pipe.
        let width = output::width().or(args.print.then_some(WIDTH));
        let is_shown = args.print || args.output.is_none();
        // Equal results of different ranks are shown together; stdout takes a single file.
        let is_gathered = args.gather
            || (is_shown && width.is_some())
            || args.output.as_deref().is_some_and(is_stdout);
        let own = if is_gathered { self.gathered(peers)? } else { self };
        let written = match &args.output {
            Some(to) if !own.each.is_empty() => write(&peers.path_for_rank(to), own.named()),
            _ => Ok(()),
        };
        if !is_shown {
            return written;
        }
        let text = match (own.devices, is_gathered) {
            (2.., false) => peers.gather_texts(results::lines(&own.each, own.first))?.concat(),
            _ if own.each.is_empty() => return written,
            _ => results::text(&own.each, width),
        };
        if peers.is_leader() {
            output::data(&text)?;
        }
        written
    }
    /// Moves the outputs of all ranks to rank 0.
    fn gathered(self, peers: &Peers) -> Result<Self> {
        let (results, outfeeds) =
            self.each.into_iter().map(|DeviceOutput { result, outfeed }| (result, outfeed)).unzip();
        let (results, outfeeds) = (peers.gather_values(results)?, peers.gather_values(outfeeds)?);
        let outputs = results.into_iter().zip(outfeeds);
        let outputs = outputs.map(|(result, outfeed)| DeviceOutput { result, outfeed }).collect();
        Ok(Self { first: 0, devices: self.devices, each: outputs })
    }
    /// Returns results and outfeed values with their names in a file.
    fn named(&self) -> Vec<(String, &Literal)> {
        let values = |kind: &str, value: fn(&DeviceOutput) -> &Literal| {
            let one = |(output, k): (_, usize)| {
                let device = if self.devices == 1 { String::new() } else { format!("d{k}_") };
                arrays::flatten(value(output), &format!("{device}{kind}"))
            };
            self.each.iter().zip(self.first..).flat_map(one).collect::<Vec<_>>()
        };
        let outfeed = values(queues::OUTFEED, |one| &one.outfeed);
        values("out", |one| &one.result).into_iter().chain(outfeed).collect()
    }
}

/// Returns the option for the number of devices that an op needs, if it failed because there is only one.
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

/// Returns the hooks of each device, which record each instruction in the trace and the profile.
fn observed(prepared: &Prepared) -> impl Fn(Device) -> Hooks + Send + Sync + 'static {
    let Prepared { hooks, trace, profile, session, .. } = prepared;
    let (hooks, trace, profile) = (hooks.clone(), trace.clone(), profile.clone());
    let grid = session.grid();
    let start = Instant::now();
    move |device| {
        let hooks = hooks.clone();
        if trace.is_none() && profile.is_none() {
            return hooks;
        }
        let number = grid.number(device);
        if let (Some(trace), 2..) = (&trace, grid.len()) {
            trace.track(number, device);
        }
        let begin = if grid.len() == 1 { std::time::Duration::ZERO } else { start.elapsed() };
        let (trace, profile) = (trace.clone(), profile.clone());
        hooks.observe(move |event| {
            if let Some(trace) = &trace {
                trace.event(event, number, begin);
            }
            if let Some(profile) = &profile {
                profile.event(event);
            }
        })
    }
}

/// Fails if the file of `--output` has no format, or cannot be written.
pub(super) fn check_output(to: Option<&Path>) -> Result<()> {
    let Some(to) = to else { return Ok(()) };
    if !is_stdout(to) && !has_extension(to, "npz") && !has_extension(to, "npy") {
        let (path, message) = (to.display().to_string(), "the format is not known".to_owned());
        let help = "the formats are .npz, .npy for a single array, and `-` for .npz to stdout";
        return Err(Failure::new(&Code::File { path, message }, Some(help.into())));
    }
    if is_stdout(to) { Ok(()) } else { file::check(to).map_err(|e| Failure::file(to, &e)) }
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}
fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Writes arrays to a file, or to stdout for `-`. A file is replaced when all is written.
pub(super) fn write(to: &Path, named: Vec<(String, &Literal)>) -> Result<()> {
    let written = if is_stdout(to) {
        let mut archive = Cursor::new(Vec::new());
        npz::write(&mut archive, named).map_err(|e| Failure::file(to, &e))?;
        return output::bytes(archive.get_ref());
    } else if has_extension(to, "npy") {
        let [(_, array)] = named.as_slice() else {
            let (path, message) =
                (to.display().to_string(), format!("{} arrays do not fit in .npy", named.len()));
            return Err(Failure::new(&Code::File { path, message }, Some("use .npz".into())));
        };
        file::replace_with(to, |file| npz::write_array(BufWriter::new(file), array))
    } else {
        file::replace_with(to, |file| npz::write(BufWriter::new(file), named))
    };
    written.map_err(|e| Failure::file(to, &e))
}
