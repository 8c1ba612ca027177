//! The end of a run before its result: a flag that a timer or the caller sets, and that everything
//! that takes long reads.
//!
//! A kernel has no way to fail inside its loops, and needs none: it stops where it finds the flag
//! set, and the machine, which looks at the flag after each step, drops what it computed and
//! reports the instruction.
use crate::error::out_of_time;
use crate::{Code, Error, Result};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// The clock of a run that may be stopped. Clones are the same clock.
#[derive(Debug, Clone)]
pub struct Clock {
    /// The time limit and when it began; none if only the caller stops the run.
    limit: Option<(Duration, Instant)>,
    is_over: Arc<AtomicBool>,
    /// The timer, which ends when the last clone is dropped. Without one, whoever asks looks at the
    /// time.
    timer: Option<Arc<Sender<()>>>,
}

impl Clock {
    /// Starts a clock without a time limit: the caller sets the flag.
    #[inline]
    pub fn of(flag: Arc<AtomicBool>) -> Self {
        Self { limit: None, is_over: flag, timer: None }
    }
    /// Starts a clock whose flag the caller may set, too.
    pub fn start(limit: Duration, flag: Option<Arc<AtomicBool>>) -> Self {
        let is_over = flag.unwrap_or_default();
        is_over.fetch_or(limit.is_zero(), Ordering::Relaxed);
        let begin = Instant::now();
        let (running, stopped) = channel();
        let flag = Arc::clone(&is_over);
        let timer = move || {
            if stopped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                flag.store(true, Ordering::Relaxed);
            }
        };
        let timer = std::thread::Builder::new().name("time limit".to_owned()).spawn(timer);
        let timer = timer.is_ok().then(|| Arc::new(running));
        Self { limit: Some((limit, begin)), is_over, timer }
    }
    /// Returns the time limit and when it began, if there is one.
    #[inline]
    pub fn limit(&self) -> Option<(Duration, Instant)> {
        self.limit
    }
    /// Fails if the run is to stop.
    #[inline]
    pub fn check(&self) -> Result<()> {
        if self.is_over() { Err(self.over()) } else { Ok(()) }
    }
    #[cold]
    fn over(&self) -> Error {
        let Some(limit) = self.passed_limit() else { return Code::Interrupted.into() };
        out_of_time(limit)
    }
    /// Returns the time limit, if it has passed.
    fn passed_limit(&self) -> Option<Duration> {
        self.limit.filter(|(limit, begin)| begin.elapsed() >= *limit).map(|(limit, _)| limit)
    }
    /// Returns whether the run is to stop.
    #[inline]
    pub fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
            || self.timer.is_none() && self.passed_limit().is_some()
    }
}

thread_local! {
    /// The clock of the step that this thread executes.
    static CURRENT: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// The time limit as loops see it. Threads that share the work of a loop take it from the thread
/// that began it.
#[derive(Debug, Clone, Default)]
pub struct Stop(Option<Arc<AtomicBool>>);

impl Stop {
    /// Returns that of the step that this thread executes.
    #[inline]
    pub fn current() -> Self {
        Self(CURRENT.with_borrow(Clone::clone))
    }
    /// Returns that of a clock.
    #[inline]
    pub fn of(clock: Option<&Clock>) -> Self {
        Self(clock.map(|clock| Arc::clone(&clock.is_over)))
    }
    /// Returns whether to stop.
    #[inline]
    pub fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|is_over| is_over.load(Ordering::Relaxed))
    }
    /// Makes it the one of this thread until the result is dropped.
    #[inline]
    pub fn enter(&self) -> Entered {
        Entered(CURRENT.replace(self.0.clone()))
    }
}

/// Returns whether the run whose step this thread executes is to stop. A custom call that waits for
/// something asks.
///
/// ```
/// assert!(!num::is_run_over());
/// ```
#[inline]
pub fn is_run_over() -> bool {
    Stop::current().is_set()
}

/// Restores the time limit of a thread when dropped.
#[derive(Debug)]
pub struct Entered(Option<Arc<AtomicBool>>);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_is_set_in_time_and_timers_end() {
        let clock = Clock::start(Duration::from_millis(1), None);
        let stop = Stop::of(Some(&clock));
        while !clock.is_over() {
            std::thread::yield_now();
        }
        assert!(stop.is_set() && !Stop::current().is_set());
        let inner = {
            let _entered = stop.enter();
            Stop::current()
        };
        assert!(inner.is_set() && !Stop::current().is_set());
        let long = Clock::start(Duration::from_secs(1 << 30), None);
        assert!(!long.is_over());
        assert!(Clock::start(Duration::ZERO, None).is_over());
    }
    #[test]
    fn the_caller_sets_the_flag() {
        let flag = Arc::new(AtomicBool::new(false));
        let clocks = [
            Clock::of(Arc::clone(&flag)),
            Clock::start(Duration::from_secs(1 << 30), Some(Arc::clone(&flag))),
        ];
        assert!(clocks.iter().all(|clock| !clock.is_over()));
        flag.store(true, Ordering::Relaxed);
        assert!(clocks.iter().all(|clock| clock.is_over() && clock.passed_limit().is_none()));
    }
}
