//! Slices, pads, concatenations and reversals with static sizes.
use super::shapes::{inferred, one_each, sizes};
use crate::arguments::all_counted;
use crate::{Builder, Error, Operand, Result, Value};
use hlo::Op;
use hlo::op::value::{PaddingConfig, PaddingDim, SliceRange, SliceRanges};
use hlo::op::{Concatenate, Copy, Pad, Reverse, Slice};

impl<'b> Value<'b> {
    /// Returns a copy of the value, of any shape: XLA's `Copy`.
    #[track_caller]
    pub fn copy(self) -> Self {
        self.record(|b| b.emit(Copy {}, &[self], None))
    }
    /// Pads around and between the elements: XLA's `Pad`.
    ///
    /// `padding` has `(low, high, interior)` of each dimension: `interior` values go between each
    /// two neighbors, then `low` before the first and `high` after the last. A negative `low` or
    /// `high` removes elements instead, those put between included. Size `n` becomes
    /// `low + n + (n - 1) * interior + high`. (Pad, XLA operation semantics.)
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([1i32, 2, 3]).pad(0, &[(1, -1, 1)]))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[5]{0} {0, 1, 0, 2, 0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn pad(self, value: impl Operand<'b>, padding: &[(i64, i64, i64)]) -> Self {
        self.record(|_| pad(self, value, padding))
    }
    /// Pads one dimension with `low` elements before and `high` after: XLA's `PadInDim`. Negative
    /// numbers remove elements; `dim` may be counted from the end.
    #[track_caller]
    pub fn pad_in_dim(self, value: impl Operand<'b>, dim: i64, low: i64, high: i64) -> Self {
        self.record(|_| {
            let dim = self.axis(dim)?;
            let rank = self.rank()?;
            let padding: Vec<_> = (0..)
                .take(rank)
                .map(|d| if d == dim { (low, high, 0) } else { (0, 0, 0) })
                .collect();
            pad(self, value, &padding)
        })
    }
    /// Elements `start`, `start + stride`, ... below `limit` of each dimension: XLA's `Slice`.
    ///
    /// One entry for each dimension in each list. The size becomes `(limit - start) / stride`,
    /// rounded up.
    ///
    /// # Errors
    /// Kept by the builder: `E0301` unless `0 <= start <= limit <= size` and the stride is
    /// positive.
    #[track_caller]
    pub fn slice(self, starts: &[i64], limits: &[i64], strides: &[i64]) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            one_each("starts", starts.len(), &shape)?;
            one_each("limits", limits.len(), &shape)?;
            one_each("strides", strides.len(), &shape)?;
            let ranges = starts.iter().zip(limits).zip(strides);
            let ranges =
                ranges.map(|((&start, &limit), &stride)| SliceRange { start, limit, stride });
            b.emit(Slice { ranges: SliceRanges(ranges.collect()) }, &[self], None)
        })
    }
    /// Elements `start`, `start + stride`, ... below `limit` of one dimension, all of the others:
    /// XLA's `SliceInDim`. `dim` may be counted from the end.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[1i32, 2, 3], [4, 5, 6]]);
    /// let result = interp::run(&b.build(x.slice_in_dim(0, 3, 2, 1))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[2,2]{1,0} { { 1, 3 }, { 4, 6 } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn slice_in_dim(self, start: i64, limit: i64, stride: i64, dim: i64) -> Self {
        self.record(|b| {
            let dim = self.axis(dim)?;
            let sizes = self.dims()?;
            let range = |(d, &size): (i64, &i64)| match d == dim {
                true => SliceRange { start, limit, stride },
                false => SliceRange { start: 0, limit: size, stride: 1 },
            };
            let ranges = (0..).zip(&sizes).map(range).collect();
            b.emit(Slice { ranges: SliceRanges(ranges) }, &[self], None)
        })
    }
    /// Reverses dimensions: index `i` becomes `size - 1 - i`. XLA's `Rev`.
    #[doc(alias = "flip")]
    #[doc(alias = "reverse")]
    #[track_caller]
    pub fn rev(self, dimensions: &[i64]) -> Self {
        self.record(|b| b.emit(Reverse { dimensions: self.axes(dimensions)? }, &[self], None))
    }
    /// Merges adjacent dimensions into one: XLA's `Collapse`. No dimension, or one alone,
    /// gives the value itself.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` unless `dimensions` grow by 1 and exist.
    #[track_caller]
    pub fn collapse(self, dimensions: &[i64]) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            let dimensions = all_counted(dimensions, shape.rank());
            let Some((&first, &last)) = dimensions.first().zip(dimensions.last()) else {
                return Ok(self);
            };
            if !dimensions.windows(2).all(|pair| pair[0].checked_add(1) == Some(pair[1])) {
                let message = format!("the dimensions {dimensions:?} are not consecutive");
                return Err(Error::argument(message)
                    .with_help("name neighbors, the lowest first; transpose others together"));
            }
            if shape.dim(first).is_none() || shape.dim(last).is_none() {
                let message =
                    format!("not all of the dimensions {dimensions:?} exist in {shape:#}");
                return Err(Error::argument(message));
            }
            if first == last {
                return Ok(self);
            }
            let (inside, outside): (Vec<_>, Vec<_>) =
                (0i64..).zip(&shape.dims).partition(|(d, _)| dimensions.contains(d));
            let product = inside.iter().try_fold(1i64, |n, (_, size)| n.checked_mul(**size));
            let product = match inside.iter().any(|(_, size)| **size == 0) {
                true => Some(0),
                false => product,
            };
            let product = product.ok_or_else(|| {
                Error::argument(format!(
                    "the dimensions {dimensions:?} of {shape:#} have too many elements"
                ))
            })?;
            let before = outside.iter().filter(|(d, _)| *d < first).map(|(_, size)| **size);
            let behind = outside.iter().filter(|(d, _)| *d > last).map(|(_, size)| **size);
            let collapsed: Vec<i64> = before.chain([product]).chain(behind).collect();
            super::reshape::to_sizes(b, self, sizes(&collapsed)?, -1)
        })
    }
}

