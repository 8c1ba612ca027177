//! `etalon graph`: the dataflow of a module, or the communication between its devices.
use super::{compile, custom_calls, load_filled, verified_for};
use crate::args::{FormatArg, GraphArgs};
use crate::error::{Code, Failure, Result};
use crate::file::{self, Existing};
use crate::inputs::inputs;
use crate::limits::Limits;
use crate::output;
use crate::profile::Profile;
use conformance::{Counterpart, Difference, counterparts, on_large_stack};
use graph::{Change, Changes, Measured, Model, devices};
use hlo::diag::Source;
use hlo::diag::quantity;
use hlo::ir::{ComputationId, InstructionId};
use hlo::{Literal, Verified};
use interp::{DeviceGrid, Hooks};
use load::Loaded;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(crate) fn draw(args: &GraphArgs) -> Result<ExitCode> {
    let format = format(args)?;
    let (target, existing) = target(args, format);
    let inputs = std::iter::once(&args.file).chain(&args.after).map(PathBuf::as_path);
    file::check([(target.as_path(), existing)], inputs.chain(args.inputs.paths()))?;
    let mut found = String::new();
    let drawn = match &args.after {
        Some(after) => {
            let (page, changes) = of_two(args, after)?;
            found = format!("{changes}\n");
            page
        }
        None if args.of_devices => of_devices(args, format)?,
        None => of_instructions(args, format)?,
    };
    file::write(&target, existing, drawn.as_bytes())?;
    if !file::is_stdout(&target) {
        let target = target.display();
        let to_do = if format == FormatArg::Html { ": open it in a browser" } else { "" };
        output::status(&format!("{found}wrote {target}{to_do}\n"));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the file to write: without --output, one beside that of the module.
fn target(args: &GraphArgs, format: FormatArg) -> (PathBuf, Existing) {
    match &args.output {
        Some(target) => (target.clone(), Existing::Replace),
        None => {
            let stdin = Path::new("module");
            let file = if file::is_stdout(&args.file) { stdin } else { &args.file };
            let extension = format.extension();
            let target = match &args.after {
                Some(after) => {
                    let after = if file::is_stdout(after) { stdin } else { after };
                    let [first, second] =
                        [file, after].map(|path| path.file_stem().unwrap_or_default().display());
                    file.with_file_name(format!("{first}-{second}.{extension}"))
                }
                None => file.with_extension(extension),
            };
            (target, file::unnamed(args.force))
        }
    }
}

/// Returns the format of the output, if the options fit it.
fn format(args: &GraphArgs) -> Result<FormatArg> {
    let wrong = |message: String, help: &str| {
        let path = args.output.as_deref().unwrap_or(Path::new("--format")).display().to_string();
        Err(Failure::new(&load::Code::File { path, message }, Some(help.to_owned())))
    };
    // Without the name of a file, the picture of devices is an .svg, any other a page.
    let unnamed = if args.of_devices { FormatArg::Svg } else { FormatArg::Html };
    let named = match args.output.as_deref().filter(|output| !file::is_stdout(output)) {
        Some(output) => FormatArg::of(output),
        None => Some(unnamed),
    };
    let format = match args.format.or(named) {
        Some(FormatArg::ModelExplorer) if args.of_devices => {
            return wrong(
                "Model Explorer does not show devices".to_owned(),
                "--devices writes an .html page, an .svg picture, or .dot text for Graphviz",
            );
        }
        None => {
            return wrong(
                "expected a file name that ends in .html, .svg or .dot".to_owned(),
                "state another format with --format, such as `--format model-explorer -o F.json`",
            );
        }
        Some(format) => format,
    };
    if args.after.is_some() && format != FormatArg::Html {
        return wrong(
            "two modules are drawn as a page".to_owned(),
            "name an .html file, or draw the modules one by one",
        );
    }
    let is_run = args.values || args.profile;
    if is_run && !format.is_measured() {
        return wrong(
            "--values and --profile need a page or Model Explorer".to_owned(),
            "write an .html file, or state --format model-explorer",
        );
    }
    if !is_run && (args.inputs.random.is_some() || !args.inputs.input.is_empty()) {
        return wrong(
            "--input and --random are for a run".to_owned(),
            "state --values or --profile to run the module",
        );
    }
    if args.computation.is_some() && format.is_measured() {
        return wrong(
            "a page has all computations".to_owned(),
            "--computation is for .svg and .dot; in a page, search for the name",
        );
    }
    Ok(format)
}

fn of_instructions(args: &GraphArgs, format: FormatArg) -> Result<String> {
    let limits = Limits::start(args.time.apply(args.limits.options()));
    let loaded = load_filled(&args.file, &args.load, &args.inputs, &limits)?;
    let Loaded { file, module, arguments, .. } = loaded;
    let verified = verified_for(&args.devices, module, file.source(), &limits)?;
    let model = Model::of(&verified, &file.text);
    let computation = args.computation.as_deref().map(|name| find(&model, name)).transpose()?;
    let measured = match args.values || args.profile {
        true => run(args, &model, verified, (file.source(), arguments), &limits)?,
        false => Measured::default(),
    };
    Ok(match format {
        FormatArg::Html => graph::html(&model, &measured),
        FormatArg::Svg => graph::svg(&model, computation),
        FormatArg::Dot => graph::dot(&model, computation),
        FormatArg::ModelExplorer => graph::model_explorer(&model, &measured),
    })
}

/// Draws two modules beside each other, and counts what has changed.
fn of_two(args: &GraphArgs, after: &Path) -> Result<(String, String)> {
    let limits = Limits::start(args.time.apply(args.limits.options()));
    let read = |path: &Path| -> Result<(Verified, Model)> {
        let Loaded { file, module, .. } = load_filled(path, &args.load, &args.inputs, &limits)?;
        let verified = verified_for(&args.devices, module, file.source(), &limits)?;
        let model = Model::of(&verified, &file.text);
        Ok((verified, model))
    };
    let [before, after_it] = [read(&args.file)?, read(after)?];
    let found = on_large_stack(|| counterparts(before.0.module(), after_it.0.module()));
    let mut changes = Changes::default();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for Counterpart { before, after, difference, renames } in &found {
        let place = |at: &Option<(ComputationId, InstructionId)>| {
            at.map(|(computation, instruction)| (computation.index(), instruction.index()))
        };
        let places = [place(before), place(after)];
        let (change, word) = match difference {
            Difference::None => (Change::Same, "unchanged"),
            Difference::Moved => (Change::Moved, "moved"),
            Difference::Changed(_) => (Change::Changed, "changed"),
            Difference::Removed => (Change::Removed, "removed"),
            Difference::Added => (Change::Added, "added"),
        };
        let what = if let Difference::Changed(what) = difference {
            what.join(", ")
        } else {
            String::new()
        };
        changes.add(places, change, &what);
        if *renames {
            continue;
        }
        *counts.entry(word).or_default() += 1;
        if !matches!(change, Change::Same | Change::Moved) {
            changes.list(places);
        }
    }
    let words = ["changed", "added", "removed", "moved", "unchanged"];
    let counts = words.map(|word| format!("{} {word}", counts.get(word).unwrap_or(&0)));
    let paths = [args.file.as_path(), after];
    let names = paths.map(|path| path.file_name().unwrap_or_default().display().to_string());
    let names =
        if names[0] == names[1] { paths.map(|path| path.display().to_string()) } else { names };
    let names = names.each_ref().map(String::as_str);
    let page = graph::html_of_two([&before.1, &after_it.1], names, &changes);
    Ok((page, counts.join(", ")))
}

fn find(model: &Model, name: &str) -> Result<usize> {
    model.find(name.trim_start_matches('%')).ok_or_else(|| {
        let nearest = hlo::diag::nearest(name, model.names());
        let help = nearest.map(|name| format!("did you mean `{name}`?"));
        Failure::new(&Code::NoSuchComputation { name: name.to_owned() }, help)
    })
}

/// Runs the module once for the times, and for the values once for each slice of them.
fn run(
    args: &GraphArgs,
    model: &Model,
    verified: Verified,
    (source, own): (Source<'_>, Vec<Vec<Literal>>),
    limits: &Limits,
) -> Result<Measured> {
    let module = verified.module().clone();
    let grid = DeviceGrid::of(&module.config);
    let inputs = inputs(&args.inputs, own, &module, grid, limits)?;
    let mut measured = Measured::default();
    let profile = Profile::default();
    if args.profile {
        execute(args, verified, source, &inputs, Some(&profile))?;
        let numbers: BTreeMap<&str, usize> = model.names().zip(0..).collect();
        profile.each(&mut |(computation, index), runs, time, bytes| {
            if let Some(&number) = numbers.get(computation) {
                measured.add_time((number, index), runs, time, bytes);
            }
        });
    }
    if args.values {
        for slice in graph::slices(&module) {
            match graph::watching(&module, &slice) {
                Ok(watching) => {
                    let results = execute(args, watching, source, &inputs, None)?;
                    measured.add_values(module.entry.index(), &slice, &results);
                }
                Err(reason) => output::note(&format!("some values are not shown: {reason}\n")),
            }
        }
    }
    let of_devices = match grid.len() {
        1 => String::new(),
        devices => format!(" on {} together", quantity(devices, "device")),
    };
    let (random, elided) = (args.inputs.random, args.inputs.elided);
    let drawn = random.or(elided).map(|seed| format!(", random arguments of seed {seed}"));
    let drawn = drawn.unwrap_or_default();
    measured.note = format!(
        "Times and values are those of a run{of_devices}{drawn}. Values are those of the entry computation."
    );
    Ok(measured)
}

/// Runs a module, and returns the result of each device.
fn execute(
    args: &GraphArgs,
    verified: Verified,
    source: Source<'_>,
    inputs: &[Vec<Literal>],
    profile: Option<&Profile>,
) -> Result<Vec<Literal>> {
    let options = args.time.apply(args.limits.options());
    let compiling = args.compile.options().limits_of(&options);
    let session = compile(verified, compiling, source)?;
    let hooks = custom_calls::hooks(&args.custom_calls, &args.time)?;
    let hooks: Hooks = hooks.map_err(|e| Failure::run(&e.into(), source))?;
    let profile = profile.cloned();
    let observed = move |_| match &profile {
        Some(profile) => {
            let profile = profile.clone();
            hooks.clone().observe(move |event| profile.event(event))
        }
        None => hooks.clone(),
    };
    let _progress = output::Progress::new(&format!("running {}", source.name));
    let output = session.run_with(inputs, &options, observed);
    Ok(output.map_err(|error| Failure::run(&error, source))?.results)
}

fn of_devices(args: &GraphArgs, format: FormatArg) -> Result<String> {
    let Loaded { file, module, .. } = super::load(&args.file, &args.load)?;
    let verified = verified_for(&args.devices, module, file.source(), &Limits::none())?;
    let graph = devices::Graph::of(&verified);
    let graph = graph.map_err(|e| Failure::module(vec![e.diagnostic()], file.source()))?;
    Ok(match format {
        FormatArg::Dot => devices::dot(&graph),
        FormatArg::Svg => devices::svg(&graph),
        FormatArg::Html | FormatArg::ModelExplorer => {
            graph::html_of_devices(&Model::of(&verified, &file.text), &graph)
        }
    })
}
