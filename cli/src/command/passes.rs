//! `etalon passes`: the compiler pass that changes the meaning of a module, from a dump of its states.
use crate::args::{InputArgs, PassesArgs};
use crate::error::{Exit, Failure, Result};
use crate::file::{self, Existing};
use crate::limits::Limits;
use crate::{inputs, output};
use conformance::generate::{Regime, arguments};
use conformance::on_large_stack;
use conformance::passes::{ArgumentSet, Class, Dump, ModuleDump, ModuleReport, Options};
use conformance::passes::{check, first_module, to_junit};
use conformance::suite::matches;
use hlo::Verified;
use interp::DeviceGrid;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(args: &PassesArgs) -> Result<ExitCode> {
    let outputs = args.junit.iter().map(|path| (path.as_path(), Existing::Replace));
    file::check(outputs, args.dumps.iter().map(AsRef::as_ref).chain(args.inputs.paths()))?;
    let options = Options {
        fuel: args.fuel,
        first: args.first,
        strict: args.strict,
        lenient: args.lenient,
        pass: args.pass.clone(),
    };
    let mut reports = Vec::new();
    for path in &args.dumps {
        let dump = Dump::open(path).map_err(|error| {
            let help = error.help.clone();
            let mut failure = Failure::file(&error.path, &error.message);
            failure.diagnostics.iter_mut().for_each(|d| d.help.clone_from(&help));
            failure
        })?;
        let chosen = chosen(args, path, &dump)?;
        for module in chosen {
            let report = checked(args, module, &options)?;
            let text = if args.json { report.to_json() + "\n" } else { report.to_string() };
            output::report(&text, args.junit.as_deref().is_some_and(file::is_stdout))?;
            if let Some(folder) = &args.output {
                save(&report, folder, args.strict)?;
            }
            reports.push(report);
        }
    }
    if let Some(path) = &args.junit {
        file::replace(path, to_junit(&reports, args.strict).as_bytes())?;
    }
    Ok(exit(&reports, args.strict).map_or(ExitCode::SUCCESS, Exit::code))
}

/// Writes the steps that are wrong to a folder.
fn save(report: &ModuleReport, folder: &Path, strict: bool) -> Result<()> {
    let saved = report.save(folder, strict);
    for folder in saved.map_err(|error| Failure::file(&error.path, &error.error))? {
        output::status(&format!("saved in {}\n", folder.display()));
    }
    Ok(())
}

/// Returns the modules of a dump that are asked for.
fn chosen<'d>(args: &PassesArgs, path: &Path, dump: &'d Dump) -> Result<Vec<&'d ModuleDump>> {
    let Some(pattern) = &args.module else { return Ok(dump.modules.iter().collect()) };
    let is_chosen = |module: &&ModuleDump| matches(pattern, &module.name);
    let found: Vec<&ModuleDump> = dump.modules.iter().filter(is_chosen).collect();
    if found.is_empty() {
        let names: Vec<&str> = dump.modules.iter().map(|module| module.name.as_str()).collect();
        let mut failure = Failure::file(path, &format!("no module has the name `{pattern}`"));
        let help = Some(format!("its modules are {}", names.join(", ")));
        failure.diagnostics.iter_mut().for_each(|d| d.help.clone_from(&help));
        return Err(failure);
    }
    Ok(found)
}

/// Checks the steps of a module.
fn checked(args: &PassesArgs, module: &ModuleDump, options: &Options) -> Result<ModuleReport> {
    let progress = output::Progress::new(&format!("checking {}", module.name));
    let sets = match on_large_stack(|| first_module(module, options)) {
        Ok(first) => sets(args, &first)?,
        // The report says what is wrong with each state.
        Err(_) => Vec::new(),
    };
    let report = on_large_stack(|| check(module, &sets, options, &mut |_| {}));
    drop(progress);
    Ok(report)
}

/// Returns the sets of arguments of a module.
fn sets(args: &PassesArgs, verified: &Verified) -> Result<Vec<ArgumentSet>> {
    let module = verified.module();
    let limits = Limits::none();
    let seed = args.inputs.random.unwrap_or(1);
    let own = InputArgs { random: Some(seed), ..args.inputs.clone() };
    let grid = DeviceGrid::of(&module.config);
    let first = inputs::inputs(&own, Vec::new(), module, grid, &limits)?;
    let name = match (&args.inputs.input.is_empty(), args.inputs.random) {
        (false, _) => args.inputs.input.join(" "),
        (true, _) => format!("--random {seed}"),
    };
    let mut sets = vec![ArgumentSet { name, arguments: first }];
    for number in 1..u64::try_from(args.seeds.get()).unwrap_or(u64::MAX) {
        let index = usize::try_from(number - 1).unwrap_or_default() % Regime::ALL.len();
        let regime = Regime::ALL[index];
        let name = format!("{} {}", regime.name(), seed + number);
        let arguments = arguments(module, regime, seed + number);
        sets.push(ArgumentSet { name, arguments });
    }
    Ok(sets)
}

/// Returns the exit code of the reports: a step that is wrong comes before one that did not run.
fn exit(reports: &[ModuleReport], strict: bool) -> Option<Exit> {
    let of = |class: Class| match class {
        Class::EtalonBug => Some(Exit::Bug),
        class if class.is_wrong(strict) => Some(Exit::Wrong),
        Class::NotRun => Some(Exit::Unsupported),
        _ => None,
    };
    let all = reports.iter().flat_map(ModuleReport::all);
    all.filter_map(|step| of(step.class)).reduce(Exit::or)
}
