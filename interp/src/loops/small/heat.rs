//! When a loop is worth machine code.
use super::code::Code;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The rounds, in all runs together, that take about as long as to generate code for them.
const COLD_ROUNDS: u64 = 2000;

/// The instructions of the largest loop that becomes code.
const MOST: usize = 2000;

/// Counts the rounds of a loop until it has code.
#[derive(Debug)]
pub(super) struct Heat {
    left: AtomicU64,
    code: OnceLock<Option<Code>>,
}

impl Heat {
    /// Returns that of a loop of so many instructions that may become code.
    pub(super) fn new(jit: bool, instructions: usize) -> Self {
        let left = if jit && instructions <= MOST { COLD_ROUNDS } else { u64::MAX };
        Self { left: AtomicU64::new(left), code: OnceLock::new() }
    }
    pub(super) fn rounds_left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }
    pub(super) fn set(&self, left: u64) {
        self.left.store(left, Ordering::Relaxed);
    }
    pub(super) fn code(&self, compile: impl FnOnce() -> Option<Code>) -> Option<&Code> {
        self.code.get_or_init(compile).as_ref()
    }
}
