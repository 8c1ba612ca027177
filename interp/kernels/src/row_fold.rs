//! Folds of rows one after another, and of lines beside one another, by sums in f64 or by loops
//! over many elements at once.
use super::fold_tiles::Tiles;
use super::lanes::{DEPTH, LANES, LaneTile, Starts, rows};
use super::partial_sum::{ColumnSums, FEW, Partial, SumMethod, exact_sum};
use super::reduce_lines::{Method, NARROW, RUN, STRIP};
use hlo::{ElementType, Scalar};
use num::Arithmetic;
use num::clock::Stop;
use num::index::{Grid, to_i64};
use num::loops::{AT_ONCE, SHORT_ROW};
use smallvec::SmallVec;

/// Folds of lines, from the same first value.
pub(super) struct RowFold<'a> {
    method: &'a Method,
    first: Scalar,
    tiles: Tiles,
    sums: ColumnSums,
    lanes: LaneTile,
}

impl<'a> RowFold<'a> {
    /// Returns a fold of up to `count` lines beside one another, or of a row of which as many
    /// elements are folded at once.
    pub(super) fn new(method: &'a Method, first: Scalar, count: usize) -> Self {
        let tiles = match method {
            Method::Sum(_) => Tiles::new(0, ElementType::U8, Scalar::zero(ElementType::U8)),
            Method::Op { ty, .. } => Tiles::new(count, *ty, first),
        };
        Self { method, first, tiles, sums: ColumnSums::default(), lanes: LaneTile::default() }
    }
    /// Returns a fold of rows of this many elements.
    pub(super) fn of_rows(method: &'a Method, first: Scalar, inner: usize) -> Self {
        let count = match (method.folds_rows(inner), inner <= method.short()) {
            (true, _) => 0,
            (false, true) => LANES,
            (false, false) => STRIP.min(inner),
        };
        Self::new(method, first, count)
    }
    /// Folds each of the rows of `inner` elements, into the results in `to`.
    pub(super) fn rows(&mut self, elements: &[u8], inner: usize, to: &mut [u8]) {
        let width = self.method.width();
        if self.method.folds_rows(inner) {
            return self.rows_in_place(elements, inner, to);
        }
        if inner > self.method.short() {
            let rows = elements.chunks_exact(elements.len() / (to.len() / width));
            for (row, slot) in rows.zip(to.chunks_exact_mut(width)) {
                match self.method {
                    Method::Sum(method) => {
                        let mut partial = Partial::new(self.first.as_f64(), method.loops, inner);
                        let parts = row.chunks(RUN * method.loops.width);
                        parts.for_each(|part| partial.add((method.loops.row)(part)));
                        let runs = std::iter::once(row);
                        partial
                            .correctly_rounded(method.loops, self.first, runs, method.to)
                            .write(method.to, slot);
                    }
                    Method::Op { .. } => self.row(std::iter::once(row), slot),
                }
            }
            return;
        }
        let steps = Grid::new(std::iter::once((to_i64(inner), 1)));
        for (group, to) in to.chunks_mut(LANES * width).enumerate() {
            let all = group * LANES..group * LANES + to.len() / width;
            let starts = Starts::List(all.map(|row| row * inner).collect());
            self.columns(elements, &starts, &steps, to);
        }
    }
    /// Folds rows of a type that has a loop for them.
    fn rows_in_place(&mut self, elements: &[u8], inner: usize, to: &mut [u8]) {
        let method = match self.method {
            Method::Sum(method) => method,
            Method::Op { rows, .. } => {
                let first = self.tiles.first();
                return rows.iter().for_each(|rows| rows(elements, inner, Some(first), to));
            }
        };
        let (steps, row) =
            (Grid::new(std::iter::once((to_i64(inner), 1))), inner * method.loops.width);
        let groups =
            elements.chunks(LANES * row).zip(to.chunks_mut(LANES * method.to.storage_bytes()));
        for (elements, to) in groups {
            self.lines(elements, 0, inner, (&Grid::new(std::iter::empty()), &steps), to);
        }
    }
    /// Folds rows of `inner` elements of a type that has a loop for them: rows that follow one another
    /// from `first` on, one for each result in `to`, in each of the lines at these distances. The
    /// distances of all elements of a result are `steps`.
    pub(super) fn lines(
        &mut self,
        from: &[u8],
        first: usize,
        inner: usize,
        (lines, steps): (&Grid, &Grid),
        to: &mut [u8],
    ) {
        let (stop, count) = (Stop::current(), to.len() / self.method.width());
        let line = |width: usize, at| &from[(first + at) * width..][..count * inner * width];
        let offsets = lines.offsets().take_while(|_| !stop.is_set());
        match self.method {
            Method::Sum(method) => {
                let loops = method.loops;
                match steps.count() <= FEW && inner <= SHORT_ROW {
                    true => self.sums.restart_few(self.first, count, loops),
                    false => self.sums.restart(self.first, count),
                }
                offsets.for_each(|at| self.sums.add_rows(loops, line(loops.width, at), inner));
                let open = |open: &[(usize, Partial)]| {
                    let starts = (0..count).map(|row| first + row * inner).collect();
                    open_sums(method, self.first, (from, &Starts::List(starts), steps), open)
                };
                self.sums.finish(method, steps.count(), to, open);
            }
            Method::Op { function, rows: Some(rows), .. } => {
                let width = self.method.width();
                self.tiles.restart();
                for at in offsets {
                    let part = self.lanes.bytes(to.len());
                    rows(line(width, at), inner, None, part);
                    self.tiles.fold(function, part);
                }
                to.copy_from_slice(&self.tiles.bytes()[..to.len()]);
            }
            Method::Op { rows: None, .. } => {}
        }
    }
    /// Folds the elements of one result into `to`, by an op in any order.
    pub(super) fn row<'e>(&mut self, rows: impl Iterator<Item = &'e [u8]>, to: &mut [u8]) {
        if let Method::Op { function, ty, .. } = self.method {
            let parts = rows.flat_map(|row| row.chunks(STRIP * ty.storage_bytes()));
            self.tiles.fold_lines(function, parts, to);
        }
    }
    /// Folds the elements of lines beside one another into `to`.
    pub(super) fn columns(&mut self, from: &[u8], starts: &Starts, steps: &Grid, to: &mut [u8]) {
        let stop = Stop::current();
        if let Some(rows) = self.rows_as_one(starts, steps) {
            return self.narrow_columns(from, (starts, steps), rows, to);
        }
        let width = match self.method {
            Method::Sum(method) => {
                match steps.count() <= FEW {
                    true => self.sums.restart_few(self.first, starts.len(), method.loops),
                    false => self.sums.restart(self.first, starts.len()),
                }
                method.loops.width
            }
            Method::Op { ty, .. } => {
                self.tiles.restart();
                ty.storage_bytes()
            }
        };
        for first in (0..steps.count()).step_by(DEPTH).take_while(|_| !stop.is_set()) {
            let range = first..steps.count().min(first + DEPTH);
            let count = range.len();
            let rows = rows(from, width, starts, (steps, range), &mut self.lanes);
            match self.method {
                Method::Sum(method) => {
                    for first in (0..count).step_by(AT_ONCE) {
                        let range = first..count.min(first + AT_ONCE);
                        let rows: SmallVec<[&[u8]; AT_ONCE]> = range.map(|i| rows.row(i)).collect();
                        self.sums.add(method.loops, &rows, 0);
                    }
                }
                Method::Op { function, .. } => {
                    (0..count).for_each(|i| self.tiles.fold(function, rows.row(i)));
                }
            }
        }
        match self.method {
            Method::Sum(method) => {
                let open = |open: &[(usize, Partial)]| match stop.is_set() {
                    true => Vec::new(),
                    false => open_sums(method, self.first, (from, starts, steps), open),
                };
                self.sums.finish(method, steps.count(), to, open);
            }
            Method::Op { .. } => to.copy_from_slice(&self.tiles.bytes()[..to.len()]),
        }
    }
    /// Returns the number of rows that are folded as one, if they are short and lie one after the
    /// other, in any order.
    fn rows_as_one(&self, starts: &Starts, steps: &Grid) -> Option<usize> {
        let Starts::Run(_, run) = starts else { return None };
        let are_neighbors = steps.rank() == 1 && steps.offset(1) == *run;
        let rows = (LANES / run).min(steps.count() / 2);
        let is_long = steps.count().saturating_mul(*run) >= NARROW;
        let pays = match self.method {
            Method::Sum(method) => is_long || method.loops.arithmetic == Arithmetic::Fast,
            Method::Op { is_orderless, .. } => is_long && *is_orderless,
        };
        (pays && are_neighbors && rows > 1).then_some(rows)
    }
    /// Folds short rows that lie one after the other, so many as one, into a result of each column.
    fn narrow_columns(
        &mut self,
        from: &[u8],
        (starts, steps): (&Starts, &Grid),
        rows: usize,
        to: &mut [u8],
    ) {
        let (stop, run) = (Stop::current(), starts.len());
        let width = match self.method {
            Method::Sum(method) => method.loops.width,
            Method::Op { ty, .. } => ty.storage_bytes(),
        };
        let line = run * width;
        let elements = &from[starts.get(0) * width..][..steps.count() * line];
        let method = match self.method {
            Method::Sum(method) => method,
            Method::Op { function, .. } => {
                let parts = elements.chunks(rows * line).take_while(|_| !stop.is_set());
                return self.tiles.fold_lines(function, parts, to);
            }
        };
        let loops = method.loops;
        let (whole, rest) = elements.split_at(steps.count() / rows * rows * line);
        self.sums.restart(self.first, rows * run);
        self.sums.begin_after(run);
        for lines in whole.chunks(AT_ONCE * rows * line).take_while(|_| !stop.is_set()) {
            let lines: SmallVec<[&[u8]; AT_ONCE]> = lines.chunks(rows * line).collect();
            self.sums.add(loops, &lines, 0);
        }
        if !rest.is_empty() {
            self.sums.add(loops, &[rest], 0);
        }
        self.sums.join(loops, run);
        let open = |open: &[(usize, Partial)]| match stop.is_set() {
            true => Vec::new(),
            false => open_sums(method, self.first, (from, starts, steps), open),
        };
        self.sums.finish(method, steps.count(), to, open);
    }
}

