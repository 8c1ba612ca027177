//! Work that several workers, such as backends, do side by side, and that is handed back in order.
//!
//! ```text
//! push ─> Queue ─> the next idle worker, on a thread of its own ─> Queue ─> pop, in the order of push
//! ```
//!
//! A single worker has no thread: `pop` does the work. The caller decides by what it pops, and
//! cancels the rest where a result makes it needless. So the decisions are those of a single
//! worker, whatever the others do ahead of it.
use crate::recorded::STACK;
use crossbeam_channel::{Receiver, Sender, unbounded};
use rayon::ThreadPoolBuilder;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Result as Caught, available_parallelism};
use std::time::Duration;

/// Something that does work.
pub trait Worker: Send + 'static {
    /// Returns warnings since the last call.
    fn take_warnings(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// For work that needs nothing.
impl Worker for () {}

/// Workers that work side by side.
///
/// ```
/// use conformance::pool::Pool;
/// use std::num::NonZero;
/// let pool = Pool::new((), NonZero::new(3).unwrap(), || Ok(()));
/// let mut queue = pool.queue(1, |(), x: u32| x * x);
/// let (mut numbers, mut squares) = (1..=5, Vec::new());
/// loop {
///     while queue.has_room() && let Some(x) = numbers.next() {
///         queue.push(x);
///     }
///     let Some(square) = queue.pop() else { break };
///     squares.push(square);
/// }
/// assert_eq!(squares, [1, 4, 9, 16, 25]);
/// ```
#[derive(Debug)]
pub struct Pool<W>(Workers<W>);

#[derive(Debug)]
enum Workers<W> {
    /// The worker, and the warnings of what it has done.
    One(Mutex<W>, Mutex<Vec<String>>),
    Many(Threads<W>),
}

/// Work for any worker.
type Job<W> = Box<dyn FnOnce(&mut W) + Send>;
/// Makes a worker.
type Make<W> = dyn Fn() -> Result<W, String> + Send + Sync;

/// Workers on threads of their own.
struct Threads<W> {
    jobs: Option<Sender<Job<W>>>,
    /// The other end, for new workers.
    work: Receiver<Job<W>>,
    make: Arc<Make<W>>,
    count: usize,
    /// The workers that were started, or could not be.
    started: AtomicUsize,
    /// The jobs that are not done.
    open: Arc<AtomicUsize>,
    /// Disconnected when all workers have ended.
    ended: Receiver<()>,
    ending: Option<Sender<()>>,
    warnings: Arc<Mutex<Vec<String>>>,
}

impl<W> std::fmt::Debug for Threads<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Threads").field("count", &self.count).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<W: Worker> Pool<W> {
    /// Returns the pool of a single worker.
    pub fn one(worker: W) -> Self {
        Self(Workers::One(Mutex::new(worker), Mutex::default()))
    }
    /// Returns a pool of up to `count` workers: the first, and those that `make` makes when there is
    /// work for them. If it fails, the others do the work, and the message is a warning.
    pub fn new(
        first: W,
        count: NonZero<usize>,
        make: impl Fn() -> Result<W, String> + Send + Sync + 'static,
    ) -> Self {
        let (jobs, work) = unbounded();
        let (ending, ended) = unbounded();
        let workers = Threads {
            jobs: Some(jobs),
            work,
            make: Arc::new(make),
            count: count.get(),
            started: AtomicUsize::new(1),
            open: Arc::default(),
            ended,
            ending: Some(ending),
            warnings: Arc::default(),
        };
        match workers.threads() {
            Some(threads) if workers.count > 1 => {
                workers.start(&threads, move || Ok(first));
                Self(Workers::Many(workers))
            }
            // The system may refuse threads.
            Some(_) | None => Self::one(first),
        }
    }
    /// Returns a queue of work of one kind. Each worker may have `ahead` items.
    pub fn queue<I: Send + 'static, R: Send + 'static>(
        &self,
        ahead: usize,
        work: impl Fn(&mut W, I) -> R + Send + Sync + 'static,
    ) -> Queue<'_, I, R> {
        match &self.0 {
            Workers::One(worker, warnings) => Queue::inline(move |item| {
                let mut worker = lock(worker);
                let result = work(&mut worker, item);
                lock(warnings).extend(worker.take_warnings());
                result
            }),
            Workers::Many(threads) => threads.queue(ahead, work),
        }
    }
    /// Does work that nothing else is done beside.
    pub fn run<R: Send + 'static>(&self, work: impl FnOnce(&mut W) -> R + Send + 'static) -> R {
        let mut queue =
            self.queue(1, |worker: &mut W, work: Box<dyn FnOnce(&mut W) -> R + Send>| work(worker));
        queue.push(Box::new(work));
        queue.pop().expect("an item was pushed")
    }
    /// Returns the warnings of the work that was handed back since the last call, and of workers
    /// that could not be made.
    pub fn take_warnings(&self) -> Vec<String> {
        let warnings = match &self.0 {
            Workers::One(_, warnings) => warnings,
            Workers::Many(threads) => &*threads.warnings,
        };
        std::mem::take(&mut *lock(warnings))
    }
}

