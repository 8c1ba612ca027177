//! Memory accounting of a run: bytes in use, the limit, and the peak; where arrays are.
mod spill;
mod system;

pub use spill::Spill;
pub use system::SystemMemory;

use crate::{Error, Result};
use hlo::literal::{Account, FreeMemory};
use hlo::{Array, ArrayShape};
use num::array::checked_bytes;
use num::error::{Code, over_memory_limit};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// For requests of at least this many bytes the allocator is probed first: a failed allocation ends
/// the process.
const LARGE: usize = 1 << 26;

/// Memory of dropped arrays of at least this many bytes is used again: the allocator zeroes a new
/// block, and returns large ones to the system, which zeroes each page once more.
const REUSED: usize = 1 << 10;
/// Below so many bytes, memory is used again for arrays of the same size only: to resize it takes as
/// long as to allocate.
const RESIZED: usize = 1 << 14;
/// The bytes to which sizes of memory are rounded up.
const WORD: usize = 16;

/// Memory that is used again has at most this many times the bytes that are asked for: larger arrays
/// need it.
const LARGER: usize = 8;

/// The pool may exceed the peak by one part in this number.
const SLACK: usize = 32;

/// Memory of dropped arrays that later arrays use, in this run of a program or the next.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    /// The memory that is free, from the smallest to the largest.
    free: Mutex<Vec<FreeMemory>>,
    bytes: AtomicUsize,
    /// The most bytes that were in use at once in any run.
    peak: AtomicUsize,
}

impl Pool {
    fn free(&self) -> MutexGuard<'_, Vec<FreeMemory>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
    /// Takes the smallest memory that has `bytes`.
    fn take(&self, bytes: usize) -> Option<FreeMemory> {
        if bytes < REUSED {
            return None;
        }
        let mut free = self.free();
        let i = free.partition_point(|memory| memory.bytes() < bytes);
        let fits = |memory: &&FreeMemory| match memory.bytes() - bytes {
            ..WORD => true,
            _ => bytes >= RESIZED && memory.bytes() / LARGER <= bytes,
        };
        free.get(i).filter(fits)?;
        let memory = free.remove(i);
        self.bytes.fetch_sub(memory.bytes(), Ordering::Relaxed);
        Some(memory)
    }
    fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }
    fn put(&self, memory: FreeMemory) {
        self.bytes.fetch_add(memory.bytes(), Ordering::Relaxed);
        let mut free = self.free();
        let i = free.partition_point(|other| other.bytes() < memory.bytes());
        free.insert(i, memory);
    }
    /// Frees memory until at most `bytes` are left: the least block that is enough, or the largest.
    fn shrink_to(&self, bytes: usize) {
        while self.bytes() > bytes {
            let mut free = self.free();
            let excess = self.bytes().saturating_sub(bytes);
            let enough = free.partition_point(|memory| memory.bytes() < excess);
            let Some(last) = free.len().checked_sub(1) else { return };
            let memory = free.remove(enough.min(last));
            self.bytes.fetch_sub(memory.bytes(), Ordering::Relaxed);
        }
    }
}

/// The bytes of arrays that one device holds, its arguments included.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    in_use: AtomicUsize,
    peak: AtomicUsize,
    limit: Option<usize>,
    pool: Arc<Pool>,
    spill: Option<Spill>,
}

