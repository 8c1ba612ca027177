//! `scatter`: `result[start + window] = computation(result[..], update[..])`, update after update
use super::gather::{batch_component, start_index};
use super::{array_shapes, pack};
use crate::Result;
use crate::index::{indices, others, strides, to_usize};
use crate::machine::Context;
use hlo::op::Scatter;
use hlo::{ArrayShape, Dims, Literal, Scalar, Shape};

pub(super) fn scatter(
    op: &Scatter,
    operands: &[&Literal],
    shape: &Shape,
    context: &mut Context<'_>,
) -> Result<Literal> {
    let count = operands.len() / 2;
    let (starts, updates) = (operands[count], &operands[count + 1..]);
    let from = operands[0].array_shape().expect("verified: an array");
    let window = updates[0].array_shape().expect("verified: an array");
    let shapes = array_shapes(shape);
    let mut values: Vec<Literal> =
        operands[..count].iter().zip(&shapes).map(|(o, s)| o.with_shape((*s).clone())).collect();
    let applied = context.applied(op.to_apply)?;
    let mut scratch = applied.scratch();
    let mut arguments = vec![Scalar::Pred(false); 2 * count];
    let mut out = vec![Scalar::Pred(false); count];
    let mut failed = Ok(());
    let mut next = 0;
    let places = Places::new(op, from, window);
    indices(&window.dims, |index| {
        let update = next;
        next += 1;
        let Some(at) = places.place(index, starts).filter(|_| failed.is_ok()) else { return };
        for i in 0..count {
            let (value, parts) = (&values[i], updates[i]);
            let (old, new) = (shapes[i].ty, parts.array_shape().expect("verified: an array").ty);
            arguments[i] = value.get(at).convert(old, applied.parameters()[i]);
            arguments[count + i] = parts.get(update).convert(new, applied.parameters()[count + i]);
        }
        failed = context.spend(1).and_then(|()| applied.call(&arguments, &mut scratch, &mut out));
        for (i, value) in values.iter_mut().enumerate() {
            let width = shapes[i].ty.storage_bytes();
            let slot = &mut value.bytes_mut()[at * width..(at + 1) * width];
            out[i].convert(applied.results()[i], shapes[i].ty).write(shapes[i].ty, slot);
        }
    });
    failed.map(|()| pack(shape, values))
}

/// Where the elements of the updates go.
struct Places<'a> {
    op: &'a Scatter,
    from: &'a ArrayShape,
    /// Size of the box in each dimension of the operand.
    sizes: Dims,
    steps: Dims,
    scatter_dims: Dims,
    window_dims: Dims,
}

impl<'a> Places<'a> {
    fn new(op: &'a Scatter, from: &'a ArrayShape, window: &ArrayShape) -> Self {
        let left_out = [op.inserted_window_dims.as_slice(), &op.input_batching_dims].concat();
        let window_dims = others(from.rank(), &left_out);
        let mut sizes = Dims::from_elem(1, from.rank());
        for (&dim, &of) in window_dims.iter().zip(&op.update_window_dims) {
            sizes[to_usize(dim)] = window.dims[to_usize(of)];
        }
        let scatter_dims = others(window.rank(), &op.update_window_dims);
        Self { op, from, sizes, steps: strides(&from.dims), scatter_dims, window_dims }
    }

    /// The element an update at `index` goes to; none if its whole box does not lie inside the operand.
    fn place(&self, index: &[i64], starts: &Literal) -> Option<usize> {
        let batch: Dims = self.scatter_dims.iter().map(|&d| index[to_usize(d)]).collect();
        let mut full_start = Dims::from_elem(0, self.from.rank());
        let vector_dim = to_usize(self.op.index_vector_dim);
        for (k, &dim) in (0i64..).zip(&self.op.scatter_dims_to_operand_dims) {
            full_start[to_usize(dim)] = start_index(starts, vector_dim, &batch, k);
        }
        let batching =
            self.op.input_batching_dims.iter().zip(&self.op.scatter_indices_batching_dims);
        for (&dim, &of) in batching {
            full_start[to_usize(dim)] = batch[batch_component(of, self.op.index_vector_dim)];
        }
        let fits = full_start.iter().zip(&self.sizes).zip(&self.from.dims);
        if !fits.into_iter().all(|((&start, &size), &dim)| start >= 0 && start <= dim - size) {
            return None;
        }
        let mut at: i64 = full_start.iter().zip(&self.steps).map(|(s, step)| s * step).sum();
        for (&of, &dim) in self.op.update_window_dims.iter().zip(&self.window_dims) {
            at += index[to_usize(of)] * self.steps[to_usize(dim)];
        }
        Some(to_usize(at))
    }
}
