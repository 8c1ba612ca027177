//! Cumulative sums of floats: each window has the elements of the one before it, and one more.
//!
//! A running sum in two f64 gives nearly all values; where it does not decide how one is rounded,
//! the sums are computed again with exact accumulators.
use super::window_steps::steps;
use crate::Kernel;
use crate::function::writes_in;
use hlo::op::value::WindowDim;
use hlo::op::{Binary, ReduceWindow};
use hlo::{ArrayShape, ElementType};
use num::Arithmetic;
use num::accumulator::ExactSum;
use num::clock::Stop;
use num::index::to_usize;
use num::loops::{VectorLoop, convert_loop};
use num::parallel::{parts, threads};
use num::prefix_sum::PrefixSum;
use num::scalar_program::ScalarProgram;
use std::ops::Range;

/// Sums that are formed beside one another, and elements of one sum that are converted together.
const BLOCK: usize = 64;

/// The elements of the windows along a dimension. The first `lead` windows have none, `head`
/// elements are in all the others, the next windows have one element more each, and the last ones
/// have all.
pub(super) struct GrowingWindows {
    /// Elements and windows of a line, and lines that neighbor one another.
    pub(super) size: usize,
    pub(super) windows: usize,
    pub(super) inner: usize,
    pub(super) lead: usize,
    pub(super) head: usize,
    /// Windows end with the last element, and the last one is the shortest.
    pub(super) is_backward: bool,
}

/// Sums of the elements of growing windows.
struct Cumulative {
    lines: GrowingWindows,
    from: ElementType,
    to: ElementType,
    widen: Option<VectorLoop>,
    round: Option<VectorLoop>,
}

/// Returns the kernel of a reduction over windows, if it forms cumulative sums of floats.
pub(super) fn kernel(
    op: &ReduceWindow,
    operands: &[&ArrayShape],
    result: &ArrayShape,
    applied: &ScalarProgram,
    arithmetic: Arithmetic,
) -> Option<Box<dyn Kernel>> {
    let &[from, _] = operands else { return None };
    let is_sum = from.ty.is_float() && applied.as_binary() == Some(Binary::Add);
    if !is_sum || applied.results() != [result.ty] {
        return None;
    }
    let convert = |a: ElementType, b: ElementType| match a == b {
        true => Some(None),
        false => convert_loop(a, b).map(Some),
    };
    let cumulative = Cumulative {
        lines: GrowingWindows::of(op, from, result)?,
        from: from.ty,
        to: result.ty,
        widen: convert(from.ty, ElementType::F64)?,
        round: convert(ElementType::F64, result.ty)?,
    };
    let (window, shapes) = (op.window.clone(), (from.clone(), result.clone()));
    let state = size_of::<ExactSum>() + ExactSum::LARGEST + 2 * size_of::<f64>();
    Some(writes_in(arithmetic, threads() * BLOCK * state, move |scope, inputs, outputs| {
        scope.spend(steps(&window, &shapes.0, &shapes.1))?;
        let (from, first) = (inputs[0].bytes(), inputs[1].get(0).as_f64());
        cumulative.run(from, first, outputs[0].bytes_mut(), arithmetic);
        Ok(())
    }))
}

impl GrowingWindows {
    pub(super) fn of(op: &ReduceWindow, from: &ArrayShape, result: &ArrayShape) -> Option<Self> {
        let is_whole = |dim: &WindowDim| {
            (dim.size, dim.stride, dim.pad_low, dim.pad_high) == (1, 1, 0, 0)
                && dim.lhs_dilation == 1
        };
        let mut large = (0..from.rank()).filter(|&d| !is_whole(&op.window.dims[d]));
        let (Some(d), None) = (large.next(), large.next()) else { return None };
        let dim = &op.window.dims[d];
        if (dim.stride, dim.lhs_dilation, dim.rhs_dilation) != (1, 1, 1) {
            return None;
        }
        let (size, windows) = (from.dims[d], result.dims[d]);
        if size == 0 {
            return None;
        }
        // Elements of the first window, in the order in which windows grow; of fewer than none if
        // they come later.
        let is_backward = dim.pad_low < windows - 1;
        let first = match is_backward {
            false => dim.size.checked_sub(dim.pad_low)?,
            true if dim.size.checked_sub(dim.pad_low)? >= size => {
                (size - windows + 1).checked_add(dim.pad_low)?
            }
            true => return None,
        };
        Some(Self {
            size: to_usize(size),
            windows: to_usize(windows),
            inner: from.dims[d + 1..].iter().map(|&size| to_usize(size)).product(),
            lead: to_usize(first.saturating_neg().saturating_add(1).clamp(0, windows)),
            head: to_usize((first - 1).clamp(0, size)),
            is_backward,
        })
    }
}

impl Cumulative {
    fn run(&self, from: &[u8], first: f64, to: &mut [u8], arithmetic: Arithmetic) {
        let GrowingWindows { size, windows, inner, .. } = self.lines;
        let line = size * inner * self.from.storage_bytes();
        let result = windows * inner * self.to.storage_bytes();
        let stop = Stop::current();
        parts(to, (result, 1), |number, to| {
            let from = &from[number * line..][..line];
            for columns in (0..inner).step_by(BLOCK).take_while(|_| !stop.is_set()) {
                let count = BLOCK.min(inner - columns);
                let mut strip = Strip::new(self, (columns, count), from, to);
                let is_decided = match arithmetic {
                    Arithmetic::Exact => strip.run(&mut vec![PrefixSum::new(first); count], &stop),
                    // A sum of shorter elements is not finite only if one of these is not.
                    Arithmetic::Fast => {
                        strip.run(&mut vec![first; count], &stop) || self.from != ElementType::F64
                    }
                };
                if !is_decided {
                    strip.run(&mut vec![ExactSum::new(first); count], &stop);
                }
            }
        });
    }
}

