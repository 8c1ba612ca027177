//! `select-and-scatter` of windows in rows: the gradient of max pooling.
//!
//! The elements that a row of windows selects are found place by place of the window; then the row
//! of the source is added to them. Windows at different indices of the first dimension do not touch
//! the same elements, unless they move along it.
#![expect(
    clippy::inline_always,
    reason = "only code inlined into the function of an instruction set is compiled for it"
)]
use super::fold_tiles::repeat;
use super::window_rows::{WindowColumn, WindowRows};
use super::window_steps::steps;
use crate::Kernel;
use crate::function::writes_with;
use bytemuck::Pod;
use hlo::op::SelectAndScatter;
use hlo::{ArrayShape, ElementType, Scalar};
use num::Arithmetic;
use num::clock::Stop;
use num::loops::instruction_set::{self, Task};
use num::loops::{OUTSIDE, Targets, UpdateFn, binary_loop};
use num::parallel::{parts_with, threads};
use num::scalar_program::{BLOCK, BlockProgram, ScalarProgram};
use std::sync::Arc;

/// The part of an element before one was selected.
const NONE: u32 = u32::MAX;

struct Unpooling {
    rows: WindowRows,
    select: BlockProgram,
    /// Combines elements of the result with those of the source.
    update: Arc<UpdateFn>,
    ty: ElementType,
}

/// Memory of a thread, of the size of a segment.
struct UnpoolingScratch {
    parts: Vec<WindowColumn>,
    elements: Vec<u128>,
    selected: Vec<u128>,
    /// The part from which the element was selected.
    numbers: Vec<u32>,
    /// The offset of the element.
    starts: Vec<usize>,
    registers: Vec<[u128; BLOCK]>,
}

/// Selects the elements of a part where no element is selected yet, or the selected one is not to
/// be kept.
struct Choose<'a, T> {
    selected: &'a mut [T],
    numbers: &'a mut [u32],
    elements: &'a [T],
    kept: &'a [u8; BLOCK],
    number: u32,
}

impl<T: Pod> Task for Choose<'_, T> {
    const IS_LONG: bool = true;
    #[inline(always)]
    fn run(self) {
        let Self { selected, numbers, elements, kept, number } = self;
        for (((selected, chosen), &element), &kept) in
            selected.iter_mut().zip(numbers).zip(elements).zip(kept)
        {
            let is_kept = kept != 0 && *chosen != NONE;
            *selected = if is_kept { *selected } else { element };
            *chosen = if is_kept { *chosen } else { number };
        }
    }
}

/// Returns the kernel of a `select-and-scatter` that combines elements by one op; `None` if the
/// windows do not lie in rows.
pub(super) fn kernel(
    op: &SelectAndScatter,
    operands: &[&ArrayShape],
    result: &ArrayShape,
    (select, scatter): (&ScalarProgram, &ScalarProgram),
) -> Option<Box<dyn Kernel>> {
    let &[from, source, init] = operands else { return None };
    let ty = result.ty;
    let (binary, parameter) = scatter.as_binary_in_order()?;
    let types = [parameter, from.ty, source.ty, select.parameters()[0], scatter.results()[0]];
    if types.iter().any(|&other| other != ty) {
        return None;
    }
    let update = binary_loop(binary, ty, Arithmetic::Exact)?.at_offsets(ty.storage_bytes());
    let rows = WindowRows::of(&op.window, &from.dims, &source.dims)?;
    let rows = Some(rows).filter(WindowRows::are_small)?;
    let unpooling = Unpooling { rows, select: select.result_in_blocks()?, update, ty };
    let (window, shapes, init) = (op.window.clone(), (from.clone(), source.clone()), init.ty);
    Some(writes_with(unpooling.scratch(), move |scope, inputs, outputs| {
        // One for each selection, and one for each addition.
        scope.spend(steps(&window, &shapes.0, &shapes.1))?;
        let first = inputs[2].get(0).convert(init, ty);
        unpooling.run(inputs[0].bytes(), inputs[1].bytes(), first, outputs[0].bytes_mut());
        Ok(())
    }))
}