impl Budget {
    pub(crate) fn new(limit: Option<usize>, pool: Arc<Pool>, spill: Option<Spill>) -> Arc<Self> {
        Arc::new(Self { limit, pool, spill, ..Self::default() })
    }
    /// Returns the most bytes that were in use at once.
    pub(crate) fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }
    /// Returns an array with arbitrary elements, charged.
    pub(crate) fn array(self: &Arc<Self>, shape: &Arc<ArrayShape>) -> Result<Array> {
        let bytes = checked_bytes(shape)?;
        if let Some(spill) = self.spill.as_ref().filter(|spill| spill.has(bytes)) {
            let reused = spill.take(bytes);
            let mut reservation = self.hold(bytes)?;
            let memory = reused.map_or_else(|| spill.file(bytes), Ok)?;
            let mut array = Array::in_memory(Arc::clone(shape), memory);
            reservation.attach(&mut array);
            return Ok(array);
        }
        let reused = self.pool.take(bytes);
        // Memory that is used again needs no probe.
        let mut reservation = match reused {
            Some(_) => self.hold(bytes)?,
            None => self.reserve(bytes)?,
        };
        let shape = Arc::clone(shape);
        let mut array = match reused {
            Some(memory) => Array::in_memory(shape, memory),
            None => in_large_pages(Array::zeros(shape)),
        };
        reservation.attach(&mut array);
        Ok(array)
    }
    /// Charges `bytes` before they are allocated.
    pub(crate) fn reserve(self: &Arc<Self>, bytes: usize) -> Result<Reservation> {
        // What the limit refuses is not asked of the system.
        let in_use = self.in_use.load(Ordering::Relaxed);
        let is_within = self.limit.is_none_or(|limit| in_use.saturating_add(bytes) <= limit);
        if bytes >= LARGE && is_within && Vec::<u8>::new().try_reserve_exact(bytes).is_err() {
            let message = format!("the system cannot allocate {bytes} bytes for the result");
            return Err(Error::from(Code::OutOfMemory { message }).with_help(
                "`--spill DIR`, in JAX `ETALON_SPILL`, keeps large arrays in files, as far as the file system has room",
            ));
        }
        self.hold(bytes)
    }
    /// Charges bytes that are allocated already, such as those of the arguments.
    pub(crate) fn hold(self: &Arc<Self>, bytes: usize) -> Result<Reservation> {
        // Machines on several threads share the limit: the check and the charge are one operation.
        let sum = |in_use: usize| {
            in_use.checked_add(bytes).filter(|&sum| self.limit.is_none_or(|limit| sum <= limit))
        };
        match self.in_use.fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum) {
            Ok(in_use) => {
                let in_use = in_use + bytes;
                self.peak.fetch_max(in_use, Ordering::Relaxed);
                self.pool.peak.fetch_max(in_use, Ordering::Relaxed);
                let (room, files) = (self.room(), self.files());
                if let Some(files) = files {
                    files.shrink_to(room);
                }
                self.pool.shrink_to(room.saturating_sub(files.map_or(0, Pool::bytes)));
                Ok(Reservation { budget: Arc::clone(self), bytes })
            }
            Err(in_use) => {
                let limit = self.limit.unwrap_or(usize::MAX);
                let message = format!(
                    "{bytes} bytes are needed, {in_use} bytes are in use, and {limit} bytes are allowed"
                );
                Err(over_memory_limit(message))
            }
        }
    }
    /// Returns the bytes that the limit leaves.
    pub(crate) fn left(&self) -> Option<usize> {
        self.limit.map(|limit| limit.saturating_sub(self.in_use.load(Ordering::Relaxed)))
    }
    /// Charges bytes that are allocated already, whatever the limit.
    fn charge(&self, bytes: usize) {
        let in_use = self.in_use.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        self.peak.fetch_max(in_use, Ordering::Relaxed);
    }
    /// Returns the pool of files.
    fn files(&self) -> Option<&Pool> {
        self.spill.as_ref().and_then(Spill::pool)
    }
    /// Returns the bytes that the pools may hold: together with the arrays no more than is allowed,
    /// and little more than was in use at once. The large result of a run stays for the next one,
    /// which takes small arrays first.
    fn room(&self) -> usize {
        let peak = self.pool.peak.load(Ordering::Relaxed);
        let most = peak.saturating_add(peak / SLACK).min(self.limit.unwrap_or(usize::MAX));
        most.saturating_sub(self.in_use.load(Ordering::Relaxed))
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
    fn reuse(&self, memory: FreeMemory) {
        let files = self.files();
        let held = self.pool.bytes() + files.map_or(0, Pool::bytes);
        if memory.bytes() >= REUSED && held.saturating_add(memory.bytes()) <= self.room() {
            match (memory.is_own(), files) {
                (true, _) => self.pool.put(memory),
                (false, Some(files)) => files.put(memory),
                (false, None) => drop(memory),
            }
        }
    }
}

