//! Indices and sizes known only at run time.
use super::shapes::{one_each, sizes};
use crate::arguments::{all_counted, size};
use crate::{Error, IntoShape, Result, Value};
use hlo::op::value::Text;
use hlo::op::{CustomCall, DynamicReshape, DynamicSlice, DynamicUpdateSlice};
use hlo::{ArrayShape, Shape};

impl Value<'_> {
    /// Returns the slice of these sizes at these start indices: XLA's `DynamicSlice`.
    ///
    /// `start_indices` are scalars of one integer type, one for each dimension, or one vector of
    /// them all. Each is limited to `0..=size - slice size`, so that the slice is inside the array.
    /// (`DynamicSlice`, XLA operation semantics.)
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let i = b.parameter(0, "s32[]", "i");
    /// let module = b.build(b.constant([10i32, 20, 30]).dynamic_slice(&[i], &[2]))?;
    /// assert_eq!(interp::run(&module, &["s32[] 7".parse()?])?.to_string(), "s32[2]{0} {20, 30}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn dynamic_slice(self, start_indices: &[Self], slice_sizes: &[i64]) -> Self {
        self.record(|b| {
            let shape = self.array()?;
            one_each("slice_sizes", slice_sizes.len(), &shape)?;
            one_index_each(start_indices, &shape)?;
            let op = DynamicSlice { dynamic_slice_sizes: sizes(slice_sizes)?.to_vec() };
            b.emit(op, &[&[self], start_indices].concat(), None)
        })
    }
    /// Returns the array with the slice at these start indices replaced by `update`: XLA's
    /// `DynamicUpdateSlice`.
    ///
    /// Indices as of [`Value::dynamic_slice`]; the update is nowhere larger than the array.
    #[track_caller]
    pub fn dynamic_update_slice(self, update: Self, start_indices: &[Self]) -> Self {
        self.record(|b| {
            one_index_each(start_indices, &self.array()?)?;
            b.emit(DynamicUpdateSlice {}, &[&[self, update], start_indices].concat(), None)
        })
    }
    /// Returns the elements inside the dynamic sizes, in row-major order, with dimensions of
    /// computed sizes: XLA's `DynamicReshape`.
    ///
    /// `dim_sizes` are scalars of `s32`, one for each dimension of the result; `new_size_bounds`
    /// their largest values, whose product is that of the array's bounds; `dims_are_dynamic` says
    /// which may be smaller.
    #[track_caller]
    pub fn dynamic_reshape(
        self,
        dim_sizes: &[Self],
        new_size_bounds: &[i64],
        dims_are_dynamic: &[bool],
    ) -> Self {
        self.record(|b| {
            let mut shape = ArrayShape::new(self.element_type()?, sizes(new_size_bounds)?);
            one_each("dim_sizes", dim_sizes.len(), &shape)?;
            one_each("dims_are_dynamic", dims_are_dynamic.len(), &shape)?;
            shape.dynamic = dims_are_dynamic.contains(&true).then(|| dims_are_dynamic.into());
            b.emit(DynamicReshape {}, &[&[self], dim_sizes].concat(), Some(shape.into()))
        })
    }
    /// Returns the reshape of MHLO whose sizes are a vector of integers: XLA's
    /// `MhloDynamicReshape`, which is a custom call of `mhlo.dynamic_reshape`.
    ///
    /// The engine runs it where a function is registered for that target.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if `output_shape` is no vector of integers with one for each
    /// dimension of `shape`, or `shape` has another element type.
    #[track_caller]
    pub fn mhlo_dynamic_reshape(self, output_shape: Self, shape: impl IntoShape) -> Self {
        self.record(|b| {
            let (from, to) = (self.array()?, array(shape.into_shape()?)?);
            size_vector("output_shape", output_shape, &to)?;
            if from.ty != to.ty {
                let message = format!("a reshape of {} cannot give {to:#}", from.ty);
                return Err(Error::argument(message));
            }
            let call = CustomCall::new(Text("mhlo.dynamic_reshape".into()));
            b.emit(call, &[self, output_shape], Some(to.into()))
        })
    }
    /// Returns the broadcast of MHLO whose sizes are a vector of integers: XLA's
    /// `MhloDynamicBroadcastInDim`, which is a custom call of `mhlo.dynamic_broadcast_in_dim`.
    /// Dimension `i` becomes dimension `broadcast_dimensions[i]`.
    ///
    /// The engine runs it where a function is registered for that target.
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if `output_dimensions` is no vector of integers with one for
    /// each dimension of `output_shape`, a dimension does not exist, or a size is neither kept nor
    /// 1.
    #[track_caller]
    pub fn mhlo_dynamic_broadcast_in_dim(
        self,
        output_dimensions: Self,
        broadcast_dimensions: &[i64],
        output_shape: impl IntoShape,
    ) -> Self {
        self.record(|b| {
            let (from, to) = (self.array()?, array(output_shape.into_shape()?)?);
            size_vector("output_dimensions", output_dimensions, &to)?;
            one_each("broadcast_dimensions", broadcast_dimensions.len(), &from)?;
            let broadcast_dimensions = all_counted(broadcast_dimensions, to.rank());
            for (&dim, &own) in broadcast_dimensions.iter().zip(&from.dims) {
                let Some(result) = to.dim(dim) else {
                    let message = format!("dimension {dim} does not exist in {to:#}");
                    return Err(Error::argument(message));
                };
                if own != 1 && own != result {
                    let message = format!(
                        "a dimension of size {own} cannot become dimension {dim} of {to:#}"
                    );
                    return Err(Error::argument(message)
                        .with_help("a size stays as it is, or is 1 and repeated"));
                }
            }
            let dims: Vec<String> = broadcast_dimensions.iter().map(i64::to_string).collect();
            let config = format!("{{broadcast_dimensions=[{}]}}", dims.join(","));
            let operands = [self, output_dimensions];
            let call = CustomCall::new(Text("mhlo.dynamic_broadcast_in_dim".into()));
            b.emit_configured(call, &operands, to.into(), &config)
        })
    }
}

/// Returns one scalar for each dimension, or one vector.
fn one_index_each(indices: &[Value<'_>], shape: &ArrayShape) -> Result<()> {
    let vector = match indices {
        [index] => index.rank()? == 1,
        _ => false,
    };
    if vector || indices.len() == shape.rank() {
        return Ok(());
    }
    let (found, rank) = (indices.len(), shape.rank());
    let message = format!("expected {rank} start indices for {shape:#}, found {found}");
    Err(Error::argument(message)
        .with_help("give a scalar for each dimension, or one vector of them all"))
}

fn array(shape: Shape) -> Result<ArrayShape> {
    match shape {
        Shape::Array(array) => Ok(array),
        other @ (Shape::Tuple(_) | Shape::Token | Shape::Opaque | Shape::Buffer(_)) => {
            Err(Error::argument(format!("the result is an array, not {other:#}")))
        }
    }
}

/// Fails unless the value holds a size for each dimension of the result.
fn size_vector(name: &str, found: Value<'_>, result: &ArrayShape) -> Result<()> {
    let found = found.array()?;
    let count = size(result.rank());
    if found.ty.is_integral() && found.dims.as_slice() == [count] {
        return Ok(());
    }
    let message = format!("`{name}` is {found:#}, expected a vector of {count} integers");
    Err(Error::argument(message).with_help("it holds one size for each dimension of the result"))
}
