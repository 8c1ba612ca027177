//! `etalon suite export`: the suite as files, with the legal results.
use super::backend::{accuracies, suite};
use crate::args::{ExportArgs, SuiteArgs, SuiteCommand, VERSION};
use crate::error::{Exit, Failure, Result};
use crate::{interrupt, output};
use conformance::judge::JudgeOptions;
use hlo::diag::quantity;
use std::io::ErrorKind;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

pub(crate) fn start(args: &SuiteArgs) -> Result<ExitCode> {
    match &args.command {
        SuiteCommand::Export(args) => export(args),
    }
}

fn export(args: &ExportArgs) -> Result<ExitCode> {
    let suite = suite(args.suite, args.case.as_deref(), args.shard)?;
    let mut judging = JudgeOptions::default();
    judging.modes = args.judgement.modes().unwrap_or(judging.modes);
    if let Some(path) = &args.judgement.accuracies {
        judging.accuracies = accuracies(path)?;
    }
    let progress = output::Progress::new("cases");
    let stop = interrupt::stop();
    let manifest = suite.export(&args.folder, &judging, VERSION, || {
        progress.advance();
        !stop.load(Ordering::Relaxed)
    });
    drop(progress);
    if manifest.as_ref().is_err_and(|failed| failed.error.kind() == ErrorKind::Interrupted) {
        output::note("stopped by Ctrl-C: what was written is removed\n");
        return Ok(interrupt::exit_code());
    }
    let manifest = manifest.map_err(|error| {
        let mut failure = Failure::file(&error.path, &error.error);
        let help = "name a new folder, or an empty one".to_owned();
        if error.path == args.folder {
            failure.diagnostics.iter_mut().for_each(|one| one.help = Some(help.clone()));
        }
        failure
    })?;
    let refused = manifest.cases.iter().flat_map(|case| case.refused.keys()).collect::<Vec<_>>();
    let without = |format: &str| refused.iter().filter(|other| ***other == format).count();
    let counts = ["proto", "stablehlo", "bytecode"].map(|format| match without(format) {
        0 => String::new(),
        count => format!(", {count} without {format}"),
    });
    let list = args.folder.join("manifest.json");
    output::data(&format!(
        "{}{}\n{}\n",
        quantity(manifest.cases.len(), "case"),
        counts.concat(),
        list.display()
    ))?;
    for (name, reason) in &manifest.left_out {
        output::note(&format!("{name} is left out: {reason}\n"));
    }
    Ok(if manifest.left_out.is_empty() { ExitCode::SUCCESS } else { Exit::Bug.code() })
}