/// Returns the sums of lines whose rounding the bound of the error leaves open.
fn open_sums(
    method: &SumMethod,
    first: Scalar,
    (from, starts, steps): (&[u8], &Starts, &Grid),
    open: &[(usize, Partial)],
) -> Vec<Scalar> {
    let loops = method.loops;
    let list: Vec<usize> = open.iter().map(|(i, _)| starts.get(*i)).collect();
    let coarse: Vec<f64> = open.iter().map(|(_, partial)| partial.coarse()).collect();
    let (mut found, mut tile) = (vec![0; open.len()], LaneTile::default());
    let starts = Starts::List(list.clone());
    for first in (0..steps.count()).step_by(DEPTH) {
        let range = first..steps.count().min(first + DEPTH);
        let count = range.len();
        let rows = rows(from, loops.width, &starts, (steps, range), &mut tile);
        (0..count).for_each(|i| (loops.no_multiples)(rows.row(i), &coarse, &mut found));
    }
    let sum = |(i, (_, partial)): (usize, &(usize, Partial))| {
        let element = |at: usize| &from[(list[i] + at) * loops.width..][..loops.width];
        let exact = if found[i] == 0 { partial.exact(first) } else { None };
        let elements = steps.offsets().map(element);
        exact.unwrap_or_else(|| exact_sum(loops, first, elements, method.to))
    };
    open.iter().enumerate().map(sum).collect()
}
