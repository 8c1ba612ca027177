//! Ctrl-C, after which a command ends with what it has.
use signal_hook::consts::SIGINT;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The exit code after Ctrl-C: that of a program which the signal ends.
const INTERRUPTED: u8 = 130;

pub(crate) fn exit_code() -> ExitCode {
    INTERRUPTED.into()
}

/// Returns what Ctrl-C sets: the command then ends with its summary. A second Ctrl-C ends the process.
pub(crate) fn stop() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    // Without the handlers the signal ends the process.
    let _ = signal_hook::flag::register_conditional_shutdown(
        SIGINT,
        INTERRUPTED.into(),
        Arc::clone(&stop),
    )
    .and_then(|_| signal_hook::flag::register(SIGINT, Arc::clone(&stop)));
    stop
}
