//! Memory accounting of a run: bytes in use, the limit, and the peak.
use crate::error::Code;
use crate::{Error, Result};
use hlo::Literal;
use hlo::literal::Account;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// For requests of at least this many bytes the allocator is probed first: a failed allocation ends the process.
const LARGE: usize = 1 << 26;

/// The bytes of arrays that one device holds.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    in_use: AtomicUsize,
    peak: AtomicUsize,
    limit: Option<usize>,
}

impl Budget {
    pub(crate) fn new(limit: Option<usize>) -> Arc<Self> {
        Arc::new(Self { limit, ..Self::default() })
    }
    /// Returns the most bytes that were in use at once.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }
    /// Charges `bytes` before they are allocated.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: usize) -> Result<Reservation> {
        if bytes >= LARGE && Vec::<u8>::new().try_reserve_exact(bytes).is_err() {
            let message = format!("the system cannot allocate {bytes} bytes for the result");
            return Err(Code::OutOfMemory { message }.into());
        }
        // Machines on several threads share the limit: the check and the charge are one operation.
        let sum = |in_use: usize| {
            in_use.checked_add(bytes).filter(|&sum| self.limit.is_none_or(|limit| sum <= limit))
        };
        match self.in_use.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum) {
            Ok(in_use) => {
                self.peak.fetch_max(in_use + bytes, Ordering::Relaxed);
                Ok(Reservation { budget: Arc::clone(self), bytes })
            }
            Err(in_use) => {
                let limit = self.limit.unwrap_or(usize::MAX);
                let message = format!(
                    "{bytes} bytes are needed, {in_use} bytes are in use, and {limit} bytes are allowed"
                );
                Err(Error::from(Code::OutOfMemory { message })
                    .with_help("raise `--max-memory` or omit it"))
            }
        }
    }
    /// Charges bytes that are allocated already, whatever the limit.
    fn charge(&self, bytes: usize) {
        let in_use = self.in_use.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        self.peak.fetch_max(in_use, Ordering::Relaxed);
    }
    /// Returns the bytes in use.
    #[cfg(test)]
    pub(crate) fn in_use(&self) -> usize {
        self.in_use.load(Ordering::Relaxed)
    }
}

impl Account for Budget {
    fn release(&self, bytes: usize) {
        self.in_use.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Bytes that are charged and not yet part of an array; returned when dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Reservation {
    /// Charges the memory of new arrays to the budget, from these bytes first. Arrays that share memory, or are charged
    /// already, are not changed.
    pub(crate) fn attach(&mut self, array: &mut Literal) {
        let account: Arc<dyn Account> = self.budget.clone();
        if let Some(bytes) = array.charge_to(&account) {
            let reserved = bytes.min(self.bytes);
            self.bytes -= reserved;
            if bytes > reserved {
                self.budget.charge(bytes - reserved);
            }
        }
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        if self.bytes > 0 {
            self.budget.release(self.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_do_not_pass_the_limit_together() {
        let budget = Budget::new(Some(35));
        let reserve = || (0..1000).filter(|_| budget.reserve(10).is_ok()).count();
        let most = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(reserve)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum::<usize>()
        });
        assert!(most > 0);
        assert!(budget.peak() <= 35, "{} bytes", budget.peak());
        assert_eq!(budget.in_use(), 0);
        let error = budget.reserve(36).err().unwrap().to_string();
        assert!(error.contains("36 bytes are needed, 0 bytes are in use"), "{error}");
        assert!(budget.reserve(usize::MAX).is_err());
    }
}
