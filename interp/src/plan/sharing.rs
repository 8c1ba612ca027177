//! Whether threads share a step, by the time that it has taken before.
//!
//! To wake a thread, and to move what a step reads and writes between the caches of two cores, takes
//! as long as some ten microseconds of work, on each machine other ones. So a step that is brief runs
//! a few times in both ways, and then in the faster one. Its results are the same in both.
use num::parallel::{alone, threads};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The fuel of a step that threads may share.
const LEAST: u64 = 1 << 14;
/// Above this time threads share a step in any case.
const BRIEF: Duration = Duration::from_micros(200);
/// The runs of which every other one is alone, before one way is chosen.
const TRIALS: u32 = 8;
/// One run of so many tries the other way again.
const AGAIN: u32 = 256;

/// The least times of a step, in nanoseconds; 0 if it has not run so.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    runs: AtomicU32,
    shared: AtomicU32,
    alone: AtomicU32,
}

impl Sharing {
    /// Returns whether threads may share the next run of a step of this fuel.
    pub(crate) fn is_shared(&self, fuel: u64) -> bool {
        fuel >= LEAST && !self.is_alone()
    }

    /// Returns whether the thread of the machine does the next run by itself.
    fn is_alone(&self) -> bool {
        let [runs, shared, alone] =
            [&self.runs, &self.shared, &self.alone].map(|number| number.load(Ordering::Relaxed));
        if Duration::from_nanos(shared.into()) >= BRIEF {
            return false;
        }
        let is_faster = alone != 0 && alone <= shared;
        match runs {
            ..TRIALS => runs % 2 == 1,
            _ if runs % AGAIN == 0 => !is_faster,
            _ => is_faster,
        }
    }

    /// Runs a step of this fuel, which began at `begin` if that is earlier.
    pub(crate) fn run<R>(&self, fuel: u64, begin: Option<Instant>, run: impl FnOnce() -> R) -> R {
        if fuel < LEAST || threads() == 1 {
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
        Sharing { runs: runs.into(), shared: shared.into(), alone: alone.into() }
    }

    #[test]
    fn brief_steps_are_tried_both_ways_and_then_run_the_faster_one() {
        let first: Vec<bool> = (0..TRIALS).map(|runs| of(runs, 9, 5).is_shared(LEAST)).collect();
        assert_eq!(first, [true, false, true, false, true, false, true, false]);
        assert!(!of(TRIALS, 9_000, 5_000).is_shared(LEAST));
        assert!(of(TRIALS, 5_000, 9_000).is_shared(LEAST));
        assert!(of(AGAIN, 9_000, 5_000).is_shared(LEAST), "once it is tried again");
    }

    #[test]
    fn long_steps_are_shared_and_steps_of_little_fuel_are_not() {
        assert!(of(1, 300_000, 0).is_shared(LEAST));
        assert!(of(TRIALS, 300_000, 1).is_shared(LEAST));
        assert!(!Sharing::default().is_shared(LEAST - 1));
    }

    #[test]
    fn a_run_is_timed_and_has_the_threads_of_its_way() {
        let sharing = Sharing::default();
        let counts: Vec<usize> = (0..2).map(|_| sharing.run(LEAST, None, threads)).collect();
        if threads() > 1 {
            assert_eq!(counts, [threads(), 1]);
            assert!(sharing.shared.into_inner() > 0 && sharing.alone.into_inner() > 0);
        }
    }
}
