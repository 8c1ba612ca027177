//! Elementwise ops fused: one pass over tiles that stay in the cache.
//!
//! Only operands from outside and results are arrays; the values between them are tiles. An operand may be an
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

/// Elements of a tile. A dozen tiles stay in the first cache.
const TILE: usize = 512;
/// Elements of a part that one thread computes.
const PART: usize = 16 * TILE;
const WORD: usize = size_of::<u128>();
/// Tiles that a thread keeps.
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

/// The number of a value of a fused op: first those of the operands from outside, then one for each step.
pub(crate) type Register = usize;

/// An elementwise op of a fused one: its loop, its operands, and the bytes of an element of its result.
pub(crate) struct Part {
    pub(crate) function: Loop,
    pub(crate) operands: SmallVec<[Register; 3]>,
    pub(crate) width: usize,
}

/// Elementwise ops over one index space, as a kernel.
pub(crate) struct Fused {
    /// How each operand from outside is read, and the bytes of an element of it.
    reads: Vec<(Read, usize)>,
    steps: Vec<FusedStep>,
    /// The bytes of an element of each output.
    outputs: SmallVec<[usize; 2]>,
    /// Outputs that equal an earlier one.
    copies: Vec<(usize, usize)>,
    /// Bytes of an element of the widest value in each tile. The first tiles hold operands that are not read in place.
    tiles: Vec<usize>,
    /// Elements of each value.
    count: usize,
}

struct FusedStep {
    function: Loop,
    operands: SmallVec<[(Place, usize); 3]>,
    result: Place,
    width: usize,
}

/// Where the elements of a value are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// In operand `.0` from outside, or in its tile.
    Operand(usize),
    /// In a tile.
    Tile(usize),
    /// In an output.
    Output(usize),
}

/// Returns the loop of an op with these operands and this result, if it can be fused.
pub(crate) fn fusible(op: &Op, operands: &[&ArrayShape], result: &ArrayShape) -> Option<Loop> {
    let types: SmallVec<[ElementType; 3]> = operands.iter().map(|shape| shape.ty).collect();
    if let Op::Select(_) = op {
        let is_elementwise = operands[0].rank() == result.rank();
        return is_elementwise.then(|| Typed::select(result.ty.storage_bytes()).into_loop());
    }
    Typed::of(op, &types, result.ty).map(Typed::into_loop)
}

impl Fused {
    /// Returns a kernel over `count` elements. The operands from outside that are arrays come first.
    pub(crate) fn new(
        count: usize,
        reads: Vec<(Read, usize)>,
        parts: Vec<Part>,
        outputs: &[Register],
    ) -> Self {
        let first = reads.len();
        let mut last_read = vec![0; first + parts.len()];
        for (number, part) in parts.iter().enumerate() {
            part.operands.iter().for_each(|&register| last_read[register] = number);
        }
        let mut tiles: Vec<usize> = reads.iter().map(|&(_, width)| width).collect();
        let mut widths = tiles.clone();
        let mut places: Vec<Place> = (0..first).map(Place::Operand).collect();
        let mut free: Vec<usize> = Vec::new();
        let mut steps = Vec::with_capacity(parts.len());
        for (number, Part { function, operands, width }) in parts.into_iter().enumerate() {
            let register = first + number;
            let result = match outputs.iter().position(|&output| output == register) {
                Some(output) => Place::Output(output),
                None => Place::Tile(free.pop().unwrap_or_else(|| {
                    tiles.push(0);
                    tiles.len() - 1
                })),
            };
            if let Place::Tile(tile) = result {
                tiles[tile] = tiles[tile].max(width);
            }
            // A tile is free for the next step once its value has been read for the last time.
            for (k, &operand) in operands.iter().enumerate() {
                let is_dead = last_read[operand] == number && !operands[..k].contains(&operand);
                if let (true, Place::Tile(tile)) = (is_dead, places[operand]) {
                    free.push(tile);
                }
            }
            let operands = operands.iter().map(|&operand| (places[operand], widths[operand]));
            steps.push(FusedStep { function, operands: operands.collect(), result, width });
            places.push(result);
            widths.push(width);
        }
        let original = |&output: &Register| outputs.iter().position(|&other| other == output);
        let copies = outputs.iter().map(original).enumerate();
        let copies =
            copies.filter_map(|(to, from)| from.filter(|&from| from != to).map(|from| (from, to)));
        let (copies, outputs) = (copies.collect(), outputs.iter().map(|&r| widths[r]).collect());
        Self { reads, steps, outputs, copies, tiles, count }
    }

    /// Elements of a tile.
    fn length(&self) -> usize {
        self.count.min(TILE)
    }
    /// Whether threads share the work.
    fn is_shared(&self) -> bool {
        self.count > 2 * PART
    }

