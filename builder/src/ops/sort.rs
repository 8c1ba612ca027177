//! Sorts and largest elements.
use crate::{Builder, Error, Value};
use hlo::Shape;
use hlo::diag::quantity;
use hlo::op::{Sort, TopK};

impl Value<'_> {
    /// Returns the elements along a dimension in ascending order; the dimension may be counted from
    /// the end.
    ///
    /// Floats are in total order: `-NaN < -inf < ... < -0 < 0 < ... < inf < NaN`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// assert_eq!(interp::run(&b.build(b.constant([3i32, 1, 2]).sort(-1))?, &[])?.to_string(), "s32[3]{0} {1, 2, 3}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn sort(self, dimension: i64) -> Self {
        self.builder().sort_by_first(&[self], dimension, false)
    }
    /// Returns the elements along a dimension in a custom order: XLA's `Sort` of one array.
    ///
    /// `comparator` takes two elements and says whether the first comes before the second. Where
    /// neither must, they keep their order if `is_stable`.
    #[track_caller]
    pub fn sort_by(
        self,
        comparator: impl FnOnce(Self, Self) -> Self,
        dimension: i64,
        is_stable: bool,
    ) -> Self {
        self.builder().sort(&[self], |p| comparator(p[0], p[1]), dimension, is_stable)
    }
    /// Returns the `k` largest elements along the last dimension, in descending order, or the `k`
    /// smallest, in ascending order, with their places: XLA's `TopK`. Returns the tuple
    /// `(values, s32 places)`.
    ///
    /// Floats are in total order, and equal elements in the order of their places, with or without
    /// `is_stable`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let top = b.constant([3i32, 1, 4, 1]).top_k(2, true, true);
    /// assert_eq!(interp::run(&b.build(top)?, &[])?.to_string(), "( s32[2]{0} {4, 3}, s32[2]{0} {2, 0} )");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn top_k(self, k: i64, largest: bool, is_stable: bool) -> Self {
        self.record(|b| b.emit(TopK { k, largest, is_stable }, &[self], None))
    }
}

impl Builder {
    /// Sorts several arrays along a dimension, all in the comparator's order: XLA's `Sort` of many.
    ///
    /// `comparator` takes the left and the right element of each array in turn, and says whether
    /// the left ones must stand before the right ones. The result is a tuple; for one array, the
    /// array. The dimension may be counted from the end.
    #[track_caller]
    pub fn sort<'b>(
        &'b self,
        operands: &[Value<'b>],
        comparator: impl FnOnce(&[Value<'b>]) -> Value<'b>,
        dimension: i64,
        is_stable: bool,
    ) -> Value<'b> {
        self.record(|b| {
            let first = operands.first().ok_or_else(|| {
                Error::argument(format!("{} cannot be sorted", quantity(0, "array")))
                    .with_help("give one array or more")
            })?;
            let dimensions = Some(vec![first.axis(dimension)?]);
            let scalars = super::reduce::scalars(operands)?;
            let pairs: Vec<Shape> = scalars.into_iter().flat_map(|s| [s.clone(), s]).collect();
            let to_apply = Some(b.trace("comparator", &pairs, comparator)?);
            b.emit(Sort { dimensions, is_stable, to_apply }, operands, None)
        })
    }
    /// Sorts several arrays along a dimension, all in the ascending order of the first: the page's
    /// `Sort(keys, values)`. The order is that of [`Value::sort`].
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let sorted = b.sort_by_first(&[b.constant([3i32, 1]), b.constant([42i32, 50])], 0, false);
    /// assert_eq!(interp::run(&b.build(sorted)?, &[])?.to_string(), "( s32[2]{0} {1, 3}, s32[2]{0} {50, 42} )");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn sort_by_first<'b>(
        &'b self,
        operands: &[Value<'b>],
        dimension: i64,
        is_stable: bool,
    ) -> Value<'b> {
        // Two calls deep, the comparator's lines are those of the user's call.
        self.record(|b| Ok(b.sort(operands, less, dimension, is_stable)))
    }
}

/// Returns whether the left element of the first array is below its right one.
fn less<'b>(elements: &[Value<'b>]) -> Value<'b> {
    elements[0].lt_total_order(elements[1])
}
