//! `etalon passes`: the compiler pass that changes the meaning of a module, from a dump of its states.
mod compiled;

use super::from_stdin;
use crate::args::{InputArgs, PassesArgs};
use crate::error::{Exit, Failure, Result};
use crate::file::{self, Existing};
use crate::limits::Limits;
use crate::{inputs, interrupt, output};
use conformance::generate::{Regime, arguments};
use conformance::on_large_stack;
use conformance::passes::{
    ArgumentSet, Class, Comparison, Dump, ModuleDump, ModuleReport, Options, check, compare,
    first_module, pairs, to_html, to_junit,
};
use conformance::suite::matches;
use hlo::{ElementType, Literal, Scalar, Verified};
use interp::DeviceGrid;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

pub(crate) fn run(args: &PassesArgs) -> Result<ExitCode> {
    let confirm = args.confirm.then_some("--confirm");
    let of_backend = args.backend.of_a_backend().or(confirm);
    if let Some(option) = of_backend.filter(|_| !args.backend.is_named()) {
        let failure = Failure::file(Path::new(option), &"the option is one of a backend");
        return Err(failure.with_help("name the backend with --backend"));
    }
    let dumps = match args.backend.is_named() {
        true => Vec::new(),
        false => args.dumps.iter().map(|path| opened(path)).collect::<Result<Vec<Dump>>>()?,
    };
    let states = dumps.iter().flat_map(|dump| &dump.modules).flat_map(ModuleDump::paths);
    let inputs = args.dumps.iter().map(AsRef::as_ref).chain(args.inputs.paths()).chain(states);
    let outputs = args.junit.iter().chain(&args.html);
    let outputs = outputs.map(|path| (path.as_path(), Existing::Replace));
    file::check(outputs, inputs)?;
    let folder = args.output.as_deref().map(|folder| made(folder, &args.dumps)).transpose()?;
    let options = Options {
        fuel: args.fuel,
        first: args.first,
        strict: args.backend.judgement.strict,
        lenient: args.lenient,
        pass: args.pass.clone(),
        draws: args.draws,
        changes: args.html.is_some(),
        interrupt: interrupt::stop(),
    };
    let is_stopped = || options.interrupt.load(Ordering::Relaxed);
    let mut found = Found::default();
    let mut worst = None;
    if args.backend.is_named() {
        for path in &args.dumps {
            let exit = compiled::check(args, path, &options, &mut found)?;
            worst = exit.into_iter().chain(worst).reduce(Exit::or);
            if is_stopped() {
                break;
            }
        }
    }
    let mut modules = Vec::new();
    'dumps: for (path, dump) in args.dumps.iter().zip(&dumps) {
        let chosen = chosen(args, path, dump)?;
        if dumps.len() > 1 && !args.json {
            output::report(&format!("{}:\n", path.display()), takes_stdout(args))?;
        }
        for module in &chosen {
            let report = checked(args, module, &options)?;
            found.add(args, report)?;
            if is_stopped() {
                break 'dumps;
            }
        }
        modules.push(chosen);
    }
    // What other passes change is not asked for.
    if let ([old, new], None) = (&*modules, &args.pass) {
        compared(args, [old, new], &options, &mut found)?;
    }
    drop(folder);
    if is_stopped() {
        output::note("stopped by Ctrl-C: later states are not checked, and no report is written\n");
        return Ok(interrupt::exit_code());
    }
    let Found { reports, comparisons, .. } = found;
    if let Some(path) = &args.junit {
        let text = to_junit(&reports, &comparisons, args.backend.judgement.strict);
        file::replace(path, text.as_bytes())?;
    }
    if let Some(path) = &args.html {
        let text = to_html(&reports, &comparisons, args.backend.judgement.strict);
        file::replace(path, text.as_bytes())?;
    }
    let steps = reports.iter().flat_map(ModuleReport::all).map(|step| step.class);
    let classes = steps.chain(comparisons.iter().map(Comparison::class));
    let worst =
        exit(classes, args.backend.judgement.strict).into_iter().chain(worst).reduce(Exit::or);
    Ok(worst.map_or(ExitCode::SUCCESS, Exit::code))
}

/// What is known of the modules so far.
#[derive(Default)]
struct Found {
    reports: Vec<ModuleReport>,
    /// The folders of wrong steps.
    saved: Vec<PathBuf>,
    /// The modules that are in both of two dumps.
    comparisons: Vec<Comparison>,
}

impl Found {
    /// Prints the report of a module, and saves its steps that are wrong.
    fn add(&mut self, args: &PassesArgs, report: ModuleReport) -> Result<()> {
        let text = if args.json { report.to_json() + "\n" } else { report.to_string() };
        output::report(&text, takes_stdout(args))?;
        if let Some(folder) = &args.output {
            let saved = report.save(folder, args.backend.judgement.strict, &self.saved);
            let saved = saved.map_err(|error| Failure::file(&error.path, &error.error))?;
            for folder in &saved {
                output::status(&format!("saved in {}\n", folder.display()));
            }
            self.saved.extend(saved);
        }
        self.reports.push(report);
        Ok(())
    }
}

/// Returns whether a report for programs is written to standard output.
fn takes_stdout(args: &PassesArgs) -> bool {
    args.junit.iter().chain(&args.html).any(|path| file::is_stdout(path))
}

/// A folder that was made for what is wrong; it is removed if nothing is in it.
struct Made<'a>(&'a Path);