/// A sum whose value is asked for after each term.
trait RunningSum {
    fn add(&mut self, x: f64);
    fn rounded(&mut self, ty: ElementType) -> f64;
    /// Returns whether all values are right.
    fn is_decided(&self) -> bool;
}
impl RunningSum for PrefixSum {
    #[inline]
    fn add(&mut self, x: f64) {
        self.add(x);
    }
    #[inline]
    fn rounded(&mut self, ty: ElementType) -> f64 {
        self.rounded(ty)
    }
    fn is_decided(&self) -> bool {
        self.is_decided()
    }
}
/// In the engine `fast`.
impl RunningSum for f64 {
    #[inline]
    fn add(&mut self, x: f64) {
        *self += x;
    }
    #[inline]
    fn rounded(&mut self, _: ElementType) -> f64 {
        *self
    }
    /// It stays what it is from the first value that is not finite on.
    fn is_decided(&self) -> bool {
        self.is_finite()
    }
}
impl RunningSum for ExactSum {
    fn add(&mut self, x: f64) {
        self.add(x);
    }
    fn rounded(&mut self, ty: ElementType) -> f64 {
        ExactSum::rounded(self, ty)
    }
    fn is_decided(&self) -> bool {
        true
    }
}

/// Some columns of a line of rows, of which each element has a sum.
struct Strip<'a> {
    of: &'a Cumulative,
    columns: usize,
    count: usize,
    from: &'a [u8],
    to: &'a mut [u8],
    elements: [f64; BLOCK],
    values: [f64; BLOCK],
}

impl<'a> Strip<'a> {
    fn new(
        of: &'a Cumulative,
        (columns, count): (usize, usize),
        from: &'a [u8],
        to: &'a mut [u8],
    ) -> Self {
        Self { of, columns, count, from, to, elements: [0.0; BLOCK], values: [0.0; BLOCK] }
    }

    /// Computes all values; returns whether all are right.
    fn run<S: RunningSum>(&mut self, sums: &mut [S], stop: &Stop) -> bool {
        let Cumulative { lines, to, .. } = self.of;
        let (&GrowingWindows { size, windows, inner, lead, head, .. }, &to) = (lines, to);
        // Elements of one column neighbor one another.
        let at_once = if inner == 1 { BLOCK } else { 1 };
        for first in (0..head).step_by(at_once) {
            let count = at_once.min(head - first);
            self.read(first, count);
            self.advance(sums, count, |sum, x, _| sum.add(x));
        }
        self.repeat(sums, 0..lead);
        let grown = (size - head).min(windows - lead);
        for first in (0..grown).step_by(at_once).take_while(|_| !stop.is_set()) {
            let count = at_once.min(grown - first);
            self.read(head + first, count);
            self.advance(sums, count, |sum, x, value| {
                sum.add(x);
                *value = sum.rounded(to);
            });
            self.write(lead + first, count);
        }
        self.repeat(sums, lead + grown..windows);
        sums.iter().all(S::is_decided)
    }

    /// Gives windows the sums as they are.
    fn repeat<S: RunningSum>(&mut self, sums: &mut [S], windows: Range<usize>) {
        let ty = self.of.to;
        for window in windows {
            self.advance(sums, 1, |sum, _, value| *value = sum.rounded(ty));
            self.write(window, 1);
        }
    }

    /// Calls `each` for `count` elements of a column, one after another, or for one element of each
    /// column.
    #[inline]
    fn advance<S>(
        &mut self,
        sums: &mut [S],
        count: usize,
        mut each: impl FnMut(&mut S, f64, &mut f64),
    ) {
        let elements = self.elements.iter().zip(&mut self.values);
        match sums {
            [sum] => elements.take(count).for_each(|(&x, value)| each(sum, x, value)),
            sums => {
                sums.iter_mut().zip(elements).for_each(|(sum, (&x, value))| each(sum, x, value));
            }
        }
    }

    /// Returns the bytes of numbers `first..first + count` of a line of `size`, in the order in
    /// which windows grow.
    fn bytes(&self, (first, count): (usize, usize), size: usize, width: usize) -> Range<usize> {
        let GrowingWindows { inner, is_backward, .. } = self.of.lines;
        let first = if is_backward { size - first - count } else { first };
        let at = (first * inner + self.columns) * width;
        at..at + count * self.count * width
    }
    /// Reads elements, several of one column or one of each.
    fn read(&mut self, first: usize, count: usize) {
        let bytes = self.bytes((first, count), self.of.lines.size, self.of.from.storage_bytes());
        let elements = &mut self.elements[..count * self.count];
        match &self.of.widen {
            Some(widen) => widen(&[&self.from[bytes]], bytemuck::cast_slice_mut(elements)),
            None => elements.copy_from_slice(bytemuck::cast_slice(&self.from[bytes])),
        }
        if self.of.lines.is_backward && count > 1 {
            elements.reverse();
        }
    }
    /// Writes the values of windows.
    fn write(&mut self, first: usize, count: usize) {
        let bytes = self.bytes((first, count), self.of.lines.windows, self.of.to.storage_bytes());
        let values = &mut self.values[..count * self.count];
        if self.of.lines.is_backward && count > 1 {
            values.reverse();
        }
        match &self.of.round {
            Some(round) => round(&[bytemuck::cast_slice(values)], &mut self.to[bytes]),
            None => self.to[bytes].copy_from_slice(bytemuck::cast_slice(values)),
        }
    }
}
