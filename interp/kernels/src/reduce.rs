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
use super::fold::{Fold, UNTIMED, first_value, in_lines, stored_bytes};
use super::program_fold::ProgramFold;
use super::reduce_lines::{Method, ReducedLines, Reduction};
use crate::conversion::sums_of_bytes;
use crate::function::{given, writes_in, writes_with};
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use crate::{Formula, Fusion, Kernel, in_halves};
use hlo::op::{Binary, Reduce};
use hlo::{Array, ArrayShape, Dims, ElementType, Scalar};
use num::index::{Grid, count, offsets, others, pick, saturating_count, to_i64, to_usize};
use num::scalar_program::{ScalarProgram, ScalarPrograms};
use num::{Arithmetic, Result, Scope};
use smallvec::{SmallVec, smallvec};
use std::sync::Arc;

/// Results that are computed by one thread in a row.
const LINE: usize = 64;
/// Results that are computed at once, if there are as many.
const SHORTEST: usize = 8;
/// Elements of one result that are folded by a formula, at most.
const FOLDED_AT_ONCE: usize = 64;

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
    if let ([_, _], [to]) = (operands, results)
        && let Some(lines) = ReducedLines::of(&from.dims, &reduced)
        && let Some(method) = Method::of(&applied, (from.ty, to.ty), &lines, arithmetic)
    {
        let first = operands[1].ty;
        let is_of_type = |(_, ty): &(Binary, ElementType)| [from.ty, first, to.ty] == [*ty; 3];
        let op = applied.as_binary_in_order().filter(is_of_type);
        let op = op.filter(|&op| has_formula(op, &lines, arithmetic));
        return Some(Box::new(OfLines::new(from, (first, op), lines, method, arithmetic)));
    }
    if let Some(fold) = program_fold(&applied, operands, results, &reduced, arithmetic) {
        let steps = u64::try_from(saturating_count(&from.dims)).unwrap_or(u64::MAX);
        return Some(writes_in(arithmetic, fold.scratch(), move |scope, inputs, outputs| {
            scope.spend(steps)?;
            let (inputs, inits) = inputs.split_at(inputs.len() / 2);
            let first: Vec<Scalar> = inits.iter().zip(&fold.types).map(first_value).collect();
            let inputs: Vec<&[u8]> = inputs.iter().map(|input| input.bytes()).collect();
            fold.run(&inputs, &first, outputs);
            Ok(())
        }));
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

/// Returns whether one result is folded by a formula: by an op in any order, by a sum of f32 in
/// `fast`, or by a sum of one element.
fn has_formula(
    (op, ty): (Binary, ElementType),
    lines: &ReducedLines,
    arithmetic: Arithmetic,
) -> bool {
    let is_plain = arithmetic == Arithmetic::Fast && ty == ElementType::F32;
    let most = if is_sum((op, ty)) && !is_plain { 1 } else { FOLDED_AT_ONCE };
    let is_wide = [ElementType::F32, ElementType::F64].contains(&ty);
    lines.only().is_some_and(|count| count <= most) && (is_wide || !is_sum((op, ty)))
}

fn is_sum((op, ty): (Binary, ElementType)) -> bool {
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
    Some(ProgramFold { program, types, results, elements, run, is_associative })
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
    /// The op of the formula.
    op: Option<(Binary, ElementType)>,
    steps: u64,
    arithmetic: Arithmetic,
}

impl OfLines {
    fn new(
        from: &ArrayShape,
        (first, op): (ElementType, Option<(Binary, ElementType)>),
        lines: ReducedLines,
        method: Method,
        arithmetic: Arithmetic,
    ) -> Self {
        let steps = u64::try_from(saturating_count(&from.dims)).unwrap_or(u64::MAX);
        let width = from.ty.storage_bytes();
        Self { lines, method: Arc::new(method), width, first, op, steps, arithmetic }
    }
}

impl Kernel for OfLines {
    fn run(
        &self,
        scope: &dyn Scope,
        inputs: &[Option<&Array>],
        outputs: &mut [Array],
    ) -> Result<()> {
        let inputs = given(inputs);
        scope.spend(self.steps)?;
        self.compute(&[inputs[0].bytes(), inputs[1].bytes()], outputs[0].bytes_mut());
        Ok(())
    }
    fn computes(&self) -> Option<u64> {
        Some(self.steps)
    }
    fn compute(&self, inputs: &[&[u8]], output: &mut [u8]) {
        let Self { lines, method, width, .. } = self;
        let first = Scalar::read(self.first, inputs[1]);
        if let Some(of @ (_, ty)) = self.op
            && is_sum(of)
        {
            let mut terms: SmallVec<[f64; 1 + FOLDED_AT_ONCE]> = smallvec![first.as_f64()];
            if ty == ElementType::F32 {
                terms.extend(bytemuck::cast_slice(inputs[0]).iter().map(|&x: &f32| f64::from(x)));
            } else {
                terms.extend_from_slice(bytemuck::cast_slice(inputs[0]));
            }
            return Scalar::Float(in_halves(&mut terms, |a, b| a + b))
                .round_to(ty)
                .write(ty, output);
        }
        Reduction { lines, method, from: inputs[0], width: *width, first }.run(output);
    }
    fn formula(&self) -> Option<Formula> {
        self.op.map(|(op, ty)| Formula::Fold(op, ty))
    }
    fn scratch(&self) -> usize {
        self.lines.scratch()
    }
    fn arithmetic(&self) -> Arithmetic {
        self.arithmetic
    }
    fn fusion(&self) -> Fusion {
        match self.lines.runs().filter(|&inner| inner > 1) {
            Some(inner) => Fusion::Rows { inner, method: Arc::clone(&self.method) },
            None => Fusion::None,
        }
    }
}
