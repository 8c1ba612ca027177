//! The ranks of a run that spans several processes: each runs a block of the devices.
use crate::error::{Code, Exit, Failure, Result};
use crate::output;
use collectives::Ranks;
use hlo::Literal;
use hlo::diag::{SourceFile, render};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// The ranks of a run; usually there is a single process.
///
/// All ranks load the same files, run them, and end with the same exit code. Each rank writes the results of its devices. Rank 0
/// prints all of them, and common errors; other ranks report only their own errors. The ranks agree before and after each run, so that none waits for a rank that has failed.
pub(crate) struct Peers(Option<Ranks>);

impl Peers {
    /// Connects to the processes that were started together with this one, if there are any.
    pub(crate) fn join() -> Result<Self> {
        let count = SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse().ok());
        match count {
            Some(count @ 2..) => connect(count).map(Some).map(Self),
            _ => Ok(Self(None)),
        }
    }
    /// Returns the ranks, if there are several.
    pub(crate) fn ranks(&self) -> Option<&Ranks> {
        self.0.as_ref()
    }
    /// Returns whether this process is rank 0 or the only one.
    pub(crate) fn is_leader(&self) -> bool {
        self.0.as_ref().is_none_or(|ranks| ranks.rank() == 0)
    }
    /// Returns the path of a file that each rank writes: rank 1 writes `NAME.rank1.json`.
    pub(crate) fn path_for_rank(&self, path: &Path) -> PathBuf {
        let rank = self.0.as_ref().map_or(0, Ranks::rank);
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        match rank {
            0 => path.to_owned(),
            rank => path.with_extension(format!("rank{rank}.{extension}")),
        }
    }

    /// Returns the result of this rank if all ranks succeeded.
    ///
    /// # Errors
    /// Fails on every rank if any rank failed, with the exit code of the first one. A rank reports its own error, unless a lower
    /// rank reports the same one.
    pub(crate) fn agreed<T>(&self, own: Result<T>) -> Result<T> {
        let Some(ranks) = &self.0 else { return own };
        let message = own.as_ref().err().map(encode).unwrap_or_default();
        let messages = ranks.gather(message.clone()).map_err(|e| lost(&e))?;
        let Some(first) = messages.iter().find_map(|message| message.first()) else { return own };
        let failure = own.err().filter(|_| !messages[..ranks.rank()].contains(&message));
        let silent = Failure { diagnostics: Vec::new(), source: None, exit: Exit::Wrong };
        Err(Failure { exit: Exit::of(*first), ..failure.unwrap_or(silent) })
    }
    /// Returns a result that is the same on all ranks; only rank 0 reports an error.
    ///
    /// # Errors
    /// The error of the result.
    pub(crate) fn common<T>(&self, result: Result<T>) -> Result<T> {
        match result {
            Err(failure) if !self.is_leader() && !is_lost(&failure) => {
                Err(Failure { diagnostics: Vec::new(), ..failure })
            }
            other => other,
        }
    }
    /// Returns the devices of this rank, out of a number of devices.
    pub(crate) fn block(&self, devices: usize) -> Range<usize> {
        match &self.0 {
            // A module for one device runs on rank 0, an unpartitioned SPMD program on all.
            Some(ranks) if devices > 1 => ranks.block(devices),
            _ => 0..devices,
        }
    }
    /// Moves the values of all ranks to rank 0; the other ranks get none.
    pub(crate) fn gather_values(&self, own: Vec<Literal>) -> Result<Vec<Literal>> {
        match &self.0 {
            None => Ok(own),
            Some(ranks) => ranks.gather_values_to(0, &own).map_err(|e| lost(&e)),
        }
    }
    /// Returns the texts of all ranks.
    pub(crate) fn gather_texts(&self, own: String) -> Result<Vec<String>> {
        let Some(ranks) = &self.0 else { return Ok(vec![own]) };
        let texts = ranks.gather(own.into_bytes()).map_err(|e| lost(&e))?;
        Ok(texts.iter().map(|text| String::from_utf8_lossy(text).into_owned()).collect())
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
        if let Some(rank @ 1..) = self.0.as_ref().map(Ranks::rank)
            && !failure.diagnostics.is_empty()
        {
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
fn connect(count: usize) -> Result<Ranks> {
    let mpi = collectives::Mpi::start()
        .map_err(|e| Failure::new(&Code::Mpi { message: e.to_string() }, None))?;
    let ranks = Ranks::new(mpi);
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
fn connect(count: usize) -> Result<Ranks> {
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
