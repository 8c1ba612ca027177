//! `scatter`: `result[start + window] = computation(result[..], update[..])`, update after update
use crate::data_movement::affine;
use crate::function::{given, updates_with};
use crate::index_vectors::{Indexing, Offsets, Slices, Units};
use crate::op::{ArrayOp, Site, linear, needs_whole_operands};
use crate::{Kernel, Reuse};
use hlo::op::Scatter;
use hlo::{Array, ArrayShape, Dims, ElementType, Scalar};
use num::index::{others, strides, to_i64, to_usize};
use num::loops::{OUTSIDE, Targets, UpdateFn, binary_loop, replace_loop};
use num::parallel::copy;
use num::scalar_program::{ScalarProgram, ScalarPrograms};
use num::{Arithmetic, Result, Scope};
use std::sync::Arc;

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
        inserted_window_dims,
        scatter_dims_to_operand_dims,
        input_batching_dims,
        scatter_indices_batching_dims,
        index_vector_dim,
        indices_are_sorted: _, // An assertion about the operands that does not affect the result.
        unique_indices: _,     // Likewise.
        to_apply,
    } = op;
    let (applied, count) = (programs.get(*to_apply)?, operands.len() / 2);
    let (operand, indices, updates) = (operands[0], operands[count], operands[count + 1]);
    if updates.element_count() == Some(0) {
        return Some(updates_with(0, |_, inputs, outputs| {
            copy_others(inputs, outputs);
            Ok(())
        }));
    }
    // An array that is smaller than its bound may have updates without an index.
    if operands.iter().any(|operand| operand.dynamic.is_some()) {
        return None;
    }
    let left_out = [inserted_window_dims.as_slice(), input_batching_dims].concat();
    let mut slice = Dims::from_elem(1, operand.rank());
    for (&dim, &of) in others(operand.rank(), &left_out).iter().zip(update_window_dims) {
        slice[to_usize(dim)] = updates.dims[to_usize(of)];
    }
    let indexing = Indexing {
        index_vector_dim: *index_vector_dim,
        map: scatter_dims_to_operand_dims,
        batching: (input_batching_dims, scatter_indices_batching_dims),
        collapsed: inserted_window_dims,
        slice: &slice,
        is_clamped: false,
    };
    let of = |dims: &[i64], window_dims: &[i64]| {
        Slices::new(&indexing, (operand, indices), (dims, window_dims))
    };
    let mut slices = of(&updates.dims, update_window_dims);
    let mut moved = None;
    if !slices.are_units() && scatter_dims_to_operand_dims.iter().any(|&d| slice[to_usize(d)] > 1) {
        // Slices overlap: their elements are combined slice by slice.
        let batches = others(updates.rank(), update_window_dims);
        let order: Dims = batches.iter().chain(update_window_dims).copied().collect();
        let of_order = |list: &[i64]| order.iter().map(|&d| list[to_usize(d)]).collect::<Dims>();
        let dims = of_order(&updates.dims);
        let window_dims: Dims = (to_i64(batches.len())..to_i64(dims.len())).collect();
        slices = of(&dims, &window_dims);
        moved = Some((dims, of_order(&strides(&updates.dims))));
    }
    let bytes = |array: &&ArrayShape| array.byte_count().unwrap_or(usize::MAX);
    let scratch = match moved {
        Some(_) => operands[count + 1..].iter().map(bytes).fold(0, usize::saturating_add),
        None => 0,
    };
    let scratch = scratch.saturating_add(slices.scratch());
    let update = update_of(&applied, operand.ty, updates.ty);
    let width = operand.ty.storage_bytes();
    Some(Box::new(ScatterKernel { slices, moved, update, applied, scratch, width }))
}

/// Copies the operands after the first one, whose elements the first output has.
fn copy_others(inputs: &[&Array], outputs: &mut [Array]) {
    for (input, output) in inputs.iter().zip(&mut outputs[1..]) {
        copy(input.bytes(), output.bytes_mut());
    }
}

struct ScatterKernel {
    slices: Slices,
    /// The sizes of the updates, and their strides in the operands, if they are moved first.
    moved: Option<(Dims, Dims)>,
    update: Option<Arc<UpdateFn>>,
    applied: Arc<ScalarProgram>,
    scratch: usize,
    /// The bytes of an element of the first operand.
    width: usize,
}

/// Returns the loop that combines the elements of the only updates with those of the only operand;
/// `None` if each element takes a call.
fn update_of(
    applied: &ScalarProgram,
    ty: ElementType,
    update: ElementType,
) -> Option<Arc<UpdateFn>> {
    if applied.parameters() != [ty; 2] || applied.results() != [ty] || update != ty {
        return None;
    }
    if applied.is_second() {
        return replace_loop(ty.storage_bytes());
    }
    let (op, of) = applied.as_binary_in_order()?;
    Some(binary_loop(op, of, Arithmetic::Exact)?.at_offsets(ty.storage_bytes()))
}

