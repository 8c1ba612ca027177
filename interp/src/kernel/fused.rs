//! Elementwise ops fused: one pass over tiles that stay in the cache.
//!
//! A value of a fused op is a tile in a register; only operands from outside and results are arrays. An operand may be an
//! array with the indices of the result, a scalar, or an array read by strides, as a broadcast or a slice is.
use super::strided::Walk;
use super::typed::Typed;
use crate::Result;
use crate::clock::Stop;
use crate::context::RunContext;
use crate::lower::scratch::threads;
use crate::num::loops::Loop;
use crate::plan::{Kernel, Reuse};
use hlo::{ArrayShape, ElementType, Literal, Op};
use rayon::prelude::*;
use smallvec::SmallVec;
use std::cell::Cell;

/// Elements of a tile. The registers of a dozen ops stay in the first cache.
const TILE: usize = 512;
/// Elements of a part that one thread computes.
const PART: usize = 16 * TILE;
const WORD: usize = size_of::<u128>();
/// Registers that a thread keeps.
const KEPT: usize = 8;

/// How an operand from outside is read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Read {
    /// It has the indices of the result.
    Array,
    /// One element for all indices.
    Scalar,
    /// By strides.
    Walk(Walk),
}

impl Read {
    /// Returns how to read a walk.
    pub(crate) fn of(walk: Walk) -> Self {
        if walk.is_scalar() { Self::Scalar } else { Self::Walk(walk) }
    }
}

/// The number of a register.
pub(crate) type Register = usize;

/// Elementwise ops over one index space, as a kernel.
pub(crate) struct Fused {
    /// Bytes of an element of each register. The first registers hold the operands from outside, in order.
    widths: Vec<usize>,
    reads: Vec<Read>,
    steps: Vec<FusedStep>,
    /// The register of each output.
    outputs: Vec<Register>,
}

struct FusedStep {
    function: Loop,
    operands: SmallVec<[Register; 3]>,
    result: Register,
}

/// Returns the loop of an op with these operands and this result, if it can be fused.
pub(crate) fn fusible(op: &Op, operands: &[&ArrayShape], result: &ArrayShape) -> Option<Loop> {
    let types: SmallVec<[ElementType; 3]> = operands.iter().map(|shape| shape.ty).collect();
    let typed = match op {
        Op::Select(_) if operands[0].rank() == result.rank() => {
            Typed::select(result.ty.storage_bytes())
        }
        op => Typed::of(op, &types, result.ty)?,
    };
    Some(typed.into_loop())
}

impl Fused {
    /// Returns a kernel without ops; `reads` says how operands with elements of `widths` bytes are read. Those that are
    /// arrays come first.
    pub(crate) fn new(reads: Vec<Read>, widths: Vec<usize>) -> Self {
        Self { widths, reads, steps: Vec::new(), outputs: Vec::new() }
    }
    /// Adds an op, whose result has elements of `width` bytes; returns the register of the result.
    pub(crate) fn push(
        &mut self,
        function: Loop,
        operands: SmallVec<[Register; 3]>,
        width: usize,
    ) -> Register {
        let result = self.widths.len();
        self.widths.push(width);
        self.steps.push(FusedStep { function, operands, result });
        result
    }
    /// Adds an output.
    pub(crate) fn output(&mut self, register: Register) {
        self.outputs.push(register);
    }

    /// Computes the elements from `first` on of each output.
    fn part(&self, inputs: &[Option<&[u8]>], first: usize, outputs: &mut [&mut [u8]], stop: &Stop) {
        let mut registers = REGISTERS.take();
        registers.resize_with(self.widths.len().max(registers.len()), Vec::new);
        for (register, width) in registers.iter_mut().zip(&self.widths) {
            register.resize((TILE * width).div_ceil(WORD).max(register.len()), 0);
        }
        for (k, read) in self.reads.iter().enumerate() {
            if let (Read::Scalar, Some(input)) = (read, inputs[k]) {
                let tile: &mut [u8] = bytemuck::cast_slice_mut(&mut registers[k]);
                tile[..TILE * self.widths[k]]
                    .chunks_exact_mut(self.widths[k])
                    .for_each(|to| to.copy_from_slice(&input[..self.widths[k]]));
            }
        }
        let count = outputs[0].len() / self.widths[self.outputs[0]];
        for start in (0..count).step_by(TILE).take_while(|_| !stop.is_set()) {
            let length = TILE.min(count - start);
            self.tile(inputs, &mut registers, (first + start, start, length), outputs);
        }
        registers.truncate(KEPT);
        REGISTERS.set(registers);
    }

