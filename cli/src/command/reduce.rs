//! `etalon reduce`: the smallest module that still shows a difference.
use super::backend::{misuse, open};
use super::{load_filled, verified};
use crate::args::{ReduceArgs, RepeatArg};
use crate::error::{Code, Failure, Result};
use crate::file::{self, Existing};
use crate::limits::Limits;
use crate::{inputs, output};
use conformance::FileTest;
use conformance::backend::BackendError;
use conformance::reduce::{
    CommandPredicate, Difference, Interest, Options, ReduceError, Reduced, Step, file_test,
    measured_fuel, reduce, repeated, repetitions,
};
use hlo::{Literal, Verified};
use interp::{DeviceGrid, RunOptions};
use load::Loaded;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The runs that measure how often a difference shows.
const MEASURED: u32 = 20;

/// A module with its arguments.
struct Start {
    module: Arc<Verified>,
    arguments: Vec<Vec<Literal>>,
    /// The steps of the engine for one candidate.
    fuel: u64,
}

pub(crate) fn run(args: &ReduceArgs) -> Result<ExitCode> {
    let target = target(args)?;
    let start = Start::load(args)?;
    let limit = args.backend.time_limit_or_default();
    if let Some(command) = &args.command {
        let command = CommandPredicate::new(command, limit).map_err(|e| misuse(&e))?;
        return reduce_to(args, &start, &mut Predicate::Command(command, None), &target);
    }
    let mut backend = open(&args.backend)?;
    conformance::on_large_stack(|| {
        let difference = Difference::new(args.engine.into(), &mut *backend, start.fuel);
        reduce_to(args, &start, &mut Predicate::Backend(difference), &target)
    })
}

/// Returns the path of the result.
fn target(args: &ReduceArgs) -> Result<PathBuf> {
    let (target, existing) = match &args.output {
        Some(target) => (target.clone(), Existing::Replace),
        None if file::is_stdout(&args.file) => {
            (PathBuf::from("reduced.hlo"), file::unnamed(args.force))
        }
        None => (args.file.with_extension("reduced.hlo"), file::unnamed(args.force)),
    };
    let inputs = std::iter::once(args.file.as_path()).chain(args.inputs.paths());
    file::check([(target.as_path(), existing)], inputs)?;
    Ok(target)
}

impl Start {
    /// Loads the module. Without arguments on the command line, those of its `// in:` comments are taken.
    fn load(args: &ReduceArgs) -> Result<Self> {
        let limits = Limits::start(args.backend.limit_time(RunOptions::default()));
        let Loaded { file, module, arguments: own, .. } =
            load_filled(&args.file, &args.load, &args.inputs, &limits)?;
        let module = Arc::new(verified(module, file.source(), &limits)?);
        let stated = args.inputs.input.is_empty() && args.inputs.random.is_none();
        let test = FileTest::new(&args.file, file.text).ok().filter(|_| stated);
        let case = test.as_ref().and_then(|test| test.cases.first());
        let subject = case.and_then(|case| case.subject().ok().flatten());
        let parameters = module.module().entry().parameters().len();
        let arguments = match subject.filter(|s| s.arguments.iter().all(|a| a.len() == parameters))
        {
            Some(subject) => subject.arguments,
            None => {
                let grid = DeviceGrid::of(&module.module().config);
                inputs::inputs(&args.inputs, own, module.module(), grid, &limits)?
            }
        };
        let fuel = args.fuel.unwrap_or_else(|| measured_fuel(&module, &arguments));
        Ok(Self { module, arguments, fuel })
    }
}

/// What makes a candidate interesting.
enum Predicate<'a> {
    Command(CommandPredicate, Option<BackendError>),
    Backend(Difference<'a>),
}

impl Predicate<'_> {
    fn ask(&mut self, module: &Arc<Verified>, arguments: &[Vec<Literal>]) -> Interest {
        match self {
            Self::Backend(difference) => difference.interest(module, arguments),
            Self::Command(command, failed) => {
                command.interest(module, arguments).unwrap_or_else(|error| {
                    *failed = Some(error);
                    Interest::Boring
                })
            }
        }
    }
    /// Returns how often a candidate is asked for.
    fn repetitions(&mut self, args: &ReduceArgs, start: &Start) -> u32 {
        match args.repeat {
            RepeatArg::Times(times) => times,
            RepeatArg::Auto => {
                let mut shows =
                    || self.ask(&start.module, &start.arguments) == Interest::Interesting;
                let shown: u32 = (0..MEASURED).map(|_| u32::from(shows())).sum();
                let times = repetitions(shown, MEASURED);
                output::note(&format!(
                    "shows in {shown} of {MEASURED} runs; each candidate runs up to {times} times\n"
                ));
                times
            }
        }
    }
}

