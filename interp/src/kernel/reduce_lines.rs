//! Reductions over runs of neighbors: of the elements of one result, or of one element of each of several results.
//!
//! Sums of floats are formed in f64, with a bound on their error; where the bound leaves the rounding open the exact sum
//! is formed. Other ops are applied to many elements at once: along columns in the order of the elements, along rows in
//! any order, which only ops get whose result does not depend on it.
use super::fold::is_orderless;
use crate::clock::Stop;
use crate::index::{strides, to_usize};
use crate::lower::scratch::threads;
use crate::num::accumulator::{ExactSum, Sum};
use crate::num::float::to_f32;
use crate::num::loops::{Loop, SumLoops, binary_loop};
use crate::options::Arithmetic;
use crate::scalar_program::ScalarProgram;
use hlo::op::Binary;
use hlo::{Dims, ElementType, Scalar};
use rayon::prelude::*;
use smallvec::SmallVec;

/// Elements that are summed before a sum is added to one that keeps its rounding errors.
const RUN: usize = 4096;
/// Rows that are added in f64 before the sums are added to ones that keep their rounding errors.
const ROWS: usize = 256;
/// The bound of the error of a sum, relative to the sum of magnitudes: no element takes part in more additions that round
/// than these, each with an error of at most 2^-53 of the magnitudes before it. Sums of [`RUN`] elements and of [`ROWS`] rows have
/// fewer than 290; what is left covers the errors of the magnitudes, and of rounding the ends of an interval to f64.
const ERROR: f64 = 320.0 / 9_007_199_254_740_992.0;
/// Columns that are computed together.
const STRIP: usize = 512;
/// Elements that are worth another thread.
const WORTH_A_THREAD: usize = 1 << 15;

/// How elements are folded.
pub(crate) enum Method {
    /// By adding floats; the sum is rounded to the type.
    Sum(SumLoops, ElementType),
    /// By an op on elements of this type, applied to arrays of them.
    Op(Loop, ElementType),
}

/// Which elements belong to which result. Neighboring dimensions of one kind are one.
#[derive(Debug)]
pub(super) struct Lines {
    /// Whether the innermost dimension is reduced, and its size.
    is_row: bool,
    inner: usize,
    /// The other dimensions that are kept, and those that are reduced.
    kept: Grid,
    reduced: Grid,
}

/// Some dimensions of an array.
#[derive(Debug)]
struct Grid {
    sizes: SmallVec<[usize; 4]>,
    strides: SmallVec<[usize; 4]>,
    count: usize,
}

impl Grid {
    fn new(dims: impl Iterator<Item = (i64, i64)>) -> Self {
        let (sizes, strides): (SmallVec<[usize; 4]>, _) =
            dims.map(|(size, stride)| (to_usize(size), to_usize(stride))).unzip();
        let count = sizes.iter().product();
        Self { sizes, strides, count }
    }
    /// Returns the offset of the element at index `i`, in row-major order.
    #[inline]
    fn offset(&self, i: usize) -> usize {
        match (&*self.sizes, &*self.strides) {
            ([], _) => 0,
            ([_], [stride, ..]) => i * stride,
            (sizes, strides) => {
                let (mut rest, mut at) = (i, 0);
                for (size, stride) in sizes.iter().zip(strides).rev() {
                    at += rest % size * stride;
                    rest /= size;
                }
                at
            }
        }
    }
}

impl Lines {
    /// Returns the lines of an array, of which the dimensions in `reduced` are reduced. `None` if it has one element or
    /// none.
    pub(super) fn of(dims: &[i64], reduced: &[i64]) -> Option<Self> {
        if dims.contains(&0) {
            return None;
        }
        let mut merged: Vec<(bool, i64)> = Vec::new();
        for (d, &size) in (0i64..).zip(dims).filter(|&(_, &size)| size != 1) {
            let is_reduced = reduced.contains(&d);
            match merged.last_mut() {
                Some((other, merged)) if *other == is_reduced => *merged *= size,
                _ => merged.push((is_reduced, size)),
            }
        }
        let sizes: Dims = merged.iter().map(|&(_, size)| size).collect();
        let strides = strides(&sizes);
        let (is_row, inner) = merged.pop()?;
        let grid = |kind: bool| {
            let all =
                merged.iter().zip(&strides).filter(|((is_reduced, _), _)| *is_reduced == kind);
            Grid::new(all.map(|(&(_, size), &stride)| (size, stride)))
        };
        Some(Self { is_row, inner: to_usize(inner), kept: grid(false), reduced: grid(true) })
    }
    /// Returns the size of the runs of neighbors of which each is one result, if the array consists of them.
    pub(super) fn runs(&self) -> Option<usize> {
        (self.is_row && self.reduced.count == 1).then_some(self.inner)
    }
    /// Bytes that a reduction works in.
    pub(super) fn scratch(&self) -> usize {
        let column = size_of::<Partial>() + 2 * size_of::<f64>() + 2 * size_of::<u128>();
        let runs = if self.is_row { self.reduced.count * self.inner.div_ceil(RUN) } else { 0 };
        threads() * STRIP * column + runs * size_of::<(f64, f64)>()
    }
}