impl Kernel for ScatterKernel {
    fn run(
        &self,
        scope: &dyn Scope,
        inputs: &[Option<&Array>],
        outputs: &mut [Array],
    ) -> Result<()> {
        let (inputs, count) = (given(inputs), outputs.len());
        copy_others(&inputs, outputs);
        self.scatter(outputs, inputs[count - 1], &inputs[count..], scope)
    }
    fn reuse(&self) -> Reuse {
        Reuse::Update
    }
    fn scratch(&self) -> usize {
        self.scratch
    }
    fn computes(&self) -> Option<u64> {
        (self.update.is_some() && self.moved.is_none()).then_some(0)
    }
    fn compute(&self, inputs: &[&[u8]], outputs: &mut [&mut [u8]]) -> u64 {
        let ([indices, updates], Some(function)) = (inputs, &self.update) else { return 0 };
        let (offsets, mut steps) = (self.slices.offsets(indices), 0_u64);
        let blocks =
            self.slices.each_block((indices, &offsets), (0, self.slices.units()), |units| {
                steps = steps.saturating_add(self.steps(&units));
                self.update(function, (&units, &offsets), outputs[0], updates);
                Ok(())
            });
        blocks.expect("updates do not fail");
        steps
    }
}

impl ScatterKernel {
    /// Applies the updates to the elements of `values`.
    fn scatter(
        &self,
        values: &mut [Array],
        indices: &Array,
        updates: &[&Array],
        scope: &dyn Scope,
    ) -> Result<()> {
        let move_updates = |(dims, strides): &(Dims, Dims)| {
            let shape = |ty| ArrayShape::new(ty, dims.clone());
            updates.iter().map(|x| affine(x, &shape(x.shape().ty), 0, strides)).collect::<Vec<_>>()
        };
        let moved = self.moved.as_ref().map(move_updates).unwrap_or_default();
        let moved: Vec<&Array> = moved.iter().collect();
        let updates = if moved.is_empty() { updates } else { &moved };
        let mut combine = Combine::new(&self.applied, scope, values, updates);
        let mut values: Vec<&mut [u8]> = values.iter_mut().map(Array::bytes_mut).collect();
        let (offsets, unit) = (self.slices.offsets(indices.bytes()), self.slices.unit);
        if self.update.is_none() {
            self.applied.prepare(unit.saturating_mul(self.slices.units()));
        }
        let all = (0, self.slices.units());
        self.slices.each_block((indices.bytes(), &offsets), all, |units| {
            scope.spend(self.steps(&units))?;
            match (&self.update, values.as_mut_slice(), updates) {
                (Some(function), [value], [update]) => {
                    self.update(function, (&units, &offsets), value, update.bytes());
                    Ok(())
                }
                (_, values, updates) => {
                    combine.units(values, &units, &offsets, updates, units.first * unit)
                }
            }
        })
    }

    /// Returns the calls for units that are inside.
    fn steps(&self, units: &Units<'_>) -> u64 {
        // The highest bit is set of no other start.
        let outside: usize = units.starts.iter().map(|start| start >> (usize::BITS - 1)).sum();
        let calls = (units.starts.len() - outside).saturating_mul(self.slices.unit);
        u64::try_from(calls).unwrap_or(u64::MAX)
    }

    /// Applies the updates of units by a loop.
    fn update(
        &self,
        function: &Arc<UpdateFn>,
        (units, offsets): (&Units<'_>, &Offsets),
        value: &mut [u8],
        update: &[u8],
    ) {
        let width = self.width;
        let Offsets { runs, run, .. } = offsets;
        let targets = Targets { starts: units.starts, runs, run: *run };
        let update = &update[units.first * self.slices.unit * width..];
        function(&mut value[units.part * width..], update, &targets);
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

    fn units(
        &mut self,
        values: &mut [&mut [u8]],
        units: &Units<'_>,
        offsets: &Offsets,
        updates: &[&Array],
        first: usize,
    ) -> Result<()> {
        let elements = offsets.runs.iter().flat_map(|&run| run..run + offsets.run);
        for (i, &start) in units.starts.iter().enumerate().filter(|&(_, &start)| start != OUTSIDE) {
            let from = first + i * offsets.runs.len() * offsets.run;
            for (element, from) in elements.clone().zip(from..) {
                self.one(values, units.part + start + element, updates, from)?;
            }
        }
        Ok(())
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
        self.applied.call(self.scope, &self.arguments, &mut self.scratch, &mut self.out)?;
        for (i, value) in values.iter_mut().enumerate() {
            let ty = self.types[i];
            let result = self.out[i].convert(self.applied.results()[i], ty);
            result.write(ty, &mut value[slot(ty)]);
        }
        Ok(())
    }
}
