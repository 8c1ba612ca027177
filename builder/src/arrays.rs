//! The functions of array libraries that XLA's builder has under no name: made from its ops.
use crate::arguments::size;
use crate::{Builder, Error, Result, Value};
use hlo::ElementType;

/// Returns the sizes with the one that is -1 replaced by what the elements leave for it.
pub(crate) fn inferred(value: Value<'_>, sizes: &[i64]) -> Result<Vec<i64>> {
    let shape = value.array()?;
    let mut sizes = sizes.to_vec();
    let Some(at) = sizes.iter().position(|&size| size == -1) else { return Ok(sizes) };
    let mut known = sizes.iter().enumerate().filter(|&(i, _)| i != at);
    let known =
        known.try_fold(1i64, |product, (_, &size)| product.checked_mul(size).filter(|_| size >= 0));
    let count = shape.element_count().and_then(|count| i64::try_from(count).ok());
    match (count, known) {
        (Some(count), Some(known)) if known > 0 && count % known == 0 => {
            sizes[at] = count / known;
            Ok(sizes)
        }
        _ => Err(Error::argument(format!("{shape:#} cannot have the sizes {sizes:?}"))
            .with_help("one size may be -1, if the others divide the number of elements")),
    }
}

/// Returns the index below a quantile in `size` sorted elements, and the weight of the next element.
#[expect(
    clippy::as_conversions,
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "the size of an array in memory is exact in f64"
)]
fn quantile_index(q: f64, size: i64) -> (i64, f64) {
    let position = q * (size - 1) as f64;
    let low = position.floor();
    (low as i64, position - low)
}