impl Method {
    /// Bytes of a result.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Sum(_, ty) | Self::Op(_, ty) => ty.storage_bytes(),
        }
    }
    /// Bytes that a fold of runs works in.
    pub(super) fn scratch(&self) -> usize {
        match self {
            Self::Sum(..) => 0,
            Self::Op(_, ty) => 2 * STRIP * ty.storage_bytes(),
        }
    }
    /// Returns how to fold elements of type `from` by a computation; `None` if neither way fits.
    pub(super) fn of(
        applied: &ScalarProgram,
        (from, stored): (ElementType, ElementType),
        lines: &Lines,
        arithmetic: Arithmetic,
    ) -> Option<Self> {
        let to = *applied.results().first().filter(|&&to| to == stored)?;
        if from.is_float() && applied.as_binary() == Some(Binary::Add) {
            return SumLoops::of(from, arithmetic)
                .filter(|_| to.bits() <= 32)
                .map(|loops| Self::Sum(loops, to));
        }
        let (op, ty) = applied.as_binary_in_order()?;
        let fits = ty == from && ty == to && (!lines.is_row || is_orderless(op, ty));
        binary_loop(op, ty).filter(|_| fits).map(|function| Self::Op(function, ty))
    }
}

/// Folds of runs, one after another, from the same first value.
pub(super) struct RowFold<'a> {
    method: &'a Method,
    first: Scalar,
    /// Elements of a run.
    inner: usize,
    tiles: Tiles,
}

impl<'a> RowFold<'a> {
    pub(super) fn new(method: &'a Method, first: Scalar, inner: usize) -> Self {
        let tiles = match method {
            Method::Sum(..) => Tiles::new(0, ElementType::U8, Scalar::zero(ElementType::U8)),
            Method::Op(_, ty) => Tiles::new(STRIP.min(inner), *ty, first),
        };
        Self { method, first, inner, tiles }
    }
    /// Folds the elements of one result into `to`.
    pub(super) fn row(&mut self, elements: &[u8], to: &mut [u8]) {
        match self.method {
            Method::Sum(loops, ty) => {
                let mut partial = Partial::new(self.first.as_f64());
                let width = elements.len() / self.inner;
                elements.chunks(RUN * width).for_each(|run| partial.add((loops.row)(run)));
                let sum = partial.rounded(*ty).unwrap_or_else(|| {
                    let mut sum = ExactSum::new(self.first.as_f64());
                    (loops.exact)(elements, &mut sum);
                    Scalar::Float(sum.rounded(*ty))
                });
                sum.write(*ty, to);
            }
            Method::Op(function, ty) => {
                let parts = elements.chunks(STRIP * ty.storage_bytes());
                self.tiles.fold_row(function, parts, to);
            }
        }
    }
}

/// A sum on its way.
#[derive(Clone, Copy)]
pub(super) struct Partial {
    sum: Sum,
    magnitude: f64,
}

impl Partial {
    pub(super) fn new(first: f64) -> Self {
        Self { sum: Sum::new(first), magnitude: first.abs() }
    }
    pub(super) fn add(&mut self, (sum, magnitude): (f64, f64)) {
        self.sum.add(sum);
        self.magnitude += magnitude;
    }
    /// Returns the sum rounded to `ty`, if the bound of its error decides that.
    pub(super) fn rounded(self, ty: ElementType) -> Option<Scalar> {
        // Only zeros were added, without an error; the sum has the right sign.
        if self.magnitude == 0.0 {
            return Some(Scalar::Float(self.sum.value()));
        }
        let (high, low) = self.sum.parts();
        let error = self.magnitude * ERROR;
        if ty == ElementType::F32 {
            let [least, most] = [low - error, low + error].map(|low| to_f32(high + low));
            let is_decided = least.to_bits() == most.to_bits() && least.is_finite() && least != 0.0;
            return is_decided.then_some(Scalar::Float(least.into()));
        }
        let [least, most] =
            [low - error, low + error].map(|low| Scalar::Float(high + low).round_to(ty));
        let bits = least.to_bits(ty);
        // A bound that is not finite decides nothing, nor does one around zero.
        let is_decided =
            bits == most.to_bits(ty) && least.as_f64().is_finite() && least.as_f64() != 0.0;
        is_decided.then_some(least)
    }
}

