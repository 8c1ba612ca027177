//! Folds over windows that grow, by any computation: those of all lines go on beside one another.
//!
//! Where windows grow at their start, the computation must be an op whose operands may be in any
//! order. Where few lines are long, and the computation is associative, parts of a line are lines:
//! first they are folded, then each goes on from the fold of the ones before it.
use super::Kernel;
use super::cumulative::GrowingWindows;
use super::fold::first_value;
use super::lanes::{DEPTH, LANES, LaneTile, RUN, Starts, rows, store};
use super::program_fold::Accumulators;
use super::reduce::have_types;
use super::window_steps::steps;
use crate::cost_model::FOLDED;
use crate::function::writes_in;
use hlo::op::{Binary, ReduceWindow};
use hlo::{ArrayShape, ElementType, Scalar};
use num::Arithmetic;
use num::clock::Stop;
use num::index::{Grid, to_i64};
use num::parallel::{parts_with, threads};
use num::scalar_program::{BlockProgram, ScalarProgram};
use std::ops::Range;

/// Lines that are as many as are worth computing beside one another.
const ENOUGH: usize = 32;
/// Elements of the shortest parts of a line.
const SHORTEST: usize = 4 * DEPTH;

struct RunningFold {
    lines: GrowingWindows,
    program: BlockProgram,
    ty: [ElementType; 1],
    is_associative: bool,
}

/// Returns the kernel of a reduction over windows that grow, if it is computed in blocks.
pub(super) fn kernel(
    op: &ReduceWindow,
    operands: &[&ArrayShape],
    result: &ArrayShape,
    applied: &ScalarProgram,
    arithmetic: Arithmetic,
) -> Option<Box<dyn Kernel>> {
    let &[from, _] = operands else { return None };
    let ty = [result.ty];
    let is_sum = from.ty.is_float() && applied.as_binary() == Some(Binary::Add);
    let lines = GrowingWindows::of(op, from, result)?;
    let is_associative = applied.is_associative(arithmetic);
    let is_orderless = is_associative && applied.as_binary().is_some();
    let is_ordered = !lines.is_backward || is_orderless;
    if is_sum || !is_ordered || !have_types(applied, &[from], &ty) || result.dims.contains(&0) {
        return None;
    }
    let program = applied.results_in_blocks(arithmetic)?;
    let fold = RunningFold { lines, program, ty, is_associative };
    let (window, shapes) = (op.window.clone(), (from.clone(), result.clone()));
    // The accumulators of a thread, and lists of lines and of folds of parts.
    let lists = LANES * (2 * size_of::<usize>() + 2 * size_of::<u128>());
    let each = Accumulators::bytes(&fold.program, &fold.ty, LANES) + LaneTile::BYTES + lists;
    Some(writes_in(arithmetic, threads() * each, move |scope, inputs, outputs| {
        scope.spend(steps(&window, &shapes.0, &shapes.1))?;
        let first = first_value((&inputs[1], &fold.ty[0]));
        fold.run(inputs[0].bytes(), first, outputs[0].bytes_mut());
        Ok(())
    }))
}

impl RunningFold {
    fn run(&self, from: &[u8], first: Scalar, to: &mut [u8]) {
        let GrowingWindows { size, windows, inner, .. } = self.lines;
        let width = self.ty[0].storage_bytes();
        let together = if inner >= RUN { 1 } else { LANES / inner };
        let [from_line, to_line] = [size, windows].map(|count| count * inner * width);
        let state = || {
            let accumulators = Accumulators::new(&self.program, &self.ty, LANES);
            (accumulators, LaneTile::default())
        };
        let least = FOLDED / (size * inner * together);
        parts_with(to, (to_line * together, least), state, |(accumulators, tile), number, to| {
            let from = &from[number * together * from_line..];
            let count = to.len() / to_line;
            for columns in (0..inner).step_by(LANES) {
                let columns = columns..inner.min(columns + LANES);
                let starts = |line: usize| match inner >= RUN {
                    true => Starts::Run(columns.start, columns.len()),
                    false => Starts::List(
                        (0..count)
                            .flat_map(|i| columns.clone().map(move |c| i * line + c))
                            .collect(),
                    ),
                };
                let strip = Strip {
                    of: self,
                    from,
                    starts: starts(size * inner),
                    results: starts(windows * inner),
                };
                strip.run(first, accumulators, tile, to);
            }
        });
    }
}

/// Lines beside one another.
struct Strip<'a> {
    of: &'a RunningFold,
    from: &'a [u8],
    starts: Starts,
    results: Starts,
}

