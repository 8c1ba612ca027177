//! `reduce`: `acc = computation(acc, element)` over the reduced dimensions in row-major order
//!
//! The accumulators start from the initial values, which come once and on the left. The elements
//! come in row-major order of the operand, whatever the order in which `dimensions` lists the
//! reduced ones. With several operands the computation takes all accumulators, then one element of
//! each operand. Where nothing is reduced (`dimensions={}`) each element is folded once into the
//! initial value; where a reduced dimension is empty the result is the initial value.
//!
//! Float sums are accumulated wider than their type and rounded once. XLA:CPU reduces dimensions of
//! more than 32 elements in windows that each start from the initial value again, so a value that
//! is no identity is counted several times there.
use super::extremes::Extremes;
use super::fold::{Fold, UNTIMED, first_value, in_lines, stored_bytes};
use super::program_fold::{ProgramFold, SHORTEST as SHORTEST_PART};
use super::reduce_lines::{Method, ReducedLines, Reduction};
use crate::contraction::ErrorBound;
use crate::conversion::sums_of_bytes;
use crate::cost_model::FOLDED;
use crate::function::{writes_in, writes_with};
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use crate::typed::Typed;
use crate::{Formula, Fusion, Kernel, in_halves};
use hlo::op::{Binary, Reduce};
use hlo::{ArrayShape, Dims, ElementType, Scalar};
use num::Arithmetic;
use num::clock::Stop;
use num::index::{Grid, count, offsets, others, pick, saturating_count, to_i64, to_usize};
use num::loops::{binary_loop, extreme_loops, in_order_loop};
use num::parallel::parts;
use num::scalar_program::{ScalarProgram, ScalarPrograms};
use smallvec::SmallVec;
use std::sync::Arc;

/// Results that are computed by one thread in a row.
const LINE: usize = 64;
/// Results that are computed at once, if there are as many.
const SHORTEST: usize = 8;
/// Elements that are folded between looks at the time.
const ALONE: usize = 1 << 16;
/// Elements that are folded by a formula, at most.
const FOLDED_AT_ONCE: usize = 256;

impl ArrayOp for Reduce {
    fn kernel(&self, site: &Site<'_>, programs: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        kernel(self, site.operands, site.results, programs, site.arithmetic)
    }
    linear!();
    needs_whole_operands!();
}

fn kernel(
    op: &Reduce,
    operands: &[&ArrayShape],
    results: &[&ArrayShape],
    programs: &ScalarPrograms,
    arithmetic: Arithmetic,
) -> Option<Box<dyn Kernel>> {
    let Reduce { dimensions, to_apply } = op;
    let applied = programs.get(*to_apply)?;
    let from = operands[0];
    let sums = sums_of_bytes(&applied, operands, |operands| {
        kernel(op, operands, results, programs, arithmetic)
    });
    if sums.is_some() {
        return sums;
    }
    let mut reduced: Dims = dimensions.iter().copied().collect();
    reduced.sort_unstable();
    let steps = u64::try_from(saturating_count(&from.dims)).unwrap_or(u64::MAX);
    if let ([_, _], [to]) = (operands, results)
        && let Some(lines) = ReducedLines::of(&from.dims, &reduced)
        && let Some(method) = Method::of(&applied, (from.ty, to.ty), &lines, arithmetic)
    {
        let first = operands[1].ty;
        let folded = Folded::of(&applied, &lines, arithmetic);
        let folded = folded.filter(|folded| [from.ty, first, to.ty] == [folded.ty; 3]);
        let of_one = of_one(&applied, &lines, [from.ty, first, to.ty]);
        let (method, width) = (Arc::new(method), from.ty.storage_bytes());
        let lines = OfLines { lines, method, width, first, folded, of_one, steps, arithmetic };
        return Some(Box::new(lines));
    }
    if let Some(extremes) = extremes(&applied, operands, results, &reduced) {
        return Some(Box::new(extremes));
    }
    if let Some(fold) = program_fold(&applied, operands, results, &reduced, arithmetic) {
        return Some(writes_in(arithmetic, fold.scratch(), move |scope, inputs, outputs| {
            scope.spend(steps)?;
            let (inputs, inits) = inputs.split_at(inputs.len() / 2);
            let first: Vec<Scalar> = inits.iter().zip(&fold.types).map(first_value).collect();
            let inputs: Vec<&[u8]> = inputs.iter().map(|input| input.bytes()).collect();
            fold.run(&inputs, &first, outputs);
            Ok(())
        }));
    }
    if let Some(kernel) = in_order(&applied, operands, results, &reduced) {
        return Some(kernel);
    }
    let (inner_sizes, inner_strides) = pick(from, &reduced);
    let (sizes, strides) = pick(from, &others(from.rank(), &reduced));
    let kept = Grid::new(sizes.into_iter().zip(strides));
    Some(writes_with(stored_bytes(results, LINE, LINE), move |scope, inputs, outputs| {
        let (inputs, inits) = inputs.split_at(inputs.len() / 2);
        let (results, elements) = (kept.count(), count(&inner_sizes));
        scope.spend(u64::try_from(results.saturating_mul(elements)).unwrap_or(u64::MAX))?;
        let fold = Fold::new(&applied, scope, inputs, inits);
        let length = if results.is_multiple_of(LINE) { LINE } else { 1 };
        let lines = (results / length, elements.saturating_mul(length));
        in_lines(outputs, applied.results(), &fold, lines, |line, fold, out| {
            for result in line * length..(line + 1) * length {
                let base = to_i64(kept.offset(result));
                fold.restart();
                let (mut failed, mut folded) = (Ok(()), 0u64);
                offsets(&inner_sizes, base, &inner_strides, |at| {
                    folded += 1;
                    if failed.is_ok() {
                        failed = fold.add(to_usize(at));
                    }
                    if failed.is_ok() && folded.is_multiple_of(UNTIMED) {
                        failed = scope.check_time();
                    }
                });
                failed?;
                fold.values(out);
            }
            Ok(())
        })
    }))
}

