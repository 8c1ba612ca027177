//! Ranks that are processes started by `mpirun`.
//!
//! MPI counts bytes in 32 bits, so longer messages are sent in pieces. Errors of MPI itself are
//! left fatal, as MPI sets them: it names the error and ends all ranks, and a run that has lost a
//! rank cannot continue.
use super::Transport;
use mpi::Threading;
use mpi::datatype::PartitionMut;
use mpi::environment::Universe;
use mpi::request::multiple_scope;
use mpi::topology::SimpleCommunicator;
use mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use std::io;
use std::num::TryFromIntError;

/// The processes of an MPI run. Dropping it finalizes MPI, which waits for all ranks.
///
/// A panic does not wait: the process exits without finalizing MPI, and `mpirun` ends the other
/// ranks.
///
/// Needs the feature `mpi`.
///
/// ```no_run
/// let text = "HloModule m, num_partitions=8 ENTRY e { ROOT p = u32[] partition-id() }";
/// let verified = hlo::Module::parse(text)?.verify()?;
/// let ranks = collectives::Ranks::new(collectives::Mpi::start()?);
/// let session = collectives::Session::compile(verified, &interp::CompileOptions::default())?;
/// let options = interp::RunOptions::default();
/// let output = session.run_on_ranks(&ranks, &[vec![]], &options, |_| interp::Hooks::new())?;
/// assert_eq!(output.results[7].to_string(), "u32[] 7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Mpi {
    /// Present until this is dropped.
    universe: Option<Universe>,
    rank: usize,
    ranks: usize,
    /// The largest number of bytes of all ranks in one `all_gather`, and of a message.
    chunk_size: usize,
}

impl std::fmt::Debug for Mpi {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Mpi")
            .field("rank", &self.rank)
            .field("ranks", &self.ranks)
            .finish_non_exhaustive()
    }
}

impl Mpi {
    /// Connects to the other processes. A process that was not started by `mpirun` is a single
    /// rank.
    ///
    /// # Errors
    /// If MPI was started before in this process, or cannot be called from any thread.
    pub fn start() -> io::Result<Self> {
        let started = mpi::initialize_with_threading(Threading::Serialized);
        let (universe, threading) =
            started.ok_or_else(|| io::Error::other("MPI was started before"))?;
        if threading < Threading::Serialized {
            return Err(io::Error::other("this MPI supports one thread only"));
        }
        let world = universe.world();
        let (rank, ranks) = (size(world.rank())?, size(world.size())?);
        Ok(Self { universe: Some(universe), rank, ranks, chunk_size: MAX_CHUNK })
    }
    /// Sets the chunk size, in bytes of all ranks together, for tests of messages of several
    /// chunks.
    #[must_use]
    pub fn with_chunks(mut self, size: usize) -> Self {
        self.chunk_size = size.clamp(1, MAX_CHUNK);
        self
    }
}

impl Drop for Mpi {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::mem::forget(self.universe.take());
        }
    }
}

/// A number of bytes that fits a count of 32 bits with room.
const MAX_CHUNK: usize = 1 << 30;

impl Transport for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }
    fn ranks(&self) -> usize {
        self.ranks
    }
    fn all_gather(&mut self, bytes: Vec<u8>) -> io::Result<Vec<Vec<u8>>> {
        let universe = self.universe.as_ref().ok_or_else(|| io::Error::other("MPI has ended"))?;
        let world = universe.world();
        let mut lengths = vec![0_u64; self.ranks];
        let length = u64::try_from(bytes.len()).map_err(io::Error::other)?;
        world.all_gather_into(&length, &mut lengths[..]);
        let lengths: Result<Vec<usize>, TryFromIntError> =
            lengths.into_iter().map(usize::try_from).collect();
        let lengths = lengths.map_err(io::Error::other)?;
        let mut gathered: Vec<Vec<u8>> = lengths.iter().map(|&n| Vec::with_capacity(n)).collect();
        let chunk = (self.chunk_size / self.ranks).max(1);
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut buffer = Vec::new();
        for start in (0..longest).step_by(chunk) {
            let part = |length: usize| start.min(length)..(start + chunk).min(length);
            let counts = lengths.iter().map(|&length| count(part(length).len()));
            let counts = counts.collect::<io::Result<Vec<i32>>>()?;
            let firsts: Vec<i32> =
                (counts.iter()).scan(0, |at, n| Some(std::mem::replace(at, *at + n))).collect();
            buffer.resize(lengths.iter().map(|&length| part(length).len()).sum(), 0);
            let mut parts = PartitionMut::new(&mut buffer[..], counts, firsts);
            world.all_gather_varcount_into(&bytes[part(bytes.len())], &mut parts);
            let mut rest = buffer.as_slice();
            for (whole, &length) in gathered.iter_mut().zip(&lengths) {
                let (own, others) = rest.split_at(part(length).len());
                whole.extend_from_slice(own);
                rest = others;
            }
        }
        Ok(gathered)
    }
    fn exchange(
        &mut self,
        sends: &[(usize, &[u8])],
        receives: &mut [(usize, &mut [u8])],
    ) -> io::Result<()> {
        let universe = self.universe.as_ref().ok_or_else(|| io::Error::other("MPI has ended"))?;
        exchange_pieces(&universe.world(), self.chunk_size, sends, receives)
    }
}

/// Sends and receives the pieces of messages without waiting, then waits for all.
fn exchange_pieces(
    world: &SimpleCommunicator,
    size: usize,
    sends: &[(usize, &[u8])],
    receives: &mut [(usize, &mut [u8])],
) -> io::Result<()> {
    let rank = |rank: usize| count(rank).map(|rank| world.process_at_rank(rank));
    let mut pieces = Vec::new();
    for (from, bytes) in receives {
        let from = rank(*from)?;
        pieces.extend(bytes.chunks_mut(size).map(|piece| (from, piece)));
    }
    let mut sent = Vec::new();
    for (to, bytes) in sends {
        let to = rank(*to)?;
        sent.extend(bytes.chunks(size).map(|piece| (to, piece)));
    }
    multiple_scope(sent.len() + pieces.len(), |scope, requests| {
        for (from, piece) in pieces {
            requests.add(from.immediate_receive_into_with_tag(scope, piece, TAG));
        }
        for (to, piece) in sent {
            requests.add(to.immediate_send_with_tag(scope, piece, TAG));
        }
        requests.wait_all(&mut Vec::new());
    });
    Ok(())
}

/// The tag of all messages: two ranks send and receive them in one order.
const TAG: i32 = 0;

fn size(n: i32) -> io::Result<usize> {
    usize::try_from(n).map_err(io::Error::other)
}
fn count(n: usize) -> io::Result<i32> {
    i32::try_from(n).map_err(io::Error::other)
}