impl Strip<'_> {
    fn run(
        &self,
        first: Scalar,
        accumulators: &mut Accumulators<'_>,
        tile: &mut LaneTile,
        to: &mut [u8],
    ) {
        let GrowingWindows { size, windows, lead, head, .. } = self.of.lines;
        let count = self.starts.len();
        accumulators.fill(&[first], count);
        for window in 0..lead {
            self.write(window, accumulators, to);
        }
        let parts = (LANES / count).min(size.min(windows) / SHORTEST);
        let mut done = 0;
        if count < ENOUGH && parts > 1 && self.of.is_associative && (lead, head) == (0, 0) {
            // An odd number of lines of the cache: parts that are a power of two apart would not
            // stay there.
            let lines = (size.min(windows) / parts / DEPTH).max(1);
            let length = ((lines - 1) | 1) * DEPTH;
            done = self.run_parts((parts, length), accumulators, tile, to);
        }
        self.scan(&self.starts, 0..head, size, accumulators, tile, |_, _| ());
        let grown = (size - head).min(windows - lead);
        let elements = head + done..head + grown;
        self.scan(&self.starts, elements, size, accumulators, tile, |i, accumulators| {
            self.write(lead + i - head, accumulators, to);
        });
        for window in lead + grown..windows {
            self.write(window, accumulators, to);
        }
    }

    /// Computes the first windows in parts of `length` elements; returns how many those are.
    fn run_parts(
        &self,
        (parts, length): (usize, usize),
        accumulators: &mut Accumulators<'_>,
        tile: &mut LaneTile,
        to: &mut [u8],
    ) -> usize {
        let GrowingWindows { size, windows, inner, is_backward, .. } = self.of.lines;
        let (count, width) = (self.starts.len(), self.of.ty[0].storage_bytes());
        // The parts in the order in which windows grow, and in each part all lines.
        let list = |of: &Starts, size: usize| {
            let first = |part| if is_backward { size - (part + 1) * length } else { part * length };
            let lanes = (0..parts).flat_map(|part| (0..count).map(move |lane| (part, lane)));
            Starts::List(lanes.map(|(part, lane)| of.get(lane) + first(part) * inner).collect())
        };
        let (starts, results) = (list(&self.starts, size), list(&self.results, windows));
        let before = accumulators.get(0, count).to_vec();
        {
            let steps = self.steps(length);
            let first = if is_backward { length - 1 } else { 0 };
            let rows = rows(self.from, width, &starts, (&steps, first..first + 1), tile);
            accumulators.set(0, rows.row(0));
        }
        self.scan(&starts, 1..length, length, accumulators, tile, |_, _| ());
        let mut folds = accumulators.get(0, parts * count).to_vec();
        accumulators.set(0, &before);
        for part in folds.chunks_exact_mut(count * width) {
            let before = accumulators.get(0, count).to_vec();
            accumulators.fold(count, |_| part);
            part.copy_from_slice(&before);
        }
        let all = accumulators.get(0, count).to_vec();
        accumulators.set(0, &folds);
        self.scan(&starts, 0..length, length, accumulators, tile, |i, accumulators| {
            let at = if is_backward { length - 1 - i } else { i };
            let values = accumulators.get(0, parts * count);
            store(values, width, &results, at * inner, to);
        });
        accumulators.set(0, &all);
        parts * length
    }

    fn steps(&self, length: usize) -> Grid {
        Grid::new(std::iter::once((to_i64(length), to_i64(self.of.lines.inner))))
    }
    /// Folds elements of lines of `length`, whose numbers are in the order in which windows grow,
    /// into the accumulators; calls `each` with the number after each.
    fn scan(
        &self,
        starts: &Starts,
        elements: Range<usize>,
        length: usize,
        accumulators: &mut Accumulators<'_>,
        tile: &mut LaneTile,
        mut each: impl FnMut(usize, &Accumulators<'_>),
    ) {
        let (stop, steps) = (Stop::current(), self.steps(length));
        let (width, is_backward) = (self.of.ty[0].storage_bytes(), self.of.lines.is_backward);
        let end = elements.end;
        for first in elements.step_by(DEPTH).take_while(|_| !stop.is_set()) {
            let range = first..end.min(first + DEPTH);
            let count = range.len();
            let places = if is_backward { length - range.end..length - range.start } else { range };
            let rows = rows(self.from, width, starts, (&steps, places), tile);
            for i in 0..count {
                let row = if is_backward { count - 1 - i } else { i };
                accumulators.fold(starts.len(), |_| rows.row(row));
                each(first + i, accumulators);
            }
        }
    }
    /// Writes the accumulators as the values of a window, which are in the order in which they
    /// grow.
    fn write(&self, window: usize, accumulators: &Accumulators<'_>, to: &mut [u8]) {
        let GrowingWindows { windows, inner, is_backward, .. } = self.of.lines;
        let at = if is_backward { windows - 1 - window } else { window };
        let values = accumulators.get(0, self.results.len());
        store(values, self.of.ty[0].storage_bytes(), &self.results, at * inner, to);
    }
}