fn reduce_to(
    args: &ReduceArgs,
    start: &Start,
    predicate: &mut Predicate<'_>,
    target: &Path,
) -> Result<ExitCode> {
    let times = predicate.repetitions(args, start);
    let progress = output::Progress::new("reducing");
    let mut writer = Writer::new(target);
    let on_step = |_: &Step, module: &Arc<Verified>, arguments: &[Vec<Literal>]| {
        writer.write_now_and_then(module, arguments);
    };
    let mut options = Options {
        time_limit: args.total_time_limit,
        fuel: Some(start.fuel),
        progress: Some(Box::new(on_step)),
        ..Options::default()
    };
    let reduced = reduce(Arc::clone(&start.module), &start.arguments, &mut options, |m, a| {
        repeated(times, || predicate.ask(m, a))
    });
    drop((options, progress));
    if let Predicate::Command(_, Some(error)) = predicate {
        return Err(misuse(error));
    }
    let reduced = reduced.map_err(|error| not_reduced(&error, args))?;
    let text = file_test(&reduced.module, &reduced.arguments, Some(start.fuel));
    file::replace(target, text.as_bytes())?;
    write_others(args, start, target, &reduced)?;
    if repeated(times, || predicate.ask(&reduced.module, &reduced.arguments))
        != Interest::Interesting
    {
        output::note(
            "warning: the result does not show the difference in each run: try --repeat auto\n",
        );
    }
    if reduced.is_cut_short {
        output::note("the time limit ended the search: the result may not be the smallest\n");
    }
    report(start, predicate, &reduced, target)
}

fn not_reduced(error: &ReduceError, args: &ReduceArgs) -> Failure {
    let help = match (error, &args.command) {
        (ReduceError::NotInteresting, Some(_)) => {
            "the command must end with exit code 0 for the module itself"
        }
        (ReduceError::NotInteresting, None) => {
            "the backend agrees with the engine on these arguments: try others with --input or --random, or --repeat auto"
        }
        (ReduceError::TrivialIsInteresting, Some(_)) => {
            "the command must not end with exit code 0 for each module"
        }
        (ReduceError::TrivialIsInteresting, None) => "check that the backend works: etalon conform",
    };
    Failure::new(&Code::NotReduced { message: error.to_string() }, Some(help.to_owned()))
}

fn report(
    start: &Start,
    predicate: &Predicate<'_>,
    reduced: &Reduced,
    target: &Path,
) -> Result<ExitCode> {
    let count = |module: &Verified| -> usize {
        module.module().computations.iter().map(|(_, c)| c.instructions.len()).sum()
    };
    let kind = match predicate {
        Predicate::Backend(difference) => {
            difference.kind().map_or(String::new(), |kind| format!(" ({kind})"))
        }
        Predicate::Command(..) => String::new(),
    };
    let (before, after, tried) = (count(&start.module), count(&reduced.module), reduced.tried);
    let text = format!(
        "{}: {before} instructions became {after}{kind}, {tried} candidates tried\n",
        target.display()
    );
    output::report(&text, file::is_stdout(target))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the candidates that show something else beside the result.
fn write_others(args: &ReduceArgs, start: &Start, target: &Path, reduced: &Reduced) -> Result<()> {
    for (number, other) in (1..).zip(&reduced.others) {
        let path = match file::is_stdout(target) {
            true => PathBuf::from(format!("reduced.other{number}.hlo")),
            false => target.with_extension(format!("other{number}.hlo")),
        };
        let text = file_test(&other.module, &other.arguments, Some(start.fuel));
        if path.exists() && !args.force {
            output::note(&format!("{}: exists; not written: {}\n", path.display(), other.kind));
            continue;
        }
        file::write(&path, file::unnamed(args.force), text.as_bytes())?;
        output::note(&format!("{}: another finding: {}\n", path.display(), other.kind));
    }
    Ok(())
}

/// Writes the best candidate so far, so that an interrupted search leaves it.
struct Writer<'a> {
    target: &'a Path,
    next: Instant,
}

impl<'a> Writer<'a> {
    fn new(target: &'a Path) -> Self {
        Self { target, next: Instant::now() }
    }
    /// Writes at most a tenth of the time. The last candidate is written by the caller, who reports errors.
    fn write_now_and_then(&mut self, module: &Arc<Verified>, arguments: &[Vec<Literal>]) {
        let begin = Instant::now();
        if begin < self.next || file::is_stdout(self.target) {
            return;
        }
        let _ = file::replace(self.target, file_test(module, arguments, None).as_bytes());
        self.next =
            Instant::now() + begin.elapsed().saturating_mul(10).min(Duration::from_secs(60));
    }
}
