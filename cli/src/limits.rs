//! The limits of a run, which hold from its beginning: also while its arguments are read and drawn.
use crate::error::{Exit, Failure, Result};
use hlo::diag::quantity;
use interp::RunOptions;
use std::cell::Cell;
use std::io::{Read, Seek, SeekFrom};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// The limits of a run, and the memory of its arguments so far.
pub(crate) struct Limits {
    /// Those of the run; the clock of its time limit has started.
    options: RunOptions,
    /// The bytes of the arguments that have been charged.
    held: Cell<usize>,
}

impl Limits {
    /// Starts the clock of the time limit.
    pub(crate) fn start(options: RunOptions) -> Self {
        Self { options: options.start_clock(), held: Cell::new(0) }
    }
    /// Returns no limits.
    pub(crate) fn none() -> Self {
        Self::start(RunOptions::default())
    }
    /// Returns the options of the run.
    pub(crate) fn options(&self) -> RunOptions {
        self.options.clone()
    }
    /// Charges the memory of arguments before they are made.
    pub(crate) fn charge(&self, bytes: usize) -> Result<()> {
        let held = self.held.get().saturating_add(bytes);
        self.check_bytes(held)?;
        self.held.set(held);
        Ok(())
    }
    /// Fails if arguments of this size do not fit into the memory of the run.
    pub(crate) fn check_bytes(&self, bytes: usize) -> Result<()> {
        match self.options.max_memory {
            Some(limit) if bytes > limit => Err(failure(&interp::over_memory_limit(format!(
                "the arguments have {}, and {limit} bytes are allowed",
                quantity(bytes, "byte")
            )))),
            Some(_) | None => Ok(()),
        }
    }
    /// Fails if the time is over.
    pub(crate) fn check_time(&self) -> Result<()> {
        self.options.check_time().map_err(|error| failure(&error))
    }
    /// Returns the most bytes of a module's text: the memory of the run, but always enough for the modules that a small limit
    /// is tried with.
    pub(crate) fn most_text(&self) -> Option<usize> {
        const LEAST: usize = 1 << 24;
        self.options.max_memory.map(|limit| limit.max(LEAST))
    }
    /// Calls a function that reads a part of a module. If there is a time limit, a thread of its own does: when the time is over, it
    /// is left alone, and ends with the process.
    pub(crate) fn within<T, F>(&self, read: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        /// As much as the main thread has: the parser recurses.
        const STACK: usize = 1 << 23;
        const PAUSE: Duration = Duration::from_millis(5);
        if self.options.time_limit.is_none() {
            return Ok(read());
        }
        let (send, result) = channel();
        let job = Arc::new(Mutex::new(Some(read)));
        let take = move |job: &Mutex<Option<F>>| job.lock().ok().and_then(|mut job| job.take());
        let of_thread = Arc::clone(&job);
        let reading = std::thread::Builder::new().stack_size(STACK).spawn(move || {
            let value = take(&of_thread).map(|read| read());
            // Nobody waits for it after the time.
            let _ = send.send(value);
        });
        let Ok(thread) = reading else {
            // Without a thread the time is not looked at before the end.
            return match take(&job) {
                Some(read) => Ok(read()),
                None => unreachable!("no thread took it"),
            };
        };
        loop {
            match result.recv_timeout(PAUSE) {
                Ok(Some(value)) => return Ok(value),
                Err(RecvTimeoutError::Timeout) => self.check_time()?,
                Ok(None) | Err(RecvTimeoutError::Disconnected) => match thread.join() {
                    Err(panic) => std::panic::resume_unwind(panic),
                    Ok(()) => unreachable!("a thread that ends has sent its value"),
                },
            }
        }
    }
    /// Returns the file, of which nothing more can be read when the time is over.
    pub(crate) fn timed<F>(&self, file: F) -> Timed<'_, F> {
        Timed { file, limits: self }
    }
}

pub(crate) fn failure(error: &interp::Error) -> Failure {
    Failure { diagnostics: vec![error.diagnostic()], source: None, exit: Exit::Wrong }
}

/// A file that is read within a time limit.
pub(crate) struct Timed<'a, F> {
    file: F,
    limits: &'a Limits,
}

impl<F: Read> Read for Timed<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        /// The most bytes between two looks at the clock.
        const MOST: usize = 1 << 24;
        if self.limits.check_time().is_err() {
            return Err(std::io::ErrorKind::TimedOut.into());
        }
        let count = buffer.len().min(MOST);
        self.file.read(&mut buffer[..count])
    }
}

impl<F: Seek> Seek for Timed<'_, F> {
    fn seek(&mut self, to: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(to)
    }
}