/// Returns the fold of each result by an op, one element after another; `None` if there is no loop
/// for it, or elements are converted.
fn in_order(
    applied: &ScalarProgram,
    operands: &[&ArrayShape],
    results: &[&ArrayShape],
    reduced: &[i64],
) -> Option<Box<dyn Kernel>> {
    let ([from, first], [to]) = (operands, results) else { return None };
    let (op, ty) = applied.as_binary_in_order()?;
    let fits = [from.ty, first.ty, to.ty] == [ty; 3];
    let (function, width) = (in_order_loop(op, ty).filter(|_| fits)?, ty.storage_bytes());
    let (results, elements, _) = ReducedLines::of(&from.dims, reduced)?.grids();
    let run = elements.last().unwrap_or(1);
    let steps = u64::try_from(saturating_count(&from.dims)).unwrap_or(u64::MAX);
    Some(writes_with(0, move |scope, inputs, outputs| {
        scope.spend(steps)?;
        let (from, first, stop) = (inputs[0].bytes(), inputs[1].bytes(), Stop::current());
        let least = FOLDED / elements.count();
        parts(outputs[0].bytes_mut(), (width, least), |result, to| {
            to.copy_from_slice(first);
            for number in (0..elements.count()).step_by(run) {
                let start = results.offset(result) + elements.offset(number);
                let step = if run > 1 { elements.offset(1).max(1) } else { 1 };
                let line = &from[start * width..][..((run - 1) * step + 1) * width];
                let parts = line.chunks(ALONE * step * width);
                parts.take_while(|_| !stop.is_set()).for_each(|part| function(part, step, to));
            }
        });
        Ok(())
    }))
}

/// How few elements are folded by a formula.
#[derive(Clone, Copy)]
struct Folded {
    op: Binary,
    ty: ElementType,
    /// The error of sums that are rounded correctly, in units of the magnitude.
    error: Option<f64>,
}

impl Folded {
    /// Returns how few elements are folded: by an op in any order, or by sums of f32, and of f64 in
    /// `fast`.
    fn of(applied: &ScalarProgram, lines: &ReducedLines, arithmetic: Arithmetic) -> Option<Self> {
        let (op, ty) = applied.as_binary_in_order()?;
        let (results, elements) = lines.counts();
        let is_exact = arithmetic == Arithmetic::Exact;
        // A reduction of single elements is elementwise.
        let fits = elements > 1
            && match (is_sum(op, ty), ty) {
                (true, ElementType::F32) => true,
                (true, ElementType::F64) => !is_exact,
                (true, _) => false,
                (false, _) => applied.is_associative(Arithmetic::Exact),
            };
        let error = is_exact.then(|| ErrorBound::new(1 + elements, ty).units());
        let error = error.filter(|_| is_sum(op, ty));
        (fits && results * elements <= FOLDED_AT_ONCE).then_some(Self { op, ty, error })
    }
    /// Computes sums of floats as the formula does, if it decides them; returns whether it has.
    fn add(self, lines: &ReducedLines, [from, first]: [&[u8]; 2], to: &mut [u8]) -> bool {
        let Self { op, ty, error } = self;
        if !is_sum(op, ty) || error.is_some() {
            return false;
        }
        let width = ty.storage_bytes();
        let is_single = ty == ElementType::F32;
        let read = |bytes: &[u8], at: usize| match is_single {
            true => f64::from(*bytemuck::from_bytes::<f32>(&bytes[at..at + width])),
            false => *bytemuck::from_bytes::<f64>(&bytes[at..at + width]),
        };
        for (line, slot) in lines.lists().zip(to.chunks_exact_mut(width)) {
            let terms = line.map(|at| read(from, at * width));
            let mut terms: SmallVec<[f64; 64]> =
                std::iter::once(read(first, 0)).chain(terms).collect();
            let sum = in_halves(&mut terms, |a, b| a + b);
            if !is_single && !sum.is_finite() {
                return false;
            }
            Scalar::Float(sum).round_to(ty).write(ty, slot);
        }
        true
    }
}

