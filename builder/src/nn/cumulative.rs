//! Running sums, products and extremes along a dimension.
//!
//! By doubling: after step `i` each element holds the fold of the `2^i` elements up to it. That is
//! `log2(n)` passes over the array, and rounding errors grow with the logarithm of `n`, not with
//! `n`.
use crate::arguments::inexact;
use crate::{Error, Result, Value};

/// Returns for each element the fold of all up to it, or with `reverse` from it on. `unit` is the
/// identity of `combine`.
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
        let message =
            format!("dimension {dim} of {shape:#} is dynamic and cannot be scanned in reverse");
        return Err(Error::unsupported(message)
            .with_help("its end is known only at run time: scan from the start"));
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

/// A cumulative function for each row: its name, the unit of an element type, and the combining
/// function.
macro_rules! cumulative {
    ($($(#[$doc:meta])* $name:ident $unit:ident, $combine:expr;)*) => {
        impl Value<'_> {
            $($(#[$doc])*
            #[track_caller]
            pub fn $name(self, dim: i64, reverse: bool) -> Self {
                self.record(|b| {
                    folded(self, dim, reverse, b.$unit(self.element_type()?), $combine)
                })
            })*
        }
    };
}
cumulative! {
    /// The sum of each element and all before it along a dimension; with `reverse`, and all after
    /// it.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let result = interp::run(&b.build(b.constant([1i32, 2, 3, 4]).cumsum(0, false))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[4]{0} {1, 3, 6, 10}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    cumsum zero, |a, c| a + c;
    /// The product, as [`Value::cumsum`].
    cumprod one, |a, c| a * c;
    /// The largest element, as [`Value::cumsum`]; NaN from the first NaN on.
    cummax min_value, |a, c| a.max(c);
    /// The smallest element, as [`Value::cumsum`]; NaN from the first NaN on.
    cummin max_value, |a, c| a.min(c);
}

impl Value<'_> {
    /// Returns the logarithm of the sum of exponentials, as [`Value::cumsum`], computed without
    /// overflow.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the elements are not real floats.
    #[track_caller]
    pub fn log_cumsum_exp(self, dim: i64, reverse: bool) -> Self {
        self.record(|b| {
            inexact(&self.array()?, "`log_cumsum_exp`")?;
            folded(self, dim, reverse, b.min_value(self.element_type()?), log_add_exp)
        })
    }
}

/// Returns `log(exp(a) + exp(c))`.
fn log_add_exp<'b>(a: Value<'b>, c: Value<'b>) -> Value<'b> {
    a.record(|b| {
        // Chosen, since `max` and `abs` have corners where both are equal, and their derivatives
        // would be wrong there.
        let above = a.gt(c);
        let (most, least) = (above.select(a, c), above.select(c, a));
        // Infinities have no difference; equal ones are their own sum.
        let same = most.eq(least) & !most.is_finite();
        let apart = same.select(b.zero(most.element_type()?), least - most);
        Ok(most + apart.exp().log1p())
    })
}
