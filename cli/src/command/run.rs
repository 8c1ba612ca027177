//! `etalon run`: run modules, on one device or several.
use super::{Loaded, load, verified_for};
use crate::args::{RunArgs, SeedArg};
use crate::error::{Code, Exit, Failure, Result};
use crate::inputs::inputs;
use crate::peers::Peers;
use crate::profile::Profile;
use crate::queues::Queues;
use crate::results::{self, Given};
use crate::trace::Trace;
use crate::{output, queues};
use conformance::{Ran, arrays};
use hlo::diag::{Diagnostic, Source};
use hlo::ir::Computation;
use hlo::literal::npz;
use hlo::op::GroupMode;
use hlo::{Literal, Module, Op, Verified};
use interp::{Device, Grid, Hooks};
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

/// Columns of a page that is no terminal.
const WIDTH: usize = 100;

/// How many orders `--seed many` tries, and how many results it lists.
const ORDERS: u64 = 16;
const LISTED: usize = 20;

/// Runs each module and shows or writes its result.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let peers = Peers::join()?;
    let steady = peers.alike(one_file_each(args)).and_then(|()| {
        let each = args.files.iter().map(|path| one(args, path, &peers));
        // All are run, also after one whose results depend on the order.
        Ok(each.collect::<Result<Vec<bool>>>()?.into_iter().all(|steady| steady))
    });
    peers.conclude(steady.map(|steady| if steady { ExitCode::SUCCESS } else { Exit::Wrong.code() }))
}

/// Fails if what comes of several modules would go to one file.
fn one_file_each(args: &RunArgs) -> Result<()> {
    let one_result = [("--output", args.output.is_some()), ("--trace", args.trace.is_some())];
    for (option, given) in one_result {
        if args.files.len() > 1 && given {
            let message = format!("{option} takes what comes of one module");
            return Err(Failure::new(&Code::Input { path: option.into(), message }, None));
        }
    }
    Ok(())
}

/// All that a run of a module needs.
struct Prepared {
    name: String,
    text: String,
    verified: Verified,
    grid: Grid,
    inputs: Vec<Vec<Literal>>,
    queues: Queues,
    hooks: Hooks,
    trace: Option<Trace>,
    profile: Option<Profile>,
}

fn prepared(args: &RunArgs, path: &Path, peers: &Peers) -> Result<Prepared> {
    let Loaded { name, text, module } = load(path, args.lenient)?;
    let (verified, grid) = verified_for(&args.devices, module, &name, &text)?;
    let inputs = inputs(&args.inputs, &verified, grid)?;
    let queues = Queues::new(args.infeed.as_deref(), verified.module(), grid)?;
    let trace = args.trace.as_deref().map(|path| Trace::create(&peers.own_file(path)));
    let trace = trace.transpose()?;
    let profile = args.profile.then(Profile::default);
    let mut hooks = Hooks::new();
    for library in &args.custom_call_library {
        hooks = hooks.library(library).map_err(|e| Failure::run(&e.into(), &name, &text))?;
    }
    Ok(Prepared { name, text, verified, grid, inputs, queues, hooks, trace, profile })
}

/// Runs a module; whether its results are found to be the same in every order, or no other was asked for.
fn one(args: &RunArgs, path: &Path, peers: &Peers) -> Result<bool> {
    let prepared = peers.agreed(prepared(args, path, peers))?;
    let order = match args.seed {
        Some(SeedArg::One(seed)) => Some(seed),
        Some(SeedArg::Many) | None => None,
    };
    let hooks = watched(&prepared);
    let ran = executed(args, &prepared, &prepared.queues, (order, hooks), peers);
    // What was seen until an error is worth the most.
    let seen = prepared.trace.as_ref().map_or(Ok(()), Trace::finish);
    if let Some(profile) = &prepared.profile {
        output::note(&profile.table());
    }
    let Ran { results, notes } = ran?;
    let source = Source { name: &prepared.name, text: &prepared.text };
    for note in &notes {
        output::show_one(&note.diagnostic(), Some(source));
    }
    let mut given = prepared.queues.with_outfeed(results);
    let outfeed = given.iter().map(|one| one.outfeed.clone()).collect();
    for (one, outfeed) in given.iter_mut().zip(peers.of_all(outfeed)?) {
        one.outfeed = outfeed;
    }
    let shown = if peers.leads() { shown(args, path, &given) } else { Ok(()) };
    peers.agreed(seen.and(shown))?;
    match args.seed {
        Some(SeedArg::Many) => is_steady(args, &prepared, peers),
        Some(SeedArg::One(_)) | None => Ok(true),
    }
}

