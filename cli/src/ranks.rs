//! The ranks of a run that spans several processes, each of which runs a block of the devices.
//! Usually there is a single process.
use crate::error::{Code, Exit, Failure, Result};
use crate::output;
use crate::results::DeviceOutput;
use collectives::{RunError, RunOutput, Session};
use hlo::Literal;
use hlo::diag::{Diagnostic, Source, SourceFile, render};
use interp::{Device, Hooks, RunOptions};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// The ranks of a run; usually there is a single process.
///
/// All ranks load the same files, run them, and end with the same exit code. Each rank writes the
/// results of its devices. Rank 0 prints all of them, and common errors; other ranks report only
/// their own errors. The ranks agree before and after each run, so that none waits for a rank that
/// has failed.
pub(crate) struct Ranks(Option<collectives::Ranks>);

impl Ranks {
    /// Connects to the processes that were started together with this one, if there are any.
    pub(crate) fn join() -> Result<Self> {
        let count = SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse().ok());
        match count {
            Some(count @ 2..) => connect(count).map(Some).map(Self),
            _ => Ok(Self(None)),
        }
    }
    /// Returns the devices of a session that this rank runs.
    pub(crate) fn devices(&self, session: Session) -> Devices<'_> {
        Devices { ranks: self, session }
    }
    /// Returns the path of a file that each rank writes: rank 1 writes `NAME.rank1.json`.
    pub(crate) fn path(&self, path: &Path) -> PathBuf {
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        match self.number() {
            0 => path.to_owned(),
            rank => path.with_extension(format!("rank{rank}.{extension}")),
        }
    }
    /// Returns the number of this rank.
    pub(crate) fn number(&self) -> usize {
        self.0.as_ref().map_or(0, collectives::Ranks::rank)
    }
    /// Returns the number of ranks.
    pub(crate) fn count(&self) -> usize {
        self.0.as_ref().map_or(1, collectives::Ranks::count)
    }
    /// Returns whether this process prints: it is rank 0 or the only one.
    fn is_first(&self) -> bool {
        self.number() == 0
    }

    /// Returns the result of this rank if all ranks succeeded.
    ///
    /// # Errors
    /// Fails on every rank if any rank failed, with the exit code of the first one. A rank reports
    /// its own error, unless a lower rank reports the same one.
    pub(crate) fn agree<T>(&self, own: Result<T>) -> Result<T> {
        let Some(ranks) = &self.0 else { return own };
        let message = own.as_ref().err().map(encode).unwrap_or_default();
        let messages = ranks.gather(message.clone()).map_err(|e| lost(&e))?;
        let Some(first) = messages.iter().find_map(|message| message.first()) else { return own };
        let failure = own.err().filter(|_| !messages[..ranks.rank()].contains(&message));
        let silent = Failure { diagnostics: Vec::new(), source: None, exit: Exit::Wrong };
        Err(Failure { exit: Exit::of(*first), ..failure.unwrap_or(silent) })
    }
    /// Returns the bytes of all ranks, by number; all of them call it.
    pub(crate) fn gather(&self, own: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        let Some(ranks) = &self.0 else { return Ok(vec![own]) };
        ranks.gather(own).map_err(|e| lost(&e))
    }
    /// Reports the error of this rank and ends the process at once: the launcher stops the others.
    pub(crate) fn abort(&self, failure: &Failure) -> ! {
        self.report(failure);
        ENDING.store(true, Ordering::Relaxed);
        std::process::exit(failure.exit.number().into());
    }
    /// Reports the error of this rank and ends the run.
    pub(crate) fn conclude(self, result: Result<ExitCode>) -> Result<ExitCode> {
        // `mpirun` stops the other ranks when one ends with an error, without a message.
        ENDING.store(true, Ordering::Relaxed);
        let (Some(_), Err(failure)) = (&self.0, &result) else { return result };
        self.report(failure);
        Ok(failure.exit.code())
    }
    /// Reports the error of this rank. Ends the process if the others cannot be reached.
    pub(crate) fn report(&self, failure: &Failure) {
        if let (rank @ 1.., false) = (self.number(), failure.diagnostics.is_empty()) {
            output::note(&format!("rank {rank}: "));
        }
        output::show(failure);
        if is_lost(failure) {
            // Finalizing MPI would wait for ranks that may wait for this one.
            ENDING.store(true, Ordering::Relaxed);
            std::process::exit(failure.exit.number().into());
        }
    }
}

/// The devices of a session that this rank runs: all of them if there is a single process. Calls
/// with a `Result` are made by all ranks together.
pub(crate) struct Devices<'r> {
    ranks: &'r Ranks,
    pub(crate) session: Session,
}