    /// Computes the elements from `first` on of each output.
    fn part(&self, inputs: &[Option<&[u8]>], first: usize, outputs: &mut [&mut [u8]], stop: &Stop) {
        let mut tiles = TILES.take();
        tiles.resize_with(self.tiles.len().max(tiles.len()), Vec::new);
        for (k, (tile, width)) in tiles.iter_mut().zip(&self.tiles).enumerate() {
            if !self.is_read_in_place(k, inputs) {
                tile.resize((self.length() * width).div_ceil(WORD).max(tile.len()), 0);
            }
        }
        for (k, (read, width)) in self.reads.iter().enumerate() {
            if let (Read::Scalar, Some(input)) = (read, inputs[k]) {
                let tile: &mut [u8] = bytemuck::cast_slice_mut(&mut tiles[k]);
                tile[..self.length() * width]
                    .chunks_exact_mut(*width)
                    .for_each(|to| to.copy_from_slice(&input[..*width]));
            }
        }
        let count = outputs[0].len() / self.outputs[0];
        for start in (0..count).step_by(TILE).take_while(|_| !stop.is_set()) {
            let length = TILE.min(count - start);
            self.tile(inputs, &mut tiles, (first + start, start, length), outputs);
        }
        tiles.truncate(KEPT);
        TILES.set(tiles);
    }

    /// Whether tile `k` belongs to an operand that is read where it is.
    fn is_read_in_place(&self, k: usize, inputs: &[Option<&[u8]>]) -> bool {
        matches!((self.reads.get(k), inputs.get(k)), (Some((Read::Array, _)), Some(Some(_))))
    }

    /// Computes one tile: `length` elements from `at` on, which are those of the outputs from `start` on.
    fn tile(
        &self,
        inputs: &[Option<&[u8]>],
        tiles: &mut [Vec<u128>],
        (at, start, length): (usize, usize, usize),
        outputs: &mut [&mut [u8]],
    ) {
        for (k, (read, width)) in self.reads.iter().enumerate() {
            match (read, inputs[k]) {
                (Read::Walk(walk), Some(input)) => {
                    let tile = &mut bytemuck::cast_slice_mut(&mut tiles[k])[..length * width];
                    walk.read(input, *width, at, tile);
                }
                // The operand is in the memory of the first output.
                (Read::Array, None) => {
                    let tile = &mut bytemuck::cast_slice_mut(&mut tiles[k])[..length * width];
                    tile.copy_from_slice(&outputs[0][start * width..][..length * width]);
                }
                (Read::Array | Read::Scalar, _) | (Read::Walk(_), None) => {}
            }
        }
        for step in &self.steps {
            // The place of the result is taken out while the operands are borrowed.
            let (mut tile, mut output) = (Vec::new(), Default::default());
            match step.result {
                Place::Output(k) => output = std::mem::take(&mut outputs[k]),
                Place::Operand(k) | Place::Tile(k) => tile = std::mem::take(&mut tiles[k]),
            }
            let operand = |&(place, width): &(Place, usize)| match place {
                Place::Operand(k) => match (&self.reads[k].0, inputs[k]) {
                    (Read::Array, Some(input)) => &input[at * width..][..length * width],
                    _ => &bytemuck::cast_slice(&tiles[k])[..length * width],
                },
                Place::Tile(k) => &bytemuck::cast_slice(&tiles[k])[..length * width],
                Place::Output(k) => &outputs[k][start * width..][..length * width],
            };
            let operands: SmallVec<[&[u8]; 3]> = step.operands.iter().map(operand).collect();
            let bytes = length * step.width;
            let result = match step.result {
                Place::Output(_) => &mut output[start * step.width..][..bytes],
                Place::Operand(_) | Place::Tile(_) => {
                    &mut bytemuck::cast_slice_mut(&mut tile)[..bytes]
                }
            };
            (step.function)(&operands, result);
            drop(operands);
            match step.result {
                Place::Output(k) => outputs[k] = output,
                Place::Operand(k) | Place::Tile(k) => tiles[k] = tile,
            }
        }
        for &(from, to) in &self.copies {
            let bytes = start * self.outputs[to]..(start + length) * self.outputs[to];
            let output = std::mem::take(&mut outputs[to]);
            output[bytes.clone()].copy_from_slice(&outputs[from][bytes]);
            outputs[to] = output;
        }
    }
}

thread_local! {
    /// Tiles kept for the next part: for small arrays, allocating takes longer than computing.
    static TILES: Cell<Vec<Vec<u128>>> = const { Cell::new(Vec::new()) };
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
        let mut outputs: SmallVec<[&mut [u8]; 2]> =
            outputs.iter_mut().map(Literal::bytes_mut).collect();
        let stop = Stop::current();
        if !self.is_shared() {
            self.part(&inputs, 0, &mut outputs, &stop);
            return Ok(());
        }
        let mut cut: Vec<_> = (outputs.into_iter())
            .zip(&self.outputs)
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
        let arrays = self.reads.iter().take_while(|(read, _)| matches!(read, Read::Array));
        Reuse::SameIndex(arrays.count())
    }
    fn scratch(&self) -> usize {
        let is_array = |k: &usize| matches!(self.reads.get(*k), Some((Read::Array, _)));
        let widths = |is: bool| (0..self.tiles.len()).filter(move |k| is_array(k) == is);
        let in_place = widths(true).map(|k| self.tiles[k]).max().unwrap_or(0);
        let tiles = widths(false).map(|k| self.tiles[k]).sum::<usize>() + in_place;
        tiles * self.length() * if self.is_shared() { threads() } else { 1 }
    }
}
