//! `scatter`: `result[start + window] = computation(result[..], update[..])`, update after update
use super::gather::{StartIndices, batch_component};
use crate::Kernel;
use crate::function::updates_with;
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use hlo::op::Scatter;
use hlo::{Array, ArrayShape, Dims, ElementType, Scalar};
use num::index::{indices, offset_list, others, pick, saturating_count, strides, to_usize};
use num::loops::{VectorLoop, binary_loop};
use num::parallel::copy;
use num::scalar_program::{ScalarProgram, ScalarPrograms};
use num::{Result, Scope};

/// Elements that an op is applied to at once.
const BLOCK: usize = 64;

impl ArrayOp for Scatter {
    fn kernel(&self, site: &Site<'_>, programs: &ScalarPrograms) -> Option<Box<dyn Kernel>> {
        kernel(self, site.operands, programs)
    }
    linear!();
    needs_whole_operands!();
}

fn kernel(
    op: &Scatter,
    operands: &[&ArrayShape],
    programs: &ScalarPrograms,
) -> Option<Box<dyn Kernel>> {
    let Scatter {
        update_window_dims,
        inserted_window_dims: _, // Read by `UpdateOffsets`, as the other dimensions.
        scatter_dims_to_operand_dims: _,
        input_batching_dims: _,
        scatter_indices_batching_dims: _,
        index_vector_dim: _,
        indices_are_sorted: _, // An assertion about the operands that does not affect the result.
        unique_indices: _,     // Likewise.
        to_apply,
    } = op;
    let (applied, count) = (programs.get(*to_apply)?, operands.len() / 2);
    // The offsets of a window's elements in the operand and in the updates.
    let window = operands[count + 1];
    let sizes: Dims = update_window_dims.iter().map(|&d| window.dims[to_usize(d)]).collect();
    let scratch = saturating_count(&sizes).saturating_mul(2 * size_of::<usize>());
    let op = op.clone();
    Some(updates_with(scratch, move |scope, inputs, outputs| {
        // The first output has the elements of its operand, and the inputs are those after it.
        for (input, output) in inputs.iter().zip(&mut outputs[1..]) {
            copy(input.bytes(), output.bytes_mut());
        }
        let (starts, updates) = (inputs[count - 1], &inputs[count..]);
        scatter(&op, &applied, outputs, starts, updates, scope)
    }))
}

/// Applies the updates to the elements of `values`.
fn scatter(
    op: &Scatter,
    applied: &ScalarProgram,
    values: &mut [Array],
    starts: &Array,
    updates: &[&Array],
    scope: &dyn Scope,
) -> Result<()> {
    let from = values[0].shape().clone();
    let window = updates[0].shape();
    let mut combine = Combine::new(applied, scope, values, updates);
    let mut values: Vec<&mut [u8]> = values.iter_mut().map(Array::bytes_mut).collect();
    let places = UpdateOffsets::new(op, &from, window);
    let mut runs = WindowRuns::of(applied, &combine.types, &places);
    let (mut sizes, strides) = pick(window, &places.scatter_dims);
    if places.to.is_empty() {
        // Windows without elements change nothing, however many there are.
        sizes.fill(0);
    }
    let starts = StartIndices::new(starts, op.index_vector_dim);
    let mut failed = Ok(());
    indices(&sizes, |batch| {
        if failed.is_err() {
            return;
        }
        let Some(base) = places.start(batch, &starts) else { return };
        let first: i64 = batch.iter().zip(&strides).map(|(&i, &stride)| i * stride).sum();
        failed = match (&mut runs, values.as_mut_slice(), updates) {
            (Some(runs), [value], [update]) => {
                runs.apply(&places, (base, to_usize(first)), value, update.bytes(), scope)
            }
            _ => places.to.iter().zip(&places.from).try_for_each(|(&to, &from)| {
                combine.one(&mut values, base + to, updates, to_usize(first) + from)
            }),
        };
    });
    failed
}

/// Windows whose elements are neighbors in runs, in the operand and in the updates, and an op on
/// such runs.
struct WindowRuns {
    /// `None` replaces the elements.
    function: Option<VectorLoop>,
    width: usize,
    /// Elements of a run.
    length: usize,
    /// The elements before the op.
    old: [u128; BLOCK],
}

impl WindowRuns {
    /// Returns how to apply a computation to runs of neighbors; `None` if it is not one op, or
    /// there are none.
    fn of(
        applied: &ScalarProgram,
        types: &[ElementType],
        places: &UpdateOffsets<'_>,
    ) -> Option<Self> {
        let &[ty, update] = types else { return None };
        let is_run = |i: usize| places.to[i] == i && places.from[i] == i;
        let length = (0..places.to.len()).take_while(|&i| is_run(i)).count();
        let starts = |list: &[usize]| {
            list.chunks(length.max(1)).all(|run| run.iter().zip(run[0]..).all(|(&at, i)| at == i))
        };
        let is_divided = places.to.len().is_multiple_of(length.max(1));
        if update != ty
            || length == 0
            || !is_divided
            || !starts(&places.to)
            || !starts(&places.from)
        {
            return None;
        }
        let function = match applied.is_second() {
            true if applied.parameters() == [ty; 2] => None,
            true => return None,
            false => {
                let (op, of) = applied.as_binary_in_order()?;
                Some(binary_loop(op, of).filter(|_| of == ty && applied.results() == [ty])?)
            }
        };
        Some(Self { function, width: ty.storage_bytes(), length, old: [0; BLOCK] })
    }

