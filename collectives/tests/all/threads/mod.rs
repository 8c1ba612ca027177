//! Ranks that are threads of one process, and their faults.
use collectives::{Ranks, Transport};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};

/// A fault of a rank in a given round: it exits, or a byte of its message is changed.
#[derive(Clone, Copy)]
pub(crate) struct Fault {
    pub(crate) rank: usize,
    pub(crate) round: usize,
    /// The byte, and the changed bits.
    pub(crate) damage: Option<(usize, u8)>,
}

struct Thread {
    rank: usize,
    to: Vec<Sender<Vec<u8>>>,
    from: Vec<Receiver<Vec<u8>>>,
    round: usize,
    fault: Option<Fault>,
    /// The bytes of all values that ranks sent each other.
    traffic: Arc<AtomicUsize>,
}

impl Transport for Thread {
    fn rank(&self) -> usize {
        self.rank
    }
    fn ranks(&self) -> usize {
        self.to.len()
    }
    fn all_gather(&mut self, mut bytes: Vec<u8>) -> io::Result<Vec<Vec<u8>>> {
        if let Some((at, bits)) = self.fault()?
            && let Some(byte) = bytes.get_mut(at)
        {
            *byte ^= bits;
        }
        for (rank, to) in self.to.iter().enumerate() {
            to.send(bytes.clone()).map_err(|_| gone(rank))?;
        }
        let all = self.from.iter().enumerate();
        all.map(|(rank, from)| from.recv().map_err(|_| gone(rank))).collect()
    }
    fn exchange(
        &mut self,
        sends: &[(usize, &[u8])],
        receives: &mut [(usize, &mut [u8])],
    ) -> io::Result<()> {
        // A changed byte of a value is not detected.
        self.fault()?;
        for (rank, bytes) in sends {
            assert!(*rank != self.rank && !bytes.is_empty());
            self.traffic.fetch_add(bytes.len(), Ordering::Relaxed);
            self.to[*rank].send(bytes.to_vec()).map_err(|_| gone(*rank))?;
        }
        for (rank, bytes) in receives {
            let found = self.from[*rank].recv().map_err(|_| gone(*rank))?;
            // A rank that has lost another one reports that instead of the value.
            if found.len() != bytes.len() {
                return Err(gone(*rank));
            }
            bytes.copy_from_slice(&found);
        }
        Ok(())
    }
}

fn gone(rank: usize) -> io::Error {
    io::Error::other(format!("rank {rank} is gone"))
}

impl Thread {
    /// Counts a message; returns the byte that changes, or fails if this rank exits now.
    fn fault(&mut self) -> io::Result<Option<(usize, u8)>> {
        let now = self.fault.filter(|fault| (fault.rank, fault.round) == (self.rank, self.round));
        self.round += 1;
        match now {
            Some(Fault { damage: None, .. }) => {
                self.to.clear();
                Err(io::Error::other("this rank has been stopped"))
            }
            Some(Fault { damage, .. }) => Ok(damage),
            None => Ok(None),
        }
    }
}

/// Returns the result of `part` on each of `count` ranks.
pub(crate) fn on_ranks<T: Send>(count: usize, part: impl Fn(Ranks) -> T + Sync) -> Vec<T> {
    connected(count, None, part).0
}
/// Returns the number of bytes of values that the ranks send each other.
pub(crate) fn traffic(count: usize, part: impl Fn(Ranks) + Sync) -> usize {
    connected(count, None, part).1
}
/// Returns the same, with a fault.
pub(crate) fn with_fault<T: Send>(
    count: usize,
    fault: Fault,
    part: impl Fn(Ranks) -> T + Sync,
) -> Vec<T> {
    connected(count, Some(fault), part).0
}

fn connected<T: Send>(
    count: usize,
    fault: Option<Fault>,
    part: impl Fn(Ranks) -> T + Sync,
) -> (Vec<T>, usize) {
    let traffic = Arc::new(AtomicUsize::new(0));
    // Rank `a` sends to rank `b` through channel `a * count + b`.
    let (to, from): (Vec<_>, Vec<_>) = (0..count * count).map(|_| channel()).unzip();
    let mut from: Vec<_> = from.into_iter().map(Some).collect();
    let mut threads = Vec::new();
    for rank in 0..count {
        let to = to[rank * count..][..count].to_vec();
        let from = (0..count).map(|other| from[other * count + rank].take().unwrap()).collect();
        threads.push(Thread { rank, to, from, round: 0, fault, traffic: Arc::clone(&traffic) });
    }
    drop(to);
    let part = &part;
    let results = std::thread::scope(|scope| {
        let spawn = |thread| scope.spawn(move || part(Ranks::new(thread)));
        let running: Vec<_> = threads.into_iter().map(spawn).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    (results, traffic.load(Ordering::Relaxed))
}