impl Drop for Made<'_> {
    fn drop(&mut self) {
        // It stays if it has files.
        let _ = std::fs::remove_dir(self.0);
    }
}

/// Makes the folder of what is wrong, before work that may take hours. It may not be in a dump, whose
/// files are states.
fn made<'a>(folder: &'a Path, dumps: &[PathBuf]) -> Result<Option<Made<'a>>> {
    let is_new = !folder.exists();
    std::fs::create_dir_all(folder).map_err(|error| Failure::file(folder, &error))?;
    let made = is_new.then_some(Made(folder));
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    let own = real(folder);
    let has_it = |dump: &PathBuf| {
        real(dump).is_some_and(|dump| own.as_ref().is_some_and(|own| own.starts_with(&dump)))
    };
    match dumps.iter().any(has_it) {
        true => {
            Err(Failure::file(folder, &"the output is in the dump, where its files are states"))
        }
        false => Ok(made),
    }
}

/// Finds the modules of a dump.
fn opened(path: &Path) -> Result<Dump> {
    let dump = match file::is_stdout(path) {
        true => from_stdin(|file| Dump::of(path, &file))?,
        false => Dump::open(path),
    };
    dump.map_err(|error| {
        let failure = Failure::file(&error.path, &error.message);
        match &error.help {
            Some(help) => failure.with_help(help),
            None => failure,
        }
    })
}

/// Returns the modules of a dump that are asked for.
fn chosen<'d>(args: &PassesArgs, path: &Path, dump: &'d Dump) -> Result<Vec<&'d ModuleDump>> {
    let Some(pattern) = &args.module else { return Ok(dump.modules.iter().collect()) };
    let is_chosen = |module: &&ModuleDump| matches(pattern, &module.name);
    let found: Vec<&ModuleDump> = dump.modules.iter().filter(is_chosen).collect();
    if found.is_empty() {
        let names: Vec<&str> = dump.modules.iter().map(|module| module.name.as_str()).collect();
        let failure = Failure::file(path, &format!("no module has the name `{pattern}`"));
        return Err(failure.with_help(&format!("its modules are {}", names.join(", "))));
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
    // What a scalar decides has two ways, of which one set of arguments takes one.
    if args.inputs.input.is_empty()
        && let Some(arguments) = decided_otherwise(&sets[0].arguments)
    {
        let name = format!("--random {seed}, other pred[]");
        sets.push(ArgumentSet { name, arguments });
    }
    for number in 1..u64::try_from(args.seeds.get()).unwrap_or(u64::MAX) {
        let index = usize::try_from(number - 1).unwrap_or_default() % Regime::ALL.len();
        let regime = Regime::ALL[index];
        let name = format!("{} {}", regime.name(), seed + number);
        let arguments = arguments(module, regime, seed + number);
        sets.push(ArgumentSet { name, arguments });
    }
    Ok(sets)
}

/// Returns arguments with the opposite of each boolean scalar, if there are any.
fn decided_otherwise(arguments: &[Vec<Literal>]) -> Option<Vec<Vec<Literal>>> {
    let mut others = arguments.to_vec();
    let is_scalar = |literal: &&mut Literal| {
        let shape = literal.array_shape();
        shape.is_some_and(|shape| shape.ty == ElementType::Pred && shape.rank() == 0)
    };
    let mut found = false;
    for literal in others.iter_mut().flatten().filter(is_scalar) {
        *literal =
            Literal::scalar(ElementType::Pred, Scalar::Pred(literal.get(0) != Scalar::Pred(true)));
        found = true;
    }
    found.then_some(others)
}

/// Compares the modules that are in both of two dumps, after their own steps.
fn compared(
    args: &PassesArgs,
    modules: [&[&ModuleDump]; 2],
    options: &Options,
    found: &mut Found,
) -> Result<()> {
    let names = [0, 1].map(|at| args.dumps[at].display().to_string());
    let pairs = on_large_stack(|| pairs(modules, options));
    let report_of = |side: usize, dump: &ModuleDump| {
        let at = modules[side].iter().position(|one| std::ptr::eq(*one, dump))?;
        found.reports.get(at + side * modules[0].len())
    };
    for [old, new] in pairs.both {
        let (Some(first), Some(second)) = (report_of(0, old), report_of(1, new)) else { continue };
        let progress = output::Progress::new(&format!("comparing {}", old.name));
        let sets = match on_large_stack(|| first_module(old, options)) {
            Ok(module) => sets(args, &module)?,
            Err(_) => Vec::new(),
        };
        let comparison =
            on_large_stack(|| compare([old, new], names.clone(), &sets, options, [first, second]));
        drop(progress);
        let text = if args.json { comparison.to_json() + "\n" } else { comparison.to_string() };
        output::report(&text, takes_stdout(args))?;
        found.comparisons.push(comparison);
    }
    let single = pairs.single.iter().zip(&names).filter(|(modules, _)| !modules.is_empty());
    for (modules, name) in single {
        output::status(&format!("only in {name}: {}\n", modules.join(", ")));
    }
    Ok(())
}

/// Returns the exit code of what was found: a step that is wrong comes before one that did not run.
fn exit(classes: impl Iterator<Item = Class>, strict: bool) -> Option<Exit> {
    let of = |class: Class| match class {
        Class::EtalonBug => Some(Exit::Bug),
        class if class.is_wrong(strict) => Some(Exit::Wrong),
        Class::NotRun => Some(Exit::Unsupported),
        _ => None,
    };
    classes.filter_map(of).reduce(Exit::or)
}
