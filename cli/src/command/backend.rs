//! `etalon conform --backend`: compares a backend with an engine of Etalon, module by module.
use super::test::{failed, finish, print, unreadable};
use super::{Loaded, load, verified};
use crate::args::{BackendArgs, ConformArgs};
use crate::error::{Exit, Failure, Result};
use crate::{inputs, output};
use conformance::backend::{
    Backend, BackendError, CommandBackend, EngineBackend, Plugin, PluginOptions, serve,
};
use conformance::{Case, Engine, Entry, FileTest, Report, Subject};
use interp::DeviceGrid;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Something that has arguments, or gets them from the command line.
enum Item {
    Entry(Entry),
    Case(Case),
    Module(PathBuf),
    /// Not a file test.
    Unreadable(Report),
}

pub(crate) fn conform(args: &ConformArgs) -> Result<ExitCode> {
    let mut backend = open(&args.backend)?;
    let mut reference = EngineBackend(args.engine.into());
    let mut items = Vec::new();
    for path in &args.paths {
        items.extend(find(path, args)?);
    }
    let progress = output::Progress::counting("comparing", items.len());
    let mut reports = Vec::new();
    let alone = items.len() == 1;
    for item in items {
        let report = match subject(item, args, alone)? {
            Ok(subject) => conformance::on_large_stack(|| {
                conformance::conform(&subject, &mut reference, &mut *backend)
            }),
            Err(Some(report)) => *report,
            Err(None) => continue,
        };
        for warning in backend.take_warnings() {
            output::note(&format!("warning: {warning}\n"));
        }
        print(std::slice::from_ref(&report), args.verbose)?;
        reports.push(report);
        progress.advance();
    }
    drop(progress);
    finish(&reports, args.json.as_deref())
}

/// `etalon pjrt-host`: runs a plugin for a parent process.
pub(crate) fn host() -> Result<ExitCode> {
    serve().map_err(|e| Failure::file(Path::new("<stdin>"), &e))?;
    Ok(ExitCode::SUCCESS)
}

/// Starts the backend of the command line.
pub(super) fn open(args: &BackendArgs) -> Result<Box<dyn Backend>> {
    if let Some(command) = &args.backend_command {
        let backend = CommandBackend::new(command, args.time_limit).map_err(|e| misuse(&e))?;
        return Ok(Box::new(backend));
    }
    let name = args.backend.as_deref().unwrap_or_default();
    if let Some(&engine) = Engine::ALL.iter().find(|engine| engine.name() == name) {
        return Ok(Box::new(EngineBackend(engine)));
    }
    let path = Path::new(name);
    // Without a folder, the loader would search the system's folders.
    let path = path.canonicalize().map_err(|e| Failure::file(path, &e))?;
    let program = std::env::current_exe().map_err(|e| Failure::file(Path::new("etalon"), &e))?;
    let mut host = std::process::Command::new(program);
    host.arg("pjrt-host");
    let options = PluginOptions {
        client: args.option.clone(),
        xla: args.xla_option.clone(),
        time_limit: args.time_limit,
        ..PluginOptions::default()
    };
    let plugin = Plugin::isolated(&path, host, options).map_err(|e| misuse(&e))?;
    Ok(Box::new(plugin))
}

fn misuse(error: &BackendError) -> Failure {
    Failure { diagnostics: vec![error.diagnostic()], source: None, exit: Exit::Misuse }
}

/// Finds what to compare at or below `path`. Arguments on the command line are for modules, whatever is beside them.
fn find(path: &Path, args: &ConformArgs) -> Result<Vec<Item>> {
    let has_arguments = args.inputs.random.is_some() || !args.inputs.input.is_empty();
    if path.as_os_str() == "-" {
        return Ok(vec![Item::Module(path.to_owned())]);
    }
    let (entries, others) = conformance::find(path).map_err(|e| Failure::file(path, &e))?;
    if has_arguments {
        let modules = entries.into_iter().map(|entry| entry.module).chain(others);
        return Ok(modules.map(Item::Module).collect());
    }
    let mut items: Vec<Item> = entries.into_iter().map(Item::Entry).collect();
    for other in others {
        match FileTest::read(&other) {
            Ok(test) if !test.has_expectations() => items.push(Item::Module(other)),
            Ok(test) => items.extend(test.cases.into_iter().map(Item::Case)),
            Err(error) => items.push(Item::Unreadable(unreadable(&other, &error))),
        }
    }
    Ok(items)
}

/// Returns the module with its arguments, or why there is none: a report, or nothing if the case expects errors. An error of
/// one module ends the command only if it is the only one.
fn subject(
    item: Item,
    args: &ConformArgs,
    alone: bool,
) -> Result<std::result::Result<Subject, Option<Box<Report>>>> {
    Ok(match item {
        Item::Entry(entry) => entry.subject().map_err(Some),
        Item::Case(case) => match case.subject() {
            Ok(subject) => subject.ok_or(None),
            Err(report) => Err(Some(report)),
        },
        Item::Module(path) => match module(&path, args) {
            Err(failure) if !alone => Err(Some(Box::new(failed(&path, failure)))),
            module => Ok(module?),
        },
        Item::Unreadable(report) => Err(Some(Box::new(report))),
    })
}

/// Loads a module, with the arguments of the command line.
fn module(path: &Path, args: &ConformArgs) -> Result<Subject> {
    let Loaded { name, text, module } = load(path, args.lenient)?;
    let verified = verified(module, &name, &text)?;
    let grid = DeviceGrid::of(&verified.module().config);
    let arguments = inputs::inputs(&args.inputs, verified.module(), grid)?;
    Ok(Subject { file: name.clone(), name, text, module: Arc::new(verified), arguments })
}