impl Devices<'_> {
    /// Returns the numbers of the devices of this rank.
    pub(crate) fn own(&self) -> Range<usize> {
        let devices = self.session.grid().len();
        match &self.ranks.0 {
            // A module for one device runs on rank 0, an unpartitioned SPMD program on all.
            Some(ranks) if devices > 1 => ranks.block(devices),
            _ => 0..devices,
        }
    }
    /// As [`Ranks::path`].
    pub(crate) fn path(&self, path: &Path) -> PathBuf {
        self.ranks.path(path)
    }
    /// As [`Ranks::agree`].
    pub(crate) fn agree<T>(&self, own: Result<T>) -> Result<T> {
        self.ranks.agree(own)
    }
    /// Runs the session; returns the results of the devices of this rank. A module for one device
    /// runs on rank 0 only. Errors that all ranks have are those of rank 0.
    pub(crate) fn run(
        &self,
        inputs: Vec<Vec<Literal>>,
        options: &RunOptions,
        hooks: impl Fn(Device) -> Hooks + Send + Sync + 'static,
        failed: impl Fn(&RunError) -> Failure,
    ) -> Result<RunOutput> {
        let Self { ranks: all, session } = self;
        let failed = |error| failed(&error);
        match &all.0 {
            Some(ranks) if session.grid().len() > 1 || session.is_unpartitioned() => {
                let output = session.run_on_ranks(ranks, &inputs, options, hooks);
                let mut output = output.map_err(|error| {
                    let failure = failed(error);
                    let is_silent = !all.is_first() && !is_lost(&failure);
                    let diagnostics = if is_silent { Vec::new() } else { failure.diagnostics };
                    Failure { diagnostics, ..failure }
                })?;
                if session.grid().len() == 1 && !all.is_first() {
                    // All ranks have the one result.
                    output.results.clear();
                }
                Ok(output)
            }
            Some(_) if !all.is_first() => {
                let nothing = RunOutput {
                    results: Vec::new(),
                    notes: Vec::new(),
                    peak_bytes: None,
                    steps: None,
                };
                self.agree(Ok(nothing))
            }
            _ => self.agree(session.run_donated(inputs, options, hooks).map_err(failed)),
        }
    }
    /// Moves the outputs of all ranks to rank 0; the other ranks get none.
    pub(crate) fn gather(&self, own: Vec<DeviceOutput>) -> Result<Vec<DeviceOutput>> {
        let Some(ranks) = &self.ranks.0 else { return Ok(own) };
        let gather = |own: &[Literal]| ranks.gather_values_to(0, own).map_err(|e| lost(&e));
        let own = own.into_iter().map(|DeviceOutput { result, outfeed }| (result, outfeed));
        let (results, outfeeds): (Vec<_>, Vec<_>) = own.unzip();
        let outputs = gather(&results)?.into_iter().zip(gather(&outfeeds)?);
        Ok(outputs.map(|(result, outfeed)| DeviceOutput { result, outfeed }).collect())
    }
    /// Returns the texts of all ranks, one after the other.
    pub(crate) fn gather_text(&self, own: String) -> Result<String> {
        let Some(ranks) = &self.ranks.0 else { return Ok(own) };
        let texts = ranks.gather(own.into_bytes()).map_err(|e| lost(&e))?;
        Ok(texts.iter().map(|text| String::from_utf8_lossy(text)).collect())
    }
    /// Shows what all ranks have found, on rank 0.
    pub(crate) fn show(&self, found: &Diagnostic, source: Source<'_>) {
        if self.ranks.is_first() {
            output::show_one(found, Some(source));
        }
    }
    /// Prints to stdout, on rank 0.
    pub(crate) fn print(&self, text: &str) -> Result<()> {
        if self.ranks.is_first() { output::data(text) } else { Ok(()) }
    }
    /// Shows a person what may be done next, on rank 0.
    pub(crate) fn is_hinting(&self) -> bool {
        self.ranks.is_first() && output::is_hinting()
    }
    pub(crate) fn hint(&self, text: &str) {
        if self.ranks.is_first() {
            output::hint(text);
        }
    }
}

/// Whether this rank is ending.
static ENDING: AtomicBool = AtomicBool::new(false);

/// The environment variables for the number of processes: Open MPI; MPICH and Intel MPI.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// Returns the exit code and the rendered errors as bytes.
fn encode(failure: &Failure) -> Vec<u8> {
    let source = failure.source.as_ref().map(SourceFile::source);
    let mut message = vec![failure.exit.number()];
    for diagnostic in &failure.diagnostics {
        message.extend(render(diagnostic, source, false).into_bytes());
    }
    message
}

fn lost(error: &collectives::Error) -> Failure {
    Failure { diagnostics: vec![error.diagnostic()], source: None, exit: Exit::Wrong }
}
/// Returns whether the connection to the other ranks is lost.
fn is_lost(failure: &Failure) -> bool {
    failure.diagnostics.iter().any(|diagnostic| diagnostic.code == "E0509")
}

#[cfg(feature = "mpi")]
fn connect(count: usize) -> Result<collectives::Ranks> {
    let mpi = collectives::Mpi::start()
        .map_err(|e| Failure::new(&Code::Mpi { message: e.to_string() }, None))?;
    let ranks = collectives::Ranks::new(mpi);
    if ranks.count() != count {
        let connected = ranks.count();
        let message =
            format!("{count} processes were started together, but MPI connects {connected}");
        let help = "start them with the `mpirun` of the MPI library that this `etalon` was built with (docs/mpi.md)";
        return Err(Failure::new(&Code::Mpi { message }, Some(help.to_owned())));
    }
    report_termination(ranks.rank());
    Ok(ranks)
}
#[cfg(not(feature = "mpi"))]
fn connect(count: usize) -> Result<collectives::Ranks> {
    let message =
        format!("{count} processes were started together, but this `etalon` was built without MPI");
    let help = "build it with `--features mpi` (docs/mpi.md), or start a single process";
    Err(Failure::new(&Code::Mpi { message }, Some(help.to_owned())))
}

/// Reports that `mpirun` stopped this rank, as it does when another rank ends.
#[cfg(feature = "mpi")]
fn report_termination(rank: usize) {
    use signal_hook::consts::SIGTERM;
    // Without the handler the run works the same, only the message is missing.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGTERM]) else { return };
    let report = move || {
        if signals.forever().next().is_some() {
            if !ENDING.load(Ordering::Relaxed) {
                output::note(&format!(
                    "rank {rank}: stopped by SIGTERM, as happens when another rank ends\n"
                ));
            }
            signal_hook::low_level::exit(128 + SIGTERM);
        }
    };
    let _ = std::thread::Builder::new().spawn(report);
}
