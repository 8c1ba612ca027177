//! Ops that combine elements of an array, at offsets, with those of another: one after another, in
//! types of the processor.
use bytemuck::Pod;
use std::sync::Arc;

/// The start of a slice that is not there.
pub const OUTSIDE: usize = usize::MAX;

/// Slices of an array, of which each has runs of neighbors at the same offsets from its start.
pub struct Targets<'a> {
    /// The start of each slice, or [`OUTSIDE`].
    pub starts: &'a [usize],
    /// The offsets of runs, of which the first is 0.
    pub runs: &'a [usize],
    /// Elements of a run.
    pub run: usize,
}

/// A loop that combines the elements of slices with those of an operand, in which they follow one
/// another: `slice = op(slice, operand)`.
pub type UpdateFn = dyn Fn(&mut [u8], &[u8], &Targets<'_>) + Send + Sync;

/// Returns the loop of a function.
pub(super) fn updates<T: Pod>(
    function: impl Fn([T; 2]) -> T + Copy + Send + Sync + 'static,
) -> Arc<UpdateFn> {
    Arc::new(move |to, from, targets| {
        update(bytemuck::cast_slice_mut(to), bytemuck::cast_slice(from), targets, function);
    })
}

fn update<T: Pod>(to: &mut [T], from: &[T], targets: &Targets<'_>, function: impl Fn([T; 2]) -> T) {
    let &Targets { starts, runs, run } = targets;
    if let (&[0], 1) = (runs, run) {
        return update_elements(to, from, starts, function);
    }
    for (&start, from) in starts.iter().zip(from.chunks_exact(runs.len() * run)) {
        if start != OUTSIDE {
            for (offset, from) in runs.iter().zip(from.chunks_exact(run)) {
                for (to, &x) in to[start + offset..][..run].iter_mut().zip(from) {
                    *to = function([*to, x]);
                }
            }
        }
    }
}

/// Keeps the element in a register while starts are equal: through memory, each op would wait for
/// the one before it twice as long.
fn update_elements<T: Pod>(
    to: &mut [T],
    from: &[T],
    starts: &[usize],
    function: impl Fn([T; 2]) -> T,
) {
    let (mut at, mut kept) = (OUTSIDE, T::zeroed());
    for (&start, &x) in starts.iter().zip(from) {
        if start != at {
            if let Some(slot) = to.get_mut(at) {
                *slot = kept;
            }
            at = start;
            kept = to.get(start).copied().unwrap_or(kept);
        }
        kept = function([kept, x]);
    }
    if let Some(slot) = to.get_mut(at) {
        *slot = kept;
    }
}
