//! The memory of a run: how much is in use, the limit, and the most that was in use at once.
use crate::error::Code;
use crate::{Error, Result};
use hlo::Literal;
use hlo::literal::Account;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Requests of at least this many bytes ask the allocator first: its refusal would end the process.
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
    /// The most bytes that were in use at once.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }
    /// Charges `bytes` before they are allocated.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: usize) -> Result<Reservation> {
        if bytes >= LARGE && Vec::<u8>::new().try_reserve_exact(bytes).is_err() {
            let message = format!("the system has no {bytes} bytes for the result");
            return Err(Code::OutOfMemory { message }.into());
        }
        let in_use = self.in_use.load(Ordering::Relaxed);
        if let Some(limit) = self.limit
            && in_use.saturating_add(bytes) > limit
        {
            let message = format!(
                "{bytes} bytes are needed, {in_use} bytes are in use, and {limit} bytes are allowed"
            );
            return Err(Error::from(Code::OutOfMemory { message })
                .with_help("raise `--max-memory`, or leave it out"));
        }
        self.charge(bytes);
        Ok(Reservation { budget: Arc::clone(self), bytes })
    }
}

impl Account for Budget {
    fn charge(&self, bytes: usize) {
        let in_use = self.in_use.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        self.peak.fetch_max(in_use, Ordering::Relaxed);
    }
    fn release(&self, bytes: usize) {
        self.in_use.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// Bytes that are charged and not yet part of an array; dropping it returns them.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Reservation {
    /// Charges the memory of new arrays to the budget, from these bytes first. Arrays that share memory, or are charged
    /// already, are left alone.
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
