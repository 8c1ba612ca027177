//! Settings of the C allocator, so that the memory of freed arrays goes back to the system.
#![cfg_attr(
    all(target_os = "linux", target_env = "gnu"),
    expect(unsafe_code, reason = "calls the C library")
)]

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