impl Value<'_> {
    /// Returns the array without dimensions of size 1; without all of them, if none is named.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[1,8,1]", "x");
    /// assert_eq!(x.squeeze(&[-1]).dims()?, [1, 8]);
    /// assert_eq!(x.squeeze(&[]).dims()?, [8]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if a dimension does not exist or has another size.
    #[track_caller]
    pub fn squeeze(self, dims: &[i64]) -> Self {
        self.record(|_| {
            let (sizes, dims) = (self.dims()?, self.axes(dims)?);
            let at = |d: i64| usize::try_from(d).ok().and_then(|d| sizes.get(d)).copied();
            if let Some(&d) = dims.iter().find(|&&d| at(d) != Some(1)) {
                let message = format!("dimension {d} of {:#} has not size 1", self.array()?);
                return Err(Error::argument(message));
            }
            let goes = |(d, &size): (i64, &i64)| match dims.is_empty() {
                true => size == 1,
                false => dims.contains(&d),
            };
            let left = (0..).zip(&sizes).filter(|&pair| !goes(pair)).map(|(_, &size)| size);
            Ok(self.reshape(&left.collect::<Vec<_>>()))
        })
    }
    /// Returns the array with dimensions of size 1 more, which are those of the result.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[8,3]", "x");
    /// assert_eq!(x.expand_dims(&[0, -1]).dims()?, [1, 8, 3, 1]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if a dimension of the result does not exist or is named twice.
    #[doc(alias = "unsqueeze")]
    #[track_caller]
    pub fn expand_dims(self, dims: &[i64]) -> Self {
        self.record(|_| {
            let mut old = self.dims()?.into_iter();
            let rank = old.len() + dims.len();
            let new = crate::arguments::all_counted(dims, rank);
            let mut sorted = new.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() < new.len() || !new.iter().all(|d| (0..size(rank)).contains(d)) {
                let message = format!("the dimensions {dims:?} are not {} of {rank}", dims.len());
                return Err(Error::argument(message)
                    .with_help("name each dimension of size 1 of the result once"));
            }
            let sizes = (0..size(rank)).map(|d| match new.contains(&d) {
                true => 1,
                false => old.next().unwrap_or(1),
            });
            Ok(self.reshape(&sizes.collect::<Vec<_>>()))
        })
    }
    /// Returns `count` parts of equal size along a dimension.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let gates = b.parameter(0, "f32[4,32]", "gates").split(4, -1);
    /// assert_eq!((gates.len(), gates[3].dims()?.as_slice()), (4, &[4, 8][..]));
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// `E0801`, which the builder keeps too, if the size is no multiple of the count.
    #[doc(alias = "chunk")]
    #[track_caller]
    pub fn split(self, count: i64, dim: i64) -> Vec<Self> {
        let sizes = || -> Result<(i64, i64)> {
            let dim = self.axis(dim)?;
            let shape = self.array()?;
            match shape.dim(dim) {
                Some(size) if count > 0 && size % count == 0 => Ok((dim, size / count)),
                _ => Err(Error::argument(format!(
                    "dimension {dim} of {shape:#} has no {count} equal parts"
                ))),
            }
        };
        match sizes() {
            Ok((dim, part)) => {
                (0..count).map(|i| self.slice_in_dim(i * part, (i + 1) * part, 1, dim)).collect()
            }
            // As many parts as the caller expects, each of which is the error.
            Err(error) => {
                let failed = self.record(|_| Err(error));
                vec![failed; usize::try_from(count.clamp(0, 1 << 16)).unwrap_or(0)]
            }
        }
    }
    /// Returns the array repeated as a whole, `counts[i]` times along dimension `i`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([1i32, 2]).tile(&[2]))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[4]{0} {1, 2, 1, 2}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if there is not one count for each dimension.
    #[track_caller]
    pub fn tile(self, counts: &[i64]) -> Self {
        self.record(|_| {
            let sizes = self.dims()?;
            if counts.len() != sizes.len() {
                let message = format!("{} counts are given for {:#}", counts.len(), self.array()?);
                return Err(Error::argument(message).with_help("one for each dimension"));
            }
            // A dimension of counts before each dimension.
            let pairs: Vec<i64> = counts.iter().zip(&sizes).flat_map(|(&n, &s)| [n, s]).collect();
            let own: Vec<i64> = (0..size(sizes.len())).map(|d| 2 * d + 1).collect();
            let whole = counts.iter().zip(&sizes).map(|(&n, &size)| n.saturating_mul(size));
            Ok(self.broadcast_in_dim(&pairs, &own).reshape(&whole.collect::<Vec<_>>()))
        })
    }
    /// Returns the array with each element repeated `count` times along a dimension.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([1i32, 2]).repeat(2, 0))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[4]{0} {1, 1, 2, 2}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "repeat_interleave")]
    #[track_caller]
    pub fn repeat(self, count: i64, dim: i64) -> Self {
        self.record(|_| {
            let (dim, mut sizes) = (self.axis(dim)?, self.dims()?);
            let at = usize::try_from(dim).unwrap_or(0);
            let mut longer = sizes.clone();
            longer[at] = sizes[at].saturating_mul(count);
            let own: Vec<i64> = (0..size(sizes.len())).map(|d| d + i64::from(d > dim)).collect();
            sizes.insert(at + 1, count);
            Ok(self.broadcast_in_dim(&sizes, &own).reshape(&longer))
        })
    }
    /// Returns the array with the elements moved by `shift` places along a dimension; those that
    /// leave it at one end come back at the other.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([1i32, 2, 3]).roll(1, 0))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[3]{0} {3, 1, 2}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn roll(self, shift: i64, dim: i64) -> Self {
        self.record(|b| {
            let dim = self.axis(dim)?;
            let size = self.array()?.dim(dim).unwrap_or(0);
            let last = match size {
                0 => 0,
                size => (size - shift.rem_euclid(size)) % size,
            };
            if last == 0 {
                return Ok(self);
            }
            let [front, back] = [(last, size), (0, last)]
                .map(|(start, limit)| self.slice_in_dim(start, limit, 1, dim));
            Ok(b.concat_in_dim(&[front, back], dim))
        })
    }
    /// Returns the slices at each index along a dimension, which gives way to those of `indices`:
    /// [`Value::torch_index_select`] without batch dimensions.
    ///
    /// An index outside is taken for the nearest one.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([10i32, 20, 30]);
    /// let result = interp::run(&b.build(x.take(b.constant([2i32, 0]), 0))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[2]{0} {30, 10}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "index_select")]
    #[doc(alias = "embedding")]
    #[track_caller]
    pub fn take(self, indices: Self, dim: i64) -> Self {
        self.record(|_| Ok(self.torch_index_select(indices, dim, 0)))
    }
    /// Returns the element at each index along a dimension: [`Value::torch_gather`] by a gather.
    ///
    /// `result[i, j, k] = self[i, index[i, j, k], k]` for dimension 1. An index outside is taken for
    /// the nearest one.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[3i32, 1, 2], [4, 6, 5]]);
    /// let sorted = x.take_along_axis(x.argsort(1), 1);
    /// let result = interp::run(&b.build(sorted)?, &[])?;
    /// assert_eq!(result.to_string(), "s32[2,3]{1,0} { { 1, 2, 3 }, { 4, 5, 6 } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn take_along_axis(self, index: Self, dim: i64) -> Self {
        self.record(|_| Ok(self.torch_gather(index, dim, true)))
    }
    /// Returns the places, of type `s32`, of the elements along a dimension in the ascending order of
    /// [`Value::sort`]; equal elements in the order of their places.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([3f32, 1.0, 2.0]).argsort(0))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[3]{0} {1, 2, 0}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn argsort(self, dim: i64) -> Self {
        self.record(|b| {
            let dim = self.axis(dim)?;
            let places = b.iota((ElementType::S32, &self.dims()?), dim);
            Ok(b.sort_by_first(&[self, places], dim, true).get_tuple_element(1))
        })
    }
    /// Returns the quantile `q`, from 0 to 1, of the elements along a dimension, which the result
    /// lacks: linearly interpolated at index `q * (size - 1)` of the sorted elements. The median is
    /// the quantile 0.5.
    ///
    /// NaN if an element is NaN.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[3f32, 1.0, 4.0, 1.0], [5.0, 9.0, 2.0, 6.0]]);
    /// let result = interp::run(&b.build(x.quantile(0.25, -1))?, &[])?;
    /// assert_eq!(result.to_string(), "f32[2]{0} {1, 4.25}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the type is no real float, if `q` is not from 0 to 1, or if
    /// there are no elements along the dimension.
    #[doc(alias = "median")]
    #[doc(alias = "percentile")]
    #[track_caller]
    pub fn quantile(self, q: f64, dim: i64) -> Self {
        self.record(|_| {
            let (dim, shape) = (self.axis(dim)?, self.array()?);
            let size = shape.dim(dim).unwrap_or(0);
            let nan = self.is_nan().reduce_or(&[dim]);
            if !(0.0..=1.0).contains(&q) {
                return Err(Error::argument(format!("the quantile {q} is not from 0 to 1")));
            }
            if size == 0 {
                let message = format!("dimension {dim} of {shape:#} has no elements");
                return Err(Error::argument(message));
            }
            let (low, weight) = quantile_index(q, size);
            let sorted = self.sort(dim);
            let at = |i: i64| sorted.slice_in_dim(i, i + 1, 1, dim).squeeze(&[dim]);
            let found = match weight {
                0.0 => at(low),
                weight => at(low) * (1.0 - weight) + at(low + 1) * weight,
            };
            Ok(nan.select(found.full_like(f64::NAN), found))
        })
    }
    /// Returns the norm of the vectors along dimensions, which the result lacks: the square root of
    /// the sum of the squares for `order` 2, else the sum of `|x|^order` to the power `1 / order`;
    /// for infinity the largest magnitude, for minus infinity the smallest, for 0 the number of
    /// nonzero elements. The norm of complex vectors is real.
    ///
    /// Magnitudes are not scaled: squares may overflow. Over two dimensions order 2 is the Frobenius
    /// norm of a matrix; its spectral norm is the first of [`Value::singular_values`], its nuclear
    /// norm their sum.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[3f32, -4.0], [0.0, 2.0]]);
    /// let result = interp::run(&b.build(x.vector_norm(2.0, &[-1]))?, &[])?;
    /// assert_eq!(result.to_string(), "f32[2]{0} {5, 2}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the type is no float, if the order is NaN, or if a dimension
    /// does not exist or is named twice.
    #[doc(alias = "norm")]
    #[doc(alias = "matrix_norm")]
    #[track_caller]
    pub fn vector_norm(self, order: f64, dims: &[i64]) -> Self {
        self.record(|_| {
            crate::arguments::inexact(&self.array()?, "a norm")?;
            if order.is_nan() {
                return Err(Error::argument("the order of a norm is NaN"));
            }
            let magnitude = self.abs();
            Ok(match order {
                f64::INFINITY => magnitude.reduce_max(dims),
                f64::NEG_INFINITY => magnitude.reduce_min(dims),
                0.0 => {
                    let ty = magnitude.element_type()?;
                    magnitude.ne(0).convert_element_type(ty).reduce_sum(dims)
                }
                1.0 => magnitude.reduce_sum(dims),
                2.0 if self.element_type()?.is_complex() => {
                    let (real, imag) = (self.real(), self.imag());
                    (real * real + imag * imag).reduce_sum(dims).sqrt()
                }
                2.0 => (self * self).reduce_sum(dims).sqrt(),
                order => magnitude.pow(order).reduce_sum(dims).pow(1.0 / order),
            })
        })
    }
    /// Returns the product of each element of a vector with each of another: `result[i, j] =
    /// self[i] * rhs[j]`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, y) = (b.parameter(0, "f32[3]", "x"), b.parameter(1, "f32[2]", "y"));
    /// assert_eq!(x.outer(y).dims()?, [3, 2]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn outer(self, rhs: Self) -> Self {
        self.record(|_| {
            let sizes = [self.vector()?, rhs.vector()?];
            Ok(self.broadcast_in_dim(&sizes, &[0]) * rhs.broadcast_in_dim(&sizes, &[1]))
        })
    }
    /// Returns the size of a vector.
    fn vector(self) -> Result<i64> {
        let shape = self.array()?;
        match shape.dims.as_slice() {
            [size] => Ok(*size),
            _ => Err(Error::argument(format!("expected a vector, found {shape:#}"))),
        }
    }
}

