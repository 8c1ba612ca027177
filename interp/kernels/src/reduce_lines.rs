//! Reductions over runs of neighbors: of the elements of one result, or of one element of each of
//! several results.
//!
//! Sums of floats are formed in f64, with a bound on their error; where the bound leaves the
//! rounding open the exact sum is formed. Other ops are applied to many elements at once: along
//! columns in the order of the elements, along rows in any order, which only ops get whose result
//! does not depend on it.
use super::lanes::{LANES, LaneTile, RUN as NEIGHBORS, Starts};
use super::partial_sum::{ColumnSums, Partial, SumMethod};
use super::row_fold::RowFold;
use crate::cost_model::FOLDED;
use hlo::op::Binary;
use hlo::{Dims, ElementType, Scalar};
use num::Arithmetic;
use num::clock::Stop;
use num::index::{Grid, strides, to_usize};
use num::loops::{LongSum, RowsFn, VectorLoop, binary_loop, rows_loop};
use num::parallel::{parts, parts_with, threads};
use num::scalar_program::ScalarProgram;
use rayon::prelude::*;
use std::sync::Arc;

/// Elements that are summed before a sum is added to one that keeps its rounding errors.
pub(super) const RUN: usize = 4096;
/// Columns that are computed together.
pub(super) const STRIP: usize = 512;
/// Elements of the longest rows that are computed beside one another: they are brought there one by
/// one, while a row takes a few calls, for an op as many as halves it until an element is left.
const SHORT_SUM: usize = 32;
/// Elements of a part of a long row.
const PART: usize = 1 << 15;
/// Elements of the longest rows of which several are summed at once.
const LONGEST_SUM: usize = 512;
const SHORT: usize = 96;
/// Elements of the fewest lines of which several are folded as one.
pub(super) const NARROW: usize = 4096;
/// Bytes of the shortest runs that are copied; elements of others are brought beside one another.
const SHORTEST_RUN: usize = 16;
/// Results of the fewest short rows that are computed beside one another.
const FEW: usize = 8;

/// The method by which elements are folded.
pub enum Method {
    /// By adding floats.
    Sum(SumMethod),
    /// By an op on elements of this type, applied to arrays of them.
    Op {
        /// The op, of arrays.
        function: VectorLoop,
        /// The type of its operands and results.
        ty: ElementType,
        /// Whether the order of the elements is of no importance.
        is_orderless: bool,
        /// The op of the elements of rows, if there is such a loop.
        rows: Option<Arc<RowsFn>>,
    },
}

/// The assignment of elements to results. Neighboring dimensions of one kind are one.
#[derive(Debug)]
pub(super) struct ReducedLines {
    /// Whether the innermost dimension is reduced, and its size.
    is_row: bool,
    inner: usize,
    /// The other dimensions that are kept, and those that are reduced.
    kept: Grid,
    reduced: Grid,
    /// All dimensions that are kept, and all that are reduced.
    results: Grid,
    elements: Grid,
}

impl ReducedLines {
    /// Returns the lines of an array, of which the dimensions in `reduced` are reduced. `None` if
    /// it has no element; a single one is a row.
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
        let &(is_row, inner) = merged.last().unwrap_or(&(true, 1));
        let grid = |of: &[(bool, i64)], kind: bool| {
            let all = of.iter().zip(&strides).filter(|((is_reduced, _), _)| *is_reduced == kind);
            Grid::new(all.map(|(&(_, size), &stride)| (size, stride)))
        };
        let [results, elements] = [false, true].map(|kind| grid(&merged, kind));
        merged.pop();
        let [kept, reduced] = [false, true].map(|kind| grid(&merged, kind));
        Some(Self { is_row, inner: to_usize(inner), kept, reduced, results, elements })
    }
    /// Returns the distances of the results' first elements, those of the elements of each, and the
    /// number of results that are neighbors.
    pub(super) fn grids(self) -> (Grid, Grid, usize) {
        (self.results, self.elements, if self.is_row { 1 } else { self.inner })
    }
    /// Returns the size of the runs of neighbors of which each is one result, if the array consists
    /// of them.
    pub(super) fn runs(&self) -> Option<usize> {
        (self.is_row && self.reduced.count() == 1).then_some(self.inner)
    }
    /// Returns the numbers of the elements of each result.
    pub(super) fn lists(&self) -> impl Iterator<Item = impl Iterator<Item = usize>> {
        self.results.offsets().map(|first| self.elements.offsets().map(move |at| first + at))
    }
    /// Returns how many results there are, and how many elements each has.
    pub(super) fn counts(&self) -> (usize, usize) {
        (self.results.count(), self.elements.count())
    }
    /// Returns whether neighbors are one element of each of some results, and those behind them are
    /// the next ones, in many lines.
    fn is_narrow(&self) -> bool {
        let elements = &self.elements;
        let are_neighbors = elements.rank() == 1 && elements.offset(1) == self.inner;
        !self.is_row && are_neighbors && elements.count().saturating_mul(self.inner) >= NARROW
    }
    /// Returns the bytes that a reduction works in.
    pub(super) fn scratch(&self) -> usize {
        let column = ColumnSums::bytes(1) + 2 * size_of::<u128>();
        let runs = if self.is_row { self.reduced.count() * self.inner.div_ceil(RUN) } else { 0 };
        let long = if self.is_row { (self.inner / PART + 1) * size_of::<u128>() } else { 0 };
        threads() * (STRIP * column + LaneTile::BYTES) + runs * size_of::<LongSum>() + long
    }
}

