//! Gather and scatter: slices at indices given by an array.
use crate::arguments::{all_counted, counted, size};
use crate::{Builder, Error, Result, Value};
use hlo::diag::quantity;
use hlo::op::{Gather, Scatter};

/// The dimension numbers of a gather: XLA's `GatherDimensionNumbers`.
///
/// The array of indices holds vectors along `index_vector_dim` (its rank means that each element is
/// a vector of one); its other dimensions count them. Component `k` of a vector is a place along
/// dimension `start_index_map[k]` of the operand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GatherDimensionNumbers {
    /// Result dimensions that index into a slice, in increasing order.
    pub offset_dims: Vec<i64>,
    /// Operand dimensions left out of the result, in increasing order; a slice has size 1 there.
    pub collapsed_slice_dims: Vec<i64>,
    /// Operand dimension of each component of a vector.
    pub start_index_map: Vec<i64>,
    /// Operand dimensions that go along with the indices, in increasing order.
    pub operand_batching_dims: Vec<i64>,
    /// Index dimensions paired with `operand_batching_dims`.
    pub start_indices_batching_dims: Vec<i64>,
    /// The dimension of the indices that holds a vector.
    pub index_vector_dim: i64,
    /// A promise that the indices grow; it changes no value.
    pub indices_are_sorted: bool,
}

/// The dimension numbers of a scatter: XLA's `ScatterDimensionNumbers`. Indices mean what they mean
/// in a gather.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScatterDimensionNumbers {
    /// Update dimensions that index into a slice, in increasing order.
    pub update_window_dims: Vec<i64>,
    /// Operand dimensions left out of the updates, in increasing order; a slice has size 1 there.
    pub inserted_window_dims: Vec<i64>,
    /// Operand dimension of each component of a vector.
    pub scatter_dims_to_operand_dims: Vec<i64>,
    /// Operand dimensions that go along with the indices, in increasing order.
    pub input_batching_dims: Vec<i64>,
    /// Index dimensions paired with `input_batching_dims`.
    pub scatter_indices_batching_dims: Vec<i64>,
    /// The dimension of the indices that holds a vector.
    pub index_vector_dim: i64,
    /// A promise that the indices grow; it changes no value.
    pub indices_are_sorted: bool,
    /// A promise that no place is named twice; it changes no value.
    pub unique_indices: bool,
}

impl GatherDimensionNumbers {
    /// Returns them counted from the start.
    fn counted(self, operand: Value<'_>, indices: Value<'_>) -> Result<Self> {
        let (operand, indices) = (operand.rank()?, indices.rank()?);
        let index_vector_dim = counted(self.index_vector_dim, indices);
        let vectors = usize::from(index_vector_dim < size(indices));
        let result = (self.offset_dims.len() + indices).saturating_sub(vectors);
        Ok(Self {
            offset_dims: all_counted(&self.offset_dims, result),
            collapsed_slice_dims: all_counted(&self.collapsed_slice_dims, operand),
            start_index_map: all_counted(&self.start_index_map, operand),
            operand_batching_dims: all_counted(&self.operand_batching_dims, operand),
            start_indices_batching_dims: all_counted(&self.start_indices_batching_dims, indices),
            index_vector_dim,
            ..self
        })
    }
}
impl ScatterDimensionNumbers {
    /// Returns them counted from the start.
    fn counted(self, operand: Value<'_>, indices: Value<'_>, update: Value<'_>) -> Result<Self> {
        let (operand, indices, update) = (operand.rank()?, indices.rank()?, update.rank()?);
        let to_operand = &self.scatter_dims_to_operand_dims;
        let batching = &self.scatter_indices_batching_dims;
        Ok(Self {
            update_window_dims: all_counted(&self.update_window_dims, update),
            inserted_window_dims: all_counted(&self.inserted_window_dims, operand),
            scatter_dims_to_operand_dims: all_counted(to_operand, operand),
            input_batching_dims: all_counted(&self.input_batching_dims, operand),
            scatter_indices_batching_dims: all_counted(batching, indices),
            index_vector_dim: counted(self.index_vector_dim, indices),
            ..self
        })
    }
}

