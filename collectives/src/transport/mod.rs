//! Transports: connections between ranks, each of which runs a block of the devices.
//!
//! Every rank tracks all devices and steps only its own. After each round of steps the ranks
//! publish their steps, and all of them handle all steps in the same order:
//! [`Transport::all_gather`]. The values that devices send each other go from rank to rank:
//! [`Transport::exchange`].
mod handshake;

#[cfg(feature = "mpi")]
mod mpi;

use crate::{Code, Error, Result};
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) use handshake::{Handshake, Plan};
#[cfg(feature = "mpi")]
pub use mpi::Mpi;

/// A connection between the ranks of a run.
///
/// ```
/// /// A single rank.
/// struct SingleRank;
/// impl collectives::Transport for SingleRank {
///     fn rank(&self) -> usize {
///         0
///     }
///     fn ranks(&self) -> usize {
///         1
///     }
///     fn all_gather(&mut self, bytes: Vec<u8>) -> std::io::Result<Vec<Vec<u8>>> {
///         Ok(vec![bytes])
///     }
///     fn exchange(&mut self, _: &[(usize, &[u8])], _: &mut [(usize, &mut [u8])]) -> std::io::Result<()> {
///         Ok(())
///     }
/// }
/// let ranks = collectives::Ranks::new(SingleRank);
/// assert_eq!((ranks.rank(), ranks.count()), (0, 1));
/// ```
pub trait Transport: Send {
    /// Returns the number of this rank, from 0.
    fn rank(&self) -> usize;
    /// Returns the number of ranks.
    fn ranks(&self) -> usize;
    /// Returns the bytes of all ranks, by number. Every rank calls it, equally often.
    ///
    /// # Errors
    /// If the connection to a rank is lost. An error ends the run; there is no retry.
    fn all_gather(&mut self, bytes: Vec<u8>) -> io::Result<Vec<Vec<u8>>>;
    /// Sends bytes to other ranks, and receives bytes from other ranks. Of two ranks that have a
    /// message for each other each calls it; a third one does not take part.
    ///
    /// A rank is listed once for each message. The messages of a sender to a receiver are in the
    /// same order in both lists, and of the same size, which is never 0. Messages in opposite
    /// directions must not wait for each other.
    ///
    /// # Errors
    /// As [`all_gather`](Self::all_gather).
    fn exchange(
        &mut self,
        sends: &[(usize, &[u8])],
        receives: &mut [(usize, &mut [u8])],
    ) -> io::Result<()>;
}

/// This process as one of the ranks of a run. Clones are the same rank.
#[derive(Clone)]
pub struct Ranks {
    rank: usize,
    count: usize,
    transport: Arc<Mutex<dyn Transport>>,
}

impl fmt::Debug for Ranks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ranks")
            .field("rank", &self.rank)
            .field("count", &self.count)
            .finish_non_exhaustive()
    }
}

impl Ranks {
    /// Returns the rank of a transport.
    pub fn new(transport: impl Transport + 'static) -> Self {
        let (rank, count) = (transport.rank(), transport.ranks());
        Self { rank, count, transport: Arc::new(Mutex::new(transport)) }
    }
    /// Returns the number of this rank, from 0.
    pub fn rank(&self) -> usize {
        self.rank
    }
    /// Returns the number of ranks.
    pub fn count(&self) -> usize {
        self.count
    }
    /// Returns the devices that this rank runs, out of a number of devices: a range, of the same
    /// size on all ranks or one larger.
    pub fn block(&self, devices: usize) -> Range<usize> {
        let (each, more) = (devices / self.count, devices % self.count);
        let first = |rank: usize| rank * each + rank.min(more);
        first(self.rank)..first(self.rank + 1)
    }
    /// Returns the rank that runs a device, out of a number of devices.
    pub(crate) fn rank_of(&self, device: usize, devices: usize) -> usize {
        let (each, more) = (devices / self.count, devices % self.count);
        match device.checked_sub(more * (each + 1)) {
            None => device / (each + 1),
            Some(after) => more + after / each.max(1),
        }
    }
    /// Returns the bytes of all ranks, by number. Every rank must call it between the same runs.
    ///
    /// Programs use it for data that a run does not exchange, for example a missing file on one
    /// rank, or their exit codes.
    ///
    /// # Errors
    /// `E0509` if the connection to a rank is lost.
    pub fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        // After a panic the transport is still used; it reports the problem.
        let mut transport = self.transport.lock().unwrap_or_else(PoisonError::into_inner);
        let gathered = transport.all_gather(bytes).map_err(|e| connection_lost(&e.to_string()))?;
        match gathered.len() == self.count {
            true => Ok(gathered),
            false => Err(connection_lost(&format!(
                "{} of {} ranks sent a message",
                gathered.len(),
                self.count
            ))),
        }
    }
    /// Sends bytes to other ranks, and receives bytes from other ranks, as [`Transport::exchange`];
    /// empty messages are left out.
    pub(crate) fn exchange(
        &self,
        sends: &[(usize, &[u8])],
        receives: &mut [(usize, &mut [u8])],
    ) -> Result<()> {
        let sends: Vec<(usize, &[u8])> =
            sends.iter().filter(|(_, bytes)| !bytes.is_empty()).copied().collect();
        let mut receives: Vec<(usize, &mut [u8])> = (receives.iter_mut())
            .filter(|(_, bytes)| !bytes.is_empty())
            .map(|(rank, bytes)| (*rank, &mut **bytes))
            .collect();
        if sends.is_empty() && receives.is_empty() {
            return Ok(());
        }
        let mut transport = self.transport.lock().unwrap_or_else(PoisonError::into_inner);
        transport.exchange(&sends, &mut receives).map_err(|e| connection_lost(&e.to_string()))
    }
}

/// Returns the error of a lost connection.
pub(crate) fn connection_lost(message: &str) -> Error {
    let message = format!("the connection between the ranks is lost: {message}");
    Error::from(Code::Lost { message })
        .with_help("a rank that exits early ends the run of all ranks: see its output and that of its launcher")
}

/// Returns the error of a malformed message.
pub(crate) fn malformed_message(rank: usize, error: &str) -> Error {
    let message = format!("the message of rank {rank} is malformed: {error}");
    Code::Lost { message }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rank without a connection.
    struct Unconnected(usize, usize);

    impl Transport for Unconnected {
        fn rank(&self) -> usize {
            self.0
        }
        fn ranks(&self) -> usize {
            self.1
        }
        fn all_gather(&mut self, _: Vec<u8>) -> io::Result<Vec<Vec<u8>>> {
            Ok(Vec::new())
        }
        fn exchange(
            &mut self,
            _: &[(usize, &[u8])],
            _: &mut [(usize, &mut [u8])],
        ) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn blocks_are_equal_or_one_longer() {
        for (devices, count, blocks) in [
            (8, 4, vec![0..2, 2..4, 4..6, 6..8]),
            (7, 3, vec![0..3, 3..5, 5..7]),
            (2, 4, vec![0..1, 1..2, 2..2, 2..2]),
        ] {
            for (rank, block) in blocks.into_iter().enumerate() {
                let ranks = Ranks::new(Unconnected(rank, count));
                assert_eq!(ranks.block(devices), block);
                assert!(block.into_iter().all(|device| ranks.rank_of(device, devices) == rank));
            }
        }
    }

    #[test]
    fn a_rank_too_few_is_an_error() {
        let error = Ranks::new(Unconnected(0, 2)).gather(Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "error[E0509]: the connection between the ranks is lost: 0 of 2 ranks sent a message"
        );
    }
}
