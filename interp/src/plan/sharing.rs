//! Whether threads share a step, by the time that it has taken before.
//!
//! To wake a thread, and to move what a step reads and writes between the caches of two cores, takes
//! as long as some ten microseconds of work, on each machine other ones, and part of it the steps
//! after it. So a step that is brief runs a few times in both ways, and then shared only if that
//! gains enough. Its results are the same in both.
use num::parallel::{alone, threads};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The fuel of a step that threads may share, or the bytes of its arrays.
const LEAST: u64 = 1 << 14;
/// The nanoseconds that a shared run must gain.
const GAIN: u32 = 10_000;
/// Above this time threads share a step in any case.
const BRIEF: Duration = Duration::from_micros(200);
/// The runs before one way is chosen. Half of them are shared, one after the other: threads that have
/// just shared a step are awake.
const TRIALS: u32 = 8;
/// One run of so many tries the other way again.
const AGAIN: u32 = 256;

/// The work of a step, and its least times in nanoseconds; 0 if it has not run so.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    work: u64,
    runs: AtomicU32,
    shared: AtomicU32,
    alone: AtomicU32,
}

impl Sharing {
    /// Returns that of a step of this fuel, whose arrays have so many bytes each.
    pub(crate) fn of(fuel: u64, bytes: impl Iterator<Item = usize>) -> Self {
        let bytes = u64::try_from(bytes.fold(0, usize::saturating_add)).unwrap_or(u64::MAX);
        Self { work: fuel.max(bytes), ..Self::default() }
    }

    /// Returns whether threads may share the next run.
    pub(crate) fn is_shared(&self) -> bool {
        self.work >= LEAST && !self.is_alone()
    }

    /// Returns whether the thread of the machine does the next run by itself.
    fn is_alone(&self) -> bool {
        let [runs, shared, alone] =
            [&self.runs, &self.shared, &self.alone].map(|number| number.load(Ordering::Relaxed));
        if Duration::from_nanos(shared.into()) >= BRIEF {
            return false;
        }
        let is_faster = alone != 0 && alone < shared.saturating_add(GAIN);
        match runs {
            ..TRIALS => runs >= TRIALS / 2,
            _ if runs % AGAIN == 0 => !is_faster,
            _ => is_faster,
        }
    }

    /// Runs the step, which began at `begin` if that is earlier.
    pub(crate) fn run<R>(&self, begin: Option<Instant>, run: impl FnOnce() -> R) -> R {
        if self.work < LEAST || threads() == 1 {
            return run();
        }
        let is_alone = self.is_alone();
        let begin = begin.unwrap_or_else(Instant::now);
        let result = if is_alone { alone(run) } else { run() };
        let time = u32::try_from(begin.elapsed().as_nanos()).unwrap_or(u32::MAX).max(1);
        let least = if is_alone { &self.alone } else { &self.shared };
        let before = least.load(Ordering::Relaxed);
        if before == 0 || time < before {
            least.store(time, Ordering::Relaxed);
        }
        self.runs.fetch_add(1, Ordering::Relaxed);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(runs: u32, shared: u32, alone: u32) -> Sharing {
        Sharing { work: LEAST, runs: runs.into(), shared: shared.into(), alone: alone.into() }
    }

    #[test]
    fn brief_steps_are_tried_both_ways_and_then_run_the_faster_one() {
        let first: Vec<bool> = (0..TRIALS).map(|runs| of(runs, 9, 5).is_shared()).collect();
        assert_eq!(first, [true, true, true, true, false, false, false, false]);
        assert!(!of(TRIALS, 9_000, 5_000).is_shared());
        assert!(!of(TRIALS, 9_000, 8_000 + GAIN).is_shared(), "too little is gained");
        assert!(of(TRIALS, 9_000, 9_000 + GAIN).is_shared());
        assert!(of(AGAIN, 9_000, 5_000).is_shared(), "once it is tried again");
    }

    #[test]
    fn long_steps_are_shared_and_steps_of_little_fuel_are_not() {
        assert!(of(1, 300_000, 0).is_shared());
        assert!(of(TRIALS, 300_000, 1).is_shared());
        assert!(!Sharing::of(LEAST - 1, [1, 2].into_iter()).is_shared());
    }

    #[test]
    fn a_run_is_timed_and_has_the_threads_of_its_way() {
        let sharing = Sharing::of(0, [2000, 1 << 14].into_iter());
        let counts: Vec<usize> = (0..TRIALS).map(|_| sharing.run(None, threads)).collect();
        if threads() > 1 {
            assert_eq!([counts[0], counts[7]], [threads(), 1]);
            assert!(sharing.shared.into_inner() > 0 && sharing.alone.into_inner() > 0);
        }
    }
}