/// Tells which results depend on the order of devices and values; whether none does.
fn is_steady(args: &RunArgs, prepared: &Prepared, peers: &Peers) -> Result<bool> {
    let found = collectives::order_dependence(0..ORDERS, |seed| {
        let module = prepared.verified.module();
        let queues = peers.agreed(Queues::new(args.infeed.as_deref(), module, prepared.grid))?;
        let hooks = prepared.hooks.clone();
        let how = (Some(seed), move |_| hooks.clone());
        executed(args, prepared, &queues, how, peers).map(|ran| ran.results)
    })?;
    let mut lines: Vec<String> =
        found.iter().take(LISTED).map(|dependent| format!("{dependent}\n")).collect();
    if found.len() > LISTED {
        lines.push(format!("and {} more\n", found.len() - LISTED));
    }
    lines.push(match found.len() {
        0 => format!("{ORDERS} orders: no result depends on the order\n"),
        1 => format!("{ORDERS} orders: 1 result depends on the order\n"),
        n => format!("{ORDERS} orders: {n} results depend on the order\n"),
    });
    let shown = match peers.leads() {
        true => output::data(&lines.concat()).map_err(|e| Failure::file(Path::new("<stdout>"), &e)),
        false => Ok(()),
    };
    peers.agreed(shown).map(|()| found.is_empty())
}

/// Runs a module; one that is for one device on the rank that leads.
fn executed(
    args: &RunArgs,
    prepared: &Prepared,
    queues: &Queues,
    (order, hooks): (Option<u64>, impl Fn(Device) -> Hooks + Send + Sync + 'static),
    peers: &Peers,
) -> Result<Ran> {
    let Prepared { name, text, verified, grid, inputs, .. } = prepared;
    let mut options = args.limits.options().check_nan(args.check_nan);
    options.order = order;
    let (ends, grid) = (queues.ends(), *grid);
    let hooks = move |device| ends.attach(hooks(device), grid.number(device));
    let failed = |error| {
        let mut failure = Failure::run(&error, name, text);
        for diagnostic in &mut failure.diagnostics {
            if let Some(option) = more_devices(verified.module(), diagnostic) {
                diagnostic.help = Some(format!("run it on more devices: {option}"));
            }
        }
        failure
    };
    let _progress = output::Progress::new(&format!("running {name}"));
    let engine = conformance::Engine::from(args.engine);
    match peers.ranks() {
        Some(ranks) if grid.len() > 1 => {
            let ran = engine.run_on_ranks(ranks.clone(), verified, inputs, options, hooks);
            peers.alike(ran.map_err(failed))
        }
        Some(_) if !peers.leads() => {
            peers.agreed(Ok(Ran { results: Vec::new(), notes: Vec::new() }))
        }
        _ => peers.agreed(engine.run_on_devices(verified, inputs, options, hooks).map_err(failed)),
    }
}

/// Writes what was given, or shows it.
fn shown(args: &RunArgs, path: &Path, given: &[Given]) -> Result<()> {
    if let Some(to) = &args.output {
        write(to, named(given))?;
    }
    if args.print || args.output.is_none() {
        // Who asks for it wants to read it, wherever it goes.
        let width = output::width().or(args.print.then_some(WIDTH));
        let shown = results::text(given, width);
        output::data(&shown).map_err(|e| Failure::file(path, &e))?;
    }
    Ok(())
}

/// The option that gives an op the devices it joins, if it was refused for having only one.
fn more_devices(module: &Module, refused: &Diagnostic) -> Option<String> {
    if Grid::of(&module.config).len() > 1 || refused.code != "E0402" {
        return None;
    }
    let here = |(_, computation): (_, &'_ Computation)| {
        let mut ids = computation.instructions.ids();
        let id = ids.find(|&id| Some(computation.span(id)) == refused.span)?;
        joined(&computation.instructions[id].op)
    };
    let (mode, count) = module.computations.iter().find_map(here).filter(|&(_, n)| n > 1)?;
    Some(match mode {
        GroupMode::CrossReplica | GroupMode::CrossReplicaAndPartition => {
            format!("--replicas {count}")
        }
        GroupMode::CrossPartition | GroupMode::FlattenedId => format!("--partitions {count}"),
    })
}

/// What the ids of an op are, and how many it names.
fn joined(op: &Op) -> Option<(GroupMode, i64)> {
    if let Some((mode, pairs)) = op.pairs() {
        let last = pairs.iter().map(|&(from, to)| from.max(to)).max()?;
        return Some((mode, last.saturating_add(1)));
    }
    let (mode, groups) = op.groups()?;
    let listed = || groups.expand().into_iter().flatten().max().map(|last| last.saturating_add(1));
    Some((mode, groups.counted().or_else(listed)?))
}

/// Hooks of each device that tell a trace and a profile of each instruction.
fn watched(prepared: &Prepared) -> impl Fn(Device) -> Hooks + Send + Sync + 'static {
    let Prepared { hooks, trace, profile, grid, .. } = prepared;
    let (hooks, trace, profile, grid) = (hooks.clone(), trace.clone(), profile.clone(), *grid);
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

/// Results and what was put out, with the names they have in a file.
fn named(given: &[Given]) -> Vec<(String, &Literal)> {
    let results = arrays::named_by_device(given.iter().map(|one| &one.result), "out");
    let outfeed = arrays::named_by_device(given.iter().map(|one| &one.outfeed), queues::OUTFEED);
    results.into_iter().chain(outfeed).collect()
}

/// Writes arrays to a file.
pub(super) fn write(to: &Path, named: Vec<(String, &Literal)>) -> Result<()> {
    let file = File::create(to).map_err(|e| Failure::file(to, &e))?;
    npz::write(std::io::BufWriter::new(file), named).map_err(|e| Failure::file(to, &e))
}
