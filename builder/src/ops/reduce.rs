//! Reductions.
use crate::arguments::{all_counted, first};
use crate::{Builder, Operand, Result, Value};
use hlo::Shape;
use hlo::op::Reduce;

impl<'b> Value<'b> {
    /// Folds dimensions away: XLA's `Reduce` of one array.
    ///
    /// `combine` takes the accumulator, which starts as `init`, and an element, both scalars. It
    /// should be associative: the order of elements is not defined.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    /// assert_eq!(interp::run(&b.build(x.reduce(0, |a, b| a + b, &[1]))?, &[])?.to_string(), "s32[2]{0} {6, 15}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn reduce(
        self,
        init: impl Operand<'b>,
        combine: impl FnOnce(Self, Self) -> Self,
        dimensions: &[i64],
    ) -> Self {
        self.record(|_| reduce(self, init, combine, self.axes(dimensions)?))
    }
    /// Folds all dimensions away, to a scalar: XLA's `ReduceAll`. `combine` as of
    /// [`Value::reduce`].
    #[track_caller]
    pub fn reduce_all(
        self,
        init: impl Operand<'b>,
        combine: impl FnOnce(Self, Self) -> Self,
    ) -> Self {
        self.record(|_| reduce(self, init, combine, first(self.rank()?)))
    }
}

fn reduce<'b>(
    operand: Value<'b>,
    init: impl Operand<'b>,
    combine: impl FnOnce(Value<'b>, Value<'b>) -> Value<'b>,
    dimensions: Vec<i64>,
) -> Result<Value<'b>> {
    let (b, init) = (operand.builder(), init.beside(operand)?.value);
    let to_apply = b.combiner("reducer", init.element_type()?, combine)?;
    b.emit(Reduce { dimensions, to_apply }, &[operand, init], None)
}

impl Builder {
    /// Folds dimensions of several arrays together: XLA's `Reduce` of many. `combine` takes the
    /// accumulators, then an element of each array, and returns a tuple of new accumulators (for
    /// one array, the accumulator).
    #[track_caller]
    pub fn reduce<'b>(
        &'b self,
        operands: &[Value<'b>],
        inits: &[Value<'b>],
        combine: impl FnOnce(&[Value<'b>]) -> Value<'b>,
        dimensions: &[i64],
    ) -> Value<'b> {
        self.record(|b| {
            let scalars = b.shapes(inits)?;
            let to_apply = b.trace("reducer", &[scalars.clone(), scalars].concat(), combine)?;
            let rank = operands.first().map_or(Ok(0), |first| first.rank())?;
            let op = Reduce { dimensions: all_counted(dimensions, rank), to_apply };
            b.emit(op, &[operands, inits].concat(), None)
        })
    }
}

/// Scalars of the element types of these arrays: what a computation of their elements is given.
pub(crate) fn scalars(arrays: &[Value<'_>]) -> Result<Vec<Shape>> {
    arrays.iter().map(|array| Ok(Shape::scalar(array.element_type()?))).collect()
}
