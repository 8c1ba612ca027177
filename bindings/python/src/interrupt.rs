//! Work without the lock of the interpreter, which Ctrl-C ends, and which may call Python.
//!
//! Signals are handled by the thread that called Etalon: it waits for the work, looks for signals from time to time, and makes the
//! calls that the work asks for.
use crate::error::internal;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time between two looks for signals.
const TICK: Duration = Duration::from_millis(50);

/// The time that work has to end after a signal, before it is left to itself: a backend may hang.
const GRACE: Duration = Duration::from_secs(1);

/// The stack of a thread: runs recurse into computations.
const STACK: usize = 64 << 20;

type Call = Box<dyn FnOnce(Python<'_>) -> PyResult<()> + Send>;

enum Message<T> {
    /// A call of Python.
    Call(Call),
    /// The result of the work; none if it panicked.
    Done(Option<T>),
}

/// What the work sees of the thread that waits for it.
pub(crate) struct Caller {
    flag: Arc<AtomicBool>,
    calls: Box<dyn Fn(Call) -> bool + Send + Sync>,
}

impl Caller {
    /// Returns the flag that Ctrl-C sets.
    pub(crate) fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }
    /// Calls Python on the thread that waits. None if that has ended the work, or the call raised what is no `Exception`.
    pub(crate) fn call<R: Send + 'static>(
        &self,
        call: impl FnOnce(Python<'_>) -> PyResult<R> + Send + 'static,
    ) -> Option<R> {
        let (reply, answer) = bounded(1);
        let call: Call = Box::new(move |py| {
            // The other end waits.
            let _ = reply.send(call(py)?);
            Ok(())
        });
        (self.calls)(call).then(|| answer.recv().ok()).flatten()
    }
}

/// The threads of runs, and the process that they belong to: a fork has none of them.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

fn pool() -> PyResult<Arc<ThreadPool>> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let process = std::process::id();
    if let Some((owner, pool)) = &*pool
        && *owner == process
    {
        return Ok(Arc::clone(pool));
    }
    let threads = ThreadPoolBuilder::new().stack_size(STACK).build();
    let threads = Arc::new(threads.map_err(|e| internal(&format!("no threads: {e}")))?);
    // Dropping the threads of another process would wait for them.
    std::mem::forget(pool.replace((process, Arc::clone(&threads))));
    Ok(threads)
}

/// Runs work on a pool of threads. It must not call Python: the pool may have a single thread, which would wait for itself.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> T + Send + 'static,
) -> PyResult<T> {
    let pool = pool()?;
    let flag = Arc::new(AtomicBool::new(false));
    let (sender, messages) = unbounded();
    let work_flag = Arc::clone(&flag);
    pool.spawn(move || {
        let done = catch_unwind(AssertUnwindSafe(|| work(&work_flag))).ok();
        let _ = sender.send(Message::Done(done));
    });
    wait(py, &messages, &flag)
}

/// Runs work that may call Python on a thread of its own.
pub(crate) fn run_with_calls<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(Caller) -> T + Send + 'static,
) -> PyResult<T> {
    let flag = Arc::new(AtomicBool::new(false));
    let (sender, messages): (Sender<Message<T>>, _) = unbounded();
    let calls = sender.clone();
    let calls = Box::new(move |call| calls.send(Message::Call(call)).is_ok());
    let caller = Caller { flag: Arc::clone(&flag), calls };
    let work = move || {
        let done = catch_unwind(AssertUnwindSafe(|| work(caller))).ok();
        let _ = sender.send(Message::Done(done));
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work);
    thread.map_err(|e| internal(&format!("no thread: {e}")))?;
    wait(py, &messages, &flag)
}

fn wait<T: Send>(
    py: Python<'_>,
    messages: &Receiver<Message<T>>,
    flag: &Arc<AtomicBool>,
) -> PyResult<T> {
    let mut raised = None;
    let mut since: Option<Instant> = None;
    loop {
        let answer = match py.detach(|| messages.recv_timeout(TICK)) {
            Ok(Message::Done(done)) => {
                return match (raised, done) {
                    (Some(error), _) => Err(error),
                    (None, Some(result)) => Ok(result),
                    (None, None) => Err(internal("the work panicked; the message is on stderr")),
                };
            }
            // After a signal calls are dropped unanswered, which ends the work.
            Ok(Message::Call(call)) if raised.is_none() => call(py),
            Ok(Message::Call(_)) => Ok(()),
            Err(RecvTimeoutError::Timeout) if raised.is_none() => py.check_signals(),
            Err(RecvTimeoutError::Timeout) => match raised.take() {
                Some(error) if since.is_some_and(|since| since.elapsed() > GRACE) => {
                    return Err(error);
                }
                raising => {
                    raised = raising;
                    Ok(())
                }
            },
            Err(RecvTimeoutError::Disconnected) => {
                return Err(raised.unwrap_or_else(|| internal("the work has no result")));
            }
        };
        if let Err(error) = answer {
            flag.store(true, Ordering::Relaxed);
            (raised, since) = (Some(error), Some(Instant::now()));
        }
    }
}