impl Value<'_> {
    /// Returns the slices of these sizes at the given indices, as one array: XLA's `Gather`.
    ///
    /// Indices are clamped so that each slice is inside the array. (Gather, XLA operation
    /// semantics.)
    ///
    /// ```
    /// use builder::options::GatherDimensionNumbers;
    /// let b = builder::Builder::new("rows");
    /// let x = b.constant([[1i32, 2], [3, 4], [5, 6]]);
    /// let numbers = GatherDimensionNumbers {
    ///     offset_dims: vec![1],
    ///     collapsed_slice_dims: vec![0],
    ///     start_index_map: vec![0],
    ///     index_vector_dim: 1,
    ///     ..Default::default()
    /// };
    /// let result = interp::run(&b.build(x.gather(b.constant([2i32, 0]), &numbers, &[1, 2]))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[2,2]{1,0} { { 5, 6 }, { 1, 2 } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn gather(
        self,
        start_indices: Self,
        dimension_numbers: &GatherDimensionNumbers,
        slice_sizes: &[i64],
    ) -> Self {
        self.record(|b| {
            let numbers = dimension_numbers.clone().counted(self, start_indices)?;
            let op = Gather {
                offset_dims: numbers.offset_dims,
                collapsed_slice_dims: numbers.collapsed_slice_dims,
                start_index_map: numbers.start_index_map,
                operand_batching_dims: numbers.operand_batching_dims,
                start_indices_batching_dims: numbers.start_indices_batching_dims,
                index_vector_dim: numbers.index_vector_dim,
                slice_sizes: slice_sizes.to_vec(),
                indices_are_sorted: numbers.indices_are_sorted,
            };
            b.emit(op, &[self, start_indices], None)
        })
    }
    /// Returns the array with updates combined into it at the given indices: XLA's `Scatter`.
    ///
    /// `combine` takes what is there and the update, both scalars. A slice that is not entirely
    /// inside the array is skipped; places named twice are combined twice, in an order that is not
    /// defined. (Scatter, XLA operation semantics.)
    ///
    /// ```
    /// use builder::options::ScatterDimensionNumbers;
    /// let b = builder::Builder::new("count");
    /// let numbers = ScatterDimensionNumbers {
    ///     inserted_window_dims: vec![0],
    ///     scatter_dims_to_operand_dims: vec![0],
    ///     index_vector_dim: 1,
    ///     ..Default::default()
    /// };
    /// let (zeros, at, ones) = (b.constant([0i32; 4]), b.constant([1i32, 3, 1]), b.constant([1i32; 3]));
    /// let result = interp::run(&b.build(zeros.scatter(at, ones, |there, one| there + one, &numbers))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[4]{0} {0, 2, 0, 1}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn scatter(
        self,
        scatter_indices: Self,
        updates: Self,
        combine: impl FnOnce(Self, Self) -> Self,
        dimension_numbers: &ScatterDimensionNumbers,
    ) -> Self {
        let combine = |p: &[Self]| combine(p[0], p[1]);
        self.builder().scatter(&[self], scatter_indices, &[updates], combine, dimension_numbers)
    }
}

impl Builder {
    /// As [`Value::scatter`], for several arrays: XLA's `Scatter` of many.
    ///
    /// `combine` takes what is there of each array, then the update of each, and returns a tuple of
    /// what is to be there (for one array, the scalar). The result is a tuple; for one array, the
    /// array.
    #[track_caller]
    pub fn scatter<'b>(
        &'b self,
        operands: &[Value<'b>],
        scatter_indices: Value<'b>,
        updates: &[Value<'b>],
        combine: impl FnOnce(&[Value<'b>]) -> Value<'b>,
        dimension_numbers: &ScatterDimensionNumbers,
    ) -> Value<'b> {
        self.record(|b| {
            if operands.is_empty() || operands.len() != updates.len() {
                let (arrays, updates) = (operands.len(), updates.len());
                let message = format!(
                    "found {} for {}",
                    quantity(updates, "update"),
                    quantity(arrays, "array")
                );
                return Err(Error::argument(message)
                    .with_help("give one array or more, and an update for each"));
            }
            let scalars = super::reduce::scalars(operands)?;
            let parameters = [scalars.clone(), scalars].concat();
            let to_apply = b.trace("update_computation", &parameters, combine)?;
            let numbers =
                dimension_numbers.clone().counted(operands[0], scatter_indices, updates[0])?;
            let operands = [operands, &[scatter_indices], updates].concat();
            let op = Scatter {
                update_window_dims: numbers.update_window_dims,
                inserted_window_dims: numbers.inserted_window_dims,
                scatter_dims_to_operand_dims: numbers.scatter_dims_to_operand_dims,
                input_batching_dims: numbers.input_batching_dims,
                scatter_indices_batching_dims: numbers.scatter_indices_batching_dims,
                index_vector_dim: numbers.index_vector_dim,
                indices_are_sorted: numbers.indices_are_sorted,
                unique_indices: numbers.unique_indices,
                to_apply,
            };
            b.emit(op, &operands, None)
        })
    }
}
