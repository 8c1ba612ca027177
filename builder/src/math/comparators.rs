//! Comparators for sorts of several operands.
use crate::{Builder, Computation, Error, Result, Value};
use hlo::{ElementType, Shape};

/// A comparison of the elements of one operand: `|lhs, rhs| lhs.lt(rhs)`.
pub type Comparison<'b> = fn(Value<'b>, Value<'b>) -> Value<'b>;

impl Builder {
    /// Returns whether the first operand's left element is below its right one: XLA's
    /// `CreateScalarLtComputation`.
    ///
    /// The computation takes a left and a right scalar of each type in turn, as `sort` passes them;
    /// only the first two are compared. Floats have the total order,
    /// `-NaN < -inf < ... < -0 < 0 < ... < inf < NaN`.
    ///
    /// ```
    /// use hlo::ElementType::{F32, S32};
    /// let b = builder::Builder::new("m");
    /// let lt = b.create_scalar_lt_computation(&[F32, S32]);
    /// assert_eq!(lt.program_shape()?.0.len(), 4);
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn create_scalar_lt_computation(&self, operand_types: &[ElementType]) -> Computation<'_> {
        self.first_compared("compare-less-than", operand_types, |a, b| a.lt_total_order(b))
    }
    /// Returns whether the first operand's left element is above its right one: XLA's
    /// `CreateScalarGtComputation`. As [`Builder::create_scalar_lt_computation`].
    #[track_caller]
    pub fn create_scalar_gt_computation(&self, operand_types: &[ElementType]) -> Computation<'_> {
        self.first_compared("compare-greater-than", operand_types, |a, b| a.gt_total_order(b))
    }
    #[track_caller]
    fn first_compared<'b>(
        &'b self,
        name: &str,
        operand_types: &[ElementType],
        compare: Comparison<'b>,
    ) -> Computation<'b> {
        let mut comparisons = vec![None; operand_types.len()];
        if let Some(first) = comparisons.first_mut() {
            *first = Some(compare);
        }
        self.create_scalar_comparison_computation(name, operand_types, &comparisons)
    }
    /// Returns a comparator of several operands, one after the other: XLA's
    /// `CreateScalarComparisonComputation`.
    ///
    /// The first comparison decides, unless its two elements are equal (in the total order, for
    /// floats); then the next one does, and so on. Operands without a comparison only move along.
    ///
    /// ```
    /// use hlo::ElementType::{F32, S32};
    /// let b = builder::Builder::new("m");
    /// // The largest first; of equal ones the lowest index.
    /// let order = b.create_scalar_comparison_computation(
    ///     "value-then-index",
    ///     &[F32, S32],
    ///     &[Some(|l, r| l.gt_total_order(r)), Some(|l, r| l.lt(r))],
    /// );
    /// assert!(order.is_valid());
    /// ```
    ///
    /// # Errors
    /// `E0801` unless there is one entry for each type and at least one comparison.
    #[track_caller]
    pub fn create_scalar_comparison_computation<'b>(
        &'b self,
        name: &str,
        operand_types: &[ElementType],
        comparisons: &[Option<Comparison<'b>>],
    ) -> Computation<'b> {
        let id = self.record_or(None, |b| {
            check(operand_types, comparisons)?;
            let scalars =
                operand_types.iter().flat_map(|&ty| [Shape::scalar(ty), Shape::scalar(ty)]);
            let parameters: Vec<Shape> = scalars.collect();
            b.trace(name, &parameters, |p| decision(b, p, comparisons)).map(Some)
        });
        match id {
            Some(id) => Computation::from_id(self, id),
            None => Computation::invalid(self),
        }
    }
}

fn check(types: &[ElementType], comparisons: &[Option<Comparison<'_>>]) -> Result<()> {
    if types.len() != comparisons.len() {
        let message = format!("{} types, {} comparisons", types.len(), comparisons.len());
        return Err(
            Error::argument(message).with_help("write one entry for each operand, or `None`")
        );
    }
    if comparisons.iter().all(Option::is_none) {
        return Err(Error::argument("there is no comparison")
            .with_help("give a comparison for at least one operand"));
    }
    Ok(())
}

/// Decides from the last comparison to the first: each counts where everything before is equal.
fn decision<'b>(
    b: &'b Builder,
    parameters: &[Value<'b>],
    comparisons: &[Option<Comparison<'b>>],
) -> Value<'b> {
    let pairs = parameters.chunks_exact(2).zip(comparisons).rev();
    let decided = pairs.fold(None, |rest: Option<Value<'b>>, (pair, comparison)| {
        let Some(compare) = comparison else { return rest };
        let here = compare(pair[0], pair[1]);
        Some(match rest {
            Some(rest) => pair[0].eq_total_order(pair[1]).select(rest, here),
            None => here,
        })
    });
    decided.unwrap_or_else(|| Value::invalid(b))
}
