//! The thread that runs programs, in the order in which the host launches them.
//!
//! One thread suffices: each program uses all processors, and a fixed order makes the effects of callbacks the same in each run.
//! Work that a callback launches, on that thread itself, runs at once: the thread cannot wait for its own queue. Brief work that finds
//! the queue empty runs at once as well, on the thread of the host alone: to wake another thread, and to be woken by it, takes longer.
//!
//! A forked process has none of the threads of its parent: neither this one nor those of rayon's pool, for which its work would wait for
//! ever. It gets a queue and a pool of its own with the first program that it launches.
use crate::failure::{Code, Failure, Result};
use interp::FloatEnvironment;
use interp::num::parallel::alone;
use rayon::ThreadPoolBuilder;
use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::{mem, process, thread};

type Task = Box<dyn FnOnce() + Send>;

/// The queue of a client. The thread ends when the client is dropped and its tasks are done.
pub(crate) struct Queue(Mutex<Worker>);

/// The thread of a queue, in the process that started it.
struct Worker {
    process: u32,
    /// Whether the process has no threads but those that it started since it was forked.
    is_forked: bool,
    tasks: Sender<Task>,
    /// The number of tasks that wait or compute.
    pending: Arc<AtomicUsize>,
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
        Worker::start(false).map(|worker| Self(Mutex::new(worker)))
    }
    /// Appends a task: what it computes, and what it does with that, at which the next may begin. A brief one may run at once.
    ///
    /// # Errors
    /// If this is a forked process, and the system has no thread left.
    pub(crate) fn push<T>(
        &self,
        is_brief: bool,
        compute: impl FnOnce() -> T + Send + 'static,
        publish: impl FnOnce(T) + Send + 'static,
    ) -> Result<()> {
        if IS_WORKER.get() {
            publish(compute());
            return Ok(());
        }
        let mut worker = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if worker.process != process::id() {
            // The other end belongs to a thread that does not exist here, and may be locked by it.
            mem::forget(mem::replace(&mut *worker, Worker::start(true)?));
        }
        // The pool that a program could use outside of the queue's has no threads in a forked process.
        if is_brief && !worker.is_forked && worker.pending.load(Ordering::Acquire) == 0 {
            drop(worker);
            publish(alone(compute));
            return Ok(());
        }
        worker.pending.fetch_add(1, Ordering::Relaxed);
        let pending = Arc::clone(&worker.pending);
        let task = move || {
            let value = compute();
            // Before the host hears of it: what it launches then finds the queue empty.
            pending.fetch_sub(1, Ordering::Release);
            publish(value);
        };
        // The receiver lives as long as the thread, which ends only when this sender is dropped.
        let _ = worker.tasks.send(Box::new(task));
        Ok(())
    }
}

fn no_thread(error: impl std::fmt::Display) -> Failure {
    Failure::new(Code::RESOURCE_EXHAUSTED, format!("no thread can be started: {error}"))
}

impl Worker {
    /// Starts the thread, and a pool of which one thread runs the tasks: for a thread outside of the pool each parallel step would wait
    /// apart.
    fn start(is_forked: bool) -> Result<Self> {
        let pool = ThreadPoolBuilder::new().stack_size(STACK).build().map_err(no_thread)?;
        let (tasks, receiver) = channel::<Task>();
        let work = move || {
            IS_WORKER.set(true);
            for task in receiver {
                // The host starts threads with an environment of its own.
                let _environment = FloatEnvironment::enter();
                task();
            }
        };
        let builder = thread::Builder::new().name("etalon".to_owned());
        let started = builder.spawn(move || pool.install(work));
        let (process, pending) = (process::id(), Arc::default());
        started.map(|_| Self { process, is_forked, tasks, pending }).map_err(no_thread)
    }
}
