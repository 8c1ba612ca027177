//! Processes that were started together with this one: ranks of one run, each with a block of its devices.
use crate::error::{Code, Exit, Failure, Result};
use crate::output;
use collectives::Ranks;
use hlo::Literal;
use hlo::diag::{Source, render};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// This process among the ranks of a run; mostly it is the only one.
///
/// All ranks do the same: they load the same files, run, and end with the same exit code. Rank 0 speaks for all; others say only
/// what they alone know. They agree before and after each run, so that none waits for one that has given up.
pub(crate) struct Peers(Option<Ranks>);

impl Peers {
    /// Joins the processes that were started together with this one, if there are any.
    pub(crate) fn join() -> Result<Self> {
        let count = SIZES.iter().find_map(|name| std::env::var(name).ok()?.parse().ok());
        match count {
            Some(count @ 2..) => connected(count).map(Some).map(Self),
            _ => Ok(Self(None)),
        }
    }
    /// The ranks, if there are several.
    pub(crate) fn ranks(&self) -> Option<&Ranks> {
        self.0.as_ref()
    }
    /// Whether this process speaks for all.
    pub(crate) fn leads(&self) -> bool {
        self.0.as_ref().is_none_or(|ranks| ranks.rank() == 0)
    }
    /// A file that each rank writes: of rank 0 the one that is named, of others `NAME.rank1.json`.
    pub(crate) fn own_file(&self, path: &Path) -> PathBuf {
        let rank = self.0.as_ref().map_or(0, Ranks::rank);
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        match rank {
            0 => path.to_owned(),
            rank => path.with_extension(format!("rank{rank}.{extension}")),
        }
    }

    /// What this rank has come to, if all ranks can go on.
    ///
    /// # Errors
    /// On every rank if there is one on any, with the exit code of the first. Each says its own, unless a rank before it says the
    /// same.
    pub(crate) fn agreed<T>(&self, own: Result<T>) -> Result<T> {
        let Some(ranks) = &self.0 else { return own };
        let word = own.as_ref().err().map(word).unwrap_or_default();
        let words = ranks.gather(word.clone()).map_err(|e| lost(&e))?;
        let Some(first) = words.iter().find_map(|word| word.first()) else { return own };
        let failure = own.err().filter(|_| !words[..ranks.rank()].contains(&word));
        let silent = Failure { diagnostics: Vec::new(), source: None, exit: Exit::Wrong };
        Err(Failure { exit: Exit::of(*first), ..failure.unwrap_or(silent) })
    }
    /// What all ranks have come to alike: an error is said by rank 0.
    ///
    /// # Errors
    /// The error.
    pub(crate) fn alike<T>(&self, result: Result<T>) -> Result<T> {
        match result {
            Err(failure) if !self.leads() && !is_lost(&failure) => {
                Err(Failure { diagnostics: Vec::new(), ..failure })
            }
            other => other,
        }
    }
    /// The values of all devices, of which this rank has those of its block.
    pub(crate) fn of_all(&self, values: Vec<Literal>) -> Result<Vec<Literal>> {
        match &self.0 {
            None => Ok(values),
            // Where nobody has any, one device has run on one rank.
            Some(_) if values.len() <= 1 => Ok(values),
            Some(ranks) => {
                ranks.gather_values(&values[ranks.block(values.len())]).map_err(|e| lost(&e))
            }
        }
    }

    /// Ends the run of all ranks.
    pub(crate) fn conclude(self, result: Result<ExitCode>) -> Result<ExitCode> {
        // Ranks that end with an error are ended by whoever started them, some before others: nothing to speak of.
        ENDS.store(true, Ordering::Relaxed);
        let (Some(ranks), Err(failure)) = (&self.0, &result) else { return result };
        if !failure.diagnostics.is_empty() && ranks.rank() != 0 {
            output::note(&format!("rank {}: ", ranks.rank()));
        }
        output::show(failure);
        if is_lost(failure) {
            // To end MPI would be to wait for ranks that may wait for this one.
            std::process::exit(failure.exit.number().into());
        }
        Ok(failure.exit.code())
    }
}

/// Whether this rank is about to end.
static ENDS: AtomicBool = AtomicBool::new(false);

/// What the starters of MPI call the number of processes: `OpenMPI`; MPICH and Intel.
const SIZES: [&str; 2] = ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"];

/// An exit code, and an error as text.
fn word(failure: &Failure) -> Vec<u8> {
    let source = failure.source.as_ref().map(|(name, text)| Source { name, text });
    let mut word = vec![failure.exit.number()];
    for diagnostic in &failure.diagnostics {
        word.extend(render(diagnostic, source, false).into_bytes());
    }
    word
}

fn lost(error: &collectives::Error) -> Failure {
    Failure { diagnostics: vec![error.diagnostic()], source: None, exit: Exit::Wrong }
}
/// Whether this rank does not know what others do.
fn is_lost(failure: &Failure) -> bool {
    failure.diagnostics.iter().any(|diagnostic| diagnostic.code == "E0509")
}

#[cfg(feature = "mpi")]
fn connected(_: usize) -> Result<Ranks> {
    let mpi = collectives::Mpi::start()
        .map_err(|e| Failure::new(&Code::Mpi { message: e.to_string() }, None))?;
    let ranks = Ranks::new(mpi);
    last_words(ranks.rank());
    Ok(ranks)
}
#[cfg(not(feature = "mpi"))]
fn connected(count: usize) -> Result<Ranks> {
    let message =
        format!("{count} processes are started together, and this `etalon` is built without MPI");
    let help = "build it with `--features mpi` (docs/mpi.md), or start it once";
    Err(Failure::new(&Code::Mpi { message }, Some(help.to_owned())))
}

/// Says that this rank was stopped when whoever started the ranks stops it, which is what happens when another rank is gone.
#[cfg(feature = "mpi")]
fn last_words(rank: usize) {
    use signal_hook::consts::SIGTERM;
    // Without it the run is as good, only less is said.
    let Ok(mut signals) = signal_hook::iterator::Signals::new([SIGTERM]) else { return };
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            if !ENDS.load(Ordering::Relaxed) {
                output::note(&format!(
                    "rank {rank}: stopped from outside, as happens when another rank is gone\n"
                ));
            }
            signal_hook::low_level::exit(128 + SIGTERM);
        }
    });
}
