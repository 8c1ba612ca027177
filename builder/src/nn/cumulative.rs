//! Running sums, products and extremes along a dimension.
//!
//! By doubling: after step `i` each element holds the fold of the `2^i` elements up to it. That is `log2(n)` passes over the
//! array, and rounding errors grow with the logarithm of `n`, not with `n`.
use crate::arguments::inexact;
use crate::{Error, Result, Value};

/// For each element the fold of those before it (with `reverse`, after it) and itself. `unit` is what `combine` leaves alone.
fn folded<'b>(
    x: Value<'b>,
    dim: i64,
    reverse: bool,
    unit: Value<'b>,
    combine: impl Fn(Value<'b>, Value<'b>) -> Value<'b>,
) -> Result<Value<'b>> {
    let dim = x.axis(dim)?;
    let shape = x.array()?;
    if reverse && usize::try_from(dim).is_ok_and(|d| shape.is_dynamic(d)) {
        let message = format!("from its end dimension {dim} of {shape:#} cannot be folded");
        return Err(Error::unsupported(message)
            .with_help("where it ends is known only at run time: fold from the start"));
    }
    let count = shape.dim(dim).unwrap_or(0);
    let (mut done, mut step) = (x, 1i64);
    while step < count {
        let moved = match reverse {
            false => done.slice_in_dim(0, count - step, 1, dim).pad_in_dim(unit, dim, step, 0),
            true => done.slice_in_dim(step, count, 1, dim).pad_in_dim(unit, dim, 0, step),
        };
        done = combine(moved, done);
        step = step.saturating_mul(2);
    }
    Ok(done)
}

impl Value<'_> {
    /// For each element the sum of those before it along a dimension, and itself; with `reverse` of those after it.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let module = b.build(b.constant([1i32, 2, 3, 4]).cumsum(0, false))?;
    /// let result = interp::Interpreter::new(&module).run(&[])?;
    /// assert_eq!(result.to_string(), "s32[4]{0} {1, 3, 6, 10}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn cumsum(self, dim: i64, reverse: bool) -> Self {
        self.builder().record(|b| {
            let unit = b.zero(self.element_type()?);
            folded(self, dim, reverse, unit, |a, c| a + c)
        })
    }
    /// The same of products.
    #[track_caller]
    pub fn cumprod(self, dim: i64, reverse: bool) -> Self {
        self.builder().record(|b| {
            let unit = b.constant_r0_with_type(self.element_type()?, 1);
            folded(self, dim, reverse, unit, |a, c| a * c)
        })
    }
    /// The same of the largest element; NaN from the first NaN on.
    #[track_caller]
    pub fn cummax(self, dim: i64, reverse: bool) -> Self {
        self.builder().record(|b| {
            let unit = b.min_value(self.element_type()?);
            folded(self, dim, reverse, unit, |a, c| a.max(c))
        })
    }
    /// The same of the smallest element; NaN from the first NaN on.
    #[track_caller]
    pub fn cummin(self, dim: i64, reverse: bool) -> Self {
        self.builder().record(|b| {
            let unit = b.max_value(self.element_type()?);
            folded(self, dim, reverse, unit, |a, c| a.min(c))
        })
    }
    /// The same of the logarithm of the sum of exponentials, which does not overflow.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if it is not of real floats.
    #[track_caller]
    pub fn log_cumsum_exp(self, dim: i64, reverse: bool) -> Self {
        self.builder().record(|b| {
            inexact(&self.array()?, "`log_cumsum_exp`")?;
            let unit = b.min_value(self.element_type()?);
            folded(self, dim, reverse, unit, log_add_exp)
        })
    }
}

/// `log(exp(a) + exp(c))`.
fn log_add_exp<'b>(a: Value<'b>, c: Value<'b>) -> Value<'b> {
    a.builder().record(|b| {
        // Chosen, since `max` and `abs` have corners where both are equal, and their derivatives would be wrong there.
        let above = a.gt(c);
        let (most, least) = (above.select(a, c), above.select(c, a));
        // Infinities have no difference; equal ones are their own sum.
        let same = most.eq(least) & !most.is_finite();
        let apart = same.select(b.zero(most.element_type()?), least - most);
        Ok(most + apart.exp().log1p())
    })
}