impl Unpooling {
    fn words(&self) -> usize {
        (self.rows.segment() * self.ty.storage_bytes()).div_ceil(size_of::<u128>())
    }
    fn scratch(&self) -> usize {
        let row = (2 * self.words()).saturating_mul(size_of::<u128>());
        let offsets = size_of::<u32>() + size_of::<usize>();
        let row = row.saturating_add(self.rows.segment().saturating_mul(offsets));
        row.saturating_add(self.select.bytes()).saturating_mul(threads())
    }
    fn space(&self) -> UnpoolingScratch {
        UnpoolingScratch {
            parts: Vec::new(),
            elements: vec![0; self.words()],
            selected: vec![0; self.words()],
            numbers: vec![NONE; self.rows.segment()],
            starts: vec![OUTSIDE; self.rows.segment()],
            registers: self.select.registers(),
        }
    }

    fn run(&self, from: &[u8], source: &[u8], first: Scalar, to: &mut [u8]) {
        let batches = self.rows.batches().unwrap_or(1);
        let row = self.rows.len() * self.ty.storage_bytes();
        let stop = Stop::current();
        let [from_size, to_size, source_size] =
            [from.len() / batches, to.len() / batches, source.len() / batches];
        parts_with(
            to,
            (to_size, 1),
            || self.space(),
            |space, batch, to| {
                let from = &from[batch * from_size..][..from_size];
                let source = &source[batch * source_size..][..source_size];
                repeat(first, self.ty, to);
                // Rows of a batch have the offsets of those of the first one.
                let segment = self.rows.segment() * self.ty.storage_bytes();
                let rows = source.chunks_exact(row).enumerate();
                let segments = rows.flat_map(|(row, source)| {
                    source.chunks(segment).enumerate().map(move |(i, source)| (row, i, source))
                });
                for (row, segment, source) in segments.take_while(|_| !stop.is_set()) {
                    self.rows.parts(row, segment, &mut space.parts);
                    self.add_segment(from, source, space, to);
                }
            },
        );
    }

    /// Adds a segment of a row of the source to the elements that its windows select.
    fn add_segment(&self, from: &[u8], source: &[u8], space: &mut UnpoolingScratch, to: &mut [u8]) {
        match self.ty.storage_bytes() {
            1 => self.select::<u8>(from, space),
            2 => self.select::<u16>(from, space),
            4 => self.select::<u32>(from, space),
            8 => self.select::<u64>(from, space),
            _ => self.select::<u128>(from, space),
        }
        let UnpoolingScratch { parts, numbers, starts, .. } = space;
        for (i, (start, &number)) in starts.iter_mut().zip(&*numbers).enumerate() {
            // A window over no element selects nothing.
            let part = usize::try_from(number).ok().and_then(|number| parts.get(number));
            *start = part.map_or(OUTSIDE, |part| self.rows.offset(*part, i));
        }
        let starts = &starts[..source.len() / self.ty.storage_bytes()];
        (self.update)(to, source, &Targets { starts, runs: &[0], run: 1 });
    }

    /// Finds the parts from which the windows of a segment select an element.
    fn select<T: Pod>(&self, from: &[u8], space: &mut UnpoolingScratch) {
        let UnpoolingScratch { parts, elements, selected, numbers, registers, .. } = space;
        let (run, width) = (self.rows.run(), size_of::<T>());
        numbers.fill(NONE);
        let selected: &mut [T] = bytemuck::cast_slice_mut(selected);
        for (part, number) in parts.iter().zip(0..) {
            let elements = bytemuck::cast_slice_mut(elements);
            let elements = self.rows.elements(*part, from, width, elements);
            let elements: &[T] = bytemuck::cast_slice(elements);
            let columns = part.first * run..part.end * run;
            let selected = selected[columns.clone()].chunks_mut(BLOCK);
            let numbers = numbers[columns].chunks_mut(BLOCK);
            for ((selected, numbers), elements) in selected.zip(numbers).zip(elements.chunks(BLOCK))
            {
                let now: &[u8] = bytemuck::cast_slice(&*selected);
                let arguments = [now, bytemuck::cast_slice(elements)];
                let mut kept = [0; BLOCK];
                kept[..elements.len()].copy_from_slice(self.select.run(
                    registers,
                    |i| arguments[i],
                    elements.len(),
                ));
                instruction_set::run(Choose { selected, numbers, elements, kept: &kept, number });
            }
        }
    }
}
