//! `slice`: a strided slice.
use super::rule::with_dims;
use super::value::SliceRanges;
use super::{Infer, ShapeRule, check};
use crate::diag::Place;
use crate::diag::quantity;
use crate::{Dims, Result, Shape};

attrs! {
    /// Returns a strided slice of the operand.
    ///
    /// `slice={[start:limit:stride], ...}`: in each dimension the elements `start`, `start +
    /// stride`, ... below `limit`. A stride of 1 may be omitted.
    ///
    /// # Shape
    ///
    /// The operand's type; in each dimension `(limit - start) / stride`, rounded up. A dynamic
    /// dimension stays dynamic if all of it is taken.
    ///
    /// # Constraints
    ///
    /// - `slice_c2`: there is one range per dimension.
    /// - `slice_c3`: each range is in bounds, and does not end before it starts.
    /// - `slice_c4`: strides are positive.
    pub struct Slice {
        /// One range per dimension.
        pub ranges: SliceRanges = "slice" in slice_dimensions;
    }
}

impl ShapeRule for Slice {
    fn infer(&self, cx: &Infer<'_>) -> Result<Shape> {
        let operand = cx.array(0)?;
        let ranges = &self.ranges.0;
        let on = |e: crate::Error| e.on(Place::Attribute("slice"));
        check(ranges.len() == operand.rank(), "slice_c2", || {
            let (found, expected) =
                (quantity(ranges.len(), "range"), quantity(operand.rank(), "dimension"));
            format!("`slice` has {found}, {operand:#} has {expected}")
        })
        .map_err(on)?;
        let mut dims = Dims::new();
        for (range, &size) in ranges.iter().zip(&operand.dims) {
            let (start, limit, stride) = (range.start, range.limit, range.stride);
            check(0 <= start && start <= limit && limit <= size, "slice_c3", || {
                match start > limit {
                    true => format!("range [{start}:{limit}] ends before it starts"),
                    false => format!(
                        "range [{start}:{limit}] does not fit in a dimension of size {size}"
                    ),
                }
            })
            .map_err(on)?;
            check(stride > 0, "slice_c4", || format!("stride {stride} is not positive"))
                .map_err(on)?;
            dims.push((limit - start) / stride + i64::from((limit - start) % stride != 0));
        }
        // A slice of a dynamic dimension has a static size, as in XLA.
        let whole = |d: usize| (ranges[d].stride, dims[d]) == (1, operand.dims[d]);
        let dims = (0..dims.len()).map(|d| (dims[d], operand.is_dynamic(d) && whole(d)));
        Ok(with_dims(operand.ty, dims).into())
    }
}
