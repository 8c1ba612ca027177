//! Ctrl-C, after which a command ends with what it has.
use crate::output;
use signal_hook::consts::SIGINT;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The exit code after Ctrl-C: that of a program which the signal ends.
const INTERRUPTED: u8 = 130;

/// How long a command that Ctrl-C ends may go on without a word.
const PATIENCE: Duration = Duration::from_secs(1);

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
    let is_set = Arc::clone(&stop);
    // Without it nothing is said.
    let _ = std::thread::Builder::new().spawn(move || {
        // Windows has no signal that wakes a thread.
        while !is_set.load(Ordering::Relaxed) {
            std::thread::sleep(PATIENCE / 10);
        }
        std::thread::sleep(PATIENCE);
        output::note("ending after what is running now; Ctrl-C again ends at once\n");
    });
    stop
}
