//! One module per command, and loading a file as a module.
pub(crate) mod backend;
pub(crate) mod bench;
pub(crate) mod blame;
pub(crate) mod campaign;
pub(crate) mod check;
pub(crate) mod conform;
pub(crate) mod convert;
pub(crate) mod cost;
pub(crate) mod custom_calls;
pub(crate) mod diff;
pub(crate) mod equal;
pub(crate) mod explain;
pub(crate) mod fuzz;
pub(crate) mod graph;
pub(crate) mod manual;
pub(crate) mod passes;
pub(crate) mod plan;
pub(crate) mod print;
pub(crate) mod reduce;
mod reports;
pub(crate) mod run;
pub(crate) mod suite;
pub(crate) mod test;

use crate::args::{DeviceArgs, InputArgs, LoadArgs};
use crate::error::{Failure, Result};
use crate::limits::Limits;
use crate::{inputs, output, random};
use ::load::{Input, Loaded};
use collectives::Session;
use hlo::diag::quantity;
use hlo::diag::{Diagnostic, Source};
use hlo::{Module, Verified};
use interp::{CompileOptions, DeviceGrid};
use std::path::Path;
use std::time::Instant;

/// Reads a module and shows its warnings.
pub(crate) fn load(path: &Path, args: &LoadArgs) -> Result<Loaded> {
    load_within(path, args, &Limits::none())
}

