//! `etalon run`: run modules.
use super::{Loaded, load, verified};
use crate::args::RunArgs;
use crate::error::{Code, Exit, Failure, Result};
use crate::{output, random};
use conformance::arrays;
use hlo::literal::npz;
use hlo::{Literal, Shape, Verified};
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    if args.files.len() > 1 && args.output.is_some() {
        let message = "--output takes the result of one module".to_owned();
        return Err(Failure::new(&Code::Input { path: "--output".into(), message }, None));
    }
    for path in &args.files {
        one(args, path)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn one(args: &RunArgs, path: &Path) -> Result<()> {
    let Loaded { name, text, module } = load(path, args.lenient)?;
    let verified = verified(module, &name, &text)?;
    let inputs = inputs(args, &verified)?;
    let mut options = interp::Options::default();
    if let Some(steps) = args.fuel {
        options = options.fuel(steps);
    }
    if let Some(bytes) = args.max_memory {
        options = options.max_memory(bytes);
    }
    let mut hooks = interp::Hooks::new();
    for library in &args.custom_call_library {
        hooks = hooks.library(library).map_err(|e| Failure::run(&e, &name, &text))?;
    }
    let progress = output::Progress::new(&format!("running {name}"));
    let result =
        conformance::Engine::from(args.engine).run_with(&verified, &inputs, options, hooks);
    drop(progress);
    let result = result.map_err(|e| Failure::run(&e, &name, &text))?;
    if let Some(to) = &args.output {
        let named = arrays::named(&result, "out");
        let file = File::create(to).map_err(|e| Failure::file(to, &e))?;
        npz::write(std::io::BufWriter::new(file), named).map_err(|e| Failure::file(to, &e))?;
    }
    if args.print || args.output.is_none() {
        let shown = format!("{}\n", hlo::literal::summary(&result, 100));
        output::data(&shown).map_err(|e| Failure::file(path, &e))?;
    }
    Ok(())
}

/// The arguments: given, drawn, or none where the module takes none.
fn inputs(args: &RunArgs, verified: &Verified) -> Result<Vec<Literal>> {
    let module = verified.module();
    let shapes = module.entry().program_shape().parameters;
    if let Some(seed) = args.random {
        return random::draw(seed, &shapes).ok_or_else(|| missing(&shapes));
    }
    if args.input.is_empty() {
        return if shapes.is_empty() { Ok(Vec::new()) } else { Err(missing(&shapes)) };
    }
    let mut found = Vec::new();
    for given in &args.input {
        found.extend(read(given)?);
    }
    let wrong = |message: String| {
        let path = args.input.join(", ");
        Failure::new(
            &Code::Input { path, message },
            Some(format!("the module takes {}", list(&shapes))),
        )
    };
    if let Some(number) = found.iter().find_map(|a| beyond(&a.name, &shapes)) {
        return Err(Failure::new(&Code::NoSuchParameter { number, count: shapes.len() }, None));
    }
    arrays::arguments(&found, module).map_err(wrong)
}

/// The number of an array `inN` for which there is no parameter.
fn beyond(name: &str, shapes: &[&Shape]) -> Option<usize> {
    let number: usize = name.strip_prefix("in")?.parse().ok()?;
    let leaves: usize = shapes.iter().map(|s| s.leaves().len()).sum();
    (number >= leaves).then_some(number)
}

/// Reads `FILE.npz`, or `N=FILE.npy`.
fn read(given: &str) -> Result<Vec<npz::NpyArray>> {
    let numbered = given.split_once('=').filter(|(n, _)| n.parse::<usize>().is_ok());
    let path = Path::new(numbered.map_or(given, |(_, path)| path));
    let file = File::open(path).map_err(|e| Failure::file(path, &e))?;
    let arrays = match numbered {
        Some((number, _)) => npz::read_array(format!("in{number}"), file).map(|a| vec![a]),
        None => npz::read(std::io::BufReader::new(file)),
    };
    arrays.map_err(|e| {
        let (path, message) = (path.display().to_string(), e.to_string());
        Failure::new(&Code::Input { path, message }, None)
    })
}

fn list(shapes: &[&Shape]) -> String {
    const SHOWN: usize = 8;
    let mut text: Vec<String> = shapes.iter().take(SHOWN).map(ToString::to_string).collect();
    if shapes.len() > SHOWN {
        text.push(format!("... ({} in all)", shapes.len()));
    }
    text.join(", ")
}

fn missing(shapes: &[&Shape]) -> Failure {
    let code = Code::MissingInput { count: shapes.len(), shapes: list(shapes) };
    let help = "give them with --input FILE.npz, or draw them with --random SEED".to_owned();
    Failure { exit: Exit::Misuse, ..Failure::new(&code, Some(help)) }
}
