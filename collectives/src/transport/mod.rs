//! The seam to other machines: ranks, each of which runs a block of the devices.
//!
//! Every rank keeps the books of all devices and steps only its own. After each round of steps all tell all what their
//! devices came to, and answer alike. So ranks need one thing of what connects them: [`Transport::all_gather`].
mod opening;

#[cfg(feature = "mpi")]
mod mpi;

use crate::{Code, Error, Result, wire};
use hlo::Literal;
use std::fmt;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "mpi")]
pub use mpi::Mpi;
pub(crate) use opening::{Opening, Plan};

/// What connects the ranks of a run.
///
/// ```
/// /// One rank by itself.
/// struct Alone;
/// impl collectives::Transport for Alone {
///     fn rank(&self) -> usize {
///         0
///     }
///     fn ranks(&self) -> usize {
///         1
///     }
///     fn all_gather(&mut self, bytes: Vec<u8>) -> std::io::Result<Vec<Vec<u8>>> {
///         Ok(vec![bytes])
///     }
/// }
/// let ranks = collectives::Ranks::new(Alone);
/// assert_eq!((ranks.rank(), ranks.count()), (0, 1));
/// ```
pub trait Transport: Send {
    /// Which of the ranks this is, from 0 on.
    fn rank(&self) -> usize;
    /// How many there are.
    fn ranks(&self) -> usize;
    /// Gives every rank the bytes of all, in the order of the ranks. Every rank calls it, equally often.
    ///
    /// # Errors
    /// If a rank is gone. An error ends the run; it is not tried again.
    fn all_gather(&mut self, bytes: Vec<u8>) -> io::Result<Vec<Vec<u8>>>;
}

/// The ranks of a run, as one of them sees them. Clones are the same rank.
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
    /// The ranks that this connects.
    pub fn new(transport: impl Transport + 'static) -> Self {
        let (rank, count) = (transport.rank(), transport.ranks());
        Self { rank, count, transport: Arc::new(Mutex::new(transport)) }
    }
    /// Which of the ranks this is, from 0 on.
    pub fn rank(&self) -> usize {
        self.rank
    }
    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }
    /// The numbers of the devices that this rank runs, of so many: one after another, on each rank equally many or one more.
    pub fn block(&self, devices: usize) -> Range<usize> {
        let (each, more) = (devices / self.count, devices % self.count);
        let first = |rank: usize| rank * each + rank.min(more);
        first(self.rank)..first(self.rank + 1)
    }
    /// The rank that runs a device, of so many.
    pub(crate) fn rank_of(&self, device: usize, devices: usize) -> usize {
        let (each, more) = (devices / self.count, devices % self.count);
        match device.checked_sub(more * (each + 1)) {
            None => device / (each + 1),
            Some(after) => more + after / each.max(1),
        }
    }
    /// Gives every rank the bytes of all, in the order of the ranks. Every rank must call it between the same runs.
    ///
    /// Programs tell each other with it what runs do not: that a file is missing on one rank, what they exit with.
    ///
    /// # Errors
    /// `E0509` if a rank is gone.
    pub fn gather(&self, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        // A transport that has panicked is as good as one that gives errors: the next use says what is wrong with it.
        let mut transport = self.transport.lock().unwrap_or_else(PoisonError::into_inner);
        let gathered = transport.all_gather(bytes).map_err(|e| lost(&e.to_string()))?;
        match gathered.len() == self.count {
            true => Ok(gathered),
            false => Err(lost(&format!("{} of {} ranks have sent", gathered.len(), self.count))),
        }
    }
    /// The values of all ranks, in the order of the ranks. Every rank must call it between the same runs.
    ///
    /// # Errors
    /// `E0509` if a rank is gone, or has sent no values.
    pub fn gather_values(&self, own: &[Literal]) -> Result<Vec<Literal>> {
        let mut all = Vec::new();
        let bytes = wire::encode_values(own).map_err(|damage| lost(&damage))?;
        for (rank, bytes) in self.gather(bytes)?.iter().enumerate() {
            all.extend(wire::decode_values(bytes).map_err(|damage| damaged(rank, &damage))?);
        }
        Ok(all)
    }
}

/// Ranks have lost each other.
pub(crate) fn lost(message: &str) -> Error {
    let message = format!("the ranks have lost each other: {message}");
    Error::from(Code::Lost { message })
        .with_help("a rank that ends early ends the run of all: see what it and its starter said")
}

/// What a rank has sent cannot be read.
pub(crate) fn damaged(rank: usize, damage: &str) -> Error {
    let message = format!("what rank {rank} has sent cannot be read: {damage}");
    Code::Lost { message }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rank that is never asked anything.
    struct Place(usize, usize);

    impl Transport for Place {
        fn rank(&self) -> usize {
            self.0
        }
        fn ranks(&self) -> usize {
            self.1
        }
        fn all_gather(&mut self, _: Vec<u8>) -> io::Result<Vec<Vec<u8>>> {
            Ok(Vec::new())
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
                let ranks = Ranks::new(Place(rank, count));
                assert_eq!(ranks.block(devices), block);
                assert!(block.into_iter().all(|device| ranks.rank_of(device, devices) == rank));
            }
        }
    }

    #[test]
    fn a_rank_too_few_is_an_error() {
        let error = Ranks::new(Place(0, 2)).gather(Vec::new()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "error[E0509]: the ranks have lost each other: 0 of 2 ranks have sent"
        );
    }
}
