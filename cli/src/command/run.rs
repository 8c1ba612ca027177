//! `etalon run`: run modules.
use super::{Loaded, load, verified};
use crate::args::RunArgs;
use crate::error::{Code, Failure, Result};
use crate::inputs::inputs;
use crate::output;
use crate::profile::Profile;
use crate::trace::Trace;
use conformance::arrays;
use hlo::Literal;
use hlo::literal::npz;
use interp::Hooks;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;

/// Runs each module and shows or writes its result.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let one_result = [("--output", args.output.is_some()), ("--trace", args.trace.is_some())];
    for (option, given) in one_result {
        if args.files.len() > 1 && given {
            let message = format!("{option} takes what comes of one module");
            return Err(Failure::new(&Code::Input { path: option.into(), message }, None));
        }
    }
    for path in &args.files {
        one(args, path)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn one(args: &RunArgs, path: &Path) -> Result<()> {
    let Loaded { name, text, module } = load(path, args.lenient)?;
    let verified = verified(module, &name, &text)?;
    let inputs = inputs(&args.inputs, &verified)?;
    let options = args.limits.options().check_nan(args.check_nan);
    let trace = args.trace.as_deref().map(Trace::create).transpose()?;
    let profile = args.profile.then(Profile::default);
    let mut hooks = watched(trace.clone(), profile.clone());
    for library in &args.custom_call_library {
        hooks = hooks.library(library).map_err(|e| Failure::run(&e, &name, &text))?;
    }
    let progress = output::Progress::new(&format!("running {name}"));
    let result = conformance::Engine::from(args.engine).run(&verified, &inputs, options, hooks);
    drop(progress);
    // What was seen until an error is worth the most.
    if let Some(trace) = trace {
        trace.finish()?;
    }
    if let Some(profile) = profile {
        output::note(&profile.table());
    }
    let result = result.map_err(|e| Failure::run(&e, &name, &text))?;
    if let Some(to) = &args.output {
        write(to, &result)?;
    }
    if args.print || args.output.is_none() {
        let shown = format!("{}\n", hlo::literal::summary(&result, 100));
        output::data(&shown).map_err(|e| Failure::file(path, &e))?;
    }
    Ok(())
}

/// Hooks that tell a trace and a profile of each instruction.
fn watched(trace: Option<Trace>, profile: Option<Profile>) -> Hooks {
    if trace.is_none() && profile.is_none() {
        return Hooks::new();
    }
    Hooks::new().observe(move |event| {
        if let Some(trace) = &trace {
            trace.event(event);
        }
        if let Some(profile) = &profile {
            profile.event(event);
        }
    })
}

/// Writes a result as `out0`, `out1`, ...
pub(super) fn write(to: &Path, result: &Literal) -> Result<()> {
    let named = arrays::named(result, "out");
    let file = File::create(to).map_err(|e| Failure::file(to, &e))?;
    npz::write(std::io::BufWriter::new(file), named).map_err(|e| Failure::file(to, &e))
}