impl Method {
    /// Returns the type of a result.
    fn ty(&self) -> ElementType {
        match self {
            Self::Sum(SumMethod { to: ty, .. }) | Self::Op { ty, .. } => *ty,
        }
    }
    /// Returns the bytes of a result.
    pub(super) fn width(&self) -> usize {
        self.ty().storage_bytes()
    }
    /// Returns the elements of the longest rows that are computed beside one another.
    pub(super) fn short(&self) -> usize {
        match self {
            Self::Sum(_) => SHORT_SUM,
            Self::Op { .. } => SHORT,
        }
    }
    /// Returns whether rows of so many elements that follow one another are folded where they are.
    pub(super) fn folds_rows(&self, inner: usize) -> bool {
        match self {
            Self::Sum(method) => method.loops.rows.is_some() && inner <= LONGEST_SUM,
            Self::Op { rows, .. } => rows.is_some(),
        }
    }
    /// Returns the bytes that a fold of runs works in.
    pub(super) fn scratch(&self) -> usize {
        match self {
            Self::Sum(_) => ColumnSums::bytes(LANES) + LaneTile::BYTES,
            Self::Op { ty, .. } => 2 * STRIP * ty.storage_bytes() + LaneTile::BYTES,
        }
    }
    /// Returns how to fold elements of type `from`, of which all are elements of the type that this
    /// method folds; `None` if that takes a conversion.
    pub fn of_elements(&self, from: ElementType) -> Option<Arc<Self>> {
        match self {
            Self::Sum(SumMethod { loops, to, .. }) => {
                SumMethod::of(from, *to, loops.arithmetic).map(|method| Arc::new(Self::Sum(method)))
            }
            Self::Op { .. } => None,
        }
    }
    /// Returns how to fold elements of type `from` by a computation; `None` if neither way fits.
    pub(super) fn of(
        applied: &ScalarProgram,
        (from, stored): (ElementType, ElementType),
        lines: &ReducedLines,
        arithmetic: Arithmetic,
    ) -> Option<Self> {
        let to = *applied.results().first().filter(|&&to| to == stored)?;
        if from.is_float() && applied.as_binary() == Some(Binary::Add) {
            return SumMethod::of(from, to, arithmetic).map(Self::Sum);
        }
        let (op, ty) = applied.as_binary_in_order()?;
        let is_orderless = applied.is_associative(arithmetic);
        let fits = ty == from && ty == to && (!lines.is_row || is_orderless);
        let function = binary_loop(op, ty, Arithmetic::Exact).filter(|_| fits)?;
        let rows = if is_orderless { rows_loop(op, ty) } else { None };
        Some(Self::Op { function, ty, is_orderless, rows })
    }
}

/// A reduction of one array.
pub(super) struct Reduction<'a> {
    pub(super) lines: &'a ReducedLines,
    pub(super) method: &'a Method,
    /// The elements, and the bytes of one.
    pub(super) from: &'a [u8],
    pub(super) width: usize,
    /// The initial value.
    pub(super) first: Scalar,
}

