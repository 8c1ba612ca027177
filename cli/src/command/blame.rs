//! `etalon blame`: the instructions that a backend computes wrong, or where a pass changes the result.
use super::backend::{about, open, show_warnings};
use super::{load_filled, verified};
use crate::args::BlameArgs;
use crate::error::{Exit, Failure, Result};
use crate::file::{self, Existing};
use crate::limits::Limits;
use crate::{inputs, interrupt, output};
use conformance::FileTest;
use conformance::blame::{Blame, ModulePair, Options, blame, compare_modules};
use conformance::judge::Judgement;
use conformance::reduce::file_test;
use conformance::results::Verdict;
use graph::{Mark, Measured, Model};
use hlo::diag::SourceFile;
use hlo::{Literal, Verified};
use interp::{DeviceGrid, RunOptions};
use load::Loaded;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

const STOPPED: &str = "stopped by Ctrl-C: what is not counted was not looked at\n";

pub(crate) fn run(args: &BlameArgs) -> Result<ExitCode> {
    let outputs = args.output.iter().chain(&args.html);
    let outputs = outputs.map(|path| (path.as_path(), Existing::Replace));
    let files = [&args.file, &args.before, &args.after].into_iter().flatten();
    file::check(outputs, files.map(PathBuf::as_path).chain(args.inputs.paths()))?;
    let options = Options {
        slice_bytes: args.max_slice,
        rounds: args.rounds,
        findings: args.findings,
        fuel: args.fuel,
    };
    match (&args.file, &args.before, &args.after) {
        (None, Some(before), Some(after)) => pair(args, [before, after], &options),
        (Some(file), _, _) => instructions(args, file, &options),
        // The rules of the options exclude it.
        (None, _, _) => Ok(Exit::Misuse.code()),
    }
}

/// Returns the limits of the arguments. Each execution has its own.
fn limits(args: &BlameArgs) -> Limits {
    Limits::start(args.backend.limit_time(RunOptions::default()))
}

/// A module with its text and its arguments.
struct Subject {
    file: SourceFile,
    module: Arc<Verified>,
    arguments: Vec<Vec<Literal>>,
}

impl Subject {
    /// Loads a module. Without arguments on the command line, those of its first `// in:` comments are taken.
    fn load(path: &Path, args: &BlameArgs) -> Result<Self> {
        let limits = limits(args);
        let (mut subject, own) = Self::module(path, args, &limits)?;
        let is_stated = !args.inputs.input.is_empty() || args.inputs.random.is_some();
        let test = FileTest::new(path, subject.file.text.clone()).ok().filter(|_| !is_stated);
        let case = test.as_ref().and_then(|test| test.cases.first());
        let stated = case.and_then(|case| case.subject().ok().flatten());
        let module = subject.module.module();
        let count = module.entry().parameters().len();
        subject.arguments = match stated {
            Some(stated)
                if count > 0 && stated.arguments.iter().all(|list| list.len() == count) =>
            {
                stated.arguments
            }
            Some(_) | None => {
                inputs::inputs(&args.inputs, own, module, DeviceGrid::of(&module.config), &limits)?
            }
        };
        Ok(subject)
    }
    /// Loads a module without its arguments, which are returned if the file has some.
    fn module(path: &Path, args: &BlameArgs, limits: &Limits) -> Result<(Self, Vec<Vec<Literal>>)> {
        let Loaded { file, module, arguments, .. } =
            load_filled(path, &args.load, &args.inputs, limits)?;
        let module = Arc::new(verified(module, file.source(), limits)?);
        Ok((Self { file, module, arguments: Vec::new() }, arguments))
    }
}

/// Finds the instructions that a backend computes wrong.
fn instructions(args: &BlameArgs, file: &Path, options: &Options) -> Result<ExitCode> {
    let subject = Subject::load(file, args)?;
    let backends = open(&args.backend)?.interrupted_by(interrupt::stop());
    let progress = output::Progress::new("searching");
    let found = conformance::on_large_stack(|| {
        blame(&subject.module, &subject.arguments, &backends, options)
    });
    drop(progress);
    show_warnings(&backends);
    if let (Some(target), Some(finding)) = (&args.output, found.findings.first()) {
        let program = &finding.program;
        let text = file_test(&program.module, &program.arguments, Some(options.fuel));
        file::replace(target, text.as_bytes())?;
    }
    page(args, &subject, |model, measured| {
        for finding in &found.findings {
            let at = (finding.computation.index(), finding.instruction.index());
            measured.add_finding(at, Mark::Wrong, &format!("{}\n{finding}", finding.path));
        }
        let right = found
            .inherited
            .iter()
            .map(|path| (path, Mark::Inherited, "one of its operands is wrong"));
        let left_out = found.not_checked.iter();
        let left_out = left_out.map(|(path, reason)| (path, Mark::Unchecked, reason.as_str()));
        for (path, mark, reason) in right.chain(left_out) {
            if let Some(at) = model.at(path) {
                measured.add_finding(at, mark, reason);
            }
        }
        let backend = about(&backends);
        let stopped = if backends.is_interrupted() { STOPPED } else { "" };
        measured.note = format!("{backend}{stopped}{}", found.footer());
    })?;
    let text = if args.json {
        found.to_json() + "\n"
    } else {
        about(&backends) + &report(&found, &subject)
    };
    output::report(&text, writes_to_stdout(args))?;
    if backends.is_interrupted() {
        output::note(STOPPED);
        return Ok(interrupt::exit_code());
    }
    let bug = |judgement: &Judgement| judgement.verdict == Verdict::EtalonBug;
    let findings = found.findings.iter().filter_map(|finding| finding.judgement.as_ref());
    Ok(if found.judgement.iter().chain(findings).any(bug) {
        Exit::Bug.code()
    } else if found.is_wrong() {
        Exit::Wrong.code()
    } else {
        ExitCode::SUCCESS
    })
}

