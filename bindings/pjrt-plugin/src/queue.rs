//! The thread that runs programs, in the order in which the host launches them.
//!
//! One thread suffices: each program uses all processors, and a fixed order makes the effects of callbacks the same in each run.
//! Work that a callback launches, on that thread itself, runs at once: the thread cannot wait for its own queue.
//!
//! A forked process has none of the threads of its parent: neither this one nor those of rayon's pool, for which its work would wait for
//! ever. It gets a queue and a pool of its own with the first program that it launches.
use crate::failure::{Code, Failure, Result};
use interp::FloatEnvironment;
use rayon::ThreadPoolBuilder;
use std::cell::Cell;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::{mem, process, thread};

type Task = Box<dyn FnOnce() + Send>;

/// The queue of a client. The thread ends when the client is dropped and its tasks are done.
pub(crate) struct Queue(Mutex<Worker>);

/// The thread of a queue, in the process that started it.
struct Worker {
    process: u32,
    tasks: Sender<Task>,
}

/// The stack of the threads: deeper than that of others, since calls in programs nest.
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
        Worker::start().map(|worker| Self(Mutex::new(worker)))
    }
    /// Appends a task.
    ///
    /// # Errors
    /// If this is a forked process, and the system has no thread left.
    pub(crate) fn push(&self, task: impl FnOnce() + Send + 'static) -> Result<()> {
        if IS_WORKER.get() {
            task();
            return Ok(());
        }
        let mut worker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.process != process::id() {
            // The other end belongs to a thread that does not exist here, and may be locked by it.
            mem::forget(mem::replace(&mut *worker, Worker::start()?));
        }
        // The receiver lives as long as the thread, which ends only when this sender is dropped.
        let _ = worker.tasks.send(Box::new(task));
        Ok(())
    }
}

fn no_thread(error: impl std::fmt::Display) -> Failure {
    Failure::new(Code::RESOURCE_EXHAUSTED, format!("no thread can be started: {error}"))
}

impl Worker {
    /// Starts the thread, and a pool in which its tasks run: for a thread outside of the pool each parallel step would wait apart.
    fn start() -> Result<Self> {
        let pool = ThreadPoolBuilder::new().stack_size(STACK).build().map_err(no_thread)?;
        let (tasks, receiver) = channel::<Task>();
        let work = move || {
            for task in receiver {
                pool.install(|| {
                    // The host starts threads with an environment of its own.
                    let _environment = FloatEnvironment::enter();
                    let before = IS_WORKER.replace(true);
                    task();
                    IS_WORKER.set(before);
                });
            }
        };
        let builder = thread::Builder::new().name("etalon".to_owned()).stack_size(STACK);
        let started = builder.spawn(work);
        let process = process::id();
        started.map(|_| Self { process, tasks }).map_err(no_thread)
    }
}