impl Reduction<'_> {
    /// Computes the results, of which each takes `width` bytes in `to`.
    pub(super) fn run(&self, to: &mut [u8]) {
        let ReducedLines { is_row, inner, kept, reduced, results, elements } = self.lines;
        let width = self.method.width();
        let stop = Stop::current();
        let run = if *is_row { 1 } else { *inner };
        let fold = |count| RowFold::new(self.method, self.first, count);
        if let Some(inner) = self.lines.runs()
            && self.method.folds_rows(inner)
        {
            if let Method::Op { rows: Some(rows), .. } = self.method
                && inner / PART >= threads()
                && results.count() < threads()
            {
                return self.long_rows(rows, inner, to);
            }
            let at_once = (FOLDED / inner).max(1);
            let new = || RowFold::of_rows(self.method, self.first, inner);
            parts_with(to, (at_once * width, 1), new, |fold, part, to| {
                let count = to.len() / width;
                fold.rows(self.elements(part * at_once * inner, count * inner), inner, to);
            });
            return;
        }
        let near = kept.last().unwrap_or(1);
        if *is_row && self.method.folds_rows(*inner) && near * inner >= NEIGHBORS {
            return self.short_rows(near, to);
        }
        if *is_row && (*inner > self.method.short() || results.count() < FEW) {
            let at_once = (FOLDED / elements.count()).max(1);
            let rows = |fold: &mut RowFold<'_>, part: usize, to: &mut [u8]| {
                let slots = to.chunks_exact_mut(width).enumerate();
                for (i, slot) in slots.take_while(|_| !stop.is_set()) {
                    let base = kept.offset(part * at_once + i);
                    let rows = reduced.offsets().map(|row| self.elements(base + row, *inner));
                    match self.method {
                        Method::Sum(method) => self
                            .row_sum(method, base)
                            .correctly_rounded(method.loops, self.first, rows, method.to)
                            .write(method.to, slot),
                        Method::Op { .. } => fold.row(rows, slot),
                    }
                }
            };
            let fold = || fold(STRIP.min(*inner));
            match results.count() <= at_once {
                true => rows(&mut fold(), 0, to),
                false => parts_with(to, (at_once * width, 1), fold, rows),
            }
        } else if run >= NEIGHBORS || run == results.count() || self.lines.is_narrow() {
            parts(to, (run * width, 1), |row, to| {
                let base = kept.offset(row);
                parts_with(
                    to,
                    (STRIP * width, 1),
                    || fold(STRIP.min(run.max(LANES.min(run * elements.count())))),
                    |fold, strip, to| {
                        let starts = Starts::Run(base + strip * STRIP, to.len() / width);
                        fold.columns(self.from, &starts, elements, to);
                    },
                );
            });
        } else {
            let (least, lanes) = (FOLDED / elements.count() / LANES, LANES / run * run);
            parts_with(
                to,
                (lanes * width, least),
                || fold(lanes),
                |fold, group, to| {
                    let all = (group * lanes..group * lanes + to.len() / width).step_by(run);
                    let firsts = all.map(|result| results.offset(result));
                    let starts = match run * self.width >= SHORTEST_RUN {
                        true => Starts::Runs(firsts.collect(), run),
                        false => Starts::List(firsts.flat_map(|at| at..at + run).collect()),
                    };
                    fold.columns(self.from, &starts, elements, to);
                },
            );
        }
    }

    /// Folds rows in several lines; those of `near` results follow one another.
    fn short_rows(&self, near: usize, to: &mut [u8]) {
        let ReducedLines { inner, kept, reduced, elements, .. } = self.lines;
        let (width, at_once) = (self.method.width(), (FOLDED / elements.count()).max(1));
        let new = || RowFold::new(self.method, self.first, LANES.min(near));
        parts_with(to, (at_once * width, 1), new, |fold, part, mut to| {
            let mut at = part * at_once;
            while !to.is_empty() {
                let count = LANES.min(near - at % near).min(to.len() / width);
                let (now, rest) = to.split_at_mut(count * width);
                fold.lines(self.from, kept.offset(at), *inner, (reduced, elements), now);
                (at, to) = (at + count, rest);
            }
        });
    }

    /// Folds few long rows, of which several threads fold parts.
    fn long_rows(&self, rows: &Arc<RowsFn>, inner: usize, to: &mut [u8]) {
        let width = self.width;
        let mut first = [0_u128];
        let first = &mut bytemuck::cast_slice_mut(&mut first)[..width];
        self.first.write(self.method.ty(), first);
        let count = inner / PART;
        let mut all = vec![0_u128; ((count + 1) * width).div_ceil(size_of::<u128>())];
        let all: &mut [u8] = bytemuck::cast_slice_mut(&mut all);
        for (row, slot) in to.chunks_exact_mut(width).enumerate() {
            let row = row * inner;
            let (results, last) = all[..(count + 1) * width].split_at_mut(count * width);
            parts(results, (width, 1), |part, to| {
                rows(self.elements(row + part * PART, PART), PART, None, to);
            });
            let rest = inner - count * PART;
            if rest > 0 {
                rows(self.elements(row + count * PART, rest), rest, None, last);
            }
            let used = (count + usize::from(rest > 0)) * width;
            rows(&all[..used], used / width, Some(first), slot);
        }
    }

    fn elements(&self, at: usize, count: usize) -> &[u8] {
        &self.from[at * self.width..(at + count) * self.width]
    }

    /// Sums the elements of one result. Long rows are summed by several threads, in the same parts
    /// on any number of them.
    fn row_sum(&self, method: &SumMethod, base: usize) -> Partial {
        let ReducedLines { inner, reduced, elements, .. } = self.lines;
        let loops = method.loops;
        let runs = inner.div_ceil(RUN);
        let run = |number: usize| {
            let (row, run) = (number / runs, number % runs * RUN);
            let count = RUN.min(inner - run);
            (loops.row)(self.elements(base + reduced.offset(row) + run, count))
        };
        let mut partial = Partial::new(self.first.as_f64(), loops, elements.count());
        let count = reduced.count() * runs;
        if count * RUN.min(*inner) <= 16 * FOLDED {
            (0..count).for_each(|number| partial.add(run(number)));
        } else {
            let stop = Stop::current();
            let nothing = LongSum { sum: 0.0, lost: 0.0, magnitude: 0.0 };
            let run = |number| if stop.is_set() { nothing } else { run(number) };
            let parts: Vec<LongSum> = (0..count).into_par_iter().with_min_len(8).map(run).collect();
            for part in parts {
                partial.add(part);
            }
        }
        partial
    }
}
