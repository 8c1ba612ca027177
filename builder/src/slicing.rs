//! Slices given by the last dimensions only.

use crate::arguments::size;
use crate::{Error, Result, Value};
use hlo::{ArrayShape, ElementType};

/// Returns the number of dimensions that are not named. Fails if more are named than the array has.
fn unnamed(shape: &ArrayShape, named: usize, what: &str) -> Result<usize> {
    shape.rank().checked_sub(named).ok_or_else(|| {
        Error::argument(format!("{named} {what} are given, {shape:#} has {}", shape.rank()))
            .with_help("one for each of the last dimensions")
    })
}
fn same_count(a: usize, b: usize, what: &str) -> Result<()> {
    if a == b { Ok(()) } else { Err(Error::argument(format!("there are {a} and {b} {what}"))) }
}
/// Starts of the last dimensions, 0 in those before.
fn starts<'b>(x: Value<'b>, minor: &[Value<'b>]) -> Result<Vec<Value<'b>>> {
    let shape = x.array()?;
    let major = unnamed(&shape, minor.len(), "starts")?;
    let ty = match minor.first() {
        Some(start) => start.element_type()?,
        None => ElementType::S32,
    };
    let zero = x.builder().constant_r0_with_type(ty, 0);
    Ok([vec![zero; major], minor.to_vec()].concat())
}

impl Value<'_> {
    /// Returns the array with a box replaced by `update`, from `start` on: XLA's `UpdateSlice`.
    ///
    /// A box that reaches over the end is moved back, as `dynamic-update-slice` does it.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([1i32, 2, 3, 4]);
    /// let result = interp::run(&b.build(x.update_slice(b.constant([8i32, 9]), &[1]))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[4]{0} {1, 8, 9, 4}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn update_slice(self, update: Self, start: &[i64]) -> Self {
        self.record(|b| {
            same_count(start.len(), self.rank()?, "starts and dimensions")?;
            // s32, as XLA has it, unless a start does not fit.
            let wide = start.iter().any(|&s| i32::try_from(s).is_err());
            let ty = if wide { ElementType::S64 } else { ElementType::S32 };
            let starts: Result<Vec<_>> =
                start.iter().map(|&s| Ok(b.constant_r0_with_type(ty, s))).collect();
            Ok(self.dynamic_update_slice(update, &starts?))
        })
    }
    /// Returns the box from `start` to before `end` in the last dimensions, all of those before:
    /// XLA's `SliceInMinorDims`.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[8,5,6]", "x");
    /// assert_eq!(x.slice_in_minor_dims(&[1, 0], &[3, 6]).dims()?, [8, 2, 6]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[track_caller]
    pub fn slice_in_minor_dims(self, start: &[i64], end: &[i64]) -> Self {
        self.record(|_| {
            let shape = self.array()?;
            same_count(start.len(), end.len(), "starts and ends")?;
            let major = unnamed(&shape, start.len(), "starts")?;
            let starts = [&vec![0; major], start].concat();
            let limits = [&shape.dims[..major], end].concat();
            Ok(self.slice(&starts, &limits, &vec![1; starts.len()]))
        })
    }
    /// Returns the array with a box of the last dimensions replaced, from `start` on: XLA's
    /// `UpdateSliceInMinorDims`.
    #[track_caller]
    pub fn update_slice_in_minor_dims(self, update: Self, start: &[i64]) -> Self {
        self.record(|_| {
            let major = unnamed(&self.array()?, start.len(), "starts")?;
            Ok(self.update_slice(update, &[&vec![0; major], start].concat()))
        })
    }
    /// Returns the box of these sizes in the last dimensions, from scalars `starts` on: XLA's
    /// `DynamicSliceInMinorDims`.
    #[track_caller]
    pub fn dynamic_slice_in_minor_dims(self, starts_at: &[Self], sizes: &[i64]) -> Self {
        self.record(|_| {
            same_count(starts_at.len(), sizes.len(), "starts and sizes")?;
            let shape = self.array()?;
            let major = unnamed(&shape, sizes.len(), "sizes")?;
            let all = [shape.dims.split_at(major).0, sizes].concat();
            Ok(self.dynamic_slice(&starts(self, starts_at)?, &all))
        })
    }
    /// Returns the array with a box of the last dimensions replaced, from scalars `starts` on:
    /// XLA's `DynamicUpdateSliceInMinorDims`.
    #[track_caller]
    pub fn dynamic_update_slice_in_minor_dims(self, update: Self, starts_at: &[Self]) -> Self {
        self.record(|_| Ok(self.dynamic_update_slice(update, &starts(self, starts_at)?)))
    }
    /// Returns the array repeated to these sizes, lined up at the right, as numpy does it: XLA's
    /// `BroadcastTo`.
    ///
    /// New dimensions stand in front, dimensions of size 1 are repeated. XLA also repeats each
    /// element of a dimension whose size divides the expected one; here that is refused.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.parameter(0, "f32[3,1]", "x");
    /// assert_eq!(x.broadcast_to(&[2, 3, 4]).dims()?, [2, 3, 4]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0802` if a size is neither 1 nor the expected one, or there are fewer
    /// sizes than dimensions.
    #[doc(alias = "expand")]
    #[track_caller]
    pub fn broadcast_to(self, sizes: &[i64]) -> Self {
        self.record(|_| {
            let shape = self.array()?;
            let front = sizes.len().checked_sub(shape.rank());
            let fits = front.is_some_and(|front| {
                shape.dims.iter().zip(&sizes[front..]).all(|(&from, &to)| from == to || from == 1)
            });
            let Some(front) = front.filter(|_| fits) else {
                let message = format!("{shape:#} cannot be repeated to the sizes {sizes:?}");
                return Err(Error::from(crate::Code::Broadcast { message })
                    .with_help("sizes are lined up at the right; only 1 is repeated"));
            };
            if shape.dims.as_slice() == sizes {
                return Ok(self);
            }
            let dims: Vec<i64> = (size(front)..).take(shape.rank()).collect();
            Ok(self.broadcast_in_dim(sizes, &dims))
        })
    }
}