impl<W: Worker> Threads<W> {
    /// Returns the threads of a worker: it computes on the processors that the others leave to it.
    fn threads(&self) -> Option<rayon::ThreadPool> {
        let processors = available_parallelism().map_or(1, NonZero::get);
        let threads = (processors / self.count).max(1);
        ThreadPoolBuilder::new().num_threads(threads).stack_size(STACK).build().ok()
    }
    /// Starts a worker.
    fn start(
        &self,
        threads: &rayon::ThreadPool,
        make: impl FnOnce() -> Result<W, String> + Send + 'static,
    ) {
        let (work, warnings) = (self.work.clone(), Arc::clone(&self.warnings));
        let ending = self.ending.clone();
        threads.spawn(move || {
            let _ending = ending;
            match make() {
                Ok(mut worker) => work.into_iter().for_each(|job| job(&mut worker)),
                Err(message) => lock(&warnings).push(message),
            }
        });
    }
    fn queue<I: Send + 'static, R: Send + 'static>(
        &self,
        ahead: usize,
        work: impl Fn(&mut W, I) -> R + Send + Sync + 'static,
    ) -> Queue<'_, I, R> {
        let (to_queue, results) = unbounded();
        let work = Arc::new(work);
        let submit = move |number: usize, item: I, is_cancelled: Arc<AtomicBool>| {
            let (work, to_queue) = (Arc::clone(&work), to_queue.clone());
            self.submit(move |worker| {
                if is_cancelled.load(Ordering::Relaxed) {
                    return;
                }
                let result = catch_unwind(AssertUnwindSafe(|| work(worker, item)));
                let _ = to_queue.send((number, result.map(|r| (r, worker.take_warnings()))));
            });
        };
        Queue(Kind::Ahead(Ahead {
            submit: Box::new(submit),
            room: self.count * ahead.max(1),
            results,
            early: BTreeMap::new(),
            popped: 0,
            pushed: 0,
            is_cancelled: Arc::default(),
            warnings: &self.warnings,
        }))
    }
    /// Hands a job to the next idle worker, or to a new one if all have work.
    fn submit(&self, job: impl FnOnce(&mut W) + Send + 'static) {
        let open = Arc::clone(&self.open);
        let started = self.started.load(Ordering::Relaxed);
        if open.fetch_add(1, Ordering::Relaxed) >= started
            && started < self.count
            && let Some(threads) = self.threads()
        {
            self.started.store(started + 1, Ordering::Relaxed);
            let make = Arc::clone(&self.make);
            self.start(&threads, move || make());
        }
        let job: Job<W> = Box::new(move |worker| {
            job(worker);
            open.fetch_sub(1, Ordering::Relaxed);
        });
        if let Some(jobs) = &self.jobs {
            let _ = jobs.send(job);
        }
    }
}

/// Idle workers end, and with them their processes; those that have work are not waited for.
impl<W> Drop for Threads<W> {
    fn drop(&mut self) {
        /// The time in which they end.
        const END: Duration = Duration::from_secs(1);
        (self.jobs, self.ending) = (None, None);
        let _ = self.ended.recv_timeout(END);
    }
}

/// Work in order.
pub struct Queue<'a, I, R>(Kind<'a, I, R>);

enum Kind<'a, I, R> {
    /// Done when it is popped.
    Inline { work: Box<dyn FnMut(I) -> R + 'a>, pending: Option<I> },
    /// Done by workers.
    Ahead(Ahead<'a, I, R>),
}

/// The result of work, and warnings.
type Done<R> = (R, Vec<String>);

struct Ahead<'a, I, R> {
    submit: Box<dyn Fn(usize, I, Arc<AtomicBool>) + 'a>,
    /// The most items between `push` and `pop`.
    room: usize,
    results: Receiver<(usize, Caught<Done<R>>)>,
    /// Results that came before those of earlier items.
    early: BTreeMap<usize, Caught<Done<R>>>,
    pushed: usize,
    popped: usize,
    /// Whether the items that are not popped need not be done.
    is_cancelled: Arc<AtomicBool>,
    warnings: &'a Mutex<Vec<String>>,
}

impl<I, R> std::fmt::Debug for Queue<'_, I, R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("is_empty", &self.is_empty()).finish_non_exhaustive()
    }
}

