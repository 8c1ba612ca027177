//! Folds: an accumulator, and elements of one or several arrays that are folded into it one after
//! another.
//!
//! `reduce` and `reduce-window` differ in which elements they fold; what folding means is written
//! here. Float sums are exact and rounded once. Other computations of one op apply it directly;
//! everything else is called.
use super::floats::Floats;
use super::sliding::{Sliding, SlidingBinary, SlidingSum};
use crate::cost_model::FOLDED;
use num::clock::Stop;
use num::index::saturating_count;
use num::{Result, Scope};

use hlo::op::Binary;
use hlo::{Array, ArrayShape, ElementType, Scalar};
use num::accumulator::ExactSum;
use num::scalar_program::ScalarProgram;
use rayon::prelude::*;

/// A fold on its way.
#[derive(Clone)]
pub(super) struct Fold<'a>(FoldKind<'a>);

#[derive(Clone)]
enum FoldKind<'a> {
    Sum { elements: Floats<'a>, first: f64, sum: ExactSum, ty: ElementType },
    Binary { op: Binary, ty: ElementType, input: &'a Array, first: Scalar, value: Scalar },
    Call(FoldCall<'a>),
}

impl<'a> Fold<'a> {
    /// Folds elements of `inputs` by `applied`, from the values of `inits` on.
    pub(super) fn new(
        applied: &'a ScalarProgram,
        scope: &'a dyn Scope,
        inputs: &'a [&'a Array],
        inits: &[&Array],
    ) -> Self {
        let first: Vec<Scalar> = inits.iter().zip(applied.results()).map(first_value).collect();
        let from = element_type(inputs[0]);
        if let [init] = first.as_slice() {
            if from.is_float() && applied.as_binary() == Some(Binary::Add) {
                // The initial value takes part as it is, not rounded to the accumulator's type.
                let first = inits[0].get(0).as_f64();
                return Self(FoldKind::Sum {
                    elements: Floats::of(inputs[0]),
                    first,
                    sum: ExactSum::new(first),
                    ty: applied.results()[0],
                });
            }
            let same = |ty| ty == from && ty == applied.results()[0];
            if let Some((op, ty)) = applied.as_binary_in_order().filter(|&(_, ty)| same(ty)) {
                return Self(FoldKind::Binary {
                    op,
                    ty,
                    input: inputs[0],
                    first: *init,
                    value: *init,
                });
            }
        }
        Self(FoldKind::Call(FoldCall::new(applied, scope, inputs, first)))
    }

    /// Returns the fold of a window that slides, if the order of elements does not matter.
    pub(super) fn sliding(&self) -> Option<Sliding<'a>> {
        match &self.0 {
            FoldKind::Sum { elements, first, ty, .. } => {
                Some(Sliding::Sum(SlidingSum::new(*elements, *first, *ty)))
            }
            FoldKind::Binary { op, ty, input, first, .. } if self.is_orderless() => {
                Some(Sliding::Binary(SlidingBinary::new(*op, *ty, input, *first)))
            }
            FoldKind::Binary { .. } | FoldKind::Call(_) => None,
        }
    }
    /// Starts again from the initial values.
    pub(super) fn restart(&mut self) {
        match &mut self.0 {
            FoldKind::Sum { first, sum, .. } => *sum = ExactSum::new(*first),
            FoldKind::Binary { first, value, .. } => *value = *first,
            FoldKind::Call(call) => call.restart(),
        }
    }
    /// Folds in the elements at offset `at`.
    #[inline]
    pub(super) fn add(&mut self, at: usize) -> Result<()> {
        match &mut self.0 {
            FoldKind::Sum { elements, sum, .. } => sum.add(elements.get(at)),
            FoldKind::Binary { op, ty, input, value, .. } => {
                *value = num::binary(*op, *ty, *value, input.get(at));
            }
            FoldKind::Call(call) => call.add(at)?,
        }
        Ok(())
    }
    /// Appends the accumulators.
    pub(super) fn values(&self, out: &mut Vec<Scalar>) {
        match &self.0 {
            FoldKind::Sum { sum, ty, .. } => out.push(Scalar::Float(sum.rounded(*ty))),
            FoldKind::Binary { value, .. } => out.push(*value),
            FoldKind::Call(call) => out.extend_from_slice(&call.arguments[..call.first.len()]),
        }
    }
    /// Returns whether the result does not depend on the order of the elements: of a float sum up
    /// to its last rounding, of the others exactly.
    pub(super) fn is_orderless(&self) -> bool {
        match &self.0 {
            FoldKind::Sum { .. } => true,
            FoldKind::Binary { op, ty, .. } => op.opcode().associates(*ty),
            FoldKind::Call(_) => false,
        }
    }
}

