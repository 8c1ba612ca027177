//! Broadcasts, reshapes, transposes and tuples.
use super::shapes::sizes as checked;
use crate::arguments::{all_counted, size};
use crate::{Builder, Error, Result, Value, implicit};
use hlo::op::{Broadcast, GetTupleElement, Transpose, Tuple};
use hlo::{ArrayShape, Dims};

impl Value<'_> {
    /// Repeats the array along new dimensions of these sizes, in front of its own: XLA's
    /// `Broadcast`.
    #[track_caller]
    pub fn broadcast(self, sizes: &[i64]) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            let mut dims = checked(sizes)?;
            dims.extend(shape.dims.iter().copied());
            let dimensions: Vec<i64> = (size(sizes.len())..).take(shape.rank()).collect();
            let mut result = ArrayShape::new(shape.ty, dims);
            implicit::keep_dynamic(&shape, &mut result, &dimensions);
            b.emit(Broadcast { dimensions }, &[self], Some(result.into()))
        })
    }
    /// Broadcasts: dimension `i` becomes dimension `dims[i]` of a result of these sizes; one of
    /// size 1 is repeated: XLA's `BroadcastInDim`.
    #[track_caller]
    pub fn broadcast_in_dim(self, sizes: &[i64], dims: &[i64]) -> Self {
        self.record(|_| {
            let shape = self.array()?;
            if dims.len() != shape.rank() {
                let message =
                    format!("{shape:#} has {} dimensions, {} are named", shape.rank(), dims.len());
                return Err(Error::argument(message).with_help("name a result dimension for each"));
            }
            let dims = all_counted(dims, sizes.len());
            if !dims.is_sorted_by(|a, b| a < b) {
                let message = format!("the dimensions {dims:?} are not increasing");
                return Err(Error::argument(message).with_help("transpose the operand first"));
            }
            let result = ArrayShape::new(shape.ty, checked(sizes)?);
            implicit::in_dim(self, &shape, result, &dims)
        })
    }
    /// Returns the same elements, in row-major order, under other dimensions: XLA's `Reshape`. One
    /// size may be -1: what the elements leave for it.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// assert_eq!(b.parameter(0, "f32[8,3,4]", "x").reshape(&[8, -1]).dims()?, [8, 12]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    #[doc(alias = "view")]
    #[track_caller]
    pub fn reshape(self, sizes: &[i64]) -> Self {
        self.record(|b| {
            let sizes = crate::arrays::inferred(self, sizes)?;
            super::reshape::to_sizes(b, self, checked(&sizes)?, -1)
        })
    }
    /// Transposes: dimension `i` of the result is dimension `permutation[i]` of the array: XLA's
    /// `Transpose`.
    #[doc(alias = "permute")]
    #[track_caller]
    pub fn transpose(self, permutation: &[i64]) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            let dimensions = all_counted(permutation, shape.rank());
            // Stated in the default layout: left to itself the shape rule keeps the elements where
            // they are.
            let dims: Option<Dims> = dimensions.iter().map(|&d| shape.dim(d)).collect();
            let dims = dims.filter(|dims| dims.len() == shape.rank() && shape.dynamic.is_none());
            let stated = dims.map(|dims| ArrayShape::new(shape.ty, dims).into());
            b.emit(Transpose { dimensions }, &[self], stated)
        })
    }
    /// Returns an element of a tuple: XLA's `GetTupleElement`.
    #[track_caller]
    pub fn get_tuple_element(self, index: i64) -> Self {
        self.record(|b| b.emit(GetTupleElement { index }, &[self], None))
    }
}

impl Builder {
    /// Returns a tuple of values: XLA's `Tuple`.
    #[track_caller]
    pub fn tuple<'b>(&'b self, elements: &[Value<'b>]) -> Value<'b> {
        self.record(|b| b.emit(Tuple {}, elements, None))
    }
}

/// Returns the elements of a tuple: XLA's `DisassembleTuple`.
pub(crate) fn elements(tuple: Value<'_>) -> Result<Vec<Value<'_>>> {
    let shape = tuple.shape()?;
    let count = shape
        .tuple()
        .map(<[_]>::len)
        .ok_or_else(|| Error::argument(format!("expected a tuple, found {shape:#}")))?;
    Ok((0i64..).take(count).map(|i| tuple.get_tuple_element(i)).collect())
}