fn pad<'b>(
    operand: Value<'b>,
    value: impl Operand<'b>,
    padding: &[(i64, i64, i64)],
) -> Result<Value<'b>> {
    let value = value.beside(operand)?.value;
    let shape = operand.array()?;
    one_each("padding", padding.len(), &shape)?;
    let dims: Vec<PaddingDim> =
        padding.iter().map(|&(low, high, interior)| PaddingDim { low, high, interior }).collect();
    let op = Pad { padding: PaddingConfig { dims } };
    if shape.rank() == 0
        && inferred(operand.builder(), &Op::from(op.clone()), &[operand, value], None).is_ok()
    {
        // There is nowhere to pad, and `padding=` cannot be written without a dimension.
        return Ok(operand);
    }
    operand.builder().emit(op, &[operand, value], None)
}

impl Builder {
    /// Returns the arrays end to end along a dimension: XLA's `ConcatInDim`. All other sizes are
    /// the same; `dim` may be counted from the end.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, y) = (b.constant([[1i32, 2]]), b.constant([[3i32, 4], [5, 6]]));
    /// assert_eq!(b.concat_in_dim(&[x, y], 0).dims()?, [3, 2]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` for no array at all; `E0301` for arrays that do not fit each
    /// other, and for scalars.
    #[doc(alias = "concatenate")]
    #[doc(alias = "cat")]
    #[track_caller]
    pub fn concat_in_dim<'b>(&'b self, operands: &[Value<'b>], dim: i64) -> Value<'b> {
        self.record(|b| {
            let first = operands.first().ok_or_else(|| {
                Error::argument("`concat_in_dim` of an empty list")
                    .with_help("give one array or more")
            })?;
            let dimensions = vec![first.axis(dim)?];
            b.emit(Concatenate { dimensions }, operands, None)
        })
    }
}
