//! Gather, scatter and index select along one dimension, as in `PyTorch`.
use crate::arguments::{counting, first, others, size};
use crate::{Builder, Error, Result, Value};
use hlo::ArrayShape;
use hlo::op::{Gather, Scatter};

/// Fails unless the arrays have one rank and the indices reach no further than the input in other
/// dimensions.
fn fits(input: &ArrayShape, index: &ArrayShape, dim: i64) -> Result<()> {
    let inside = |d: usize| size(d) == dim || index.dims[d] <= input.dims[d];
    if input.rank() == index.rank() && (0..index.rank()).all(inside) {
        return Ok(());
    }
    let message = format!("indices {index:#} do not fit {input:#} along dimension {dim}");
    Err(Error::argument(message)
        .with_help("they have one rank; in other dimensions no size is larger"))
}
/// Returns for each index its whole position, in a new last dimension.
fn positions<'b>(index: Value<'b>, dim: i64) -> Result<Value<'b>> {
    let index = counting(index)?;
    let shape = index.array()?;
    let sizes = [&shape.dims[..], &[1]].concat();
    let place = |d: i64| match d == dim {
        true => Ok(index.reshape(&sizes)),
        false => Ok(index.builder().iota((shape.ty, &sizes), d)),
    };
    let rank = size(shape.rank());
    let places: Result<Vec<Value<'b>>> = (0..rank).map(place).collect();
    Ok(index.builder().concat_in_dim(&places?, rank))
}

impl Value<'_> {
    /// Returns the element at each index along a dimension: XLA's `TorchGather`, `PyTorch`'s
    /// `gather`.
    ///
    /// `result[i, j, k] = self[i, index[i, j, k], k]` for dimension 1. The result is shaped like
    /// `index`, whose sizes are at most those of the array in other dimensions. With `sparse` it is
    /// a `gather`, which takes an index outside for the nearest one; without, a sum over a mask,
    /// which gives 0 for it.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let x = b.constant([[1i32, 2], [3, 4]]);
    /// let index = b.constant([[0i32, 0], [1, 0]]);
    /// let result = interp::run(&b.build(x.torch_gather(index, 1, true))?, &[])?;
    /// assert_eq!(result.to_string(), "s32[2,2]{1,0} { { 1, 1 }, { 4, 3 } }");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[track_caller]
    pub fn torch_gather(self, index: Self, dim: i64, sparse: bool) -> Self {
        self.record(|b| {
            let dim = self.axis(dim)?;
            let (shape, expected) = (self.array()?, index.array()?);
            fits(&shape, &expected, dim)?;
            let rank = size(shape.rank());
            if !sparse {
                return masked_gather(b, self, index, dim);
            }
            let (all, ones) = (first(shape.rank()), shape.dims.iter().map(|&size| size.min(1)));
            let op = Gather::new(vec![], all.clone(), all, rank, ones.collect());
            b.emit(op, &[self, positions(index, dim)?], None)
        })
    }
    /// Returns the array where `source` is combined into the elements at each index along a
    /// dimension: XLA's `TorchScatterDense`, `PyTorch`'s `scatter_reduce`.
    ///
    /// `result[i, index[i, j], k] = combine(.., source[i, j])`; `index` and `source` are of one
    /// shape, whose sizes are at most those of the array in other dimensions. Indices outside are
    /// skipped. `combine` should be associative. It is a `scatter`; XLA's function is a reduction
    /// over a mask that starts from 0, which is the same for sums only.
    #[track_caller]
    pub fn torch_scatter_dense(
        self,
        index: Self,
        source: Self,
        dim: i64,
        combine: impl FnOnce(Self, Self) -> Self,
    ) -> Self {
        self.record(|b| {
            let dim = self.axis(dim)?;
            let (shape, given) = (self.array()?, index.array()?);
            fits(&shape, &given, dim)?;
            let rank = size(shape.rank());
            let (all, to_apply) = (first(shape.rank()), b.combiner("combiner", shape.ty, combine)?);
            let op = Scatter::new(vec![], all.clone(), all, rank, to_apply);
            b.emit(op, &[self, positions(index, dim)?, source], None)
        })
    }
    /// Returns the slices at each index along a dimension: XLA's `TorchIndexSelect`, `PyTorch`'s
    /// `index_select`.
    ///
    /// The dimension gives way to those of `index`. The first `batch_dims` dimensions of both
    /// belong together. An index outside is taken for the nearest one.
    ///
    /// ```
    /// let b = builder::Builder::new("m");
    /// let table = b.parameter(0, "f32[100,16]", "table");
    /// let words = b.parameter(1, "s32[8,20]", "words");
    /// assert_eq!(table.torch_index_select(words, 0, 0).dims()?, [8, 20, 16]);
    /// # Ok::<(), builder::Error>(())
    /// ```
    ///
    /// # Errors
    /// Kept by the builder: `E0801` if the dimension is one of the first `batch_dims`.
    #[track_caller]
    pub fn torch_index_select(self, index: Self, dim: i64, batch_dims: i64) -> Self {
        self.record(|b| {
            let dim = self.axis(dim)?;
            let (shape, given) = (self.array()?, index.array()?);
            let index_rank = size(given.rank());
            if !(0..=dim.min(index_rank)).contains(&batch_dims) {
                let message = format!("{batch_dims} batch dimensions do not stand before dimension {dim} and in {given:#}");
                return Err(Error::argument(message));
            }
            let mut slice_sizes = shape.dims.to_vec();
            for (size, d) in slice_sizes.iter_mut().zip(0i64..) {
                if d < batch_dims || d == dim {
                    *size = (*size).min(1);
                }
            }
            let left_out: Vec<i64> = (0..batch_dims).chain([dim]).collect();
            let kept = others(shape.rank(), &left_out);
            let moved = |&d: &i64| if d < dim {d} else { d - 1 + index_rank - batch_dims };
            let offset_dims = kept.iter().map(moved).collect();
            let op = Gather {
                operand_batching_dims: (0..batch_dims).collect(),
                start_indices_batching_dims: (0..batch_dims).collect(),
                ..Gather::new(offset_dims, vec![dim], vec![dim], index_rank, slice_sizes)
            };
            b.emit(op, &[self, index], None)
        })
    }
}

/// Returns the element at each index, as a sum over a mask: dimension `dim` of the array is
/// compared with a new one of indices.
fn masked_gather<'b>(
    b: &'b Builder,
    x: Value<'b>,
    index: Value<'b>,
    dim: i64,
) -> Result<Value<'b>> {
    let (shape, expected) = (x.array()?, index.array()?);
    // What indices do not reach in other dimensions is cut off.
    let at = usize::try_from(dim).unwrap_or(0);
    let mut limits = expected.dims.to_vec();
    limits[at] = shape.dims[at];
    let x = x.slice(&vec![0; limits.len()], &limits, &vec![1; limits.len()]);
    // Every place along the dimension beside every index: one dimension more, in front of that of
    // the indices.
    let mut sizes = expected.dims.to_vec();
    sizes.insert(at, shape.dims[at]);
    let all: Vec<i64> = (0..size(sizes.len())).collect();
    let without =
        |left_out: i64| -> Vec<i64> { all.iter().copied().filter(|&d| d != left_out).collect() };
    let index = counting(index)?;
    let ty = index.element_type()?;
    let mask = index.broadcast_in_dim(&sizes, &without(dim)).eq(b.iota((ty, &sizes), dim));
    let spread = x.broadcast_in_dim(&sizes, &without(dim + 1));
    let masked = mask.select(spread, b.zero(shape.ty));
    Ok(masked.reduce_sum(&[dim]))
}
