//! `reduce-window`: `acc = computation(acc, element)` over the window in row-major order
//!
//! Each place of the result has a window over the operand; its elements are folded into the initial
//! values in row-major order. Places of the window that lie in padding or in holes between the
//! operand's elements are skipped: nothing takes part there, and the initial value comes once.
//! (StableHLO fills them with the initial value, which is the same where it is an identity.) A
//! window wholly in padding gives the initial value.
use super::data_movement::affine_into;
use super::fold::{Fold, UNTIMED, element_type, in_lines, stored_bytes};
use super::sliding::Slide;
use super::window::{Reach, index_lists, walk};
use super::{cumulative, pooling, running_fold};
use crate::Kernel;
use crate::conversion::sums_of_bytes;
use crate::function::writes_with;
use crate::op::{ArrayOp, Cost, Site, needs_whole_operands};
use hlo::op::value::WindowDim;
use hlo::op::{Binary, ReduceWindow};
use hlo::{Array, ArrayShape, Dims, ElementType, IndexSpace};
use num::clock::Stop;
use num::index::{count, strides, to_usize};
use num::parallel::threads;
use num::scalar_program::{ScalarProgram, ScalarPrograms};
use num::{Arithmetic, Result, Scope};

/// The least size of windows that slide.
const SLIDES: i64 = 8;

/// The growth of the windows along one dimension.
#[derive(Clone, Copy, PartialEq)]
enum Growth {
    /// Each shares elements with the one before it, and the order of elements does not matter.
    Sliding,
    /// Each begins with the one before it.
    Forward,
    /// Each ends with the one after it.
    Backward,
    /// Anything else.
    None,
}

/// Returns the dimension along which windows grow, as in cumulative sums: each is then folded from
/// the one before.
fn growth(
    op: &ReduceWindow,
    from: &ArrayShape,
    result: &[i64],
    orderless: bool,
) -> (usize, Growth) {
    let last = result.len().saturating_sub(1);
    let largest = (0..result.len()).rev().max_by_key(|&d| op.window.dims[d].size);
    let slides = |dim: &WindowDim| dim.size >= SLIDES && dim.stride <= dim.size / 2;
    if let Some(d) = largest.filter(|&d| orderless && slides(&op.window.dims[d])) {
        return (d, Growth::Sliding);
    }
    let mut large = (0..result.len()).filter(|&d| op.window.dims[d].size > 1);
    let (Some(d), None) = (large.next(), large.next()) else { return (last, Growth::None) };
    let reach = |out: i64| Reach::of(&op.window.dims[d], out, from.dims[d]);
    let stop = Stop::current();
    let pair = |out: i64| (reach(out - 1), reach(out));
    // The last windows decide for most; the others are looked at as long as there is time.
    let all = || {
        let ends = [result[d] - 1, 1].into_iter().filter(|&out| out >= 1);
        ends.chain(1..result[d]).take_while(|_| !stop.is_set()).map(pair)
    };
    let begins = |(a, b): (Reach, Reach)| {
        a.count == 0 || (a.first == b.first && a.step == b.step && a.count <= b.count)
    };
    let ends = |(a, b): (Reach, Reach)| {
        b.count == 0 || (a.end() == b.end() && a.step == b.step && a.count >= b.count)
    };
    if all().all(begins) {
        (d, Growth::Forward)
    } else if orderless && all().all(ends) {
        (d, Growth::Backward)
    } else {
        (last, Growth::None)
    }
}

impl ArrayOp for ReduceWindow {
    fn kernel(&self, site: &Site<'_>, programs: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        kernel(self, site.operands, site.results, programs, site.arithmetic)
    }
    fn cost(&self, site: &Site<'_>) -> Cost {
        Cost { steps: 0, scratch: index_lists(&self.window, site.operands[0]) }
    }
    needs_whole_operands!();
}

fn kernel(
    op: &ReduceWindow,
    operands: &[&ArrayShape],
    results: &[&ArrayShape],
    programs: &ScalarPrograms,
    arithmetic: Arithmetic,
) -> Option<Box<dyn Kernel>> {
    let ReduceWindow { window: _, to_apply } = op; // The window is read by each kind of kernel.
    let applied = programs.get(*to_apply)?;
    let sums = sums_of_bytes(&applied, operands, |operands| {
        kernel(op, operands, results, programs, arithmetic)
    });
    if sums.is_some() {
        return sums;
    }
    let kernel = match results {
        [result] => cumulative::kernel(op, operands, result, &applied, arithmetic)
            .or_else(|| running_fold::kernel(op, operands, result, &applied, arithmetic)),
        _ => None,
    };
    if let Some(kernel) =
        kernel.or_else(|| pooling::kernel(op, operands, results, &applied, arithmetic))
    {
        return Some(kernel);
    }
    let (op, from, dims) = (op.clone(), operands[0].clone(), results[0].dims.clone());
    // Results whose lines do not lie in the last dimension are computed beside their places.
    let longest = dims.iter().copied().max().map_or(1, to_usize);
    let moved = results.iter().map(|result| result.byte_count().unwrap_or(usize::MAX));
    let moved = if dims.len() > 1 { moved.fold(0, usize::saturating_add) } else { 0 };
    let shortest = dims.iter().copied().min().map_or(1, to_usize);
    let queue = queue_bytes(&op, &from, &dims, &applied);
    let scratch = stored_bytes(results, longest, shortest).saturating_add(moved);
    let scratch = scratch.saturating_add(queue);
    Some(writes_with(scratch, move |scope, inputs, outputs| {
        let (inputs, inits) = inputs.split_at(inputs.len() / 2);
        let fold = Fold::new(&applied, scope, inputs, inits);
        let (along, growth) = growth(&op, &from, &dims, fold.is_orderless());
        // Lines run along that dimension; it is moved to the end while they are computed.
        let mut others: Vec<usize> = (0..dims.len()).collect();
        if along < others.len() {
            others.remove(along);
        }
        let sizes: Dims = others.iter().map(|&d| dims[d]).collect();
        let length = dims.get(along).copied().unwrap_or(1);
        let strides = strides(&from.dims);
        let line =
            WindowLine { op: &op, from: &from, strides, others: &others, along, length, growth };
        let window = op.window.dims.iter().map(|d| d.size.min(1 << 16));
        let lines = (count(&sizes), to_usize(window.fold(length, i64::saturating_mul)));
        let run = |i: usize, fold: &mut Fold<'_>, out: &mut Vec<hlo::Scalar>| {
            line.run(&sizes.index_of(i), scope, fold, out)
        };
        if along + 1 >= dims.len() {
            return in_lines(outputs, applied.results(), &fold, lines, run);
        }
        let dims: Dims = sizes.iter().copied().chain([length]).collect();
        let array = |ty: ElementType| Array::zeros(ArrayShape::new(ty, dims.clone()));
        let mut moved: Vec<Array> = outputs.iter().map(|o| array(element_type(o))).collect();
        in_lines(&mut moved, applied.results(), &fold, lines, run)?;
        for (moved, output) in moved.iter().zip(outputs) {
            line.move_back(moved, output);
        }
        Ok(())
    }))
}

