//! `scatter`: `result[start + window] = to_apply(result[start + window], update)` for each update
//! in order
//!
//! The result starts as the operand. An index of `updates` consists of a scatter index, which
//! selects a start index from `scatter_indices`, and a window index, which is the offset of the
//! element from that start.
//!
//! - A window that is partly or wholly out of bounds is skipped entirely: indices are not clamped.
//!   (StableHLO checks each element separately.)
//! - Updates are applied in row-major order of the scatter indices, and within a window of the
//!   window indices. If an element is updated several times, the updates are applied one after
//!   another. (StableHLO does not define the order.)
//! - N operands have N arrays of updates; `to_apply` takes N elements of the result, then N
//!   elements of the updates.
//!
//! Source: StableHLO, "scatter"; XLA operation semantics, "Scatter".
use super::gather::{batch_position, vector_index};
use super::{Computations, Operand, Output, Results, indices, pack, set};
use hlo::op::Scatter;
use hlo::{ArrayShape, Dims, Literal, Shape};
use num::Result;
use num::index::{others, to_usize};

pub(super) fn scatter(
    op: &Scatter,
    operands: &[Operand<'_>],
    scatter_indices: &Operand<'_>,
    updates: &[Operand<'_>],
    shape: &Shape,
    call: Computations<'_>,
) -> Result<Literal> {
    let Scatter {
        update_window_dims,
        inserted_window_dims,
        scatter_dims_to_operand_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        index_vector_dim,
        indices_are_sorted: _, // An assertion about the operands that does not affect the result.
        unique_indices: _,     // Likewise.
        to_apply,
    } = op;
    let function = call.function(*to_apply)?;
    let shapes = shape.leaves().into_iter().filter_map(Shape::array);
    let mut results: Vec<Output> = operands
        .iter()
        .zip(shapes)
        .map(|(operand, shape)| Output::copy_of(operand, shape))
        .collect();
    let types: Vec<_> = operands.iter().chain(updates).map(|array| array.shape.ty).collect();

    let ArrayShape { dims: sizes, .. } = operands[0].shape;
    let rank = sizes.len();
    let size_of = |dims: &[i64]| dims.iter().map(|&d| updates[0].size(d)).collect::<Dims>();
    // The operand dimensions that correspond to the window dimensions of the updates; in the others
    // windows have size 1.
    let outside = [inserted_window_dims.as_slice(), input_batching_dims].concat();
    let window_dims = others(rank, &outside);
    let window_sizes = size_of(update_window_dims);
    let mut box_sizes = Dims::from_elem(1, rank);
    set(&mut box_sizes, &window_dims, &window_sizes);

    let scatter_dims = others(updates[0].rank(), update_window_dims);
    // Empty windows update nothing.
    let has_elements = |_: &Dims| !window_sizes.contains(&0);
    for scatter_index in indices(&size_of(&scatter_dims)).take_while(has_elements) {
        let mut corner = Dims::from_elem(0, rank);
        for (k, &dim) in (0..).zip(scatter_dims_to_operand_dims) {
            let index = vector_index(&scatter_index, *index_vector_dim, k, scatter_indices);
            corner[to_usize(dim)] = scatter_indices.integer_at(&index);
        }
        for (&dim, &paired) in input_batching_dims.iter().zip(scatter_indices_batching_dims) {
            corner[to_usize(dim)] = scatter_index[batch_position(paired, *index_vector_dim)];
        }
        let fits = |d: usize| (0..=sizes[d] - box_sizes[d]).contains(&corner[d]);
        if !(0..rank).all(fits) {
            continue;
        }
        for window_index in indices(&window_sizes) {
            let (mut to, mut from) = (corner.clone(), Dims::from_elem(0, updates[0].rank()));
            for (&dim, &offset) in window_dims.iter().zip(&window_index) {
                to[to_usize(dim)] += offset;
            }
            set(&mut from, &scatter_dims, &scatter_index);
            set(&mut from, update_window_dims, &window_index);
            let current = results.iter().map(|result| result.at(&to));
            let arguments: Results =
                current.chain(updates.iter().map(|update| update.at(&from))).collect();
            let values = function.call_converted(&arguments, types.iter().copied())?;
            for (i, (result, value)) in results.iter_mut().zip(values).enumerate() {
                result.set(&to, value.convert(function.results()[i], types[i]));
            }
        }
    }
    Ok(pack(shape, results.into_iter().map(Output::into_literal).collect()))
}
