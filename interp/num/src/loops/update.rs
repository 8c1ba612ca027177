//! Ops that combine elements of an array, at offsets, with those of another: one after another, in
//! types of the processor.
use super::VectorLoop;
use bytemuck::Pod;
use smallvec::{SmallVec, smallvec};
use std::any::TypeId;
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

/// Returns the loop of a function whose result has the type of its operands.
pub(super) fn update_loop<T: Pod, R: Pod>(
    function: impl Fn([T; 2]) -> R + Copy + Send + Sync + 'static,
) -> Option<Arc<UpdateFn>> {
    if TypeId::of::<T>() != TypeId::of::<R>() {
        return None;
    }
    let function = move |operands| bytemuck::cast::<R, T>(function(operands));
    Some(Arc::new(move |to, from, targets| {
        update(bytemuck::cast_slice_mut(to), bytemuck::cast_slice(from), targets, function);
    }))
}

/// Returns the loop that replaces elements of so many bytes.
pub fn replace_loop(width: usize) -> Option<Arc<UpdateFn>> {
    match width {
        1 => update_loop(|[_, x]: [u8; 2]| x),
        2 => update_loop(|[_, x]: [u16; 2]| x),
        4 => update_loop(|[_, x]: [u32; 2]| x),
        8 => update_loop(|[_, x]: [u64; 2]| x),
        _ => update_loop(|[_, x]: [[u64; 2]; 2]| x),
    }
}

/// Returns the loop of a function of arrays, which is applied to each run of neighbors.
pub(super) fn by_runs(function: VectorLoop, width: usize) -> Arc<UpdateFn> {
    Arc::new(move |to, from, &Targets { starts, runs, run }| {
        let mut kept: SmallVec<[u128; 16]> = smallvec![0; (run * width).div_ceil(16)];
        let kept = &mut bytemuck::cast_slice_mut(&mut kept)[..run * width];
        for (&start, from) in starts.iter().zip(from.chunks_exact(runs.len() * run * width)) {
            if start != OUTSIDE {
                for (offset, from) in runs.iter().zip(from.chunks_exact(run * width)) {
                    let to = &mut to[(start + offset) * width..][..run * width];
                    kept.copy_from_slice(to);
                    function(&[kept, from], to);
                }
            }
        }
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

fn update_elements<T: Pod>(
    to: &mut [T],
    from: &[T],
    starts: &[usize],
    function: impl Fn([T; 2]) -> T,
) {
    let repeated = starts.windows(2).filter(|pair| pair[0] == pair[1]).count();
    if repeated < starts.len() / 4 {
        for (&start, &x) in starts.iter().zip(from) {
            if let Some(slot) = to.get_mut(start) {
                *slot = function([*slot, x]);
            }
        }
        return;
    }
    // An element stays in a register while starts are equal: through memory, each op would wait for
    // the one before it twice as long.
    let mut rest = from;
    for starts in starts.chunk_by(|a, b| a == b) {
        let (from, after) = rest.split_at(starts.len());
        if let Some(slot) = to.get_mut(starts[0]) {
            *slot = from.iter().fold(*slot, |kept, &x| function([kept, x]));
        }
        rest = after;
    }
}
