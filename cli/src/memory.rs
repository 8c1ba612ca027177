//! The allocator: the memory of freed arrays goes back to the system, and a failed allocation is an error with a message. A
//! warning comes before a run that needs more memory than there is.
#![expect(unsafe_code, reason = "implements an allocator, and calls the C library")]
use crate::spill;
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write as _;

/// The system's allocator, whose small allocations end the process with a message if they fail.
struct Checked;

/// Larger allocations are made by code that handles a failure, or by the library, which aborts with a message.
const SMALL: usize = 1 << 20;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

// SAFETY: every call is passed on to the system's allocator, or to files, by the size of the block.
unsafe impl GlobalAlloc for Checked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if spill::has(layout.size()) {
            return spill::allocate(layout.size());
        }
        // SAFETY: the caller's promise is that of the allocator.
        checked(in_huge_pages(unsafe { System.alloc(layout) }, layout.size()), layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if spill::has(layout.size()) {
            return spill::allocate(layout.size());
        }
        // SAFETY: as above.
        let memory = unsafe { System.alloc_zeroed(layout) };
        checked(in_huge_pages(memory, layout.size()), layout.size())
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        match (spill::has(layout.size()), spill::has(size)) {
            // SAFETY: as above.
            (false, false) => checked(unsafe { System.realloc(memory, layout, size) }, size),
            (true, true) if size <= layout.size() => {
                // SAFETY: the block is in a file, and the caller gives up its end.
                unsafe { spill::shrink(memory, layout.size(), size) };
                memory
            }
            // SAFETY: as above.
            _ => unsafe { self.moved(memory, layout, size) },
        }
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above; a block in a file has the size of one.
        unsafe {
            match spill::has(layout.size()) {
                true => spill::free(memory, layout.size()),
                false => System.dealloc(memory, layout),
            }
        }
    }
}

impl Checked {
    /// Moves a block to a new one.
    ///
    /// # Safety
    /// As for `realloc`.
    #[cold]
    unsafe fn moved(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        let Ok(new) = Layout::from_size_align(size, layout.align()) else {
            return std::ptr::null_mut();
        };
        // SAFETY: both blocks have as many bytes as are copied, and are apart; the old one is the caller's.
        unsafe {
            let block = self.alloc(new);
            if !block.is_null() {
                block.copy_from_nonoverlapping(memory, size.min(layout.size()));
                self.dealloc(memory, layout);
            }
            block
        }
    }
}

/// Asks the system for pages of 2 MiB in a large block: it makes and zeroes one of them faster than 512 small ones.
#[cfg(target_os = "linux")]
#[inline]
fn in_huge_pages(memory: *mut u8, size: usize) -> *mut u8 {
    /// Bytes of a page. Smaller blocks than two may not contain one.
    const PAGE: usize = 2 << 20;
    if size >= 2 * PAGE && !memory.is_null() {
        let skipped = memory.align_offset(PAGE);
        let bytes = (size - skipped) / PAGE * PAGE;
        // SAFETY: the range is part of the block; the advice does not change its contents. It may be ignored.
        unsafe { libc::madvise(memory.add(skipped).cast(), bytes, libc::MADV_HUGEPAGE) };
    }
    memory
}
#[cfg(not(target_os = "linux"))]
#[inline]
fn in_huge_pages(memory: *mut u8, _: usize) -> *mut u8 {
    memory
}

#[inline]
fn checked(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() && size <= SMALL {
        out_of_memory();
    }
    memory
}

#[cold]
fn out_of_memory() -> ! {
    let _ = std::io::stderr().write_all(
        b"error: the system has no memory left\n  = help: `--max-memory` bounds the memory of arrays\n",
    );
    std::process::exit(1)
}

/// Makes glibc return every freed block of 4 MiB or more to the system, and keep the memory of smaller ones.
///
/// Left alone, glibc raises this threshold to the size of the largest block it has freed, and then keeps blocks of up to
/// 32 MiB: the process would hold more memory than `--max-memory` counts. Of smaller blocks up to 32 MiB are kept: the system
/// would zero the memory of most kernels again for each step.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn return_freed_blocks() {
    for (setting, bytes) in [(libc::M_MMAP_THRESHOLD, 4 << 20), (libc::M_TRIM_THRESHOLD, 32 << 20)]
    {
        // SAFETY: `mallopt` changes a setting of the allocator; no other thread runs yet.
        unsafe { libc::mallopt(setting, bytes) };
    }
}

/// Does nothing: other allocators have no such threshold.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn return_freed_blocks() {}

/// Warns if a run is planned to take more memory than there is: the system would end the process without a message.
pub(crate) fn warn_if_short(planned: Option<usize>) {
    let (Some(planned), Some(available)) = (planned, available()) else { return };
    if planned > available && !spill::is_on() {
        crate::output::status(&format!(
            "warning: the run may take {planned} bytes of memory, {available} are available\n  \
             = help: `--max-memory BYTES` ends a run with an error before the system ends the process; `--spill DIR` keeps large arrays in files\n"
        ));
    }
}

/// Returns the bytes of memory that the system can give, if it tells.
fn available() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix(" kB")?.parse::<usize>().ok()?.checked_mul(1 << 10)
}