/// Reads standard input, and passes what it is to `then`.
fn from_stdin<T>(then: impl FnOnce(::load::File<'_>) -> T) -> Result<T> {
    Ok(then(::load::read(Input::Stream("<stdin>", &mut std::io::stdin().lock()), None)?))
}

/// Reads a module within limits and shows its warnings.
fn load_within(path: &Path, args: &LoadArgs, limits: &Limits) -> Result<Loaded> {
    load_with(path, args, limits, |warning, source| output::show_one(warning, Some(source)))
}

/// Reads a module; calls `warn` with each of its warnings.
pub(crate) fn load_with(
    path: &Path,
    args: &LoadArgs,
    limits: &Limits,
    warn: impl Fn(&Diagnostic, Source<'_>),
) -> Result<Loaded> {
    let start = Instant::now();
    let options = options(args, limits);
    let owned = path.to_owned();
    let mut loaded = limits.within(move || match owned.as_os_str() == "-" {
        true => ::load::load(Input::Stream("<stdin>", &mut std::io::stdin().lock()), &options),
        false => ::load::load(owned.as_path(), &options),
    })??;
    for warning in std::mem::take(&mut loaded.warnings) {
        warn(&warning, loaded.file.source());
    }
    output::phase(start, || {
        let computations = &loaded.module.computations;
        let instructions: usize = computations.iter().map(|(_, c)| c.instructions.len()).sum();
        let computations = computations.iter().count();
        let name = &loaded.file.name;
        format!(
            "{name}: read {}, {}",
            quantity(instructions, "instruction"),
            quantity(computations, "computation")
        )
    });
    Ok(loaded)
}

/// Returns the options of loading.
fn options(args: &LoadArgs, limits: &Limits) -> ::load::Options {
    ::load::Options {
        lenient: args.lenient,
        module: args.module,
        arguments: args.shape.clone(),
        function: args.function.as_deref().map(|name| name.trim_start_matches('@').to_owned()),
        most_bytes: limits.most_text(),
    }
}

/// Reads a module as [`load`] does, and fills its elided constants if the options say so.
pub(crate) fn load_filled(
    path: &Path,
    args: &LoadArgs,
    inputs: &InputArgs,
    limits: &Limits,
) -> Result<Loaded> {
    let sized = sizes(path, args, inputs, limits)?;
    let sized = sized.map(|shape| LoadArgs { shape, ..args.clone() });
    let mut loaded = load_within(path, sized.as_ref().unwrap_or(args), limits)?;
    fill_elided(&mut loaded.module, &loaded.file.name, inputs.elided, limits)?;
    Ok(loaded)
}

/// Returns what --input says of the arguments of a program with unknown sizes, if nothing else does.
fn sizes(
    path: &Path,
    args: &LoadArgs,
    inputs: &InputArgs,
    limits: &Limits,
) -> Result<Option<Vec<::load::Argument>>> {
    let is_stated = !args.shape.is_empty() || inputs.input.is_empty();
    if is_stated || path.as_os_str() == "-" {
        return Ok(None);
    }
    let options = options(args, limits);
    let owned = path.to_owned();
    // An error is that of the load that follows.
    let shapes = limits.within(move || {
        let file = ::load::read(owned.as_path(), options.most_bytes).ok()?;
        file.open_parameters(&options)
    })?;
    match shapes {
        Some(shapes) => inputs::arguments(inputs, &shapes, limits),
        None => Ok(None),
    }
}

/// Fills the elided constants of a module, if there is a seed.
pub(crate) fn fill_elided(
    module: &mut Module,
    name: &str,
    seed: Option<u64>,
    limits: &Limits,
) -> Result<()> {
    let Some(seed) = seed else { return Ok(()) };
    let count = random::fill_elided(seed, module, limits)?;
    let constants = match count {
        0 => return Ok(()),
        1 => "constant has a value",
        _ => "constants have values",
    };
    output::note(&format!("{name}: {count} elided {constants} drawn from seed {seed}\n"));
    Ok(())
}

/// Verifies and compiles a module for the number of devices of the options.
pub(crate) fn compile_for(
    devices: &DeviceArgs,
    options: CompileOptions,
    module: Module,
    source: Source<'_>,
    limits: &Limits,
) -> Result<Session> {
    let verified = verified_for(devices, module, source, limits)?;
    compile(verified, options, source)
}

/// Compiles a module.
pub(crate) fn compile(
    verified: Verified,
    options: CompileOptions,
    source: Source<'_>,
) -> Result<Session> {
    let start = Instant::now();
    let session = Session::compile(verified, &options);
    let session = session.map_err(|error| Failure::run(&error, source))?;
    output::phase(start, || {
        let memory =
            session.planned_bytes().map(|bytes| format!(", {} at most", quantity(bytes, "byte")));
        let (devices, memory) = (session.grid().len(), memory.unwrap_or_default());
        let engine = session.executable().engine().name();
        let name = source.name;
        format!("{name}: compiled for `{engine}`, devices: {devices}{memory}")
    });
    Ok(session)
}

/// Verifies a module for the number of devices of the options.
pub(crate) fn verified_for(
    devices: &DeviceArgs,
    mut module: Module,
    source: Source<'_>,
    limits: &Limits,
) -> Result<Verified> {
    let header = DeviceGrid::of(&module.config);
    devices.apply(&mut module);
    let grid = DeviceGrid::of(&module.config);
    collectives::check_grid(grid).map_err(|e| Failure::run(&e.into(), source))?;
    let verified = verified(module, source, limits).map_err(|mut failure| {
        if grid != header {
            let DeviceGrid { replicas, partitions } = grid;
            let help = format!(
                "checked for --replicas {replicas} --partitions {partitions}; the header has {} and {}",
                header.replicas, header.partitions
            );
            let without = failure.diagnostics.iter_mut().filter(|d| d.help.is_none());
            without.for_each(|diagnostic| diagnostic.help = Some(help.clone()));
        }
        failure
    })?;
    Ok(verified)
}

/// Verifies a module.
pub(crate) fn verified(module: Module, source: Source<'_>, limits: &Limits) -> Result<Verified> {
    let start = Instant::now();
    let verified = limits.within(move || module.verify())?;
    let verified = verified.map_err(|errors| Failure::module(errors.diagnostics(), source))?;
    output::phase(start, || format!("{}: verified", source.name));
    Ok(verified)
}
