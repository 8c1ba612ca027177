//! One module per command, and loading a file as a module.
pub(crate) mod backend;
pub(crate) mod bench;
pub(crate) mod blame;
pub(crate) mod check;
pub(crate) mod conform;
pub(crate) mod convert;
pub(crate) mod cost;
pub(crate) mod custom_calls;
pub(crate) mod diff;
pub(crate) mod explain;
pub(crate) mod fuzz;
pub(crate) mod graph;
pub(crate) mod manual;
pub(crate) mod plan;
pub(crate) mod print;
pub(crate) mod reduce;
mod reports;
pub(crate) mod run;
pub(crate) mod test;

use crate::args::{DeviceArgs, InputArgs, LoadArgs};
use crate::error::{Exit, Failure, Result};
use crate::limits::Limits;
use crate::{content, output, random};
use collectives::Session;
use hlo::diag::{Diagnostic, Source};
use hlo::ir::ParseOptions;
use hlo::proto::Contents;
use hlo::{Literal, Module, Verified};
use interp::{CompileOptions, DeviceGrid};
use std::path::Path;
use std::time::Instant;

/// A file and the module in it.
pub(crate) struct Loaded {
    pub(crate) name: String,
    pub(crate) text: String,
    pub(crate) module: Module,
    /// The arguments in the file, as those of [`inputs`](crate::inputs::inputs); empty if it has none.
    pub(crate) arguments: Vec<Vec<Literal>>,
    /// Whether the file is a message of XLA; `text` is then the module as text.
    pub(crate) is_message: bool,
}

/// Reads a module and shows its warnings.
pub(crate) fn load(path: &Path, args: &LoadArgs) -> Result<Loaded> {
    load_within(path, args, &Limits::none())
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
    let (number, lenient, most) = (args.module, args.lenient, limits.most_text());
    let owned = path.to_owned();
    let (loaded, warnings) = limits.within(move || read(&owned, number, lenient, most))??;
    for warning in &warnings {
        warn(warning, Source { name: &loaded.name, text: &loaded.text });
    }
    output::phase(start, || {
        let computations = &loaded.module.computations;
        let instructions: usize = computations.iter().map(|(_, c)| c.instructions.len()).sum();
        let computations = computations.iter().count();
        let name = &loaded.name;
        format!("{name}: read {instructions} instructions, {computations} computations")
    });
    Ok(loaded)
}

/// Reads the module of a number, from a file that may have `most` bytes; returns it with its warnings.
fn read(
    path: &Path,
    number: Option<u32>,
    lenient: bool,
    most: Option<usize>,
) -> Result<(Loaded, Vec<Diagnostic>)> {
    let bytes = content::read(path, most)?;
    let name = if path.as_os_str() == "-" { "<stdin>".into() } else { path.display().to_string() };
    if hlo::proto::is_message(&bytes) {
        return load_message(name, &bytes).map(|loaded| (loaded, Vec::new()));
    }
    if stablehlo::is_mlir(&bytes) {
        return load_mlir(name, bytes).map(|loaded| (loaded, Vec::new()));
    }
    if let Some(failure) = content::foreign(&name, &bytes) {
        return Err(failure);
    }
    let bytes = match number {
        Some(number) => content::module(&name, bytes, number)?,
        None => bytes,
    };
    let parsed = Module::parse_bytes(&bytes, ParseOptions { lenient });
    // Invalid UTF-8 is shown with replacement characters.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    let parsed = parsed.map_err(|errors| {
        content::several(&name, &text).unwrap_or_else(|| Failure {
            diagnostics: errors.diagnostics(),
            source: Some((name.clone(), text.clone())),
            exit: Exit::Wrong,
        })
    })?;
    let module = parsed.module;
    let loaded = Loaded { name, text, module, arguments: Vec::new(), is_message: false };
    Ok((loaded, parsed.warnings))
}

/// Reads a module as [`load`] does, and fills its elided constants if the options say so.
pub(crate) fn load_filled(
    path: &Path,
    args: &LoadArgs,
    inputs: &InputArgs,
    limits: &Limits,
) -> Result<Loaded> {
    let mut loaded = load_within(path, args, limits)?;
    fill_elided(&mut loaded.module, &loaded.name, inputs.elided, limits)?;
    Ok(loaded)
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

fn load_message(name: String, bytes: &[u8]) -> Result<Loaded> {
    let contents = hlo::proto::open(bytes).map_err(|error| {
        let mut diagnostic = error.diagnostic();
        diagnostic.message = format!("{name}: {}", diagnostic.message);
        Failure { diagnostics: vec![diagnostic], source: None, exit: Exit::Wrong }
    })?;
    let Contents { module, text, arguments } = contents;
    Ok(Loaded { name, text, module, arguments, is_message: true })
}

/// Reads a StableHLO program and converts it.
fn load_mlir(name: String, bytes: Vec<u8>) -> Result<Loaded> {
    match stablehlo::parse(&bytes) {
        Ok(module) => {
            let (module, text) = module.with_text();
            Ok(Loaded { name, text, module, arguments: Vec::new(), is_message: true })
        }
        Err(error) => {
            let mut diagnostic = error.diagnostic();
            let source = match error.span().and_then(|_| String::from_utf8(bytes).ok()) {
                Some(text) => Some((name, text)),
                None => {
                    diagnostic.message = format!("{name}: {}", diagnostic.message);
                    None
                }
            };
            let is_unsupported = error.code().is_unsupported();
            let exit = if is_unsupported { Exit::Unsupported } else { Exit::Wrong };
            Err(Failure { diagnostics: vec![diagnostic], source, exit })
        }
    }
}

/// Verifies and compiles a module for the number of devices of the options.
pub(crate) fn compile_for(
    devices: &DeviceArgs,
    options: CompileOptions,
    module: Module,
    (name, text): (&str, &str),
    limits: &Limits,
) -> Result<Session> {
    let verified = verified_for(devices, module, (name, text), limits)?;
    compile(verified, options, name, text)
}

/// Compiles a module.
pub(crate) fn compile(
    verified: Verified,
    options: CompileOptions,
    name: &str,
    text: &str,
) -> Result<Session> {
    let start = Instant::now();
    let session = Session::compile(verified, &options);
    let session = session.map_err(|error| Failure::run(&error, name, text))?;
    output::phase(start, || {
        let memory = session.planned_bytes().map(|bytes| format!(", {bytes} bytes at most"));
        let (devices, memory) = (session.grid().len(), memory.unwrap_or_default());
        let engine = session.executable().engine().name();
        format!("{name}: compiled for `{engine}`, devices: {devices}{memory}")
    });
    Ok(session)
}

/// Verifies a module for the number of devices of the options.
pub(crate) fn verified_for(
    devices: &DeviceArgs,
    mut module: Module,
    (name, text): (&str, &str),
    limits: &Limits,
) -> Result<Verified> {
    let header = DeviceGrid::of(&module.config);
    devices.apply(&mut module);
    let grid = DeviceGrid::of(&module.config);
    collectives::check_grid(grid).map_err(|e| Failure::run(&e.into(), name, text))?;
    let verified = verified(module, name, text, limits).map_err(|mut failure| {
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
pub(crate) fn verified(
    module: Module,
    name: &str,
    text: &str,
    limits: &Limits,
) -> Result<Verified> {
    let start = Instant::now();
    let verified = limits.within(move || module.verify())?.map_err(|errors| Failure {
        diagnostics: errors.diagnostics(),
        source: Some((name.to_owned(), text.to_owned())),
        exit: Exit::Wrong,
    })?;
    output::phase(start, || format!("{name}: verified"));
    Ok(verified)
}