    /// Computes one tile: `length` elements from `at` on, which are those of the outputs from `start` on.
    fn tile(
        &self,
        inputs: &[Option<&[u8]>],
        registers: &mut [Vec<u128>],
        (at, start, length): (usize, usize, usize),
        outputs: &mut [&mut [u8]],
    ) {
        for (k, read) in self.reads.iter().enumerate() {
            let width = self.widths[k];
            let tile = &mut bytemuck::cast_slice_mut(&mut registers[k])[..length * width];
            match (read, inputs[k]) {
                (Read::Walk(walk), Some(input)) => walk.read(input, width, at, tile),
                // The operand is in the memory of the first output.
                (Read::Array, None) => {
                    tile.copy_from_slice(&outputs[0][start * width..][..length * width]);
                }
                (Read::Array | Read::Scalar, _) | (Read::Walk(_), None) => {}
            }
        }
        for step in &self.steps {
            let mut result = std::mem::take(&mut registers[step.result]);
            let operands: SmallVec<[&[u8]; 3]> = (step.operands.iter())
                .map(|&r| {
                    let bytes = length * self.widths[r];
                    match (self.reads.get(r), inputs.get(r)) {
                        (Some(Read::Array), Some(Some(input))) => {
                            &input[at * self.widths[r]..][..bytes]
                        }
                        _ => &bytemuck::cast_slice(&registers[r])[..bytes],
                    }
                })
                .collect();
            let bytes = length * self.widths[step.result];
            (step.function)(&operands, &mut bytemuck::cast_slice_mut(&mut result)[..bytes]);
            drop(operands);
            registers[step.result] = result;
        }
        for (output, &register) in outputs.iter_mut().zip(&self.outputs) {
            let width = self.widths[register];
            let tile = &bytemuck::cast_slice(&registers[register])[..length * width];
            output[start * width..][..length * width].copy_from_slice(tile);
        }
    }
}

thread_local! {
    /// Registers kept for the next part: for small arrays, allocating takes longer than computing.
    static REGISTERS: Cell<Vec<Vec<u128>>> = const { Cell::new(Vec::new()) };
}

impl Kernel for Fused {
    fn run(
        &self,
        _context: &RunContext,
        inputs: &[&Literal],
        outputs: &mut [Literal],
    ) -> Result<()> {
        let inputs: SmallVec<[Option<&[u8]>; 8]> = (inputs.iter())
            .map(|&input| input.array_shape().is_some().then(|| input.bytes()))
            .collect();
        let widths: SmallVec<[usize; 2]> = self.outputs.iter().map(|&r| self.widths[r]).collect();
        let mut outputs: SmallVec<[&mut [u8]; 2]> =
            outputs.iter_mut().map(Literal::bytes_mut).collect();
        let stop = Stop::current();
        if outputs[0].len() / widths[0] <= 2 * PART {
            self.part(&inputs, 0, &mut outputs, &stop);
            return Ok(());
        }
        let mut cut: Vec<_> = (outputs.into_iter())
            .zip(widths)
            .map(|(output, width)| output.chunks_mut(PART * width))
            .collect();
        let parts: Vec<SmallVec<[&mut [u8]; 2]>> =
            std::iter::from_fn(|| cut.iter_mut().map(Iterator::next).collect()).collect();
        parts.into_par_iter().enumerate().for_each(|(number, mut outputs)| {
            self.part(&inputs, number * PART, &mut outputs, &stop);
        });
        Ok(())
    }
    fn reuse(&self) -> Reuse {
        let arrays = self.reads.iter().take_while(|read| matches!(read, Read::Array));
        Reuse::SameIndex(arrays.count())
    }
    fn scratch(&self) -> usize {
        let registers: usize = self.widths.iter().map(|width| width * TILE).sum();
        registers * threads()
    }
}
