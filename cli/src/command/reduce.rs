//! `etalon reduce`: the smallest module that still shows a difference.
use super::backend::{about, misuse, open, show_warnings};
use super::{load_filled, verified};
use crate::args::{ReduceArgs, RepeatArg};
use crate::error::{Code, Failure, Result};
use crate::file::{self, Existing};
use crate::limits::Limits;
use crate::{inputs, interrupt, output};
use conformance::FileTest;
use conformance::backend::{BackendError, Backends};
use conformance::pool::{Pool, Queue};
use conformance::reduce::{
    Candidate, CommandPredicate, Difference, Interest, Options, ReduceError, Reduced, Step,
    file_test, measured_fuel, reduce, repeated, repetitions,
};
use hlo::diag::quantity;
use hlo::{Literal, Verified};
use interp::{DeviceGrid, RunOptions};
use load::Loaded;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The runs that measure how often a difference shows.
const MEASURED: u32 = 20;

/// A module with its arguments.
struct Start {
    candidate: Candidate,
    /// The steps of the engine for one candidate.
    fuel: u64,
}

pub(crate) fn run(args: &ReduceArgs) -> Result<ExitCode> {
    let target = target(args)?;
    let start = Start::load(args)?;
    let limit = args.backend.time_limit_or_default();
    if let Some(command) = &args.command {
        let command = Arc::new(CommandPredicate::new(command, limit).map_err(|e| misuse(&e))?);
        let workers = Pool::new((), args.backend.jobs, || Ok(()));
        return reduce_to(
            args,
            &start,
            &Predicate::Command(command, workers, Arc::default()),
            &target,
        );
    }
    let backends = open(&args.backend)?;
    conformance::on_large_stack(|| {
        let difference = Arc::new(difference(args, &start, &backends)?);
        reduce_to(args, &start, &Predicate::Backend(difference, backends), &target)
    })
}

/// Returns what a candidate must show: a difference from the engine, or from its twin by the law of the command line, for as few
/// instructions as show it.
fn difference(args: &ReduceArgs, start: &Start, backends: &Backends) -> Result<Difference> {
    let (engine, fuel) = (args.engine.into(), start.fuel);
    let Some(rule) = args.metamorphic.clone() else { return Ok(Difference::new(engine, fuel)) };
    let candidate = start.candidate.clone();
    if candidate.twin(&rule).is_none() {
        let message = format!("the law `{rule}` holds for no instruction of the module");
        let help = "a law and a seed are what `etalon fuzz --metamorphic` prints: `split:4711`";
        return Err(Failure::new(&Code::NotReduced { message }, Some(help.to_owned())));
    }
    let rule = backends.run(move |backend| candidate.narrowed(&rule, backend));
    Ok(Difference::of_twins(rule, engine, fuel))
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
        Ok(Self { candidate: Candidate { module, arguments }, fuel })
    }
}

/// What makes a candidate interesting, and who finds out.
enum Predicate {
    /// A command, and its first error.
    Command(Arc<CommandPredicate>, Pool<()>, Arc<Mutex<Option<BackendError>>>),
    Backend(Arc<Difference>, Backends),
}

