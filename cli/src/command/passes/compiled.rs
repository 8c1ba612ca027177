//! `etalon passes --backend`: a module that a backend compiles with a dump.
use super::{Found, checked, sets, takes_stdout};
use crate::args::{LoadArgs, PassesArgs};
use crate::command::backend::{open, show_warnings};
use crate::command::{load_filled, verified};
use crate::error::{Exit, Failure, Result};
use crate::limits::Limits;
use crate::output;
use conformance::backend::{Backend as _, BackendError, Backends, EngineBackend, OptionValue};
use conformance::judge::judge_with;
use conformance::passes::{Class, Dump, LastState, ModuleReport, Options, Step};
use conformance::results::Verdict;
use conformance::{Engine, on_large_stack};
use hlo::{Literal, Verified};
use interp::DeviceGrid;
use load::Loaded;
use serde_json::json;
use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The results of a backend on each device.
type Executed = std::result::Result<Vec<Literal>, BackendError>;

/// Returns the error of a backend that wrote no dump.
fn no_dump(backends: &Backends, actual: &Executed) -> Failure {
    let message = match actual {
        Ok(_) => "it wrote no dump".to_owned(),
        Err(error) => format!("it wrote no dump: {error}"),
    };
    let help = "the backend must take options of XLA, as PJRT plugins of XLA do";
    let name = Path::new(backends.name());
    Failure::file(name, &message).with_help(help)
}

/// The options of XLA that make it dump the states of each module.
fn dumping(folder: &Path) -> Vec<(String, OptionValue)> {
    let path = OptionValue::Text(folder.display().to_string());
    let flag = || OptionValue::Bool(true);
    let options = [
        ("xla_dump_to", path),
        ("xla_dump_hlo_pass_re", OptionValue::Text(".*".to_owned())),
        ("xla_dump_hlo_as_text", flag()),
        ("xla_dump_large_constants", flag()),
    ];
    options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Compiles a module on the backend with a dump, checks its passes, and compares the result of the backend with that of the last
/// state.
pub(super) fn check(
    args: &PassesArgs,
    path: &Path,
    options: &Options,
    found: &mut Found,
) -> Result<Option<Exit>> {
    let folder = tempfile::tempdir().map_err(|error| Failure::file(path, &error))?;
    let mut of_backend = args.backend.clone();
    of_backend.xla_option.extend(dumping(folder.path()));
    let limits = Limits::none();
    let Loaded { file, module, .. } =
        load_filled(path, &LoadArgs::of(args.lenient), &args.inputs, &limits)?;
    let module = Arc::new(verified(module, file.source(), &limits)?);
    let arguments = sets(args, &module)?.swap_remove(0).arguments;
    let backends = open(&of_backend)?;
    let actual = executed(&backends, &module, &arguments);
    show_warnings(&backends);
    let dump = Dump::open(folder.path()).map_err(|_| no_dump(&backends, &actual))?;
    let name = module.module().name.as_str();
    let own = dump.modules.iter().find(|found| found.name == name).or(dump.modules.last());
    let Some(own) = own else { return Ok(None) };
    let report = checked(args, own, options)?;
    if options.interrupt.load(Ordering::Relaxed) {
        found.add(args, report)?;
        return Ok(None);
    }
    let is_wrong = report.wrong(args.backend.judgement.strict).next().is_some();
    let (mut text, exit) = conclusion(&backends, &report, actual, is_wrong);
    let confirmation =
        args.confirm.then(|| confirmation(args, &module, &report, &backends)).transpose()?;
    let module = report.module.clone();
    found.add(args, report)?;
    if args.json {
        let name = backends.name();
        let mut line = json!({ "module": module, "backend": name, "last_state": text.trim_end() });
        if let Some(Confirmation { passes, is_confirmed, reason }) = confirmation {
            line["confirmed"] = is_confirmed.into();
            line["disabled"] = passes.into();
            line["reason"] = reason.into();
        }
        text = format!("{line}\n");
    } else if let Some(confirmation) = confirmation {
        text += &confirmation.to_string();
    }
    output::report(&text, takes_stdout(args))?;
    Ok(exit)
}

/// Says whether the result of the backend is that of the last state, and where the fault is.
fn conclusion(
    backends: &Backends,
    report: &ModuleReport,
    actual: Executed,
    is_wrong: bool,
) -> (String, Option<Exit>) {
    let name = backends.name();
    let actual = match actual {
        Ok(actual) => actual,
        Err(error) => {
            let exit = if is_wrong { Exit::Wrong } else { Exit::Unsupported };
            return (format!("{name} has no result: {error}\n"), Some(exit));
        }
    };
    let Some(last) = &report.last else {
        return ("the last state has no result\n".to_owned(), Some(Exit::Unsupported));
    };
    let LastState { module, arguments, results } = last;
    let judgement =
        on_large_stack(|| judge_with(backends.judging(), module, arguments, results, &actual));
    match (judgement.verdict, is_wrong) {
        (Verdict::Differs, _) => (
            format!("{name} computes the last state wrong: code generation\n{judgement}"),
            Some(Exit::Wrong),
        ),
        (Verdict::EtalonBug, _) => (format!("{judgement}"), Some(Exit::Bug)),
        (_, true) => {
            (format!("{name} computes the last state right: the fault is in the pass\n"), None)
        }
        (_, false) => (format!("{name} computes the last state right\n"), None),
    }
}

/// Runs a module on a backend.
fn executed(backends: &Backends, module: &Arc<Verified>, arguments: &[Vec<Literal>]) -> Executed {
    let grid = DeviceGrid::of(&module.module().config);
    let (module, arguments) = (Arc::clone(module), arguments.to_vec());
    backends.run(move |backend| backend.compile(&module, grid)?.execute(&arguments))
}

/// What the backend computes without the passes that are wrong.
struct Confirmation {
    passes: Vec<String>,
    is_confirmed: bool,
    reason: String,
}

impl fmt::Display for Confirmation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = match (self.is_confirmed, self.passes.is_empty()) {
            (true, _) => "confirmed",
            (false, true) => "nothing to confirm",
            (false, false) => "not confirmed",
        };
        writeln!(f, "{word}: {}", self.reason)
    }
}

