//! The thread that runs programs, in the order in which the host launches them.
//!
//! One thread suffices: each program uses all processors, and a fixed order makes the effects of callbacks the same in each run.
//! Work that a callback launches, on that thread itself, runs at once: the thread cannot wait for its own queue.
use crate::failure::{Code, Failure, Result};
use interp::FloatEnvironment;
use std::cell::Cell;
use std::sync::mpsc::{Sender, channel};
use std::thread;

type Task = Box<dyn FnOnce() + Send>;

/// The queue of a client. The thread ends when the client is dropped and its tasks are done.
pub(crate) struct Queue(Sender<Task>);

/// The stack of the thread: deeper than that of other threads, since calls in programs nest.
const STACK: usize = 64 << 20;

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
}

impl Queue {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system has no thread left.
    pub(crate) fn start() -> Result<Self> {
        let (sender, receiver) = channel::<Task>();
        let work = move || {
            // The host starts it with an environment of its own.
            let _environment = FloatEnvironment::enter();
            IS_WORKER.set(true);
            for task in receiver {
                task();
            }
        };
        let builder = thread::Builder::new().name("etalon".to_owned()).stack_size(STACK);
        let started = builder.spawn(work);
        let failed = |error| {
            Failure::new(Code::RESOURCE_EXHAUSTED, format!("no thread can be started: {error}"))
        };
        started.map(|_| Self(sender)).map_err(failed)
    }
    /// Appends a task.
    pub(crate) fn push(&self, task: impl FnOnce() + Send + 'static) {
        if IS_WORKER.get() {
            return task();
        }
        // The receiver lives as long as the thread, which ends only when this sender is dropped.
        let _ = self.0.send(Box::new(task));
    }
}
