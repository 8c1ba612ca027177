//! The limits of a run, which hold from its beginning: also while its arguments are read and drawn.
use crate::error::{Exit, Failure, Result};
use interp::RunOptions;
use std::cell::Cell;
use std::io::{Read, Seek, SeekFrom};

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
                "the arguments have {bytes} bytes, and {limit} bytes are allowed"
            )))),
            Some(_) | None => Ok(()),
        }
    }
    /// Fails if the time is over.
    pub(crate) fn check_time(&self) -> Result<()> {
        self.options.check_time().map_err(|error| failure(&error))
    }
    /// Returns the file, of which nothing more can be read when the time is over.
    pub(crate) fn timed<F>(&self, file: F) -> Timed<'_, F> {
        Timed { file, limits: self }
    }
}

fn failure(error: &interp::Error) -> Failure {
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