/// The option of XLA that names passes that do not run.
const DISABLE: &str = "xla_disable_hlo_passes";

/// Compiles the program without the passes that change the meaning, and judges both results of the backend: they are confirmed if it is
/// wrong with them and right without them.
fn confirmation(
    args: &PassesArgs,
    module: &Arc<Verified>,
    report: &ModuleReport,
    backends: &Backends,
) -> Result<Confirmation> {
    let name = backends.name();
    let wrong: Vec<&Step> = report.wrong(args.backend.judgement.strict).collect();
    let passes: BTreeSet<String> = wrong.iter().filter_map(|step| step.pass_name()).collect();
    let passes: Vec<String> = passes.into_iter().collect();
    let listed = passes.join(", ");
    let not = |reason: String| Confirmation { passes: passes.clone(), is_confirmed: false, reason };
    if passes.is_empty() {
        return Ok(not(match wrong.first() {
            None => "no pass changes the meaning".to_owned(),
            Some(step) => format!("{} is no pass that can be disabled", step.pass),
        }));
    }
    // The arguments that show the first one, if they are those of the program.
    let given = wrong.iter().find_map(|step| step.evidence.as_ref()).map(|shown| &shown.given);
    let arguments = match given.filter(|given| takes(module, given)) {
        Some(given) => given.clone(),
        None => sets(args, module)?.swap_remove(0).arguments,
    };
    let grid = DeviceGrid::of(&module.module().config);
    let expected =
        on_large_stack(|| EngineBackend(Engine::Exact).compile(module, grid)?.execute(&arguments));
    let expected = match expected {
        Ok(expected) => expected,
        Err(error) => return Ok(not(format!("Etalon has no result of the program: {error}"))),
    };
    let judged = |actual: &[Literal]| {
        let judge = || judge_with(backends.judging(), module, &arguments, &expected, actual);
        let judgement = on_large_stack(judge);
        let is_wrong = Class::of(&judgement) >= Class::Differs;
        (is_wrong, judgement)
    };
    if let Ok(actual) = executed(backends, module, &arguments)
        && !judged(&actual).0
    {
        return Ok(not(format!("{name} computes the program right with {listed}")));
    }
    let folder = tempfile::tempdir().map_err(|error| Failure::file(Path::new(&name), &error))?;
    let mut without = args.backend.clone();
    without.xla_option.extend(dumping(folder.path()));
    let stated = without.xla_option.iter().filter(|(option, _)| option == DISABLE);
    let stated = stated.map(|(_, value)| value.to_string());
    let all: Vec<String> = stated.chain(passes.iter().cloned()).collect();
    without.xla_option.retain(|(option, _)| option != DISABLE);
    without.xla_option.push((DISABLE.to_owned(), OptionValue::Text(all.join(","))));
    let other = open(&without)?;
    let actual = executed(&other, module, &arguments);
    show_warnings(&other);
    let stages = Dump::open(folder.path()).map(|dump| {
        let stages = dump.modules.iter().flat_map(|module| module.passes().collect::<Vec<_>>());
        stages.collect::<BTreeSet<String>>()
    });
    if let Some(pass) =
        passes.iter().find(|pass| stages.as_ref().is_ok_and(|all| all.contains(*pass)))
    {
        return Ok(not(format!("{name} runs {pass} although it is disabled")));
    }
    let actual = match actual {
        Ok(actual) => actual,
        Err(error) => return Ok(not(format!("without {listed} {name} has no result: {error}"))),
    };
    let (is_wrong, judgement) = judged(&actual);
    if is_wrong {
        let text = judgement.to_string();
        let line = text.lines().next().unwrap_or_default();
        return Ok(not(format!(
            "without {listed} {name} computes the program wrong as well: {line}"
        )));
    }
    let them = if passes.len() == 1 { "it" } else { "them" };
    let reason =
        format!("{name} computes the program right without {listed}, and wrong with {them}");
    Ok(Confirmation { is_confirmed: true, reason, ..not(String::new()) })
}

/// Returns whether a module takes these arguments.
fn takes(module: &Verified, given: &[Vec<Literal>]) -> bool {
    let parameters = module.module().entry().program_shape().parameters;
    let fits = |list: &Vec<Literal>| {
        let mut pairs = list.iter().zip(&parameters);
        list.len() == parameters.len() && pairs.all(|(one, shape)| one.shape().compatible(shape))
    };
    !given.is_empty() && given.iter().all(fits)
}
