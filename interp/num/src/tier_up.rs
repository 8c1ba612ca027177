//! The tier-up policy: when a program becomes machine code.
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Executions of each instruction, and steps in all, that take about as long as to generate code.
const EXECUTIONS: u64 = 1000;
const STEPS: u64 = 20_000;

/// The number of steps for which a program never becomes code.
const NEVER: u64 = u64::MAX;

/// The steps that a program executes before it becomes code, in all runs together, and its code.
#[derive(Debug)]
pub struct TierUp<C> {
    left: AtomicU64,
    code: OnceLock<Option<C>>,
}

impl<C> TierUp<C> {
    /// Returns the count of a program with this many instructions.
    pub fn new(instructions: usize) -> Self {
        let instructions = u64::try_from(instructions).unwrap_or(u64::MAX);
        Self::after(EXECUTIONS.saturating_mul(instructions).clamp(STEPS, NEVER - 1))
    }
    /// Returns the count of a program that never becomes code.
    pub fn never() -> Self {
        Self::after(NEVER)
    }
    fn after(left: u64) -> Self {
        Self { left: AtomicU64::new(left), code: OnceLock::new() }
    }

    /// Returns the number of steps before the program becomes code.
    pub fn steps_left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }
    /// Counts steps that the program executes without code.
    pub fn count(&self, steps: u64) {
        let rest = |left: u64| (left != NEVER).then(|| left.saturating_sub(steps));
        // Without change where it never becomes code.
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
    }
    /// Returns the code of a program that has executed its steps; `compile` makes it the first
    /// time.
    pub fn code(&self, compile: impl FnOnce() -> Option<C>) -> Option<&C> {
        if self.steps_left() > 0 {
            return None;
        }
        self.code.get_or_init(compile).as_ref()
    }
    /// Returns the code, if it has been made.
    #[inline]
    pub fn ready(&self) -> Option<&C> {
        self.code.get()?.as_ref()
    }
}