/// Returns the bytes that sliding windows take for the folds of their ends, on all threads.
fn queue_bytes(
    op: &ReduceWindow,
    from: &ArrayShape,
    result: &[i64],
    applied: &ScalarProgram,
) -> usize {
    match (applied.as_binary(), growth(op, from, result, true)) {
        // Exact sums need no queue.
        (Some(Binary::Add), _) if from.ty.is_float() => 0,
        (_, (along, Growth::Sliding)) => {
            let columns = op.window.dims[along].size.min(from.dims[along]);
            let folds = to_usize(columns.max(0)).saturating_mul(size_of::<Option<hlo::Scalar>>());
            // A vector that grows has up to twice the room.
            folds.saturating_mul(2).saturating_mul(threads())
        }
        (_, (_, Growth::Forward | Growth::Backward | Growth::None)) => 0,
    }
}

/// The data that the places of one line share.
struct WindowLine<'a> {
    op: &'a ReduceWindow,
    from: &'a ArrayShape,
    strides: Dims,
    others: &'a [usize],
    along: usize,
    length: i64,
    growth: Growth,
}

impl WindowLine<'_> {
    /// The values of a line, whose index in the other dimensions is `start`.
    fn run(
        &self,
        start: &[i64],
        scope: &dyn Scope,
        fold: &mut Fold<'_>,
        out: &mut Vec<hlo::Scalar>,
    ) -> Result<()> {
        let dims = &self.op.window.dims;
        let mut reach = vec![Reach::NOTHING; dims.len()];
        for (&d, &at) in self.others.iter().zip(start) {
            reach[d] = Reach::of(&dims[d], at, self.from.dims[d]);
        }
        if let (Growth::Sliding, Some(mut sliding)) = (self.growth, fold.sliding()) {
            let size = self.from.dims[self.along];
            let windows = (0..self.length).map(|at| Reach::of(&dims[self.along], at, size));
            let mut slide = Slide { reach, strides: &self.strides, along: self.along };
            return slide.run(windows, &mut sliding, |elements| scope.spend(elements), out);
        }
        fold.restart();
        let mut before = Reach::NOTHING;
        for i in 0..self.length {
            let at = if self.growth == Growth::Backward { self.length - 1 - i } else { i };
            if let Some(dim) = dims.get(self.along) {
                let whole = Reach::of(dim, at, self.from.dims[self.along]);
                reach[self.along] = match self.growth {
                    Growth::Forward => Reach {
                        first: i64::try_from(before.end()).unwrap_or(0).max(whole.first),
                        count: whole.count - before.count,
                        ..whole
                    },
                    Growth::Backward => Reach { count: whole.count - before.count, ..whole },
                    Growth::Sliding | Growth::None => whole,
                };
                before = whole;
            }
            if matches!(self.growth, Growth::Sliding | Growth::None) {
                fold.restart();
            }
            let mut folded = 0u64;
            let mut failed = Ok(());
            walk(&reach, &self.strides, |at| {
                folded += 1;
                if failed.is_ok() {
                    failed = fold.add(at);
                }
                if failed.is_ok() && folded.is_multiple_of(UNTIMED) {
                    failed = scope.check_time();
                }
            });
            failed.and_then(|()| scope.spend(folded))?;
            fold.values(out);
        }
        if self.growth == Growth::Backward {
            // Each place has as many values as there are results.
            let count = (out.len() / to_usize(self.length.max(1))).max(1);
            out.reverse();
            out.chunks_exact_mut(count).for_each(<[hlo::Scalar]>::reverse);
        }
        Ok(())
    }

    /// Brings lines that lie at the end into the order of the result's dimensions.
    fn move_back(&self, lines: &Array, result: &mut Array) {
        let moved = strides(&lines.shape().dims);
        let (&along, others) = moved.split_last().expect("lines have a dimension");
        let mut strides = Dims::from_elem(0, moved.len());
        for (&d, &step) in self.others.iter().zip(others) {
            strides[d] = step;
        }
        strides[self.along] = along;
        affine_into(lines, result, 0, &strides);
    }
}