/// A reduction of one array.
pub(super) struct Reduction<'a, E> {
    pub(super) lines: &'a Lines,
    pub(super) method: &'a Method,
    /// The elements, and the bytes of one.
    pub(super) from: &'a [u8],
    pub(super) width: usize,
    /// The initial value.
    pub(super) first: Scalar,
    /// Computes the result whose first element is at an offset, exactly.
    pub(super) exact: E,
}

impl<E: Fn(usize) -> Scalar + Sync> Reduction<'_, E> {
    /// Computes the results, of which each takes `width` bytes in `to`.
    pub(super) fn run(&self, to: &mut [u8]) {
        match self.method {
            Method::Sum(loops, ty) => self.sums(*loops, *ty, to),
            Method::Op(function, ty) => self.folds(function, *ty, to),
        }
    }

    fn elements(&self, at: usize, count: usize) -> &[u8] {
        &self.from[at * self.width..(at + count) * self.width]
    }
    /// Calls `each` for the results that neighbor one another, in parallel, with the offset of the first element and the memory
    /// of the results: for rows one result, for columns those of a strip. A thread makes one `state` for all its calls.
    fn each<S>(
        &self,
        width: usize,
        to: &mut [u8],
        state: impl Fn() -> S + Sync + Send,
        each: impl Fn(&mut S, usize, &mut [u8]) + Sync,
    ) {
        let Lines { is_row, inner, kept, reduced } = self.lines;
        let stop = Stop::current();
        if *is_row {
            let at_once = (WORTH_A_THREAD / (reduced.count * inner).max(1)).max(1);
            let parts = to.par_chunks_mut(at_once * width).enumerate();
            return parts.for_each_init(&state, |state, (part, to)| {
                let slots = to.chunks_exact_mut(width).enumerate();
                for (i, slot) in slots.take_while(|_| !stop.is_set()) {
                    each(state, kept.offset(part * at_once + i), slot);
                }
            });
        }
        to.par_chunks_mut(inner * width).enumerate().for_each(|(row, to)| {
            let base = kept.offset(row);
            let strips = to.par_chunks_mut(STRIP * width).enumerate();
            strips.for_each_init(&state, |state, (strip, to)| {
                if !stop.is_set() {
                    each(state, base + strip * STRIP, to);
                }
            });
        });
    }

    fn sums(&self, loops: SumLoops, ty: ElementType, to: &mut [u8]) {
        let width = ty.storage_bytes();
        let first = self.first.as_f64();
        let rounded = |sum: Partial, at| sum.rounded(ty).unwrap_or_else(|| (self.exact)(at));
        self.each(
            width,
            to,
            || (),
            |(), base, to| match self.lines.is_row {
                true => rounded(self.row_sum(loops, first, base), base).write(ty, to),
                false => {
                    let sums = self.column_sums(loops, first, base, to.len() / width);
                    let slots = to.chunks_exact_mut(width);
                    for ((column, sum), slot) in sums.into_iter().enumerate().zip(slots) {
                        rounded(sum, base + column).write(ty, slot);
                    }
                }
            },
        );
    }

    /// Sums the elements of one result. Long rows are summed by several threads, in the same parts on any number of them.
    fn row_sum(&self, loops: SumLoops, first: f64, base: usize) -> Partial {
        let Lines { inner, reduced, .. } = self.lines;
        let runs = inner.div_ceil(RUN);
        let run = |number: usize| {
            let (row, run) = (number / runs, number % runs * RUN);
            let count = RUN.min(inner - run);
            (loops.row)(self.elements(base + reduced.offset(row) + run, count))
        };
        let mut partial = Partial::new(first);
        let count = reduced.count * runs;
        if count * RUN.min(*inner) <= 16 * WORTH_A_THREAD {
            (0..count).for_each(|number| partial.add(run(number)));
        } else {
            let stop = Stop::current();
            let run = |number| if stop.is_set() { (0.0, 0.0) } else { run(number) };
            let parts: Vec<(f64, f64)> =
                (0..count).into_par_iter().with_min_len(8).map(run).collect();
            for part in parts {
                partial.add(part);
            }
        }
        partial
    }

    /// Sums columns, `count` of them.
    fn column_sums(&self, loops: SumLoops, first: f64, base: usize, count: usize) -> Vec<Partial> {
        let reduced = &self.lines.reduced;
        let stop = Stop::current();
        let mut partials = vec![Partial::new(first); count];
        let (mut sums, mut magnitudes) = (vec![-0.0; count], vec![0.0; count]);
        for rows in (0..reduced.count).step_by(ROWS).take_while(|_| !stop.is_set()) {
            sums.fill(-0.0);
            magnitudes.fill(0.0);
            for row in rows..(rows + ROWS).min(reduced.count) {
                let elements = self.elements(base + reduced.offset(row), count);
                (loops.columns)(elements, &mut sums, &mut magnitudes);
            }
            let parts = sums.iter().copied().zip(magnitudes.iter().copied());
            partials.iter_mut().zip(parts).for_each(|(partial, part)| partial.add(part));
        }
        partials
    }

    fn folds(&self, function: &Loop, ty: ElementType, to: &mut [u8]) {
        let Lines { is_row, inner, reduced, .. } = self.lines;
        let rows = |base| (0..reduced.count).map(move |row| base + reduced.offset(row));
        let tiles = || Tiles::new(STRIP.min(*inner), ty, self.first);
        self.each(self.width, to, tiles, |tiles, base, to| match is_row {
            true => {
                let parts =
                    rows(base).flat_map(|at| self.elements(at, *inner).chunks(STRIP * self.width));
                tiles.fold_row(function, parts, to);
            }
            false => {
                tiles.restart();
                let count = to.len() / self.width;
                rows(base).for_each(|at| tiles.fold(function, self.elements(at, count)));
                to.copy_from_slice(&tiles.bytes()[..to.len()]);
            }
        });
    }
}