/// Returns the loop of a reduction of one element each, with the first value: elementwise, where the
/// order of the two is the same.
fn of_one(applied: &ScalarProgram, lines: &ReducedLines, types: [ElementType; 3]) -> Option<Typed> {
    use Binary::{Add, And, Maximum, Minimum, Multiply, Or, Xor};
    let (op, ty) = applied.as_binary_in_order()?;
    let is_symmetric = [Add, And, Maximum, Minimum, Multiply, Or, Xor].contains(&op);
    let fits = is_symmetric && types == [ty; 3] && lines.counts().1 == 1;
    let function = binary_loop(op, ty, Arithmetic::Exact).filter(|_| fits)?;
    Some(Typed::new(function, &[ty; 2], ty))
}

fn is_sum(op: Binary, ty: ElementType) -> bool {
    ty.is_float() && op == Binary::Add
}

/// Returns the fold of many results at once; `None` where there are not many, or a computation
/// runs on a machine, or elements are converted to its types.
fn program_fold(
    applied: &ScalarProgram,
    operands: &[&ArrayShape],
    results: &[&ArrayShape],
    reduced: &[i64],
    arithmetic: Arithmetic,
) -> Option<ProgramFold> {
    let types: Vec<ElementType> = results.iter().map(|result| result.ty).collect();
    let is_sum = types[0].is_float() && applied.as_binary() == Some(Binary::Add);
    let fits = have_types(applied, &operands[..results.len()], &types);
    let is_one = operands[0].element_count() == Some(1);
    let lines = ReducedLines::of(&operands[0].dims, reduced);
    let lines = lines.filter(|_| fits && !is_sum && !is_one)?;
    let (results, elements, run) = lines.grids();
    let is_associative = elements.rank() <= 1 && applied.is_associative(arithmetic);
    if results.count() < SHORTEST && !is_associative {
        return None;
    }
    let program = applied.results_in_blocks(arithmetic)?;
    let is_associative = is_associative && elements.count() >= 2 * SHORTEST_PART;
    Some(ProgramFold { program, types, results, elements, run, is_associative })
}

/// Returns the search for the extremes of lines; `None` if the computation does not choose them, or
/// elements are converted to its types.
fn extremes(
    applied: &ScalarProgram,
    operands: &[&ArrayShape],
    results: &[&ArrayShape],
    reduced: &[i64],
) -> Option<Extremes> {
    let &[number, index] = results else { return None };
    let types = [number.ty, index.ty];
    let fits = operands[2..].iter().map(|first| first.ty).eq(types);
    let fits = fits && have_types(applied, &operands[..2], &types);
    let lines = ReducedLines::of(&operands[0].dims, reduced).filter(|_| fits)?;
    Extremes::new(lines, extreme_loops(applied.extreme()?, types)?, types)
}

/// Returns whether elements, accumulators and results have these types, and none is converted.
pub(super) fn have_types(
    applied: &ScalarProgram,
    operands: &[&ArrayShape],
    types: &[ElementType],
) -> bool {
    operands.iter().map(|operand| operand.ty).eq(types.iter().copied())
        && applied.parameters() == [types, types].concat()
        && applied.results() == types
}

/// A reduction of one array by a computation that is applied to many elements at once.
struct OfLines {
    lines: ReducedLines,
    method: Arc<Method>,
    /// Bytes of an element.
    width: usize,
    /// The type of the initial value.
    first: ElementType,
    folded: Option<Folded>,
    of_one: Option<Typed>,
    steps: u64,
    arithmetic: Arithmetic,
}

impl Kernel for OfLines {
    fn computes(&self) -> Option<u64> {
        Some(self.steps)
    }
    fn compute(&self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> u64 {
        let (Self { lines, method, width, .. }, output) = (self, &mut *outputs[0]);
        if let Some(of_one) = &self.of_one {
            of_one.run_with_scalar(inputs[0], inputs[1], output);
        } else if !self.folded.is_some_and(|of| of.add(lines, [inputs[0], inputs[1]], output)) {
            let first = Scalar::read(self.first, inputs[1]);
            Reduction { lines, method, from: inputs[0], width: *width, first }.run(output);
        }
        0
    }
    fn formula(&self) -> Option<Formula> {
        let Folded { op, ty, error } = self.folded?;
        let lists = self.lines.lists().map(Iterator::collect).collect();
        Some(Formula::Folds(op, ty, error, lists))
    }
    fn scratch(&self) -> usize {
        self.lines.scratch()
    }
    fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }
    fn fusion(&self) -> Fusion {
        if let Some(of_one) = &self.of_one {
            return Fusion::Loop(of_one.function());
        }
        match self.lines.runs().filter(|&inner| inner > 1) {
            Some(inner) => Fusion::Rows { inner, method: Arc::clone(&self.method) },
            None => Fusion::None,
        }
    }
}
