//! Reductions over runs of neighbors: of the elements of one result, or of one element of each of
//! several results.
//!
//! Sums of floats are formed in f64, with a bound on their error; where the bound leaves the
//! rounding open the exact sum is formed. Other ops are applied to many elements at once: along
//! columns in the order of the elements, along rows in any order, which only ops get whose result
//! does not depend on it.
use super::fold_tiles::Tiles;
use super::partial_sum::{Partial, exact_sum};
use crate::cost_model::FOLDED;
use hlo::op::Binary;
use hlo::{Dims, ElementType, Scalar};
use num::Arithmetic;
use num::clock::Stop;
use num::index::{Grid, strides, to_usize};
use num::loops::{AT_ONCE, SumLoops, VectorLoop, binary_loop};
use num::parallel::{parts, parts_with, threads};
use num::scalar_program::ScalarProgram;
use rayon::prelude::*;
use smallvec::SmallVec;
use std::sync::Arc;

/// Elements that are summed before a sum is added to one that keeps its rounding errors.
pub(super) const RUN: usize = 4096;
/// Rows that are added in f64 before the sums are added to ones that keep their rounding errors.
const ROWS: usize = 256;
/// Columns that are computed together.
pub(super) const STRIP: usize = 512;

/// The method by which elements are folded.
pub enum Method {
    /// By adding floats; the sum is rounded to the type.
    Sum(SumLoops, ElementType),
    /// By an op on elements of this type, applied to arrays of them.
    Op(VectorLoop, ElementType),
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
    /// it has one element or none.
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
        let &(is_row, inner) = merged.last()?;
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
    /// Returns the bytes that a reduction works in.
    pub(super) fn scratch(&self) -> usize {
        let column = size_of::<Partial>() + 2 * size_of::<f64>() + 2 * size_of::<u128>();
        let runs = if self.is_row { self.reduced.count() * self.inner.div_ceil(RUN) } else { 0 };
        threads() * STRIP * column + runs * size_of::<(f64, f64)>()
    }
}