impl Predicate {
    /// Returns the queue of candidates, each of which is asked for up to `times` times.
    fn queue(&self, times: u32) -> Queue<'_, Candidate, Interest> {
        match self {
            Self::Backend(difference, backends) => {
                let difference = Arc::clone(difference);
                backends.queue(1, move |backend, candidate: Candidate| {
                    repeated(times, || difference.interest(backend, &candidate))
                })
            }
            Self::Command(command, workers, failed) => {
                let (command, failed) = (Arc::clone(command), Arc::clone(failed));
                workers.queue(1, move |(), candidate: Candidate| {
                    repeated(times, || {
                        command.interest(&candidate).unwrap_or_else(|error| {
                            locked(&failed).get_or_insert(error);
                            Interest::Boring
                        })
                    })
                })
            }
        }
    }
    fn is_interesting(&self, candidate: &Candidate, times: u32) -> bool {
        let mut queue = self.queue(times);
        queue.push(candidate.clone());
        queue.pop() == Some(Interest::Interesting)
    }
    /// Returns the error of the command, if it cannot run.
    fn error(&self) -> Option<Failure> {
        match self {
            Self::Command(_, _, failed) => locked(failed).as_ref().map(misuse),
            Self::Backend(..) => None,
        }
    }
    /// Returns how often a candidate is asked for.
    fn repetitions(&self, args: &ReduceArgs, start: &Start) -> u32 {
        match args.repeat {
            RepeatArg::Times(times) => times,
            RepeatArg::Auto => {
                let shows = || self.is_interesting(&start.candidate, 1);
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
    predicate: &Predicate,
    target: &Path,
) -> Result<ExitCode> {
    let times = predicate.repetitions(args, start);
    let progress = output::Progress::new("reducing");
    let mut writer = Writer::new(target);
    let stop = interrupt::stop();
    let is_stopped = || stop.load(Ordering::Relaxed);
    let on_step = |_: &Step, module: &Arc<Verified>, arguments: &[Vec<Literal>]| {
        writer.write_now_and_then(module, arguments);
    };
    let mut options = Options {
        time_limit: args.total_time_limit,
        fuel: Some(start.fuel),
        interrupt: Some(Arc::clone(&stop)),
        progress: Some(Box::new(on_step)),
        ..Options::default()
    };
    let Candidate { module, arguments } = &start.candidate;
    let queue = predicate.queue(times);
    let reduced = reduce(Arc::clone(module), arguments, &mut options, queue);
    drop((options, progress));
    if let Some(failure) = predicate.error() {
        return Err(failure);
    }
    if is_stopped() && reduced.as_ref().map_or(true, |reduced| reduced.steps.is_empty()) {
        output::note("stopped by Ctrl-C before anything smaller was found: nothing is written\n");
        return Ok(interrupt::exit_code());
    }
    let reduced = reduced.map_err(|error| not_reduced(&error, args))?;
    let text = file_test(&reduced.module, &reduced.arguments, Some(start.fuel));
    file::replace(target, text.as_bytes())?;
    write_others(args, start, target, &reduced)?;
    write_twin(args, predicate, target, &reduced)?;
    let Reduced { module, arguments, .. } = &reduced;
    let result = Candidate { module: Arc::clone(module), arguments: arguments.clone() };
    if !is_stopped() && !predicate.is_interesting(&result, times) {
        output::note(
            "warning: the result does not show the difference in each run: try --repeat auto\n",
        );
    }
    report(start, predicate, &reduced, target)?;
    if reduced.is_cut_short {
        let what = if is_stopped() { "Ctrl-C" } else { "the time limit" };
        output::note(&format!("{what} ended the search: the result may not be the smallest\n"));
    }
    Ok(if is_stopped() { interrupt::exit_code() } else { ExitCode::SUCCESS })
}

fn not_reduced(error: &ReduceError, args: &ReduceArgs) -> Failure {
    let help = match (error, &args.command) {
        (ReduceError::NotInteresting, Some(_)) => {
            "the command must end with exit code 0 for the module itself"
        }
        (ReduceError::NotInteresting, None) if args.metamorphic.is_some() => {
            "the results of the module and of its twin agree on these arguments: try others with --input or --random, or --repeat auto"
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

fn report(start: &Start, predicate: &Predicate, reduced: &Reduced, target: &Path) -> Result<()> {
    let (about, kind) = match predicate {
        Predicate::Backend(difference, backends) => {
            show_warnings(backends);
            let kind = difference.kind().map_or(String::new(), |kind| format!(" ({kind})"));
            (about(backends), kind)
        }
        Predicate::Command(..) => (String::new(), String::new()),
    };
    let before = count(&start.candidate.module);
    let (after, tried) = (count(&reduced.module), reduced.tried);
    let text = format!(
        "{about}{}: {before} became {after}{kind}, {tried} tried\n",
        target.display(),
        before = quantity(before, "instruction"),
        tried = quantity(tried, "candidate")
    );
    output::report(&text, file::is_stdout(target))
}

/// Returns the number of instructions of a module.
fn count(module: &Verified) -> usize {
    module.module().computations.iter().map(|(_, c)| c.instructions.len()).sum()
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
        let (path, count, kind) = (path.display(), count(&other.module), &other.kind);
        output::note(&format!("{path}: another finding, of {count} instructions: {kind}\n"));
    }
    Ok(())
}

/// Writes the twin of the result beside it.
fn write_twin(
    args: &ReduceArgs,
    predicate: &Predicate,
    target: &Path,
    reduced: &Reduced,
) -> Result<()> {
    let Predicate::Backend(difference, _) = predicate else { return Ok(()) };
    let Some(rule) = difference.twin() else { return Ok(()) };
    let Reduced { module, arguments, .. } = reduced;
    let candidate = Candidate { module: Arc::clone(module), arguments: arguments.clone() };
    let Some(twin) = candidate.twin(rule) else { return Ok(()) };
    let path = match file::is_stdout(target) {
        true => PathBuf::from("reduced.twin.hlo"),
        false => target.with_extension("twin.hlo"),
    };
    let about = twin.about();
    if path.exists() && !args.force {
        output::note(&format!("{}: exists; not written: {about}\n", path.display()));
        return Ok(());
    }
    file::write(&path, file::unnamed(args.force), twin.subject.file_test(&about, &[]).as_bytes())?;
    output::note(&format!("{}: {about}\n", path.display()));
    Ok(())
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
