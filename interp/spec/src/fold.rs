//! Folds: `acc = computation(acc, element)` for one element after another, from an initial value
//!
//! `reduce`, `reduce-window` and `all-reduce` differ in the elements that they fold; this module
//! defines the fold. A computation of N values takes N accumulators, then N elements, and returns
//! the new accumulators.
//!
//! A sum of real floats, a computation that only adds its two parameters, is exact and rounded
//! once, to the type of the result. Every other computation is applied unchanged, and each of its
//! instructions rounds.
use super::{Computations, Operand, Results, ScalarComputation};
use hlo::ir::ComputationId;
use hlo::{ElementType, Scalar, Shape};
use num::Result;
use num::accumulator::ExactSum;
use num::clock::Stop;
use smallvec::SmallVec;

/// The element types of one value for each accumulator.
pub(super) type Types = SmallVec<[ElementType; 2]>;

/// A fold by a computation.
pub(super) struct Fold<'a> {
    function: ScalarComputation<'a>,
    /// Types of the initial values.
    initial: Types,
    elements: Types,
    results: Types,
    is_exact_sum: bool,
}

impl<'a> Fold<'a> {
    /// Returns the fold of elements of the types `elements`, from values of the types `initial`,
    /// into values of the types `results`.
    pub(super) fn new(
        call: Computations<'a>,
        computation: ComputationId,
        initial: Types,
        elements: Types,
        results: Types,
    ) -> Result<Self> {
        let function = call.function(computation)?;
        let is_exact_sum = elements.len() == 1 && elements[0].is_float() && function.is_sum();
        Ok(Self { function, initial, elements, results, is_exact_sum })
    }

    /// Returns the fold of elements of `operands`, from the scalars `initial`, into arrays of
    /// `shape`; and those scalars.
    pub(super) fn of_arrays(
        call: Computations<'a>,
        computation: ComputationId,
        operands: &[Operand<'_>],
        initial: &[Operand<'_>],
        shape: &Shape,
    ) -> Result<(Self, Results)> {
        let types = |arrays: &[Operand<'_>]| arrays.iter().map(|array| array.shape.ty).collect();
        let results = shape.leaves().into_iter().filter_map(Shape::element_type).collect();
        let fold = Self::new(call, computation, types(initial), types(operands), results)?;
        Ok((fold, initial.iter().map(|value| value.at(&[])).collect()))
    }

    /// Rounds every step of a sum, like those of other computations.
    pub(super) fn rounding_each_step(mut self) -> Self {
        self.is_exact_sum = false;
        self
    }

    /// Folds the elements: each item has one value for each accumulator.
    pub(super) fn of(
        &self,
        initial: &[Scalar],
        elements: impl IntoIterator<Item = Results>,
    ) -> Result<Results> {
        if self.is_exact_sum {
            let mut sum = ExactSum::new(initial[0].as_f64());
            let mut count = 0;
            let stop = Stop::current();
            for element in elements.into_iter().take_while(|_| !stop.is_set()) {
                sum.add(element[0].as_f64());
                count += 1;
            }
            self.function.spend(count)?;
            let ty = self.results[0];
            let value = Scalar::Float(sum.rounded(ty)).convert(ElementType::F64, ty);
            return Ok(Results::from_elem(value, 1));
        }
        let carried = self.function.results();
        let (accumulated, folded) = self.function.parameters().split_at(initial.len());
        let mut values = converted(initial, &self.initial, carried);
        for element in elements {
            let mut arguments = converted(&values, carried, accumulated);
            arguments.extend(converted(&element, &self.elements, folded));
            values = self.function.call(&arguments)?;
        }
        Ok(converted(&values, carried, &self.results))
    }
}

fn converted(values: &[Scalar], from: &[ElementType], to: &[ElementType]) -> Results {
    values.iter().zip(from).zip(to).map(|((value, &from), &to)| value.convert(from, to)).collect()
}
