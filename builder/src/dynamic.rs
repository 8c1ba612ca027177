//! Dynamic sizes: branches of different sizes, and bounds known before a run.
use crate::arguments::size;
use crate::known::KnownInteger;
use crate::ops::control::{Branch, choice, two};
use crate::ops::movement::elements;
use crate::{Builder, Code, Computation, Error, Result, Value};
use hlo::diag::quantity;
use hlo::{ArrayShape, Shape};

impl<'b> Value<'b> {
    /// As [`Value::conditional`], of branches whose results may differ in size: XLA's
    /// `DynamicConditional`.
    ///
    /// Both results have the same rank and element type. Where sizes differ the result's size is
    /// dynamic, the larger one its bound; the smaller result is padded with zeros that do not
    /// count. Tuples are brought together element by element. The closures may use values from
    /// outside, which become further operands.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (pred, x) = (b.parameter(0, "pred[]", "pred"), b.parameter(1, "f32[2]", "x"));
    /// let y = pred.dynamic_conditional(x, |x| x, x, |x| x.broadcast(&[2]).reshape(&[4]));
    /// assert_eq!(y.shape()?.to_string(), "f32[<=4]{0}");
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0806` if the results differ in more than size.
    #[track_caller]
    pub fn dynamic_conditional(
        self,
        true_operand: Self,
        on_true: impl FnOnce(Self) -> Self,
        false_operand: Self,
        on_false: impl FnOnce(Self) -> Self,
    ) -> Self {
        self.record(|b| {
            let branches = two(b, (true_operand, on_true), (false_operand, on_false))?;
            choose(b, self, &branches, true)
        })
    }
    /// As [`Value::switch`], of branches whose results may differ in size: XLA's
    /// `DynamicConditional` with a branch index.
    #[track_caller]
    pub fn dynamic_switch(self, branches: &[Computation<'b>], operands: &[Self]) -> Self {
        self.record(|b| {
            if branches.len() != operands.len() || branches.is_empty() {
                let (found, given) = (branches.len(), operands.len());
                return Err(Error::argument(format!(
                    "{found} branches have {}",
                    quantity(given, "operand")
                )));
            }
            let pairs = branches.iter().zip(operands);
            let with = pairs.map(|(c, &operand)| Ok(Branch { computation: c.id_in(b)?, operand }));
            choose(b, self, &with.collect::<Result<Vec<_>>>()?, false)
        })
    }
    /// Returns the array, of which only `count` elements of a dimension count: XLA's
    /// `SetDimensionSizeWithRebound`.
    ///
    /// If it is known before the run that `count`, a scalar `s32`, is smaller than the dimension,
    /// the array is cut to that bound; if `count` is known altogether, the size stays static.
    /// Constants, sizes of dimensions, sums, differences and products of numbers that are not
    /// negative, `min`, `max` and `clamp` are seen through.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, n) = (b.parameter(0, "f32[10]", "x"), b.parameter(1, "s32[]", "n"));
    /// let y = x.set_dimension_size_with_rebound(n.min(4), 0);
    /// assert_eq!(y.shape()?.to_string(), "f32[<=4]{0}");
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn set_dimension_size_with_rebound(self, count: Self, dim: i64) -> Self {
        self.record(|_| {
            let dim = self.axis(dim)?;
            let known = self.array()?.dim(dim).unwrap_or(0);
            let mut array = self;
            let told = KnownInteger::of(count)?;
            if let Some(bound) = told.most.filter(|bound| (0..known).contains(bound)) {
                array = array.slice_in_dim(0, bound, 1, dim);
            }
            if told.dynamic { Ok(array.set_dimension_size(count, dim)) } else { Ok(array) }
        })
    }
    /// Returns the array with the sizes that `sizes`, a vector of integers, holds: XLA's
    /// `SetAllDimensionSizes`.
    ///
    /// Dimensions whose size is known beforehand are left as they are.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if there is not one size for each dimension.
    #[track_caller]
    pub fn set_all_dimension_sizes(self, sizes: Self) -> Self {
        self.record(|_| {
            let (shape, given) = (self.array()?, sizes.array()?);
            if given.dims.as_slice() != [size(shape.rank())] {
                let message =
                    format!("sizes {given:#} are not one for each dimension of {shape:#}");
                return Err(Error::argument(message));
            }
            let mut array = self;
            for dim in 0..size(shape.rank()) {
                let one = sizes.slice_in_dim(dim, dim + 1, 1, 0).reshape(&[]);
                let one = one.convert_element_type(hlo::ElementType::S32);
                if KnownInteger::of(one)?.dynamic {
                    array = array.set_dimension_size(one, dim);
                }
            }
            Ok(array)
        })
    }
}

/// Emits the conditional, after its branches are brought to one shape.
fn choose<'b>(
    b: &'b Builder,
    selector: Value<'b>,
    branches: &[Branch<'b>],
    on_pred: bool,
) -> Result<Value<'b>> {
    let results = branches.iter().map(|branch| Ok(b.signature(branch.computation)?.1));
    let results = results.collect::<Result<Vec<_>>>()?;
    let (first, others) = results.split_first().ok_or(Code::Invalid {})?;
    let widest = others.iter().try_fold(first.clone(), |widest, next| merged(&widest, next))?;
    let mut fitting = Vec::new();
    for (&branch, result) in branches.iter().zip(&results) {
        let mut computation = branch.computation;
        if *result != widest {
            let narrow = Computation::from_id(b, computation);
            let reconcile =
                |p: &[Value<'b>]| b.record(|b| widened(b.call(narrow, &p[..1]), &widest));
            computation = b.trace("reconciled", &[branch.operand.shape()?], reconcile)?;
        }
        fitting.push(Branch { computation, ..branch });
    }
    choice(selector, &fitting, on_pred)
}
/// Returns the shape that both fit: the larger size of each dimension, dynamic where they differ.
fn merged(a: &Shape, c: &Shape) -> Result<Shape> {
    let differ = || {
        let message = format!("one branch returns {a:#}, another {c:#}");
        Error::from(Code::Closure { message }).with_help("branches may differ only in sizes")
    };
    if let (Some(left), Some(right)) = (a.tuple(), c.tuple())
        && left.len() == right.len()
    {
        let both: Result<Vec<Shape>> = left.iter().zip(right).map(|(l, r)| merged(l, r)).collect();
        return Ok(Shape::Tuple(both?));
    }
    let (Some(left), Some(right)) = (a.array(), c.array()) else {
        return if a.compatible(c) { Ok(a.clone()) } else { Err(differ()) };
    };
    if left.ty != right.ty || left.rank() != right.rank() {
        return Err(differ());
    }
    let rank = left.rank();
    let dims: Vec<i64> = (0..rank).map(|d| left.dims[d].max(right.dims[d])).collect();
    let loose =
        |d: usize| left.dims[d] != right.dims[d] || left.is_dynamic(d) || right.is_dynamic(d);
    let mut both = ArrayShape::new(left.ty, hlo::Dims::from_slice(&dims));
    if (0..rank).any(loose) {
        both.dynamic = Some((0..rank).map(loose).collect());
    }
    Ok(both.into())
}
/// Returns the value padded to the bounds of a shape; its own sizes are those that count.
fn widened<'b>(value: Value<'b>, expected: &Shape) -> Result<Value<'b>> {
    let b = value.builder();
    if let Some(parts) = expected.tuple() {
        let parts: Result<Vec<Value<'b>>> = elements(value)?
            .into_iter()
            .zip(parts)
            .map(|(e, expected)| widened(e, expected))
            .collect();
        return Ok(b.tuple(&parts?));
    }
    let Some(expected) = expected.array() else { return Ok(value) };
    let mut array = value;
    for dim in 0..size(expected.rank()) {
        let d = usize::try_from(dim).unwrap_or(0);
        let shape = array.array()?;
        if !expected.is_dynamic(d) || shape.dims[d] == expected.dims[d] && shape.is_dynamic(d) {
            continue;
        }
        let count = array.get_dimension_size(dim);
        let more = expected.dims[d] - shape.dims[d];
        if more > 0 {
            array = array.pad_in_dim(b.zero(shape.ty), dim, 0, more);
        }
        array = array.set_dimension_size(count, dim);
    }
    Ok(array)
}
