//! Windows whose results lie in rows: the elements at one place of the windows of a row are
//! computed with at once.
//!
//! A row runs along the last dimension in which windows are larger than an element or move, and
//! through the dimensions after it: for images whose channels come last, along the width and the
//! channels.
use super::window::{Reach, walk};
use hlo::Dims;
use hlo::op::value::{Window, WindowDim};
use num::index::{saturating_count, strides, to_i64, to_usize};

/// Places of the largest windows of any array, and the times that an element of an array is read on
/// average, at most, where windows have more: others slide.
const MOST: i64 = 256;
/// Results that are computed at once, if a run of neighbors has no more.
const SEGMENT: usize = 4096;
/// Results of the shortest rows: shorter ones gain nothing.
const SHORTEST: i64 = 8;

/// The windows of an operation.
pub(super) struct WindowRows {
    /// Windows in the dimensions before the last one in which they are not whole.
    outer: Vec<WindowDim>,
    /// Sizes of these in the operand and in the result.
    from: Dims,
    to: Dims,
    strides: Dims,
    along: WindowDim,
    size: i64,
    windows: i64,
    /// Elements at each place along the dimension.
    run: usize,
    /// Places of a window.
    places: i64,
    is_dilated: bool,
}

/// The elements at one place of the windows of a segment of a row, whose windows are counted from
/// its first one.
#[derive(Clone, Copy)]
pub(super) struct WindowColumn {
    /// The windows along the dimension that have an element there.
    pub(super) first: usize,
    pub(super) end: usize,
    /// The offset of the element of window 0, whether or not it is in the array.
    start: i64,
}

/// Returns whether each window in a dimension has the one element at its index.
fn is_whole(dim: &WindowDim) -> bool {
    (dim.size, dim.stride, dim.pad_low, dim.pad_high, dim.lhs_dilation) == (1, 1, 0, 0, 1)
}

impl WindowRows {
    /// Returns the rows of windows over an array; `None` where rows would be short or windows
    /// large.
    pub(super) fn of(window: &Window, from: &[i64], to: &[i64]) -> Option<Self> {
        let dims = &window.dims;
        let places = dims.iter().fold(1_i64, |count, dim| count.saturating_mul(dim.size));
        let last = from.len().checked_sub(1)?;
        let d = (0..from.len()).rev().find(|&d| !is_whole(&dims[d])).unwrap_or(last);
        let run: i64 = to[d + 1..].iter().product();
        let is_small = |dim: &WindowDim| {
            // Offsets along the dimension, of which a window may have some beyond the array, do not
            // overflow.
            let numbers = [dim.stride, dim.lhs_dilation, dim.rhs_dilation, dim.pad_low.abs()];
            numbers.iter().all(|&x| x < 1 << 31)
        };
        let elements = |dims: &[i64]| to_i64(saturating_count(dims));
        let reads = places.saturating_mul(elements(to));
        let are_few = places <= MOST
            || reads <= elements(from).saturating_mul(MOST)
                && dims.iter().zip(from).all(|(dim, &size)| dim.size <= size.saturating_mul(2));
        let fits = are_few && to[d].saturating_mul(run) >= SHORTEST;
        if !fits || !dims.iter().all(is_small) || from.contains(&0) || to.contains(&0) {
            return None;
        }
        Some(Self {
            outer: dims[..d].to_vec(),
            from: from[..d].into(),
            to: to[..d].into(),
            strides: strides(from)[..d].into(),
            along: dims[d].clone(),
            size: from[d],
            windows: to[d],
            run: to_usize(run),
            places,
            is_dilated: dims.iter().any(|dim| dim.lhs_dilation > 1),
        })
    }
    /// Results of a row.
    pub(super) fn len(&self) -> usize {
        to_usize(self.windows) * self.run
    }
    /// Returns whether windows are small, and there are no holes between elements.
    pub(super) fn are_small(&self) -> bool {
        self.places <= MOST && !self.is_dilated
    }
    /// Returns the bytes of the parts of a segment, which are in a list that grows.
    pub(super) fn parts_bytes(&self) -> usize {
        let each = if self.along.lhs_dilation > 1 { self.segment() / self.run } else { 1 };
        let reached: i64 = self.outer.iter().zip(&self.from).map(|(d, &n)| d.size.min(n)).product();
        let parts = to_usize(reached.saturating_mul(self.along.size)).saturating_mul(each);
        parts.saturating_mul(2 * size_of::<WindowColumn>())
    }
    /// Segments of all rows.
    pub(super) fn segments(&self) -> usize {
        saturating_count(&self.to).saturating_mul(self.len().div_ceil(self.segment()))
    }
    /// Results of a segment of a row, except for the last one.
    pub(super) fn segment(&self) -> usize {
        (SEGMENT / self.run).clamp(1, to_usize(self.windows)) * self.run
    }
    pub(super) fn run(&self) -> usize {
        self.run
    }
    /// Returns whether the windows at different indices of the first dimension have different
    /// elements, and how many indices there are.
    pub(super) fn batches(&self) -> Option<usize> {
        let is_batch = self.outer.first().is_some_and(is_whole);
        is_batch.then(|| to_usize(self.to[0]))
    }

