//! Runs of each module with random arguments, each in its own process, which limits and crashes end without ending the others.
use super::extract::Text;
use crate::{Result, cargo, write};
use hlo::{Module, Shape};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// The limits of a run. Fuel ends runs that take long; the deadline only those that hang.
const FUEL: &str = "100000000";
const MEMORY: &str = "2000000000";
const DEADLINE: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(2);
/// The most bytes of the arguments: drawing more takes longer than the run.
const MOST_BYTES: usize = 100_000_000;

/// The exit codes of `etalon run`.
const SUCCESS: i32 = 0;
const UNSUPPORTED: i32 = 3;
const BUG: i32 = 4;

/// How a run ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum End {
    Done,
    Unsupported,
    Failed,
    Panicked,
    /// Not run: the arguments are too large.
    TooLarge,
    TimedOut,
}

/// Builds the command line program that runs the modules, and returns its path.
pub(super) fn program(root: &Path) -> Result<PathBuf> {
    cargo(root, &["build", "--release", "-p", "etalon-cli"], &[])?;
    // This program is in the folder of another profile of the same target folder.
    let own = std::env::current_exe().map_err(|e| e.to_string())?;
    let target = own.ancestors().nth(2).ok_or("this program is in no target folder")?;
    Ok(target.join("release").join("etalon"))
}

/// Runs the modules on all processors; returns how each run ends, and the first line of its error.
pub(super) fn run_all(program: &Path, texts: &[&Text], seed: &str) -> Result<Vec<(End, String)>> {
    let folder = std::env::temp_dir().join(format!("xla-tree-{}", std::process::id()));
    let (next, found) = (AtomicUsize::new(0), Mutex::new(vec![None; texts.len()]));
    let work = |worker: usize| -> Result {
        let file = folder.join(format!("{worker}.hlo"));
        while let Some(at) = Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&i| i < texts.len())
        {
            write(&file, &texts[at].text)?;
            let ended = match is_too_large(&texts[at].text) {
                true => (End::TooLarge, String::new()),
                false => run(program, &file, seed)?,
            };
            found.lock().map_err(|e| e.to_string())?[at] = Some(ended);
        }
        Ok(())
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let started: Vec<_> =
            (0..workers).map(|worker| scope.spawn(move || work(worker))).collect();
        let join = |one: std::thread::ScopedJoinHandle<'_, Result>| {
            one.join().unwrap_or_else(|_| Err("a worker has panicked".to_owned()))
        };
        started.into_iter().map(join).collect::<Result<Vec<()>>>()
    })?;
    std::fs::remove_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let found = found.into_inner().map_err(|e| e.to_string())?;
    Ok(found.into_iter().flatten().collect())
}

/// Returns whether the arguments take more memory than a run should.
fn is_too_large(text: &str) -> bool {
    let Ok(module) = Module::parse(text) else { return false };
    let shape = module.entry().program_shape();
    let arrays = shape.parameters.iter().flat_map(|shape| shape.leaves()).filter_map(Shape::array);
    let bytes = arrays.map(|array| array.byte_count().unwrap_or(usize::MAX));
    bytes.fold(0, usize::saturating_add) > MOST_BYTES
}

/// Runs the module in the file; returns how the run ends, and the first line of its error.
///
/// A module that needs several devices, and whose header does not say so, runs on as many as the help line of the error names.
fn run(program: &Path, file: &Path, seed: &str) -> Result<(End, String)> {
    let first = once(program, file, seed, &[])?;
    let Some((_, option)) = first.1.split_once("run it on more devices: ") else {
        return Ok(outcome(&first));
    };
    let devices: Vec<&str> = option.split_whitespace().take(2).collect();
    let second = once(program, file, seed, &devices)?;
    // The groups of a module may fit no number of devices.
    let fits = !second.1.starts_with("error[E02") && !second.1.starts_with("error[E03");
    Ok(outcome(if fits { &second } else { &first }))
}

/// Returns how a run with this exit code and these messages ended, and the first line of its error.
fn outcome((status, errors): &(Option<i32>, String)) -> (End, String) {
    let line = errors.lines().find(|line| line.starts_with("error")).unwrap_or_default();
    let end = match status {
        None => End::TimedOut,
        Some(SUCCESS) => End::Done,
        Some(UNSUPPORTED) => End::Unsupported,
        Some(BUG) => End::Panicked,
        // A signal has no exit code, and ends no correct run.
        Some(code) if *code < 0 => End::Panicked,
        Some(_) => End::Failed,
    };
    (end, line.to_owned())
}

/// Returns the exit code and the messages. The code is -1 if a signal ended the process, none if the process exceeded the
/// deadline.
fn once(
    program: &Path,
    file: &Path,
    seed: &str,
    devices: &[&str],
) -> Result<(Option<i32>, String)> {
    let failed = |e: std::io::Error| format!("{}: {e}", program.display());
    let log = file.with_extension("log");
    let errors = std::fs::File::create(&log).map_err(failed)?;
    let mut command = Command::new(program);
    command.arg("run").arg(file).args(["--random", seed, "--fuel", FUEL, "--max-memory", MEMORY]);
    command.args(devices).stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
    let mut child = command.spawn().map_err(failed)?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok((Some(status.code().unwrap_or(-1)), crate::read(&log)?));
        }
        if start.elapsed() > DEADLINE {
            child.kill().and_then(|()| child.wait()).map_err(failed)?;
            return Ok((None, String::new()));
        }
        std::thread::sleep(PAUSE);
    }
}
