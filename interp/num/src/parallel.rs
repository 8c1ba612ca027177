//! Loops over the parts of an array, which the threads of the pool share.
//!
//! The loops of rayon are compiled for each function that they call, which takes as long as to
//! compile what kernels compute. So these call functions by pointers, and are compiled for each
//! type of elements only.
use crate::clock::Stop;
use rayon::prelude::*;
use std::cell::Cell;

/// Groups of parts for each thread, if there are several: the last ones to end are a small share of
/// the work.
const GROUPS: usize = 16;

thread_local! {
    /// Whether what this thread runs is its own work alone.
    static ALONE: Cell<bool> = const { Cell::new(false) };
}

/// Returns the number of threads that share the work of a step.
#[inline]
pub fn threads() -> usize {
    if ALONE.get() { 1 } else { rayon::current_num_threads() }
}

/// Runs a function whose work this thread shares with no other: to wake others takes longer than
/// brief work.
pub fn alone<R>(run: impl FnOnce() -> R) -> R {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            ALONE.set(self.0);
        }
    }
    let _reset = Reset(ALONE.replace(true));
    run()
}

/// Splits a slice into parts of `size` elements, the last of which may have fewer, and calls `each`
/// with the number and the elements of every part. Calls nothing further once the run is to stop. A
/// thread takes at least `least` parts at a time; if there are not more, this thread takes all.
#[inline]
pub fn parts<T: Send>(all: &mut [T], sizes: (usize, usize), each: impl Fn(usize, &mut [T]) + Sync) {
    parts_with(all, sizes, || (), |(), number, part| each(number, part));
}

/// Calls `each` as [`parts`] does, with a state that a thread makes for the parts that it takes at
/// a time.
pub fn parts_with<T: Send, S>(
    all: &mut [T],
    (size, least): (usize, usize),
    state: impl Fn() -> S + Sync,
    each: impl Fn(&mut S, usize, &mut [T]) + Sync,
) {
    let count = all.len().div_ceil(size);
    let groups_wanted = if threads() == 1 { 1 } else { GROUPS * threads() };
    let together = count.div_ceil(groups_wanted).max(least).max(1);
    let stop = Stop::current();
    let group = |number: usize, group: &mut [T]| {
        // Loops within the parts find the flag of the step on every thread.
        let _entered = stop.enter();
        let mut state = state();
        for (i, part) in group.chunks_mut(size).enumerate().take_while(|_| !stop.is_set()) {
            each(&mut state, number * together + i, part);
        }
    };
    match count <= together {
        true => group(0, all),
        false => groups(all, size * together, &group),
    }
}

/// Copies bytes, or some of them if the run is to stop.
pub fn copy(from: &[u8], to: &mut [u8]) {
    /// Bytes that are copied in much less than a millisecond.
    const PART: usize = 1 << 18;
    if from.len() <= PART {
        return to.copy_from_slice(from);
    }
    parts(to, (PART, 1), |i, to| to.copy_from_slice(&from[i * PART..][..to.len()]));
}

fn groups<T: Send>(all: &mut [T], size: usize, group: &(dyn Fn(usize, &mut [T]) + Sync)) {
    all.par_chunks_mut(size).enumerate().for_each(|(number, all)| group(number, all));
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn one_thread_runs_all_parts_of_work_alone() {
        let own = thread::current().id();
        let mut all = vec![own; 1 << 12];
        let id = |part: &mut [thread::ThreadId]| part.fill(thread::current().id());
        let (count, ()) = alone(|| (threads(), parts(&mut all, (1, 1), |_, part| id(part))));
        assert_eq!((count, threads()), (1, rayon::current_num_threads()));
        assert!(all.iter().all(|id| *id == own));
        let panicked = std::panic::catch_unwind(|| alone(|| panic!("of the test")));
        assert!(panicked.is_err());
        assert_eq!(threads(), rayon::current_num_threads());
    }
}