/// Returns an initial value in the type the computation carries it in.
pub(super) fn first_value((init, &ty): (&&Array, &ElementType)) -> Scalar {
    init.get(0).convert(element_type(init), ty)
}
pub(super) fn element_type(literal: &Array) -> ElementType {
    literal.shape().ty
}

/// A fold by calling a computation.
#[derive(Clone)]
struct FoldCall<'a> {
    applied: &'a ScalarProgram,
    scope: &'a dyn Scope,
    inputs: &'a [&'a Array],
    first: Vec<Scalar>,
    /// Accumulators, then elements.
    arguments: Vec<Scalar>,
    scratch: Vec<Scalar>,
    out: Vec<Scalar>,
}

impl<'a> FoldCall<'a> {
    fn new(
        applied: &'a ScalarProgram,
        scope: &'a dyn Scope,
        inputs: &'a [&'a Array],
        first: Vec<Scalar>,
    ) -> Self {
        let arguments = [first.as_slice(), &first].concat();
        let (scratch, out) = (applied.scratch(), first.clone());
        applied.prepare(inputs.first().map_or(0, |input| input.len()));
        Self { applied, scope, inputs, first, arguments, scratch, out }
    }
    fn restart(&mut self) {
        self.arguments[..self.first.len()].copy_from_slice(&self.first);
    }
    fn add(&mut self, at: usize) -> Result<()> {
        let count = self.first.len();
        for (i, input) in self.inputs.iter().enumerate() {
            let (from, to) = (element_type(input), self.applied.parameters()[count + i]);
            let element = input.get(at);
            self.arguments[count + i] =
                if from == to { element } else { element.convert(from, to) };
        }
        self.applied.call(self.scope, &self.arguments, &mut self.scratch, &mut self.out)?;
        self.arguments[..count].copy_from_slice(&self.out);
        Ok(())
    }
}

/// Elements that are folded between looks at the time.
pub(super) const UNTIMED: u64 = 1 << 16;
/// Elements of results that are computed before they are stored.
const STORED_AT_ONCE: usize = 1 << 16;

/// Returns the bytes of the elements that are computed before they are stored, for results that are
/// made of lines of about these lengths.
pub(super) fn stored_bytes(results: &[&ArrayShape], longest: usize, shortest: usize) -> usize {
    let elements = results.first().map_or(0, |result| saturating_count(&result.dims));
    let stored = elements.min(STORED_AT_ONCE.max(longest));
    let shortest = if elements.is_multiple_of(shortest) { shortest } else { 1 };
    let lists = (stored / shortest.max(1)).saturating_mul(size_of::<Result<Vec<Scalar>>>());
    let stored = stored.saturating_mul(results.len()).saturating_mul(size_of::<Scalar>());
    stored.saturating_add(lists)
}

/// Computes arrays that are made of `lines` runs of neighbours. `line` appends the values of one,
/// element by element; each folds about `work` elements.
pub(super) fn in_lines<'a>(
    arrays: &mut [Array],
    types: &[ElementType],
    fold: &Fold<'a>,
    (lines, work): (usize, usize),
    line: impl Fn(usize, &mut Fold<'a>, &mut Vec<Scalar>) -> Result<()> + Sync,
) -> Result<()> {
    let count = arrays.len();
    let per_line = arrays[0].len() / lines.max(1);
    let group = (STORED_AT_ONCE / per_line.max(1)).max(1);
    let stop = Stop::current();
    let run = |fold: &mut Fold<'a>, i: usize| {
        let mut out = Vec::with_capacity(per_line * count);
        if stop.is_set() {
            return Ok(out);
        }
        line(i, fold, &mut out).map(|()| out)
    };
    let stored: Vec<ElementType> = arrays.iter().map(element_type).collect();
    let mut at = 0;
    for start in (0..lines).step_by(group) {
        let lines = start..(start + group).min(lines);
        let computed: Vec<Result<Vec<Scalar>>> = if lines.len().saturating_mul(work) < FOLDED {
            let mut fold = fold.clone();
            lines.map(|i| run(&mut fold, i)).collect()
        } else {
            lines.into_par_iter().map_init(|| fold.clone(), run).collect()
        };
        for elements in computed {
            let elements = elements?;
            for (i, (array, &ty)) in arrays.iter_mut().zip(&stored).enumerate() {
                let width = ty.storage_bytes();
                let slots = array.bytes_mut()[at * width..].chunks_exact_mut(width);
                for (value, slot) in elements.iter().skip(i).step_by(count).zip(slots) {
                    value.convert(types[i], ty).write(ty, slot);
                }
            }
            at += elements.len() / count;
        }
    }
    Ok(())
}