impl<'a, I, R> Queue<'a, I, R> {
    /// Returns the queue of a function, which is called when an item is popped.
    pub fn inline(work: impl FnMut(I) -> R + 'a) -> Self {
        Self(Kind::Inline { work: Box::new(work), pending: None })
    }
    /// Returns whether another item may be pushed.
    pub fn has_room(&self) -> bool {
        match &self.0 {
            Kind::Inline { pending, .. } => pending.is_none(),
            Kind::Ahead(ahead) => ahead.pushed - ahead.popped < ahead.room,
        }
    }
    /// Returns whether all items were popped.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Returns the number of items between `push` and `pop`.
    pub fn len(&self) -> usize {
        match &self.0 {
            Kind::Inline { pending, .. } => usize::from(pending.is_some()),
            Kind::Ahead(ahead) => ahead.pushed - ahead.popped,
        }
    }
    /// Adds an item. There must be room for it.
    pub fn push(&mut self, item: I) {
        debug_assert!(self.has_room(), "an item without room");
        match &mut self.0 {
            Kind::Inline { pending, .. } => *pending = Some(item),
            Kind::Ahead(ahead) => {
                (ahead.submit)(ahead.pushed, item, Arc::clone(&ahead.is_cancelled));
                ahead.pushed += 1;
            }
        }
    }
    /// Waits for the result of the first item that was not popped; `None` if there is none. A panic
    /// of the work goes on here.
    pub fn pop(&mut self) -> Option<R> {
        match &mut self.0 {
            Kind::Inline { work, pending } => pending.take().map(work),
            Kind::Ahead(ahead) => ahead.pop(),
        }
    }
    /// Forgets the items that were not popped.
    pub fn clear(&mut self) {
        match &mut self.0 {
            Kind::Inline { pending, .. } => *pending = None,
            Kind::Ahead(ahead) => ahead.clear(),
        }
    }
}

impl<I, R> Ahead<'_, I, R> {
    fn pop(&mut self) -> Option<R> {
        if self.popped == self.pushed {
            return None;
        }
        let result = loop {
            if let Some(result) = self.early.remove(&self.popped) {
                break result;
            }
            // The first worker ends with the pool only, which outlives its queues.
            let (number, result) = self.results.recv().ok()?;
            // Others were cancelled.
            if number >= self.popped {
                self.early.insert(number, result);
            }
        };
        self.popped += 1;
        let (result, warnings) = result.unwrap_or_else(|panic| resume_unwind(panic));
        lock(self.warnings).extend(warnings);
        Some(result)
    }
    fn clear(&mut self) {
        self.is_cancelled.store(true, Ordering::Relaxed);
        self.is_cancelled = Arc::default();
        self.popped = self.pushed;
        self.early.clear();
    }
}

impl<I, R> Drop for Ahead<'_, I, R> {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread::sleep;

    fn count(n: usize) -> NonZero<usize> {
        NonZero::new(n).unwrap()
    }

    /// Counts what it did.
    #[derive(Debug, Default)]
    struct Counter(Vec<String>);

    impl Worker for Counter {
        fn take_warnings(&mut self) -> Vec<String> {
            std::mem::take(&mut self.0)
        }
    }

    /// The first items take longest.
    fn slow(counter: &mut Counter, n: u64) -> u64 {
        sleep(Duration::from_millis(30u64.saturating_sub(n * 10)));
        counter.0.push(format!("did {n}"));
        n
    }

    #[test]
    fn results_and_warnings_are_in_order() {
        for workers in [1, 3, 64] {
            let pool = Pool::new(Counter::default(), count(workers), || Ok(Counter::default()));
            let mut queue = pool.queue(2, slow);
            let (mut items, mut popped) = (0..20, Vec::new());
            loop {
                while queue.has_room()
                    && let Some(n) = items.next()
                {
                    queue.push(n);
                }
                let Some(n) = queue.pop() else { break };
                popped.push(n);
                assert_eq!(pool.take_warnings(), [format!("did {n}")]);
            }
            assert_eq!(popped, (0..20).collect::<Vec<_>>());
        }
    }

    #[test]
    fn workers_work_side_by_side_and_are_made_when_needed() {
        let made = Arc::new(AtomicUsize::new(1));
        let counted = Arc::clone(&made);
        let pool = Pool::new((), count(64), move || {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(())
        });
        let barrier = Arc::new(std::sync::Barrier::new(3));
        let mut queue = pool.queue(1, move |(), ()| barrier.wait().is_leader());
        // Each waits for the two others.
        (0..3).for_each(|_| queue.push(()));
        while queue.pop().is_some() {}
        assert_eq!(made.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_worker_that_is_not_made_leaves_its_work_to_others() {
        let pool = Pool::new((), count(3), || Err("no memory".to_owned()));
        let mut queue = pool.queue(4, |(), n: u32| n);
        (0..12).for_each(|n| queue.push(n));
        assert!(std::iter::from_fn(|| queue.pop()).eq(0..12));
        assert_eq!(pool.run(|()| 7), 7);
        // Two more were started at most.
        assert!(pool.take_warnings().iter().all(|warning| warning == "no memory"));
    }

    #[test]
    fn cancelled_items_are_not_popped() {
        let pool = Pool::new(Counter::default(), count(2), || Ok(Counter::default()));
        let mut queue = pool.queue(2, slow);
        (0..4).for_each(|n| queue.push(n));
        assert_eq!(queue.pop(), Some(0));
        queue.clear();
        assert!(queue.is_empty() && queue.has_room());
        queue.push(7);
        assert_eq!((queue.pop(), queue.pop()), (Some(7), None));
    }

    #[test]
    fn a_panic_is_that_of_the_caller() {
        let pool = Pool::new((), count(2), || Ok(()));
        let panics = || pool.run(|()| panic!("of work"));
        assert!(catch_unwind(AssertUnwindSafe(panics)).is_err());
        assert_eq!(pool.run(|()| 1), 1);
    }
}
