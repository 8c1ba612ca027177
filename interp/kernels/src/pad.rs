//! `pad`: element i of the operand lands at `low + i * (interior + 1)`; everything else is the
//! padding value
//!
//! Rows run along the last dimension that is padded and through the dimensions after it.
use crate::Kernel;
use crate::cost_model::MOVED_BYTES;
use crate::function::moves;
use crate::op::{ArrayOp, Site, linear};
use crate::slicing::{Region, SliceDim, Sliced};
use crate::strided::{copy_short, spread, with_half, with_width};
use hlo::op::value::{PaddingConfig, PaddingDim};
use hlo::op::{Broadcast, Pad};
use hlo::{Array, Op};
use num::clock::Stop;
use num::index::{strides, to_i64, to_usize};
use num::parallel::{copy, parts};
use num::scalar_program::ScalarPrograms;

/// Bytes of the longest rows that are padded together.
const SHORT: usize = 256;

/// A padded dimension.
struct Padded {
    low: i128,
    /// The distance of elements in the result.
    step: i128,
    /// Elements of the operand, and of the result.
    from: i64,
    to: i64,
    /// The distance of elements in the operand.
    stride: i64,
}

impl Padded {
    fn new(padding: &PaddingDim, from: i64, to: i64, stride: i64) -> Self {
        let step = i128::from(padding.interior) + 1;
        Self { low: padding.low.into(), step, from, to, stride }
    }
    fn is_whole(&self) -> bool {
        self.low == 0 && self.step == 1 && self.from == self.to
    }
    /// Returns the offset in the operand of the element at a place.
    fn source(&self, place: i64) -> Option<i64> {
        let at = i128::from(place) - self.low;
        // Most are not apart, and it takes long to divide.
        let (i, rest) = match self.step {
            1 => (at, 0),
            step => (at.div_euclid(step), at.rem_euclid(step)),
        };
        let i = i64::try_from(i).ok()?;
        (rest == 0 && (0..self.from).contains(&i)).then(|| i * self.stride)
    }
    /// Returns the elements that have a place in the result: the first, and the one after the last.
    fn elements(&self) -> [i64; 2] {
        let until = |place: i128| {
            let i = (place - self.low + self.step - 1).div_euclid(self.step);
            i64::try_from(i.clamp(0, self.from.into())).expect("an element")
        };
        [until(0), until(self.to.into())]
    }
    fn place(&self, i: i64) -> usize {
        usize::try_from(self.low + i128::from(i) * self.step).expect("a place in the result")
    }
}

impl ArrayOp for Pad {
    fn kernel(&self, _: &Site<'_>, _: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        let op = self.clone();
        Some(moves(move |inputs, output| pad_into(&op, inputs[0], inputs[1], output)))
    }
    linear!();
    fn slice(&self, site: &Site<'_>, region: &[SliceDim]) -> Option<Sliced> {
        let is_regular = |(padding, extent): (&PaddingDim, &SliceDim)| {
            extent.step == 1 || *padding == PaddingDim::default()
        };
        if !self.padding.dims.iter().zip(region).all(is_regular) {
            // What lies between the elements takes part too.
            let length = |extent: &SliceDim| extent.last() - extent.start + 1;
            let cover = region.iter().map(|e| SliceDim::run(e.start, length(e))).collect();
            let inside = region.iter().map(|e| SliceDim { start: 0, ..*e }).collect();
            return Some(Sliced::Within(cover, inside));
        }
        let parts = self.padding.dims.iter().zip(region).zip(&site.operands[0].dims);
        let parts: Option<Vec<(SliceDim, PaddingDim)>> =
            parts.map(|((&padding, &extent), &size)| unpadded(padding, extent, size)).collect();
        let value = (1, Region::new());
        let Some(parts) = parts else {
            let op = Broadcast { dimensions: Vec::new() };
            return Some(Sliced::Op(Op::Broadcast(op), vec![value]));
        };
        let (inner, dims) = parts.into_iter().unzip();
        let op = Pad { padding: PaddingConfig { dims } };
        Some(Sliced::Op(Op::Pad(op), vec![(0, inner), value]))
    }
}

/// Returns the elements of the operand in a part of a padded dimension, and the padding around
/// them; `None` if all is padding.
fn unpadded(padding: PaddingDim, part: SliceDim, size: i64) -> Option<(SliceDim, PaddingDim)> {
    if padding == PaddingDim::default() {
        return Some((part, padding));
    }
    let PaddingDim { low, interior, .. } = padding;
    let distance = i128::from(interior) + 1;
    let place = |element: i64| i128::from(low) + i128::from(element) * distance;
    let (start, end) = (i128::from(part.start), i128::from(part.last()));
    let first = (start - i128::from(low) + distance - 1).div_euclid(distance).max(0);
    let last = (end - i128::from(low)).div_euclid(distance).min(i128::from(size) - 1);
    if first > last {
        return None;
    }
    let narrow = |x: i128| i64::try_from(x).expect("a place in the part");
    let (first, last) = (narrow(first), narrow(last));
    let extent = SliceDim { start: first, step: 1, count: last - first + 1 };
    let (low, high) = (narrow(place(first) - start), narrow(end - place(last)));
    Some((extent, PaddingDim { low, high, interior }))
}

