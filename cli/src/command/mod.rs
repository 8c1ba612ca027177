//! One module per command, and loading a file as a module.
pub(crate) mod backend;
pub(crate) mod bench;
pub(crate) mod blame;
pub(crate) mod check;
pub(crate) mod conform;
pub(crate) mod convert;
pub(crate) mod custom_calls;
pub(crate) mod explain;
pub(crate) mod fuzz;
pub(crate) mod graph;
pub(crate) mod plan;
pub(crate) mod print;
pub(crate) mod reduce;
mod reports;
pub(crate) mod run;
pub(crate) mod test;

use crate::args::{DeviceArgs, InputArgs};
use crate::error::{Exit, Failure, Result};
use crate::{output, random};
use collectives::Session;
use hlo::diag::Source;
use hlo::ir::ParseOptions;
use hlo::proto::Contents;
use hlo::{Literal, Module, Verified};
use interp::{CompileOptions, DeviceGrid};
use std::io::Read;
use std::path::Path;

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

/// Reads a file, or standard input for `-`.
fn bytes(path: &Path) -> Result<Vec<u8>> {
    let read = match path.as_os_str() == "-" {
        true => read_all(&mut std::io::stdin().lock()),
        false => std::fs::File::open(path).and_then(|mut file| read_all(&mut file)),
    };
    read.map_err(|e| Failure::file(path, &e))
}

/// Reads to the end, or to the first part that is neither text nor a message: the file may be endless.
fn read_all(from: &mut impl Read) -> std::io::Result<Vec<u8>> {
    const START: u64 = 1 << 12;
    const LONGEST: u64 = 1 << 32;
    let mut bytes = Vec::new();
    from.by_ref().take(START).read_to_end(&mut bytes)?;
    // Neither HLO text nor a message begins with a zero.
    if bytes.first() != Some(&0) {
        from.take(LONGEST).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// Reads a module and shows its warnings.
pub(crate) fn load(path: &Path, lenient: bool) -> Result<Loaded> {
    let bytes = bytes(path)?;
    let name = if path.as_os_str() == "-" { "<stdin>".into() } else { path.display().to_string() };
    if hlo::proto::is_message(&bytes) {
        return load_message(name, &bytes);
    }
    let parsed = Module::parse_bytes(&bytes, ParseOptions { lenient });
    // Invalid UTF-8 is shown with replacement characters.
    let text = String::from_utf8(bytes)
        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
    let parsed = parsed.map_err(|error| Failure {
        diagnostics: vec![error.diagnostic()],
        source: Some((name.clone(), text.clone())),
        exit: Exit::Wrong,
    })?;
    for warning in &parsed.warnings {
        output::show_one(warning, Some(Source { name: &name, text: &text }));
    }
    Ok(Loaded { name, text, module: parsed.module, arguments: Vec::new(), is_message: false })
}

/// Reads a module as [`load`] does, and fills its elided constants if the options say so.
pub(crate) fn load_filled(path: &Path, lenient: bool, inputs: &InputArgs) -> Result<Loaded> {
    let mut loaded = load(path, lenient)?;
    if let Some(seed) = inputs.elided {
        let count = random::fill_elided(seed, &mut loaded.module)?;
        let constants = if count == 1 { "constant has a value" } else { "constants have values" };
        output::note(&format!(
            "{}: {count} elided {constants} drawn from seed {seed}\n",
            loaded.name
        ));
    }
    Ok(loaded)
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

/// Verifies and compiles a module for the number of devices of the options.
pub(crate) fn compile_for(
    devices: &DeviceArgs,
    options: CompileOptions,
    module: Module,
    name: &str,
    text: &str,
) -> Result<Session> {
    compile(verified_for(devices, module, name, text)?, options, name, text)
}

/// Compiles a module.
pub(crate) fn compile(
    verified: Verified,
    options: CompileOptions,
    name: &str,
    text: &str,
) -> Result<Session> {
    let session = Session::compile(verified, &options);
    session.map_err(|error| Failure::run(&error, name, text))
}

/// Verifies a module for the number of devices of the options.
pub(crate) fn verified_for(
    devices: &DeviceArgs,
    mut module: Module,
    name: &str,
    text: &str,
) -> Result<Verified> {
    let header = DeviceGrid::of(&module.config);
    devices.apply(&mut module);
    let grid = DeviceGrid::of(&module.config);
    collectives::check_grid(grid).map_err(|e| Failure::run(&e.into(), name, text))?;
    let verified = verified(module, name, text).map_err(|mut failure| {
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
pub(crate) fn verified(module: Module, name: &str, text: &str) -> Result<Verified> {
    module.verify().map_err(|errors| Failure {
        diagnostics: errors.0.iter().map(hlo::Error::diagnostic).collect(),
        source: Some((name.to_owned(), text.to_owned())),
        exit: Exit::Wrong,
    })
}