/// Accumulators beside one another, and memory for the next ones.
struct Tiles {
    width: usize,
    first: u128,
    now: Vec<u128>,
    next: Vec<u128>,
}

impl Tiles {
    /// Returns `count` accumulators of type `ty` with the value `first`.
    fn new(count: usize, ty: ElementType, first: Scalar) -> Self {
        let width = ty.storage_bytes();
        let words = (count * width).div_ceil(size_of::<u128>());
        let mut tiles = Self { width, first: 0, now: vec![0; words], next: vec![0; words] };
        first.write(ty, &mut bytemuck::bytes_of_mut(&mut tiles.first)[..width]);
        tiles
    }
    /// Sets all accumulators to the first value.
    fn restart(&mut self) {
        let Self { width, first, now, .. } = self;
        let now: &mut [u8] = bytemuck::cast_slice_mut(now);
        let first = &bytemuck::bytes_of(first)[..*width];
        now.chunks_exact_mut(*width).for_each(|to| to.copy_from_slice(first));
    }
    fn bytes(&self) -> &[u8] {
        bytemuck::cast_slice(&self.now)
    }
    /// Folds the first elements, as many as there are, into the accumulators at their indices.
    fn fold(&mut self, function: &Loop, elements: &[u8]) {
        let now: &[u8] = bytemuck::cast_slice(&self.now);
        let next: &mut [u8] = bytemuck::cast_slice_mut(&mut self.next);
        function(&[&now[..elements.len()], elements], &mut next[..elements.len()]);
        next[elements.len()..].copy_from_slice(&now[elements.len()..]);
        std::mem::swap(&mut self.now, &mut self.next);
    }
    /// Folds the elements of one result into `to`, in any order.
    fn fold_row<'e>(
        &mut self,
        function: &Loop,
        parts: impl Iterator<Item = &'e [u8]>,
        to: &mut [u8],
    ) {
        // The first elements take the places of accumulators.
        let mut used = 0;
        for part in parts {
            let common = used.min(part.len());
            if common > 0 {
                self.fold(function, &part[..common]);
            }
            let now: &mut [u8] = bytemuck::cast_slice_mut(&mut self.now);
            now[common..part.len()].copy_from_slice(&part[common..]);
            used = used.max(part.len());
        }
        let first = &bytemuck::bytes_of(&self.first)[..self.width];
        if used == 0 {
            return to.copy_from_slice(first);
        }
        // The upper half is folded into the lower one until one accumulator is left.
        while used > self.width {
            let half = used / self.width / 2 * self.width;
            let now: &[u8] = bytemuck::cast_slice(&self.now);
            let next: &mut [u8] = bytemuck::cast_slice_mut(&mut self.next);
            function(&[&now[..half], &now[used - half..used]], &mut next[..half]);
            next[half..used - half].copy_from_slice(&now[half..used - half]);
            used -= half;
            std::mem::swap(&mut self.now, &mut self.next);
        }
        function(&[first, &bytemuck::cast_slice(&self.now)[..self.width]], to);
    }
}