/// Writes the padded operand.
fn pad_into(op: &Pad, operand: &Array, value: &Array, result: &mut Array) {
    let Pad { padding } = op;
    let shape = result.shape().clone();
    let from = operand.shape();
    let width = shape.ty.storage_bytes();
    let value = value.bytes().get(..width).expect("verified: a scalar");
    let steps = strides(&from.dims);
    let mut dims: Vec<Padded> = (0..shape.rank())
        .map(|d| Padded::new(&padding.dims[d], from.dims[d], shape.dims[d], steps[d]))
        .collect();
    let is_padded = |dim: &Padded| !dim.is_whole();
    dims.truncate(dims.iter().rposition(is_padded).map_or(0, |last| last + 1));
    let (from, to) = (operand.bytes(), result.bytes_mut());
    if from.is_empty() {
        return repeat(value, to);
    }
    let Some((along, outer)) = dims.split_last() else {
        to.copy_from_slice(from);
        return;
    };
    let row = to_usize(along.to * along.stride) * width;
    if to.is_empty() {
        return;
    }
    let together = (MOVED_BYTES / row).max(1);
    let stop = Stop::current();
    // Short rows are padded all at once.
    let is_padded = row <= SHORT;
    parts(to, (row * together, 1), |part, to| {
        if is_padded {
            repeat(value, to);
        }
        for (i, to) in to.chunks_exact_mut(row).enumerate() {
            let mut rest = to_i64(part * together + i);
            let base = outer.iter().rev().try_fold(0, |base, dim| {
                let place = rest % dim.to;
                rest /= dim.to;
                Some(base + dim.source(place)?)
            });
            match base {
                Some(base) => {
                    let from = &from[to_usize(base) * width..];
                    pad_row(along, from, (value, is_padded), to, &stop);
                }
                None if is_padded => {}
                None => repeat(value, to),
            }
        }
    });
}

/// Writes a row, whose elements are at the start of the operand; it may have the padding already.
fn pad_row(
    along: &Padded,
    from: &[u8],
    (value, is_padded): (&[u8], bool),
    to: &mut [u8],
    stop: &Stop,
) {
    let run = to_usize(along.stride) * value.len();
    let [first, end] = along.elements();
    let pad = |to: &mut [u8]| match is_padded {
        true => {}
        false => repeat(value, to),
    };
    if first >= end {
        return pad(to);
    }
    let elements = &from[to_usize(first) * run..to_usize(end) * run];
    let start = along.place(first) * run;
    if along.step == 1 {
        let (before, rest) = to.split_at_mut(start);
        let (middle, after) = rest.split_at_mut(elements.len());
        pad(before);
        pad(after);
        match middle.len() <= SHORT {
            true => with_half!(middle.len(), N => copy_short::<N>(elements, middle)),
            false => copy(elements, middle),
        }
        return;
    }
    let (before, rest) = to.split_at_mut(start);
    let (middle, after) = rest.split_at_mut((along.place(end - 1) + 1) * run - start);
    if run == value.len()
        && let Ok(step) = usize::try_from(along.step)
    {
        pad(before);
        pad(after);
        with_width!(run, W => {
            let (from, middle) = (elements.as_chunks::<W>().0, middle.as_chunks_mut::<W>().0);
            let between = *value.first_chunk::<W>().expect("the bytes of an element");
            let each = (MOVED_BYTES / W / step).max(1);
            parts(middle, (each * step, 1), |part, middle| {
                spread(&from[part * each..][..middle.len().div_ceil(step)], between, step, middle);
            });
        });
        return;
    }
    pad(before);
    pad(middle);
    pad(after);
    let places = (first..end).map(|i| along.place(i) * run - start);
    let mut elements = places.zip(elements.chunks_exact(run));
    for _ in (first..end).step_by(MOVED_BYTES).take_while(|_| !stop.is_set()) {
        for (at, element) in elements.by_ref().take(MOVED_BYTES) {
            middle[at..at + run].copy_from_slice(element);
        }
    }
}

/// Fills an array with an element.
pub(super) fn repeat(value: &[u8], to: &mut [u8]) {
    let Some(first) = to.get_mut(..value.len()) else { return };
    first.copy_from_slice(value);
    let mut filled = value.len();
    // Most rows are short.
    let stop = if to.len() > MOVED_BYTES { Stop::current() } else { Stop::default() };
    while filled < to.len() && !stop.is_set() {
        let count = filled.min(MOVED_BYTES).min(to.len() - filled);
        to.copy_within(..count, filled);
        filled += count;
    }
}