impl Method {
    /// Returns the bytes of a result.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Sum(_, ty) | Self::Op(_, ty) => ty.storage_bytes(),
        }
    }
    /// Returns the bytes that a fold of runs works in.
    pub(super) fn scratch(&self) -> usize {
        match self {
            Self::Sum(..) => 0,
            Self::Op(_, ty) => 2 * STRIP * ty.storage_bytes(),
        }
    }
    /// Returns how to fold elements of type `from`, of which all are elements of the type that this
    /// method folds; `None` if that takes a conversion.
    pub fn of_elements(&self, from: ElementType) -> Option<Arc<Self>> {
        match self {
            Self::Sum(loops, to) => {
                SumLoops::of(from, loops.arithmetic).map(|loops| Arc::new(Self::Sum(loops, *to)))
            }
            Self::Op(..) => None,
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
        // Sums of complex numbers are exact, too.
        if (from.is_float() || from.is_complex()) && applied.as_binary() == Some(Binary::Add) {
            return SumLoops::of(from, arithmetic)
                .filter(|_| to.bits() <= 32)
                .map(|loops| Self::Sum(loops, to));
        }
        let (op, ty) = applied.as_binary_in_order()?;
        let is_orderless = applied.is_associative(arithmetic);
        let fits = ty == from && ty == to && (!lines.is_row || is_orderless);
        binary_loop(op, ty).filter(|_| fits).map(|function| Self::Op(function, ty))
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
        match self.method {
            Method::Sum(loops, ty) => self.sums(*loops, *ty, to),
            Method::Op(function, ty) => self.folds(function, *ty, to),
        }
    }

    fn elements(&self, at: usize, count: usize) -> &[u8] {
        &self.from[at * self.width..(at + count) * self.width]
    }
    /// Calls `each` for the results that neighbor one another, in parallel, with the offset of the
    /// first element and the memory of the results: for rows one result, for columns those of a
    /// strip. A thread makes one `state` for all its calls.
    fn each<S>(
        &self,
        width: usize,
        to: &mut [u8],
        state: impl Fn() -> S + Sync + Send,
        each: impl Fn(&mut S, usize, &mut [u8]) + Sync,
    ) {
        let ReducedLines { is_row, inner, kept, reduced, .. } = self.lines;
        let stop = Stop::current();
        if *is_row {
            let at_once = (FOLDED / (reduced.count() * inner).max(1)).max(1);
            return parts_with(to, (at_once * width, 1), &state, |state, part, to| {
                let slots = to.chunks_exact_mut(width).enumerate();
                for (i, slot) in slots.take_while(|_| !stop.is_set()) {
                    each(state, kept.offset(part * at_once + i), slot);
                }
            });
        }
        parts(to, (inner * width, 1), |row, to| {
            let base = kept.offset(row);
            parts_with(to, (STRIP * width, 1), &state, |state, strip, to| {
                each(state, base + strip * STRIP, to);
            });
        });
    }

    fn sums(&self, loops: SumLoops, ty: ElementType, to: &mut [u8]) {
        let width = ty.storage_bytes();
        let ReducedLines { is_row, inner, reduced, .. } = self.lines;
        self.each(
            width,
            to,
            || (),
            |(), base, to| match is_row {
                true => {
                    let rows = reduced.offsets().map(|row| self.elements(base + row, *inner));
                    self.row_sum(loops, base)
                        .correctly_rounded(loops, self.first, rows, ty)
                        .write(ty, to);
                }
                false => self.column_sums(loops, ty, base, to),
            },
        );
    }

    /// Sums the elements of one result. Long rows are summed by several threads, in the same parts
    /// on any number of them.
    fn row_sum(&self, loops: SumLoops, base: usize) -> Partial {
        let ReducedLines { inner, reduced, .. } = self.lines;
        let runs = inner.div_ceil(RUN);
        let run = |number: usize| {
            let (row, run) = (number / runs, number % runs * RUN);
            let count = RUN.min(inner - run);
            (loops.row)(self.elements(base + reduced.offset(row) + run, count))
        };
        let mut partial = Partial::new(self.first.as_f64());
        let count = reduced.count() * runs;
        if count * RUN.min(*inner) <= 16 * FOLDED {
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

    /// Sums columns from `base` on, as many as `to` has elements.
    fn column_sums(&self, loops: SumLoops, ty: ElementType, base: usize, to: &mut [u8]) {
        let (width, reduced) = (ty.storage_bytes(), &self.lines.reduced);
        let count = to.len() / width;
        let row = |row| self.elements(base + reduced.offset(row), count);
        let stop = Stop::current();
        let mut partials = vec![Partial::new(self.first.as_f64()); count];
        let (mut sums, mut magnitudes) = (vec![-0.0; count], vec![0.0; count]);
        for rows in (0..reduced.count()).step_by(ROWS).take_while(|_| !stop.is_set()) {
            sums.fill(-0.0);
            magnitudes.fill(0.0);
            let end = (rows + ROWS).min(reduced.count());
            for first in (rows..end).step_by(AT_ONCE) {
                let rows: SmallVec<[&[u8]; AT_ONCE]> =
                    (first..(first + AT_ONCE).min(end)).map(row).collect();
                (loops.columns)(&rows, &mut sums, &mut magnitudes);
            }
            let parts = sums.iter().copied().zip(magnitudes.iter().copied());
            partials.iter_mut().zip(parts).for_each(|(partial, part)| partial.add(part));
        }
        let mut is_open = false;
        for (partial, slot) in partials.iter().zip(to.chunks_exact_mut(width)) {
            match partial.rounded(ty) {
                Some(sum) => sum.write(ty, slot),
                None => is_open = true,
            }
        }
        if is_open && !stop.is_set() {
            self.round_open_sums(loops, ty, base, &partials, to);
        }
    }

    /// Computes the sums of columns whose rounding the bound of the error leaves open.
    fn round_open_sums(
        &self,
        loops: SumLoops,
        ty: ElementType,
        base: usize,
        partials: &[Partial],
        to: &mut [u8],
    ) {
        let reduced = &self.lines.reduced;
        let coarse: Vec<f64> = partials.iter().map(Partial::coarse).collect();
        let mut found = vec![0; partials.len()];
        for row in reduced.offsets() {
            (loops.no_multiples)(self.elements(base + row, partials.len()), &coarse, &mut found);
        }
        let slots = to.chunks_exact_mut(ty.storage_bytes());
        for (column, (partial, slot)) in partials.iter().zip(slots).enumerate() {
            if partial.rounded(ty).is_none() {
                let elements =
                    || reduced.offsets().map(|row| self.elements(base + row + column, 1));
                let sum = match found[column] {
                    0 => partial.exact(self.first),
                    _ => None,
                };
                sum.unwrap_or_else(|| exact_sum(loops, self.first, elements(), ty)).write(ty, slot);
            }
        }
    }

    fn folds(&self, function: &VectorLoop, ty: ElementType, to: &mut [u8]) {
        let ReducedLines { is_row, inner, reduced, .. } = self.lines;
        let rows = |base| reduced.offsets().map(move |row| base + row);
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