/// Bytes that are charged and not yet part of an array; returned when dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    budget: Arc<Budget>,
    bytes: usize,
}

impl Reservation {
    /// Charges a new array as [`Self::attach`] does, and moves it into a file if it is large and
    /// the run has files.
    pub(crate) fn hold(&mut self, mut array: Array) -> Result<Array> {
        if let Some(spill) = &self.budget.spill {
            array = spill.moved(array)?;
        }
        self.attach(&mut array);
        Ok(array)
    }
    /// Charges the memory of new arrays to the budget, from these bytes first. Arrays that share
    /// memory, or are charged already, are not changed.
    pub(crate) fn attach(&mut self, array: &mut Array) {
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

/// Asks the system for pages of 2 MiB in a large array: it makes and zeroes one of them faster than
/// 512 small ones.
#[cfg(target_os = "linux")]
#[expect(unsafe_code, reason = "asks the system for large pages")]
fn in_large_pages(mut array: Array) -> Array {
    /// Bytes of a page. Smaller arrays than two may not contain one.
    const PAGE: usize = 2 << 20;
    if array.bytes().len() >= 2 * PAGE {
        let bytes = array.bytes_mut();
        let skipped = bytes.as_ptr().align_offset(PAGE);
        let (pages, _) = bytes[skipped..].as_chunks_mut::<PAGE>();
        // SAFETY: the range is part of the array; the advice does not change its contents. It may
        // be ignored.
        unsafe {
            libc::madvise(pages.as_mut_ptr().cast(), size_of_val(pages), libc::MADV_HUGEPAGE)
        };
    }
    array
}
#[cfg(not(target_os = "linux"))]
fn in_large_pages(array: Array) -> Array {
    array
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo::ElementType;

    /// A second run finds the memory of the first, and arrays and pool never hold more than was in
    /// use at once.
    #[test]
    fn memory_is_used_again() {
        let shape = |n: i64| Arc::new(ArrayShape::new(ElementType::U8, [n].as_slice()));
        let pool = Arc::new(Pool::default());
        let held = || pool.bytes();
        let budget = Budget::new(None, Arc::clone(&pool), None);
        let (one, two) = (budget.array(&shape(1 << 20)), budget.array(&shape(2 << 20)));
        drop((one, two));
        assert_eq!(held(), 3 << 20);
        let next = Budget::new(None, Arc::clone(&pool), None);
        let two = next.array(&shape(2 << 20)).unwrap();
        assert_eq!((held(), next.peak()), (1 << 20, 2 << 20));
        // The free memory is too small, and the peak has no room for both.
        let other = next.array(&shape((2 << 20) + 32)).unwrap();
        assert_eq!((held(), next.in_use()), (0, (4 << 20) + 32));
        drop((two, other));
        // Larger memory is resized; smaller memory is not: it would be copied.
        let resized = next.array(&shape((2 << 20) + 20)).unwrap();
        assert_eq!((held(), resized.bytes().len()), (2 << 20, (2 << 20) + 20));
        drop(resized);
        let fresh = next.array(&shape(3 << 20)).unwrap();
        assert_eq!((held(), fresh.bytes().len()), (0, 3 << 20));
        drop(fresh);
        let small = Budget::new(Some(1 << 20), Arc::clone(&pool), None);
        drop(small.array(&shape(16)).unwrap());
        assert!(held() <= 1 << 20);
    }

    #[test]
    fn threads_do_not_pass_the_limit_together() {
        let budget = Budget::new(Some(35), Arc::default(), None);
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