/// Writes the page of a module, if one is asked for, with what `mark` adds.
fn page(
    args: &BlameArgs,
    subject: &Subject,
    mark: impl FnOnce(&Model, &mut Measured),
) -> Result<()> {
    let Some(target) = &args.html else { return Ok(()) };
    let model = Model::of(&subject.module, &subject.file.text);
    let mut measured = Measured::default();
    mark(&model, &mut measured);
    file::replace(target, graph::html(&model, &measured).as_bytes())?;
    if !file::is_stdout(target) {
        output::status(&format!("wrote {}: open it in a browser\n", target.display()));
    }
    Ok(())
}

/// Returns whether a file is written to stdout, which has no report then.
fn writes_to_stdout(args: &BlameArgs) -> bool {
    args.output.iter().chain(&args.html).any(|path| file::is_stdout(path))
}

/// Shows each finding at its line on stderr, and returns the report for stdout.
fn report(found: &Blame, subject: &Subject) -> String {
    let mut text = String::new();
    for finding in &found.findings {
        output::show_one(&finding.diagnostic(subject.module.module()), Some(subject.file.source()));
        let _ = writeln!(text, "wrong: {}", finding.path);
        for line in finding.to_string().lines() {
            let _ = writeln!(text, "  {line}");
        }
    }
    text + &found.footer()
}

/// Compares a module before and after a pass.
fn pair(args: &BlameArgs, [before, after]: [&Path; 2], options: &Options) -> Result<ExitCode> {
    let before = Subject::load(before, args)?;
    let (after, _) = Subject::module(after, args, &limits(args))?;
    let progress = output::Progress::new("comparing");
    let compared = conformance::on_large_stack(|| {
        compare_modules(&before.module, &after.module, &before.arguments, options)
    });
    drop(progress);
    let pair = compared.map_err(|message| Failure {
        exit: Exit::Wrong,
        ..Failure::file(Path::new(&after.file.name), &message)
    })?;
    page(args, &after, |model, measured| {
        if let Some(found) = &pair.divergence {
            for path in &found.between {
                if let Some(at) = model.at(path) {
                    measured.add_finding(at, Mark::Unchecked, "it has no counterpart");
                }
            }
            let (computation, instruction) = found.at;
            let text = format!("differs from {}: {}", found.before, found.difference);
            measured.add_finding((computation.index(), instruction.index()), Mark::Wrong, &text);
        }
        let name = &before.file.name;
        measured.note = format!("Compared with {name}: {}.", conclusion(&pair));
    })?;
    let text = if args.json { pair.to_json() + "\n" } else { pair_report(&pair, &after) };
    output::report(&text, writes_to_stdout(args))?;
    Ok(if pair.is_wrong() { Exit::Wrong.code() } else { ExitCode::SUCCESS })
}

fn pair_report(pair: &ModulePair, after: &Subject) -> String {
    let mut text = String::new();
    if let Some(found) = &pair.divergence {
        output::show_one(&found.diagnostic(after.module.module()), Some(after.file.source()));
        let _ =
            writeln!(text, "{} differs from {}: {}", found.after, found.before, found.difference);
        for (title, paths) in [("computed from", &found.agree), ("through", &found.between)] {
            if !paths.is_empty() {
                let _ = writeln!(text, "  {title}: {}", paths.join(", "));
            }
        }
        let (matched, all) = (pair.matched, pair.instructions);
        let _ = writeln!(text, "{matched} of {all} instructions have a counterpart");
    } else if pair.is_wrong() {
        text.push_str("no instruction differs from its counterpart\n");
    }
    let _ = write!(text, "{}", pair.judgement);
    let _ = writeln!(text, "{}", conclusion(pair));
    text
}

fn conclusion(pair: &ModulePair) -> &'static str {
    match (pair.is_wrong(), pair.judgement.verdict) {
        (true, Verdict::Differs) => "the modules differ",
        (true, _) => "the results are within the bound of the whole module, but the modules differ",
        (false, Verdict::Agrees) => "the modules compute the same",
        (false, _) => "the modules compute the same within the bound of rounding errors",
    }
}
