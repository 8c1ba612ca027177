//! Whether threads share a step, decided by measured times.
//!
//! Waking a thread, and transferring operands and results between the caches of two cores, costs as
//! much as about 10 µs of work; the cost depends on the machine, and later steps pay a part of it.
//! Therefore a brief step is measured both shared and on one thread, and is shared from then on only
//! if that is faster by a margin. Results do not depend on the choice.
use num::parallel::{alone, threads};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The least fuel of a step, or bytes of its arrays, for which times are measured.
const LEAST: u64 = 1 << 14;
/// The least number of nanoseconds by which a shared run must be faster.
const GAIN: u32 = 10_000;
/// The time of a shared run from which on a step is always shared.
const BRIEF: Duration = Duration::from_micros(200);
/// The number of runs that are measured first. The first half are shared, in succession, because a
/// thread that has just finished work is still awake.
const TRIALS: u32 = 8;
/// The interval, in runs, at which the slower choice is measured again.
const AGAIN: u32 = 256;

/// Measured times of a step: the least, in nanoseconds, or 0 before the first measurement.
#[derive(Debug, Default)]
pub(crate) struct Sharing {
    /// The fuel of the step, or the bytes of its arrays if they are more.
    work: u64,
    runs: AtomicU32,
    shared: AtomicU32,
    alone: AtomicU32,
}

impl Sharing {
    /// Returns the record of a step with this fuel and these sizes of arrays in bytes.
    pub(crate) fn of(fuel: u64, bytes: impl Iterator<Item = usize>) -> Self {
        let bytes = u64::try_from(bytes.fold(0, usize::saturating_add)).unwrap_or(u64::MAX);
        Self { work: fuel.max(bytes), ..Self::default() }
    }

    /// Returns whether threads may share the next run.
    pub(crate) fn is_shared(&self) -> bool {
        self.work >= LEAST && !self.is_alone()
    }

    /// Returns whether the next run takes one thread only.
    fn is_alone(&self) -> bool {
        let [runs, shared, alone] =
            [&self.runs, &self.shared, &self.alone].map(|number| number.load(Ordering::Relaxed));
        if Duration::from_nanos(shared.into()) >= BRIEF {
            return false;
        }
        let is_better_alone = alone != 0 && alone < shared.saturating_add(GAIN);
        match runs {
            ..TRIALS => runs >= TRIALS / 2,
            _ if runs % AGAIN == 0 => !is_better_alone,
            _ => is_better_alone,
        }
    }

    /// Runs the step and measures its time, from `begin` on if that is given.
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
    fn brief_steps_are_measured_both_ways_and_then_shared_if_faster() {
        let first: Vec<bool> = (0..TRIALS).map(|runs| of(runs, 9, 5).is_shared()).collect();
        assert_eq!(first, [true, true, true, true, false, false, false, false]);
        assert!(!of(TRIALS, 9_000, 5_000).is_shared());
        assert!(!of(TRIALS, 9_000, 8_000 + GAIN).is_shared(), "the gain is too small");
        assert!(of(TRIALS, 9_000, 9_000 + GAIN).is_shared());
        assert!(of(AGAIN, 9_000, 5_000).is_shared(), "the other choice is measured again");
    }

    #[test]
    fn long_steps_are_shared_and_steps_of_little_fuel_are_not() {
        assert!(of(1, 300_000, 0).is_shared());
        assert!(of(TRIALS, 300_000, 1).is_shared());
        assert!(!Sharing::of(LEAST - 1, [1, 2].into_iter()).is_shared());
    }

    #[test]
    fn a_run_is_timed_on_the_chosen_threads() {
        let sharing = Sharing::of(0, [2000, 1 << 14].into_iter());
        let counts: Vec<usize> = (0..TRIALS).map(|_| sharing.run(None, threads)).collect();
        if threads() > 1 {
            assert_eq!([counts[0], counts[7]], [threads(), 1]);
            assert!(sharing.shared.into_inner() > 0 && sharing.alone.into_inner() > 0);
        }
    }
}