    /// Applies the op to a window.
    fn apply(
        &mut self,
        places: &UpdateOffsets<'_>,
        (base, first): (usize, usize),
        value: &mut [u8],
        update: &[u8],
        scope: &dyn Scope,
    ) -> Result<()> {
        scope.spend(u64::try_from(places.to.len()).unwrap_or(u64::MAX))?;
        let places = places.to.iter().zip(&places.from).step_by(self.length);
        for (&to, &from) in places {
            let to = &mut value[(base + to) * self.width..][..self.length * self.width];
            let update = &update[(first + from) * self.width..][..to.len()];
            let Some(function) = &self.function else {
                to.copy_from_slice(update);
                continue;
            };
            let old: &mut [u8] = bytemuck::cast_slice_mut(&mut self.old);
            let blocks = BLOCK * self.width;
            for (to, update) in to.chunks_mut(blocks).zip(update.chunks(blocks)) {
                let old = &mut old[..to.len()];
                old.copy_from_slice(to);
                function(&[old, update], to);
            }
        }
        Ok(())
    }
}

/// Applies the computation to an element of each operand and of each update.
struct Combine<'a> {
    applied: &'a ScalarProgram,
    scope: &'a dyn Scope,
    /// Types of the operands, then of the updates.
    types: Vec<ElementType>,
    arguments: Vec<Scalar>,
    scratch: Vec<Scalar>,
    out: Vec<Scalar>,
}

impl<'a> Combine<'a> {
    fn new(
        applied: &'a ScalarProgram,
        scope: &'a dyn Scope,
        values: &[Array],
        updates: &[&Array],
    ) -> Self {
        let all = values.iter().chain(updates.iter().copied());
        let types: Vec<_> = all.map(|v| v.shape().ty).collect();
        let scratch = applied.scratch();
        let arguments = vec![Scalar::Pred(false); types.len()];
        let out = vec![Scalar::Pred(false); values.len()];
        Self { applied, scope, types, arguments, scratch, out }
    }

    fn one(
        &mut self,
        values: &mut [&mut [u8]],
        at: usize,
        updates: &[&Array],
        from: usize,
    ) -> Result<()> {
        let count = values.len();
        let slot = |ty: ElementType| at * ty.storage_bytes()..(at + 1) * ty.storage_bytes();
        for i in 0..count {
            let (old, new) = (self.types[i], self.types[count + i]);
            let parameters = self.applied.parameters();
            let value = Scalar::read(old, &values[i][slot(old)]);
            self.arguments[i] = value.convert(old, parameters[i]);
            self.arguments[count + i] = updates[i].get(from).convert(new, parameters[count + i]);
        }
        self.scope.spend(1)?;
        self.applied.call(self.scope, &self.arguments, &mut self.scratch, &mut self.out)?;
        for (i, value) in values.iter_mut().enumerate() {
            let ty = self.types[i];
            let result = self.out[i].convert(self.applied.results()[i], ty);
            result.write(ty, &mut value[slot(ty)]);
        }
        Ok(())
    }
}

/// The offsets to which the elements of the updates go.
struct UpdateOffsets<'a> {
    op: &'a Scatter,
    dims: &'a [i64],
    /// Size of the box in each dimension of the operand.
    sizes: Dims,
    strides: Dims,
    scatter_dims: Dims,
    /// Offsets of a box's elements in the operand, and in the updates.
    to: Vec<usize>,
    from: Vec<usize>,
}

impl<'a> UpdateOffsets<'a> {
    fn new(op: &'a Scatter, operand: &'a ArrayShape, updates: &ArrayShape) -> Self {
        let left_out = [op.inserted_window_dims.as_slice(), &op.input_batching_dims].concat();
        let window_dims = others(operand.rank(), &left_out);
        let mut sizes = Dims::from_elem(1, operand.rank());
        for (&dim, &of) in window_dims.iter().zip(&op.update_window_dims) {
            sizes[to_usize(dim)] = updates.dims[to_usize(of)];
        }
        let (_, operand_strides) = pick(operand, &window_dims);
        let (window, update_strides) = pick(updates, &op.update_window_dims);
        Self {
            op,
            dims: &operand.dims,
            sizes,
            strides: strides(&operand.dims),
            scatter_dims: others(updates.rank(), &op.update_window_dims),
            to: offset_list(&window, &operand_strides),
            from: offset_list(&window, &update_strides),
        }
    }

    /// Returns the offset of the box `batch` writes; none if the whole of it does not lie inside
    /// the operand.
    fn start(&self, batch: &[i64], starts: &StartIndices<'_>) -> Option<usize> {
        let mut full_start = Dims::from_elem(0, self.dims.len());
        for (k, &dim) in (0i64..).zip(&self.op.scatter_dims_to_operand_dims) {
            full_start[to_usize(dim)] = starts.component(batch, k);
        }
        let batching =
            self.op.input_batching_dims.iter().zip(&self.op.scatter_indices_batching_dims);
        for (&dim, &of) in batching {
            full_start[to_usize(dim)] = batch[batch_component(of, self.op.index_vector_dim)];
        }
        let fits = full_start.iter().zip(&self.sizes).zip(self.dims);
        if !fits.into_iter().all(|((&start, &size), &dim)| start >= 0 && start <= dim - size) {
            return None;
        }
        Some(to_usize(full_start.iter().zip(&self.strides).map(|(s, stride)| s * stride).sum()))
    }
}
