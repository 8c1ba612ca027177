//! The allocator: the memory of freed arrays goes back to the system, and a failed allocation is an error with a message.
#![expect(unsafe_code, reason = "implements an allocator, and calls the C library")]
use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write as _;

/// The system's allocator, whose small allocations end the process with a message if they fail.
struct Checked;

/// Larger allocations are made by code that handles a failure, or by the library, which aborts with a message.
const SMALL: usize = 1 << 20;

#[global_allocator]
static ALLOCATOR: Checked = Checked;

// SAFETY: every call is passed on to the system's allocator.
unsafe impl GlobalAlloc for Checked {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller's promise is that of the allocator.
        checked(unsafe { System.alloc(layout) }, layout.size())
    }
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }
    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: as above.
        checked(unsafe { System.realloc(memory, layout, size) }, size)
    }
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }
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

/// Makes glibc return every freed block of 4 MiB or more to the system.
///
/// Left alone, glibc raises this threshold to the size of the largest block it has freed, and then keeps blocks of up to
/// 32 MiB: the process would hold more memory than `--max-memory` counts.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(crate) fn return_freed_blocks() {
    // SAFETY: `mallopt` changes a setting of the allocator; no other thread runs yet.
    unsafe { libc::mallopt(libc::M_MMAP_THRESHOLD, 4 << 20) };
}

/// Does nothing: other allocators have no such threshold.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn return_freed_blocks() {}
