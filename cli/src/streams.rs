//! What the process was started with: closed standard output, and limits of the size of files and of the stack.
#![cfg_attr(
    unix,
    expect(unsafe_code, reason = "runs before the standard library, and calls the C library")
)]
use std::sync::atomic::{AtomicBool, Ordering};

static IS_STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

/// Returns whether the process was started without standard output, as by `>&-`.
pub(crate) fn is_stdout_closed() -> bool {
    IS_STDOUT_CLOSED.load(Ordering::Relaxed)
}

/// Runs before `main`: the standard library puts `/dev/null` in the place of a closed stream, and what is written there is lost.
#[cfg(unix)]
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = ".init_array"))]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
static BEFORE_MAIN: extern "C" fn() = {
    extern "C" fn look() {
        // SAFETY: the call reads a flag of a descriptor, or fails if that is closed.
        let flags = unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) };
        IS_STDOUT_CLOSED.store(flags < 0, Ordering::Relaxed);
    }
    look
};

/// Returns the size of the stack in KiB that the process was started with (`ulimit -s`), if it is too small to read a command line.
#[cfg(unix)]
pub(crate) fn small_stack() -> Option<u64> {
    const LEAST: u64 = 1 << 10;
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call writes to the place that it is given.
    let is_known = unsafe { libc::getrlimit(libc::RLIMIT_STACK, &raw mut limit) } == 0;
    Some(limit.rlim_cur >> 10).filter(|&size| is_known && size < LEAST)
}

#[cfg(not(unix))]
pub(crate) fn small_stack() -> Option<u64> {
    None
}

/// Makes a file beyond the limit of sizes (`ulimit -f`) an error of its writer, not the end of the process.
///
/// A handler does it, not the setting to ignore the signal, which programs that are started would inherit.
#[cfg(unix)]
pub(crate) fn report_large_files() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler: extern "C" fn(libc::c_int) = nothing;
    #[expect(clippy::as_conversions, reason = "the C library takes the address of a handler")]
    let handler = handler as libc::sighandler_t;
    // SAFETY: the handler does nothing, which is safe at any time.
    unsafe { libc::signal(libc::SIGXFSZ, handler) };
}

#[cfg(not(unix))]
pub(crate) fn report_large_files() {}
