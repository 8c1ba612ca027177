//! Sizes known only at run time: branches of different sizes, bounds that can be told beforehand.
use crate::ops::movement::elements;
use crate::primitive::{dimension_size, pad_in_dim, set_dimension_size, size, slice_in_dim, zeros};
use crate::{Builder, Code, Computation, Error, Result, Value};
use hlo::op::Binary;
use hlo::op::Conditional;
use hlo::{ArrayShape, Op, Shape};

impl<'b> Value<'b> {
    /// As [`Value::conditional`], of branches whose results may differ in size: XLA's `DynamicConditional`.
    ///
    /// Both results have the same rank and element type. Where sizes differ the result's size is dynamic, the larger one its
    /// bound; the smaller result is padded with zeros that do not count. Tuples are brought together element by element.
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
    #[must_use = "a value that is not used has no effect"]
    pub fn dynamic_conditional(
        self,
        true_operand: Self,
        on_true: impl FnOnce(Self) -> Self,
        false_operand: Self,
        on_false: impl FnOnce(Self) -> Self,
    ) -> Self {
        self.builder().record(|b| {
            let shapes = [true_operand.shape()?, false_operand.shape()?];
            let on_true = b.trace("true_computation", &shapes[..1], |p| on_true(p[0]))?;
            let on_false = b.trace("false_computation", &shapes[1..], |p| on_false(p[0]))?;
            let branches = [Computation::from_id(b, on_true), Computation::from_id(b, on_false)];
            choose(b, self, &branches, &[true_operand, false_operand], true)
        })
    }
    /// As [`Value::switch`], of branches whose results may differ in size: XLA's `DynamicConditional` with a branch index.
    #[track_caller]
    #[must_use = "a value that is not used has no effect"]
    pub fn dynamic_switch(self, branches: &[Computation<'b>], operands: &[Self]) -> Self {
        self.builder().record(|b| choose(b, self, branches, operands, false))
    }
    /// The array, of which only `count` elements of a dimension count: XLA's `SetDimensionSizeWithRebound`.
    ///
    /// If it can be told beforehand that `count`, a scalar `s32`, is smaller than the dimension, the array is cut to that
    /// bound; if `count` is known altogether, the size stays static. Constants, sizes of dimensions, sums, differences and
    /// products of numbers that are not negative, `min`, `max` and `clamp` are seen through.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, n) = (b.parameter(0, "f32[10]", "x"), b.parameter(1, "s32[]", "n"));
    /// let y = x.set_dimension_size_with_rebound(n.min(4), 0);
    /// assert_eq!(y.shape()?.to_string(), "f32[<=4]{0}");
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    #[must_use = "a value that is not used has no effect"]
    pub fn set_dimension_size_with_rebound(self, count: Self, dim: i64) -> Self {
        self.builder().record(|_| {
            let dim = self.axis(dim)?;
            let known = self.array()?.dim(dim).unwrap_or(0);
            let mut array = self;
            if let Some(bound) = upper_bound(count)?.filter(|bound| (0..known).contains(bound)) {
                array = slice_in_dim(array, 0, bound, dim)?;
            }
            if is_dynamic(count)? { set_dimension_size(array, count, dim) } else { Ok(array) }
        })
    }
    /// The array with the sizes that `sizes`, a vector of whole numbers, holds: XLA's `SetAllDimensionSizes`.
    ///
    /// Dimensions whose size is known beforehand are left as they are.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if there is not one size for each dimension.
    #[track_caller]
    #[must_use = "a value that is not used has no effect"]
    pub fn set_all_dimension_sizes(self, sizes: Self) -> Self {
        self.builder().record(|_| {
            let (shape, given) = (self.array()?, sizes.array()?);
            if given.dims.as_slice() != [size(shape.rank())] {
                let message =
                    format!("sizes {given:#} are not one for each dimension of {shape:#}");
                return Err(Error::argument(message));
            }
            let mut array = self;
            for dim in 0..size(shape.rank()) {
                let one = slice_in_dim(sizes, dim, dim + 1, 0)?.reshape(&[]);
                let one = one.convert_element_type(hlo::ElementType::S32);
                if is_dynamic(one)? {
                    array = set_dimension_size(array, one, dim)?;
                }
            }
            Ok(array)
        })
    }
}

/// The conditional whose branches give one shape.
fn choose<'b>(
    b: &'b Builder,
    selector: Value<'b>,
    branches: &[Computation<'b>],
    operands: &[Value<'b>],
    on_pred: bool,
) -> Result<Value<'b>> {
    if branches.len() != operands.len() || branches.is_empty() {
        let (found, given) = (branches.len(), operands.len());
        return Err(Error::argument(format!("{found} branches are given {given} operands")));
    }
    let mut results = Vec::new();
    for branch in branches {
        results.push(branch.program_shape()?.1);
    }
    let mut widest = results[0].clone();
    for result in &results[1..] {
        widest = merged(&widest, result)?;
    }
    let mut ids = Vec::new();
    for ((branch, operand), result) in branches.iter().zip(operands).zip(&results) {
        if *result == widest {
            ids.push(branch.id_in(b)?);
            continue;
        }
        let reconcile = |p: &[Value<'b>]| b.record(|b| widened(b.call(*branch, &p[..1]), &widest));
        ids.push(b.trace("reconciled", &[operand.shape()?], reconcile)?);
    }
    b.emit(Conditional { branches: ids, on_pred }, &[&[selector], operands].concat(), None)
}
/// The shape both fit: the larger size of each dimension, dynamic where they differ.
fn merged(a: &Shape, c: &Shape) -> Result<Shape> {
    let differ = || {
        let message = format!("one branch gives {a:#}, another {c:#}");
        Error::from(Code::Closure { message })
            .with_help("branches may differ in sizes, in nothing else")
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
/// The value padded to the bounds of a shape; its own sizes are those that count.
fn widened<'b>(value: Value<'b>, wanted: &Shape) -> Result<Value<'b>> {
    let b = value.builder();
    if let Some(parts) = wanted.tuple() {
        let parts: Result<Vec<Value<'b>>> =
            elements(value)?.into_iter().zip(parts).map(|(e, wanted)| widened(e, wanted)).collect();
        return Ok(b.tuple(&parts?));
    }
    let Some(wanted) = wanted.array() else { return Ok(value) };
    let mut array = value;
    for dim in 0..size(wanted.rank()) {
        let d = usize::try_from(dim).unwrap_or(0);
        let shape = array.array()?;
        if !wanted.is_dynamic(d) || shape.dims[d] == wanted.dims[d] && shape.is_dynamic(d) {
            continue;
        }
        let count = dimension_size(array, dim)?;
        let more = wanted.dims[d] - shape.dims[d];
        if more > 0 {
            array = pad_in_dim(array, zeros(b, shape.ty, &[])?, dim, 0, more)?;
        }
        array = set_dimension_size(array, count, dim)?;
    }
    Ok(array)
}

/// The element of a constant of one element.
fn element(value: Value<'_>) -> Result<Option<i64>> {
    let Op::Constant(constant) = value.op()? else { return Ok(None) };
    Ok(match &*constant.value {
        hlo::ConstantValue::Literal(literal) if literal.len() == 1 => literal.get(0).as_i64(),
        _ => None,
    })
}
/// The largest number a scalar can be, if that can be told; only numbers that are not negative are followed.
fn upper_bound(value: Value<'_>) -> Result<Option<i64>> {
    let operands = value.operands()?;
    let bound = |i: usize| operands.get(i).map_or(Ok(None), |&operand| upper_bound(operand));
    let known = |i: usize| operands.get(i).map_or(Ok(None), |&operand| element(operand));
    Ok(match value.op()? {
        Op::Constant(_) => element(value)?,
        Op::GetDimensionSize(of) => {
            let shape = operands.first().map(|x| x.array()).transpose()?;
            shape.and_then(|shape| shape.dim(*of.dimensions.first()?))
        }
        Op::Reshape(_) | Op::Copy(_) => bound(0)?,
        // A narrower type could wrap.
        Op::Convert(_) if value.element_type()?.bits() >= 32 => bound(0)?,
        Op::Clamp(_) => bound(2)?,
        Op::Binary(Binary::Minimum) => match (bound(0)?, bound(1)?) {
            (Some(a), Some(c)) => Some(a.min(c)),
            (a, c) => a.or(c),
        },
        Op::Binary(Binary::Maximum) => both(bound(0)?, bound(1)?, i64::max),
        Op::Binary(Binary::Add) => both(bound(0)?, bound(1)?, i64::saturating_add),
        Op::Binary(Binary::Subtract) => {
            both(bound(0)?, known(1)?.filter(|n| *n >= 0), i64::saturating_sub)
        }
        _ => None,
    })
}
fn both(a: Option<i64>, c: Option<i64>, combine: fn(i64, i64) -> i64) -> Option<i64> {
    a.zip(c).map(|(a, c)| combine(a, c))
}
/// Whether a value depends on anything that is known only at run time.
fn is_dynamic(value: Value<'_>) -> Result<bool> {
    let operands = value.operands()?;
    match value.op()? {
        Op::Constant(_) | Op::Iota(_) => Ok(false),
        Op::GetDimensionSize(of) => {
            let dim = of.dimensions.first().and_then(|&dim| usize::try_from(dim).ok());
            let shape = operands.first().map(|x| x.array()).transpose()?;
            Ok(shape.zip(dim).is_none_or(|(shape, dim)| shape.is_dynamic(dim)))
        }
        // One element of a vector that is put together depends on its own part only.
        Op::Slice(slice) if slice.ranges.0.len() == 1 => {
            let (range, vector) = (slice.ranges.0[0], operands[0]);
            if !matches!(vector.op()?, Op::Concatenate(_)) {
                return is_dynamic(vector);
            }
            let mut start = 0;
            for part in vector.operands()? {
                let limit = start + part.dims()?.first().copied().unwrap_or(0);
                if range.start < limit && start < range.limit && is_dynamic(part)? {
                    return Ok(true);
                }
                start = limit;
            }
            Ok(false)
        }
        Op::Unary(_)
        | Op::Binary(_)
        | Op::Clamp(_)
        | Op::Select(_)
        | Op::Compare(_)
        | Op::Convert(_)
        | Op::Reshape(_)
        | Op::Broadcast(_)
        | Op::Concatenate(_)
        | Op::Copy(_)
        | Op::Slice(_)
        | Op::Transpose(_) => {
            for operand in operands {
                if is_dynamic(operand)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Ok(true),
    }
}
