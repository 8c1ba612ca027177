//! The memory of the process: that of freed arrays goes back to the system, and a warning comes
//! before a run that needs more than there is.
use hlo::diag::quantity;
use interp::SystemMemory;

/// Makes glibc return every freed block of 16 MiB or more to the system, and keep the memory of smaller ones.
///
/// Left alone, glibc raises this threshold to the size of the largest block it has freed, and then keeps blocks of up to
/// 32 MiB: the process would hold more memory than `--max-memory` counts. Of smaller blocks up to 32 MiB are kept: the system
/// would zero the memory of most kernels again for each step.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "sets an option of the C library")]
pub(crate) fn return_freed_blocks() {
    for (setting, bytes) in [(libc::M_MMAP_THRESHOLD, 16 << 20), (libc::M_TRIM_THRESHOLD, 32 << 20)]
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
    let (Some(planned), Some(available)) = (planned, SystemMemory::Available.bytes()) else {
        return;
    };
    if planned > available {
        crate::output::status(&format!(
            "warning: the run may take {} of memory, {available} are available\n  \
             = help: `--max-memory BYTES` ends a run with an error before the system ends the process; `--spill DIR` keeps large arrays in files\n",
            quantity(planned, "byte")
        ));
    }
}