    /// Finds the parts of a segment of a row, in the row-major order of the window.
    pub(super) fn parts(&self, row: usize, segment: usize, parts: &mut Vec<WindowColumn>) {
        parts.clear();
        let at_once = to_i64(self.segment() / self.run);
        let (from, to) = (to_i64(segment) * at_once, (to_i64(segment) + 1) * at_once);
        let to = to.min(self.windows);
        let mut rest = to_i64(row);
        let mut reach = vec![Reach::NOTHING; self.outer.len()];
        for (d, dim) in self.outer.iter().enumerate().rev() {
            reach[d] = Reach::of(dim, rest % self.to[d], self.from[d]);
            rest /= self.to[d];
        }
        let WindowDim { stride, size, rhs_dilation, pad_low, lhs_dilation, .. } = self.along;
        walk(&reach, &self.strides, |base| {
            for k in 0..size {
                // Window w has element `w * stride + offset` there.
                let offset = k * rhs_dilation - pad_low;
                if lhs_dilation > 1 {
                    // Windows beside one another have different places on elements.
                    for window in from..to {
                        let place = window * stride + offset;
                        let at = place / lhs_dilation;
                        if place < 0 || place % lhs_dilation != 0 || at >= self.size {
                            continue;
                        }
                        let first = to_usize(window - from);
                        let moved = at - (window - from) * stride;
                        let start = to_i64(base) + moved * to_i64(self.run);
                        parts.push(WindowColumn { first, end: first + 1, start });
                    }
                    continue;
                }
                let until = |at: i64| (at - offset).max(0).div_euclid(stride);
                let first = until(stride - 1).clamp(from, to);
                let end = until(self.size + stride - 1).clamp(from, to);
                if first < end {
                    let start = to_i64(base) + (from * stride + offset) * to_i64(self.run);
                    let [first, end] = [first, end].map(|window| to_usize(window - from));
                    parts.push(WindowColumn { first, end, start });
                }
            }
        });
    }
    /// Returns the offset of the element of result number `i` of a segment in a part that has one.
    #[inline]
    pub(super) fn offset(&self, part: WindowColumn, i: usize) -> usize {
        let step = to_usize(self.along.stride) * self.run;
        to_usize(part.start + to_i64(i / self.run * step)) + i % self.run
    }
    /// Returns the bytes of the elements of a part; `space` is memory for a segment.
    pub(super) fn elements<'a>(
        &self,
        part: WindowColumn,
        from: &'a [u8],
        width: usize,
        space: &'a mut [u8],
    ) -> &'a [u8] {
        let (count, bytes) = (part.end - part.first, self.run * width);
        let first = self.offset(part, part.first * self.run) * width;
        if self.along.stride == 1 {
            return &from[first..first + count * bytes];
        }
        let space = &mut space[..count * bytes];
        let (from, step) = (&from[first..], to_usize(self.along.stride) * bytes);
        match bytes {
            2 => copy::<2>(from, step, space),
            4 => copy::<4>(from, step, space),
            8 => copy::<8>(from, step, space),
            64 => copy::<64>(from, step, space),
            128 => copy::<128>(from, step, space),
            256 => copy::<256>(from, step, space),
            _ => {
                for (i, to) in space.chunks_exact_mut(bytes).enumerate() {
                    to.copy_from_slice(&from[i * step..i * step + bytes]);
                }
            }
        }
        space
    }
}

/// Copies elements of `BYTES` bytes that lie `step` bytes apart.
fn copy<const BYTES: usize>(from: &[u8], step: usize, to: &mut [u8]) {
    for (i, to) in to.as_chunks_mut::<BYTES>().0.iter_mut().enumerate() {
        to.copy_from_slice(&from[i * step..i * step + BYTES]);
    }
}