impl Builder {
    /// Returns arrays of one shape as the slices of an array along a new dimension.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let (x, y) = (b.constant([1i32, 2]), b.constant([3i32, 4]));
    /// let result = interp::run(&b.build(b.stack(&[x, y], -1))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[2,2]{1,0} { { 1, 3 }, { 2, 4 } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` for no array at all; `E0301` for arrays that differ.
    #[track_caller]
    pub fn stack<'b>(&'b self, operands: &[Value<'b>], dim: i64) -> Value<'b> {
        self.record(|b| {
            let parts: Vec<Value<'b>> = operands.iter().map(|x| x.expand_dims(&[dim])).collect();
            Ok(b.concat_in_dim(&parts, dim))
        })
    }
    /// Returns `count` numbers from `start` to `stop`, both included, at equal distances.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.linspace(hlo::ElementType::F32, 0.0, 1.0, 5))?, &[])?;
    /// assert_eq!(result.to_string(), "f32[5]{0} {0, 0.25, 0.5, 0.75, 1}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the type is no float.
    #[track_caller]
    pub fn linspace(&self, ty: ElementType, start: f64, stop: f64, count: i64) -> Value<'_> {
        self.record(|b| {
            let places = b.iota((ty, &[count]), 0);
            crate::arguments::inexact(&places.array()?, "`linspace`")?;
            if count < 2 {
                return Ok(places + start);
            }
            // Both ends are exact: each term has a factor 0 at the other one.
            let share = places / (count - 1);
            Ok((share.full_like(1.0) - share) * start + share * stop)
        })
    }
}
